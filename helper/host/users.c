/* See users.h. Reads only files that root writes. */
#include "users.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/text.h"

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

/* One line of /etc/passwd (passwd(5)) or /etc/group (group(5)); parts of «line», which entry_free() frees. */
struct entry {
	char *line;
	size_t room;
	const char *name;
	uint32_t id, gid;	/* the user's, and the primary group's; the group's in both */
	char *members;		/* of a group, with commas between; NULL: none */
	const char *host;	/* of a user; NULL: none */
	bool malformed;		/* a line on the way was no entry: the C library may take it for one */
};

static void
entry_free(struct entry *e)
{
	free(e->line);
}

#define autoentry __attribute__((cleanup(entry_free)))

static bool
read_id(const char *s, uint32_t *id)
{
	while (s != NULL && s[0] == '0' && s[1] != '\0')
		s++;
	return s != NULL && text_u32(s, 0, UINT32_MAX, id);
}

/*
 * The next line that is an entry; false at the end, or where it can't be read.  fgetpwent(3) would ask the kernel
 * where the file is, twice for each line.
 */
static bool
next_entry(FILE *f, struct entry *e, char **rest)
{
	while (getline(&e->line, &e->room, f) != -1) {
		e->line[strcspn(e->line, "\n")] = '\0';
		*rest = e->line + strspn(e->line, " \t");
		if (**rest == '\0' || **rest == '#')
			continue;
		e->name = strsep(rest, ":");
		(void)strsep(rest, ":");	/* the password */
		if (*rest != NULL)
			return true;
		e->malformed = true;
	}
	return false;
}

static bool
next_user(FILE *f, struct entry *e)
{
	char *rest;

	while (next_entry(f, e, &rest))
		if (read_id(strsep(&rest, ":"), &e->id) && read_id(strsep(&rest, ":"), &e->gid)) {
			(void)strsep(&rest, ":");	/* the full name */
			e->host = strsep(&rest, ":");
			return true;
		} else
			e->malformed = true;
	return false;
}

static bool
next_group(FILE *f, struct entry *e)
{
	while (next_entry(f, e, &e->members))
		if (read_id(strsep(&e->members, ":"), &e->id)) {
			e->gid = e->id;
			return true;
		} else
			e->malformed = true;
	return false;
}

/* Takes the list apart. */
static bool
has_member(char *members, const char *user)
{
	char *one;

	while ((one = strsep(&members, ",")) != NULL)
		if (strcmp(one, user) == 0)
			return true;
	return false;
}

char *
user_name(uint32_t uid)
{
	FILE *f = fopen("/etc/passwd", "re");
	autoentry struct entry e = { 0 };
	char *name = NULL;

	while (f != NULL && name == NULL && next_user(f, &e))
		if (e.id == uid && (name = strdup(e.name)) == NULL)
			break;
	tell_absent(f);
	return name;
}

bool
user_uid(const char *name, uint32_t *uid, uint32_t *gid)
{
	FILE *f = fopen("/etc/passwd", "re");
	autoentry struct entry e = { 0 };
	bool found = false;

	while (f != NULL && !found && next_user(f, &e))
		found = strcmp(e.name, name) == 0;
	tell_absent(f);
	if (found)
		*uid = e.id;
	if (found && gid != NULL)
		*gid = e.gid;
	return found;
}

int
users_each(int (*each)(void *ctx, const char *name, uint32_t uid, const char *host), void *ctx)
{
	FILE *f = fopen("/etc/passwd", "re");
	autoentry struct entry e = { 0 };
	int ret = 0;

	while (f != NULL && ret == 0 && next_user(f, &e))
		ret = each(ctx, e.name, e.id, e.host != NULL ? e.host : "");
	tell_absent(f);
	return ret;
}

bool
user_in_group(const char *user, const char *group)
{
	FILE *f = fopen("/etc/group", "re");
	autoentry struct entry e = { 0 };
	uint32_t uid, gid = UINT32_MAX;
	bool in = false;

	/* if the primary group can't be read, the group's own list decides */
	(void)user_uid(user, &uid, &gid);
	while (f != NULL && !in && next_group(f, &e))
		in = strcmp(e.name, group) == 0 && (e.gid == gid || has_member(e.members, user));
	tell_absent(f);
	return in;
}

bool
group_gid(const char *name, uint32_t *gid)
{
	FILE *f = fopen("/etc/group", "re");
	autoentry struct entry e = { 0 };
	bool found = false;

	while (f != NULL && !found && next_group(f, &e))
		found = strcmp(e.name, name) == 0;
	tell_absent(f);
	if (found)
		*gid = e.gid;
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

/*
 * Returns 1 if the file gives the id to this user or, with uid NULL, to any user. Returns 0 if not, or -1 with errno if
 * that can't be read.
 */
static int
range_gives(const char *file, const uint32_t *uid, const char *name, uint32_t id)
{
	FILE *f = fopen(file, "re");
	autofree char *line = NULL;
	uint32_t first, count;
	bool found = false;
	size_t size = 0;
	char *who;

	while (f != NULL && !found && getline(&line, &size, f) != -1)
		found = (uid != NULL ? line_gives(line, *uid, name, &first, &count) :
		    parse_range(line, &who, &first, &count)) && id >= first && id - first < count;
	if (f == NULL)
		return errno == ENOENT ? 0 : -1;
	tell_absent(f);
	return found ? 1 : errno == 0 ? 0 : -1;
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
	return range_gives("/etc/subuid", NULL, NULL, id);
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
	autoentry struct entry e = { 0 };
	char *member;

	/* it must be the primary group in /etc/passwd: newgrp(1) can give a process any of its user's groups */
	while (alone && next_user(users, &e)) {
		alone = e.gid != gid || e.id == uid;
		primary = primary || (e.id == uid && e.gid == gid);
	}
	while (alone && next_group(groups, &e)) {
		if (e.gid != gid)
			continue;
		his = strcmp(e.name, name) == 0;
		alone = his;
		while (alone && (member = strsep(&e.members, ",")) != NULL)
			alone = *member == '\0' || strcmp(member, name) == 0;
	}
	alone = alone && his && primary && !e.malformed && feof(users) && feof(groups);
	if (users != NULL)
		fclose(users);
	if (groups != NULL)
		fclose(groups);
	return alone;
}

bool
user_owns_uid(uint32_t uid, const char *name, uint32_t id)
{
	return id == uid || (uid == 0 && id == NO_ONES_ID) || range_gives("/etc/subuid", &uid, name, id) == 1;
}

bool
user_owns_gid(uint32_t uid, const char *name, uint32_t primary, uint32_t id)
{
	if (uid == 0 && id == NO_ONES_ID)
		return true;
	if (id == primary && id != 0 && is_private_group(uid, name, id))
		return true;
	return range_gives("/etc/subgid", &uid, name, id) == 1;
}
