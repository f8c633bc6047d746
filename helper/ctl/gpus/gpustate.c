/* See gpustate.h. */
#include "gpustate.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/quoted.h"
#include "../../base/text.h"
#include "../../host/gpu/drainedread.h"
#include "../columns.h"
#include "../ctl.h"

const char *
gpu_state_name(enum gpu_state s)
{
	static const char *const names[GPU_STATES] = {
		[GPU_FREE] = "free",
		[GPU_HELD] = "held",
		[GPU_IDLE] = "idle",
		[GPU_RELEASING] = "draining",
		[GPU_OUT_OF_SERVICE] = "out-of-service",
		[GPU_SICK] = "sick",
		[GPU_MIG] = "mig",
		[GPU_UNKNOWN] = "unknown",
	};

	return names[s];
}

const char *
gpu_never_given(const struct gpu *g, const struct settings *settings)
{
	if (g->unusable[0] != '\0')
		return g->unusable;
	if (g->integrated && !settings->allow_integrated)
		return "it is integrated, and gpuhelper.conf does not set allow_integrated = true";
	return NULL;
}

/* True if the lease's GPUs are free again, and the lease only waits for the end of its container. */
static bool
is_past(const json_t *lease)
{
	const char *state = get_text(lease, "state");

	return strcmp(state, "promised") == 0 || strcmp(state, "passed-on") == 0;
}

static bool
lease_has_gpu(const json_t *lease, const struct gpu_view *v, const struct gpu *g)
{
	const json_t *held;
	char part[16];
	size_t i;

	if (is_past(lease))
		return false;
	gpu_part(v->inv, g, part);
	json_array_foreach(json_object_get(lease, "gpus"), i, held)
		if (strcmp(get_text(held, "vendor"), gpu_vendor_name(g->vendor)) == 0 &&
		    strcmp(get_text(held, "pci"), g->pci) == 0 && strcmp(get_text(held, "part"), part) == 0)
			return true;
	return false;
}

struct leased_gpu
gpu_as_leased(const struct inventory *inv, const struct gpu *g)
{
	struct leased_gpu h = { .vendor = g->vendor, .exclusive = true };

	snprintf(h.pci, sizeof(h.pci), "%s", g->pci);
	gpu_part(inv, g, h.part);
	return h;
}

void
gpu_view_drained(struct drained *out)
{
	struct why why;

	*out = (struct drained){ 0 };
	if (geteuid() == 0 && drained_list(out, &why) == -1)
		(void)complain(why.code, "no container gets a GPU: %s", why.text);
}

static const struct drained_gpu *
drained(const struct drained *list, const struct inventory *inv, const struct gpu *g)
{
	const struct leased_gpu h = gpu_as_leased(inv, g);

	return list != NULL ? drained_find(list, &h) : NULL;
}

void
gpu_put_drained(json_t *j, const struct drained *list, const struct inventory *inv, const struct gpu *g)
{
	const struct drained_gpu *d = drained(list, inv, g);
	char since[32];

	if (d == NULL)
		return;
	text_time(d->since, since);
	json_object_set_new(j, d->sick ? "sick" : "drained", json_pack("{s:s, s:s}", "since", since, "why", d->why));
}

json_t *
gpu_holders(const struct gpu_view *v, const struct gpu *g)
{
	json_t *out = json_array(), *lease;
	size_t i;

	json_array_foreach(v->leases, i, lease)
		if (lease_has_gpu(lease, v, g))
			json_array_append(out, lease);
	return out;
}

/* If a GPU has several leases, its state is that of the lease which will hold it longest. */
static enum gpu_state
state_of_leases(const json_t *leases)
{
	enum gpu_state state = GPU_IDLE;
	const json_t *lease;
	size_t i;

	json_array_foreach(leases, i, lease) {
		const char *name = get_text(lease, "state");

		if (strcmp(name, "draining") == 0)
			state = state == GPU_HELD ? GPU_HELD : GPU_RELEASING;
		/* a lease that is over still holds the GPU until the helper has looked again */
		else if (strcmp(name, "idle") != 0)
			state = GPU_HELD;
	}
	return state;
}

/* The state of a GPU without a lease. */
static enum gpu_state
state_unheld(const struct gpu_view *v, const struct gpu *g)
{
	const struct drained_gpu *d = drained(v->drained, v->inv, g);

	if (d != NULL)
		return d->sick ? GPU_SICK : GPU_OUT_OF_SERVICE;
	return gpu_never_given(g, v->settings) != NULL ? GPU_OUT_OF_SERVICE : g->has_instances ? GPU_MIG :
	    !v->all ? GPU_UNKNOWN : GPU_FREE;
}

