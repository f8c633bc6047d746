/*
 * See exec.h.  With the caller's rights.  A process.json is a secret while it
 * holds a token: the new one is in memory only, the old one is left as it is.
 */
#include "exec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../host/file.h"
#include "../pure/cleanup.h"
#include "../pure/hash.h"
#include "capability.h"
#include "console.h"
#include "exactkeys.h"
#include "lease.h"
#include "memfile.h"
#include "namespace.h"
#include "process.h"
#include "runtime.h"

#define PROCESS_MAX (4 * 1024 * 1024)
#define RECORD_MAX (1024 * 1024)

/* What root wrote down at the grant (root/lease.c, exec_record_write()). */
struct record {
	struct strlist env;
	uint32_t gid[64];
	size_t gids;
	char *label;		/* SELinux; NULL: none */
	char *line;		/* what to tell the user; NULL: nothing */
	bool asks;		/* the container's lease is to know of the task */
};

static int
parse_record(const char *text, size_t len, struct record *r, struct why *why)
{
	autodoc struct doc d = { 0 };
	uint32_t n;
	int64_t gid;

	if (doc_parse(&d, text, len, why) == -1)
		return -1;
	for (n = doc_first(&d, doc_get(&d, 0, "env")); n != DOC_NONE; n = doc_next(&d, n)) {
		autofree char *entry = doc_string(&d, n);

		if (entry == NULL || !strlist_add(&r->env, entry, SIZE_MAX))
			return refuse_nomem(why);
	}
	n = doc_get(&d, 0, "label");
	if (doc_is(&d, n, DOC_STRING) && (r->label = doc_string(&d, n)) == NULL)
		return refuse_nomem(why);
	n = doc_get(&d, 0, "line");
	if (doc_is(&d, n, DOC_STRING) && (r->line = doc_string(&d, n)) == NULL)
		return refuse_nomem(why);
	r->asks = doc_is(&d, doc_get(&d, 0, "asks"), DOC_TRUE);
	for (n = doc_first(&d, doc_get(&d, 0, "groups")); n != DOC_NONE && r->gids < 64; n = doc_next(&d, n))
		if (doc_i64(&d, n, &gid) && gid >= 0 && gid < UINT32_MAX)
			r->gid[r->gids++] = (uint32_t)gid;
	return 0;
}

/* A container without a record was granted nothing. */
static int
load_record(const struct command *c, struct record *r, struct why *why)
{
	const char *const pieces[] = { c->root != NULL ? c->root : "", c->id != NULL ? c->id : "", NULL };
	char name[65], path[sizeof(GPUHELPER_RUNDIR) + 128];
	autofree char *text = NULL;
	autoclose int fd = -1;
	size_t len;

	hash_pieces(pieces, name);
	snprintf(path, sizeof(path), "%s/exec/%u/%s", GPUHELPER_RUNDIR, namespace_outer_uid(), name);
	if ((fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)) == -1) {
		if (errno == ENOENT || errno == ENOTDIR)
			return 0;
		return refuse(why, WHY_IO, "%s: %s", path, strerror(errno));
	}
	if ((text = memfile_read(fd, RECORD_MAX, &len)) == NULL)
		return refuse(why, WHY_IO, "%s: %s", path, strerror(errno));
	return parse_record(text, len, r, why) == -1 ? refuse_within(why, path) : 0;
}

/* The new process.json; NULL with *why.  *strong is left alone unless it has capabilities that are. */
static char *
compose_process(const char *text, size_t len, const struct record *r, size_t *newlen, bool *strong, struct why *why)
{
	autoedits struct doc_edits e = { 0 };
	autodoc struct doc d = { 0 };
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
			refuse(why, WHY_DATA, "process.json: env holds what is no string");
			return NULL;
		}
	}
	*strong = *strong || capabilities_are_strong(&d, 0);
	process_env(&d, 0, &r->env, false, &e);
	process_groups(&d, 0, r->gid, r->gids, &e);
	process_label(&d, 0, "selinuxLabel", r->label, &e);
	if ((new = doc_apply(&d, &e, newlen)) == NULL)
		refuse_nomem(why);
	return new;
}

