/*
 * See askrelabel.h. Opens each folder, and passes it to gpuhelper-label (labeller.h), which goes through it. Must not
 * look at anything in the folder: a container, or its user, may be changing it at this moment.
 */
#include "askrelabel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/times.h"
#include "../../host/clock.h"
#include "../../host/file.h"
#include "../../host/folder/hardlinks.h"
#include "../child/labeller.h"
#include "../self/state.h"
#include "../self/timer.h"

#define STUCK_MS 8000		/* if a file system does not answer */

static int
check_hardlinks(struct why *why)
{
	const int are = hardlinks_protected();

	if (are == -1)
		return refuse(why, WHY_IO, "/proc/sys/fs/protected_hardlinks: %s", strerror(errno));
	return are == 1 ? 0 : refuse(why, WHY_CONFIG, "no folder is relabelled while any user may hard-link any file into "
	    "it: sysctl fs.protected_hardlinks=1");
}

/* Lets only one helper of a user label at a time: many of them could take up what all other users need. */
static int
lock_for_user(const struct peer *peer, int *user_lock, struct why *why)
{
	autoclose int locks = -1;
	char name[32];

	*user_lock = -1;
	if (peer->client.uid == 0)
		return 0;
	snprintf(name, sizeof(name), "folders-%u", peer->client.uid);
	if ((locks = state_dir("locks", why)) == -1)
		return -1;
	if ((*user_lock = state_lock(locks, name, LOCK_WAIT_MS, why)) != -1)
		return 0;
	return why->code != WHY_AGAIN ? -1 : refuse(why, WHY_AGAIN, "gpuhelper is labelling folders for another container "
	    "of uid %u: try again", peer->client.uid);
}

static int
begin_asking(struct ask_relabel *r, struct why *why)
{
	r->begun = clock_ms();
	return check_hardlinks(why) == -1 ? -1 : lock_for_user(r->peer, &r->user_lock, why);
}

/* Goes through one folder, within ms milliseconds from the start of the first one. */
static int
go_through_one(struct ask_relabel *r, const struct edit_mount *m, uint32_t number, enum label_verb verb, int64_t ms,
    struct why *why)
{
	const int root = file_root();
	autoclose int fd = -1;
	const struct process_id client = { r->peer->pid, r->peer->start };
	const int64_t left = r->begun + ms - clock_ms();
	struct label_query a;

	label_query_for(r->label, verb, m->source, &a);
	a.relabel = m->relabel;
	a.ms = left > 0 ? (uint32_t)left : 0;
	a.folder = number;
	/* folderwalk.c has seen where this path leads, and only root can change that since */
	end_after(STUCK_MS);
	if (root != -1)
		fd = file_open_beneath(root, m->source + 1, O_PATH | O_DIRECTORY);
	end_after(0);
	if (fd == -1)
		return refuse(why, WHY_IO, "folder %s: %s", m->source, strerror(errno));
	return labeller_ask_folder(&a, fd, &client, r->begun + STUCK_MS, &r->wrong[number], why);
}

/* Goes through all folders that are to be labelled: looks at them, or changes those with wrong labels. */
static int
go_through_all(struct ask_relabel *r, enum label_verb verb, int64_t ms, struct why *why)
{
	const struct edit_mount *m;
	uint32_t n = 0;
	size_t i;
	int ret = 0;

	for (i = 0; i < r->edits->mounts && ret == 0; i++) {
		m = &r->edits->mount[i];
		if (m->relabel == RELABEL_NO)
			continue;
		if (n == LABEL_FOLDERS_MAX)
			return refuse(why, WHY_CONFIG, "folder %s: one container can have at most %d folders that are relabelled",
			    m->source, LABEL_FOLDERS_MAX);
		if (r->begun == 0 && begin_asking(r, why) == -1)
			return -1;
		if (verb == LABEL_WALK || r->wrong[n] > 0)
			ret = go_through_one(r, m, n, verb, ms, why);
		n++;
	}
	return ret;
}

int
ask_relabel_walk(struct ask_relabel *r, struct why *why)
{
	r->failed = r->label->state != SELINUX_ABSENT && go_through_all(r, LABEL_WALK, LABEL_WALK_MS, why) == -1;
	return r->failed && r->label->state != SELINUX_PERMISSIVE ? -1 : 0;
}

int
ask_relabel_change(struct ask_relabel *r, struct why *why)
{
	if (r->failed || r->label->state == SELINUX_ABSENT || go_through_all(r, LABEL_CHANGE, LABEL_CHANGE_MS, why) == 0)
		return 0;
	return r->label->state == SELINUX_PERMISSIVE ? 0 : -1;
}

void
ask_relabel_end(struct ask_relabel *r)
{
	if (r->user_lock != -1)
		close(r->user_lock);
}
