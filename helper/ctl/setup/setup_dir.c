/* See setup.h: directories that only root can change. */
#include "setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/trust.h"

int
setup_dir(char name[sizeof(SETUP_DIR)], struct why *why)
{
	int fd;

	memcpy(name, SETUP_DIR, sizeof(SETUP_DIR));
	if (mkdtemp(name) == NULL)
		return refuse(why, WHY_IO, SETUP_DIR " can't be made: %s", strerror(errno));
	if ((fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1) {
		refuse(why, WHY_IO, "%s: %s", name, strerror(errno));
		(void)rmdir(name);
	}
	return fd;
}

/* A directory on the way to a link must be root's alone, or somebody else could put another runc there. */
int
setup_make_dir(const char *dir, struct why *why)
{
	autofree char *above = strdup(dir);
	struct stat st;
	char *slash;

	if (above == NULL)
		return refuse_nomem(why);
	if ((slash = strrchr(above, '/')) != above && slash != NULL) {
		*slash = '\0';
		if (setup_make_dir(above, why) == -1)
			return -1;
	}
	if (mkdir(dir, 0755) == -1 && errno != EEXIST)
		return refuse(why, WHY_IO, "%s can't be made: %s", dir, strerror(errno));
	if (stat(dir, &st) == -1)
		return refuse(why, WHY_IO, "%s: %s", dir, strerror(errno));
	if (!S_ISDIR(st.st_mode) || !trust_is_root(st.st_uid) || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return refuse(why, WHY_DENIED, "%s is not root's alone (uid %u, mode %04o): chown root:root %s && chmod 0755 %s", dir,
		    st.st_uid, st.st_mode & 07777U, dir, dir);
	return 0;
}
