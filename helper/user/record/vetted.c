/* See vetted.h. Runs as the host's root. The note is a hash: an exec record may hold a policy's secrets. */
#include "vetted.h"

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

#define NOTE_BYTES 256

void
vetted_name(const struct command *c, char out[VETTED_NAME_SIZE])
{
	char hash[HASH_SIZE];

	exec_record_name(c->root, c->id, hash);
	snprintf(out, VETTED_NAME_SIZE, VETTED_PREFIX "%s", hash);
}

/* The hash of all of it. The numbers of texts come first, so that no text can pass for another. */
static bool
sum_up(const struct vetted *v, char out[HASH_SIZE])
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
vetted_note(const struct command *c, const struct vetted *v, struct why *why)
{
	char name[VETTED_NAME_SIZE], hash[HASH_SIZE];
	autobuf struct buf text = { 0 };

	vetted_name(c, name);
	if (!sum_up(v, hash))
		return refuse_nomem(why);
	buf_printf(&text, "vetted 1 %s\n", hash);
	return text.failed ? refuse_nomem(why) : record_dir_write(name, &text, why);
}

int
vetted_check(const struct command *c, const struct vetted *v, struct why *why)
{
	char name[VETTED_NAME_SIZE], hash[HASH_SIZE], expected[NOTE_BYTES];
	struct why unread;
	autoclose int dir = trust_open_dir(RECORD_DIR, true, &unread);
	autofree char *text = NULL;
	size_t len;

	vetted_name(c, name);
	if (!sum_up(v, hash))
		return refuse_nomem(why);
	if (dir == -1 || (text = trust_read(dir, name, name, NOTE_BYTES, true, &len, &unread)) == NULL)
		return refuse(why, WHY_DENIED, "container %s: gpuhelper-runc has no record of what it granted (%.200s): nothing is "
		    "executed there", c->id, unread.text);
	snprintf(expected, sizeof(expected), "vetted 1 %s\n", hash);
	return strcmp(text, expected) == 0 ? 0 : refuse(why, WHY_DENIED, "container %s: its exec record is not what "
	    "gpuhelper-runc checked when the container was made: nothing is executed there", c->id);
}

void
vetted_clean(int dir, const char *name)
{
	char record[sizeof(GPUHELPER_RUNDIR "/exec/0/") + HASH_SIZE];

	snprintf(record, sizeof(record), GPUHELPER_RUNDIR "/exec/0/%s", name + strlen(VETTED_PREFIX));
	if (access(record, F_OK) == -1 && errno == ENOENT)
		(void)unlinkat(dir, name, 0);
}

void
vetted_forget(const struct command *c)
{
	char name[VETTED_NAME_SIZE], path[sizeof(RECORD_DIR) + VETTED_NAME_SIZE];

	vetted_name(c, name);
	snprintf(path, sizeof(path), RECORD_DIR "/%s", name);
	(void)unlink(path);
}
