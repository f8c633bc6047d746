/*
 * A host, its policies, and what a verdict about them may give user «worker». The model is written
 * from the promise to administrators, not from the code (ask/decisionindexes.h).
 */
#ifndef GPUHELPER_TESTS_DECISIONMODEL_H
#define GPUHELPER_TESTS_DECISIONMODEL_H

#include <stdlib.h>
#include <string.h>

#include "../../helper/ask/decisionindexes.h"
#include "../../helper/base/cleanup.h"
#include "../../helper/base/path.h"
#include "../../helper/read/conf/policyread.h"
#include "policy/policydecide.h"

static struct gpu model_gpus[] = {
	{ .vendor = GPU_NVIDIA, .pci = "0000:3b:00.0", .rank = 0 },
	{ .vendor = GPU_NVIDIA, .pci = "0000:af:00.0", .rank = 1 },
	{ .vendor = GPU_NVIDIA, .pci = "0000:d8:00.0", .rank = 2 },
	{ .vendor = GPU_NVIDIA, .pci = "0000:e0:00.0", .unusable = "excluded by the driver" },
	{ .vendor = GPU_AMD, .pci = "0000:03:00.0" },
	{ .vendor = GPU_AMD, .pci = "0000:04:00.0", .integrated = true },
};
static const struct inventory model_host = { .gpu = model_gpus, .gpus = sizeof(model_gpus) / sizeof(model_gpus[0]) };
static const struct client model_worker = { 1000, "worker", true, true };
static const struct identity model_ids[IDENTITY_KINDS] = { { IDENTITY_TOKEN, "ml", "train", NULL, NULL, "https://ci", NULL },
	{ IDENTITY_CALLER, NULL, NULL, NULL, NULL, NULL, NULL },
	{ IDENTITY_CLAIM, "ml", "train", NULL, NULL, NULL, NULL } };
static const struct settings model_settings = { .max_wait = 60 };

/* NULL stands for a broken file. */
static const char *const model_files[] = {
	"identity = \"caller\"; callers = [ \"worker\" ]; gpus = ( { vendor = \"nvidia\"; devices = [ \"0000:3b:00.0\", "
	    "\"0000:af:00.0\", \"0000:e0:00.0\" ]; count = 2; }, { vendor = \"amd\"; sharing = \"shared\"; } ); folders = ( "
	    "{ path = \"/srv/data\"; }, { path = \"/srv/out\"; access = \"rw\"; subfolders = true; target = \"/out\"; }, "
	    "{ path = \"/srv/sets/a*\"; } );",
	"pipeline = \"ml/train\"; privileged = true; callers = [ \"worker\" ]; folders = ( { path = \"/srv/proven\"; access = \"rw\"; } );",
	"identity = \"caller\"; callers = [ \"other\" ]; folders = ( { path = \"/srv/other\"; } );",
	"pipeline = \"ml/train\"; issuer = \"https://else\"; folders = ( { path = \"/srv/else\"; } );",
	NULL,
	"identity = \"caller\"; callers = [ \"worker\" ]; folders = ( { path = \"/srv/late\"; } );",
};
#define MODEL_FILES (sizeof(model_files) / sizeof(model_files[0]))

/* Makes the policies from these files. Returns false if one does not parse. */
static inline bool
model_policies(struct policy_set *out)
{
	struct faults f = { 0 };
	size_t i;

	*out = (struct policy_set){ calloc(MODEL_FILES, sizeof(*out->v)), MODEL_FILES };
	for (i = 0; i < MODEL_FILES; i++) {
		char name[] = { (char)('0' + i), '\0' };

		if (model_files[i] == NULL) {
			out->v[i].policy.name = strdup(name);
			out->v[i].broken = strdup("broken");
		} else if (!policy_parse(name, model_files[i], strlen(model_files[i]), &out->v[i].policy, &f))
			return false;
	}
	return true;
}

/* Whether a path names only its own place. */
static inline bool
model_is_straight(const char *path)
{
	return path[0] == '/' && strstr(path, "//") == NULL && strstr(path, "/./") == NULL && strstr(path, "/../") == NULL &&
	    (strlen(path) < 3 || strcmp(path + strlen(path) - 3, "/..") != 0) &&
	    (strlen(path) < 2 || strcmp(path + strlen(path) - 2, "/.") != 0) && path[strlen(path) - 1] != '/';
}

