/*
 * libFuzzer entry for helper/vet/vet.h: the changes that a helper which was taken over can send.  Those pass that the
 * oracle lists (unit/vetmodel.h), and no others.
 */
#include "../unit/vetmodel.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct edits e = { .nodes = 0 };
	struct why why = { .code = WHY_NONE };
	int ret;

	model_edits(data, size, &e);
	ret = model_vet(&e, &why);
	must((ret == 0) == model_gives(&e));
	must(ret == 0 || (why.code == WHY_BUG && why.text[0] != '\0'));
	edits_free(&e);
	return 0;
}
