/*
 * See exec.h. Runs with the caller's rights. A process.json that holds a token is a secret: the new one must
 * only be in memory, and the old one must stay as it is.
 */
#include "exec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/path.h"
#include "../host/file.h"
#include "../lease/leasename.h"
#include "ask/lease.h"
#include "command/memfile.h"
#include "command/namespace.h"
#include "command/runtime.h"
#include "record/recorddir.h"
#include "record/vetted.h"
#include "spec/cudavisible.h"
#include "spec/exactkeys.h"
#include "spec/speccapability.h"
#include "spec/specprocess.h"
#include "spec/tokennames.h"
#include "task/agent.h"
#include "task/waiter.h"

#define PROCESS_MAX (4 * 1024 * 1024)
#define RECORD_MAX (1024 * 1024)

/* The exec record that root wrote at the grant (exec_record_write() in root/end/execrecord.c). */
struct exec_record {
	struct strlist env;
	uint32_t gid[64];
	size_t gids;
	char *label;		/* SELinux label, or NULL */
	char *line;		/* a line for the user, or NULL */
	struct strlist notes;	/* warnings, lines after that one */
	struct strlist gpus;	/* the granted GPUs (lease/edits.h), in a record with a line */
	struct strlist tokens;	/* not in the record: variables with tokens, besides GPUHELPER_TOKEN (tokennames.h) */
	bool found;		/* the container was granted something: the audit log records the exec */
	bool privileged;	/* it was allowed to be privileged */
	bool promised;		/* GPUs: a task takes them before it begins (lease/pausing.h) */
};

static int
parse_strings(const struct doc *d, const char *key, struct strlist *out, struct why *why)
{
	uint32_t n;

	for (n = doc_first(d, doc_get(d, 0, key)); n != DOC_NONE; n = doc_next(d, n)) {
		autofree char *text = doc_string(d, n);

		if (text == NULL || !strlist_add(out, text, SIZE_MAX))
			return refuse_nomem(why);
	}
	return 0;
}

static int
parse_record(const char *text, size_t len, struct exec_record *r, struct why *why)
{
	autodoc struct doc d = { 0 };
	uint32_t n;
	int64_t gid;

	if (doc_parse(&d, text, len, why) == -1 || parse_strings(&d, "env", &r->env, why) == -1 ||
	    parse_strings(&d, "notes", &r->notes, why) == -1 || parse_strings(&d, "gpus", &r->gpus, why) == -1)
		return -1;
	n = doc_get(&d, 0, "label");
	if (doc_is(&d, n, DOC_STRING) && (r->label = doc_string(&d, n)) == NULL)
		return refuse_nomem(why);
	n = doc_get(&d, 0, "line");
	if (doc_is(&d, n, DOC_STRING) && (r->line = doc_string(&d, n)) == NULL)
		return refuse_nomem(why);
	r->privileged = doc_is(&d, doc_get(&d, 0, "privileged"), DOC_TRUE);
	r->promised = doc_is(&d, doc_get(&d, 0, "asks"), DOC_TRUE);
	for (n = doc_first(&d, doc_get(&d, 0, "groups")); n != DOC_NONE && r->gids < 64; n = doc_next(&d, n))
		if (doc_i64(&d, n, &gid) && gid >= 0 && gid < UINT32_MAX)
			r->gid[r->gids++] = (uint32_t)gid;
	return 0;
}

/* Reads the record. A container without one was granted nothing. */
static int
load_record(const struct command *c, struct exec_record *r, struct why *why)
{
	char name[HASH_SIZE], path[sizeof(GPUHELPER_RUNDIR) + 128];
	autofree char *text = NULL;
	autoclose int fd = -1;
	size_t len;

	exec_record_name(c->root, c->id, name);
	snprintf(path, sizeof(path), "%s/exec/%u/%s", GPUHELPER_RUNDIR, namespace_outer_uid(), name);
	if ((fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)) == -1) {
		if (errno == ENOENT || errno == ENOTDIR)
			return 0;
		return refuse(why, WHY_IO, "%s: %s", path, strerror(errno));
	}
	if ((text = memfile_read(fd, RECORD_MAX, &len)) == NULL)
		return refuse(why, WHY_IO, "%s: %s", path, strerror(errno));
	r->found = true;
	return parse_record(text, len, r, why) == -1 ? refuse_within(why, path) : 0;
}

/* Root's wrapper believes no record that says more than was checked at the container's creation. */
static int
check_record(const struct command *c, const struct exec_record *r, struct why *why)
{
	const struct vetted v = { &r->env, r->gid, r->gids, r->label, r->privileged, r->promised };

	return r->found && record_dir_is_ours() ? vetted_check(c, &v, why) : 0;
}

