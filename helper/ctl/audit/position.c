/* See position.h. */
#include "position.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../ctl.h"

int
position_open(struct position *p, const char *path, struct why *why)
{
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;

	*p = (struct position){ .lock = -1 };
	if (path == NULL)
		return 0;
	p->dir = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
	p->name = strdup(slash == NULL ? path : slash + 1);
	if (p->dir == NULL || p->name == NULL)
		return refuse_nomem(why);
	if (*p->name == '\0')
		return refuse(why, WHY_USAGE, "audit follow: --state %s: name a file", path);
	if ((p->lock = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return refuse(why, WHY_IO, "%s: %s", p->dir, strerror(errno));
	/* lock the directory, because each save replaces the file */
	if (flock(p->lock, LOCK_EX | LOCK_NB) == -1)
		return refuse(why, WHY_AGAIN, "%s: another «audit follow» keeps its position there: stop it, or use another "
		    "directory", p->dir);
	return 0;
}

void
position_close(struct position *p)
{
	if (p->lock != -1)
		close(p->lock);
	free(p->dir);
	free(p->name);
}

int
position_load(const struct position *p, struct audit_head *at, struct why *why)
{
	autofree char *text = NULL;
	size_t len;

	audit_head_begin(at);
	if (p->dir == NULL)
		return 0;
	if ((text = file_read_at(p->lock, p->name, AUDIT_HEAD_BYTES, &len)) == NULL)
		return errno == ENOENT ? 0 : refuse(why, WHY_IO, "%s%s: %s", p->dir, p->name, strerror(errno));
	if (!audit_head_read(text, len, at))
		return refuse(why, WHY_DATA, "%s%s is not a valid position: remove the file to begin with the log's first record",
		    p->dir, p->name);
	return 0;
}

int
position_save(const struct position *p, const struct audit_head *at, struct why *why)
{
	autoclose int dir = -1;
	char text[AUDIT_HEAD_BYTES];

	if (p->dir == NULL)
		return 0;
	if ((dir = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return refuse(why, WHY_IO, "%s: %s", p->dir, strerror(errno));
	audit_head_write(at, text);
	return ctl_write_file(dir, p->name, p->name, text, sizeof(text), NULL, why);
}
