/*
 * The waiter in front of a program that is to start in a container (ask/waiting.h): what it gets, and what the
 * runtime must be told for that.
 */
#ifndef GPUHELPER_USER_TASK_WAITER_H
#define GPUHELPER_USER_TASK_WAITER_H

#include <stdbool.h>

#include "../../base/text.h"
#include "../../base/why.h"
#include "../../host/file.h"
#include "../../json/doc.h"
#include "../command/argv.h"

/* What the runtime and the waiter are told. */
struct waiter {
	bool used;
	int ours;			/* this process's end of the socket pair; -1: none */
	int theirs, file;		/* the waiter's end, and its program */
	int first;			/* their numbers for the runtime and the waiter: this one, and the next */
	char count[16];			/* the new value of --preserve-fds */
	char program[FILE_LINK_MAX];	/* the first word of the new command line */
	char numbers[32];		/* the second one */
};
#define WAITER_NONE { .ours = -1 }

/*
 * Makes the socket pair and the waiter's file, with the numbers that the runtime passes on after those that the
 * command line keeps open already (--preserve-fds). «label» is the process's SELinux label, or NULL. Returns 0, or -1
 * with *why.
 */
int waiter_make(const struct command *c, const char *label, struct waiter *w, struct why *why);

/*
 * Gives both descriptors their numbers. To be called last before this process becomes the runtime: what was open there
 * is closed. Returns 0, or -1 with *why.
 */
int waiter_set_numbers(struct waiter *w, struct why *why);

/* Puts the waiter in front of the «args» of a process.json. */
void waiter_edit_args(const struct waiter *w, const struct doc *d, struct doc_edits *e);

/*
 * Sends what a waiter needs that waits for nothing: the line ("": none), and that it may go on. To be called before
 * the runtime starts; closes this process's end.
 */
void waiter_send_go(struct waiter *w, const struct strlist *lines);

#endif
