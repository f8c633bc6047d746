/*
 * gpuhelperctl setup podman: adds a file to containers.conf.d, which makes the wrapper the runtime of every new
 * container, root's and users' alike.  podman reads it at each start.  A container keeps the name of its runtime, and
 * podman ends none whose runtime has no path: as long as there are such containers, undo leaves a file that gives the
 * name the path of the runtime below the wrapper.
 */
#include "../../base/pathclean.h"
#include "setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../base/text.h"
#include "../../host/file.h"
#include "../../host/users.h"
#include "../../user/mount/rootfs.h"
#include "../../user/mount/volumes.h"
#include "../configload.h"
#include "../runprogram.h"
#include "../worker/containersconf.h"

#define TEXT "# gpuhelperctl setup podman wrote this; take it away with --undo\n" \
	"[engine]\nruntime = \"" PODMAN_RUNTIME "\"\n[engine.runtimes]\n" PODMAN_RUNTIME " = [ \"" WRAPPER "\" ]\n"
/* What undo leaves; the runtime's path stands between the two. */
#define REST "# gpuhelperctl setup podman --undo left this for older containers; without any, --undo removes it\n" \
	"[engine.runtimes]\n" PODMAN_RUNTIME " = [ \""
#define REST_END "\" ]\n"
#define STORE ".local/share/containers/storage"	/* a user's storage, in the home directory */
#define SOCKET "/run/gpuhelper/gpuhelper.sock"

/* The answer of «podman info» (a new reference); NULL with *why. */
static json_t *
podman_info(struct why *why)
{
	static const char *const argv[] = { "podman", "info", "--format", "json", NULL };
	json_t *j = NULL;
	struct ran r;

	if (program_run(argv, &r, why) == -1)
		return NULL;
	if (r.status != 0)
		refuse(why, WHY_CONFIG, "podman info: %s", r.said);
	else if ((j = json_loads(r.out, 0, NULL)) == NULL)
		refuse(why, WHY_CONFIG, "podman info printed no JSON");
	free(r.out);
	return j;
}

static const char *
text_at(const json_t *j, const char *a, const char *b, const char *c)
{
	j = json_object_get(json_object_get(j, a), b);
	return json_string_value(c != NULL ? json_object_get(j, c) : j);
}

/* True if the administrator has named a directory of that driver in gpuhelper.conf. */
static bool
is_named_store(const struct setup *s, const char *root, const char *driver)
{
	autofree char *dir = NULL;
	size_t i;

	if (asprintf(&dir, "%s/%s", root, driver) == -1) {
		dir = NULL;
		return false;
	}
	for (i = 0; i < s->settings.volumes.n; i++)
		if (path_at_or_beneath(s->settings.volumes.v[i], dir))
			return true;
	return false;
}

/* Adds the one directory of root's storage where podman keeps root filesystems: anything in it may become a root. */
static int
add_store(struct setup *s, const char *root, const char *driver, struct why *why)
{
	const char *below = strcmp(driver, "overlay") == 0 ? "overlay" : strcmp(driver, "vfs") == 0 ? "vfs/dir" : NULL;
	autofree char *path = NULL, *clean = NULL;

	if (below == NULL)
		return is_named_store(s, root, driver) ? 0 : refuse(why, WHY_CONFIG, "setup knows podman's storage drivers overlay "
		    "and vfs, and the storage %.200s uses %.50s: add the directory where that driver keeps root filesystems to "
		    "volumes in gpuhelper.conf, and run this again", root, driver);
	if (asprintf(&path, "%s/%s", root, below) == -1)
		path = NULL;
	clean = path != NULL ? path_cleaned(path) : NULL;
	return clean != NULL && strlist_add(&s->volumes, clean, SIZE_MAX) ? 0 : refuse_nomem(why);
}

/* A look for the storage of users who have run podman on this host. */
struct store_search {
	const struct setup *s;
	struct strlist stores;		/* those that gpuhelper.conf lacks */
	struct why *why;
};

