/*
 * gpuhelperctl setup: the steps that all engines share (setup.h).  It examines everything first, changes
 * gpuhelper.conf, checks the policies, runs a container of its own, and only then makes the engine call the wrapper.
 * If a step fails, it undoes the earlier ones.
 */
#include "setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../read/load.h"
#include "../gpus/status.h"
#include "../worker/privilegedrunning.h"

static const struct engine *const engines[] = { &engine_concourse, &engine_containerd, &engine_podman, &engine_docker };
#define ENGINES (sizeof(engines) / sizeof(engines[0]))

/* A policy with an error would refuse containers as soon as the engine calls the wrapper. */
static int
check_policies(struct why *why)
{
	const struct options check = { .config_dir = GPUHELPER_CONFDIR };

	return ctl_check(&check) == 0 ? 0 : refuse(why, WHY_CONFIG, "correct what «check» reports, and run this again: until "
	    "then gpuhelper is not switched on");
}

/* Says which running containers are of a kind that gpuhelper is going to refuse. */
static void
say_privileged(const struct settings *settings)
{
	autostrlist struct strlist now = { 0 };
	char running[400];

	if (settings->privileged != PRIVILEGED_DENY || !privileged_running(&now) || now.n == 0)
		return;
	privileged_running_text(&now, running, sizeof(running));
	say("privileged: %s. gpuhelper refuses such containers from now on, unless a policy says privileged = true "
	    "(gpuhelper-policy(5)); it does not end those that run", running);
}

static int
find_all(struct setup *s, struct why *why)
{
	if (access(WRAPPER, X_OK) == -1)
		return refuse(why, WHY_CONFIG, WRAPPER ": %s: make install", strerror(errno));
	if (settings_load(GPUHELPER_CONFDIR, true, &s->settings, NULL, NULL, why) == -1 || s->engine->find(s, why) == -1)
		return -1;
	say("runtime: %s%s", s->runtime, s->settings.runtime != NULL ? ", by gpuhelper.conf" : "");
	if (!s->options->image)
		say_privileged(&s->settings);
	return s->link != NULL ? setup_link_free(s->link, why) : 0;
}

/* In an image that is being built, there are no policies, no helper can answer, and no container can run. */
static int
switch_on(struct setup *s, struct why *why)
{
	if (s->options->image)
		return s->engine->put(s, false, why);
	if (check_policies(why) == -1 || ctl_helper_answers(why) == -1 || setup_try(why) == -1)
		return -1;
	if (s->engine->try != NULL && s->engine->try(s, why) == -1)
		return -1;
	return s->engine->put(s, false, why);
}

/* Another engine that calls the wrapper, and so needs the lines in gpuhelper.conf; NULL if there is none. */
static const struct engine *
still_in_place(const struct setup *s)
{
	size_t i;

	for (i = 0; i < ENGINES; i++)
		if (engines[i] != s->engine && engines[i]->in_place(s->link))
			return engines[i];
	return NULL;
}

static int
do_it(struct setup *s, struct why *why)
{
	const bool dry = s->options->dry_run;
	const struct engine *other;
	struct conf_before before;
	int ret;

	if (find_all(s, why) == -1)
		return -1;
	if (s->settings.runtime == NULL && (other = still_in_place(s)) != NULL)
		say("runtime: containers of %s will use it too", other->name);
	if (setup_conf(s, dry, &before, why) == -1)
		return -1;
	if ((ret = dry ? s->engine->put(s, true, why) : switch_on(s, why)) == -1)
		setup_conf_restore(&before);
	free(before.text);
	return ret == 0 && s->options->tags ? setup_tags(s, dry, why) : ret;
}

/* Undoes the steps in reverse order.  With --tags, only the tags. */
static int
undo_it(struct setup *s, struct why *why)
{
	const bool dry = s->options->dry_run;
	const struct engine *other;

	if (s->engine == &engine_concourse && setup_tags_undo(dry, why) == -1)
		return -1;
	if (s->options->tags)
		return 0;
	if (s->engine->undo(s, dry, why) == -1)
		return -1;
	if ((other = still_in_place(s)) == NULL)
		return setup_conf_undo(dry, why);
	say("settings: setup's lines stay in gpuhelper.conf, because «setup %s» needs them", other->name);
	return 0;
}

static int
run(const struct engine *engine, const struct options *o)
{
	struct setup s = { .options = o, .engine = engine };
	struct why why;
	int ret;

	if (geteuid() != 0) {
		refuse(&why, WHY_DENIED, "setup: run it as root");
		return give_up(o, &why);
	}
	ret = o->undo ? undo_it(&s, &why) : do_it(&s, &why);
	worker_free(&s.worker);
	settings_free(&s.settings);
	strlist_free(&s.volumes);
	strlist_free(&s.stores);
	free(s.runtime);
	free(s.link);
	free(s.program);
	free(s.address);
	free(s.before);
	return ret == 0 ? 0 : give_up(o, &why);
}

int
ctl_setup_concourse(const struct options *o)
{
	return run(&engine_concourse, o);
}

int
ctl_setup_containerd(const struct options *o)
{
	return run(&engine_containerd, o);
}

int
ctl_setup_podman(const struct options *o)
{
	return run(&engine_podman, o);
}

int
ctl_setup_docker(const struct options *o)
{
	return run(&engine_docker, o);
}