static inline bool
model_may_have_folder(const struct policy *p, const struct folder_grant *f)
{
	const char *rest = f->path + strlen("/srv/out");

	if (!model_is_straight(f->path) || !model_is_straight(f->target))
		return false;
	if (p->name[0] == '1')
		return strcmp(f->path, "/srv/proven") == 0 && strcmp(f->target, "/srv/proven") == 0;
	if (strcmp(f->path, "/srv/data") == 0)
		return !f->writable && strcmp(f->target, "/srv/data") == 0;
	if (strncmp(f->path, "/srv/sets/a", 11) == 0 && strchr(f->path + 11, '/') == NULL)
		return !f->writable && (strcmp(f->path, "/srv/sets/a*") == 0 ? strcmp(f->target, "/srv/sets") == 0 :
		    strcmp(f->target, f->path) == 0 && strpbrk(f->path, "*?") == NULL);
	return strncmp(f->path, "/srv/out", 8) == 0 && (*rest == '\0' || *rest == '/') && strncmp(f->target, "/out", 4) == 0 &&
	    strcmp(f->target + 4, rest) == 0 && strpbrk(f->path, "*?") == NULL &&
	    (*rest == '\0' ? f->base == NULL : f->base != NULL && strcmp(f->base, "/srv/out") == 0);
}

static inline bool
model_may_have_gpus(const struct policy *p, const struct grant *g)
{
	static const char *const nvidia[] = { "0000:3b:00.0", "0000:af:00.0", NULL }, *const amd[] = { "0000:03:00.0", NULL };
	unsigned count[2] = { 0, 0 };
	const char *const *may;
	const struct gpu_grant *w;
	size_t i, k, m;

	for (i = 0; i < g->gpus; i++) {
		w = &g->gpu[i];
		may = w->rule->vendor == GPU_AMD ? amd : nvidia;
		count[w->rule->vendor == GPU_AMD] += w->count;
		if (p->name[0] != '0' || w->count == 0 || w->count > w->n)
			return false;
		for (k = 0; k < w->n; k++) {
			for (m = 0; may[m] != NULL && strcmp(may[m], w->candidate[k]->pci) != 0; m++)
				;
			if (may[m] == NULL)
				return false;
			for (m = 0; m < k; m++)
				if (w->candidate[m] == w->candidate[k])
					return false;
		}
	}
	return count[0] <= 2 && count[1] <= 1;
}

/* Whether the decision gives no more than a policy gives to «worker» with this proof. */
static inline bool
model_may_have(const struct decision *d, const struct identity *id)
{
	size_t i;

	if (d->verdict != VERDICT_GRANT || d->policy->name[0] > '1' || (d->policy->name[0] == '1' && id->kind != IDENTITY_TOKEN) ||
	    !model_may_have_gpus(d->policy, &d->grant) || d->grant.wait > 60)
		return false;
	for (i = 0; i < d->grant.folders; i++)
		if (!model_may_have_folder(d->policy, &d->grant.folder[i]))
			return false;
	return true;
}

/*
 * What the helper makes of these bytes as the judge's verdict; false: a refusal. Call
 * decision_free() in either case.
 */
static inline bool
model_accept_within(const char *bytes, size_t len, const struct judge_bounds *bounds, struct decision *out,
    struct why *why)
{
	struct lines t = { .at = bytes, .end = bytes + len };
	struct decision_indexes v = { .policy = 0 };
	bool taken;

	*out = (struct decision){ .verdict = VERDICT_OTHER };
	decision_indexes_lines(&t, &v);
	refuse(why, WHY_BUG, "no verdict");
	taken = lines_finish(&t) && indexes_take(&v, bounds, out, why) == 0;
	decision_indexes_free(&v);
	return taken;
}

static inline bool
model_accept(const char *bytes, size_t len, const struct policy_set *policies, const struct identity *id, struct decision *out,
    struct why *why)
{
	const struct judge_bounds b = { &model_worker, id, &model_settings, policies, &model_host, GPUS_ALL, NULL, NULL,
		false };

	return model_accept_within(bytes, len, &b, out, why);
}

#endif
