/*
 * See checkhosts.h. Evaluates each GPU rule against each host with the code that the helper runs. Ignores leases, and
 * so takes every GPU as free. Reads nothing of this host but the policies.
 */
#include "checkhosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../json/strictjson.h"
#include "../../judge/match.h"
#include "../../policy/gpurule.h"
#include "../../policy/policydecide.h"
#include "../configload.h"
#include "../explain/devicesjson.h"

#define FILE_MAX_BYTES (256U << 20)	/* a host of 8 GPUs takes some 10 KB */

struct host {
	const char *name;		/* borrowed from the document */
	struct inventory gpus;
};

struct against {
	const struct options *options;
	struct config config;
	json_t *document;
	struct host *host;
	size_t hosts;
	json_t *told;
	size_t warnings;
};

static void __attribute__((format(printf, 5, 6)))
warn(struct against *a, const char *file, unsigned line, const char *host, const char *fmt, ...)
{
	autofree char *text = NULL;
	va_list ap;
	json_t *j;

	va_start(ap, fmt);
	text = format_text(fmt, ap);
	va_end(ap);
	a->warnings++;
	if (text == NULL)
		return;
	if (!a->options->json) {
		if (file != NULL)
			say("%s:%u: warning: %s", file, line, text);
		else
			say("%s: warning: %s", host, text);
		return;
	}
	j = json_object();
	put_text(j, "file", file);
	if (file != NULL)
		json_object_set_new(j, "line", json_integer(line));
	put_text(j, "host", host);
	put_text(j, "severity", "warning");
	put_text(j, "message", text);
	json_array_append_new(a->told, j);
}

/* One user whom the policy covers.  The users of the other hosts are unknown, so any covered user will do. */
static struct client
client_of(const struct policy *p)
{
	const char *user = p->has_callers && p->callers.n > 0 && !strlist_has(&p->callers, "root") ? p->callers.v[0] : "root";

	return (struct client){ .uid = strcmp(user, "root") == 0 ? 0 : 1, .user = user, .rootful = true, .member = true };
}

/* Would this rule alone grant «count» GPUs of the host? */
static bool
gives(const struct against *a, const struct host *h, const struct policy *p, const struct gpu_rule *r, unsigned count,
    struct why *why)
{
	const struct client who = client_of(p);
	struct policy one = *p;
	struct gpu_rule rule = *r;
	autogrant struct grant grant = { 0 };
	autorequested struct requested requested = { 0 };
	char text[16];

	one.gpu = &rule;
	one.gpus = 1;
	snprintf(text, sizeof(text), "%u", count);
	return requested_parse(text, "none", &requested, why) == 0 &&
	    policy_decide(&one, &who, &requested, &h->gpus, &a->config.settings, &grant, why) == VERDICT_GRANT;
}

/* The largest number of the host's GPUs that the rule can grant.  If it is 0, *why says why. */
static unsigned
most(const struct against *a, const struct host *h, const struct policy *p, const struct gpu_rule *r, struct why *why)
{
	unsigned n = r->count < h->gpus.gpus ? r->count : (unsigned)h->gpus.gpus;

	for (; n > 0; n--)
		if (gives(a, h, p, r, n, why))
			return n;
	(void)gives(a, h, p, r, 1, why);
	return 0;
}

static void
check_rule(struct against *a, const struct policy *p, const struct gpu_rule *r)
{
	const struct host *best = NULL;
	unsigned n, best_n = 0;
	struct why why, first = { 0 };
	char before[320];
	size_t i, skip;

	for (i = 0; i < a->hosts && best_n < r->count; i++) {
		if ((n = most(a, &a->host[i], p, r, &why)) > best_n) {
			best = &a->host[i];
			best_n = n;
		} else if (n == 0 && first.code == WHY_NONE)
			first = why;
	}
	if (best == NULL) {
		skip = (size_t)snprintf(before, sizeof(before), "%s:%u: ", p->name, r->line);
		warn(a, p->name, r->line, NULL, "this rule grants no GPU of any host: %s: %s", a->host[0].name,
		    first.text + (text_starts(first.text, before) ? skip : 0));
	} else if (best_n < r->count)
		warn(a, p->name, r->line, NULL, "count = %u: no host has that many GPUs for this rule; %s has the most: %u",
		    r->count, best->name, best_n);
}

