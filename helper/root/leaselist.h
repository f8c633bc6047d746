/* What lease.c and leaselist.c share; see lease.h, which is what others use. */
#ifndef GPUHELPER_ROOT_LEASELIST_H
#define GPUHELPER_ROOT_LEASELIST_H

#include "lease.h"

#define LEASES_PER_USER 512	/* or one user could leave nothing to the others */

/* How many there are, and of one user. */
struct tally {
	size_t all, own;
};
void leases_tally(const struct leases *ls, uint32_t uid, struct tally *out);

/* ls->v[at], whose file was removed; another one takes its place. */
void leases_forget(struct leases *ls, size_t at);

#endif
