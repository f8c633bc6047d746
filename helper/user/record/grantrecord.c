/* See grantrecord.h. Runs as the host's root. A record is a hash: an exec record may hold secrets of a policy. */
#include "grantrecord.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/hash.h"
#include "../../host/file.h"
#include "../../host/trust.h"
#include "../../lease/leasename.h"
#include "recorddir.h"

#define RECORD_BYTES 256

#define NAME_SIZE (sizeof(GRANT_RECORD_UNCONFIRMED) + HASH_SIZE)
#define PATH_SIZE (sizeof(RECORD_DIR) + NAME_SIZE)

static void
name_record(const struct command *c, bool unconfirmed, char out[NAME_SIZE])
{
	char hash[HASH_SIZE];

	exec_record_name(c->root, c->id, hash);
	snprintf(out, NAME_SIZE, "%s%s", unconfirmed ? GRANT_RECORD_UNCONFIRMED : GRANT_RECORD_PREFIX, hash);
}

static void
find_record(const struct command *c, bool unconfirmed, char out[PATH_SIZE])
{
	char name[NAME_SIZE];

	name_record(c, unconfirmed, name);
	snprintf(out, PATH_SIZE, RECORD_DIR "/%s", name);
}

/* The hash of all of it. The numbers of texts come first, so that no text can pass for another. */
static bool
sum_up(const struct vetted_grant *v, char out[HASH_SIZE])
{
	autofree const char **piece = calloc(v->env->n + 4, sizeof(*piece));
	autobuf struct buf numbers = { 0 };
	size_t i, n = 0;

	buf_printf(&numbers, "%zu %d %d %d", v->env->n, v->label != NULL, v->privileged, v->promised);
	for (i = 0; i < v->gids; i++)
		buf_printf(&numbers, " %u", v->gid[i]);
	if (piece == NULL || numbers.failed)
		return false;
	piece[n++] = numbers.p;
	piece[n++] = v->label != NULL ? v->label : "";
	for (i = 0; i < v->env->n; i++)
		piece[n++] = v->env->v[i];
	hash_pieces(piece, out);
	return true;
}

int
grant_record_write(const struct command *c, const struct vetted_grant *v, bool unconfirmed, struct why *why)
{
	char name[NAME_SIZE], hash[HASH_SIZE];
	autobuf struct buf text = { 0 };

	grant_record_forget(c);
	name_record(c, unconfirmed, name);
	if (!sum_up(v, hash))
		return refuse_nomem(why);
	buf_printf(&text, "vetted 1 %s\n", hash);
	return text.failed ? refuse_nomem(why) : record_dir_write(name, &text, why);
}

int
grant_record_confirm(const struct command *c, struct why *why)
{
	char unconfirmed[PATH_SIZE], confirmed[PATH_SIZE];

	find_record(c, true, unconfirmed);
	find_record(c, false, confirmed);
	return rename(unconfirmed, confirmed) == 0 ? 0 : refuse(why, WHY_IO, "%s: %s", unconfirmed, strerror(errno));
}

int
grant_record_refuse_unconfirmed(const struct command *c, struct why *why)
{
	char unconfirmed[PATH_SIZE];

	find_record(c, true, unconfirmed);
	return access(unconfirmed, F_OK) == -1 ? 0 : refuse(why, WHY_DENIED,
	    "container %s: its create did not end, so what it got was not checked: delete it, and create it again", c->id);
}

int
grant_record_check(const struct command *c, const struct vetted_grant *v, struct why *why)
{
	char name[NAME_SIZE], hash[HASH_SIZE], expected[RECORD_BYTES];
	struct why unread;
	autoclose int dir = trust_open_dir(RECORD_DIR, true, &unread);
	autofree char *text = NULL;
	size_t len;

	name_record(c, false, name);
	if (!sum_up(v, hash))
		return refuse_nomem(why);
	if (dir == -1 || (text = trust_read(dir, name, name, RECORD_BYTES, true, &len, &unread)) == NULL)
		return refuse(why, WHY_DENIED, "container %s: gpuhelper-runc has no record of what it granted (%.200s): nothing is "
		    "executed there", c->id, unread.text);
	snprintf(expected, sizeof(expected), "vetted 1 %s\n", hash);
	return strcmp(text, expected) == 0 ? 0 : refuse(why, WHY_DENIED, "container %s: its exec record is not what "
	    "gpuhelper-runc checked when the container was made: nothing is executed there", c->id);
}

void
grant_record_clean(int dir, const char *name)
{
	char record[sizeof(GPUHELPER_RUNDIR "/exec/0/") + HASH_SIZE];

	snprintf(record, sizeof(record), GPUHELPER_RUNDIR "/exec/0/%s", strchr(name, '-') + 1);
	if (access(record, F_OK) == -1 && errno == ENOENT)
		(void)unlinkat(dir, name, 0);
}

bool
grant_record_is_there(const struct command *c)
{
	char path[PATH_SIZE];
	int unconfirmed;

	for (unconfirmed = 0; unconfirmed < 2; unconfirmed++) {
		find_record(c, unconfirmed == 1, path);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

void
grant_record_forget(const struct command *c)
{
	char path[PATH_SIZE];
	int unconfirmed;

	for (unconfirmed = 0; unconfirmed < 2; unconfirmed++) {
		find_record(c, unconfirmed == 1, path);
		(void)unlink(path);
	}
}
