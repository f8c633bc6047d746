/* See doctor.h: checks the wrapper, the group and the door.  Starts nothing but the helper, through its door. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/own/ownprogram.h"
#include "../../host/trust.h"
#include "../../host/users.h"
#include "../gpus/status.h"
#include "doctor.h"

void
doctor_wrapper(struct doctor *d)
{
	struct stat st;

	if (stat(WRAPPER, &st) == -1) {
		doctor_say(d, FINDING_FAIL, "wrapper", "make install", "%s: %s", WRAPPER, strerror(errno));
		return;
	}
	if (!trust_is_root(st.st_uid) || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		doctor_say(d, FINDING_FAIL, "wrapper", "chown root " WRAPPER " && chmod 0755 " WRAPPER,
		    "others than root can change %s (uid %u, mode %04o)", WRAPPER, st.st_uid, st.st_mode & 07777U);
	else if (access(WRAPPER, X_OK) == -1)
		doctor_say(d, FINDING_FAIL, "wrapper", "chmod 0755 " WRAPPER, "%s can't be executed", WRAPPER);
	else
		doctor_say(d, FINDING_OK, "wrapper", NULL, "%s", WRAPPER);
}

/* True if this process has the group.  A user who was added to a group has it only in sessions that begin later. */
static bool
has_group(gid_t gid)
{
	int i, n = getgroups(0, NULL);
	autofree gid_t *list = n > 0 ? calloc((size_t)n, sizeof(*list)) : NULL;

	if (getgid() == gid || getegid() == gid)
		return true;
	if (list == NULL || (n = getgroups(n, list)) == -1)
		return false;
	for (i = 0; i < n; i++)
		if (list[i] == gid)
			return true;
	return false;
}

/* The program that makes the group and the users. */
static const char *
fix_users(void)
{
	return access("/usr/bin/systemd-sysusers", X_OK) == 0 ? "systemd-sysusers" : "make users";
}

void
doctor_group(struct doctor *d)
{
	const char *name = d->user != NULL ? d->user : "the worker's user";
	autofree char *fix = NULL;
	uint32_t gid;

	if (!group_gid("gpuhelper", &gid)) {
		doctor_say(d, FINDING_FAIL, "group", fix_users(), "there is no group gpuhelper");
		return;
	}
	if (d->uid == 0) {
		doctor_say(d, FINDING_OK, "group", NULL, "root needs no group (--user NAME checks for another user)");
		return;
	}
	if (asprintf(&fix, "usermod -aG gpuhelper %s", d->user != NULL ? d->user : "USER") == -1)
		fix = NULL;
	if (d->user == NULL || !user_in_group(d->user, "gpuhelper"))
		doctor_say(d, FINDING_FAIL, "group", fix, "%s (uid %u) is not in group gpuhelper", name, d->uid);
	else if (d->self && !has_group(gid))
		doctor_say(d, FINDING_WARN, "group", "log in again, and restart the worker",
		    "%s is in group gpuhelper, but not yet in this session", name);
	else
		doctor_say(d, FINDING_OK, "group", NULL, "%s is in group gpuhelper", name);
}

bool
doctor_program(struct doctor *d, const char *topic, const char *path, enum finding bad, const char *without)
{
	autofree char *fix = NULL;
	struct stat st;

	if (lstat(path, &st) == -1) {
		doctor_say(d, bad, topic, "make install", "%s: %s: %s", path, strerror(errno), without);
		return false;
	}
	if (S_ISREG(st.st_mode) && st.st_uid == 0 && (st.st_mode & 022) == 0)
		return true;
	if (asprintf(&fix, "chown root:root %s && chmod 0711 %s", path, path) == -1)
		fix = NULL;
	doctor_say(d, bad, topic, fix, "others than root can change %s, so the helper does not start it", path);
	return false;
}

/* What makes a door where there is none.  NULL: the finding's text says it, or nothing does. */
static const char *
fix_door(const struct doctor *d)
{
	struct stat st;

	if (systemd_runs())
		return d->self ? NULL : "systemctl enable --now gpuhelper.socket";
	if (d->settings.door == DOOR_BY_SOCKET)
		return "door = \"setuid\" in gpuhelper.conf";
	return stat(DOOR_HELPER, &st) == 0 && (st.st_mode & S_ISUID) == 0 ?
	    "chown root:gpuhelper " DOOR_HELPER " && chmod 4750 " DOOR_HELPER : NULL;
}

