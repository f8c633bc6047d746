/*
 * libFuzzer entry for root's own state, a node of the ledger: every accepted one has one spelling, so writing it again
 * gives the input.
 */
#include <stdlib.h>
#include <string.h>

#include "../../helper/lease/ledgerfile.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ledger_node n;
	struct why why = { 0 };
	char *again;
	size_t i;

	if (ledger_decode((const char *)data, size, &n, &why) == -1) {
		must(why.code == WHY_CONFIG && n.entry == NULL && n.entries == 0);
		return 0;
	}
	must(n.mask >= CHANGE_NO_MASK && n.mask <= 7);
	for (i = 0; i < n.entries; i++)
		must(n.entry[i].kind <= CHANGE_LABEL);
	again = ledger_encode(&n);
	must(again != NULL && strlen(again) == size && memcmp(again, data, size) == 0);
	free(again);
	ledger_node_free(&n);
	return 0;
}
