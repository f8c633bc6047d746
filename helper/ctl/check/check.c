/*
 * gpuhelperctl check: reads the files that the helper would read, with its caller's rights, and prints every error.
 * Writes nothing, except that it keeps a copy of a valid gpuhelper.conf when root runs it (lastgood.h).
 */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../host/file.h"
#include "../../host/listing.h"
#include "../../host/own/etc.h"
#include "../../host/trust.h"
#include "../../policy/settingsdefault.h"
#include "../../read/conf/policyread.h"
#include "../../read/conf/settingsread.h"
#include "../ctl.h"
#include "../gpus/status.h"
#include "../worker/rootful.h"
#include "checkhosts.h"
#include "lastgood.h"

struct checking {
	const struct options *options;
	struct check_set set;		/* of the current directory, or of the named files */
	json_t *findings, *read;	/* of all sets */
	size_t errors, warnings;
	bool quiet;			/* print nothing, only count */
	const char *file;		/* the path of a file whose errors file_errors counts, or NULL */
	size_t file_errors;
};

struct checked *
check_add(struct check_set *s, enum checked_kind kind, const char *shown)
{
	struct checked *v;
	char *copy = strdup(shown);

	if (copy == NULL || (v = reallocarray(s->v, s->n + 1, sizeof(*v))) == NULL) {
		free(copy);
		s->failed = true;
		return NULL;
	}
	s->v = v;
	v[s->n] = (struct checked){ .kind = kind, .shown = copy };
	return &v[s->n++];
}

static int
set_begin(struct check_set *s, struct why *why)
{
	*s = (struct check_set){ .settings_at = SIZE_MAX };
	return settings_default(&s->settings) ? 0 : refuse_nomem(why);
}

static void
set_free(struct check_set *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		free(s->v[i].shown);
		free(s->v[i].text);
		policy_free(&s->v[i].policy);
		faults_free(&s->v[i].faults);
	}
	free(s->v);
	settings_free(&s->settings);
	*s = (struct check_set){ 0 };
}

/* Adds an error about the whole file.  Strips the file's name from the reason: the finding prints it anyway. */
static void
fault_whole(struct checked *c, const char *reason)
{
	size_t n = strlen(c->shown);

	if (strncmp(reason, c->shown, n) == 0 && (reason[n] == ':' || reason[n] == ' '))
		reason += n + 1 + (reason[n] == ':' && reason[n + 1] == ' ');
	fault_add(&c->faults, 0, false, "%s", reason);
}

/* Reads the file, whoever owns it.  On failure c->text is NULL, and a fault is added. */
static void
read_checked(struct checked *c, int dir, const char *name)
{
	struct why why;

	if ((c->text = trust_read(dir, name, c->shown, CONF_MAX, false, &c->len, &why)) == NULL)
		fault_whole(c, why.text);
}

/*
 * Adds a fault if others than root can change the file.  Runs after the parser, which stops if there is a fault
 * already.
 */
static void
check_trust(struct checked *c, int dir, const char *name)
{
	autofree char *again = NULL;
	struct why why;
	size_t len;

	if ((again = trust_read(dir, name, c->shown, CONF_MAX, true, &len, &why)) == NULL)
		fault_whole(c, why.text);
}

/* A broken gpuhelper.conf stops every new container, so point to the last good copy. */
static void
compare_with_last(struct checked *c)
{
	char since[32];

	if (c->good && c->faults.errors == 0)
		last_good_keep(c->text, c->len);
	else if (last_good_time(since))
		fault_add(&c->faults, 0, true, "the last version without errors, from %s or earlier, is in " LAST_GOOD, since);
}

static void
check_settings(struct check_set *s, int dir, const char *name, const char *shown, bool strict)
{
	struct checked *c = check_add(s, CHECKED_SETTINGS, shown);

	if (c == NULL)
		return;
	s->settings_at = s->n - 1;
	s->installed = strict;
	read_checked(c, dir, name);
	if (c->text == NULL)
		return;
	settings_free(&s->settings);
	c->good = settings_parse(c->text, c->len, &s->settings, &c->faults);
	if (!c->good) {
		settings_free(&s->settings);
		s->failed = !settings_default(&s->settings) || s->failed;
	}
	if (strict) {
		compare_with_last(c);
		check_trust(c, dir, name);
	}
}