/* Without systemd nothing makes the socket, whatever the reason that was found says of systemctl. */
static void
say_no_door(struct doctor *d, const struct why *by_setuid, const struct why *by_socket)
{
	static const char none[] = "systemd does not run here, and only it makes the socket";
	struct why why;

	if (by_socket->code == WHY_ABSENT && !systemd_runs())
		(void)refuse(&why, WHY_ABSENT, "%.200s%s%s", by_setuid->text, by_setuid->text[0] != '\0' ? "; " : "", none);
	else if (d->settings.door == DOOR_AUTO)
		(void)door_refuse_both(by_setuid, by_socket, &why);
	else
		why = d->settings.door == DOOR_BY_SOCKET ? *by_socket : *by_setuid;
	doctor_say(d, FINDING_FAIL, "door", fix_door(d), "%s", why.text);
}

/* For another user, only the files of the door can be checked, not whether that user may use it. */
static void
look_at_others_door(struct doctor *d)
{
	struct stat st;

	if (lstat(DOOR_SOCKET_PATH, &st) == 0 && S_ISSOCK(st.st_mode) && d->settings.door != DOOR_BY_SETUID)
		doctor_say(d, FINDING_OK, "door", NULL, "the socket exists, mode %04o (run this as %s to try it)",
		    st.st_mode & 07777U, d->user != NULL ? d->user : "the worker's user");
	else if (stat(DOOR_HELPER, &st) == 0 && (st.st_mode & S_ISUID) != 0 && d->settings.door != DOOR_BY_SOCKET)
		doctor_say(d, FINDING_OK, "door", NULL, "the helper has its setuid bit, mode %04o (run this as %s to try it)",
		    st.st_mode & 07777U, d->user != NULL ? d->user : "the worker's user");
	else
		doctor_say(d, FINDING_FAIL, "door", fix_door(d),
		    "there is neither a socket nor a setuid bit (door = \"%s\")", d->settings.door == DOOR_AUTO ? "auto" :
		    d->settings.door == DOOR_BY_SOCKET ? "socket" : "setuid");
}

/* Checks a program that the helper starts under a system user of its own. */
static void
look_at_child(struct doctor *d, const char *name, const char *without)
{
	uint32_t uid, gid;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", GPUHELPER_LIBEXEC, name);
	(void)doctor_program(d, "helper", path, FINDING_FAIL, without);
	if (own_program_user(name, &uid, &gid, &d->why) == -1)
		doctor_say(d, FINDING_FAIL, "helper", user_uid(name, &uid, &gid) ? NULL : fix_users(), "%s: %s",
		    d->why.text, without);
}

/* Finds the door that the wrapper would use, then asks the helper behind it for an answer. */
void
doctor_door(struct doctor *d)
{
	struct why by_socket = { 0 }, by_setuid = { 0 }, why;
	int fd = -1;

	look_at_child(d, "gpuhelper-look", "nothing is granted, and no lease ends");
	look_at_child(d, "gpuhelper-engine", "nothing is granted");
	look_at_child(d, "gpuhelper-read", "nothing is granted");
	look_at_child(d, "gpuhelper-judge", "nothing is granted");
	(void)doctor_program(d, "helper", GPUHELPER_LIBEXEC "/gpuhelper-judge-udev", FINDING_FAIL,
	    "nothing is granted where DRM nodes are");
	if (!d->self) {
		look_at_others_door(d);
		return;
	}
	if (d->settings.door != DOOR_BY_SETUID && (fd = door_connect(&by_socket)) != -1) {
		close(fd);
		doctor_say(d, FINDING_OK, "door", NULL, "the socket, %s", DOOR_SOCKET_PATH);
	} else if (d->settings.door != DOOR_BY_SOCKET && door_check_setuid(&by_setuid) == 0) {
		const bool spoilt = by_socket.code == WHY_CONFIG;

		doctor_say(d, spoilt ? FINDING_WARN : FINDING_OK, "door", NULL, "%s%s%s", d->uid == 0 ?
		    "root starts the helper" : "the helper's setuid bit", spoilt ? "; the socket is unusable: " : "",
		    spoilt ? by_socket.text : "");
	} else {
		say_no_door(d, &by_setuid, &by_socket);
		return;
	}
	if (ctl_helper_answers(&why) == 0)
		doctor_say(d, FINDING_OK, "helper", NULL, "answers");
	else
		doctor_say(d, FINDING_FAIL, "helper", NULL, "%s", why.text);
}
