/*
 * See holders.h.  Looks at /proc alone, and takes its time: must not be called
 * while others wait for a lock.
 */
#include "holders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../pure/cleanup.h"
#include "clock.h"
#include "home.h"
#include "opennode.h"

struct search {
	struct home home;
	pid_t *holder;
	volatile pid_t *at;
	struct node_search nodes;
};

/* False where that can't be seen. */
static bool
look_at(struct search *s, const char *pid)
{
	size_t i;

	*s->at = (pid_t)strtol(pid, NULL, 10);
	switch (home_is_containers(&s->home, s->nodes.proc, pid)) {
	case 0:
		return true;
	case -1:
		return false;
	}
	memset(s->nodes.held, 0, s->nodes.nodes * sizeof(*s->nodes.held));
	if (!process_marks(&s->nodes, pid))
		return false;
	for (i = 0; i < s->nodes.nodes; i++)
		if (s->nodes.held[i])
			s->holder[i] = *s->at;
	return true;
}

static int
look_at_all(struct search *s, DIR *d, struct why *why)
{
	struct dirent *e;

	while ((errno = 0, e = readdir(d)) != NULL) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9' || look_at(s, e->d_name))
			continue;
		if (clock_ms() > s->nodes.looks.until)
			return refuse(why, WHY_AGAIN, "who of the containers has the GPU open can't be seen in %d s: they have very "
			    "many files open (the last one seen is PID %s)", HOLDERS_MS / 1000, e->d_name);
		return refuse(why, WHY_AGAIN, "/proc/%s: whether it has the GPU open can't be seen, for one, as long as its "
		    "threads or files come and go so fast", e->d_name);
	}
	return errno == 0 ? 0 : refuse(why, WHY_IO, "/proc: %s", strerror(errno));
}

int
holders_find(const struct edit_node *node, size_t nodes, pid_t *holder, volatile pid_t *at, struct why *why)
{
	autofree struct search *s = calloc(1, sizeof(*s));
	autofree bool *held = calloc(nodes + 1, sizeof(*held));
	int fd, ret;
	DIR *d;

	memset(holder, 0, nodes * sizeof(*holder));
	if (s == NULL || held == NULL)
		return refuse_nomem(why);
	fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if ((d = fd != -1 ? fdopendir(fd) : NULL) == NULL) {
		if (fd != -1)
			close(fd);
		return refuse(why, WHY_IO, "/proc: %s", strerror(errno));
	}
	s->holder = holder;
	s->at = at;
	s->nodes = (struct node_search){ .proc = fd, .node = node, .nodes = nodes, .held = held,
		.looks = { UINT32_MAX, clock_ms() + HOLDERS_MS } };
	ret = home_find(fd, &s->home) ? look_at_all(s, d, why) :
	    refuse(why, WHY_IO, "/proc/self/ns: %s", strerror(errno));
	closedir(d);
	return ret;
}
