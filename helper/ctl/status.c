/*
 * gpuhelperctl status, reap, reapply: who holds which GPU and who waits, as the helper
 * says.  Asks it like a container would, with the user's own rights: it shows a
 * user his own, and root all.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../host/etc.h"
#include "../pure/cleanup.h"
#include "../user/ask.h"
#include "../user/namespace.h"
#include "ctl.h"

/* By the door that gpuhelper.conf names, as the wrapper does; a broken one names none. */
static enum door_setting
door_of_host(void)
{
	autofree char *dir = namespace_path(GPUHELPER_CONFDIR);
	autosettings struct settings s = { 0 };
	struct why ignored;

	return settings_load(dir != NULL ? dir : GPUHELPER_CONFDIR, true, &s, NULL, NULL, &ignored) == 0 ? s.door : DOOR_AUTO;
}

/* The helper's answer to a verb that is about no container. */
static int
ask_helper(enum verb verb, struct reply *reply, struct why *why)
{
	struct request r = { .verb = verb, .uids = { .identity = true }, .gids = { .identity = true } };
	struct asking a;
	int ret;

	r.id = strdup("gpuhelperctl");
	r.runtime_root = strdup("");
	r.cgroups_path = strdup("");
	ret = r.id == NULL || r.runtime_root == NULL || r.cgroups_path == NULL ? refuse_nomem(why) :
	    ask(&r, door_of_host(), &a, reply, why);
	if (ret == 0) {
		ask_end(&a);
		if (reply->kind != REPLY_NOTED) {
			*why = reply->why;
			ret = -1;
		}
	}
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

static const char *
text_of(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s != NULL ? s : "";
}

static void
say_lease(const json_t *l)
{
	const json_t *g;
	size_t i;

	say("%s: %s, pipeline %s, by %s, uid %lld, since %s", text_of(l, "state"), text_of(l, "container"),
	    *text_of(l, "pipeline") ? text_of(l, "pipeline") : "(none)", text_of(l, "policy"),
	    (long long)json_integer_value(json_object_get(l, "uid")), text_of(l, "since"));
	json_array_foreach(json_object_get(l, "gpus"), i, g)
		say("    %s %s%s%s%s", text_of(g, "vendor"), text_of(g, "pci"), *text_of(g, "part") ? " part " : "",
		    text_of(g, "part"), json_is_true(json_object_get(g, "exclusive")) ? "" : " (shared)");
	json_array_foreach(json_object_get(l, "trouble"), i, g)
		say("    ! %s", json_string_value(g));
}

static void
say_waiter(const json_t *w)
{
	say("waits: %s, pipeline %s, uid %lld, for %lld GPU%s, %lld before it, since %s", text_of(w, "container"),
	    *text_of(w, "pipeline") ? text_of(w, "pipeline") : "(none)",
	    (long long)json_integer_value(json_object_get(w, "uid")),
	    (long long)json_integer_value(json_object_get(w, "gpus")),
	    json_integer_value(json_object_get(w, "gpus")) == 1 ? "" : "s",
	    (long long)json_integer_value(json_object_get(w, "ahead")), text_of(w, "since"));
}

json_t *
leases_now(void)
{
	struct reply reply = { 0 };
	json_t *leases = NULL;
	struct why ignored;

	/* where there never was one, asking would be the first to leave something there */
	if (access(GPUHELPER_RUNDIR "/leases", F_OK) == 0 && ask_helper(VERB_STATUS, &reply, &ignored) == 0)
		leases = json_incref(json_object_get(reply.status, "leases"));
	reply_free(&reply);
	return leases;
}

int
ctl_status(const struct options *o)
{
	struct reply reply = { 0 };
	struct why why = { 0 };
	const json_t *item;
	size_t i;

	if (ask_helper(VERB_STATUS, &reply, &why) == -1) {
		reply_free(&reply);
		return give_up(o, &why);
	}
	if (o->json)
		put_out(json_incref(reply.status));
	else {
		json_array_foreach(json_object_get(reply.status, "leases"), i, item)
			say_lease(item);
		json_array_foreach(json_object_get(reply.status, "waiters"), i, item)
			say_waiter(item);
	}
	reply_free(&reply);
	return 0;
}

/* What reap would end: the leases that status calls over. */
static int
list_over(const struct options *o)
{
	struct reply reply = { 0 };
	struct why why = { 0 };
	json_t *over = json_array();
	const json_t *l;
	size_t i;

	if (ask_helper(VERB_STATUS, &reply, &why) == -1) {
		reply_free(&reply);
		json_decref(over);
		return give_up(o, &why);
	}
	json_array_foreach(json_object_get(reply.status, "leases"), i, l) {
		if (strcmp(text_of(l, "state"), "over") != 0)
			continue;
		json_array_append(over, json_array_get(json_object_get(reply.status, "leases"), i));
		if (!o->json)
			say_lease(l);
	}
	if (o->json)
		put_out(json_incref(over));
	json_decref(over);
	reply_free(&reply);
	return 0;
}

static int
tell_helper(enum verb verb, const struct options *o)
{
	struct reply reply = { 0 };
	struct why why = { 0 };
	int ret = ask_helper(verb, &reply, &why);

	reply_free(&reply);
	return ret == -1 ? give_up(o, &why) : 0;
}

int
ctl_reap(const struct options *o)
{
	return o->dry_run ? list_over(o) : tell_helper(VERB_LOOK, o);
}

int
ctl_reapply(const struct options *o)
{
	return tell_helper(VERB_REAPPLY, o);
}
