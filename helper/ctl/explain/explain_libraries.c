/* See explain.h: the driver's libraries that the container will find. */
#include <stdlib.h>
#include <string.h>

#include "../../base/path.h"
#include "../../cdi/nvlibs.h"
#include "../../gpu/gpufind.h"
#include "../../host/driver/driverfound.h"
#include "explain.h"

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool
explain_find_libraries(struct inquiry *q, const struct edits *e)
{
	char soname[64];
	size_t i;

	for (i = 0; i < e->mounts; i++)
		if (e->mount[i].driver && nvlib_soname(path_last(e->mount[i].target), soname) &&
		    !strlist_has(&q->libraries, soname) && driver_finds(e, soname) &&
		    !strlist_add(&q->libraries, soname, SIZE_MAX))
			return false;
	if (q->libraries.n > 1)
		qsort(q->libraries.v, q->libraries.n, sizeof(*q->libraries.v), by_text);
	return true;
}

json_t *
libraries_json(const struct inquiry *q)
{
	json_t *j = json_object(), *names, *list, *name;
	unsigned capabilities = 0, bit;
	size_t i, k;

	for (i = 0; i < q->decision.grant.gpus; i++)
		capabilities |= q->decision.grant.gpu[i].rule->capabilities;
	names = capability_names(capabilities);
	json_array_foreach(names, i, name) {
		list = json_array();
		for (k = 0; gpu_capability_parse(json_string_value(name), &bit) && k < q->libraries.n; k++)
			if ((nvlib_capabilities(q->libraries.v[k]) & bit) != 0)
				json_array_append_new(list, json_string(q->libraries.v[k]));
		if (json_array_size(list) > 0)
			json_object_set(j, json_string_value(name), list);
		json_decref(list);
	}
	json_decref(names);
	return j;
}
