/* See execrecordread.h. Runs with the caller's rights. */
#include "execrecordread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../ask/driveredits.h"
#include "../../base/cleanup.h"
#include "../../json/doc.h"
#include "../../lease/editsdriver.h"
#include "../../lease/leasename.h"
#include "../command/memfile.h"
#include "../command/namespace.h"
#include "grantrecord.h"
#include "recorddir.h"

#define RECORD_MAX (1024 * 1024)

static int
parse_strings(const struct doc *d, const char *key, struct strlist *out, struct why *why)
{
	uint32_t n;

	for (n = doc_first(d, doc_get(d, 0, key)); n != DOC_NONE; n = doc_next(d, n)) {
		autofree char *text = doc_string(d, n);

		if (text == NULL || !strlist_add(out, text, SIZE_MAX))
			return refuse_nomem(why);
	}
	return 0;
}

/*
 * The variables of the driver, and where a text for the user is due («gpus»), its notes. Records of earlier versions
 * have both beside what else they say.
 */
static int
add_driver_edits(const struct doc *d, struct exec_record *r, struct why *why)
{
	const uint32_t n = doc_get(d, 0, "process");
	autocontaineredits struct edits from = { 0 }, to = { .env = r->env };
	autofree char *text = NULL;
	bool good = true;
	size_t i;

	r->env = (struct strlist){ .n = 0 };
	if (doc_is(d, n, DOC_STRING) && (text = doc_string(d, n)) == NULL)
		return refuse_nomem(why);
	if (text != NULL && driver_edits_decode(NULL, text, &from, why) == -1)
		return -1;
	for (i = 0; good && i < from.env.n; i++)
		good = edits_add_env(&to, from.env.v[i]);
	if (!good || (doc_get(d, 0, "gpus") != DOC_NONE && !strlist_append(&r->notes, &from.notes)))
		return refuse_nomem(why);
	r->env = to.env;
	to.env = (struct strlist){ .n = 0 };
	return 0;
}

static int
parse_record(const char *text, size_t len, struct exec_record *r, struct why *why)
{
	autodoc struct doc d = { 0 };
	uint32_t n;
	int64_t gid;

	if (doc_parse(&d, text, len, why) == -1 || parse_strings(&d, "env", &r->env, why) == -1 ||
	    parse_strings(&d, "notes", &r->notes, why) == -1 || parse_strings(&d, "gpus", &r->gpus, why) == -1)
		return -1;
	if (add_driver_edits(&d, r, why) == -1)
		return -1;
	n = doc_get(&d, 0, "label");
	if (doc_is(&d, n, DOC_STRING) && (r->label = doc_string(&d, n)) == NULL)
		return refuse_nomem(why);
	n = doc_get(&d, 0, "line");
	if (doc_is(&d, n, DOC_STRING) && (r->text = doc_string(&d, n)) == NULL)
		return refuse_nomem(why);
	r->privileged = doc_is(&d, doc_get(&d, 0, "privileged"), DOC_TRUE);
	r->promised = doc_is(&d, doc_get(&d, 0, "asks"), DOC_TRUE);
	for (n = doc_first(&d, doc_get(&d, 0, "groups")); n != DOC_NONE && r->gids < 64; n = doc_next(&d, n))
		if (doc_i64(&d, n, &gid) && gid >= 0 && gid < UINT32_MAX)
			r->gid[r->gids++] = (uint32_t)gid;
	return 0;
}

/* Reads the record. A container without one was granted nothing. */
static int
load_record(const struct command *c, struct exec_record *r, struct why *why)
{
	char name[HASH_SIZE], path[sizeof(GPUHELPER_RUNDIR) + 128];
	autofree char *text = NULL;
	autoclose int fd = -1;
	size_t len;

	exec_record_name(c->root, c->id, name);
	snprintf(path, sizeof(path), "%s/exec/%u/%s", GPUHELPER_RUNDIR, namespace_outer_uid(), name);
	if ((fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)) == -1) {
		if (errno == ENOENT || errno == ENOTDIR)
			return 0;
		return refuse(why, WHY_IO, "%s: %s", path, strerror(errno));
	}
	if ((text = memfile_read(fd, RECORD_MAX, &len)) == NULL)
		return refuse(why, WHY_IO, "%s: %s", path, strerror(errno));
	r->found = true;
	return parse_record(text, len, r, why) == -1 ? refuse_within(why, path) : 0;
}

static int
check_record(const struct command *c, const struct exec_record *r, struct why *why)
{
	const struct vetted_grant v = { &r->env, r->gid, r->gids, r->label, r->privileged, r->promised };

	return r->found && record_dir_is_hosts_root() ? grant_record_check(c, &v, why) : 0;
}

int
exec_record_read(const struct command *c, struct exec_record *r, struct why *why)
{
	return load_record(c, r, why) == -1 ? -1 : check_record(c, r, why);
}

void
exec_record_free(struct exec_record *r)
{
	strlist_free(&r->env);
	strlist_free(&r->tokens);
	free(r->label);
	free(r->text);
	strlist_free(&r->notes);
	strlist_free(&r->gpus);
}
