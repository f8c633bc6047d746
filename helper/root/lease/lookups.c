/* See lookups.h. Compares texts, and looks at no file. */
#include "lookups.h"

#include <string.h>
#include <time.h>

#include "../../lease/lookupset.h"

#define MOUNTING_S 120		/* at most, from a user's grant until its folders are mounted */

int
lookups_check_hooks(const struct lease *l, size_t from, struct why *why)
{
	size_t i, k;

	for (i = from; l->container.hooked && l->container.host_root && i < l->lookups; i++)
		for (k = 0; k < from; k++)
			if (l->lookup[k].writable && lookup_passes(&l->lookup[i], &l->lookup[k]))
				return refuse(why, WHY_DENIED, "folder %s holds %s, a driver file or a CDI hook: a container whose "
				    "root is the host's root could change what root runs", l->lookup[k].path, l->lookup[i].path);
	return 0;
}

static const char *
name_for(const struct lease *holder, const struct lease *who)
{
	return holder->uid == who->uid ? holder->id : "of another user";
}

/*
 * Finds a lookup path of the set that leads through a folder which the writer may write to as the host's root; *through
 * is the lookup path of that folder. NULL: there is none.
 */
static const struct lookup *
find_through(const struct lookupset *own, const struct lease *writer, const struct lookup **through)
{
	const struct lookup *w = NULL;
	size_t i;

	for (i = 0; w == NULL && writer->container.host_root && i < writer->lookups; i++)
		if (writer->lookup[i].writable && (w = lookupset_through(own, &writer->lookup[i])) != NULL)
			*through = &writer->lookup[i];
	return w;
}

/*
 * Finds a writable folder of the set that is in a folder which the other container may write to as the host's root,
 * or that contains one: either container could move the inner folder. NULL: there is none.
 */
static const struct lookup *
find_nested(const struct lookupset *own, const struct lease *other)
{
	const struct lookup *w = NULL;
	size_t i;

	for (i = 0; w == NULL && other->container.host_root && i < other->lookups; i++)
		if (other->lookup[i].writable)
			w = lookupset_nested(own, &other->lookup[i]);
	return w;
}

/*
 * True while the runtime may still resolve the paths to the lease's folders. A user's runtime has only that user's
 * rights, and counts for MOUNTING_S only: a user who delays it for longer does so to keep others out.
 */
static bool
is_being_given(const struct lease *l)
{
	return l->container.init.pid == 0 && (l->uid == 0 || time(NULL) - l->since < MOUNTING_S);
}

/* Compares the lease with one other; «own» has the lease's lookup paths. */
static int
check_beside(const struct lease *o, const struct lease *l, const struct lookupset *own, struct why *why)
{
	const struct lookup *w, *through;

	if ((w = find_through(own, o, &through)) != NULL)
		return refuse(why, WHY_AGAIN, "%s lies in %s, which container %s may write to as the host's root, so that it "
		    "could redirect the path: give that container a user namespace, or try again when it is gone", w->path,
		    through->path, name_for(o, l));
	if (!l->container.host_root)
		return 0;
	/*
	 * The mounts of a container that exists can't be redirected any more. But if this one moved a folder to which that
	 * one writes as the host's root, nobody would know where it writes; and its hooks are still to be run.
	 */
	if ((is_being_given(o) || o->container.host_root || o->container.hooked) &&
	    (through = lookupset_crossed(own, o->lookup, o->lookups, &w)) != NULL)
		return refuse(why, WHY_AGAIN, "folder %s holds %s, which container %s %s: a container whose root is the host's "
		    "root can't have the folder rw meanwhile; try again later", through->path, w->path, name_for(o, l),
		    is_being_given(o) ? "is being given" : o->container.host_root ? "has, as the host's root" : "has for its hooks");
	if ((w = find_nested(own, o)) != NULL)
		return refuse(why, WHY_AGAIN, "folder %s lies in one that container %s may write to as the host's root, or "
		    "holds one: give one of the containers a user namespace, or try again when that container is gone", w->path,
		    name_for(o, l));
	return 0;
}

int
lookups_may_add(const struct leases *ls, const struct lease *l, struct why *why)
{
	autolookupset struct lookupset own;
	size_t i;

	if (!lookupset_make(&own, l->lookup, l->lookups))
		return refuse_nomem(why);
	for (i = 0; i < ls->n; i++)
		if (strcmp(ls->v[i]->key, l->key) != 0 && check_beside(ls->v[i], l, &own, why) == -1)
			return -1;
	return 0;
}

int
lookups_check_root(const struct lease *l, uint32_t uid, struct why *why)
{
	if (l->lookups == 0 || !l->container.host_root || uid == 0)
		return 0;
	return refuse(why, WHY_DENIED, "the container's ids include the host's root, and uid %u may not make such a "
	    "container: is linux.uidMappings missing?", uid);
}

void
lookups_keep_writable(struct lease *l)
{
	size_t i, kept = 0;

	/* its hooks are still to be run */
	if (l->container.hooked)
		return;
	for (i = 0; i < l->lookups; i++)
		if (l->container.host_root && l->lookup[i].writable)
			l->lookup[kept++] = l->lookup[i];
		else
			lookup_free(&l->lookup[i]);
	l->lookups = kept;
}
