/*
 * gpuhelperctl status, reap, reapply: asks the helper with its caller's rights.  The helper shows a user the user's own
 * leases, and root all of them.
 */
#include "../../ask/reply.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../ask/replyread.h"
#include "../../base/cleanup.h"
#include "../../base/quoted.h"
#include "../../host/gpu/udev.h"
#include "../../json/strictjson.h"
#include "../../read/load.h"
#include "../../user/ask/ask.h"
#include "../../user/ask/callerops.h"
#include "../../user/ask/recordclean.h"
#include "../../user/command/namespace.h"
#include "../columns.h"
#include "../configload.h"
#include "../ctl.h"
#include "gpustate.h"
#include "leaseorder.h"
#include "waitreasons.h"

#define REAP_ROUNDS 8
#define WATCH_SECONDS 2

/* The door that gpuhelper.conf sets, as for the wrapper; the default if gpuhelper.conf is broken. */
static enum door_setting
door_of_host(void)
{
	autofree char *dir = namespace_path(GPUHELPER_CONFDIR);
	autosettings struct settings s = { 0 };
	struct why ignored;

	return settings_load(dir != NULL ? dir : GPUHELPER_CONFDIR, true, &s, NULL, NULL, &ignored) == 0 ? s.door : DOOR_AUTO;
}

/* Makes a request that concerns no container. */
static int
name_request(enum verb verb, struct request *r, struct why *why)
{
	*r = (struct request){ .verb = verb, .spec.uids = { .identity = true }, .spec.gids = { .identity = true } };
	r->id = strdup("gpuhelperctl");
	r->runtime_root = strdup("");
	r->spec.cgroups_path = strdup("");
	return r->id == NULL || r->runtime_root == NULL || r->spec.cgroups_path == NULL ? refuse_nomem(why) : 0;
}

static int
ask_this(const struct request *r, struct reply *reply, struct why *why)
{
	struct helper_conn a;

	if (ask(r, door_of_host(), &a, reply, why) == -1)
		return -1;
	ask_end(&a);
	if (reply->kind == REPLY_DONE)
		return 0;
	*why = reply->why;
	return -1;
}

static int
ask_helper(enum verb verb, struct reply *reply, struct why *why)
{
	struct request r;
	int ret = name_request(verb, &r, why) == -1 ? -1 : ask_this(&r, reply, why);

	request_free(&r);
	return ret;
}

int
ctl_helper_answers(struct why *why)
{
	struct reply reply = { 0 };
	int ret = ask_helper(VERB_STATUS, &reply, why);

	reply_free(&reply);
	return ret;
}

static void
note_gpus(struct columns *c, const json_t *gpus, const char *before)
{
	const json_t *g;
	size_t i;

	json_array_foreach(gpus, i, g)
		columns_note(c, "%s%s %s%s%s%s", before, get_text(g, "vendor"), get_text(g, "pci"),
		    *get_text(g, "part") ? " part " : "", get_text(g, "part"), json_is_true(json_object_get(g, "exclusive")) ? "" :
		    " (shared)");
}

static const char *
pipeline_of(const json_t *l, char out[QUOTED_MAX])
{
	return *get_text(l, "pipeline") != '\0' ? quoted_text(get_text(l, "pipeline"), out) : "-";
}

static void
add_lease(struct columns *c, const json_t *l)
{
	char age[16], pipeline[QUOTED_MAX];
	const json_t *g;
	size_t i;

	columns_age(get_text(l, "since"), age);
	columns_add(c, (const char *const []){ quoted(get_text(l, "container")), get_text(l, "state"), age,
	    pipeline_of(l, pipeline) });
	columns_note(c, "by %s, uid %lld, since %s", get_text(l, "policy"),
	    (long long)json_integer_value(json_object_get(l, "uid")), get_text(l, "since"));
	if (*get_text(l, "left_behind_since"))
		columns_note(c, "its task is over, but has left processes behind since %s", get_text(l, "left_behind_since"));
	note_gpus(c, json_object_get(l, "gpus"), "");
	if (strcmp(get_text(l, "state"), "promised") == 0)
		note_gpus(c, json_object_get(l, "promised"), "may take ");
	json_array_foreach(json_object_get(l, "trouble"), i, g)
		columns_note(c, "! %s", json_string_value(g));
}

static void
say_leases(const json_t *leases)
{
	autocolumns struct columns c = { .head = { "CONTAINER", "STATE", "AGE", "PIPELINE" }, .n = 4, .state = 1 };
	const json_t *l;
	size_t i;

	json_array_foreach(leases, i, l)
		add_lease(&c, l);
	columns_say(&c);
}

