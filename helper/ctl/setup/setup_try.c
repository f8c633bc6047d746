/* See setup.h: runs a container of setup's own, by the wrapper alone or by an engine, and removes all of it. */
#include "setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"
#include "../../host/file.h"
#include "../runprogram.h"

#define IMAGE_FILE "image.tar"
#define IMAGE "localhost/gpuhelper-setup:trial"

/* Runs a command.  «how» is for the refusal: "", or " by ENGINE". */
static int
run_one(const char *const *argv, const char *how, struct why *why)
{
	struct ran r;
	int ret = program_run(argv, &r, why);

	if (ret == 0 && r.status != 0)
		ret = refuse(why, WHY_CONFIG, "the trial container could not be run%s (gpuhelperctl doctor): %s", how, r.said);
	free(r.out);
	return ret;
}

int
setup_try(struct why *why)
{
	char name[sizeof(SETUP_DIR)], state[sizeof(name) + 8];
	const char *const argv[] = { WRAPPER, "--root", state, "run", "--bundle", name, SETUP_CONTAINER, NULL };
	const char *const end[] = { WRAPPER, "--root", state, "delete", "--force", SETUP_CONTAINER, NULL };
	autoclose int dir = setup_dir(name, why);
	struct why ignored;
	int ret;

	if (dir == -1)
		return -1;
	snprintf(state, sizeof(state), "%s/state", name);
	if ((ret = setup_bundle(dir, why)) == 0)
		ret = run_one(argv, "", why);
	/* setup may have ended the wrapper, but not the container */
	if (ret == -1)
		(void)run_one(end, "", &ignored);
	setup_bundle_remove(dir);
	(void)rmdir(name);
	if (ret == 0)
		say("trial: gpuhelper-runc ran a container of its own with the runtime");
	return ret;
}

/* Adds words from a list that ends with NULL.  False: no memory. */
static bool
add_words(struct strlist *to, const char *const *words)
{
	for (; *words != NULL; words++)
		if (!strlist_add(to, *words, SIZE_MAX))
			return false;
	return true;
}

/* Adds the options for each directory of the host that the container needs.  False: no memory. */
static bool
add_mounts(struct strlist *to, const struct trial *t, const struct strlist *mounts)
{
	autobuf struct buf b = { 0 };
	const char *path;
	size_t i;

	for (i = 0; i < mounts->n; i++) {
		path = mounts->v[i];
		b.len = 0;
		buf_printf(&b, t->oci ? "type=bind,src=%s,dst=%s,options=rbind:ro" : "%s:%s:ro", path, path);
		if (b.failed || !strlist_add(to, t->oci ? "--mount" : "-v", SIZE_MAX) || !strlist_add(to, b.p, SIZE_MAX))
			return false;
	}
	return true;
}

/* Runs the engine's client with these words and mounts. */
static int
run_words(const struct trial *t, const char *const *first, const struct strlist *mounts, const char *const *last,
    struct why *why)
{
	static const struct strlist none = { 0 };
	autostrlist struct strlist words = { 0 };
	const char **argv;
	char how[64];
	size_t i;
	int ret;

	if (!add_words(&words, t->command) || !add_words(&words, first) ||
	    !add_mounts(&words, t, mounts != NULL ? mounts : &none) || !add_words(&words, last) ||
	    (argv = calloc(words.n + 1, sizeof(*argv))) == NULL)
		return refuse_nomem(why);
	for (i = 0; i < words.n; i++)
		argv[i] = words.v[i];
	snprintf(how, sizeof(how), " by %s", t->engine);
	ret = run_one(argv, how, why);
	free(argv);
	return ret;
}

/* Removes the container of a «run» that failed: the engine may have gone on after setup ended its client. */
static void
end_container(const struct trial *t)
{
	static const char *const name[] = { SETUP_CONTAINER, NULL };
	const char *const *const *end;
	struct why ignored;

	for (end = t->ends; *end != NULL; end++)
		(void)run_words(t, *end, NULL, name, &ignored);
}

/* Imports the image IMAGE_FILE of the directory «dir_name», runs it, and removes it. */
static int
run_image(const struct trial *t, const char *dir_name, const struct strlist *mounts, struct why *why)
{
	char file[sizeof(SETUP_DIR) + sizeof(IMAGE_FILE)];
	const char *const imported[] = { file, t->oci ? NULL : IMAGE, NULL };
	const char *const run[] = { IMAGE, t->oci ? SETUP_CONTAINER : "/usr/bin/true",
		t->oci ? "/usr/bin/true" : NULL, NULL };
	const char *const removed[] = { IMAGE, NULL };
	struct why ignored;
	int ret;

	snprintf(file, sizeof(file), "%s/" IMAGE_FILE, dir_name);
	if (run_words(t, t->import, NULL, imported, why) == -1)
		return -1;
	if ((ret = run_words(t, t->run, mounts, run, why)) == -1)
		end_container(t);
	(void)run_words(t, t->remove, NULL, removed, &ignored);
	return ret;
}

int
setup_try_image(const struct trial *t, struct why *why)
{
	char name[sizeof(SETUP_DIR)];
	autoclose int dir = setup_dir(name, why);
	autostrlist struct strlist mounts = { 0 };
	int ret;

	if (dir == -1)
		return -1;
	ret = t->oci ? setup_oci_image(dir, IMAGE_FILE, IMAGE, &mounts, why) : setup_image(dir, IMAGE_FILE, &mounts, why);
	if (ret == 0)
		ret = run_image(t, name, &mounts, why);
	(void)unlinkat(dir, IMAGE_FILE, 0);
	(void)rmdir(name);
	if (ret == 0)
		say("trial: %s ran a container of its own with gpuhelper-runc", t->engine);
	return ret;
}