static void
check_policy(struct check_set *s, int dir, const char *name, const char *shown, bool strict)
{
	struct checked *c = check_add(s, CHECKED_POLICY, shown);

	if (c == NULL)
		return;
	read_checked(c, dir, name);
	if (c->text == NULL)
		return;
	c->good = policy_parse(name, c->text, c->len, &c->policy, &c->faults);
	if (strict)
		check_trust(c, dir, name);
}

static int
list_names(int dirfd, struct strlist *out)
{
	return listing_names(openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), SIZE_MAX, out);
}

/* Warns about a file in policy.d that the helper ignores because of its name; most likely that is a mistake. */
static void
check_ignored(struct check_set *s, const char *name, const char *shown)
{
	struct checked *c;

	if (ends_with(name, ".example") || (c = check_add(s, CHECKED_PLACE, shown)) == NULL)
		return;
	if (name[0] == '.')
		fault_add(&c->faults, 0, true, "is ignored: its name begins with \".\"");
	else
		fault_add(&c->faults, 0, true, "is ignored: its name does not end in \".conf\"");
}

/* Checks everything in the open directory policy.d. */
static void
check_policy_dir(struct check_set *s, int dir, const char *shown, bool strict)
{
	autostrlist struct strlist names = { 0 };
	struct checked *c;
	size_t i;

	if (list_names(dir, &names) == -1) {
		if ((c = check_add(s, CHECKED_PLACE, shown)) != NULL)
			fault_add(&c->faults, 0, false, "can't list the directory: %s", strerror(errno));
		return;
	}
	for (i = 0; i < names.n; i++) {
		autofree char *path = NULL;

		if (asprintf(&path, "%s/%s", shown, names.v[i]) == -1) {
			path = NULL;
			s->failed = true;
		} else if (names.v[i][0] != '.' && ends_with(names.v[i], ".conf"))
			check_policy(s, dir, names.v[i], path, strict);
		else
			check_ignored(s, names.v[i], path);
	}
}

/* Adds a fault for each directory from "/" down to path that others than root can change. */
static void
check_parents(struct check_set *s, const char *path)
{
	char part[1024];
	const char *end = path;
	struct checked *c;
	struct why why;

	do {
		autoclose int fd = -1;

		end = strchr(end + 1, '/');
		snprintf(part, sizeof(part), "%.*s", end != NULL ? (int)(end - path) : (int)strlen(path), path);
		if ((fd = trust_open_dir(part, false, &why)) == -1)
			return;		/* the caller opens the whole path, and reports the error */
		if (trust_check(fd, part, &why) == -1 && (c = check_add(s, CHECKED_PLACE, part)) != NULL)
			fault_whole(c, why.text);
	} while (end != NULL);
}

/* Opens a directory of the configuration; if strict, as the helper does: without following a link. */
static int
open_config_dir(struct check_set *s, const char *path, const char *shown, bool strict, bool optional)
{
	enum trust_found found;
	struct checked *c;
	struct why why;
	bool absent;
	int fd;

	if (strict) {
		if ((found = trust_find_dir(path, false, &fd, &why)) == TRUST_NO_ACCESS)
			refuse(&why, WHY_CONFIG, "only root may list it: run this as root");
		absent = found == TRUST_ABSENT;
	} else if ((fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1) {
		absent = errno == ENOENT;
		refuse(&why, WHY_CONFIG, "%s", strerror(errno));
	} else
		absent = false;
	if (absent && optional)
		return -1;
	if (fd == -1 && (c = check_add(s, CHECKED_PLACE, shown)) != NULL)
		fault_whole(c, why.text);
	return fd;
}

/* A directory without settings and policies is most likely the wrong one, or a host where nothing was written yet. */
static void
warn_nothing(struct check_set *s, const char *shown)
{
	struct checked *c;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->v[i].kind == CHECKED_POLICY || s->v[i].text != NULL || s->v[i].faults.n > 0)
			return;
	if ((c = check_add(s, CHECKED_PLACE, shown)) != NULL)
		fault_add(&c->faults, 0, true, "has neither gpuhelper.conf nor a policy (policy.d/*.conf): nothing is granted");
}