static void
add_waiter(struct columns *c, const json_t *w)
{
	const long long gpus = json_integer_value(json_object_get(w, "gpus"));
	char age[16], count[32], ahead[24], pipeline[QUOTED_MAX];
	const json_t *why;
	size_t i;

	columns_age(get_text(w, "since"), age);
	snprintf(count, sizeof(count), "%lld GPU%s", gpus, S_OF(gpus));
	snprintf(ahead, sizeof(ahead), "%lld", (long long)json_integer_value(json_object_get(w, "ahead")));
	columns_add(c, (const char *const []){ quoted(get_text(w, "container")),
	    json_object_get(w, "task") != NULL ? "task waits" : "waits", age, count, ahead, pipeline_of(w, pipeline) });
	columns_note(c, "by %s, priority %lld", get_text(w, "policy"),
	    (long long)json_integer_value(json_object_get(w, "priority")));
	json_array_foreach(json_object_get(w, "why"), i, why)
		columns_note(c, "%s", json_string_value(why));
}

static void
say_waiters(const json_t *waiters)
{
	autocolumns struct columns c = { .head = { "CONTAINER", "STATE", "AGE", "FOR", "AHEAD", "PIPELINE" }, .n = 6,
		.state = 1 };
	const json_t *w;
	size_t i;

	json_array_foreach(waiters, i, w)
		add_waiter(&c, w);
	columns_say(&c);
}

static json_t *
status_of(const struct reply *reply, struct why *why)
{
	const char *text = reply->status != NULL ? reply->status : "";

	return strictjson_object(text, strlen(text), why);
}

json_t *
helper_status(struct why *why)
{
	struct reply reply = { 0 };
	json_t *status = ask_helper(VERB_STATUS, &reply, why) == 0 ? status_of(&reply, why) : NULL;

	reply_free(&reply);
	return status;
}

char *
helper_status_unread(size_t *len, struct why *why)
{
	struct request r;
	char *text = name_request(VERB_STATUS, &r, why) == -1 ? NULL : ask_unread(&r, len, why);

	request_free(&r);
	return text;
}

json_t *
helper_status_read(const char *text, size_t len, struct why *why)
{
	struct reply reply = { 0 };
	json_t *status = NULL;

	if (reply_decode(text, len, &reply, why) == 0) {
		if (reply.kind == REPLY_DONE)
			status = status_of(&reply, why);
		else
			*why = reply.why;
	}
	reply_free(&reply);
	return status;
}

json_t *
status_now(void)
{
	struct why ignored;

	/* without the directory there are no leases; asking the helper would create it */
	return access(GPUHELPER_RUNDIR "/leases", F_OK) == 0 ? helper_status(&ignored) : NULL;
}

json_t *
leases_now(void)
{
	json_t *status = status_now(), *leases = json_incref(json_object_get(status, "leases"));

	json_decref(status);
	return leases;
}

/* Adds «gpus» to the helper's status.  -1 with *why. */
static int
add_gpu_states(const struct options *o, json_t *status, struct why *why)
{
	autodrained struct drained drained = { 0 };
	autosettings struct settings settings = { 0 };
	struct inventory inv = { 0 };
	const struct gpu_view v = { json_object_get(status, "leases"), &drained, &inv, &settings, geteuid() == 0 };
	int ret;

	gpu_view_drained(&drained);
	ret = config_settings_or_default(o, &settings, why) == -1 || gpus_of_host(GPUS_ALL, &inv, why) == -1 ? -1 : 0;
	if (ret == 0)
		json_object_set_new(status, "gpus", gpu_states_json(&v));
	inventory_free(&inv);
	return ret;
}

/* Adds to each waiter why it waits.  Without the policies, their quotas are not known. */
static void
add_reasons(const struct options *o, json_t *status)
{
	autoconfig struct config config = { 0 };
	const struct wait_view v = { json_object_get(status, "leases"), json_object_get(status, "waiters"),
		&config.policies, geteuid() == 0 };
	struct why ignored;

	if (json_array_size(v.waiters) > 0)
		(void)config_load(o, &config, &ignored);
	wait_reasons_put(&v);
}

/* A blank line between two tables. */
static void
say_part(const json_t *list, void (*say_list)(const json_t *), bool *any)
{
	if (json_array_size(list) == 0)
		return;
	if (*any)
		putchar('\n');
	*any = true;
	say_list(list);
}

