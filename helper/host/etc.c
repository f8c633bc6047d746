/* See etc.h.  Reads; never follows a link; grants nothing where in doubt. */
#include "etc.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../pure/cleanup.h"
#include "../pure/conffault.h"
#include "../pure/policyset.h"
#include "file.h"
#include "trust.h"

int
settings_text(const char *dir, bool strict, char **text, size_t *len, struct why *why)
{
	autoclose int fd = -1;
	enum trust_found found;
	char shown[1200];

	*text = NULL;
	if ((found = trust_find_dir(dir, strict, &fd, why)) != TRUST_FOUND)
		return found == TRUST_ABSENT ? 0 : -1;
	snprintf(shown, sizeof(shown), "%s/" SETTINGS_FILE, dir);
	found = trust_find_text(fd, SETTINGS_FILE, shown, CONF_MAX, strict, text, len, why);
	return found == TRUST_FOUND || found == TRUST_ABSENT ? 0 : -1;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool
is_policy_name(const char *name)
{
	size_t n = strlen(name);

	return name[0] != '.' && n > 5 && strcmp(name + n - 5, ".conf") == 0;
}

/* Names of the directory, sorted; those that are no policies go to out->ignored. */
static int
list_names(int dirfd, const char *shown, struct strlist *names, struct policy_files *out, struct why *why)
{
	struct dirent *e;
	DIR *d;
	int fd, ret = 0;

	if ((fd = dup(dirfd)) == -1 || (d = fdopendir(fd)) == NULL) {
		if (fd != -1)
			close(fd);
		return refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
	}
	while (ret == 0 && (errno = 0, e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (!strlist_add(is_policy_name(e->d_name) ? names : &out->ignored, e->d_name, SIZE_MAX))
			ret = refuse_nomem(why);
		else if (names->n > POLICY_FILES_MAX || out->ignored.n > POLICY_FILES_MAX)
			ret = refuse(why, WHY_CONFIG, "%s: more than %d files", shown, POLICY_FILES_MAX);
	}
	if (ret == 0 && errno != 0)
		ret = refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
	closedir(d);
	if (names->n > 1)
		qsort(names->v, names->n, sizeof(*names->v), by_name);
	return ret;
}

static int
load_one(int dirfd, const char *dir, char *name, bool strict, struct policy_files *out, struct why *why)
{
	struct policy_file *p = &out->v[out->n];
	enum trust_found found;
	char shown[1400];

	snprintf(shown, sizeof(shown), "%s/policy.d/%s", dir, name);
	found = trust_find_text(dirfd, name, shown, CONF_MAX, strict, &p->text, &p->len, why);
	out->shut = found == TRUST_SHUT;
	if (found != TRUST_FOUND)
		return -1;
	if ((p->name = strdup(name)) == NULL) {
		free(p->text);
		return refuse_nomem(why);
	}
	out->n++;
	return 0;
}

int
policy_files_load(const char *dir, bool strict, struct policy_files *out, struct why *why)
{
	autostrlist struct strlist names = { 0 };
	autoclose int fd = -1;
	enum trust_found found;
	char path[1200];
	size_t i;

	*out = (struct policy_files){ 0 };
	if ((size_t)snprintf(path, sizeof(path), "%s/policy.d", dir) >= sizeof(path))
		return refuse(why, WHY_USAGE, "%.40s...: too long a path", dir);
	found = trust_find_dir(path, strict, &fd, why);
	out->shut = found == TRUST_SHUT;
	if (found != TRUST_FOUND)
		return found == TRUST_ABSENT ? 0 : -1;
	if (list_names(fd, path, &names, out, why) == -1)
		return -1;
	if (names.n > 0 && (out->v = calloc(names.n, sizeof(*out->v))) == NULL)
		return refuse_nomem(why);
	for (i = 0; i < names.n; i++)
		if (load_one(fd, dir, names.v[i], strict, out, why) == -1)
			return -1;
	return 0;
}

void
policy_files_free(struct policy_files *p)
{
	size_t i;

	for (i = 0; i < p->n; i++) {
		free(p->v[i].name);
		free(p->v[i].text);
	}
	free(p->v);
	strlist_free(&p->ignored);
	*p = (struct policy_files){ 0 };
}
