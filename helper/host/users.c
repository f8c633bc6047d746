/* See users.h.  Reads two files of root's. */
#include "users.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

char *
user_name(uint32_t uid)
{
	FILE *f = fopen("/etc/passwd", "re");
	struct passwd *pw;
	char *name = NULL;

	while (f != NULL && name == NULL && (pw = fgetpwent(f)) != NULL)
		if (pw->pw_uid == uid)
			name = strdup(pw->pw_name);
	if (f != NULL)
		fclose(f);
	return name;
}

bool
user_uid(const char *name, uint32_t *uid, uint32_t *gid)
{
	FILE *f = fopen("/etc/passwd", "re");
	struct passwd *pw;
	bool found = false;

	while (f != NULL && !found && (pw = fgetpwent(f)) != NULL)
		if (strcmp(pw->pw_name, name) == 0) {
			*uid = pw->pw_uid;
			if (gid != NULL)
				*gid = pw->pw_gid;
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

	(void)user_uid(user, &uid, &gid);
	while (f != NULL && !in && (gr = fgetgrent(f)) != NULL) {
		if (strcmp(gr->gr_name, group) != 0)
			continue;
		in = gr->gr_gid == gid;
		for (m = gr->gr_mem; !in && *m != NULL; m++)
			in = strcmp(*m, user) == 0;
	}
	if (f != NULL)
		fclose(f);
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
	if (f != NULL)
		fclose(f);
	return found;
}