/* Replaces the file that --process names; *path is left empty where it may stay. */
static int
replace_process(const char *file, const struct record *r, char path[MEMFILE_PATH], bool *strong, struct why *why)
{
	autofree char *text = NULL, *new = NULL;
	autoclose int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t len, newlen;
	struct stat st;
	int ret = 0;

	path[0] = '\0';
	/* what can't be read the runtime will complain about in its own words */
	if (fd == -1 || fstat(fd, &st) == -1 || S_ISDIR(st.st_mode))
		return 0;
	if ((text = memfile_read(fd, PROCESS_MAX, &len)) == NULL)
		return refuse(why, WHY_DATA, "process.json: %s", errno == EFBIG ? "is larger than 4 MiB" : strerror(errno));
	new = compose_process(text, len, r, &newlen, strong, why);
	if (new == NULL)
		ret = -1;
	else if (!S_ISREG(st.st_mode) || newlen != len || memcmp(new, text, len) != 0)
		ret = memfile_make("process.json", new, newlen, path, why);
	explicit_bzero(text, len);
	return ret;
}

/* The words of the new command line. */
struct words {
	char **v;
	size_t n;
	bool failed;
	bool strong;		/* the new process is to have capabilities that are (capability.h) */
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
 * --env and --additional-gids for what the grant gave, where no process.json
 * carries it.  «env_option» in the form already used: runc takes only one.
 */
static void
add_record(struct words *w, const struct record *r, const char *env_option, const char *runtime)
{
	autofree char *real = realpath(runtime, NULL);
	char number[16];
	size_t i;

	for (i = 0; i < r->env.n; i++) {
		add_word(w, env_option);
		add_word(w, r->env.v[i]);
	}
	/* crun's exec has no such option: there the groups of create stay out of reach */
	if (real != NULL && strcmp(strrchr(real, '/') + 1, "crun") == 0)
		return;
	for (i = 0; i < r->gids; i++) {
		snprintf(number, sizeof(number), "%u", r->gid[i]);
		add_word(w, "--additional-gids");
		add_word(w, number);
	}
}

/* crun takes several letters in one word («-dp FILE»): those before the last are options of their own. */
static void
keep_letters(struct words *w, const char *word)
{
	char letters[16];
	size_t n = strcspn(word, "pe");

	if (word[0] != '-' || word[1] == '-' || n < 2 || n >= sizeof(letters) || text_starts(word, "-process") ||
	    text_starts(word, "-env"))
		return;
	snprintf(letters, sizeof(letters), "%.*s", (int)n, word);
	add_word(w, letters);
}

/* One of exec's options: with a new value, as it is, or not at all. */
static int
rewrite_word(char *const *argv, const struct exec_word *e, const struct record *r, const char *console, struct words *w,
    struct why *why)
{
	static const char *const names[] = { "--process", "--env", "--console-socket" };
	bool taken_out = e->option == EXEC_ENV && process_env_is_taken_out(e->value);
	char path[MEMFILE_PATH] = "";
	const char *value;
	int i;

