/* gpuhelperctl setup: puts the wrapper in an engine's way, and takes it away again. */
#ifndef GPUHELPER_CTL_SETUP_H
#define GPUHELPER_CTL_SETUP_H

#include "../pure/settings.h"
#include "ctl.h"
#include "worker.h"

/* What was found, before anything is changed. */
struct setup {
	const struct options *options;
	struct worker worker;
	struct settings settings;	/* as they are */
	char *runtime;			/* below the wrapper */
	char *volumes;			/* where the worker keeps root filesystems */
};

#define SETUP_DIR "/run/gpuhelper-setup.XXXXXX"
/* A new directory of root's alone: its name, and its descriptor.  -1 with *why.  The caller empties and removes it. */
int setup_dir(char name[sizeof(SETUP_DIR)], struct why *why);

/*
 * gpuhelper.conf with «runtime» and «volumes», where it does not say them; all else in it stays.  The new text is read
 * as the helper reads it before it replaces the file.  «dry»: only says what it would do.  1: lines were added; 0: none
 * was missing; -1 with *why, and nothing has changed.
 */
int setup_conf(const struct setup *s, bool dry, struct why *why);
/* Takes away the lines that setup_conf() wrote, and refuses where somebody has changed them. */
int setup_conf_undo(bool dry, struct why *why);

/* Has the wrapper run a container that asks for nothing.  -1 with *why. */
int setup_try(struct why *why);

/* A drop-in of the worker's unit, by which it has the tags of this host's GPUs. */
int setup_tags(const struct setup *s, bool dry, struct why *why);
/* Of whichever worker. */
int setup_tags_undo(bool dry, struct why *why);

#endif
