/* See judge.h. Reads no answer. */
#include "judge.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "../../ask/judgepass.h"
#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../host/listing.h"
#include "../self/spawn.h"

#define PROGRAM "gpuhelper-judge"
#define ANSWER_MS 4000		/* an answer takes milliseconds, unless the machine is busy */
#define LISTED_MAX 1024		/* devices, and the connectors of screens */
#define HOST_MS 8000		/* the same for the host's GPUs: /sys may be slow */

/* it moves along: the kernel shows it only those AMD GPUs that the device rules of its cgroup allow */
static struct spawned judge = { PROGRAM, true, JUDGE_QUERY_MAX, JUDGE_ANSWER_MAX, .moves = true, .channel = -1 };

/* True if the directory has a name that begins with «prefix», or can't be read. */
static bool
is_listed(const char *dir, const char *prefix)
{
	autostrlist struct strlist names = { 0 };
	size_t i = 0;

	if (listing_names(file_open_beneath(file_root(), dir, O_RDONLY | O_DIRECTORY), LISTED_MAX, &names) == -1)
		return errno != ENOENT;
	while (i < names.n && !text_starts(names.v[i], prefix))
		i++;
	return i < names.n;
}

void
judge_start(void)
{
	/*
	 * libudev takes as long to load as the judge to look at NVIDIA's GPUs. NVIDIA's driver tells udev of no node but the
	 * DRM ones; were that to change, nvidiactl, which is always 195:255, would be a device in /sys
	 */
	if (is_listed("sys/class/drm", "renderD") || is_listed("sys/class/accel", "accel") ||
	    access("/sys/dev/char/195:255", F_OK) == 0)
		judge.file = PROGRAM "-udev";
	spawned_start(&judge);
	spawned_exec(&judge);
}

int
judge_pass(const char *question, size_t len, struct why *why)
{
	return spawned_ask(&judge, question, len, why);
}

char *
judge_receive(bool about_host, size_t *len, struct why *why)
{
	return spawned_receive(&judge, about_host ? HOST_MS : ANSWER_MS, len, why);
}
