/* See leasewrite.h.  Works beneath /run/gpuhelper only, which is root's. */
#include "leasewrite.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "../../base/cleanup.h"
#include "../self/state.h"
#include "queue.h"

/*
 * Names a new lease. Checks that the name still covers all that the lease has: others find a lease by
 * its name, or not at all.
 */
static int
name_it(struct lease *l, struct why *why)
{
	struct lease_name name;

	if (l->name[0] == '\0')
		lease_name_make(l, l->name);
	if (!lease_name_parse(l->name, &name) || !lease_name_covers(&name, l))
		return refuse(why, WHY_AGAIN, "container %s: its GPU's nodes changed meanwhile: try again", l->id);
	return 0;
}

/* A lease that is too long to be read would stop every grant. */
int
leases_write(const struct leases *ls, struct lease *l, struct why *why)
{
	autofree char *text = NULL;

	if (name_it(l, why) == -1)
		return -1;
	if ((text = lease_encode(l)) == NULL)
		return refuse_nomem(why);
	if (strlen(text) > LEASE_FILE_MAX)
		return refuse(why, WHY_AGAIN, "container %s: its lease would take %zu KiB, at most %d are allowed: its cgroup "
		    "or its folders have long names", l->id, strlen(text) >> 10, LEASE_FILE_MAX >> 10);
	if (state_write(ls->dir, l->name, text, strlen(text), 0600, why) == -1)
		return -1;
	queue_note_change(ls->dir);
	return 0;
}

int
leases_write_grown(const struct leases *ls, struct lease *l, struct why *why)
{
	autofree char *text = NULL;
	struct tally t;
	struct stat st;

	/* root's bytes are not limited */
	if (l->uid == 0)
		return leases_write(ls, l, why);
	if ((text = lease_encode(l)) == NULL)
		return refuse_nomem(why);
	leases_tally(ls, l->uid, &t);
	if (l->name[0] != '\0' && fstatat(ls->dir, l->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		t.bytes -= (uint64_t)st.st_size;
	if (!tally_has_room(&t, strlen(text)))
		return refuse(why, WHY_AGAIN, "container %s: with it, this user's leases would take more than %d MiB, the most "
		    "allowed: its cgroup or its nodes have long names", l->id, LEASES_MIB_PER_USER);
	return leases_write(ls, l, why);
}

static int
refuse_more(const struct tally *t, struct why *why)
{
	if (t->own < LEASES_PER_USER && t->all < LEASES_MAX)
		return refuse(why, WHY_AGAIN, "this user already has %zu containers with a grant, whose leases take %d MiB: "
		    "that is the most", t->own, LEASES_MIB_PER_USER);
	return refuse(why, WHY_AGAIN, "%s %zu containers with a grant already: that is the most",
	    t->own >= LEASES_PER_USER ? "this user has" : "there are", t->own >= LEASES_PER_USER ? t->own : t->all);
}

int
leases_may_add(const struct leases *ls, const struct lease *l, struct why *why)
{
	autofree char *text = lease_encode(l);
	struct tally t;
	size_t i;

	if (text == NULL)
		return refuse_nomem(why);
	for (i = 0; i < ls->n; i++)
		if (strcmp(ls->v[i]->key, l->key) == 0)
			return refuse(why, WHY_AGAIN, "container %s already has a lease, and is not gone", l->id);
	if (strlen(text) > LEASE_TEXT_MAX)
		return refuse(why, WHY_CONFIG, "the lease of this container's %zu folders would take %zu KiB, at most %d are "
		    "allowed: ask for fewer (GPUHELPER_FOLDERS)", l->lookups, strlen(text) >> 10, LEASE_TEXT_MAX >> 10);
	leases_tally(ls, l->uid, &t);
	return t.all >= LEASES_MAX || tally_is_full(&t, l->uid, strlen(text)) ? refuse_more(&t, why) : 0;
}
