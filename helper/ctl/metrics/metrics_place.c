/*
 * gpuhelperctl metrics place: root's last step of gpuhelper-metrics.service.  Copies what a user without rights has
 * written.  Someone may have taken over that user, and still change its directory meanwhile.  So what is there is
 * opened once, without following a link or waiting, and counts only if it is that user's own file with no other name.
 * It is read up to a limit, and never parsed.
 */
#include "metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../../base/cleanup.h"
#include "../../host/file.h"

/* Refuses what may be another user's text: a link could lead to it, and the copy is for everybody. */
static int
check_own(const struct stat *st, const struct stat *dir, const char *shown, struct why *why)
{
	if (!S_ISREG(st->st_mode))
		return refuse(why, WHY_DATA, "%s is not a regular file", shown);
	if (st->st_uid != dir->st_uid || st->st_nlink != 1)
		return refuse(why, WHY_DATA, "%s has uid %u and %lu links: it must be its directory's owner's (uid %u), with one "
		    "link", shown, st->st_uid, (unsigned long)st->st_nlink, dir->st_uid);
	return 0;
}

/* The page, which the caller frees.  NULL with *why. */
static char *
take_page(const char *from, size_t *len, struct why *why)
{
	autoclose int dir = open(from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), fd = -1;
	struct stat st, of_dir;
	char shown[1200];
	char *text;

	snprintf(shown, sizeof(shown), "%s/" METRICS_PAGE, from);
	if (dir == -1 || fstat(dir, &of_dir) == -1) {
		refuse(why, WHY_IO, "%s: %s", from, strerror(errno));
		return NULL;
	}
	if ((fd = file_open_beneath(dir, METRICS_PAGE, O_RDONLY)) == -1 || fstat(fd, &st) == -1) {
		refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
		return NULL;
	}
	if (check_own(&st, &of_dir, shown, why) == -1)
		return NULL;
	if ((text = file_read_stated(fd, &st, METRICS_MAX, len)) == NULL)
		refuse(why, WHY_IO, "%s: %s (at most %d bytes are copied)", shown, strerror(errno), METRICS_MAX);
	return text;
}

int
ctl_metrics_place(const struct options *o)
{
	autofree char *page = NULL;
	struct why why;
	size_t len;

	if ((page = take_page(o->from, &len, &why)) == NULL || ctl_place_output(o->output, page, len, &why) == -1)
		return give_up(o, &why);
	return 0;
}
