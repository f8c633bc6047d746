/* See taskuser.h.  Reads /etc/passwd and /etc/subuid. */
#include "taskuser.h"

#include "../../host/users.h"

#define NO_ONES_ID (UINT32_MAX - 1)	/* Concourse maps its containers' root to this id */
#define SUBUIDS_MAX 64

static void
map(struct idmap *m, uint32_t inside, uint32_t outside, uint32_t size)
{
	m->v[m->n++] = (struct idrange){ inside, outside, size };
}

/* Maps root to the user, and the ids from 1 on to the user's subordinate ids. */
static void
map_user(uint32_t uid, const char *name, uint32_t gid, struct task_user *t)
{
	uint32_t first[SUBUIDS_MAX], size[SUBUIDS_MAX], next = 1;
	int i, n = user_subuids(uid, name, first, size, SUBUIDS_MAX);

	map(&t->uids, 0, uid, 1);
	map(&t->gids, 0, gid, 1);
	for (i = 0; i < n; i++) {
		map(&t->uids, next, first[i], size[i]);
		/* useradd(8) writes the same ranges to /etc/subuid and /etc/subgid */
		map(&t->gids, next, first[i], size[i]);
		next += size[i];
	}
}

void
task_user_of(uint32_t uid, const char *name, struct task_user *out)
{
	const struct request r = { .spec.dac_override = true };
	uint32_t same, gid = uid;

	*out = (struct task_user){ 0 };
	if (name != NULL)
		(void)user_uid(name, &same, &gid);
	if (uid == 0) {
		map(&out->uids, 0, NO_ONES_ID, 1);
		map(&out->uids, 1, 1, NO_ONES_ID - 1);
		out->gids = out->uids;
	} else
		map_user(uid, name, gid, out);
	subject_of(&r, &out->uids, &out->gids, &out->subject);
}
