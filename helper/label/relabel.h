/*
 * Walks through folders that a policy wants labelled for containers («relabel» of gpuhelper-policy(5)). The
 * whole folder is checked before anything in it is labelled. Each walk looks at every entry, so a walk that
 * was stopped halfway is completed for the next container.
 */
#ifndef GPUHELPER_LABEL_RELABEL_H
#define GPUHELPER_LABEL_RELABEL_H

#include "../ask/labelquery.h"
#include "../base/why.h"

struct relabelling;

/* Begins the folders of one container. NULL if memory is short. */
struct relabelling *relabel_begin(void);

/*
 * Looks through the folder that fd (O_PATH) is open on, except for other mounts and device nodes, and changes
 * nothing. a->folder must be the number of folders looked at before, from 0 on, and names the folder from
 * then on. *wrong gets the number of entries that need another label. Returns 0, or -1 with *why if something
 * may not or can't be labelled.
 */
int relabel_walk(struct relabelling *r, int fd, int client, const struct label_query *a, uint32_t *wrong,
    struct why *why);

/*
 * Labels the folder with number a->folder, which fd is open on, as long as the process of the pidfd «client»
 * exists. Returns 0, or -1 with *why: the entries labelled until then keep their labels.
 */
int relabel_change(struct relabelling *r, int fd, int client, const struct label_query *a, struct why *why);

void relabel_free(struct relabelling *r);

#endif