/* The changes to the options: paths[i] is the new process.json of the i-th, or "" if that one stays. */
struct plan {
	char (*paths)[FILE_LINK_MAX];
	bool has_process;
	bool strong;		/* the new process is to have strong capabilities (speccapability.h) */
	bool task;		/* it takes the container's promised GPUs */
	struct task_waiter waiter;	/* before its program */
	char warning[NOTE_MAX];	/* of its variables; "": none */
};

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
make_waiter(const struct command *c, const struct exec_record *r, struct plan *p, struct why *why)
{
	int from = 0;

	if (!r->promised || p->waiter.used || !(p->task || command_next(c, ROLE_CONSOLE, &from) != NULL))
		return 0;
	return waiter_make(c, r->label, &p->waiter, why);
}

/* Returns the new process.json, which the caller frees, or NULL with *why. Notes in *p what the process has. */
static char *
compose_process(const struct command *c, const char *text, size_t len, const struct exec_record *r, size_t *newlen,
    struct plan *p, struct why *why)
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
    struct plan *p, struct why *why)
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
    struct plan *p, struct why *why)
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

/* Reads all options about the process, before the helper is told of it. */
static int
make_plan(int argc, char *const *argv, const struct command *c, const struct exec_record *r, const struct settings *s,
    struct plan *p, struct why *why)
{
	int i;

	p->waiter = (struct task_waiter)WAITER_NONE;
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

/* The words of the new command line. */
struct words {
	char **v;
	size_t n;
	bool failed;
};

static void
add_word(struct words *w, const char *s)
{
	char *copy = strdup(s);

	if (copy == NULL)
		w->failed = true;
	else
		w->v[w->n++] = copy;
}

/*
 * Adds what was granted as --env and --additional-gids, for a command line without --process. «env_option» is
 * the form of --env in use: runc accepts only one.
 */
static void
add_granted_options(struct words *w, const struct exec_record *r, const char *env_option, const char *runtime)
{
	autofree char *real = realpath(runtime, NULL);
	char number[16];
	size_t i;

	for (i = 0; i < r->env.n; i++) {
		add_word(w, env_option);
		add_word(w, r->env.v[i]);
	}
	/* crun's exec has no such option, so its processes do without the granted groups */
	if (real != NULL && strcmp(strrchr(real, '/') + 1, "crun") == 0)
		return;
	for (i = 0; i < r->gids; i++) {
		snprintf(number, sizeof(number), "%u", r->gid[i]);
		add_word(w, "--additional-gids");
		add_word(w, number);
	}
}

/* The form of --env in use: «-e» if there is one, otherwise «--env». */
static const char *
env_form(char *const *argv, const struct command *c)
{
	const struct word *w;
	int from = 0;

	while ((w = command_next(c, ROLE_ENV, &from)) != NULL)
		if (text_starts(argv[w->at], "-e") && !text_starts(argv[w->at], "-env"))
			return "-e";
	return "--env";
}

/*
 * crun accepts several letters in one word («-dp FILE»). Keeps those before the last as options of their own.
 */
static void
keep_letters(struct words *to, const char *word, char last)
{
	char letters[16];
	size_t n = 0;

	while (last != 0 && word[1] != '-' && word[n] != '\0' && word[n] != last)
		n++;
	if (n < 2 || n >= sizeof(letters))
		return;
	snprintf(letters, sizeof(letters), "%.*s", (int)n, word);
	add_word(to, letters);
}

/* The new value of an option: "" removes the option, NULL keeps its value. */
static const char *
new_value(const struct word *w, const char *path, const struct exec_record *r, const struct task_waiter *waiter)
{
	switch (w->option->role) {
	case ROLE_PROCESS:
		return *path != '\0' ? path : NULL;
	case ROLE_FDS:
		return waiter->used ? waiter->count : NULL;
	case ROLE_LABEL:
		return r->label;
	case ROLE_ENV:
		return process_env_is_taken_out(w->value, &r->tokens) ? "" : NULL;
	default:
		return NULL;
	}
}

/*
 * Copies the words of one option with its new value. Letters that share a word are copied with it. Returns
 * the index of the last word of argv that was used.
 */
static int
rewrite_word(char *const *argv, const struct word *w, const char *value, struct words *to)
{
	char name[64];
	int i;

	if (value == NULL) {
		for (i = w->at; i <= w->value_at; i++)
			add_word(to, argv[i]);
		return w->value_at;
	}
	keep_letters(to, argv[w->at], w->option->letter);
	if (*value != '\0') {
		snprintf(name, sizeof(name), "--%s", w->option->name);
		add_word(to, name);
		add_word(to, value);
	}
	return w->value_at;
}

/*
 * The index where options may still be added: before the container id, and before a «--» that ends the
 * options.
 */
static int
options_end(char *const *argv, const struct command *c)
{
	int last = c->line.words > 0 ? c->line.word[c->line.words - 1].value_at : 0, before = c->id_at - 1;

	return before > last && before > c->verb_at && strcmp(argv[before], "--") == 0 ? before : c->id_at;
}

/* Adds the options for the waiter, unless the command line has them already, with new values. */
static void
add_waiter_options(struct words *to, const struct command *c, const struct task_waiter *waiter)
{
	int from = 0;

	if (!waiter->used || command_next(c, ROLE_FDS, &from) != NULL)
		return;
	add_word(to, "--preserve-fds");
	add_word(to, waiter->count);
}

static void
rewrite(int argc, char *const *argv, const struct command *c, const struct plan *p, const struct exec_record *r,
    const char *runtime, struct words *to)
{
	int i, k = c->line.globals, end = options_end(argv, c);

	for (i = 0; i < argc; i++) {
		if (i == end)
			add_waiter_options(to, c, &p->waiter);
		if (i == end && !p->has_process)
			add_granted_options(to, r, env_form(argv, c), runtime);
		if (i == c->id_at + 1 && p->waiter.used && !p->has_process) {
			add_word(to, p->waiter.program);
			add_word(to, p->waiter.numbers);
		}
		/* if several letters share a word, only the last one can have a value */
		while (k < c->line.words && (c->line.word[k].at < i || (k + 1 < c->line.words && c->line.word[k].at == i &&
		    c->line.word[k + 1].at == i)))
			k++;
		if (k == c->line.words || c->line.word[k].at != i)
			add_word(to, argv[i]);
		else
			i = rewrite_word(argv, &c->line.word[k], new_value(&c->line.word[k], p->paths[k], r, &p->waiter), to);
	}
}

/* The line and all warnings, for the user. */
static int
lines_for_user(const char *line, const struct exec_record *r, const struct plan *p, struct strlist *out,
    struct why *why)
{
	char text[NOTE_MAX + 16], note[NOTE_MAX];
	size_t i;

