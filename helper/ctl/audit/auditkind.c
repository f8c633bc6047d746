/* See auditkind.h.  tests/report.py compares the beginnings below with the texts in the source. */
#include "auditkind.h"

#include <stdbool.h>
#include <string.h>

const struct audit_kind_text audit_kinds[AUDIT_KINDS] = {
	[KIND_TOKEN] = { "token", "the token is missing or not valid, or the task's identity is not proven" },
	[KIND_POLICY] = { "policy", "no policy allows what was asked for" },
	[KIND_BUSY] = { "busy", "no GPU was free in time" },
	[KIND_REQUEST] = { "request", "a GPUHELPER_ variable, the bundle or the caller is not acceptable" },
	[KIND_FOLDER] = { "folder", "a granted folder is missing, or its permissions, mounts or links are in the way" },
	[KIND_DRIVER] = { "driver", "a GPU, its driver, a device node or a CDI spec is missing or not usable" },
	[KIND_HOST] = { "host", "something on the host could not be read or written" },
	[KIND_CONFIGURATION] = { "configuration", "errors in /etc/gpuhelper" },
	[KIND_INTERNAL] = { "internal", "out of memory, or a bug in gpuhelper" },
	[KIND_OTHER] = { "other", "the record has no known code" },
};

struct beginning {
	const char *text;
	enum audit_kind kind;
};

static const struct beginning beginnings[] = {
	{ "GPUHELPER_TOKEN", KIND_TOKEN }, { "the token", KIND_TOKEN },
	{ "no policy covers a container of user ", KIND_TOKEN },
	{ "no policy", KIND_POLICY }, { "more than ", KIND_POLICY }, { "too few of the GPUs that this policy ", KIND_POLICY },
	{ "folder ", KIND_FOLDER }, { "folders ", KIND_FOLDER }, { "a granted folder ", KIND_FOLDER },
	{ "links in the image lead the granted ", KIND_FOLDER }, { "/dev/", KIND_DRIVER }, { "driver file ", KIND_DRIVER },
	{ "device node ", KIND_DRIVER }, { "CDI spec ", KIND_DRIVER }, { "no CDI spec ", KIND_DRIVER },
	{ "the policy gives /dev/", KIND_DRIVER },
	{ "/sys/", KIND_HOST },
};

/* After the name of a policy. */
static const struct beginning of_policy[] = {
	{ "it requires identity ", KIND_TOKEN }, { "it requires a token", KIND_TOKEN },
	{ "it accepts only tokens ", KIND_TOKEN }, { "", KIND_POLICY },
};

static bool
begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* The text after «NAME.conf: » or «NAME.conf:LINE: »; NULL if the text names no policy. */
static const char *
after_policy(const char *text)
{
	const char *at = text + strcspn(text, " :/\"");

	if (at - text <= 5 || *at != ':' || !begins(at - 5, ".conf"))
		return NULL;
	if (at[1] != ' ')
		at += 1 + strspn(at + 1, "0123456789");
	return begins(at, ": ") ? at + 2 : NULL;
}

static enum audit_kind
kind_of_text(const char *text, enum audit_kind otherwise)
{
	size_t i;

	for (i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (begins(text, beginnings[i].text))
			return beginnings[i].kind;
	return otherwise;
}

static enum audit_kind
kind_of_denial(const char *text)
{
	const char *policy;
	size_t i;

	/* the wrapper's own refusals */
	if (begins(text, "gpuhelper-runc: "))
		text += strlen("gpuhelper-runc: ");
	policy = after_policy(text);
	if (policy == NULL)
		return kind_of_text(text, KIND_REQUEST);
	for (i = 0; !begins(policy, of_policy[i].text); i++)
		;
	return of_policy[i].kind;
}

/* What is wrong with the host, by its object: a folder, the driver, or «otherwise». */
static enum audit_kind
kind_of_fault(const char *text, enum audit_kind otherwise)
{
	const enum audit_kind kind = kind_of_text(text, otherwise);

	return kind == KIND_FOLDER || kind == KIND_DRIVER ? kind : otherwise;
}

enum audit_kind
audit_kind_of(long code, const char *reason)
{
	switch (code) {
	case WHY_UNSIGNED:
		return KIND_TOKEN;
	case WHY_AGAIN:
		return KIND_BUSY;
	case WHY_BUG:
		return KIND_INTERNAL;
	case WHY_CONFIG:
		return kind_of_fault(reason, KIND_CONFIGURATION);
	case WHY_ABSENT:
		return kind_of_fault(reason, KIND_DRIVER);
	case WHY_IO:
		return kind_of_fault(reason, KIND_HOST);
	case WHY_USAGE:
	case WHY_DATA:
	case WHY_DENIED:
		return kind_of_denial(reason);
	default:
		return KIND_OTHER;
	}
}