enum gpu_state
gpu_state_now(const struct gpu_view *v, const struct gpu *g)
{
	json_t *leases = gpu_holders(v, g);
	const enum gpu_state state = json_array_size(leases) > 0 ? state_of_leases(leases) : state_unheld(v, g);

	json_decref(leases);
	return state;
}

static json_t *
holder_json(const json_t *lease)
{
	static const char *const members[] = { "container", "pipeline", "policy", "since", "state" };
	json_t *j = json_object();
	size_t i;

	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		put_text(j, members[i], get_text(lease, members[i]));
	return j;
}

static json_t *
state_json(const struct gpu_view *v, const struct gpu *g)
{
	json_t *j = json_object(), *leases = gpu_holders(v, g), *holders = json_array(), *lease;
	char part[16];
	size_t i;

	gpu_part(v->inv, g, part);
	put_text(j, "vendor", gpu_vendor_name(g->vendor));
	if (g->unusable[0] == '\0')
		json_object_set_new(j, "rank", json_integer(g->rank));
	put_text(j, "pci", g->pci);
	put_text(j, "part", part);
	if (g->uuid[0] != '\0')
		put_text(j, "uuid", g->uuid);
	if (g->model[0] != '\0')
		put_text(j, "model", g->model);
	put_text(j, "state", gpu_state_name(gpu_state_now(v, g)));
	put_text(j, "unusable", gpu_never_given(g, v->settings));
	gpu_put_drained(j, v->drained, v->inv, g);
	json_array_foreach(leases, i, lease)
		json_array_append_new(holders, holder_json(lease));
	json_object_set_new(j, "holders", holders);
	json_decref(leases);
	return j;
}

json_t *
gpu_states_json(const struct gpu_view *v)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < v->inv->gpus; i++)
		json_array_append_new(list, state_json(v, &v->inv->gpu[i]));
	return list;
}

static void
note_drained(struct columns *c, const json_t *g, const char *kind)
{
	const json_t *d = json_object_get(g, kind);

	if (d != NULL)
		columns_note(c, "%s since %s%s%s", kind, get_text(d, "since"), *get_text(d, "why") != '\0' ? ": " : "",
		    get_text(d, "why"));
}

/* The row's last cells: the container that holds the GPU, and for how long. */
static void
add_holder(struct columns *c, const char *const first[4], const json_t *holder)
{
	const char *pipeline = get_text(holder, "pipeline");
	autofree char *by = NULL;
	char age[16];

	columns_age(get_text(holder, "since"), age);
	if (asprintf(&by, "%s (%s)", quoted(get_text(holder, "container")), *pipeline != '\0' ? quoted(pipeline) :
	    "no pipeline") == -1)
		by = NULL;
	columns_add(c, (const char *const []){ first[0], first[1], first[2], first[3], age, by != NULL ? by : "?" });
}

static void
add_state(struct columns *c, const json_t *g)
{
	static const char *const again[4] = { "", "", "", "" };
	const json_t *rank = json_object_get(g, "rank"), *holders = json_object_get(g, "holders"), *holder;
	const char *part = get_text(g, "part"), *model = get_text(g, "model");
	char name[64], number[24] = "-";
	const char *const first[4] = { name, get_text(g, "pci"), *model != '\0' ? model : "-", get_text(g, "state") };
	size_t i;

	if (rank != NULL)
		snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(rank));
	snprintf(name, sizeof(name), "%s %s", get_text(g, "vendor"), *part != '\0' ? part : number);
	json_array_foreach(holders, i, holder)
		add_holder(c, i == 0 ? first : again, holder);
	if (json_array_size(holders) == 0)
		columns_add(c, (const char *const []){ first[0], first[1], first[2], first[3], "", "" });
	note_drained(c, g, "drained");
	note_drained(c, g, "sick");
	if (*get_text(g, "unusable") != '\0')
		columns_note(c, "%s", get_text(g, "unusable"));
}

void
gpu_states_say(const json_t *states)
{
	autocolumns struct columns c = { .head = { "GPU", "PCI", "MODEL", "STATE", "AGE", "HELD BY" }, .n = 6, .state = 3,
		.shrinks = 2 };
	bool unknown = false;
	const json_t *g;
	size_t i;

	json_array_foreach(states, i, g) {
		add_state(&c, g);
		unknown = unknown || strcmp(get_text(g, "state"), gpu_state_name(GPU_UNKNOWN)) == 0;
	}
	columns_say(&c);
	if (unknown)
		say("unknown: only root sees whether a container of another user has the GPU: run this as root");
}
