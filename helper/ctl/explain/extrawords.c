/* See extrawords.h. */
#include "extrawords.h"

#include <stdio.h>
#include <string.h>

#include "../../gpu/extraword.h"

/* The first spec of the kind that can't be used, or NULL. */
static const struct cdi_file *
find_unusable(const struct cdi_registry *specs, const char *kind)
{
	const struct cdi_file *f;
	size_t i;

	for (i = 0; i < specs->files; i++) {
		f = &specs->file[i];
		if (!f->usable && f->spec.kind != NULL && strcmp(f->spec.kind, kind) == 0)
			return f;
	}
	return NULL;
}

static void
tell_word(const struct cdi_registry *specs, unsigned bit, extra_teller *tell, void *ctx)
{
	const char *word = extra_word_name(bit), *kind = extra_word_kind(bit);
	const struct cdi_file *f = find_unusable(specs, kind);
	char line[400];

	if (f != NULL)
		snprintf(line, sizeof(line), "nodes: \"%s\" adds nothing: CDI spec %.100s of kind %s can't be used "
		    "(gpuhelperctl cdi validate %.100s)", word, f->path, kind, f->path);
	else
		snprintf(line, sizeof(line), "nodes: \"%s\" adds nothing: neither the GPU's CDI device nor a spec of kind %s has "
		    "such a node", word, kind);
	tell(ctx, line);
}

void
extra_words_tell(const struct cdi_registry *specs, unsigned words, extra_teller *tell, void *ctx)
{
	unsigned bit;

	for (bit = 1; bit != 0 && bit <= words; bit <<= 1)
		if ((words & bit) != 0)
			tell_word(specs, bit, tell, ctx);
}
