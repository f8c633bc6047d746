/*
 * See leaselist.h. Works beneath /run/gpuhelper only, which is root's. Must fail at what it can't understand, and
 * never pass over it.
 */
#include "leaselist.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/times.h"
#include "../../host/clock.h"
#include "../../host/file.h"
#include "../../host/trust.h"
#include "../self/state.h"
#include "ledger.h"

#define FILES_MAX (1 << 20)
#define LEASE_ROOM (256 << 10)	/* bytes; more than most leases have, even with a thousand folders */

static int
by_lease_name(const void *text, const void *file)
{
	return strcmp(text, ((const struct lease_file *)file)->text);
}

static int
list(struct leases *ls, struct why *why)
{
	struct lease_file *f;
	size_t i;

	if (state_list(ls->dir, GPUHELPER_RUNDIR "/leases", FILES_MAX, &ls->names, why) == -1)
		return -1;
	if ((ls->file = calloc(ls->names.n + 1, sizeof(*ls->file))) == NULL ||
	    (ls->v = calloc(ls->names.n + 1, sizeof(struct lease *))) == NULL)
		return refuse_nomem(why);
	for (i = 0; i < ls->names.n; i++) {
		f = &ls->file[ls->files];
		*f = (struct lease_file){ .text = ls->names.v[i] };
		/* a file with a dot in its name holds nothing: its writer died before it renamed the file */
		if (strchr(f->text, '.') != NULL)
			(void)unlinkat(ls->dir, f->text, 0);
		else if (lease_name_parse(f->text, &f->name))
			ls->files++;
		else
			return refuse(why, WHY_CONFIG, "%s/leases/%.200s is not a lease's name: no GPU is given out while it is there",
			    GPUHELPER_RUNDIR, f->text);
	}
	return 0;
}

/*
 * Requests that have a lease already wait for a second lock, whose name ends in «second». Fewer wait for it than for
 * that of new requests.
 */
static int
open_within(struct leases *ls, uint32_t uid, const char *second, int wait_ms, struct why *why)
{
	const int64_t until = clock_ms() + wait_ms;
	autoclose int locks = -1;
	char user_lock[32];
	int64_t left;

	*ls = (struct leases){ .dir = -1, .lock = -1, .user_lock = -1 };
	ledger_forget();
	snprintf(user_lock, sizeof(user_lock), "user-%u%s", uid, second);
	/* root goes on even if there can be no such lock */
	if (((locks = state_dir("locks", why)) == -1 || (ls->user_lock = state_lock(locks, user_lock, wait_ms, why)) == -1) &&
	    (uid != 0 || why->code == WHY_AGAIN))
		return -1;
	left = until - clock_ms();
	return (ls->dir = state_dir("leases", why)) == -1 ||
	    (ls->lock = state_lock(ls->dir, "../lock", left > 1 ? (int)left : 1, why)) == -1 ? -1 : list(ls, why);
}

int
leases_lock(struct leases *ls, uint32_t uid, struct why *why)
{
	return open_within(ls, uid, "", LOCK_WAIT_MS, why);
}

int
leases_lock_as_holder(struct leases *ls, uint32_t uid, struct why *why)
{
	return open_within(ls, uid, "-again", LOCK_AGAIN_MS, why);
}

void
leases_close(struct leases *ls)
{
	size_t i;

	for (i = 0; i < ls->n; i++) {
		lease_free(ls->v[i]);
		free(ls->v[i]);
	}
	free(ls->v);
	free(ls->file);
	strlist_free(&ls->names);
	ledger_forget();
	if (ls->lock != -1)
		close(ls->lock);
	if (ls->user_lock != -1)
		close(ls->user_lock);
	if (ls->dir != -1)
		close(ls->dir);
	*ls = (struct leases){ .dir = -1, .lock = -1, .user_lock = -1 };
}

void
leases_forget(struct leases *ls, size_t at)
{
	struct lease *l = ls->v[at];
	struct lease_file *f = bsearch(l->name, ls->file, ls->files, sizeof(*f), by_lease_name);

	if (f != NULL)
		f->gone = true;
	lease_free(l);
	free(l);
	ls->v[at] = ls->v[--ls->n];
}

void
leases_tally(const struct leases *ls, uint32_t uid, struct tally *out)
{
	const struct lease_file *f;

	struct stat st;

	*out = (struct tally){ 0 };
	for (f = ls->file; f < ls->file + ls->files; f++) {
		if (f->gone)
			continue;
		out->all++;
		if (f->name.uid != uid)
			continue;
		out->own++;
		if (fstatat(ls->dir, f->text, &st, AT_SYMLINK_NOFOLLOW) == 0)
			out->bytes += (uint64_t)st.st_size;
	}
}

bool
tally_has_room(const struct tally *t, size_t bytes)
{
	return t->bytes + bytes <= (uint64_t)LEASES_MIB_PER_USER << 20;
}

