/*
 * See kept.h. A file is a head, the question and the answer. Helpers write it without a lock, because a caller can stop
 * a helper that holds one. A file that is cut off is shorter than its head says, and counts as missing.
 */
#include "kept.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../host/file.h"
#include "../pure/bytes.h"
#include "../pure/cleanup.h"
#include "state.h"

#define KEPT_MAX (16U << 20)	/* bytes of a file */

/* Any other file in the program's place, or any change of the file, is another program. */
struct head {
	uint64_t dev, ino, size, seconds, nanoseconds;
	uint64_t asked, len;
};

static struct head
head_of(const struct stat *program, const struct exchange *x)
{
	return (struct head){ .dev = program->st_dev, .ino = program->st_ino, .size = (uint64_t)program->st_size,
		.seconds = (uint64_t)program->st_ctim.tv_sec, .nanoseconds = (uint64_t)program->st_ctim.tv_nsec,
		.asked = x->asked, .len = x->len };
}

bool
kept_find(const char *name, const struct stat *program, struct exchange *x)
{
	struct why ignored;
	autoclose int dir = state_dir("read", &ignored);
	size_t size;
	autofree char *file = dir != -1 ? file_read_at(dir, name, KEPT_MAX, &size) : NULL;
	struct head h;

	if (file == NULL || size < sizeof(h) + x->asked)
		return false;
	x->len = size - sizeof(h) - x->asked;
	h = head_of(program, x);
	if (memcmp(file, &h, sizeof(h)) != 0 || memcmp(file + sizeof(h), x->question, x->asked) != 0)
		return false;
	/* with its NUL */
	memmove(file, file + sizeof(h) + x->asked, x->len + 1);
	x->answer = file;
	file = NULL;
	return true;
}

void
kept_write(const char *name, const struct stat *program, const struct exchange *x)
{
	const struct head h = head_of(program, x);
	struct why ignored;
	autoclose int dir = -1;
	autobuf struct buf b = { 0 };

	if (x->asked > KEPT_MAX || x->len > KEPT_MAX || sizeof(h) + x->asked + x->len > KEPT_MAX)
		return;
	bytes_put(&b, &h, sizeof(h));
	bytes_put(&b, x->question, x->asked);
	bytes_put(&b, x->answer, x->len);
	if (!b.failed && (dir = state_dir("read", &ignored)) != -1)
		(void)state_write_bytes(dir, name, b.p, b.len, 0600, &ignored);
}

void
kept_remove(const char *name)
{
	struct why ignored;
	autoclose int dir = state_dir("read", &ignored);

	if (dir != -1)
		(void)state_remove(dir, name);
}

void
exchange_free(struct exchange *x)
{
	free(x->question);
	free(x->answer);
	*x = (struct exchange){ .question = NULL };
}