/* For users_each(): adds a user's storage, unless it would not count even for that user.  -1 with *why. */
static int
look_at_store(void *ctx, const char *name, uint32_t uid, const char *home)
{
	struct store_search *f = ctx;
	autofree char *store = NULL, *real = NULL;

	if (uid == 0 || *home != '/')
		return 0;
	if (asprintf(&store, "%s/" STORE, home) == -1) {
		store = NULL;
		return refuse_nomem(f->why);
	}
	if (access(store, F_OK) == -1 || rootfs_may_lie_in(store, &f->s->settings, uid))
		return 0;
	if (volume_resolve(store, uid, &real, f->why) == -1) {
		say("rootless: gpuhelper will refuse the containers of %s: %s", name, f->why->text);
		return 0;
	}
	return strlist_add(&f->stores, store, SIZE_MAX) ? 0 : refuse_nomem(f->why);
}

/* The drop-in holds for all users: gpuhelper would refuse containers of a user whose storage it does not know. */
static int
check_users(struct setup *s, struct why *why)
{
	struct store_search f = { .s = s, .why = why };
	size_t i;

	if (users_each(look_at_store, &f) == -1) {
		strlist_free(&f.stores);
		return -1;
	}
	s->stores = f.stores;
	for (i = 0; i < s->stores.n; i++)
		say("rootless: a user keeps images in %s", s->stores.v[i]);
	if (s->stores.n > 0 && !s->options->rootless)
		return refuse(why, WHY_CONFIG, "gpuhelper would refuse the containers of %s, because gpuhelper.conf does not name "
		    "%s: add it with --rootless, or remove it if nobody needs it", s->stores.n == 1 ? "this user" : "these users",
		    s->stores.n == 1 ? "that storage" : "their storage");
	if (s->options->rootless && access(SOCKET, F_OK) == -1)
		say("rootless: users' podman asks over the socket: systemctl enable --now gpuhelper.socket");
	if (s->options->rootless)
		say("rootless: users who are to get GPUs must be in group gpuhelper: usermod -aG gpuhelper USER "
		    "(gpuhelper-rootless(7))");
	return 0;
}

static int
find_of(struct setup *s, const json_t *j, struct why *why)
{
	const char *runtime = text_at(j, "host", "ociRuntime", "path"), *root = text_at(j, "store", "graphRoot", NULL);
	const char *driver = text_at(j, "store", "graphDriverName", NULL);
	const json_t *store = json_object_get(j, "store");
	const json_int_t there = json_integer_value(json_object_get(json_object_get(store, "containerStore"), "number"));

	if (runtime == NULL || root == NULL || driver == NULL)
		return refuse(why, WHY_CONFIG, "podman info names no runtime or no storage");
	say("podman: %s, with its storage in %s (%s); it calls %s now", text_at(j, "version", "Version", NULL) != NULL ?
	    text_at(j, "version", "Version", NULL) : "of no version", root, driver, runtime);
	if (there > 0 && !leads_to_wrapper(runtime))
		say("podman: existing containers (%d) keep the runtime that they were made with, and gpuhelper does not judge them",
		    (int)there);
	if (add_store(s, root, driver, why) == -1 || check_users(s, why) == -1)
		return -1;
	return setup_runtime(s, leads_to_wrapper(runtime) ? NULL : runtime, why);
}

enum drop_in { DROP_IN_NONE, DROP_IN_SETUP, DROP_IN_REST };

static bool
is_rest(const char *text)
{
	return text_starts(text, REST) && strcmp(text + strlen(REST) + strcspn(text + strlen(REST), "\"\\\n"), REST_END) == 0;
}

