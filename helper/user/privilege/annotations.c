/* See annotations.h. Only reads config.json. */
#include "annotations.h"

#include "../../base/cleanup.h"
#include "annotationkeys.h"

int
annotations_check(const struct spec *s, bool by_root, struct why *why)
{
	uint32_t k;

	for (k = doc_first(&s->doc, s->annotations); k != DOC_NONE; k = doc_next(&s->doc, k)) {
		autofree char *key = doc_string(&s->doc, k);

		if (key == NULL)
			return refuse(why, WHY_DATA, "config.json: annotations: a key is not a valid string");
		if (!annotation_is_allowed(key, by_root))
			return refuse(why, WHY_DENIED, "annotation %.100s tells the runtime where to put the container, or what to write, "
			    "load or run. Only the engine may tell it that: remove the annotation", key);
	}
	return 0;
}
