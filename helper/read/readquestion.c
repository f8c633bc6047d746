/* See readquestion.h. Must check every length. */
#include "readquestion.h"

#include <stdlib.h>
#include <string.h>

#include "../base/bytes.h"

/* A text of n bytes and the NUL after it, without copying. */
static const char *
take_in_place(struct bytes *rest, uint64_t n)
{
	const char *at = rest->p;

	if (n >= rest->n || at[n] != '\0')
		return NULL;
	rest->p += n + 1;
	rest->n -= (size_t)n + 1;
	return at;
}

static bool
take_read_file(struct bytes *rest, struct read_file *out)
{
	uint64_t n;

	if (!bytes_take(rest, &n, sizeof(n)) || memchr(rest->p, '\0', rest->n) == NULL)
		return false;
	out->name = take_in_place(rest, strlen(rest->p));
	out->text = take_in_place(rest, n);
	out->len = (size_t)n;
	return out->text != NULL;
}

static bool
version_is_ours(const char version[READ_VERSION_MAX])
{
	return memchr(version, '\0', READ_VERSION_MAX) != NULL && strcmp(version, GPUHELPER_VERSION) == 0;
}

bool
read_query_unpack(const char *bytes, size_t len, struct read_query *out, struct why *why)
{
	struct bytes rest = { bytes, len };
	struct read_head h;
	size_t i;

	*out = (struct read_query){ .files = 0 };
	if (!bytes_take(&rest, &h, sizeof(h)) || !version_is_ours(h.version)) {
		read_refuse_version(why);
		return false;
	}
	out->verb = (enum read_verb)h.verb;
	/* each file takes more than a byte */
	if (h.verb <= READ_SPECS && h.files <= rest.n && (out->file = calloc(h.files + 1U, sizeof(*out->file))) != NULL)
		for (i = 0; i < h.files && take_read_file(&rest, &out->file[i]); i++)
			out->files++;
	if (out->file != NULL && out->files == h.files && rest.n == 0)
		return true;
	free(out->file);
	*out = (struct read_query){ .files = 0 };
	refuse(why, WHY_BUG, "gpuhelper-read can't read the question");
	return false;
}
