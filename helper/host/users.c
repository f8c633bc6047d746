/* See users.h. Reads only files that root writes. */
#include "users.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "../pure/cleanup.h"
#include "../pure/text.h"

#define NO_ONES_ID (UINT32_MAX - 1)	/* to which Concourse maps root of its unprivileged containers */

/* Closes the file, and sets errno to 0 if it was read to its end: only then is the entry surely missing. */
static void
tell_absent(FILE *f)
{
	const int error = f == NULL || !feof(f) ? (errno != 0 ? errno : EIO) : 0;

	if (f != NULL)
		fclose(f);
	errno = error;
}

/* A line of /etc/passwd. fgetpwent(3) allows longer ones, but makes two system calls for each line. */
struct entry {
	struct passwd pw;
	char text[8192];
};

static bool
next_entry(FILE *f, struct entry *e)
{
	struct passwd *found;

	return fgetpwent_r(f, &e->pw, e->text, sizeof(e->text), &found) == 0;
}

char *
user_name(uint32_t uid)
{
	FILE *f = fopen("/etc/passwd", "re");
	struct entry e;
	char *name = NULL;

	while (f != NULL && next_entry(f, &e))
		if (e.pw.pw_uid == uid) {
			name = strdup(e.pw.pw_name);
			break;
		}
	tell_absent(f);
	return name;
}

bool
user_uid(const char *name, uint32_t *uid, uint32_t *gid)
{
	FILE *f = fopen("/etc/passwd", "re");
	struct entry e;
	bool found = false;

	while (f != NULL && !found && next_entry(f, &e))
		if (strcmp(e.pw.pw_name, name) == 0) {
			*uid = e.pw.pw_uid;
			if (gid != NULL)
				*gid = e.pw.pw_gid;
			found = true;
		}
	if (f != NULL)
		fclose(f);
	return found;
}

bool
user_in_group(const char *user, const char *group)
{
	FILE *f = fopen("/etc/group", "re");
	uint32_t uid, gid = UINT32_MAX;
	struct group *gr;
	bool in = false;
	char **m;

	/* if the primary group can't be read, the group's own list decides */
	(void)user_uid(user, &uid, &gid);
	while (f != NULL && !in && (gr = fgetgrent(f)) != NULL) {
		if (strcmp(gr->gr_name, group) != 0)
			continue;
		in = gr->gr_gid == gid;
		for (m = gr->gr_mem; !in && *m != NULL; m++)
			in = strcmp(*m, user) == 0;
	}
	tell_absent(f);
	return in;
}

bool
group_gid(const char *name, uint32_t *gid)
{
	FILE *f = fopen("/etc/group", "re");
	struct group *gr;
	bool found = false;

	while (f != NULL && !found && (gr = fgetgrent(f)) != NULL)
		if (strcmp(gr->gr_name, name) == 0) {
			*gid = gr->gr_gid;
			found = true;
		}
	tell_absent(f);
	return found;
}

/* Parses a line «who:first:count». False for any other form. */
static bool
parse_range(char *line, char **who, uint32_t *first, uint32_t *size)
{
	char *save = NULL, *start, *count;

	*who = strtok_r(line, ":\n", &save);
	start = strtok_r(NULL, ":\n", &save);
	count = strtok_r(NULL, ":\n", &save);
	return count != NULL && strtok_r(NULL, ":\n", &save) == NULL && text_u32(start, 0, UINT32_MAX, first) &&
	    text_u32(count, 0, UINT32_MAX, size);
}

/* Parses a line, and is true if it gives this user a range. */
static bool
line_gives(char *line, uint32_t uid, const char *name, uint32_t *first, uint32_t *size)
{
	uint32_t number;
	char *who;

	/* a range with root's id is a mistake, and gives nothing */
	return parse_range(line, &who, first, size) && *first != 0 && ((name != NULL && strcmp(who, name) == 0) ||
	    (text_u32(who, 0, UINT32_MAX, &number) && number == uid));
}

static bool
range_gives(const char *file, uint32_t uid, const char *name, uint32_t id)
{
	FILE *f = fopen(file, "re");
	autofree char *line = NULL;
	uint32_t first, count;
	bool found = false;
	size_t size = 0;

	while (f != NULL && !found && getline(&line, &size, f) != -1)
		found = line_gives(line, uid, name, &first, &count) && id >= first && id - first < count;
	if (f != NULL)
		fclose(f);
	return found;
}

int
user_subuids(uint32_t uid, const char *name, uint32_t *first, uint32_t *size, int max)
{
	FILE *f = fopen("/etc/subuid", "re");
	autofree char *line = NULL;
	uint32_t start, count;
	size_t room = 0;
	int n = 0;

	if (f == NULL)
		return errno == ENOENT ? 0 : -1;
	while (n <= max && (errno = 0, getline(&line, &room, f)) != -1) {
		if (!line_gives(line, uid, name, &start, &count))
			continue;
		if (n < max) {
			first[n] = start;
			size[n] = count;
		}
		n++;
	}
	if (n > max)
		errno = E2BIG;
	else if (feof(f) && !ferror(f))
		max = INT_MAX;
	fclose(f);
	return max == INT_MAX ? n : -1;
}

int
user_is_subordinate(uint32_t id)
{
	FILE *f = fopen("/etc/subuid", "re");
	autofree char *line = NULL;
	uint32_t first, count;
	bool found = false;
	size_t size = 0;
	char *who;

	if (f == NULL)
		return errno == ENOENT ? 0 : -1;
	while (!found && getline(&line, &size, f) != -1)
		found = parse_range(line, &who, &first, &count) && id >= first && id - first < count;
	if (found) {
		fclose(f);
		return 1;
	}
	tell_absent(f);
	return errno == 0 ? 0 : -1;
}

/*
 * True for the user's private group: it has the user's name and no other member, so that a right of the group
 * is a right of this user alone. False if a file can't be read to its end, because the rest may name a
 * member.
 */
static bool
is_private_group(uint32_t uid, const char *name, uint32_t gid)
{
	FILE *users = fopen("/etc/passwd", "re"), *groups = fopen("/etc/group", "re");
	bool alone = users != NULL && groups != NULL && name != NULL, his = false, primary = false;
	struct entry e;
	struct group *gr;
	char **m;

	/*
	 * it must be the primary group in /etc/passwd: newgrp(1) can give a process any of its user's groups
	 */
	while (alone && next_entry(users, &e)) {
		alone = e.pw.pw_gid != gid || e.pw.pw_uid == uid;
		primary = primary || (e.pw.pw_uid == uid && e.pw.pw_gid == gid);
	}
	while (alone && (gr = fgetgrent(groups)) != NULL) {
		if (gr->gr_gid != gid)
			continue;
		his = strcmp(gr->gr_name, name) == 0;
		alone = his;
		for (m = gr->gr_mem; alone && *m != NULL; m++)
			alone = strcmp(*m, name) == 0;
	}
	alone = alone && his && primary && feof(users) && feof(groups);
	if (users != NULL)
		fclose(users);
	if (groups != NULL)
		fclose(groups);
	return alone;
}

bool
user_owns_uid(uint32_t uid, const char *name, uint32_t id)
{
	return id == uid || (uid == 0 && id == NO_ONES_ID) || range_gives("/etc/subuid", uid, name, id);
}

bool
user_owns_gid(uint32_t uid, const char *name, uint32_t primary, uint32_t id)
{
	if (uid == 0 && id == NO_ONES_ID)
		return true;
	if (id == primary && id != 0 && is_private_group(uid, name, id))
		return true;
	return range_gives("/etc/subgid", uid, name, id);
}
