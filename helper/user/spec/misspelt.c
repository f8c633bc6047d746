/* See misspelt.h. The task's author chose the names, so they are printed only in part, and nothing depends on them. */
#include "misspelt.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../../base/cleanup.h"
#include "../../base/quoted.h"
#include "../../base/textnear.h"
#include "../../lease/editsdriver.h"

/* One of our names that this one nearly is; NULL if it is one of ours, or far from all. */
static const char *
meant_by(const char *name)
{
	static const char *const ours[] = { "GPUHELPER_TOKEN", "GPUHELPER_GPUS", "GPUHELPER_FOLDERS", NULL };

	return text_among(name, ours) ? NULL : text_nearest(name, ours);
}

/* «name» has len bytes. */
static bool
tell_if_misspelt(const struct spec *s, const char *name, size_t len, char out[NOTE_MAX])
{
	char copy[32];
	const char *meant;

	/* most names are far from ours, and are compared no further */
	if (len >= sizeof(copy) || strncasecmp(name, "GPUH", 4) != 0)
		return false;
	snprintf(copy, sizeof(copy), "%.*s", (int)len, name);
	if ((meant = strlist_has(&s->tokens, copy) ? NULL : meant_by(copy)) != NULL)
		snprintf(out, NOTE_MAX, "%.60s has no effect: did you mean %s?", quoted(copy), meant);
	return meant != NULL;
}

void
misspelt_tell(const struct spec *s, char out[NOTE_MAX])
{
	size_t i;
	uint32_t k;

	out[0] = '\0';
	for (i = 0; i < s->env_text.n; i++)
		if (tell_if_misspelt(s, s->env_text.v[i], strcspn(s->env_text.v[i], "="), out))
			return;
	for (k = doc_first(&s->doc, s->annotations); k != DOC_NONE; k = doc_next(&s->doc, k)) {
		autofree char *key = doc_string(&s->doc, k);

		if (key != NULL && tell_if_misspelt(s, key, strlen(key), out))
			return;
	}
}
