/*
 * See birth.h. Runs as the host's root. Believes no text but its own records, and opens nothing that is not a regular
 * file of root's.
 */
#include "birth.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../host/cgroup.h"
#include "../host/file.h"
#include "../host/majors.h"
#include "../host/process.h"
#include "../host/spaces.h"
#include "../host/trust.h"
#include "../pure/cleanup.h"
#include "../pure/leasename.h"
#include "../pure/lines.h"
#include "namespace.h"

#define BIRTHS GPUHELPER_RUNDIR "/births"
#define BIRTH_VERSION 1
#define BIRTH_MAX 65536		/* bytes of a record */

void
birth_free(struct birth *b)
{
	free(b->gate);
	strlist_free(&b->cgroups);
	*b = (struct birth){ .gate = NULL };
}

int
birth_see(struct process_id init, struct birth *b, struct why *why)
{
	size_t gate;

	*b = (struct birth){ .init = init };
	if (!cgroup_own(init.pid, &b->cgroups, &gate) || !space_of(getpid(), "pid", &b->pids))
		return refuse(why, WHY_IO, "/proc/%d: the container's cgroups or namespaces can't be read: %s", init.pid,
		    strerror(errno));
	if (gate != SIZE_MAX && (b->gate = strdup(b->cgroups.v[gate])) == NULL)
		return refuse_nomem(why);
	return 0;
}

static void
cgroup_words(struct lines *s, struct strlist *cgroups)
{
	char *dir;
	size_t i;

	for (i = 0; lines_more(s, "cgroup", i < cgroups->n); i++) {
		dir = i < cgroups->n ? cgroups->v[i] : NULL;
		word_copy(s, &dir);
		if (i < cgroups->n)
			continue;
		if (dir != NULL && !strlist_add(cgroups, dir, SIZE_MAX))
			lines_starve(s);
		free(dir);
	}
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
	word_copy_if_any(s, &b->gate);
	cgroup_words(s, &b->cgroups);
	return lines_finish(s);
}

/* Opens the directory of the records; with «make», makes it if it is missing. */
static int
open_births(bool make, struct why *why)
{
	if (make && mkdir(BIRTHS, 0700) == -1 && errno != EEXIST)
		return refuse(why, WHY_IO, BIRTHS ": %s: its containers' GPUs could not be given back", strerror(errno));
	return trust_open_dir(BIRTHS, true, why);
}

static int
write_record(int dir, const char *key, const struct buf *text, struct why *why)
{
	char temporary[LEASE_KEY_SIZE + 24];
	autoclose int fd = -1;

	snprintf(temporary, sizeof(temporary), ".%s.%d", key, (int)getpid());
	(void)unlinkat(dir, temporary, 0);
	if ((fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)) != -1 &&
	    write(fd, text->p, text->len) == (ssize_t)text->len && renameat(dir, temporary, dir, key) == 0)
		return 0;
	refuse(why, WHY_IO, BIRTHS "/%s: %s", key, strerror(errno));
	(void)unlinkat(dir, temporary, 0);
	return -1;
}

int
birth_record(const char *key, const struct birth *b, struct why *why)
{
	autoclose int dir = open_births(true, why);
	autobuf struct buf text = { 0 };
	struct lines s = { .out = &text };
	struct birth copy = *b;

	if (dir == -1)
		return -1;
	if (!birth_lines(&s, &copy) || text.failed)
		return refuse_nomem(why);
	return write_record(dir, key, &text, why);
}

static int
read_record(int dir, const char *key, struct birth *b, struct why *why)
{
	autofree char *text = NULL;
	struct lines s = { .out = NULL };
	size_t len;

	*b = (struct birth){ .gate = NULL };
	if ((text = trust_read(dir, key, key, BIRTH_MAX, true, &len, why)) == NULL)
		return -1;
	s.at = text;
	s.end = text + len;
	return birth_lines(&s, b) ? 0 : refuse(why, WHY_DATA, BIRTHS "/%s: it is no birth record of this version", key);
}

static bool
is_same_process(const struct birth *b, struct process_id init)
{
	uint64_t pids;

	/* in another PID namespace the container's process has another number, but the same start time */
	return b->init.start == init.start &&
	    (b->init.pid == init.pid || !space_of(getpid(), "pid", &pids) || pids != b->pids);
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
compare(const struct birth *b, const char *id, struct process_id init, const struct strlist *cgroups, const char *gate,
    struct why *why)
{
	const char *what = !is_same_process(b, init) ? "first process" : !has_cgroups(b, cgroups) ? "cgroup" :
	    gate != NULL && (b->gate == NULL || strcmp(b->gate, gate) != 0) ? "device cgroup" : NULL;

	return what == NULL ? 0 : refuse(why, WHY_DENIED, "container %s: its %s is not what gpuhelper-runc saw when the "
	    "container was made: nothing is done to it", id, what);
}

static int
check_record(const char *key, const char *id, struct process_id init, const struct strlist *cgroups, const char *gate,
    struct why *why)
{
	autoclose int dir = -1;
	struct birth b = { .gate = NULL };
	struct why unread;
	int ret;

	if ((dir = open_births(false, &unread)) == -1 || read_record(dir, key, &b, &unread) == -1)
		ret = refuse(why, WHY_DENIED, "container %s: gpuhelper-runc has no record of having made it (%.200s): nothing is "
		    "done to it", id, unread.text);
	else
		ret = compare(&b, id, init, cgroups, gate, why);
	birth_free(&b);
	return ret;
}

int
birth_check(const char *key, const char *id, struct process_id init, const struct strlist *cgroups, struct why *why)
{
	return check_record(key, id, init, cgroups, NULL, why);
}

static int
check_nodes(const struct chore *c, struct why *why)
{
	const int root = file_root();
	struct devmajors majors = { 0 };
	int ret = root == -1 ? refuse(why, WHY_IO, "/: %s", strerror(errno)) : majors_read(root, &majors, why);
	size_t i;

	for (i = 0; ret == 0 && i < c->nodes; i++)
		if (!devmajors_is_gpu(&majors, c->node[i].major))
			ret = refuse(why, WHY_DENIED, "container %s: device %u:%u is no GPU's: nothing is done to it", c->id,
			    c->node[i].major, c->node[i].minor);
	devmajors_free(&majors);
	return ret;
}

int
birth_check_chore(const struct chore *c, struct why *why)
{
	return check_record(c->lease, c->id, c->init, &c->cgroups, c->gate != NULL ? c->gate : "", why) == -1 ? -1 :
	    check_nodes(c, why);
}

void
birth_forget(const char *key)
{
	autoclose int dir = -1;
	struct why ignored;

	if (namespace_outer_uid() == 0 && (dir = open_births(false, &ignored)) != -1)
		(void)unlinkat(dir, key, 0);
}

void
births_clean(void)
{
	struct birth b;
	struct why ignored;
	struct dirent *e;
	uint64_t pids;
	int dir;
	DIR *d;

	if (namespace_outer_uid() != 0 || (dir = open_births(false, &ignored)) == -1 || (d = file_list(dir)) == NULL)
		return;
	while (space_of(getpid(), "pid", &pids) && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		if (read_record(dirfd(d), e->d_name, &b, &ignored) == 0 && b.pids == pids && !process_id_lives(b.init))
			(void)unlinkat(dirfd(d), e->d_name, 0);
		birth_free(&b);
	}
	closedir(d);
}
