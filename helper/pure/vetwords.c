/* See vetparts.h: variables and SELinux labels. */
#include <string.h>

#include "secontext.h"
#include "vendorenv.h"
#include "vetparts.h"

/* Variables. */

static bool
specs_set(const struct vet *v, const char *entry)
{
	size_t i;

	if (vendor_env_requests(entry))
		return false;
	for (i = 0; i < v->sources; i++)
		if (strlist_has(&v->source[i].edits->env, entry))
			return true;
	return false;
}

/* True for «NAME=», and then only these characters. */
static bool
has_value_of(const char *entry, const char *name, const char *characters)
{
	const size_t n = strlen(name);

	return strncmp(entry, name, n) == 0 && entry[n] == '=' && entry[n + 1 + strspn(entry + n + 1, characters)] == '\0';
}

#define NUMBERS "0123456789,"
#define NAMES NUMBERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-:."

bool
vet_names_gpus(const struct settings *s, const char *entry)
{
	if (s->respect_allocation && (has_value_of(entry, "CUDA_VISIBLE_DEVICES", NUMBERS) ||
	    has_value_of(entry, "ROCR_VISIBLE_DEVICES", NUMBERS)))
		return true;
	if (s->driver_files != DRIVER_FILES_VENDOR_RUNTIME)
		return false;
	return has_value_of(entry, "NVIDIA_VISIBLE_DEVICES", NAMES) || has_value_of(entry, "AMD_VISIBLE_DEVICES", NAMES) ||
	    has_value_of(entry, "NVIDIA_DRIVER_CAPABILITIES", NAMES);
}

int
vet_env(const struct vet *v, struct why *why)
{
	const struct strlist *env = &v->edits->env;
	char name[64];
	size_t i, n;

	for (i = 0; i < env->n; i++) {
		if (strlist_has(&v->policy->env, env->v[i]) || vet_names_gpus(v->settings, env->v[i]) ||
		    (vet_gives_driver_files(v) && specs_set(v, env->v[i])))
			continue;
		/* the value may be a secret */
		n = strcspn(env->v[i], "=");
		n = n < sizeof(name) ? n : sizeof(name) - 1;
		memcpy(name, env->v[i], n);
		name[n] = '\0';
		return vet_refuse("variable", name, why);
	}
	return 0;
}

/* Labels. */

/* True for the same categories in any order. */
static bool
same_level(const char *a, const char *b)
{
	const size_t n = strcspn(a, ":") + 1;

	if (strcmp(a, b) == 0)
		return true;
	return level_kind(a) == LEVEL_CATEGORIES && level_kind(b) == LEVEL_CATEGORIES && strncmp(a, b, n) == 0 &&
	    level_categories(a) == level_categories(b) && level_overlaps(a, b);
}

/* The level is the policy's; else the engine's, if that sets the container apart; else a pair that was drawn. */
static bool
is_given_level(const struct vet *v, const char *had, const char *level)
{
	const char *policys = v->policy->selinux_level;

	if (policys != NULL && strcmp(policys, "auto") != 0)
		return same_level(level, policys);
	if (level_kind(had) == LEVEL_CATEGORIES)
		return same_level(level, had);
	return level_kind(level) == LEVEL_CATEGORIES && level_categories(level) == 2 && text_starts(level, "s0:");
}

static bool
is_given_label(const struct vet *v, struct secontext *c)
{
	const char *type = v->policy->selinux_type != NULL ? v->policy->selinux_type : SECONTEXT_CONTAINER_TYPE;
	struct secontext had = { .user = "system_u", .role = "system_r", .level = "s0" };

	if (v->request->label != NULL && !secontext_parse(v->request->label, &had))
		return false;
	return secontext_parse(v->edits->label, c) && strcmp(c->user, had.user) == 0 && strcmp(c->role, had.role) == 0 &&
	    strcmp(c->type, type) == 0 && is_given_level(v, had.level, c->level);
}

static bool
is_given_mount_label(const struct vet *v, const struct secontext *process)
{
	struct secontext c;

	/* the engine's own stays */
	if (v->edits->mount_label == NULL)
		return v->request->mount_label != NULL;
	return secontext_parse(v->edits->mount_label, &c) && strcmp(c.user, process->user) == 0 &&
	    strcmp(c.role, "object_r") == 0 && strcmp(c.type, SECONTEXT_FILE_TYPE) == 0 &&
	    same_level(c.level, process->level);
}

int
vet_labels(const struct vet *v, struct why *why)
{
	const struct edits *e = v->edits;
	struct secontext c;

	if (e->label == NULL && e->mount_label == NULL)
		return v->enforcing ? vet_refuse("SELinux label", "(none)", why) : 0;
	if (e->label == NULL || !is_given_label(v, &c))
		return vet_refuse("SELinux label", e->label != NULL ? e->label : "(none)", why);
	return is_given_mount_label(v, &c) ? 0 : vet_refuse("SELinux label", e->mount_label != NULL ? e->mount_label :
	    "(none)", why);
}
