/*
 * See birth.h. Runs as the host's root. Believes no text but its own records, and opens nothing that is not a regular
 * file of root's.
 */
#include "birth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/lines.h"
#include "../../host/cgroup/cgroup.h"
#include "../../host/file.h"
#include "../../host/gpu/majors.h"
#include "../../host/process/process.h"
#include "../../host/process/spaces.h"
#include "../../host/trust.h"
#include "../../lease/leasefile.h"
#include "../../lease/leasename.h"
#include "births.h"

#define BIRTH_VERSION 1
#define BIRTH_MAX LEASE_FILE_MAX	/* bytes of a record, whose names are those of the lease */
#define NODES_MAX 4096

void
birth_free(struct birth *b)
{
	free(b->devcgroup);
	free(b->node);
	strlist_free(&b->cgroups);
	*b = (struct birth){ .devcgroup = NULL };
}

int
birth_see(struct process_id init, struct birth *b, struct why *why)
{
	size_t devcgroup;

	*b = (struct birth){ .init = init };
	if (!cgroup_own(init.pid, &b->cgroups, &devcgroup) || !space_of(getpid(), "pid", &b->pids))
		return refuse(why, WHY_IO, "/proc/%d: the container's cgroups or namespaces can't be read: %s", init.pid,
		    strerror(errno));
	if (devcgroup != SIZE_MAX && (b->devcgroup = strdup(b->cgroups.v[devcgroup])) == NULL)
		return refuse_nomem(why);
	return 0;
}

static void
node_words(struct lines *s, void *member)
{
	struct devnum *n = member;

	word_u32(s, &n->major);
	word_u32(s, &n->minor);
}

/* Writes or reads a record. */
static bool
birth_lines(struct lines *s, struct birth *b)
{
	uint32_t version = BIRTH_VERSION;

	lines_begin(s, "birth");
	word_u32(s, &version);
	s->failed = s->failed || version != BIRTH_VERSION;
	lines_begin(s, "init");
	process_id_words(s, &b->init);
	word_u64(s, &b->pids);
	lines_begin(s, "gate");
	word_bool(s, &b->promised);
	word_copy_if_any(s, &b->devcgroup);
	lines_texts(s, "cgroup", &b->cgroups);
	lines_members(s, "node", (void **)&b->node, &b->nodes, NODES_MAX, sizeof(*b->node), node_words);
	return lines_finish(s);
}

int
birth_record(const char *key, const struct birth *b, struct why *why)
{
	autobuf struct buf text = { 0 };
	struct lines s = { .out = &text };
	struct birth copy = *b;

	if (!birth_lines(&s, &copy) || text.failed)
		return refuse_nomem(why);
	return births_write(key, &text, why);
}

static int
read_record(int dir, const char *key, struct birth *b, struct why *why)
{
	autofree char *text = NULL;
	struct lines s = { .out = NULL };
	size_t len;

	*b = (struct birth){ .devcgroup = NULL };
	if ((text = trust_read(dir, key, key, BIRTH_MAX, true, &len, why)) == NULL)
		return -1;
	s.at = text;
	s.end = text + len;
	return birth_lines(&s, b) ? 0 : refuse(why, WHY_DATA, BIRTHS "/%s: it is no birth record of this version", key);
}

static bool
has_cgroups(const struct birth *b, const struct strlist *cgroups)
{
	size_t i;

	for (i = 0; i < cgroups->n; i++)
		if (!strlist_has(&b->cgroups, cgroups->v[i]))
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
birth_check(const char *key, const char *id, struct process_id init, const struct strlist *cgroups, struct birth *b,
    struct why *why)
{
	struct why unread;
	autoclose int dir = trust_open_dir(BIRTHS, true, &unread);

	*b = (struct birth){ .devcgroup = NULL };
	if (dir == -1 || read_record(dir, key, b, &unread) == -1)
		return refuse(why, WHY_DENIED, "container %s: gpuhelper-runc has no record of having made it (%.200s): nothing is "
		    "done to it", id, unread.text);
	if (!process_id_same(&b->init, &init))
		return refuse_other(id, "first process", why);
	return has_cgroups(b, cgroups) ? 0 : refuse_other(id, "cgroup", why);
}

/* True if the chore names no device but the recorded ones. */
static bool
has_nodes(const struct birth *b, const struct chore *c)
{
	size_t i, k;

	for (i = 0; i < c->nodes; i++) {
		for (k = 0; k < b->nodes && (b->node[k].major != c->node[i].major || b->node[k].minor != c->node[i].minor); k++)
			;
		if (k == b->nodes)
			return false;
	}
	return true;
}

static int
check_nodes(const struct birth *b, const char *id, struct why *why)
{
	const int root = file_root();
	struct devmajors majors = { 0 };
	int ret = root == -1 ? refuse(why, WHY_IO, "/: %s", strerror(errno)) : majors_read(root, &majors, why);
	size_t i;

	for (i = 0; ret == 0 && i < b->nodes; i++)
		if (!devmajors_is_gpu(&majors, b->node[i].major))
			ret = refuse(why, WHY_DENIED, "container %s: device %u:%u is no GPU's: nothing is done to it", id,
			    b->node[i].major, b->node[i].minor);
	devmajors_free(&majors);
	return ret;
}

int
birth_check_chore(const struct chore *c, struct birth *b, struct why *why)
{
	if (birth_check(c->lease, c->id, c->init, &c->cgroups, b, why) == -1)
		return -1;
	if (!b->promised)
		return refuse(why, WHY_DENIED, "container %s was not promised GPUs: nothing is done to it", c->id);
	if (b->devcgroup == NULL || c->gate == NULL || strcmp(b->devcgroup, c->gate) != 0)
		return refuse_other(c->id, "device cgroup", why);
	return has_nodes(b, c) ? check_nodes(b, c->id, why) : refuse_other(c->id, "list of devices", why);
}

bool
birth_has_our_numbers(const struct birth *b)
{
	uint64_t pids;

	return space_of(getpid(), "pid", &pids) && pids == b->pids;
}

void
birth_clean(int dir, const char *key)
{
	struct birth b;
	struct why ignored;

	if (read_record(dir, key, &b, &ignored) == 0 && birth_has_our_numbers(&b) && !process_id_lives(b.init))
		(void)unlinkat(dir, key, 0);
	birth_free(&b);
}
