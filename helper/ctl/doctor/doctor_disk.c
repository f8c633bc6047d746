/* See doctor.h: checks the directories that the helper writes to: their owner, and the free space. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "../../base/cleanup.h"
#include "../../host/trust.h"
#include "../runprogram.h"
#include "doctor.h"

#define LOG GPUHELPER_LOGDIR "/audit.jsonl"

/* Why the helper could not write to the file system of dir; NULL if it could. */
static const char *
find_no_room(const char *dir)
{
	struct statvfs fs;

	if (statvfs(dir, &fs) == -1)
		return NULL;
	if ((fs.f_flag & ST_RDONLY) != 0)
		return "is mounted read-only";
	if (fs.f_blocks > 0 && fs.f_bavail * 100 / fs.f_blocks < 1)
		return "is full: less than 1 % is free";
	/* file systems without a limit on files say 0 */
	if (fs.f_files > 0 && fs.f_favail == 0)
		return "is full: no free inodes";
	return NULL;
}

/* False, with a finding, if others than root can change the path. */
static bool
only_root_writes(struct doctor *d, const char *topic, const char *path, const struct stat *st, const char *group,
    mode_t mode)
{
	autofree char *fix = NULL;

	if (trust_is_root(st->st_uid) && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return true;
	if (asprintf(&fix, "chown root:%s %s && chmod %04o %s", group, path, mode, path) == -1)
		fix = NULL;
	doctor_say(d, FINDING_FAIL, topic, fix, "others than root can change %s (uid %u, mode %04o)", path, st->st_uid,
	    st->st_mode & 07777U);
	return false;
}

static bool
is_rotated(void)
{
	autofree char *program = program_find("logrotate");

	return program != NULL;
}

void
doctor_audit(struct doctor *d)
{
	const char *no_room;
	struct stat st;

	if (stat(GPUHELPER_LOGDIR, &st) == -1) {
		doctor_say(d, errno == EACCES ? FINDING_WARN : FINDING_FAIL, "audit",
		    "systemd-tmpfiles --create " GPUHELPER_LIBDIR "/tmpfiles.d/gpuhelper.conf",
		    "%s: %s: nothing is granted without an audit log", GPUHELPER_LOGDIR, strerror(errno));
		return;
	}
	if (!only_root_writes(d, "audit", GPUHELPER_LOGDIR, &st, "gpuhelper", 0750) ||
	    (lstat(LOG, &st) == 0 && !only_root_writes(d, "audit", LOG, &st, "gpuhelper", 0640)))
		return;
	if ((no_room = find_no_room(GPUHELPER_LOGDIR)) != NULL)
		doctor_say(d, FINDING_FAIL, "audit", NULL, "%s: its file system %s: nothing is granted without a record",
		    GPUHELPER_LOGDIR, no_room);
	else if (!is_rotated())
		doctor_say(d, FINDING_WARN, "audit", "apt install logrotate", LOG " grows for ever: there is no logrotate");
	else
		doctor_say(d, FINDING_OK, "audit", NULL, "%s", LOG);
}

/* A missing directory is fine: the helper creates it. */
static bool
is_good_state(struct doctor *d, const char *dir, mode_t mode)
{
	const char *no_room;
	struct stat st;

	if (lstat(dir, &st) == -1)
		return true;
	if (!only_root_writes(d, "state", dir, &st, "root", mode))
		return false;
	if ((no_room = find_no_room(dir)) == NULL)
		return true;
	doctor_say(d, FINDING_FAIL, "state", NULL, "%s: its file system %s: nothing can be granted", dir, no_room);
	return false;
}

/* A user who may list a directory can hold its lock for ever (gpuhelper-limits(7), «Stalling»). */
static bool
is_unlisted(struct doctor *d, const char *dir)
{
	autofree char *fix = NULL;
	struct stat st;

	if (stat(dir, &st) == -1 || (st.st_mode & S_IROTH) == 0)
		return true;
	if (asprintf(&fix, "chmod o-r %s", dir) == -1)
		fix = NULL;
	doctor_say(d, FINDING_WARN, "state", fix, "every user may list %s (mode %04o), and one who does so can make grants, "
	    "or «keys import», wait for ever", dir, st.st_mode & 07777U);
	return false;
}

void
doctor_state(struct doctor *d)
{
	static const char *const listed[] = { GPUHELPER_CONFDIR "/policy.d", GPUHELPER_CONFDIR "/keys", "/run/cdi" };
	const bool run = is_good_state(d, GPUHELPER_RUNDIR, 0711), tokens = is_good_state(d, GPUHELPER_STATEDIR, 0700);
	bool unlisted = true;
	size_t i;

	for (i = 0; i < sizeof(listed) / sizeof(listed[0]); i++)
		unlisted = is_unlisted(d, listed[i]) && unlisted;
	if (run && tokens && unlisted)
		doctor_say(d, FINDING_OK, "state", NULL, "%s, %s", GPUHELPER_RUNDIR, GPUHELPER_STATEDIR);
}
