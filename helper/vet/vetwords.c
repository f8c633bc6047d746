/* See vetparts.h: variables and SELinux labels. */
#include <string.h>

#include "../gpu/gpufacts.h"
#include "../gpu/vendorasks.h"
#include "../gpu/vendorvars.h"
#include "../kernel/hexform.h"
#include "../kernel/secontext.h"
#include "vetparts.h"

/* Variables. */

static bool
specs_set(const struct vet *v, const char *entry)
{
	const struct cdi_edits *e;
	size_t i;

	if (vendor_env_requests(entry))
		return false;
	for (i = 0; i < 2 * v->sources; i++)
		if ((e = vet_source_edits(v, i)) != NULL && strlist_has(&e->env, entry))
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

/* True if each word between commas has the form. */
static bool
each_has_form(const char *words, const char *form)
{
	autostrlist struct strlist l = { 0 };
	const char *end;
	size_t i;

	for (;; words = end + 1) {
		end = words + strcspn(words, ",");
		if (!strlist_add(&l, words, (size_t)(end - words)))
			return false;
		if (*end == '\0')
			break;
	}
	for (i = 0; i < l.n; i++)
		if (!has_hex_form(l.v[i], form))
			return false;
	return true;
}

/*
 * True for GPUs by their UUIDs, and for capabilities but «all». A runtime would take other words for GPUs that were not
 * granted.
 */
static bool
tells_vendor(const char *entry)
{
	static const char nvidia[] = "NVIDIA_VISIBLE_DEVICES=", amd[] = "AMD_VISIBLE_DEVICES=";

	if (text_starts(entry, nvidia))
		return each_has_form(entry + strlen(nvidia), NVIDIA_UUID_FORM);
	if (text_starts(entry, amd))
		return each_has_form(entry + strlen(amd), "0xhhhhhhhhhhhhhhhh");
	return has_value_of(entry, "NVIDIA_DRIVER_CAPABILITIES", "abcdefghijklmnopqrstuvwxyz0123456789,") &&
	    strstr(entry, "all") == NULL;
}

bool
vet_names_gpus(const struct settings *s, const char *entry)
{
	if (s->respect_allocation && (has_value_of(entry, "CUDA_VISIBLE_DEVICES", NUMBERS) ||
	    has_value_of(entry, "ROCR_VISIBLE_DEVICES", NUMBERS)))
		return true;
	return s->driver_files == DRIVER_FILES_VENDOR_RUNTIME && tells_vendor(entry);
}

int
vet_env(const struct vet *v, struct why *why)
{
	const struct strlist *env = &v->edits->env;
	char name[64];
	size_t i, n;

	for (i = 0; i < env->n; i++) {
		if (strlist_has(&v->policy->env, env->v[i]) ||
		    (v->policy->gpus > 0 && vet_names_gpus(v->settings, env->v[i])) ||
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

/* True for one level with the same categories, however they are spelled: the kernel writes c1,c2,c3 as c1.c3. */
static bool
same_level(const char *a, const char *b)
{
	const size_t n = strcspn(a, ":") + 1;

	if (strcmp(a, b) == 0)
		return true;
	return strchr(a, '-') == NULL && strchr(b, '-') == NULL && strncmp(a, b, n) == 0 && level_categories(a) > 0 &&
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

	if (v->request->spec.label != NULL && !secontext_parse(v->request->spec.label, &had))
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
		return v->request->spec.mount_label != NULL;
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