bool
tally_is_full(const struct tally *t, uint32_t uid, size_t bytes)
{
	return t->own >= LEASES_PER_USER || (uid != 0 && !tally_has_room(t, bytes));
}

/* Reading. */

static int
refuse_file(const char *shown, struct why *why)
{
	return refuse(why, WHY_CONFIG, "%s is not a lease of this version: no GPU is given out while it is there (make "
	    "sure that its container is gone, then remove it)", shown);
}

/* Reads one lease. 1: it does not exist any more. */
static int
load_lease(int dir, const struct lease_file *f, struct lease *l, struct why *why)
{
	autofree char *text = NULL;
	char shown[sizeof(GPUHELPER_RUNDIR) + 300];
	enum trust_found found;
	size_t len;

	snprintf(shown, sizeof(shown), "%s/leases/%s", GPUHELPER_RUNDIR, f->text);
	/* its helper took it back since the files were listed: it holds nothing */
	if ((found = trust_find_text(dir, f->text, shown, LEASE_FILE_MAX, true, &text, &len, why)) != TRUST_FOUND)
		return found == TRUST_ABSENT || found == TRUST_REPLACED ? 1 : -1;
	memcpy(l->key, f->name.key, sizeof(l->key));
	snprintf(l->name, sizeof(l->name), "%s", f->text);
	if (lease_decode(text, len, l, why) == -1)
		return why->code == WHY_CONFIG ? refuse_file(shown, why) : refuse_within(why, shown);
	if (lease_name_covers(&f->name, l))
		return 0;
	lease_free(l);
	return refuse_file(shown, why);
}

static int
read_one(struct leases *ls, struct lease_file *f, struct why *why)
{
	struct lease *l = calloc(1, sizeof(*l));
	int ret;

	if (l == NULL)
		return refuse_nomem(why);
	f->read = true;
	if ((ret = load_lease(ls->dir, f, l, why)) != 0) {
		free(l);
		f->gone = ret == 1;
		return ret == 1 ? 0 : -1;
	}
	f->name.uid = l->uid;
	ls->v[ls->n++] = l;
	return 0;
}

static bool
is_queried(const struct lease_file *f, const struct lease_query *which)
{
	return which->all || (which->of_user && f->name.uid == which->uid) || (f->name.flags & which->flags) != 0 ||
	    (which->key != NULL && strcmp(f->name.key, which->key) == 0) ||
	    (which->keys != NULL && strlist_has(which->keys, f->name.key)) ||
	    lease_name_may_have(&f->name, &which->bloom);
}

static int
read_those(struct leases *ls, const struct lease_query *which, struct why *why)
{
	struct lease_file *f;

	for (f = ls->file; f < ls->file + ls->files; f++)
		if (!f->read && !f->gone && is_queried(f, which) && read_one(ls, f, why) == -1)
			return -1;
	return 0;
}

/*
 * A user near the limit has all of his leases read, so that those that are over can end. If there can be no more
 * leases at all, all are read.
 */
static int
read_for_room(struct leases *ls, const struct lease_query *which, struct why *why)
{
	struct lease_query more = { .uid = which->uid };
	struct tally t;

	leases_tally(ls, which->uid, &t);
	more.all = t.all >= LEASES_MAX;
	more.of_user = tally_is_full(&t, which->uid, LEASE_ROOM);
	return read_those(ls, &more, why);
}

int
leases_read(struct leases *ls, const struct lease_query *which, struct why *why)
{
	return read_those(ls, which, why) == -1 ? -1 : which->new_lease ? read_for_room(ls, which, why) : 0;
}

static int
by_key(const void *key, const void *file)
{
	return strcmp(key, ((const struct lease_file *)file)->name.key);
}

/* The name begins with the key, so the files are in the order of their keys, too. */
bool
leases_have(const struct leases *ls, const char *key)
{
	const struct lease_file *f = bsearch(key, ls->file, ls->files, sizeof(*f), by_key);

	return f != NULL && !f->gone;
}

static struct lease *
find_key(const struct leases *ls, const char *key)
{
	size_t i;

	for (i = 0; i < ls->n; i++)
		if (strcmp(ls->v[i]->key, key) == 0)
			return ls->v[i];
	return NULL;
}

struct lease *
leases_find(const struct leases *ls, uint32_t uid, const char *root, const char *id)
{
	char key[LEASE_KEY_SIZE];

	lease_key(uid, root, id, key);
	return find_key(ls, key);
}

struct lease *
leases_find_of(struct leases *ls, const char *key, struct process_id asker, const char *boot, struct why *why)
{
	struct lease *l;

	if (leases_read(ls, &(struct lease_query){ .key = key }, why) == -1)
		return NULL;
	if ((l = find_key(ls, key)) != NULL && process_id_same(&l->asker, &asker) && strcmp(l->boot, boot) == 0)
		return l;
	refuse(why, WHY_AGAIN, "the lease is gone: it does not outlive PID %d, which asked for it; try again", asker.pid);
	return NULL;
}