/* Finds out which file of that name is there.  Refuses an administrator's own one, which must not be replaced. */
static int
find_drop_in(enum drop_in *which, struct why *why)
{
	const int root = file_root();
	autofree char *text = file_read_at(root, &PODMAN_DROP_IN[1], 65536, NULL);

	*which = text == NULL ? DROP_IN_NONE : is_rest(text) ? DROP_IN_REST : DROP_IN_SETUP;
	if (text == NULL ? errno == ENOENT || errno == ENOTDIR : *which == DROP_IN_REST || strcmp(text, TEXT) == 0)
		return 0;
	return refuse(why, WHY_CONFIG, PODMAN_DROP_IN " is there, and is not as setup writes it: see who wrote it, and remove "
	    "it");
}

static int
find(struct setup *s, struct why *why)
{
	enum drop_in which;
	json_t *j;
	int ret;

	if (find_drop_in(&which, why) == -1 || (j = podman_info(why)) == NULL)
		return -1;
	ret = find_of(s, j, why);
	json_decref(j);
	return ret;
}

static int
try(struct setup *s, struct why *why)
{
	static const char *const podman[] = { "podman", "--runtime", WRAPPER, NULL }, *const import[] = { "import", NULL };
	static const char *const run[] = { "run", "--rm", "--name", SETUP_CONTAINER, "--network", "none", NULL };
	static const char *const end[] = { "rm", "--force", NULL }, *const *const ends[] = { end, NULL };
	static const char *const remove[] = { "rmi", NULL };
	static const struct trial trial = { .engine = "podman", .command = podman, .import = import, .run = run,
		.ends = ends, .remove = remove };

	(void)s;
	return setup_try_image(&trial, why);
}

