/*
 * See containerrecord.h. Runs as the host's root. Believes no text but its own records, and opens nothing that is not a
 * regular file of root's.
 */
#include "containerrecord.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/lines.h"
#include "../../host/cgroup/cgroup.h"
#include "../../host/file.h"
#include "../../host/gpu/majors.h"
#include "../../host/process/namespaces.h"
#include "../../host/process/process.h"
#include "../../host/trust.h"
#include "../../lease/leasefile.h"
#include "../../lease/leasename.h"
#include "recorddir.h"

#define RECORD_VERSION 1
#define RECORD_MAX LEASE_FILE_MAX	/* bytes of a record, whose names are those of the lease */
#define NODES_MAX 4096

void
container_record_free(struct container_record *r)
{
	free(r->devcgroup);
	free(r->node);
	strlist_free(&r->cgroups);
	*r = (struct container_record){ .devcgroup = NULL };
}

int
container_record_fill(struct process_id init, struct container_record *r, struct why *why)
{
	size_t devcgroup;

	*r = (struct container_record){ .init = init };
	if (!cgroup_own(init.pid, &r->cgroups, &devcgroup) || !ns_of(getpid(), "pid", &r->pids))
		return refuse(why, WHY_IO, "/proc/%d: the container's cgroups or namespaces can't be read: %s", init.pid,
		    strerror(errno));
	if (devcgroup != SIZE_MAX && (r->devcgroup = strdup(r->cgroups.v[devcgroup])) == NULL)
		return refuse_nomem(why);
	return 0;
}

static void
node_fields(struct lines *s, void *member)
{
	struct devnum *n = member;

	field_u32(s, &n->major);
	field_u32(s, &n->minor);
}

/* Writes or reads a record. */
static bool
record_lines(struct lines *s, struct container_record *r)
{
	uint32_t version = RECORD_VERSION;

	lines_begin(s, "birth");
	field_u32(s, &version);
	s->failed = s->failed || version != RECORD_VERSION;
	lines_begin(s, "init");
	process_id_fields(s, &r->init);
	field_u64(s, &r->pids);
	lines_begin(s, "gate");
	field_bool(s, &r->promised);
	field_copy_if_any(s, &r->devcgroup);
	lines_texts(s, "cgroup", &r->cgroups);
	lines_members(s, "node", (void **)&r->node, &r->nodes, NODES_MAX, sizeof(*r->node), node_fields);
	return lines_finish(s);
}

int
container_record_write(const char *key, const struct container_record *r, struct why *why)
{
	autobuf struct buf text = { 0 };
	struct lines s = { .out = &text };
	struct container_record copy = *r;

	if (!record_lines(&s, &copy) || text.failed)
		return refuse_nomem(why);
	return record_dir_write(key, &text, why);
}

static int
read_record(int dir, const char *key, struct container_record *r, struct why *why)
{
	autofree char *text = NULL;
	struct lines s = { .out = NULL };
	size_t len;

	*r = (struct container_record){ .devcgroup = NULL };
	if ((text = trust_read(dir, key, key, RECORD_MAX, true, &len, why)) == NULL)
		return -1;
	s.at = text;
	s.end = text + len;
	return record_lines(&s, r) ? 0 : refuse(why, WHY_DATA, RECORD_DIR "/%s: it is no birth record of this version", key);
}

static bool
has_cgroups(const struct container_record *r, const struct strlist *cgroups)
{
	size_t i;

	for (i = 0; i < cgroups->n; i++)
		if (!strlist_has(&r->cgroups, cgroups->v[i]))
			return false;
	return true;
}

static int
refuse_other(const char *id, const char *what, struct why *why)
{
	return refuse(why, WHY_DENIED, "container %s: its %s is not what gpuhelper-runc saw when the container was made: "
	    "nothing is done to it", id, what);
}

int
container_record_check(const char *key, const char *id, struct process_id init, const struct strlist *cgroups,
    struct container_record *r, struct why *why)
{
	struct why unread;
	autoclose int dir = trust_open_dir(RECORD_DIR, true, &unread);

	*r = (struct container_record){ .devcgroup = NULL };
	if (dir == -1 || read_record(dir, key, r, &unread) == -1)
		return refuse(why, WHY_DENIED, "container %s: gpuhelper-runc has no record of having made it (%.200s): nothing is "
		    "done to it", id, unread.text);
	if (!process_id_same(&r->init, &init))
		return refuse_other(id, "first process", why);
	return has_cgroups(r, cgroups) ? 0 : refuse_other(id, "cgroup", why);
}

/* True if the operation names no device but the recorded ones. */
static bool
has_nodes(const struct container_record *r, const struct caller_op *c)
{
	size_t i, k;

	for (i = 0; i < c->nodes; i++) {
		for (k = 0; k < r->nodes && (r->node[k].major != c->node[i].major || r->node[k].minor != c->node[i].minor); k++)
			;
		if (k == r->nodes)
			return false;
	}
	return true;
}

static int
check_nodes(const struct container_record *r, const char *id, struct why *why)
{
	const int root = file_root();
	struct devmajors majors = { 0 };
	int ret = root == -1 ? refuse(why, WHY_IO, "/: %s", strerror(errno)) : majors_read(root, &majors, why);
	size_t i;

	for (i = 0; ret == 0 && i < r->nodes; i++)
		if (!devmajors_is_gpu(&majors, r->node[i].major))
			ret = refuse(why, WHY_DENIED, "container %s: device %u:%u is no GPU's: nothing is done to it", id,
			    r->node[i].major, r->node[i].minor);
	devmajors_free(&majors);
	return ret;
}

int
container_record_check_op(const struct caller_op *c, struct container_record *r, struct why *why)
{
	if (container_record_check(c->lease, c->id, c->init, &c->cgroups, r, why) == -1)
		return -1;
	if (!r->promised)
		return refuse(why, WHY_DENIED, "container %s was not promised GPUs: nothing is done to it", c->id);
	if (r->devcgroup == NULL || c->devcgroup == NULL || strcmp(r->devcgroup, c->devcgroup) != 0)
		return refuse_other(c->id, "device cgroup", why);
	return has_nodes(r, c) ? check_nodes(r, c->id, why) : refuse_other(c->id, "list of devices", why);
}

bool
container_record_has_our_pids(const struct container_record *r)
{
	uint64_t pids;

	return ns_of(getpid(), "pid", &pids) && pids == r->pids;
}

void
container_record_clean(int dir, const char *key)
{
	struct container_record r;
	struct why ignored;

	if (read_record(dir, key, &r, &ignored) == 0 && container_record_has_our_pids(&r) && !process_id_lives(r.init))
		(void)unlinkat(dir, key, 0);
	container_record_free(&r);
}
