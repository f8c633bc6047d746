/*
 * gpuhelperctl setup: puts the wrapper in an engine's way, and takes it away again.  setup.c has the flow that all
 * engines share; setup_ENGINE.c says how one engine is found, tried, and told to call the wrapper.
 */
#ifndef GPUHELPER_CTL_SETUP_H
#define GPUHELPER_CTL_SETUP_H

#include "../pure/settings.h"
#include "ctl.h"
#include "worker.h"

struct engine;

/* What was found, before anything is changed. */
struct setup {
	const struct options *options;
	const struct engine *engine;
	struct settings settings;	/* as they are */
	struct worker worker;		/* concourse: the worker; containerd: the daemon */
	char *runtime;			/* below the wrapper */
	struct strlist volumes;		/* where root's engine keeps root filesystems, outside of bundles */
	struct strlist stores;		/* where users' engines do; each counts for the containers of its user */
	char *link;			/* the link to the wrapper; NULL: the engine is told by a file */
	char *program;			/* of the engine, by which containers are run; NULL: there is none */
	char *address;			/* of the socket on which the engine listens */
	pid_t daemon;			/* docker's; 0: it does not run */
	char *before;			/* docker's daemon.json before setup changed it; NULL: it did not */
};

/* An engine.  Each function returns -1 with *why, and has then changed nothing, or taken back what it changed. */
struct engine {
	const char *name;
	/* Fills in runtime, volumes and what the engine's other functions need; says what it found.  Changes nothing. */
	int (*find)(struct setup *s, struct why *why);
	/* Has the engine run a container by the wrapper, before other containers go by it.  NULL: the engine has no way. */
	int (*try)(struct setup *s, struct why *why);
	/* Has the engine call the wrapper for every container, and checks that it does.  «dry»: says what it would do. */
	int (*put)(struct setup *s, bool dry, struct why *why);
	/* Takes back what put() did, whether or not the engine runs. */
	int (*undo)(struct setup *s, bool dry, struct why *why);
	/* True while what put() made is there, «gone» (a link, or NULL) taken as gone. */
	bool (*in_place)(const char *gone);
};
extern const struct engine engine_concourse, engine_containerd, engine_podman, engine_docker;

#define SETUP_DIR "/run/gpuhelper-setup.XXXXXX"
/*
 * A new directory of root's alone: its name, and its descriptor.  -1 with *why.  The caller empties and removes
 * it.
 */
int setup_dir(char name[sizeof(SETUP_DIR)], struct why *why);
/* The directory and those above it, made where they are not there.  -1 with *why where one is not root's alone. */
int setup_make_dir(const char *dir, struct why *why);

/* gpuhelper.conf, as it was before setup_conf(). */
struct conf_before {
	char *text;		/* NULL: it was not there, or was not changed */
	bool changed;
};
/*
 * gpuhelper.conf with «runtime» and «volumes», where it does not say them; all else in it stays.  The new text is
 * read as the helper reads it before it replaces the file.  «dry»: only says what it would do.  *before is for
 * setup_conf_restore(), and the caller frees its text.  -1 with *why, and nothing has changed.
 */
int setup_conf(const struct setup *s, bool dry, struct conf_before *before, struct why *why);
void setup_conf_restore(const struct conf_before *before);
/* Takes away the lines that setup_conf() wrote, and refuses where somebody has changed them. */
int setup_conf_undo(bool dry, struct why *why);

/* Where setup looks for programs: root's own directories, whatever PATH this process was given. */
#define SETUP_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/*
 * Fills in s->runtime, cleaned: the runtime that gpuhelper.conf names, or else «found», which stays the caller's, or if
 * that is NULL the runc in SETUP_PATH.  -1 with *why if it can't be run, or others than root can change it.
 */
int setup_runtime(struct setup *s, const char *found, struct why *why);

/* A program that has ended.  The caller frees out. */
struct ran {
	int status;		/* its exit status; -1: a signal ended it, ours where it was late */
	char *out;		/* stdout */
	char said[400];		/* stderr, as one line */
};
/*
 * Runs argv[0], which is looked for in SETUP_PATH unless it is a path, with SETUP_PATH and a HOME as its whole
 * environment.  Waits for it a minute at most, and then ends it; *r says so.  -1 with *why if it can't be started.
 */
int setup_run(const char *const *argv, struct ran *r, struct why *why);
/* The absolute path of a program in SETUP_PATH; NULL if there is none.  The caller frees. */
char *setup_program(const char *name);

/* In the directory: config.json of a container that runs true(1) with the host's /usr, and an empty rootfs. */
int setup_bundle(int dir, struct why *why);
void setup_bundle_remove(int dir);
/*
 * In the directory: NAME, a tar file of a root filesystem for such a container, or an image of the OCI's with this
 * name. The directories of the host's that the container needs mounted in their places go to *mounts.
 */
int setup_image(int dir, const char *name, struct strlist *mounts, struct why *why);
int setup_oci_image(int dir, const char *name, const char *image, struct strlist *mounts, struct why *why);

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

/* Has the wrapper run a container that asks for nothing.  -1 with *why. */
int setup_try(struct why *why);
/* The same by an engine, from an image of setup's own. */
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

/* A drop-in of the worker's unit, by which it has the tags of this host's GPUs. */
int setup_tags(const struct setup *s, bool dry, struct why *why);
/* Of whichever worker. */
int setup_tags_undo(bool dry, struct why *why);

#endif