static int
write_drop_in(const char *text, struct why *why)
{
	autoclose int dir = -1;

	if (setup_make_dir(PODMAN_DROP_IN_DIR, why) == -1)
		return -1;
	if ((dir = open(PODMAN_DROP_IN_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return refuse(why, WHY_IO, PODMAN_DROP_IN_DIR ": %s", strerror(errno));
	return ctl_write_file(dir, PODMAN_DROP_IN_NAME, PODMAN_DROP_IN, text, strlen(text), NULL, why);
}

/* Asks podman whether a later file names another runtime.  «new»: the caller then removes setup's file. */
static int
check_effect(bool new, struct why *why)
{
	autopodman struct podman_conf conf = { 0 };
	json_t *j = podman_info(why);
	const char *calls = j != NULL ? text_at(j, "host", "ociRuntime", "path") : NULL;
	int ret = j == NULL ? -1 : 0;

	if (ret == 0 && (calls == NULL || !leads_to_wrapper(calls))) {
		if (podman_conf_load(&conf, NULL, why) == -1)
			say("podman: %s", why->text);
		ret = refuse(why, WHY_CONFIG, "with " PODMAN_DROP_IN ", podman would still call %s%s%s%s",
		    calls != NULL ? calls : "another runtime", conf.file != NULL ? ", by " : "", conf.file != NULL ? conf.file : "",
		    new ? ": setup removed its own file again" : "");
	}
	json_decref(j);
	return ret;
}

/* Takes back what put() wrote: «was» is the text before, or NULL. */
static void
restore(const char *was)
{
	struct why why;

	if (was == NULL)
		(void)unlink(PODMAN_DROP_IN);
	else if (write_drop_in(was, &why) == -1)
		say("podman: %s", why.text);
}

static int
put(struct setup *s, bool dry, struct why *why)
{
	const int root = file_root();
	autofree char *was = NULL;
	enum drop_in which;
	bool there;

	(void)s;
	if (find_drop_in(&which, why) == -1)
		return -1;
	there = which == DROP_IN_SETUP;
	if (dry) {
		say(there ? "podman: " PODMAN_DROP_IN " is there" : "podman: would write " PODMAN_DROP_IN);
		return 0;
	}
	was = which == DROP_IN_REST ? file_read_at(root, &PODMAN_DROP_IN[1], 65536, NULL) : NULL;
	if (!there && write_drop_in(TEXT, why) == -1)
		return -1;
	if (check_effect(!there, why) == -1) {
		if (!there)
			restore(was);
		return -1;
	}
	if (there)
		say("podman: " PODMAN_DROP_IN " is there");
	else
		say("podman: wrote " PODMAN_DROP_IN ": gpuhelper judges every new container, root's and users'; podman's service "
		    "(podman.socket) from its next start on");
	return 0;
}

/* The runtime below the wrapper gets the wrapper's name.  -1 with *why if it can't be found or named. */
static int
leave_rest(struct setup *s, bool dry, struct why *why)
{
	autofree char *text = NULL;

	if (config_settings_or_default(s->options, &s->settings, why) == -1 || setup_runtime(s, NULL, why) == -1)
		return -1;
	if (asprintf(&text, REST "%s" REST_END, s->runtime) == -1) {
		text = NULL;
		return refuse_nomem(why);
	}
	if (!is_rest(text))
		return refuse(why, WHY_DATA, "\"%.200s\" has a character that setup can't write into " PODMAN_DROP_IN, s->runtime);
	return dry ? 0 : write_drop_in(text, why);
}

/* Says which containers keep the file in place, and what comes next. */
static void
say_left(const struct strlist *names, const struct strlist *users, const char *did)
{
	autobuf struct buf who = { 0 };

	setup_left_names(&who, names);
	if (users->n > 0) {
		buf_printf(&who, "%sthose of user%s ", names->n > 0 ? "; " : "", S_OF(users->n));
		setup_left_names(&who, users);
	}
	say("podman: %s; it stays, so that podman can end the containers that gpuhelper-runc made: %s", did,
	    who.failed ? "" : who.p);
	say("podman: when they are gone, gpuhelperctl reap frees what they held, and gpuhelperctl setup podman --undo removes "
	    "the file");
}

static int
remove_drop_in(bool dry, struct why *why)
{
	if (!dry && unlink(PODMAN_DROP_IN) == -1)
		return refuse(why, WHY_IO, PODMAN_DROP_IN " can't be removed: %s", strerror(errno));
	say("podman: %s " PODMAN_DROP_IN, dry ? "would remove" : "removed");
	return 0;
}

static int
undo(struct setup *s, bool dry, struct why *why)
{
	autostrlist struct strlist names = { 0 }, users = { 0 };
	enum drop_in which;
	struct why cause;
	bool rest;

	if (find_drop_in(&which, why) == -1)
		return -1;
	if (which == DROP_IN_NONE) {
		say("podman: there is no " PODMAN_DROP_IN);
		return 0;
	}
	/* first, so that no further container gets the wrapper */
	rest = which == DROP_IN_REST || leave_rest(s, dry, &cause) == 0;
	if (!rest)
		say("podman: %s: podman can't end a container that gpuhelper-runc made (gpuhelperctl end can)", cause.text);
	if (rest && setup_podman_left(&names, &users, &cause) == -1) {
		say("podman: %s " PODMAN_DROP_IN " for containers that gpuhelper-runc may have made: %s; when podman lists none of "
		    "them, gpuhelperctl setup podman --undo removes it", dry ? "would leave" : "left", cause.text);
		return 0;
	}
	if (names.n == 0 && users.n == 0)
		return remove_drop_in(dry, why);
	say_left(&names, &users, which == DROP_IN_REST ? PODMAN_DROP_IN " is no default" : dry ?
	    "would remove the default from " PODMAN_DROP_IN : "removed the default from " PODMAN_DROP_IN);
	return 0;
}

/* What undo() leaves needs nothing of setup's. */
static bool
in_place(const char *gone)
{
	enum drop_in which;
	struct why ignored;

	(void)gone;
	return access(PODMAN_DROP_IN, F_OK) == 0 && (find_drop_in(&which, &ignored) == -1 || which == DROP_IN_SETUP);
}

const struct engine engine_podman = { "podman", find, try, put, undo, in_place };
