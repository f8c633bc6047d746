/* libFuzzer entry for helper/ctl/cdi/ldcache.c: the input is a cache. */
#include <stdlib.h>
#include <string.h>

#include "../../helper/base/text.h"
#include "../../helper/ctl/cdi/ldcache.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ldcache c;
	struct why why = { 0 };
	size_t i;

	if (ldcache_parse(&c, (const char *)data, size, &why) == -1) {
		must(why.code == WHY_DATA && text_is_utf8(why.text, strlen(why.text)) && c.n == 0 && c.v == NULL);
		return 0;
	}
	must(c.n <= size / 12);
	for (i = 0; i < c.n; i++) {
		must(c.v[i].path[0] == '/' && c.v[i].path + strlen(c.v[i].path) < (const char *)data + size);
		must(c.v[i].name + strlen(c.v[i].name) < (const char *)data + size);
	}
	ldcache_free(&c);
	return 0;
}
