/* See drainlist.h. */
#include "drainlist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/gpu/drainedread.h"
#include "../../host/trust.h"
#include "../ctl.h"

static int
lock_state(int *dir, struct why *why)
{
	if (geteuid() != 0)
		return refuse(why, WHY_DENIED, "only root can take GPUs out of service: run this as root");
	if (mkdir(GPUHELPER_STATEDIR, 0700) == -1 && errno != EEXIST)
		return refuse(why, WHY_IO, GPUHELPER_STATEDIR ": %s", strerror(errno));
	if ((*dir = trust_open_dir(GPUHELPER_STATEDIR, true, why)) == -1)
		return -1;
	return flock(*dir, LOCK_EX) == 0 ? 0 : refuse(why, WHY_IO, GPUHELPER_STATEDIR ": %s", strerror(errno));
}

int
drain_list_open(struct drain_list *d, bool anew, struct why *why)
{
	*d = (struct drain_list){ .dir = -1 };
	if (lock_state(&d->dir, why) == -1)
		return -1;
	return drained_list(&d->list, why) == 0 || anew ? 0 : -1;
}

void
drain_list_close(struct drain_list *d)
{
	if (d->dir != -1)
		close(d->dir);
	drained_free(&d->list);
}

struct drained_gpu *
drain_list_find(const struct drain_list *d, const struct leased_gpu *g)
{
	size_t i;

	for (i = 0; i < d->list.n; i++)
		if (leased_gpu_same(&d->list.v[i].gpu, g))
			return &d->list.v[i];
	return NULL;
}

struct drained_gpu *
drain_list_add(struct drain_list *d, const struct leased_gpu *g, struct why *why)
{
	struct drained_gpu *v;

	if (d->list.n == DRAINED_MAX) {
		refuse(why, WHY_USAGE, "%d GPUs are drained already, which is the limit", DRAINED_MAX);
		return NULL;
	}
	if ((v = reallocarray(d->list.v, d->list.n + 1, sizeof(*v))) == NULL) {
		(void)refuse_nomem(why);
		return NULL;
	}
	d->list.v = v;
	v += d->list.n++;
	*v = (struct drained_gpu){ .gpu = *g, .since = time(NULL) };
	return v;
}

int
drain_list_write(const struct drain_list *d, struct why *why)
{
	autofree char *text = drained_encode(&d->list);

	return text == NULL ? refuse_nomem(why) :
	    ctl_write_file(d->dir, DRAINED_NAME, DRAINED_LIST, text, strlen(text), NULL, why);
}
