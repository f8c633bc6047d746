/* See readquery.h. */
#include "readquery.h"

#include <string.h>

#include "../base/bytes.h"

int
read_refuse_version(struct why *why)
{
	return refuse(why, WHY_CONFIG, "gpuhelper and gpuhelper-read differ in version: install both again (make "
	    "install)");
}

char *
read_query_pack(const struct read_query *a, size_t *len)
{
	struct read_head h = { .version = GPUHELPER_VERSION, .verb = a->verb, .files = (uint32_t)a->files };
	autobuf struct buf b = { 0 };
	uint64_t n;
	size_t i;

	bytes_put(&b, &h, sizeof(h));
	for (i = 0; i < a->files; i++) {
		n = a->file[i].len;
		bytes_put(&b, &n, sizeof(n));
		bytes_put(&b, a->file[i].name, strlen(a->file[i].name) + 1);
		bytes_put(&b, a->file[i].text, a->file[i].len);
		bytes_put(&b, "", 1);
	}
	*len = b.len;
	return buf_take(&b);
}

bool
read_answer_begin(struct lines *t, char *wrong, size_t size, struct why *why)
{
	lines_begin(t, "read");
	(void)field_version(t);
	if (t->out == NULL && t->failed) {
		read_refuse_version(why);
		return false;
	}
	field_text(t, wrong, size);
	if (t->out != NULL || *wrong == '\0')
		return true;
	/* refuse() makes it a single line */
	refuse(why, WHY_CONFIG, "%s", wrong);
	return false;
}