static void
check_config_dir(struct check_set *s, const char *path, const char *shown, bool strict)
{
	autoclose int dir = -1, policies = -1;
	autofree char *settings = NULL, *sub = NULL, *subshown = NULL;

	if (asprintf(&settings, "%s/gpuhelper.conf", shown) == -1 || asprintf(&sub, "%s/policy.d", path) == -1 ||
	    asprintf(&subshown, "%s/policy.d", shown) == -1) {
		s->failed = true;
		return;
	}
	if (strict)
		check_parents(s, sub);
	if ((dir = open_config_dir(s, path, shown, strict, false)) == -1)
		return;
	if (faccessat(dir, "gpuhelper.conf", F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
		check_settings(s, dir, "gpuhelper.conf", settings, strict);
	else if (check_add(s, CHECKED_SETTINGS, settings) != NULL)
		s->settings_at = s->n - 1;	/* no file: the defaults apply */
	if ((policies = open_config_dir(s, sub, subshown, strict, true)) != -1)
		check_policy_dir(s, policies, subshown, strict);
	warn_nothing(s, shown);
}

static bool
has_entry(const char *dir, const char *name)
{
	autofree char *path = NULL;

	if (asprintf(&path, "%s/%s", dir, name) == -1) {
		path = NULL;
		return false;
	}
	return access(path, F_OK) == 0;
}

/*
 * The path of «real» as the helper names it, if it is in GPUHELPER_CONFDIR; else NULL.  Owners and modes are checked
 * only there.  The caller frees.
 */
static char *
installed_path(const char *real)
{
	autofree char *conf = realpath(GPUHELPER_CONFDIR, NULL);
	char *path;

	if (conf == NULL || !path_at_or_beneath(real, conf))
		return NULL;
	return asprintf(&path, "%s%s", GPUHELPER_CONFDIR, real + strlen(conf)) != -1 ? path : NULL;
}

/* Checks a directory on the command line: a whole configuration, or a policy.d. */
static void
check_dir(struct check_set *s, const char *given)
{
	autofree char *real = realpath(given, NULL), *installed = NULL;
	const char *path;
	autoclose int dir = -1;

	if (real == NULL) {
		s->failed = true;
		return;
	}
	installed = installed_path(real);
	path = installed != NULL ? installed : real;
	if (strcmp(path_last(real), "policy.d") != 0 && (has_entry(real, "policy.d") || has_entry(real, "gpuhelper.conf"))) {
		check_config_dir(s, path, given, installed != NULL);
		return;
	}
	if (installed != NULL)
		check_parents(s, installed);
	if ((dir = open_config_dir(s, path, given, installed != NULL, false)) != -1)
		check_policy_dir(s, dir, given, installed != NULL);
}

/* Checks a file on the command line.  Its last component is not resolved, so that a symbolic link is a fault. */
static void
check_file(struct check_set *s, const char *given)
{
	autofree char *parent = NULL, *real = NULL, *installed = NULL;
	const char *slash = strrchr(given, '/'), *name = slash != NULL ? slash + 1 : given;
	struct checked *c;
	autoclose int dir = -1;

	parent = slash == NULL ? strdup(".") : strndup(given, (size_t)(slash - given) + (slash == given));
	if (parent == NULL || (real = realpath(parent, NULL)) == NULL ||
	    (dir = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1) {
		if ((c = check_add(s, CHECKED_PLACE, given)) != NULL)
			fault_add(&c->faults, 0, false, "%s", strerror(errno));
		return;
	}
	if ((installed = installed_path(real)) != NULL)
		check_parents(s, installed);
	if (text_starts(name, "gpuhelper.conf"))
		check_settings(s, dir, name, given, installed != NULL);
	else
		check_policy(s, dir, name, given, installed != NULL);
}

/* Checks a policy on standard input. */
static void
check_input(struct check_set *s)
{
	struct checked *c = check_add(s, CHECKED_POLICY, "standard input");
	struct why why;

	if (c == NULL)
		return;
	if ((c->text = ctl_read_input("-", CONF_MAX, &c->len, &why)) == NULL)
		fault_whole(c, why.text);
	else
		c->good = policy_parse(c->shown, c->text, c->len, &c->policy, &c->faults);
}

/* Printing */

static void
put_finding(struct checking *k, const struct checked *c, const struct fault *f)
{
	json_t *j;

	if (!k->options->json) {
		if (f->line != 0)
			say("%s:%u: %s%s", c->shown, f->line, f->warning ? "warning: " : "", f->text);
		else
			say("%s: %s%s", c->shown, f->warning ? "warning: " : "", f->text);
		return;
	}
	j = json_object();
	put_text(j, "file", c->shown);
	if (f->line != 0)
		json_object_set_new(j, "line", json_integer(f->line));
	put_text(j, "severity", f->warning ? "warning" : "error");
	put_text(j, "message", f->text);
	json_array_append_new(k->findings, j);
}

/* Sorts by line, and keeps the order within a line. */
static void
sort_faults(struct faults *f)
{
	struct fault t;
	size_t i, j;

	for (i = 1; i < f->n; i++)
		for (j = i; j > 0 && f->v[j - 1].line > f->v[j].line; j--) {
			t = f->v[j];
			f->v[j] = f->v[j - 1];
			f->v[j - 1] = t;
		}
}

static void
put_read(struct checking *k, const struct checked *c)
{
	const struct policy *p = &c->policy;
	json_t *j;

	if (k->options->json && c->text != NULL) {
		j = json_object();
		put_text(j, "file", c->shown);
		json_array_append_new(k->read, json_incref(json_object_get(j, "file")));
		json_decref(j);
	} else if (!k->options->verbose || c->kind == CHECKED_PLACE) {
		return;
	} else if (c->text == NULL) {
		say("%s: %s", c->shown, c->faults.errors > 0 ? "not read" : "does not exist: the defaults apply");
	} else if (!c->good || c->kind == CHECKED_SETTINGS) {
		say("%s: read%s", c->shown, c->good ? "" : ", and broken");
	} else if (p->identity == IDENTITY_CALLER) {
		say("%s: read: identity caller; GPU rules: %zu, folder rules: %zu", c->shown, p->gpus, p->folders);
	} else
		say("%s: read: %s/%s, identity %s; GPU rules: %zu, folder rules: %zu", c->shown, p->team, p->pipeline,
		    identity_name(p->identity), p->gpus, p->folders);
}

/* Adds the warnings about the set as one configuration, then prints and counts all findings. */
static int
conclude(struct checking *k, struct why *why)
{
	struct check_set *s = &k->set;
	struct checked *c;
	size_t i, f;

	if (s->failed)
		return refuse_nomem(why);
	warn_about(s);
	for (i = 0; i < s->n; i++) {
		c = &s->v[i];
		if (!k->quiet)
			put_read(k, c);
		sort_faults(&c->faults);
		for (f = 0; f < c->faults.n && !k->quiet; f++)
			put_finding(k, c, &c->faults.v[f]);
		k->errors += c->faults.errors;
		if (k->file != NULL && strcmp(c->shown, k->file) == 0)
			k->file_errors += c->faults.errors;
		k->warnings += c->faults.n > c->faults.errors ? c->faults.n - c->faults.errors : 0;
	}
	return 0;
}

static const char *
base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static int
by_base(const void *a, const void *b)
{
	return strcmp(base(*(char *const *)a), base(*(char *const *)b));
}

/* Checks each directory among the arguments as a configuration of its own, and collects the files in *files. */
static int
check_dirs(struct checking *k, struct strlist *files, struct why *why)
{
	const struct options *o = k->options;
	struct stat st;
	size_t i, len;
	int ret = 0;

	for (i = 0; ret == 0 && i < o->args; i++) {
		autofree char *shown = strdup(o->arg[i]);

		if (shown == NULL)
			return refuse_nomem(why);
		for (len = strlen(shown); len > 1 && shown[len - 1] == '/'; len--)
			shown[len - 1] = '\0';
		if (strcmp(shown, "-") == 0 || stat(shown, &st) == -1 || !S_ISDIR(st.st_mode)) {
			ret = strlist_add(files, shown, SIZE_MAX) ? 0 : refuse_nomem(why);
			continue;
		}
		if (set_begin(&k->set, why) == -1)
			return -1;
		check_dir(&k->set, shown);
		ret = conclude(k, why);
		set_free(&k->set);
	}
	return ret;
}

/* Checks the arguments.  The files are checked as one set, in the order that they would have in policy.d. */
static int
check_args(struct checking *k, struct why *why)
{
	autostrlist struct strlist files = { 0 };
	size_t i;
	int ret;

	if (check_dirs(k, &files, why) == -1 || set_begin(&k->set, why) == -1)
		return -1;
	if (files.n > 1)
		qsort(files.v, files.n, sizeof(*files.v), by_base);
	for (i = 0; i < files.n; i++)
		if (strcmp(files.v[i], "-") == 0)
			check_input(&k->set);
		else
			check_file(&k->set, files.v[i]);
	ret = conclude(k, why);
	set_free(&k->set);
	return ret;
}

/*
 * Warns about leased nodes whose permissions something has reset.  A user who may not ask the helper gets no warnings.
 */
static void
check_leased_nodes(struct check_set *s)
{
	json_t *leases = leases_now();
	const json_t *l, *line;
	struct checked *c;
	size_t i, k;

	json_array_foreach(leases, i, l) {
		json_array_foreach(json_object_get(l, "trouble"), k, line)
			if ((c = check_add(s, CHECKED_PLACE, GPUHELPER_RUNDIR)) != NULL)
				fault_add(&c->faults, 0, true, "container %.64s: %s",
				    json_string_value(json_object_get(l, "container")), json_string_value(line));
	}
	json_decref(leases);
}

/* Says whether device cgroups enforce grants, for root and for other users. */
static void
say_rootful(const struct checking *k)
{
	char root[256], others[256];

	(void)rootful_for(0, &k->set.settings, root, sizeof(root));
	(void)rootful_for(UINT32_MAX - 1, &k->set.settings, others, sizeof(others));
	if (k->options->verbose && !k->options->json) {
		say("for root's containers: cgroups %s", root);
		say("for other users' containers: cgroups %s", others);
	}
}

static int
check_default(struct checking *k, struct why *why)
{
	const char *given = k->options->config_dir;
	autofree char *path = NULL;
	struct checked *c;
	struct why absent;
	bool strict;
	int ret;

	if (set_begin(&k->set, why) == -1)
		return -1;
	if (ctl_config_dir(given, &path, &strict, &absent) == 0) {
		check_config_dir(&k->set, path, strict ? path : given, strict);
		if (strict) {
			check_leased_nodes(&k->set);
			say_rootful(k);
		}
	} else if ((c = check_add(&k->set, CHECKED_PLACE, given)) != NULL)
		fault_whole(c, absent.text);
	ret = conclude(k, why);
	set_free(&k->set);
	return ret;
}

int
check_copy(const struct options *o, const char *path, const char *shown, const char *file, struct check_count *out,
    struct why *why)
{
	struct checking k = { .options = o, .quiet = file == NULL, .file = file };
	int ret;

	if (set_begin(&k.set, why) == -1)
		return -1;
	check_config_dir(&k.set, path, shown, false);
	ret = conclude(&k, why);
	set_free(&k.set);
	*out = (struct check_count){ k.errors, k.file_errors };
	return ret;
}

int
ctl_check(const struct options *o)
{
	struct checking k = { .options = o };
	struct why why;
	bool ok;
	int ret;

	if (o->args > 0 && o->elsewhere)
		return misuse(o, "check: name files or give --config-dir, not both");
	if (o->against != NULL)
		return o->args > 0 ? misuse(o, "check: --against takes the policies from --config-dir: name no files") :
		    check_against(o);
	k.findings = json_array();
	k.read = json_array();
	ret = o->args > 0 ? check_args(&k, &why) : check_default(&k, &why);
	ok = k.errors == 0 && (k.warnings == 0 || !o->strict);
	if (ret == -1) {
		json_decref(k.findings);
		json_decref(k.read);
		return give_up(o, &why);
	}
	if (o->json)
		put_out(json_pack("{s:b, s:I, s:I, s:o, s:o}", "ok", ok, "errors", (json_int_t)k.errors,
		    "warnings", (json_int_t)k.warnings, "findings", k.findings, "read", k.read));
	else {
		json_decref(k.findings);
		json_decref(k.read);
		if (o->verbose)
			say("errors: %zu, warnings: %zu", k.errors, k.warnings);
	}
	return ok ? 0 : WHY_CONFIG;
}