static void
say_status(const json_t *status)
{
	bool any = false;

	say_part(json_object_get(status, "gpus"), gpu_states_say, &any);
	if (!any)
		say("no GPU is found (gpuhelperctl doctor says why)");
	say_part(json_object_get(status, "leases"), say_leases, &any);
	say_part(json_object_get(status, "waiters"), say_waiters, &any);
}

static int
show_once(const struct options *o, struct why *why)
{
	json_t *status = helper_status(why);
	int ret;

	/* sort first: the holders of each GPU are listed in the order of the leases */
	leases_sort(json_object_get(status, "leases"));
	ret = status == NULL ? -1 : add_gpu_states(o, status, why);
	if (ret == 0)
		add_reasons(o, status);
	if (ret == 0 && o->json)
		put_out(json_incref(status));
	else if (ret == 0)
		say_status(status);
	json_decref(status);
	return ret;
}

/* Repeats until interrupted, also after an error: the helper may be busy, or being upgraded. */
static void __attribute__((noreturn))
watch_status(const struct options *o)
{
	const bool screen = isatty(STDOUT_FILENO);
	struct why why;

	for (;;) {
		/* cursor to the first line, then clear the screen (ECMA-48: CUP, ED) */
		if (screen)
			fputs("\033[H\033[2J", stdout);
		if (show_once(o, &why) == -1)
			(void)complain(why.code, "%s", why.text);
		else if (!screen)
			putchar('\n');
		/* the reader may be gone */
		if (fflush(stdout) != 0)
			exit(WHY_IO);
		sleep(WATCH_SECONDS);
	}
}

int
ctl_status(const struct options *o)
{
	struct why why = { 0 };

	if (o->watch && o->json)
		return misuse(o, "status: give --watch or --json, not both");
	if (o->watch)
		watch_status(o);
	return show_once(o, &why) == -1 ? give_up(o, &why) : 0;
}

/* The leases that reap ends: those whose state is over or idle.  A new reference; NULL with *why. */
static json_t *
leases_over(struct why *why)
{
	json_t *status = helper_status(why), *over, *l;
	size_t i;

	if (status == NULL)
		return NULL;
	over = json_array();
	json_array_foreach(json_object_get(status, "leases"), i, l)
		if (strcmp(get_text(l, "state"), "over") == 0 || strcmp(get_text(l, "state"), "idle") == 0)
			json_array_append(over, l);
	json_decref(status);
	return over;
}

/*
 * Has the helper end leases.  For containers whose task is over, the helper may answer with operations, such as
 * stopping a process; they are done with our rights, and the helper is asked again.  Ends when there are no more
 * operations, or after one has failed and the helper knows it.
 */
static int
reap(struct request *r, struct why *why)
{
	struct reply reply = { 0 };
	unsigned round;
	int ret;

	for (round = 0; round < REAP_ROUNDS; round++) {
		const bool failed = r->retry.no_ops;
		struct why ignored;

		if ((ret = ask_this(r, &reply, failed ? &ignored : why)) == -1 || reply.ops.n == 0) {
			reply_free(&reply);
			return failed ? -1 : ret;
		}
		(void)caller_ops_do(&reply.ops, r, why);
		reply_free(&reply);
	}
	return r->retry.no_ops ? -1 : 0;
}

int
ctl_reap(const struct options *o)
{
	/* only these print the leases */
	const bool names = o->dry_run || o->json;
	json_t *over = NULL;
	struct why why = { 0 };
	struct request r;
	int ret = 0;

	if (names && (over = leases_over(&why)) == NULL)
		return give_up(o, &why);
	if (!o->dry_run) {
		ret = name_request(VERB_REAP, &r, &why) == -1 ? -1 : reap(&r, &why);
		request_free(&r);
		records_clean();
	}
	if (ret == 0 && o->json)
		put_out(json_pack("{s:b, s:O}", "dry_run", o->dry_run, "over", over));
	else if (ret == 0)
		say_leases(over);
	json_decref(over);
	return ret == -1 ? give_up(o, &why) : 0;
}

int
ctl_reapply(const struct options *o)
{
	struct reply reply = { 0 };
	struct why why = { 0 };
	int ret = ask_helper(VERB_REAPPLY, &reply, &why);

	reply_free(&reply);
	if (ret == -1)
		return give_up(o, &why);
	if (o->json)
		put_out(json_pack("{s:b}", "ok", true));
	return 0;
}
