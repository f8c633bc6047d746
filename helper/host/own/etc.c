/* See etc.h. Only reads, and follows no link. Must never return fewer policies than there are. */
#include "etc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../policy/conffault.h"
#include "../../policy/policyset.h"
#include "../file.h"
#include "../listing.h"
#include "../trust.h"

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

static bool
names_a_policy(const char *name)
{
	size_t n = strlen(name);

	return name[0] != '.' && n > 5 && strcmp(name + n - 5, ".conf") == 0;
}

/* Gets the names of the policy files, sorted. The names of other files go to out->ignored. */
static int
list_policies(int dirfd, const char *shown, struct strlist *names, struct policy_files *out, struct why *why)
{
	autostrlist struct strlist all = { 0 };
	const int ret = listing_names(dup(dirfd), 2 * POLICY_FILES_MAX, &all), error = errno;
	size_t i;

	if (ret == -1 && error != E2BIG)
		return error == ENOMEM ? refuse_nomem(why) : refuse(why, WHY_IO, "%s: %s", shown, strerror(error));
	for (i = 0; i < all.n; i++)
		if (!strlist_add(names_a_policy(all.v[i]) ? names : &out->ignored, all.v[i], SIZE_MAX))
			return refuse_nomem(why);
	if (ret == -1 || names->n > POLICY_FILES_MAX || out->ignored.n > POLICY_FILES_MAX)
		return refuse(why, WHY_CONFIG, "%s: more than %d files", shown, POLICY_FILES_MAX);
	return 0;
}

static int
load_policy(int dirfd, const char *dir, char *name, bool strict, struct policy_files *out, struct why *why)
{
	struct policy_file *p = &out->v[out->n];
	enum trust_found found;
	char shown[1400];

	snprintf(shown, sizeof(shown), "%s/policy.d/%s", dir, name);
	found = trust_find_text(dirfd, name, shown, CONF_MAX, strict, &p->text, &p->len, why);
	out->hidden = found == TRUST_NO_ACCESS;
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
	out->hidden = found == TRUST_NO_ACCESS;
	if (out->hidden)
		return refuse(why, WHY_IO, "%s: only root may list it: run this as root", path);
	if (found != TRUST_FOUND)
		return found == TRUST_ABSENT ? 0 : -1;
	if (list_policies(fd, path, &names, out, why) == -1)
		return -1;
	if (names.n > 0 && (out->v = calloc(names.n, sizeof(*out->v))) == NULL)
		return refuse_nomem(why);
	for (i = 0; i < names.n; i++)
		if (load_policy(fd, dir, names.v[i], strict, out, why) == -1)
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
