/* See gpubound.h. */
#include "gpubound.h"

#include <stdio.h>
#include <string.h>

#include "../base/cleanup.h"
#include "gpufind.h"

/* True for «GPU-» and the 16 digits of the unique id (kfd's), as ROCm writes it. */
static bool
is_rocr_name(const char *word)
{
	return text_starts(word, "GPU-") && strlen(word) == 20 && strspn(word + 4, "0123456789abcdefABCDEF") == 16;
}

static int
bound_word(struct gpu_bound *b, enum gpu_vendor vendor, const char *word, const char *variable, struct why *why)
{
	char name[64];
	uint32_t rank;

	if (vendor == GPU_AMD && is_rocr_name(word)) {
		snprintf(name, sizeof(name), "0x%s", word + 4);
		word = name;
	} else if (!text_u32(word, 0, 4095, &rank) && !(vendor == GPU_NVIDIA && strlen(word) == 40 &&
	    (text_starts(word, "GPU-") || text_starts(word, "MIG-"))))
		return refuse(why, WHY_DATA, "%s in the worker's environment: \"%.60s\" is neither a number nor a whole UUID, "
		    "so what the worker may have is not known (respect_allocation in gpuhelper.conf)", variable, word);
	return strlist_add(&b->names, word, SIZE_MAX) ? 0 : refuse_nomem(why);
}

int
gpu_bound_parse(enum gpu_vendor vendor, const char *text, struct gpu_bound *b, struct why *why)
{
	const char *variable = vendor == GPU_AMD ? "ROCR_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES", *end;

	if (text == NULL)
		return 0;
	b->set = true;
	if (*text == '\0' || strcmp(text, "-1") == 0 || strcmp(text, "NoDevFiles") == 0)
		return 0;
	for (;; text = end + 1) {
		autofree char *word = NULL;

		end = strchrnul(text, ',');
		if ((word = strndup(text, (size_t)(end - text))) == NULL)
			return refuse_nomem(why);
		if (bound_word(b, vendor, word, variable, why) == -1)
			return -1;
		if (*end == '\0')
			return 0;
	}
}

int
gpu_bounds_parse(const char *cuda, const char *rocr, struct gpu_bound out[GPU_VENDORS], struct why *why)
{
	return gpu_bound_parse(GPU_NVIDIA, cuda, &out[GPU_NVIDIA], why) == -1 ? -1 :
	    gpu_bound_parse(GPU_AMD, rocr, &out[GPU_AMD], why);
}

bool
gpu_is_within(const struct gpu_bound bound[GPU_VENDORS], const struct gpu *g)
{
	const struct gpu_bound *b = &bound[g->vendor];
	size_t i;

	for (i = 0; i < b->names.n; i++)
		if (gpu_is_named(g, b->names.v[i], true))
			return true;
	/* without a bound, every GPU is within it */
	return !b->set;
}

void
gpu_bounds_free(struct gpu_bound bound[GPU_VENDORS])
{
	unsigned v;

	for (v = 0; v < GPU_VENDORS; v++)
		strlist_free(&bound[v].names);
}