static bool
is_named(const struct against *a, const struct gpu *g)
{
	const struct policy_entry *e;
	size_t i, k;

	for (i = 0; i < a->config.policies.n; i++)
		for (e = &a->config.policies.v[i], k = 0; e->broken == NULL && k < e->policy.gpus; k++)
			if (gpu_rule_names(&e->policy.gpu[k], g))
				return true;
	return false;
}

/* Warns about GPUs that no policy grants.  A GPU with MIG instances is granted by instance, so it is skipped. */
static void
check_host(struct against *a, const struct host *h)
{
	const struct gpu *g;
	char part[16];

	for (g = h->gpus.gpu; g < h->gpus.gpu + h->gpus.gpus; g++) {
		if (g->unusable[0] != '\0' || g->has_instances ||
		    (g->integrated && !a->config.settings.allow_integrated) || is_named(a, g))
			continue;
		gpu_part(&h->gpus, g, part);
		warn(a, NULL, 0, h->name, "no policy grants %s GPU %s%s%s %s (%s)", gpu_vendor_name(g->vendor), g->pci,
		    part[0] != '\0' ? " part " : "", part, g->uuid[0] != '\0' ? g->uuid : "no UUID",
		    g->model[0] != '\0' ? g->model : "unknown model");
	}
}

static int
load_hosts(struct against *a, struct why *why)
{
	const char *path = a->options->against;
	autofree char *text = NULL, *shown = NULL;
	const char *name;
	struct why cause;
	json_t *j;
	size_t len;

	if ((text = ctl_read_input(path, FILE_MAX_BYTES, &len, why)) == NULL)
		return -1;
	if ((a->document = strictjson_object(text, len, &cause)) == NULL)
		return refuse(why, cause.code, "%.200s: %s", path, cause.text);
	if (json_object_size(a->document) == 0)
		return refuse(why, WHY_DATA, "%.200s: names no host; the form is {\"HOST\": output of «devices --json», ...}",
		    path);
	if ((a->host = calloc(json_object_size(a->document), sizeof(*a->host))) == NULL)
		return refuse_nomem(why);
	json_object_foreach(a->document, name, j) {
		free(shown);
		if (asprintf(&shown, "%.100s: host %.90s", path, name) == -1) {
			shown = NULL;
			return refuse_nomem(why);
		}
		a->host[a->hosts].name = name;
		if (devices_of_json(j, shown, &a->host[a->hosts++].gpus, why) == -1)
			return -1;
	}
	return 0;
}

static int
compare_with_hosts(struct against *a, struct why *why)
{
	const struct policy_entry *e;
	size_t i, k;

	if (config_load(a->options, &a->config, why) == -1 || load_hosts(a, why) == -1)
		return -1;
	for (i = 0; i < a->config.policies.n; i++) {
		e = &a->config.policies.v[i];
		if (e->broken != NULL)
			return refuse(why, WHY_CONFIG, "%s", e->broken);
		for (k = 0; k < e->policy.gpus; k++)
			check_rule(a, &e->policy, &e->policy.gpu[k]);
	}
	for (i = 0; i < a->hosts; i++)
		check_host(a, &a->host[i]);
	return 0;
}

int
check_against(const struct options *o)
{
	struct against a = { .options = o, .told = json_array() };
	struct why why;
	const int ret = compare_with_hosts(&a, &why);
	const bool ok = a.warnings == 0 || !o->strict;
	size_t i;

	if (ret == 0 && o->json)
		put_out(json_pack("{s:b, s:I, s:I, s:I, s:O}", "ok", ok, "errors", (json_int_t)0, "warnings",
		    (json_int_t)a.warnings, "hosts", (json_int_t)a.hosts, "findings", a.told));
	else if (ret == 0 && o->verbose)
		say("hosts: %zu, policies: %zu, warnings: %zu", a.hosts, a.config.policies.n, a.warnings);
	for (i = 0; i < a.hosts; i++)
		inventory_free(&a.host[i].gpus);
	free(a.host);
	json_decref(a.document);
	json_decref(a.told);
	config_free(&a.config);
	if (ret == -1)
		return give_up(o, &why);
	return ok ? 0 : WHY_CONFIG;
}
