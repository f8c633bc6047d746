/*
 * Walks through folders that a policy has labelled for containers: «relabel» of gpuhelper-policy(5).  Each is looked
 * at as a whole before anything in it is labelled; what was stopped half-way is finished for the next container, since
 * every entry is looked at each time.
 */
#ifndef GPUHELPER_LABEL_RELABEL_H
#define GPUHELPER_LABEL_RELABEL_H

#include "../pure/labelask.h"
#include "../pure/why.h"

struct relabelling;

/* NULL: no memory. */
struct relabelling *relabel_begin(void);

/*
 * Looks through the folder that fd is open on (O_PATH), with all that is in it but for other mounts and device nodes,
 * and changes nothing.  It is known by its number then: 0 is the first.  *wrong: how many entries another label is due
 * to.  -1 with *why: something may not be labelled, or can't.
 */
int relabel_look(struct relabelling *r, int fd, int asker, const struct label_ask *a, uint32_t *wrong,
    struct why *why);

/*
 * Labels the folder of that number, which fd is open on, as long as the process of the pidfd «asker» is there.  -1 with
 * *why: what was labelled by then is.
 */
int relabel_change(struct relabelling *r, int fd, int asker, const struct label_ask *a, struct why *why);

void relabel_free(struct relabelling *r);

#endif
