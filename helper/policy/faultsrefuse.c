/* See faultsrefuse.h. */
#include "faultsrefuse.h"

int
faults_refuse(const struct faults *f, const char *file, struct why *why)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		if (f->v[i].warning)
			continue;
		if (f->v[i].line == 0)
			return refuse(why, WHY_CONFIG, "%s: %s", file, f->v[i].text);
		return refuse(why, WHY_CONFIG, "%s:%u: %s", file, f->v[i].line, f->v[i].text);
	}
	return refuse_nomem(why);
}
