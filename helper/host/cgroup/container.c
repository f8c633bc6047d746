/*
 * See container.h. Reads /proc and /sys/fs/cgroup. Where something can't be seen, answers what keeps a lease
 * alive.
 */
#include "container.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../base/cleanup.h"
#include "../../gpu/devlist.h"
#include "../file.h"
#include "../process/procdir.h"
#include "../process/process.h"
#include "cgroup.h"

#define CHILDREN_MAX 64

/*
 * Of /proc/PID/status: whether the process is a zombie, and how many PID namespaces it is in with its number
 * in the innermost one.
 */
struct status {
	bool zombie;
	unsigned depth;
	long innermost;
};

static bool
read_status(pid_t pid, struct status *out)
{
	autofree char *text = NULL;
	char name[40], *state, *p, *end;

	*out = (struct status){ 0 };
	snprintf(name, sizeof(name), "%d/status", pid);
	if ((text = procdir_read(name, 1 << 20)) == NULL ||
	    (state = strstr(text, "\nState:\t")) == NULL)
		return false;
	out->zombie = state[8] == 'Z' || state[8] == 'X';
	if ((p = strstr(text, "\nNSpid:")) == NULL)
		return true;
	for (p += 7; *p != '\n' && *p != '\0'; p = end, out->depth++) {
		out->innermost = strtol(p, &end, 10);
		if (end == p)
			return false;
	}
	return true;
}

static bool
read_children(pid_t parent, struct pids *out)
{
	autofree char *text = NULL;
	char name[64], *p, *end;
	long pid;

	snprintf(name, sizeof(name), "%d/task/%d/children", parent, parent);
	if ((text = procdir_read(name, 65536)) == NULL ||
	    (out->v = calloc(CHILDREN_MAX, sizeof(*out->v))) == NULL)
		return false;
	for (p = text; (pid = strtol(p, &end, 10)) > 0 && end != p; p = end) {
		if (out->n == CHILDREN_MAX)
			return false;
		out->v[out->n++] = (pid_t)pid;
	}
	return true;
}

bool
container_find_init(pid_t parent, pid_t besides, struct process_id *out, bool *own_pids)
{
	struct status of_parent, st;
	struct pids children = { 0 };
	unsigned own = 0, others = 0;
	pid_t init = 0, other = 0;
	size_t i;

	if (read_status(parent, &of_parent) && read_children(parent, &children))
		for (i = 0; i < children.n; i++) {
			if (children.v[i] == besides || !read_status(children.v[i], &st) || st.zombie)
				continue;
			if (st.depth > of_parent.depth && st.innermost == 1) {
				init = children.v[i];
				own++;
			} else {
				other = children.v[i];
				others++;
			}
		}
	free(children.v);
	/*
	 * a container without a PID namespace of its own looks like any other child, so it must be the only
	 * one
	 */
	if (own == 0 && others == 1)
		init = other;
	else if (own != 1)
		return false;
	out->pid = init;
	*own_pids = own == 1;
	return process_start(init, &out->start) && process_parent(init) == parent;
}

bool
container_is_restricted(const char *devcgroup, const struct devmajors *majors)
{
	autofree char *list = cgroup_device_list(devcgroup);

	return list != NULL ? !devlist_is_wide(list, majors) : errno == ENOENT;
}

/* True if the rules deny the container each promised node, except for those that are open, if «held». */
static bool
denies_rest(const struct lease *l, bool held)
{
	autofree char *list = NULL;
	const struct promised_node *n;
	size_t i;

	if (l->tasks.devcgroup == NULL)
		return false;
	if ((list = cgroup_device_list(l->tasks.devcgroup)) == NULL)
		return errno == ENOENT;
	for (i = 0; i < l->tasks.nodes; i++) {
		n = &l->tasks.node[i];
		if (!(held && n->allowed) && devlist_allows(list, n->major, n->minor))
			return false;
	}
	return true;
}

bool
container_is_denied(const struct lease *l)
{
	return denies_rest(l, false);
}

bool
container_has_no_more(const struct lease *l)
{
	return denies_rest(l, true);
}
