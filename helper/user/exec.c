/* See exec.h. Runs with the caller's rights. */
#include "../ask/reply.h"
#include "exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../lease/editsdriver.h"
#include "ask/lease.h"
#include "command/namespace.h"
#include "command/runtime.h"
#include "execargs.h"
#include "execplan.h"
#include "record/execrecordread.h"
#include "spec/tokennames.h"
#include "task/agent.h"

/* The line and all warnings, for the user. */
static int
lines_for_user(const char *told, const struct exec_record *r, const struct exec_plan *p, struct strlist *out,
    struct why *why)
{
	char text[NOTE_MAX + 16], note[NOTE_MAX];
	size_t i;

	if (*told != '\0' && !strlist_add(out, told, SIZE_MAX))
		return refuse_nomem(why);
	for (i = 0; i <= r->notes.n; i++) {
		text_printable(note, sizeof(note), i < r->notes.n ? r->notes.v[i] : p->warning);
		snprintf(text, sizeof(text), "warning: %s", note);
		if ((i < r->notes.n || p->warning[0] != '\0') && !strlist_add(out, text, SIZE_MAX))
			return refuse_nomem(why);
	}
	return 0;
}

/* Has all lines written before the task's own output. If that is not possible, the task begins without them. */
static int
tell_user(const struct command *c, const struct settings *s, const struct strlist *lines, struct exec_plan *p,
    struct why *why)
{
	size_t i;

	if (p->task && p->waiter.used)
		return agent_start(c, s, &p->waiter, lines, why);
	if (p->waiter.used)
		waiter_send_go(&p->waiter, lines);
	for (i = 0; !p->waiter.used && i < lines->n; i++)
		dprintf(STDERR_FILENO, "gpuhelper: %s\n", lines->v[i]);
	return 0;
}

/*
 * Refuses a process that could undo the container's device rules, unless the container has a user namespace
 * of its own. Called where privileged = "deny".
 */
static int
check_strong_exec(char *const *argv, const struct command *c, const char *runtime, struct why *why)
{
	pid_t init = c->id != NULL ? runtime_first_process(runtime, argv, c->verb_at, c->id) : 0;
	struct stat ours, theirs;
	char name[40];

	snprintf(name, sizeof(name), "/proc/%d/ns/user", init);
	if (init != 0 && stat("/proc/self/ns/user", &ours) == 0 && stat(name, &theirs) == 0 && ours.st_ino != theirs.st_ino &&
	    (namespace_has_false_root() || geteuid() != 0 || !namespace_has_our_root(init)))
		return 0;
	return refuse(why, WHY_DENIED, "exec in container %s with capabilities like CAP_SYS_ADMIN, and without a user "
	    "namespace of its own: that is a privileged container, which this host does not allow (privileged = \"deny\" in "
	    "gpuhelper.conf)", c->id != NULL ? c->id : "");
}

/*
 * Tells the helper of the process, after all checks that could refuse it, except of a task: that asks for its GPUs by
 * itself. The process begins even without a helper: a health check is an exec, too.
 */
static void
record_exec(const struct command *c, const struct exec_record *r, const struct exec_plan *p, enum door_setting door,
    char told[REPLY_TEXT_MAX])
{
	if (r->found && !p->task)
		lease_record_exec(c, door, told);
	if (told[0] == '\0' && r->text != NULL)
		text_printable(told, REPLY_TEXT_MAX, r->text);
}

/* Tells the helper and the user, and makes the new command line. */
static char **
begin_exec(int argc, char *const *argv, const struct command *c, struct exec_plan *p, const struct exec_record *r,
    const char *runtime, const struct settings *s, struct why *why)
{
	char **words = exec_args(argc, argv, c, p, r, runtime), told[REPLY_TEXT_MAX] = "";
	autostrlist struct strlist lines = { 0 };

	if (words == NULL) {
		refuse_nomem(why);
		return NULL;
	}
	record_exec(c, r, p, s->door, told);
	if (lines_for_user(told, r, p, &lines, why) == 0 && tell_user(c, s, &lines, p, why) == 0 &&
	    waiter_set_numbers(&p->waiter, why) == 0)
		return words;
	free(words);
	return NULL;
}

/* What no process of this container may see; the same as at its creation. */
static int
note_tokens(const struct settings *s, struct exec_record *r, struct why *why)
{
	return token_names(s, r->found, &r->tokens) ? 0 : refuse_nomem(why);
}

char **
exec_prepare(int argc, char *const *argv, const struct command *c, const char *runtime,
    const struct settings *settings, struct why *why)
{
	struct exec_record r = { 0 };
	struct exec_plan p = { 0 };
	char **words = NULL;

	if (exec_record_read(c, &r, why) == 0 && note_tokens(settings, &r, why) == 0 &&
	    exec_plan_make(argc, argv, c, &r, settings, &p, why) == 0 &&
	    (!p.strong || r.privileged || settings->privileged != PRIVILEGED_DENY ||
	    check_strong_exec(argv, c, runtime, why) == 0))
		words = begin_exec(argc, argv, c, &p, &r, runtime, settings, why);
	else
		lease_record_refusal(c, settings->door, why);
	exec_record_free(&r);
	free(p.paths);
	return words;
}
