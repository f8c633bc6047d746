/* Runs programs of the host, and waits for them. */
#ifndef GPUHELPER_CTL_RUNPROGRAM_H
#define GPUHELPER_CTL_RUNPROGRAM_H

#include "../base/why.h"

/* Where programs are looked for: root's own directories, whatever PATH this process was given. */
#define PROGRAM_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* A program that has ended.  The caller frees out. */
#define PROGRAM_SAID 300
struct ran {
	int status;		/* its exit status; -1 if a signal ended it, which may be ours */
	char *out;		/* its standard output */
	char said[PROGRAM_SAID];	/* the end of its standard error, without warnings, as one line; or why it was ended */
};
/*
 * Runs argv[0], which is looked for in PROGRAM_PATH unless it is a path, with PROGRAM_PATH and a HOME as its whole
 * environment.  Waits for it a minute at most, and then ends it; *r says so.  -1 with *why if it can't be started.
 */
int program_run(const char *const *argv, struct ran *r, struct why *why);
/* The absolute path of a program in PROGRAM_PATH; NULL if there is none.  The caller frees. */
char *program_find(const char *name);

#endif