	if (*line != '\0' && !strlist_add(out, line, SIZE_MAX))
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
tell_user(const struct command *c, const struct settings *s, const struct strlist *lines, struct plan *p,
    struct why *why)
{
	size_t i;

	if (p->task && p->waiter.used)
		return agent_start(c, s, &p->waiter, lines, why);
	if (p->waiter.used)
		waiter_let_go(&p->waiter, lines);
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

static void
record_free(struct exec_record *r)
{
	strlist_free(&r->env);
	strlist_free(&r->tokens);
	free(r->label);
	free(r->line);
	strlist_free(&r->notes);
	strlist_free(&r->gpus);
}

/*
 * Tells the helper of the process, after all checks that could refuse it, except of a task: that asks for its GPUs by
 * itself. The process begins even without a helper: a health check is an exec, too.
 */
static void
record_exec(const struct command *c, const struct exec_record *r, const struct plan *p, enum door_setting door,
    char line[REPLY_LINE_MAX])
{
	if (r->found && !p->task)
		lease_record_exec(c, door, line);
	if (line[0] == '\0' && r->line != NULL)
		text_printable(line, REPLY_LINE_MAX, r->line);
}

/* Makes the new command line. NULL: memory is short. */
static char **
new_words(int argc, char *const *argv, const struct command *c, const struct plan *p, const struct exec_record *r,
    const char *runtime)
{
	struct words w = { 0 };

	w.v = calloc((size_t)argc + 2 * (r->env.n + r->gids) + 2 * (size_t)c->line.words + 6, sizeof(*w.v));
	if (w.v != NULL)
		rewrite(argc, argv, c, p, r, runtime, &w);
	if (!w.failed)
		return w.v;
	free(w.v);
	return NULL;
}

/* Tells the helper and the user, and makes the new command line. */
static char **
begin_exec(int argc, char *const *argv, const struct command *c, struct plan *p, const struct exec_record *r,
    const char *runtime, const struct settings *s, struct why *why)
{
	char **words = new_words(argc, argv, c, p, r, runtime), line[REPLY_LINE_MAX] = "";
	autostrlist struct strlist lines = { 0 };

	if (words == NULL) {
		refuse_nomem(why);
		return NULL;
	}
	record_exec(c, r, p, s->door, line);
	if (lines_for_user(line, r, p, &lines, why) == 0 && tell_user(c, s, &lines, p, why) == 0 &&
	    waiter_place(&p->waiter, why) == 0)
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
	struct plan p = { 0 };
	char **words = NULL;

	if (load_record(c, &r, why) == 0 && check_record(c, &r, why) == 0 && note_tokens(settings, &r, why) == 0 &&
	    make_plan(argc, argv, c, &r, settings, &p, why) == 0 &&
	    (!p.strong || r.privileged || settings->privileged != PRIVILEGED_DENY ||
	    check_strong_exec(argv, c, runtime, why) == 0))
		words = begin_exec(argc, argv, c, &p, &r, runtime, settings, why);
	else
		lease_record_refusal(c, settings->door, why);
	record_free(&r);
	free(p.paths);
	return words;
}
