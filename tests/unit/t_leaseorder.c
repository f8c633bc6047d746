/* ctl/gpus/leaseorder.c: the leases of living containers come first. */
#include <jansson.h>

#include "ctl/gpus/leaseorder.h"
#include "tap.h"

static void
sorted(const char *leases, const char *want, const char *what)
{
	json_t *j = json_loads(leases, 0, NULL), *l;
	char got[300] = "";
	size_t i;

	leases_sort(j);
	json_array_foreach(j, i, l)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", i > 0 ? " " : "",
		    json_string_value(json_object_get(l, "container")));
	is_str(got, want, what);
	json_decref(j);
}

#define L(container, state, since) "{\"container\":\"" container "\",\"state\":\"" state "\",\"since\":\"" since "\"}"

int
main(void)
{
	leases_sort(NULL);
	sorted("[]", "", "an empty list stays empty");
	sorted("[" L("gone", "over", "2026-11-20T01:00:00Z") "," L("passed", "passed-on", "2026-11-20T00:00:00Z") ","
	    L("returned", "promised", "2026-11-20T00:30:00Z") "," L("draining", "draining", "2026-11-20T01:00:00Z") ","
	    L("idle", "idle", "2026-11-20T02:00:00Z") "," L("begins", "taking", "2026-11-20T04:00:00Z") ","
	    L("runs", "held", "2026-11-20T03:00:00Z") "]",
	    "runs begins idle draining gone returned passed",
	    "leases are sorted by their states");
	sorted("[" L("third", "held", "2026-11-20T03:00:00Z") "," L("first", "held", "2026-11-19T03:00:00Z") ","
	    L("second", "held", "2026-11-19T03:00:00Z") "]", "first second third",
	    "leases in one state are sorted by their age");
	sorted("[" L("gone", "over", "2026-11-20T01:00:00Z") "," L("new", "of-a-later-version", "2026-11-20T01:00:00Z") "]",
	    "new gone", "a lease in an unknown state comes first");
	return done_testing();
}
