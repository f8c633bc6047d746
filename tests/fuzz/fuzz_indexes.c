/*
 * libFuzzer entry for helper/ask/decisionindexes.c: the possible verdicts of a gpuhelper-judge that a request has taken
 * over.  The first byte says what is known of the pipeline.  An accepted verdict gives no more than the policies
 * (unit/decisionmodel.h).
 */
#include "../../helper/policy/policydecide.h"
#include "../unit/decisionmodel.h"
#include "fuzz.h"
#include "policy/policydecide.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct policy_set policies;
	const struct identity *id = &model_ids[size > 0 ? data[0] % IDENTITY_KINDS : 0];
	struct decision d;
	struct why why;

	if (policies.v == NULL)
		must(model_policies(&policies));
	if (size > 0 && model_accept((const char *)data + 1, size - 1, &policies, id, &d, &why))
		must(model_may_have(&d, id));
	if (size > 0)
		decision_free(&d);
	return 0;
}
