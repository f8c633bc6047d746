/*
 * See waitreasons.h.  The helper does not say what each team has used, so a share is known to decide only where one
 * that came later goes first.
 */
#include "waitreasons.h"

#include <string.h>

#include "../../base/cleanup.h"
#include "../../policy/usage.h"
#include "../ctl.h"

/* Why one goes before another. */
enum before { BEFORE_URGENT, BEFORE_PRIORITY, BEFORE_SHARE, BEFORE_ARRIVAL, BEFORE_UNSEEN, BEFORE_KINDS };

static const char *const before_says[BEFORE_KINDS] = {
	[BEFORE_URGENT] = "that waited for half of max_wait",
	[BEFORE_PRIORITY] = "of higher priority",
	[BEFORE_SHARE] = "of teams that used less for their share",
	[BEFORE_ARRIVAL] = "that came earlier",
	[BEFORE_UNSEEN] = "of other users",
};

static json_int_t
number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static bool
is_urgent(const json_t *waiter)
{
	return json_is_true(json_object_get(waiter, "urgent"));
}

static enum before
why_before(const json_t *first, const json_t *waiter)
{
	if (!is_urgent(waiter) && is_urgent(first))
		return BEFORE_URGENT;
	if (!is_urgent(waiter) && number(first, "priority") > number(waiter, "priority"))
		return BEFORE_PRIORITY;
	/* RFC 3339 in UTC: the order of the texts is that of the times */
	return *get_text(waiter, "since") != '\0' && strcmp(get_text(first, "since"), get_text(waiter, "since")) > 0 ?
	    BEFORE_SHARE : BEFORE_ARRIVAL;
}

static void
add_text(json_t *list, const struct buf *text)
{
	if (!text->failed && text->len > 0)
		json_array_append_new(list, json_string(text->p));
}

static void
tell_before(json_t *list, const json_int_t before[BEFORE_KINDS])
{
	autobuf struct buf text = { 0 };
	size_t i;

	for (i = 0; i < BEFORE_KINDS; i++)
		if (before[i] > 0)
			buf_printf(&text, "%s%lld %s", text.len > 0 ? ", " : "it goes after ", (long long)before[i],
			    before_says[i]);
	add_text(list, &text);
}

/* How many GPUs the policy's containers hold, as the helper counts them (engine/allocate.c). */
static json_int_t
held_by(const json_t *leases, const char *policy)
{
	const json_t *l;
	const char *state;
	json_int_t n = 0;
	size_t i;

	json_array_foreach(leases, i, l) {
		state = get_text(l, "state");
		if (strcmp(get_text(l, "policy"), policy) == 0 && strcmp(state, "promised") != 0 && strcmp(state, "over") != 0)
			n += (json_int_t)json_array_size(json_object_get(l, "gpus"));
	}
	return n;
}

static unsigned
max_gpus_of(const struct policy_set *policies, const char *name)
{
	size_t i;

	for (i = 0; i < policies->n; i++)
		if (strcmp(policies->v[i].policy.name, name) == 0)
			return policies->v[i].policy.max_gpus;
	return 0;
}

static void
tell_quota(const struct wait_view *v, json_t *list, const json_t *waiter)
{
	const unsigned max = v->all ? max_gpus_of(v->policies, get_text(waiter, "policy")) : 0;
	const json_int_t held = max > 0 ? held_by(v->leases, get_text(waiter, "policy")) : 0;
	autobuf struct buf text = { 0 };

	if (max == 0 || held + number(waiter, "gpus") <= max)
		return;
	buf_printf(&text, "its policy holds %lld of max_gpus = %u", (long long)held, max);
	add_text(list, &text);
}

json_t *
wait_reasons(const struct wait_view *v, const json_t *waiter, size_t ahead)
{
	json_int_t before[BEFORE_KINDS] = { 0 };
	json_t *list = json_array();
	size_t i;

	tell_quota(v, list, waiter);
	if (is_urgent(waiter))
		json_array_append_new(list, json_string("it has waited for half of max_wait, and goes before all priorities"));
	for (i = 0; i < ahead; i++)
		before[why_before(json_array_get(v->waiters, i), waiter)]++;
	before[BEFORE_UNSEEN] = number(waiter, "ahead") - (json_int_t)ahead;
	tell_before(list, before);
	return list;
}

void
wait_reasons_put(const struct wait_view *v)
{
	json_t *w;
	size_t i;

	json_array_foreach(v->waiters, i, w)
		json_object_set_new(w, "why", wait_reasons(v, w, i));
}

static bool
same_team(const json_t *a, const json_t *b)
{
	const char *x = get_text(a, "pipeline"), *y = get_text(b, "pipeline");
	const size_t n = usage_team(x);

	return n == usage_team(y) && strncmp(x, y, n) == 0;
}

json_t *
wait_reasons_of_new(const struct wait_view *v, const json_t *waiter, bool shares, size_t *ahead)
{
	autobuf struct buf text = { 0 };
	size_t i, others = 0;
	json_t *o, *list, *first = json_array();
	struct wait_view before = *v;

	json_array_foreach(v->waiters, i, o)
		if (shares && !is_urgent(o) && number(o, "priority") == number(waiter, "priority") && !same_team(o, waiter))
			others++;
		else if (is_urgent(o) || number(o, "priority") >= number(waiter, "priority"))
			json_array_append(first, o);
	*ahead = json_array_size(first);
	before.waiters = first;
	list = wait_reasons(&before, waiter, *ahead);
	if (others > 0)
		buf_printf(&text, "it goes before or after %zu of other teams, as their shares decide", others);
	add_text(list, &text);
	json_decref(first);
	return list;
}
