/*
 * Leases: which container holds which GPU, kept in /run/gpuhelper/leases, a
 * file each.  Who asks reads what concerns him, and no more: others can have
 * thousands.  leasewrite.h writes them, leaseend.h ends them.
 */
#ifndef GPUHELPER_ROOT_LEASELIST_H
#define GPUHELPER_ROOT_LEASELIST_H

#include "../pure/leasename.h"
#include "../pure/why.h"

#define LEASES_PER_USER 512	/* or one user could leave nothing to the others */

#define LEASE_TEXT_MAX (LEASE_FILE_MAX - (128 << 10))	/* when it is admitted: cgroups and acts are to come */
#define LEASES_MIB_PER_USER 2	/* or their size could be what slows others; 4 KiB each is more than any needs */

/* One of the files that are there. */
struct lease_file {
	const char *text;	/* its name */
	struct lease_name name;	/* the same; of an old one uid is known once it was read */
	bool read, gone;
};

struct leases {
	int dir, lock, line;	/* the directory; the descriptors of the lock and of one's place in line, -1 while not held */
	struct strlist names;
	struct lease_file *file;	/* in the order of their names */
	size_t files;
	struct lease **v;	/* those that were read, and are there: they stay where they are while more are read */
	size_t n;
};
#define LEASES_CLOSED { .dir = -1, .lock = -1, .line = -1 }

/*
 * Which leases someone has to know.  He gets at least these: what else he is given
 * says nothing of what else there is.
 */
struct concern {
	bool all;
	bool of_user;		/* all of «uid» */
	bool admits;		/* «uid» is to get another: if he has nearly as many as he may, all of his */
	uint32_t uid;
	const char *key;	/* one container's; NULL: none */
	const struct strlist *keys;	/* some more; NULL: none */
	unsigned flags;		/* any with one of them (leasename.h) */
	struct marks marks;	/* any that has one of these GPUs, or an act on one of these nodes */
};

/*
 * Takes the lock (waits 1.5 s at most; the helpers of one user wait in a line of
 * their own first, so that at most one of each user is in everybody's), and sees
 * which leases there are.  None is read.  leases_close() in either case.
 */
int leases_open(struct leases *ls, uint32_t uid, struct why *why);
/*
 * The same for who has made a lease, which would hold its GPU on if this failed: he waits for longer, 4 s, and in
 * another line, without those who have none yet.
 */
int leases_open_again(struct leases *ls, uint32_t uid, struct why *why);
/*
 * Reads those that concern, and were not read before.  A file among them that can't
 * be read, or whose name does not say what the lease does, refuses everything, for it
 * may hold a GPU.
 */
int leases_read(struct leases *ls, const struct concern *c, struct why *why);
void leases_close(struct leases *ls);
#define autoleases __attribute__((cleanup(leases_close)))	/* begins as LEASES_CLOSED */

/* The lease of this container, if it was read; NULL if there is none. */
struct lease *leases_find(const struct leases *ls, uint32_t uid, const char *root, const char *id);

/*
 * The same, read if it was not, where it is the one that this process asked for: another may have ended
 * that meanwhile, and come to have the same name.  NULL with *why: it is not.
 */
struct lease *leases_find_asked(struct leases *ls, const char *key, struct process_id asker, const char *boot,
    struct why *why);

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
