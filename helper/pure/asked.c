/* See asked.h.  A task's author chose the texts. */
#include "asked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cdi.h"
#include "cleanup.h"
#include "mig.h"
#include "path.h"
#include "policy.h"

#define GPUS_ASKED_MAX 256

/* A PCI address, or that of a MIG instance: with ":GI" or ":GI:CI" after it. */
static bool
is_address(const char *word)
{
	char base[64], pci[16];

	if (pci_address_normalise(word, pci))
		return true;
	return (size_t)snprintf(base, sizeof(base), "%s", word) < sizeof(base) && mig_name_shorten(base) &&
	    (pci_address_normalise(base, pci) || (mig_name_shorten(base) && pci_address_normalise(base, pci)));
}

/* One word of GPUHELPER_GPUS. */
static int
ask_gpu(const char *word, struct ask *a, struct why *why)
{
	struct ask_count *c = &a->count[a->counts];
	const char *number = word, *colon = strchr(word, ':');
	char vendor[16];
	uint32_t n;

	if (strcmp(word, "all") == 0) {
		a->all_gpus = true;
		return 0;
	}
	*c = (struct ask_count){ 0 };
	if (colon != NULL && (size_t)(colon - word) < sizeof(vendor)) {
		memcpy(vendor, word, (size_t)(colon - word));
		vendor[colon - word] = '\0';
		if (gpu_vendor_parse(vendor, &c->vendor)) {
			c->has_vendor = true;
			number = colon + 1;
		}
	}
	if (text_u32(number, 1, 64, &n)) {
		if (++a->counts == sizeof(a->count) / sizeof(a->count[0]))
			return refuse(why, WHY_DATA, "GPUHELPER_GPUS has too many counts");
		c->n = n;
		return 0;
	}
	if (!c->has_vendor && (text_starts(word, "GPU-") || text_starts(word, "0x") || text_starts(word, "MIG-") ||
	    is_address(word) || cdi_name_is_qualified(word))) {
		if (strlist_has(&a->gpu_ids, word))
			return refuse(why, WHY_DATA, "GPUHELPER_GPUS names \"%s\" twice", word);
		return strlist_add(&a->gpu_ids, word, SIZE_MAX) ? 0 : refuse_nomem(why);
	}
	return refuse(why, WHY_DATA, "GPUHELPER_GPUS: \"%s\" is no count (1 to 64), VENDOR:COUNT, \"all\", \"none\", UUID, "
	    "PCI address or CDI device", word);
}

/* One word of GPUHELPER_FOLDERS. */
static int
ask_one_folder(const char *word, struct ask *a, struct why *why)
{
	const char *colon = strrchr(word, ':');
	enum ask_access access = ASK_ANY;
	struct ask_folder *v;
	struct why inner;
	char *path;

	if (strcmp(word, "all") == 0) {
		a->all_folders = true;
		return 0;
	}
	if (colon != NULL && strcmp(colon, ":ro") == 0)
		access = ASK_RO;
	else if (colon != NULL && strcmp(colon, ":rw") == 0)
		access = ASK_RW;
	else
		colon = NULL;
	if ((path = strndup(word, colon != NULL ? (size_t)(colon - word) : strlen(word))) == NULL)
		return refuse_nomem(why);
	if (path_check(path, &inner) == -1 || glob_is(path)) {
		refuse(why, WHY_DATA, "GPUHELPER_FOLDERS: %s", glob_is(path) ? "* and ? are not for asking" : inner.text);
		free(path);
		return -1;
	}
	if ((v = reallocarray(a->folder, a->folders + 1, sizeof(*v))) == NULL) {
		free(path);
		return refuse_nomem(why);
	}
	a->folder = v;
	a->folder[a->folders++] = (struct ask_folder){ .path = path, .access = access };
	return 0;
}

/* Each word between commas. */
static int
each_word(const char *text, const char *name, unsigned most, int (*fn)(const char *, struct ask *, struct why *),
    struct ask *a, struct why *why)
{
	const char *p = text, *end;
	unsigned words = 0;

	if (strcmp(text, "none") == 0)
		return 0;
	for (;; p = end + 1) {
		autofree char *word = NULL;

		end = strchrnul(p, ',');
		if (end == p)
			return refuse(why, WHY_DATA, "%s is empty or has an empty entry: say \"none\" for none", name);
		if (++words > most)
			return refuse(why, WHY_DATA, "%s has more than %u entries", name, most);
		if ((word = strndup(p, (size_t)(end - p))) == NULL)
			return refuse_nomem(why);
		if (fn(word, a, why) == -1)
			return -1;
		if (*end == '\0')
			return 0;
	}
}

int
ask_parse(const char *gpus, const char *folders, struct ask *out, struct why *why)
{
	*out = (struct ask){ .everything = gpus == NULL && folders == NULL };
	if (gpus != NULL && each_word(gpus, "GPUHELPER_GPUS", GPUS_ASKED_MAX, ask_gpu, out, why) == -1)
		return -1;
	if (out->all_gpus && (out->counts > 0 || out->gpu_ids.n > 0))
		return refuse(why, WHY_DATA, "GPUHELPER_GPUS: \"all\" stands alone");
	if (folders != NULL && each_word(folders, "GPUHELPER_FOLDERS", CONTAINER_FOLDERS_MAX, ask_one_folder, out, why) == -1)
		return -1;
	if (out->all_folders && out->folders > 0)
		return refuse(why, WHY_DATA, "GPUHELPER_FOLDERS: \"all\" stands alone");
	return 0;
}

/* «GPU-» and the unique id's 16 digits, as ROCm writes it: kfd's number. */
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
ask_bound(struct ask *a, enum gpu_vendor vendor, const char *text, struct why *why)
{
	const char *variable = vendor == GPU_AMD ? "ROCR_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES", *end;
	struct gpu_bound *b = &a->bound[vendor];

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

bool
ask_wants_gpus(const struct ask *a)
{
	return a->everything || a->all_gpus || a->counts > 0 || a->gpu_ids.n > 0;
}

void
ask_free(struct ask *a)
{
	size_t i;

	for (i = 0; i < a->folders; i++)
		free(a->folder[i].path);
	free(a->folder);
	strlist_free(&a->gpu_ids);
	for (i = 0; i < GPU_VENDORS; i++)
		strlist_free(&a->bound[i].names);
	*a = (struct ask){ 0 };
}
