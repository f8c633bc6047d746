/* libFuzzer entry for helper/ctl/cdi/elflib.c: the input is a shared library. */
#include <stdlib.h>
#include <string.h>

#include "../../helper/ctl/cdi/elflib.h"
#include "fuzz.h"

struct bytes {
	const uint8_t *p;
	size_t len;
};

static bool
from_memory(void *ctx, uint64_t at, void *buf, size_t len)
{
	const struct bytes *b = ctx;

	must(len <= 256);
	if (at > b->len || len > b->len - at)
		return false;
	memcpy(buf, b->p + at, len);
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { .p = data, .len = size };
	struct elf_source src = { .read = from_memory, .ctx = &b };
	struct elf_library e;
	struct why why = { 0 };

	if (elf_library_read(&src, &e, &why) == -1) {
		must(why.code == WHY_DATA && e.soname[0] == '\0');
		return 0;
	}
	must(e.bits == 32 || e.bits == 64);
	must(memchr(e.soname, '\0', sizeof(e.soname)) != NULL && strchr(e.soname, '/') == NULL);
	return 0;
}
