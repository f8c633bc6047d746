/*
 * libFuzzer entry for root's own state, a lease: every accepted lease has one spelling, so writing it again gives the
 * input.
 */
#include <stdlib.h>
#include <string.h>

#include "../../helper/lease/leasefile.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lease l = { .key = "kept" };
	struct why why = { 0 };
	char *again;
	size_t i;

	if (lease_decode((const char *)data, size, &l, &why) == -1) {
		must(why.code == WHY_CONFIG && l.id == NULL && l.gpus == 0 && l.lookups == 0);
		return 0;
	}
	must(l.id != NULL && l.root != NULL && strcmp(l.key, "kept") == 0);
	for (i = 0; i < l.lookups; i++)
		must(l.lookup[i].path[0] == '/' && l.lookup[i].at.n > 0);
	again = lease_encode(&l);
	must(again != NULL && strlen(again) == size && memcmp(again, data, size) == 0);
	free(again);
	lease_free(&l);
	return 0;
}
