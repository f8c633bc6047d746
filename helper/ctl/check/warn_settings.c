/*
 * See warn_parts.h: warns about settings that may not mean what their author thinks, or make this host refuse
 * containers.
 */
#include "warn_parts.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/users.h"
#include "../../user/command/runtime.h"
#include "../configload.h"
#include "../worker/readable.h"
#include "../worker/tasktakes.h"
#include "warn.h"

/* Warns about policies that require a token if no issuer is configured. */
static void
warn_no_issuers(struct check_set *s, struct checked *c)
{
	const char *first = NULL;
	unsigned n = 0;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (is_policy(&s->v[i]) && s->v[i].policy.identity == IDENTITY_TOKEN && n++ == 0)
			first = s->v[i].policy.name;
	if (n > 0)
		fault_add(&c->faults, 0, true, "no issuers are configured, so no token is accepted: policies with identity = "
		    "\"token\" grant nothing (%u, %.60s first)", n, first);
}

/*
 * Without a runtime no container is created.  That is an error if these settings are this host's own, else a warning.
 */
static void
warn_runtime(const struct check_set *s, struct checked *c)
{
	autofree char *path = NULL;
	struct why why;

	if (s->settings.runtime == NULL || (path = runtime_find(s->settings.runtime, &why)) != NULL ||
	    (why.code == WHY_IO && geteuid() != 0))
		return;
	fault_add(&c->faults, key_line(c, "runtime"), !s->installed, "no container can be created: %s", why.text);
}

/* Warns if none of the volumes exists.  The defaults list many engines' directories, so they give no warning. */
static void
warn_volumes(const struct check_set *s, struct checked *c)
{
	const unsigned line = key_line(c, "volumes");
	struct stat st;
	size_t i;

	for (i = 0; i < s->settings.volumes.n; i++)
		if (stat(s->settings.volumes.v[i], &st) == 0 ? S_ISDIR(st.st_mode) : errno == EACCES)
			return;
	if (line != 0)
		fault_add(&c->faults, line, true, "none of the volumes exists on this host: containers whose root filesystem is not "
		    "in their bundle are refused");
}

/* The wrapper reads the settings with the worker's rights. */
static void
warn_reader(struct checked *c, uint32_t uid, const char *name)
{
	if (!readable_by(uid, name, GPUHELPER_CONFDIR "/gpuhelper.conf"))
		warn_once(c, 0, "user %.32s can't read the file, so gpuhelper-runc refuses that user's containers: chmod "
		    "0755 " GPUHELPER_CONFDIR " && chmod 0644 " GPUHELPER_CONFDIR "/gpuhelper.conf", name);
}

static void
warn_readers(const struct check_set *s, struct checked *c)
{
	const struct group *g = getgrnam("gpuhelper");
	struct client who[CLIENTS_MAX];
	uint32_t uid;
	size_t i, k, n;

	for (i = 0; g != NULL && g->gr_mem[i] != NULL; i++)
		if (user_uid(g->gr_mem[i], &uid, NULL))
			warn_reader(c, uid, g->gr_mem[i]);
	for (i = 0; i < s->n; i++) {
		n = is_policy(&s->v[i]) ? policy_clients(&s->v[i].policy, who) : 0;
		for (k = 0; k < n; k++)
			warn_reader(c, who[k].uid, who[k].user);
	}
}

static void
warn_keys(const struct check_set *s, struct checked *c, const struct issuer_setting *i)
{
	struct why why;

	if (config_issuer_usable(i, s->installed, time(NULL), &why) == -1)
		fault_add(&c->faults, i->line, true, "issuer %.80s: its tokens are refused: %s", i->url, why.text);
}

void
warn_settings(struct check_set *s)
{
	struct checked *c = &s->v[s->settings_at];
	size_t k;

	if (!c->good && c->faults.errors > 0)
		return;
	if (s->settings.privileged == PRIVILEGED_ALLOW)
		fault_add(&c->faults, key_line(c, "privileged"), true, "privileged = \"allow\" lets a privileged container keep "
		    "every GPU that its engine gives it, whatever the policies say");
	if (key_line(c, "first_exec") != 0)
		fault_add(&c->faults, key_line(c, "first_exec"), true, "first_exec has no effect any more: a task takes its GPUs by "
		    "itself. Remove the line");
	if (s->settings.task_execs.n == 0 && settings_against_tasks(&s->settings) == NULL)
		fault_add(&c->faults, key_line(c, "task_execs"), true, "no exec is a task, so none takes the GPUs that its container "
		    "was promised, unless it has GPUHELPER_GPUS=again: leave the line out");
	if (s->settings.issuers == 0)
		warn_no_issuers(s, c);
	if (s->installed)
		warn_readers(s, c);
	warn_runtime(s, c);
	warn_volumes(s, c);
	for (k = 0; k < s->settings.issuers; k++) {
		warn_keys(s, c, &s->settings.issuer[k]);
		warn_turns(c, &s->settings.issuer[k]);
	}
}
