/* See slowness.h. Each user has an empty file, whose modification time counts. */
#include "slowness.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../self/state.h"

#define REMEMBERED_S 60

/* Opens the directory once, because it is needed before each scan. Fills in the file's name. */
static int
open_notes(uint32_t uid, char name[24])
{
	static int dir = -1;
	struct why ignored;

	if (dir == -1)
		dir = state_dir("locks", &ignored);
	snprintf(name, 24, "slow-%u", uid);
	return dir;
}

void
slowness_note(uint32_t uid)
{
	struct why ignored;
	char name[24];
	const int dir = open_notes(uid, name);

	if (dir != -1)
		(void)state_write(dir, name, "", 0, 0600, &ignored);
}

bool
slowness_is_noted(uint32_t uid)
{
	char name[24];
	const int dir = open_notes(uid, name);
	struct stat st;
	time_t now = time(NULL);

	/* a time in the future: the clock was set back since */
	return dir != -1 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_mtim.tv_sec <= now + 1 &&
	    now - st.st_mtim.tv_sec < REMEMBERED_S;
}
