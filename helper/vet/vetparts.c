/* See vetparts.h: what the parts of vet_edits() share. */
#include "vetparts.h"

int
vet_refuse(const char *what, const char *name, struct why *why)
{
	return refuse(why, WHY_BUG, "gpuhelper's reply has the %s %.200s, which no policy for root and no CDI spec gives: "
	    "nothing was changed (try again if one of these files was just changed)", what, name);
}

const struct cdi_edits *
vet_source_edits(const struct vet *v, size_t n)
{
	const struct vet_source *s = &v->source[n / 2];

	if (!s->granted || (n > 1 && n % 2 == 0 && s[-1].granted && s[-1].edits[0] == s->edits[0]))
		return NULL;
	return s->edits[n % 2];
}

bool
vet_gives_driver_files(const struct vet *v)
{
	return v->settings->driver_files == DRIVER_FILES_AUTO || v->settings->driver_files == DRIVER_FILES_CDI;
}