	if (e->option == EXEC_PROCESS && replace_process(e->value, r, path, &w->strong, why) == -1)
		return -1;
	w->strong = w->strong || (e->option == EXEC_CAP && capability_is_strong(e->value));
	value = e->option == EXEC_CONSOLE ? console : path;
	if (*value != '\0' || taken_out)
		keep_letters(w, argv[e->at]);
	if (*value != '\0') {
		add_word(w, names[e->option]);
		add_word(w, value);
	} else if (!taken_out)
		for (i = e->at; i <= e->value_at; i++)
			add_word(w, argv[i]);
	return 0;
}

static int
rewrite(int argc, char *const *argv, const struct command *c, const struct exec_word *e, int n, const struct record *r,
    const char *runtime, const char *console, struct words *w, struct why *why)
{
	const char *env_option = "--env";
	bool has_process = false;
	int i, k = 0;

	for (i = 0; i < n; i++) {
		has_process = has_process || e[i].option == EXEC_PROCESS;
		if (e[i].option == EXEC_ENV && text_starts(argv[e[i].at], "-e") && !text_starts(argv[e[i].at], "-env"))
			env_option = "-e";
	}
	for (i = 0; i < argc; i++) {
		if (i == c->id_at && !has_process)
			add_record(w, r, env_option, runtime);
		if (k == n || i != e[k].at) {
			add_word(w, argv[i]);
			continue;
		}
		if (rewrite_word(argv, &e[k], r, console, w, why) == -1)
			return -1;
		i = e[k++].value_at;
	}
	return 0;
}

/* Before the task's own output; where that can't be it begins without. */
static void
tell(const struct exec_word *e, int n, const char *line, char console[CONSOLE_PATH_MAX])
{
	int i;

	console[0] = '\0';
	if (line == NULL || *line == '\0')
		return;
	for (i = 0; i < n && e[i].option != EXEC_CONSOLE; i++)
		;
	if (i == n)
		dprintf(STDERR_FILENO, "gpuhelper: %s\n", line);
	else if (!console_tell(e[i].value, line, console))
		console[0] = '\0';
}

/* A process that could undo the container's device rules: where «deny» is, only in a user namespace of its own. */
static int
check_power(char *const *argv, const struct command *c, const char *runtime, struct why *why)
{
	pid_t init = c->id != NULL ? runtime_first_process(runtime, argv, c->verb_at, c->id) : 0;
	struct stat ours, theirs;
	char name[40];

	snprintf(name, sizeof(name), "/proc/%d/ns/user", init);
	if (init != 0 && stat("/proc/self/ns/user", &ours) == 0 && stat(name, &theirs) == 0 && ours.st_ino != theirs.st_ino &&
	    (namespace_has_false_root() || geteuid() != 0 || !namespace_has_our_root(init)))
		return 0;
	return refuse(why, WHY_DENIED, "exec in container %s with capabilities like CAP_SYS_ADMIN, and not in a user "
	    "namespace of its own: that is a privileged container, which this host does not allow (privileged = \"deny\" in "
	    "gpuhelper.conf)", c->id != NULL ? c->id : "");
}

static void
record_free(struct record *r)
{
	strlist_free(&r->env);
	free(r->label);
	free(r->line);
}

char **
exec_prepare(int argc, char *const *argv, struct command *c, const char *runtime,
    const struct settings *settings, struct why *why)
{
	struct exec_word words[EXEC_WORDS_MAX];
	char line[REPLY_LINE_MAX] = "", console[CONSOLE_PATH_MAX];
	struct record r = { 0 };
	struct words w = { 0 };
	int n = argv_parse_exec(argc, argv, c, words, why);

	if (n == -1 || load_record(c, &r, why) == -1 || (r.asks && lease_exec(c, settings->door, line, why) == -1)) {
		record_free(&r);
		return NULL;
	}
	tell(words, n, r.asks ? line : r.line, console);
	if ((w.v = calloc((size_t)argc + 2 * (r.env.n + r.gids) + 2 * (size_t)n + 2, sizeof(*w.v))) == NULL ||
	    rewrite(argc, argv, c, words, n, &r, runtime, console, &w, why) == -1 || w.failed) {
		if (w.v == NULL || w.failed)
			refuse_nomem(why);
		free(w.v);
		w.v = NULL;
	}
	if (w.v != NULL && w.strong && settings->privileged == PRIVILEGED_DENY &&
	    check_power(argv, c, runtime, why) == -1) {
		free(w.v);
		w.v = NULL;
	}
	record_free(&r);
	return w.v;
}
