/*
 * See warn_parts.h.  What the host would make of a rule is asked of the code that the
 * helper judges by.
 */
#include "warn_parts.h"

#include <stdio.h>
#include <string.h>

#include "../host/cdigpus.h"
#include "../host/drivernames.h"
#include "../host/drivernodes.h"
#include "../host/gpus.h"
#include "../pure/furthernode.h"
#include "../pure/path.h"
#include "../read/parse.h"
#include "warn.h"

void
look_at_gpus(const struct check_set *s, struct gpu_view *v)
{
	unsigned vendors = 0;
	struct why why;
	size_t i, k;

	*v = (struct gpu_view){ 0 };
	for (i = 0; i < s->n; i++)
		for (k = 0; is_policy(&s->v[i]) && k < s->v[i].policy.gpus; k++)
			vendors |= gpu_rule_vendors(&s->v[i].policy.gpu[k]);
	v->seen = vendors != 0 && gpus_of_host(vendors, &v->inventory, &why) == 0 &&
	    cdi_registry_load(CDI_DIRS, true, specs_parse, &v->specs, &why) == 0 &&
	    cdigpus_name(&v->specs, &v->inventory, &why) == 0;
}

void
gpu_view_free(struct gpu_view *v)
{
	inventory_free(&v->inventory);
	cdi_registry_free(&v->specs);
}

/* The best that the host has under this name of the rule's vendor. */
static const struct gpu *
find_gpu(const struct inventory *inv, const struct gpu_rule *r, const char *name)
{
	const struct gpu *found = NULL;
	size_t i;

	for (i = 0; i < inv->gpus; i++)
		if (gpu_rule_means(r, name, &inv->gpu[i]) &&
		    (found == NULL || found->unusable[0] != '\0'))
			found = &inv->gpu[i];
	return found;
}

/* A GPU that the rule names; false if that one can't be given. */
static bool
warn_gpu(struct checked *c, const struct gpu_rule *r, const char *name, const struct check_set *s,
    const struct inventory *inv)
{
	const struct gpu *g = find_gpu(inv, r, name);

	if (g == NULL)
		fault_add(&c->faults, r->line, true, "this host has no %s GPU \"%s\" (gpuhelperctl devices lists them)",
		    gpu_rule_vendor(r), name);
	else if (g->unusable[0] != '\0')
		fault_add(&c->faults, r->line, true, "%s GPU \"%s\" can't be given: %s", gpu_rule_vendor(r), name,
		    g->unusable);
	else if (g->integrated && !s->settings.allow_integrated)
		fault_add(&c->faults, r->line, true, "%s GPU \"%s\" is integrated: it is given only with allow_integrated = "
		    "true in gpuhelper.conf", gpu_rule_vendor(r), name);
	else
		return true;
	return false;
}

/*
 * An ACL's mask stands where the mode's group bits are: nvidia-modprobe, which
 * any CUDA program runs, takes that for a mode that is not what it should be.
 */
static void
warn_driver(struct checked *c, const struct gpu_rule *r, const struct inventory *inv)
{
	if ((gpu_rule_vendors(r) & 1U << GPU_NVIDIA) != 0 && inv->nvidia_modify && (inv->nvidia_mode & 0006) != 0006 &&
	    (inv->nvidia_mode & 0060) != 0060)
		fault_add(&c->faults, r->line, true, "the NVIDIA driver's DeviceFileMode is %04o: nvidia-modprobe sets the nodes "
		    "back to that under a grant by ACL (rootless containers): set NVreg_DeviceFileMode=0660 or "
		    "NVreg_ModifyDeviceFiles=0", inv->nvidia_mode);
}

/* What would refuse the first of the rule's GPUs for its driver's files: mostly the same for all of them. */
static void
warn_driver_files(struct checked *c, const struct gpu_rule *r, const struct check_set *s, const struct gpu_view *v)
{
	const struct inventory *inv = &v->inventory;
	struct driver_want want = { .rule = r };
	const struct driver_question q = { &v->specs, inv, &s->settings, &want, 1 };
	autostrlist struct strlist used = { 0 };
	struct driver_nodes nodes = { 0 };
	struct edits edits = { 0 };
	const char *unnamed;
	struct why why;
	size_t i;

	for (i = 0; i < inv->gpus && want.gpu == NULL; i++)
		if (inv->gpu[i].unusable[0] == '\0' && gpu_rule_names(r, &inv->gpu[i]))
			want.gpu = &inv->gpu[i];
	if (want.gpu != NULL && (driver_files(&q, &edits, &used, &why) == -1 || driver_nodes(&q, &nodes, &why) == -1))
		fault_add(&c->faults, r->line, true, "it would be refused: %s", why.text);
	else if (want.gpu == NULL && r->kind != NULL)
		fault_add(&c->faults, r->line, true, "no CDI spec in /etc/cdi or /run/cdi names a GPU of this host as this rule "
		    "does%s%.200s", inv->cdi_problem[0] != '\0' ? ", and one can't be used: " : "", inv->cdi_problem);
	else if (want.gpu != NULL && want.gpu->vendor == GPU_NVIDIA && (unnamed = driver_unnamed(&edits)) != NULL)
		fault_add(&c->faults, r->line, true, "containers get %s, which they don't find: no loader looks into its directory, "
		    "and the spec's hooks are not run: gpuhelperctl cdi generate --vendor nvidia", unnamed);
	edits_free(&edits);
}

