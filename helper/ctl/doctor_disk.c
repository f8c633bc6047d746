/* See doctor.h: where the helper writes (audit log, leases, used tokens): whose it is, and whether there is room. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "../host/trust.h"
#include "../pure/cleanup.h"
#include "doctor.h"

#define LOG GPUHELPER_LOGDIR "/audit.jsonl"

/* What is wrong with the file system for one who writes there; NULL: nothing. */
static const char *
find_no_room(const char *dir)
{
	struct statvfs fs;

	if (statvfs(dir, &fs) == -1)
		return NULL;
	if ((fs.f_flag & ST_RDONLY) != 0)
		return "is mounted read-only";
	if (fs.f_blocks > 0 && fs.f_bavail * 100 / fs.f_blocks < 1)
		return "is full to the last 1 %";
	/* some file systems have no such number */
	if (fs.f_files > 0 && fs.f_favail == 0)
		return "is full: it has no room for another file";
	return NULL;
}

/* Root's, and writable by no one else; says so where it is not. */
static bool
is_roots(struct doctor *d, const char *topic, const char *path, const struct stat *st, const char *group, mode_t mode)
{
	autofree char *mend = NULL;

	if (trust_is_root(st->st_uid) && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return true;
	if (asprintf(&mend, "chown root:%s %s && chmod %04o %s", group, path, mode, path) == -1)
		mend = NULL;
	doctor_say(d, FINDING_FAIL, topic, mend, "%s is not root's alone (uid %u, mode %04o)", path, st->st_uid,
	    st->st_mode & 07777U);
	return false;
}

void
doctor_audit(struct doctor *d)
{
	const char *no_room;
	struct stat st;

	if (stat(GPUHELPER_LOGDIR, &st) == -1) {
		doctor_say(d, errno == EACCES ? FINDING_WARN : FINDING_FAIL, "audit",
		    "systemd-tmpfiles --create " GPUHELPER_LIBDIR "/tmpfiles.d/gpuhelper.conf",
		    "%s: %s: without it nothing is granted", GPUHELPER_LOGDIR, strerror(errno));
		return;
	}
	if (!is_roots(d, "audit", GPUHELPER_LOGDIR, &st, "gpuhelper", 0750) ||
	    (lstat(LOG, &st) == 0 && !is_roots(d, "audit", LOG, &st, "gpuhelper", 0640)))
		return;
	if ((no_room = find_no_room(GPUHELPER_LOGDIR)) != NULL)
		doctor_say(d, FINDING_FAIL, "audit", NULL, "%s: its file system %s: what can't be written down is not granted",
		    GPUHELPER_LOGDIR, no_room);
	else
		doctor_say(d, FINDING_OK, "audit", NULL, "%s", LOG);
}

/* What is not there yet is made by the helper. */
static bool
is_good_state(struct doctor *d, const char *dir, mode_t mode)
{
	const char *no_room;
	struct stat st;

	if (lstat(dir, &st) == -1)
		return true;
	if (!is_roots(d, "state", dir, &st, "root", mode))
		return false;
	if ((no_room = find_no_room(dir)) == NULL)
		return true;
	doctor_say(d, FINDING_FAIL, "state", NULL, "%s: its file system %s: nothing can be granted", dir, no_room);
	return false;
}

void
doctor_state(struct doctor *d)
{
	const bool run = is_good_state(d, GPUHELPER_RUNDIR, 0711), tokens = is_good_state(d, GPUHELPER_STATEDIR, 0700);

	if (run && tokens)
		doctor_say(d, FINDING_OK, "state", NULL, "%s, %s", GPUHELPER_RUNDIR, GPUHELPER_STATEDIR);
}
