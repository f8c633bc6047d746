/*
 * gpuhelperctl setup: makes an engine call the wrapper, and undoes that.  setup.c has the steps that all engines share.
 * setup_ENGINE.c finds one engine, has it run a trial container, and makes it call the wrapper.
 */
#ifndef GPUHELPER_CTL_SETUP_SETUP_H
#define GPUHELPER_CTL_SETUP_SETUP_H

#include "../../policy/settings.h"
#include "../ctl.h"
#include "../worker/worker.h"

struct engine;

/* What find() learned, before setup changes anything. */
struct setup {
	const struct options *options;
	const struct engine *engine;
	struct settings settings;	/* of gpuhelper.conf, before setup changes it */
	struct worker worker;		/* for concourse the worker, for containerd the daemon */
	char *runtime;			/* the runtime that the wrapper calls */
	struct strlist volumes;		/* directories where root's engine keeps root filesystems, outside of bundles */
	struct strlist stores;		/* the same of users' engines; each counts for containers of its user */
	char *link;			/* the link to the wrapper; NULL if a file tells the engine instead */
	char *program;			/* the engine's client, which runs containers; NULL if there is none */
	char *address;			/* the socket on which the engine listens */
	pid_t daemon;			/* dockerd; 0 if it does not run */
	char *before;			/* docker's daemon.json before setup changed it; NULL: it did not */
};

/* An engine.  A function that fails returns -1 with *why, and has changed nothing, or has undone its changes. */
struct engine {
	const char *name;
	/* Fills in runtime, volumes and whatever the other functions need, and prints what it found.  Changes nothing. */
	int (*find)(struct setup *s, struct why *why);
	/* Has the engine run a container with the wrapper, before it does so for others.  NULL if the engine can't. */
	int (*try)(struct setup *s, struct why *why);
	/* Has the engine call the wrapper for every container, and checks that it does.  «dry»: only prints the plan. */
	int (*put)(struct setup *s, bool dry, struct why *why);
	/* Undoes put(), whether or not the engine runs. */
	int (*undo)(struct setup *s, bool dry, struct why *why);
	/* True if what put() made still exists, regardless of the link «gone», which may be NULL. */
	bool (*in_place)(const char *gone);
};
extern const struct engine engine_concourse, engine_containerd, engine_podman, engine_docker;

#define SETUP_DIR "/run/gpuhelper-setup.XXXXXX"
/* Makes a directory for root alone.  Returns its descriptor; -1 with *why.  The caller empties and removes it. */
int setup_dir(char name[sizeof(SETUP_DIR)], struct why *why);
/* Makes the directory and those above it, if they are missing.  -1 with *why, also if one is not root's alone. */
int setup_make_dir(const char *dir, struct why *why);

/* The state of gpuhelper.conf before setup_conf(). */
struct conf_before {
	char *text;		/* NULL if there was no such file, or if it was not changed */
	bool changed;
};
/*
 * Adds «runtime» and «volumes» to gpuhelper.conf, if they are missing; everything else in the file stays.  A file that
 * it makes also says «privileged», for the administrator to change.  Before the new text replaces the file, it is
 * parsed as the helper parses it.  «dry»: only prints the plan.  *before is for setup_conf_restore(); the caller frees
 * its text.  -1 with *why, and the file has not changed.
 */
int setup_conf(const struct setup *s, bool dry, struct conf_before *before, struct why *why);
void setup_conf_restore(const struct conf_before *before);
/*
 * Removes the lines that setup_conf() wrote, and the file if it made that and nobody added anything; «dry»: prints the
 * plan.  -1 with *why, also if somebody changed the lines.
 */
int setup_conf_undo(bool dry, struct why *why);

/*
 * Fills in s->runtime, cleaned: the runtime that gpuhelper.conf names, or else «found», which stays the caller's, or if
 * that is NULL the runc in PROGRAM_PATH.  -1 with *why if it can't be run, or others than root can change it.
 */
int setup_runtime(struct setup *s, const char *found, struct why *why);

/* Makes a bundle in the directory: a container that runs true(1) with the host's /usr.  -1 with *why. */
int setup_bundle(int dir, struct why *why);
void setup_bundle_remove(int dir);
/*
 * Makes the file «name» in the directory: the root filesystem of such a container, as a tar file, or as an OCI image
 * with the name «image».  *mounts gets the host's directories that the container must have mounted at the same paths.
 * -1 with *why.
 */
int setup_image(int dir, const char *name, struct strlist *mounts, struct why *why);
int setup_oci_image(int dir, const char *name, const char *image, struct strlist *mounts, struct why *why);

/*
 * Lists podman's containers that need the name of the wrapper as their runtime: in *names those of root, in *users the
 * users who have containers. The caller frees both lists in any case. -1 with *why if podman does not list root's.
 */
int setup_podman_left(struct strlist *names, struct strlist *users, struct why *why);
/* The same of docker's containers, whose data directory is «root». */
int setup_docker_left(const char *root, struct strlist *names, struct why *why);
/* Adds «A, B, C and 2 more». */
void setup_left_names(struct buf *b, const struct strlist *l);

#define SETUP_CONTAINER "gpuhelper-setup"	/* the name of setup's own container */

/* How an engine runs that container.  Each list of words ends with NULL. */
struct trial {
	const char *engine;
	const char *const *command;	/* the program, with options for all verbs; one of the lists below follows */
	const char *const *import;	/* then FILE [IMAGE] */
	const char *const *run;		/* then the mounts, IMAGE and the program of the container */
	const char *const *const *ends;	/* then SETUP_CONTAINER: what removes it if «run» failed; a list of lists */
	const char *const *remove;	/* then IMAGE */
	bool oci;			/* images and mounts as ctr takes them, not as podman and docker do */
};

/* Has the wrapper run a container that requests nothing.  -1 with *why. */
int setup_try(struct why *why);
/* Has an engine run such a container, from an image that setup makes.  -1 with *why. */
int setup_try_image(const struct trial *t, struct why *why);

/* Refuses, with -1 and *why, if something other than a link to the wrapper has that name.  Comes before put(). */
int setup_link_free(const char *link, struct why *why);
/*
 * Makes s->link, a link to the wrapper, unless it is there, and records that this engine needs it.  The engine
 * s->worker must find the wrapper first from then on.  «dry»: only says what it would do.  -1 with *why, and the link
 * and the record are as they were.
 */
int setup_link(const struct setup *s, bool dry, struct why *why);
/* The link that the engine of this name was set up with; NULL if that is not recorded.  The caller frees. */
char *setup_link_recorded(const char *engine);
/*
 * Removes s->link, unless another engine was set up with it: then the link stays, and s->link becomes NULL.  Drops the
 * engine's record.  «dry»: only says what it would do.  -1 with *why.
 */
int setup_link_undo(struct setup *s, bool dry, struct why *why);

/* Gives the worker the tags of this host's GPUs, by a drop-in of its unit; «dry»: prints the plan.  -1 with *why. */
int setup_tags(const struct setup *s, bool dry, struct why *why);
/* Removes that drop-in from whatever units have it.  -1 with *why. */
int setup_tags_undo(bool dry, struct why *why);

#endif
