/*
 * gpuhelper-label, as the helper speaks to it: another program, root's too and confined, which knows what the loaded
 * SELinux policy says, and goes through folders that are to be labelled.  It gets descriptors, never a path.  There is
 * none where SELinux is not on; the process becomes that program at the first question.
 *
 * May be killed at any moment, by the helper first of all, and is not asked again then.
 */
#ifndef GPUHELPER_ROOT_LABELLER_H
#define GPUHELPER_ROOT_LABELLER_H

#include <stdint.h>
#include <sys/types.h>

#include "../pure/labelask.h"
#include "../pure/processid.h"

/* To be called before the filter (filter.h).  Where it can't be started, whoever asks later is told why. */
void labeller_start(void);
/* 0, and -1 for the channel: there is none. */
pid_t labeller_pid(void);
int labeller_channel(void);
/* Returns once there is none any more, or it can't be ended: then the kernel ends it once it can be. */
void labeller_end(void);

/*
 * Is it a label of the policy that is loaded?  1: it is, and then has the kernel's own spelling; 0: it is not; -1 with
 * *why: it can't be asked.
 */
int labeller_knows(char label[SECONTEXT_MAX], struct why *why);

/* May a process of label «who» use something of that label so?  Likewise. */
int labeller_lets(const char *who, const char *object, enum label_use use, struct why *why);

/*
 * Puts a question about a folder, fd: LABEL_LOOK or LABEL_CHANGE.  Until then (clock_ms()), or until the process that
 * asked for it has ended: then gpuhelper-label is ended, whatever it does.  *wrong as in struct label_answer.  -1 with
 * *why.
 */
int labeller_goes_through(struct label_ask *a, int fd, const struct process_id *asker, int64_t until, uint32_t *wrong,
    struct why *why);

#endif
