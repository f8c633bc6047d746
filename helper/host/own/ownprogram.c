/* See ownprogram.h. Must never run what others than root could have written. */
#include "ownprogram.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../file.h"
#include "../hostview.h"
#include "../trust.h"
#include "../users.h"

int
own_program_open(int dir, const char *name, int *fd, struct why *why)
{
	struct stat st;
	char shown[256];

	snprintf(shown, sizeof(shown), "%s/%s", GPUHELPER_LIBEXEC, name);
	if ((*fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)) == -1)
		return refuse(why, errno == ENOENT ? WHY_CONFIG : WHY_AGAIN, "%s: %s: install it (make install)", shown,
		    strerror(errno));
	if (trust_check(*fd, shown, why) == 0 && fstat(*fd, &st) == 0 && S_ISREG(st.st_mode))
		return 0;
	close(*fd);
	*fd = -1;
	if (why->code == WHY_NONE)
		refuse(why, WHY_CONFIG, "%s is no program: install it (make install)", shown);
	return 1;
}

int
own_program_find(const char *name, int *fd, struct why *why)
{
	static int dir = -1;

	/* opened once; if there is no directory, trust_pin_dir() says so */
	if (dir == -1 && (hostview_compare(GPUHELPER_LIBEXEC, WHY_DENIED, why) == -1 ||
	    trust_pin_dir(GPUHELPER_LIBEXEC, true, &dir, why) != TRUST_FOUND))
		return -1;
	return own_program_open(dir, name, fd, why) == 0 ? 0 : -1;
}

int
own_program_user(const char *name, uint32_t *uid, uint32_t *gid, struct why *why)
{
	if (!user_uid(name, uid, gid))
		return refuse(why, WHY_CONFIG, "/etc/passwd has no user %s, as which that program runs: systemd-sysusers (or make "
		    "users)", name);
	/* setuid(2) and the like take the largest number for «unchanged», so the process would stay root */
	if (*uid == 0 || *gid == 0 || *uid == UINT32_MAX || *gid == UINT32_MAX)
		return refuse(why, WHY_CONFIG, "/etc/passwd: user %s has the uid or the group of root: give it others", name);
	return 0;
}
