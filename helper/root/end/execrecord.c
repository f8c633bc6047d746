/*
 * See execrecord.h. A record may contain a policy's env, perhaps a key, and so is for one uid: groups are
 * often the same for all workers. The directory is root's, and an ACL entry lets the user in. An owner
 * could change what is in it.
 */
#include "execrecord.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../host/trust.h"
#include "../../lease/exectext.h"
#include "../../lease/leasename.h"
#include "../node/acl.h"
#include "../self/state.h"

/*
 * Opens one user's directory, and makes it if it is missing. An older version let the user's group in: takes that back.
 */
static int
open_for(int all, uint32_t uid, struct why *why)
{
	char name[16], shown[sizeof(GPUHELPER_RUNDIR) + 24];
	int fd;

	snprintf(name, sizeof(name), "%u", uid);
	snprintf(shown, sizeof(shown), "%s/exec/%s", GPUHELPER_RUNDIR, name);
	if (mkdirat(all, name, 0700) == -1 && errno != EEXIST)
		return refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
	if ((fd = file_open_beneath(all, name, O_RDONLY | O_DIRECTORY)) == -1)
		return refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
	if (trust_check(fd, shown, why) == 0) {
		if (fchown(fd, 0, 0) == -1 || (uid == 0 && fchmod(fd, 0700) == -1))
			refuse(why, WHY_IO, "%s: can't be set up: %s", shown, strerror(errno));
		else if (uid == 0 || dir_acl_set(fd, shown, uid, why) == 0)
			return fd;
	}
	close(fd);
	return -1;
}

int
exec_record_write(const struct peer *peer, const struct lease *l, const struct edits *e, bool with_text,
    struct why *why)
{
	autofree char *text = exec_text(l, e, with_text);
	autoclose int all = -1, dir = -1;
	char name[HASH_SIZE];

	if (text == NULL)
		return refuse_nomem(why);
	exec_record_name(l->root, l->id, name);
	return (all = state_dir("exec", why)) == -1 || (dir = open_for(all, peer->client.uid, why)) == -1 ? -1 :
	    state_write(dir, name, text, strlen(text), 0644, why);
}

int
exec_record_remove(uint32_t uid, const char *root, const char *id, struct why *why)
{
	autoclose int all = -1, dir = -1;
	char name[HASH_SIZE], user[16];

	snprintf(user, sizeof(user), "%u", uid);
	exec_record_name(root, id, name);
	if ((all = state_dir("exec", why)) == -1)
		return -1;
	if ((dir = file_open_beneath(all, user, O_RDONLY | O_DIRECTORY)) == -1 && errno == ENOENT)
		return 0;
	if (dir == -1 || state_remove(dir, name) == -1)
		return refuse(why, WHY_IO, "%s/exec/%s/%s: %s", GPUHELPER_RUNDIR, user, name, strerror(errno));
	return 0;
}
