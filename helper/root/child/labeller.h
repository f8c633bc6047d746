/*
 * The helper's side of gpuhelper-label, a confined program of root's that asks the loaded SELinux policy, and relabels
 * folders. It gets descriptors, never a path. The helper starts a process for it only if SELinux is on, and that
 * process executes the program at the first question.
 *
 * The program may be killed at any moment, by the helper too. Then it gets no more questions.
 */
#ifndef GPUHELPER_ROOT_CHILD_LABELLER_H
#define GPUHELPER_ROOT_CHILD_LABELLER_H

#include <stdint.h>
#include <sys/types.h>

#include "../../ask/labelquery.h"
#include "../../kernel/processid.h"

/* Starts the process. To be called before filter_install(). If this fails, every question fails with the reason. */
void labeller_start(void);
int labeller_channel(void);	/* -1: it does not run */

/*
 * Puts the question LABEL_IS_VALID or LABEL_LETS. 1 or 0, and a label, which the program may have made up: as in struct
 * label_answer. -1 with *why.
 */
int labeller_ask(const struct label_query *a, char label[SECONTEXT_MAX], struct why *why);

/*
 * Puts the question LABEL_WALK or LABEL_CHANGE about the folder fd. At the time «until» (clock_ms()), or once the
 * process «client» has ended, kills the program. *wrong: as in struct label_answer. -1 with *why.
 */
int labeller_ask_folder(struct label_query *a, int fd, const struct process_id *client, int64_t until, uint32_t *wrong,
    struct why *why);

#endif