/* The first spec that has a file beneath the folder mounted; NULL: none. */
static const struct cdi_file *
spec_with_files_in(const struct cdi_registry *specs, const char *folder)
{
	size_t i, k;

	for (i = 0; i < specs->files; i++)
		for (k = 0; specs->file[i].usable && k < specs->file[i].spec.edits.mounts; k++)
			if (path_is_beneath(specs->file[i].spec.edits.mount[k].host_path, folder))
				return &specs->file[i];
	return NULL;
}

/* A folder to write in that holds files which a spec has mounted into other containers. */
static void
warn_driver_folders(struct checked *c, const struct cdi_registry *specs)
{
	const struct folder_rule *r;
	const struct cdi_file *f;
	size_t i;

	for (i = 0; i < c->policy.folders; i++) {
		r = &c->policy.folder[i];
		if (r->writable && (f = spec_with_files_in(specs, r->path)) != NULL)
			fault_add(&c->faults, r->line, true, "folder %.120s holds the driver's files of %.120s: who writes there changes "
			    "the driver of others, who get none while a container without a user namespace has the folder", r->path,
			    f->path);
	}
}

/* Nodes that lead to other hosts. */
static void
warn_nodes(struct checked *c, const struct gpu_rule *r)
{
	if ((r->nodes & (FURTHER_INFINIBAND | FURTHER_IMEX)) != 0)
		fault_add(&c->faults, r->nodes_line, true, "nodes: what other hosts offer by InfiniBand or IMEX is open to these "
		    "containers as far as the fabric lets this host; no policy holds that");
}

/* More than the rule names, on any host. */
static bool
is_count_beyond_names(const struct gpu_rule *r)
{
	return r->devices.n > 0 && !strlist_has(&r->devices, "all") && r->count > r->devices.n;
}

/* What a request for as many as the rule gives would be told: by the rule alone, for a policy may have more. */
static void
warn_request(struct checked *c, const struct gpu_rule *r, const struct check_set *s, const struct inventory *inv,
    const struct asker *who)
{
	struct policy one = c->policy;
	struct gpu_rule rule = *r;
	autogrant struct grant grant = { 0 };
	autoask struct ask ask = { 0 };
	char count[16], line[320];
	struct why why;
	size_t n;

	one.gpu = &rule;
	one.gpus = 1;
	snprintf(count, sizeof(count), "%u", r->count);
	if (ask_parse(count, "none", &ask, &why) == -1 ||
	    policy_allows(&one, who, &ask, inv, &s->settings, &grant, &why) == VERDICT_GRANT)
		return;
	n = (size_t)snprintf(line, sizeof(line), "%s:%u: ", one.name, r->line);
	warn_once(c, r->line, "a request of user %.32s for %s would be refused: %s", who->user, r->count == 1 ? "one" : count,
	    why.text + (text_starts(why.text, line) ? n : 0));
}

/* The names first: what is wrong with one of them explains what a request would be told. */
static void
warn_rule(struct checked *c, const struct gpu_rule *r, const struct check_set *s, const struct gpu_view *v,
    const struct asker *who, size_t n)
{
	bool named = true;
	size_t k;

	if (is_count_beyond_names(r))
		fault_add(&c->faults, r->line, true, "count = %u, and the rule names %zu: a container gets no more than those",
		    r->count, r->devices.n);
	if (s->settings_at != SIZE_MAX && r->wait > s->settings.max_wait)
		fault_add(&c->faults, r->line, true, "wait = %u is more than max_wait in gpuhelper.conf: it waits %u s", r->wait,
		    s->settings.max_wait);
	if (!v->seen)
		return;
	warn_driver(c, r, &v->inventory);
	warn_driver_files(c, r, s, v);
	warn_nodes(c, r);
	for (k = 0; k < r->devices.n; k++)
		if (strcmp(r->devices.v[k], "all") != 0)
			named = warn_gpu(c, r, r->devices.v[k], s, &v->inventory) && named;
	for (k = 0; named && !is_count_beyond_names(r) && k < n; k++)
		warn_request(c, r, s, &v->inventory, &who[k]);
}

void
warn_gpus(struct checked *c, const struct check_set *s, const struct gpu_view *v)
{
	struct asker who[ASKERS_MAX];
	size_t i, n = policy_askers(&c->policy, who);

	for (i = 0; i < c->policy.gpus; i++)
		warn_rule(c, &c->policy.gpu[i], s, v, who, n);
	if (v->seen)
		warn_driver_folders(c, &v->specs);
}
