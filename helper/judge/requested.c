/* See requested.h. The author of a task chose the texts. Must only read them, and open nothing. */
#include "requested.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/path.h"
#include "../cdi/cdi.h"
#include "../gpu/gpufind.h"
#include "../gpu/mig.h"
#include "../policy/policy.h"

#define GPUS_REQUESTED_MAX 256

/* True for a PCI address, or a rank as "#0". */
static bool
is_pci_or_rank(const char *word)
{
	char pci[16];
	uint32_t rank;

	return pci_address_normalise(word, pci) || (*word == '#' && text_u32(word + 1, 0, 4095, &rank));
}

/* True for these, and for a MIG instance, whose name has ":GI" or ":GI:CI" behind one of these. */
static bool
is_address(const char *word)
{
	char base[64];

	return is_pci_or_rank(word) || ((size_t)snprintf(base, sizeof(base), "%s", word) < sizeof(base) &&
	    mig_name_shorten(base) && (is_pci_or_rank(base) || (mig_name_shorten(base) && is_pci_or_rank(base))));
}

/* Reads one word of GPUHELPER_GPUS. */
static int
ask_gpu(const char *word, struct requested *a, struct why *why)
{
	struct requested_count *c = &a->count[a->counts];
	const char *number = word, *colon = strchr(word, ':');
	char vendor[16];
	uint32_t n;

	if (strcmp(word, "all") == 0) {
		a->all_gpus = true;
		return 0;
	}
	*c = (struct requested_count){ 0 };
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
	return refuse(why, WHY_DATA, "GPUHELPER_GPUS: \"%s\" is not a count (1 to 64), VENDOR:COUNT, \"all\", \"none\", UUID, "
	    "PCI address, rank (\"#0\") or CDI device", word);
}

/* Reads one word of GPUHELPER_FOLDERS. */
static int
ask_one_folder(const char *word, struct requested *a, struct why *why)
{
	const char *colon = strrchr(word, ':');
	enum requested_access access = REQUESTED_ANY;
	struct requested_folder *v;
	struct why inner;
	char *path;

	if (strcmp(word, "all") == 0) {
		a->all_folders = true;
		return 0;
	}
	if (colon != NULL && strcmp(colon, ":ro") == 0)
		access = REQUESTED_RO;
	else if (colon != NULL && strcmp(colon, ":rw") == 0)
		access = REQUESTED_RW;
	else
		colon = NULL;
	if ((path = strndup(word, colon != NULL ? (size_t)(colon - word) : strlen(word))) == NULL)
		return refuse_nomem(why);
	if (path_check(path, &inner) == -1 || glob_is(path)) {
		refuse(why, WHY_DATA, "GPUHELPER_FOLDERS: %s", glob_is(path) ? "* and ? are not allowed here" : inner.text);
		free(path);
		return -1;
	}
	if ((v = reallocarray(a->folder, a->folders + 1, sizeof(*v))) == NULL) {
		free(path);
		return refuse_nomem(why);
	}
	a->folder = v;
	a->folder[a->folders++] = (struct requested_folder){ .path = path, .access = access };
	return 0;
}

/* Calls fn for each word between commas. */
static int
each_word(const char *text, const char *name, unsigned most, int (*fn)(const char *, struct requested *, struct why *),
    struct requested *a, struct why *why)
{
	const char *p = text, *end;
	unsigned words = 0;

	if (strcmp(text, "none") == 0)
		return 0;
	for (;; p = end + 1) {
		autofree char *word = NULL;

		end = strchrnul(p, ',');
		if (end == p)
			return refuse(why, WHY_DATA, "%s is empty or has an empty entry: give \"none\" for none", name);
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

/* Several bare numbers are most likely meant as ranks. */
static int
check_counts(const struct requested *a, const char *gpus, struct why *why)
{
	size_t i, bare = 0;

	for (i = 0; i < a->counts; i++)
		bare += !a->count[i].has_vendor;
	return bare < 2 ? 0 : refuse(why, WHY_DATA, "GPUHELPER_GPUS=%.120s: a bare number is a count; name GPUs by UUID, PCI "
	    "address, or rank as #0,#2", gpus);
}

int
requested_parse(const char *gpus, const char *folders, struct requested *out, struct why *why)
{
	*out = (struct requested){ .everything = gpus == NULL && folders == NULL };
	if (gpus != NULL && each_word(gpus, "GPUHELPER_GPUS", GPUS_REQUESTED_MAX, ask_gpu, out, why) == -1)
		return -1;
	if (gpus != NULL && check_counts(out, gpus, why) == -1)
		return -1;
	if (out->all_gpus && (out->counts > 0 || out->gpu_ids.n > 0))
		return refuse(why, WHY_DATA, "GPUHELPER_GPUS: \"all\" must stand alone");
	if (folders != NULL && each_word(folders, "GPUHELPER_FOLDERS", CONTAINER_FOLDERS_MAX, ask_one_folder, out, why) == -1)
		return -1;
	if (out->all_folders && out->folders > 0)
		return refuse(why, WHY_DATA, "GPUHELPER_FOLDERS: \"all\" must stand alone");
	return 0;
}

bool
requested_wants_gpus(const struct requested *a)
{
	return a->everything || a->all_gpus || a->counts > 0 || a->gpu_ids.n > 0;
}

void
requested_free(struct requested *a)
{
	size_t i;

	for (i = 0; i < a->folders; i++)
		free(a->folder[i].path);
	free(a->folder);
	strlist_free(&a->gpu_ids);
	gpu_bounds_free(a->bound);
	*a = (struct requested){ 0 };
}
