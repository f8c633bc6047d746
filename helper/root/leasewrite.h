/* Writes leases down, as many and as large ones as a user may have. */
#ifndef GPUHELPER_ROOT_LEASEWRITE_H
#define GPUHELPER_ROOT_LEASEWRITE_H

#include "leaselist.h"

/* Refuses a second lease for the same container, and more (or more bytes) than one user may have. */
int leases_admit(const struct leases *ls, const struct lease *l, struct why *why);
/*
 * Writes a lease that was admitted down, or one that is there anew.  It does not
 * become one of ls->v.  It gets its name the first time: -1 with *why, too, if it
 * came to do more since than that says.
 */
int leases_write(const struct leases *ls, struct lease *l, struct why *why);
/*
 * The same for a lease that has come to say more than when it was admitted (nodes,
 * acts, the container's cgroup).  -1 with *why (WHY_AGAIN), too, where its user may
 * not have so many bytes: what is in the file stays.
 */
int leases_write_more(const struct leases *ls, struct lease *l, struct why *why);

#endif
