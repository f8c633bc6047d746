/*
 * See answercache.h. A file is a head, the question and the answer. Helpers write it without a lock, because a caller
 * can stop a helper that holds one. A file that is cut off is shorter than its head says, and counts as missing.
 */
#include "answercache.h"

#include "../../base/bytes.h"
#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../self/state.h"

bool
answer_cache_find(const char *name, const struct stat *program, struct exchange *x)
{
	struct why ignored;
	autoclose int dir = state_dir("read", &ignored);

	return dir != -1 && exchange_find(dir, name, program, x);
}

void
answer_cache_write(const char *name, const struct stat *program, const struct exchange *x)
{
	const struct cached_head h = cached_head_of(program, x);
	struct why ignored;
	autoclose int dir = -1;
	autobuf struct buf b = { 0 };

	if (x->asked > CACHED_MAX || x->len > CACHED_MAX || sizeof(h) + x->asked + x->len > CACHED_MAX)
		return;
	bytes_put(&b, &h, sizeof(h));
	bytes_put(&b, x->question, x->asked);
	bytes_put(&b, x->answer, x->len);
	if (!b.failed && (dir = state_dir("read", &ignored)) != -1)
		(void)state_write(dir, name, b.p, b.len, 0600, &ignored);
}

void
answer_cache_remove(const char *name)
{
	struct why ignored;
	autoclose int dir = state_dir("read", &ignored);

	if (dir != -1)
		(void)state_remove(dir, name);
}
