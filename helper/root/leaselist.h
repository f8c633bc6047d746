/* What lease.c and leaselist.c share; see lease.h, which is what others use. */
#ifndef GPUHELPER_ROOT_LEASELIST_H
#define GPUHELPER_ROOT_LEASELIST_H

#include "lease.h"

#define LEASES_PER_USER 512	/* or one user could leave nothing to the others */

#define LEASE_FILE_MAX (1 << 20)	/* bytes: a longer one would not be read, and stop everyone */
#define LEASE_TEXT_MAX (LEASE_FILE_MAX - (128 << 10))	/* when it is admitted: cgroups and acts are to come */
#define LEASES_MIB_PER_USER 2	/* or their size could be what slows others; 4 KiB each is more than any needs */

/* How many there are, how many of one user, and what those take up. */
struct tally {
	size_t all, own;
	uint64_t bytes;
};
void leases_tally(const struct leases *ls, uint32_t uid, struct tally *out);
/* May what he has take up so many bytes more? */
bool tally_has_room(const struct tally *t, size_t bytes);
/* May he have no other, one of so many bytes?  Root's size is nobody's to limit. */
bool tally_is_full(const struct tally *t, uint32_t uid, size_t bytes);

/* ls->v[at], whose file was removed; another one takes its place. */
void leases_forget(struct leases *ls, size_t at);

#endif
