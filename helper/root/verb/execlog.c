/*
 * VERB_EXEC: a process is about to start in a container that has a lease. The audit log records that. Changes nothing:
 * a task takes its GPUs by itself (task.c).
 */
#include <stdio.h>
#include <string.h>

#include "../../host/file.h"
#include "../enter/owncgroup.h"
#include "../lease/leaselist.h"
#include "../log/audit.h"
#include "execlog.h"
#include "verb.h"

/* Names the lease's GPUs. The request names none. */
static bool
name_gpus(const struct lease *l, struct strlist *out)
{
	char name[64];
	size_t i;

	for (i = 0; i < l->gpus; i++) {
		name_leased_gpu(&l->gpu[i], name);
		if (!strlist_add(out, name, SIZE_MAX))
			return false;
	}
	return true;
}

void
exec_log(int audit, const struct peer *peer, const struct lease *l, struct reply *reply)
{
	const struct request about = { .id = l->id };
	struct record rec = { .event = "exec", CLIENT_OF(peer), .request = &about, .policy = l->policy };
	autostrlist struct strlist gpus = { 0 };
	autoattribution struct attribution whose = { .exp = 0 };
	char line[REPLY_TEXT_MAX];
	struct why why;

	if (l->tasks.who != NULL && attribution_unpack(l->tasks.who, &whose))
		rec.whose = &whose;
	else
		rec.of_lease = l->pipeline;
	if (name_gpus(l, &gpus))
		rec.gpus = &gpus;
	/* no message if the user has used up his share of the log: the log says that itself */
	if (audit_write_counted(audit, &rec, RATE_EXEC, &why) != -1)
		return;
	memcpy(line, reply->text, sizeof(line));
	snprintf(reply->text, sizeof(reply->text), "%.320s%sthis exec is not in " GPUHELPER_LOGDIR "/audit.jsonl: %.100s",
	    line, line[0] != '\0' ? "; " : "", why.text);
}

/* Says in *reply what the process will have of a container's promised GPUs. */
static void
describe(const struct lease *l, struct reply *reply)
{
	char line[LEASE_LINE_MAX];

	if (lease_only_promises(l) || l->state == LEASE_ACQUIRING) {
		snprintf(reply->text, sizeof(reply->text), "no GPU yet: the task takes it; «env " GPUHELPER_AGAIN " COMMAND» takes "
		    "one for COMMAND");
		return;
	}
	lease_describe(l, line);
	snprintf(reply->text, sizeof(reply->text), "%s", line);
}

/*
 * 0: *held is a copy of the container's lease. 1: there is no lease, or only that of an ended container of the same
 * name, which stays because a folder of that container has leaked. -1 with *why.
 */
static int
copy_lease(const struct peer *peer, const struct request *r, struct lease *held, struct why *why)
{
	autoleases struct leases ls = LEASES_CLOSED;
	struct lease *l;
	char key[LEASE_KEY_SIZE];

	lease_key(peer->client.uid, r->runtime_root, r->id, key);
	if (leases_lock(&ls, peer->client.uid, why) == -1 || leases_read(&ls, &(struct lease_query){ .key = key }, why) == -1)
		return -1;
	l = leases_find(&ls, peer->client.uid, r->runtime_root, r->id);
	return l == NULL || l->state == LEASE_LEAKED ? 1 : lease_copy(l, held, why);
}

void
verb_exec(const struct peer *peer, const struct request *r, struct reply *reply)
{
	autoclose int audit = audit_open(&reply->why);
	struct lease held = { .id = NULL };
	int ret = -1;

	if (audit != -1 && leave_cgroup(peer->starter, &reply->why) == 0)
		ret = copy_lease(peer, r, &held, &reply->why);
	reply->kind = ret != -1 ? REPLY_DONE : reply->why.code == WHY_AGAIN ? REPLY_BUSY : REPLY_REFUSED;
	if (ret == 0) {
		if (held.gpus_by_task)
			describe(&held, reply);
		exec_log(audit, peer, &held, reply);
	}
	lease_free(&held);
}
