/* Whether any process is in a namespace (namespaces(7)), as /proc shows it. */
#ifndef GPUHELPER_LOOK_NSSET_H
#define GPUHELPER_LOOK_NSSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../kernel/processid.h"

/* The namespaces of one kind that have processes, read once for many questions. */
struct ns_set {
	uint64_t *inode;		/* sorted, once it was read */
	size_t n, room;
	bool read, failed;
};
/*
 * True if a process, or a thread of one, is in this namespace, or if that can't be seen. The first call reads
 * the set, which looks at every thread of the host.
 */
bool ns_set_has(struct ns_set *s, const char *kind, uint64_t inode);
/* After ns_set_has(): true if a process was seen there and every process could be looked at. */
bool ns_set_surely_has(const struct ns_set *s, uint64_t inode);
void ns_set_free(struct ns_set *s);

/*
 * True if a live process has this number in the PID namespace «pid_ns» and this start time, or if that can't be
 * seen. Only for a namespace beneath our own: processes of other namespaces are invisible here.
 */
bool ns_has_process(uint64_t pid_ns, struct process_id p);

#endif
