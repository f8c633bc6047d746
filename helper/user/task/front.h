/*
 * The waiter in front of a program that is to start in a container (ask/waiting.h): what it gets, and what the
 * runtime must be told for that.
 */
#ifndef GPUHELPER_USER_TASK_FRONT_H
#define GPUHELPER_USER_TASK_FRONT_H

#include <stdbool.h>

#include "../../base/text.h"
#include "../../base/why.h"
#include "../../host/file.h"
#include "../../json/doc.h"
#include "../command/argv.h"

struct front {
	bool used;
	int ours;			/* this process's end of the socket pair; -1: none */
	int theirs, file;		/* the waiter's end, and its program */
	int first;			/* their numbers for the runtime and the waiter: this one, and the next */
	char count[16];			/* the new value of --preserve-fds */
	char program[FILE_LINK_MAX];	/* the first word of the new command line */
	char numbers[32];		/* the second one */
};
#define FRONT_NONE { .ours = -1 }

/*
 * Makes the socket pair and the waiter's file, with the numbers that the runtime passes on after those that the
 * command line keeps open already (--preserve-fds). «label» is the process's SELinux label, or NULL. Returns 0, or -1
 * with *why.
 */
int front_make(const struct command *c, const char *label, struct front *f, struct why *why);

/*
 * Gives both descriptors their numbers. To be called last before this process becomes the runtime: what was open there
 * is closed. Returns 0, or -1 with *why.
 */
int front_place(struct front *f, struct why *why);

/* Puts the waiter in front of the «args» of a process.json. */
void front_edit_args(const struct front *f, const struct doc *d, struct doc_edits *e);

/*
 * Sends what a waiter needs that waits for nothing: the line ("": none), and that it may go on. To be called before
 * the runtime starts; closes this process's end.
 */
void front_let_go(struct front *f, const struct strlist *lines);

#endif
