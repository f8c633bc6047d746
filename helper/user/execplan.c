/*
 * See execplan.h. Runs with the caller's rights. A process.json that holds a token is a secret: the new one must
 * only be in memory, and the old one must stay as it is.
 */
#include "execplan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/path.h"
#include "command/memfile.h"
#include "spec/cudavisible.h"
#include "spec/exactkeys.h"
#include "spec/speccapability.h"
#include "spec/specprocess.h"

#define PROCESS_MAX (4 * 1024 * 1024)

/* True for «env GPUHELPER_GPUS=again COMMAND», which a user can type where he can set no variable (fly hijack). */
static bool
is_again(const char *program, const char *argument)
{
	return program != NULL && argument != NULL && strcmp(path_last(program), "env") == 0 &&
	    strcmp(argument, GPUHELPER_AGAIN) == 0;
}

static bool
begins_again(const struct doc *d)
{
	const uint32_t first = doc_first(d, doc_get(d, 0, "args")), second = first != DOC_NONE ? doc_next(d, first) : DOC_NONE;
	autofree char *program = first != DOC_NONE ? doc_string(d, first) : NULL;
	autofree char *argument = second != DOC_NONE ? doc_string(d, second) : NULL;

	return is_again(program, argument);
}

/*
 * Makes the waiter for a process that takes the promised GPUs, or that has a terminal, where only a process in the
 * container can print a line for its user. It is in the container's /proc: a promise was made only for such a
 * container.
 */
static int
make_waiter(const struct command *c, const struct exec_record *r, struct exec_plan *p, struct why *why)
{
	int from = 0;

	if (!r->promised || p->waiter.used || !(p->task || command_next(c, ROLE_CONSOLE, &from) != NULL))
		return 0;
	return waiter_make(c, r->label, &p->waiter, why);
}

/* Returns the new process.json, which the caller frees, or NULL with *why. Notes in *p what the process has. */
static char *
compose_process(const struct command *c, const char *text, size_t len, const struct exec_record *r, size_t *newlen,
    struct exec_plan *p, struct why *why)
{
	autoedits struct doc_edits e = { 0 };
	autodoc struct doc d = { 0 };
	autostrlist struct strlist variables = { 0 };
	uint32_t env, n;
	char *new;

	if (doc_parse(&d, text, len, why) == -1) {
		refuse_within(why, "process.json");
		return NULL;
	}
	if (!doc_is(&d, 0, DOC_OBJECT)) {
		refuse(why, WHY_DATA, "process.json: it is not an object");
		return NULL;
	}
	if (exact_keys(&d, 0, "process.json", why) == -1 ||
	    exact_keys(&d, doc_get(&d, 0, "capabilities"), "process.json", why) == -1 ||
	    exact_keys(&d, doc_get(&d, 0, "user"), "process.json", why) == -1)
		return NULL;
	env = doc_get(&d, 0, "env");
	for (n = doc_first(&d, env); n != DOC_NONE; n = doc_next(&d, n)) {
		autofree char *entry = doc_string(&d, n);

		if (entry == NULL) {
			refuse(why, WHY_DATA, "process.json: env has an entry that is not a string");
			return NULL;
		}
		if (!strlist_add(&variables, entry, SIZE_MAX)) {
			refuse_nomem(why);
			return NULL;
		}
	}
	(void)cuda_visible_warns(&variables, &r->env, &r->gpus, p->warning);
	p->task = p->task || strlist_has(&variables, GPUHELPER_AGAIN) || begins_again(&d);
	if (make_waiter(c, r, p, why) == -1)
		return NULL;
	if (p->waiter.used)
		waiter_edit_args(&p->waiter, &d, &e);
	p->strong = p->strong || capabilities_are_strong(&d, 0);
	process_env(&d, 0, &r->env, &r->tokens, false, &e);
	process_groups(&d, 0, r->gid, r->gids, &e);
	process_label(&d, 0, "selinuxLabel", r->label, &e);
	if ((new = doc_apply(&d, &e, newlen)) == NULL)
		refuse_nomem(why);
	return new;
}

/* Replaces the file that --process names. *path gets the path of the new file, or "" if the file may stay. */
static int
replace_process(const struct command *c, const char *file, const struct exec_record *r, char path[FILE_LINK_MAX],
    struct exec_plan *p, struct why *why)
{
	autofree char *text = NULL, *new = NULL;
	autoclose int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t len, newlen;
	struct stat st;
	int ret = 0;

	path[0] = '\0';
	/* the runtime itself complains of a file that can't be read */
	if (fd == -1 || fstat(fd, &st) == -1 || S_ISDIR(st.st_mode))
		return 0;
	if ((text = memfile_read(fd, PROCESS_MAX, &len)) == NULL)
		return refuse(why, WHY_DATA, "process.json: %s", errno == EFBIG ? "is larger than 4 MiB" : strerror(errno));
	new = compose_process(c, text, len, r, &newlen, p, why);
	if (new == NULL)
		ret = -1;
	else if (!S_ISREG(st.st_mode) || newlen != len || memcmp(new, text, len) != 0)
		ret = memfile_make("process.json", new, newlen, path, why);
	explicit_bzero(text, len);
	return ret;
}

/* True if the engine calls this process by a name that is a task's: containerd gives the pid file that name. */
static bool
is_named_task(const struct command *c, const struct settings *s)
{
	const struct word *w;
	int from = 0;
	size_t n, i;

	while ((w = command_next(c, ROLE_PID_FILE, &from)) != NULL) {
		const char *name = w->value != NULL ? path_last(w->value) : "";

		n = strlen(name);
		n -= n > 4 && strcmp(name + n - 4, ".pid") == 0 ? 4 : 0;
		for (i = 0; i < s->task_execs.n; i++)
			if (strlen(s->task_execs.v[i]) == n && strncmp(s->task_execs.v[i], name, n) == 0)
				return true;
	}
	return false;
}

/* Reads one option. */
static int
plan_word(const struct command *c, const struct word *w, const struct exec_record *r, char path[FILE_LINK_MAX],
    struct exec_plan *p, struct why *why)
{
	switch (w->option->role) {
	case ROLE_CAP:
		p->strong = p->strong || capability_is_strong(w->value);
		return 0;
	case ROLE_ENV:
		p->task = p->task || (w->value != NULL && strcmp(w->value, GPUHELPER_AGAIN) == 0);
		return 0;
	case ROLE_PROCESS:
		p->has_process = true;
		return replace_process(c, w->value, r, path, p, why);
	default:
		return 0;
	}
}

int
exec_plan_make(int argc, char *const *argv, const struct command *c, const struct exec_record *r,
    const struct settings *s, struct exec_plan *p, struct why *why)
{
	int i;

	p->waiter = (struct waiter)WAITER_NONE;
	if ((p->paths = calloc((size_t)c->line.words + 1, sizeof(*p->paths))) == NULL)
		return refuse_nomem(why);
	p->task = r->promised && is_named_task(c, s);
	for (i = 0; i < c->line.words; i++)
		if (plan_word(c, &c->line.word[i], r, p->paths[i], p, why) == -1)
			return -1;
	if (p->has_process)
		return 0;
	p->task = p->task || (c->id_at + 2 < argc && is_again(argv[c->id_at + 1], argv[c->id_at + 2]));
	return c->id_at + 1 < argc ? make_waiter(c, r, p, why) : 0;
}
