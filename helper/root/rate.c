/*
 * See rate.h.  A file for each user in /run/gpuhelper/rate.  Two helpers of one
 * user at once may each count for both: the limit is a matter of size, not of
 * exactness.
 */
#include "rate.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../host/file.h"
#include "state.h"

struct count {
	int64_t minute;
	uint32_t written, suppressed;
};

bool
rate_allows(uint32_t uid, int64_t now, uint32_t *suppressed)
{
	struct count c = { 0 };
	struct why ignored;
	autoclose int dir = -1, fd = -1;
	char name[16];
	bool allowed;

	*suppressed = 0;
	if (uid == 0)
		return true;
	snprintf(name, sizeof(name), "%u", uid);
	if ((dir = state_dir("rate", &ignored)) == -1 ||
	    (fd = openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) == -1)
		return true;
	if (pread(fd, &c, sizeof(c), 0) != (ssize_t)sizeof(c))
		c = (struct count){ 0 };
	if (c.minute != now / 60) {
		*suppressed = c.suppressed;
		c = (struct count){ .minute = now / 60 };
	}
	allowed = c.written < RATE_PER_MINUTE;
	if (allowed)
		c.written++;
	else
		c.suppressed++;
	(void)!pwrite(fd, &c, sizeof(c), 0);
	return allowed;
}
