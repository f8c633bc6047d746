/* See hostprocess.h. Must never make a file system answer, because it may be one that never does (FUSE). */
#include "hostprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "../../base/cleanup.h"
#include "../file.h"
#include "namespaces.h"
#include "opennode.h"
#include "process.h"
#include "threads.h"

static bool
host_process_of(int proc, const char *pid, struct host_process *out)
{
	struct statx st;
	char path[40];

	*out = (struct host_process){ 0 };
	if (!ns_find(proc, pid, "pid", &out->pids) || !ns_find(proc, pid, "user", &out->users))
		return false;
	/* without asking the file system, which may never answer (FUSE) */
	snprintf(path, sizeof(path), "%.15s/root", pid);
	if (statx(proc, path, AT_STATX_DONT_SYNC, STATX_INO, &st) == -1) {
		out->root_hidden = !process_is_gone(errno);
		return out->root_hidden;
	}
	out->root = st.stx_ino;
	out->root_major = st.stx_dev_major;
	out->root_minor = st.stx_dev_minor;
	return true;
}

static bool
same_as_hosts(const struct host_process *a, const struct host_process *b)
{
	return a->pids == b->pids && a->users == b->users && a->root == b->root && a->root_major == b->root_major &&
	    a->root_minor == b->root_minor;
}

/* True in the initial user namespace, whose uid_map is «0 0 4294967295» (user_namespaces(7)). */
static bool
in_first_namespace(int proc)
{
	autofree char *map = file_read_at(proc, "self/uid_map", 4096, NULL);
	unsigned inside, outside, size;

	return map == NULL || (sscanf(map, "%u %u %u", &inside, &outside, &size) == 3 && inside == 0 && outside == 0 &&
	    size == UINT32_MAX);
}

bool
host_process_find(int proc, struct host_process *out)
{
	if (!host_process_of(proc, "self", out) || out->root_hidden)
		return false;
	out->all_seen = in_first_namespace(proc);
	return true;
}

/* The same as host_process_of(), by any thread that lives. 0 if there is none. */
static int
host_process_of_any(int proc, const char *pid, char tid[16], struct host_process *out)
{
	struct rescan again = { 0 };
	bool missed = true;
	int found;

	/* mostly the first thread lives; one that has ended has no root directory */
	snprintf(tid, 16, "%.15s", pid);
	if (host_process_of(proc, tid, out))
		return 1;
	if (!process_is_gone(errno))
		return -1;
	do {
		if ((found = process_thread(proc, pid, tid)) != 1)
			return found;
		if (host_process_of(proc, tid, out))
			return 1;
		if (!process_is_gone(errno))
			return -1;
	} while (missed = true, rescan_due(&again, &missed));
	errno = EAGAIN;
	return -1;
}

int
process_in_container(const struct host_process *host, int proc, const char *pid, char tid[16])
{
	char ignored[16];
	struct host_process its;

	if (tid == NULL)
		tid = ignored;
	/* a zombie has nothing open; a process that is invisible here is no container's of this worker */
	switch (host_process_of_any(proc, pid, tid, &its)) {
	case 0:
		tid[0] = '\0';
		return 0;
	case -1:
		return !host->all_seen && (errno == EACCES || errno == EPERM) ? 0 : -1;
	}
	/*
	 * a root directory that can't be looked at is not ours: a user's FUSE may refuse even root, or fail
	 */
	if (its.root_hidden)
		return host->all_seen || (errno != EACCES && errno != EPERM);
	return !same_as_hosts(&its, host);
}
