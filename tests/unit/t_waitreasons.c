/* ctl/gpus/waitreasons.c: why a container waits, and why at its place. */
#include <jansson.h>

#include "ctl/gpus/waitreasons.h"
#include "tap.h"

#define W(pipeline, priority, since, more) "{\"pipeline\":\"" pipeline "\",\"policy\":\"a.conf\",\"gpus\":1," \
	"\"priority\":" priority ",\"since\":\"2026-11-20T0" since ":00:00Z\"" more "}"
#define L(policy, state, gpus) "{\"policy\":\"" policy "\",\"state\":\"" state "\",\"gpus\":[" gpus "]}"

static struct policy_entry entries[] = { { .policy = { .name = (char *)(uintptr_t)"a.conf", .max_gpus = 3 } } };
static const struct policy_set policies = { .v = entries, .n = 1 }, unknown = { .n = 0 };

static void
is_list(json_t *list, const char *want, const char *what)
{
	char got[600] = "";
	const json_t *text;
	size_t i;

	json_array_foreach(list, i, text)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", i > 0 ? "; " : "", json_string_value(text));
	is_str(got, want, what);
	json_decref(list);
}

/* The reasons of the last waiter in the list. */
static void
last(const char *waiters, const char *ahead, const char *want, const char *what)
{
	json_t *list = json_loads(waiters, 0, NULL), *more = json_loads(ahead, 0, NULL);
	const struct wait_view v = { NULL, list, &policies, true };
	const size_t n = json_array_size(list) - 1;

	json_object_update(json_array_get(list, n), more);
	wait_reasons_put(&v);
	is_list(json_incref(json_object_get(json_array_get(list, n), "why")), want, what);
	json_decref(more);
	json_decref(list);
}

static void
quota(const char *leases, const struct policy_set *set, bool all, const char *want, const char *what)
{
	json_t *list = json_loads(leases, 0, NULL), *w = json_loads(W("ml/a", "5", "1", ""), 0, NULL);
	const struct wait_view v = { list, NULL, set, all };

	is_list(wait_reasons(&v, w, 0), want, what);
	json_decref(w);
	json_decref(list);
}

static void
new(const char *waiters, bool shares, size_t ahead, const char *want, const char *what)
{
	json_t *list = json_loads(waiters, 0, NULL), *w = json_loads("{\"pipeline\":\"ml/new\",\"priority\":5}", 0, NULL);
	const struct wait_view v = { NULL, list, &unknown, true };
	size_t place = 99;

	is_list(wait_reasons_of_new(&v, w, shares, &place), want, what);
	is_int((long long)place, (long long)ahead, "  and its place");
	json_decref(w);
	json_decref(list);
}

#define URGENT ",\"urgent\":true"

int
main(void)
{
	last("[" W("ml/a", "5", "1", "") "]", "{\"ahead\":0}", "", "the first one waits for no other");
	last("[" W("ml/a", "1", "1", URGENT) "," W("ml/a", "9", "3", "") "," W("web/a", "5", "4", "") ","
	    W("ml/a", "5", "1", "") "," W("ml/a", "5", "2", "") "]", "{\"ahead\":4}",
	    "it goes after 1 that waited for half of max_wait, 1 of higher priority, 1 of teams that used less for "
	    "their share, 1 that came earlier", "those before it, by why they are");
	last("[" W("ml/a", "1", "2", URGENT) "," W("ml/a", "0", "3", URGENT) "]", "{\"ahead\":1}",
	    "it has waited for half of max_wait, and goes before all priorities; it goes after 1 that came earlier",
	    "of two that waited long, the priority is no reason");
	last("[" W("ml/a", "5", "1", "") "," W("ml/a", "5", "2", "") "]", "{\"ahead\":4}",
	    "it goes after 1 that came earlier, 3 of other users", "whom this user may not see is counted");

	quota("[" L("a.conf", "held", "1,2") "," L("b.conf", "held", "3") "," L("a.conf", "draining", "4") ","
	    L("a.conf", "promised", "5") "," L("a.conf", "over", "6") "]", &policies, true,
	    "its policy holds 3 of max_gpus = 3", "a full quota");
	quota("[" L("a.conf", "held", "1,2") "]", &policies, true, "", "a quota with room for it is no reason");
	quota("[" L("a.conf", "held", "1,2,3") "]", &policies, false, "", "who sees only some leases is told of no quota");
	quota("[" L("a.conf", "held", "1,2,3") "]", &unknown, true, "", "without the policies, neither");

	new("[]", true, 0, "", "nobody waits");
	new("[" W("ml/a", "1", "1", URGENT) "," W("ml/a", "9", "1", "") "," W("web/a", "5", "1", "") ","
	    W("ml/a", "4", "1", "") "]",
	    false, 3, "it goes after 1 that waited for half of max_wait, 1 of higher priority, 1 that came earlier",
	    "a new one goes after those of its priority");
	new("[" W("web/a", "5", "1", "") "," W("ml/b", "5", "1", "") "," W("mlx/b", "5", "1", "") "]", true, 1,
	    "it goes after 1 that came earlier; it goes before or after 2 of other teams, as their shares decide",
	    "with shares, a team of the same priority may go first or not");
	return done_testing();
}
