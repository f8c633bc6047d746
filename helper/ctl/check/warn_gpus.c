/* See warn_parts.h: checks with the helper's code what this host would grant for each GPU rule. */
#include "warn_parts.h"

#include <stdio.h>
#include <string.h>

#include "../../base/path.h"
#include "../../host/driver/cdigpus.h"
#include "../../host/driver/drivernames.h"
#include "../../host/driver/drivernodes.h"
#include "../../host/gpu/udev.h"
#include "../../read/parse.h"
#include "../explain/extrawords.h"
#include "../worker/tasktakes.h"
#include "warn.h"
#include "../../policy/gpurule.h"
#include "../../policy/policydecide.h"

#define CREATE_WAIT_MAX 240U	/* seconds: Concourse gives a container 5 minutes to be created */

void
host_gpus_find(const struct check_set *s, struct host_gpus *v)
{
	unsigned vendors = 0;
	struct why why;
	size_t i, k;

	*v = (struct host_gpus){ 0 };
	for (i = 0; i < s->n; i++)
		for (k = 0; is_policy(&s->v[i]) && k < s->v[i].policy.gpus; k++)
			vendors |= gpu_rule_vendors(&s->v[i].policy.gpu[k]);
	v->seen = vendors != 0 && gpus_of_host(vendors, &v->inventory, &why) == 0 &&
	    cdi_registry_load(CDI_DIRS, true, specs_parse, &v->specs, &why) == 0 &&
	    cdigpus_name(&v->specs, &v->inventory, &why) == 0;
}

void
host_gpus_free(struct host_gpus *v)
{
	inventory_free(&v->inventory);
	cdi_registry_free(&v->specs);
}

/* The GPU that the name means in this rule; of several, a usable one. */
static const struct gpu *
find_rule_gpu(const struct inventory *inv, const struct gpu_rule *r, const char *name)
{
	const struct gpu *found = NULL;
	size_t i;

	for (i = 0; i < inv->gpus; i++)
		if (gpu_rule_means(r, name, &inv->gpu[i]) &&
		    (found == NULL || found->unusable[0] != '\0'))
			found = &inv->gpu[i];
	return found;
}

/* Checks a GPU that the rule names.  False, with a warning, if it can't be granted. */
static bool
warn_gpu(struct checked *c, const struct gpu_rule *r, const char *name, const struct check_set *s,
    const struct inventory *inv)
{
	const struct gpu *g = find_rule_gpu(inv, r, name);

	if (g == NULL)
		fault_add(&c->faults, r->line, true, "this host has no %s GPU \"%s\" (gpuhelperctl devices lists them)",
		    gpu_rule_vendor(r), name);
	else if (g->unusable[0] != '\0')
		fault_add(&c->faults, r->line, true, "%s GPU \"%s\" can't be granted: %s", gpu_rule_vendor(r), name,
		    g->unusable);
	else if (g->integrated && !s->settings.allow_integrated)
		fault_add(&c->faults, r->line, true, "%s GPU \"%s\" is integrated: to grant it, set allow_integrated = true in "
		    "gpuhelper.conf", gpu_rule_vendor(r), name);
	else
		return true;
	return false;
}

/*
 * A file's ACL shows its mask in the mode's group bits.  nvidia-modprobe, which every CUDA program runs, takes that for
 * a wrong mode and resets it.
 */
static void
warn_driver(struct checked *c, const struct gpu_rule *r, const struct inventory *inv)
{
	if ((gpu_rule_vendors(r) & 1U << GPU_NVIDIA) != 0 && inv->nvidia_modify && (inv->nvidia_mode & 0006) != 0006 &&
	    (inv->nvidia_mode & 0060) != 0060)
		fault_add(&c->faults, r->line, true, "nvidia-modprobe resets the nodes to the NVIDIA driver's DeviceFileMode (%04o), "
		    "which breaks grants to rootless containers: set NVreg_DeviceFileMode=0660 or NVreg_ModifyDeviceFiles=0",
		    inv->nvidia_mode);
}

/* The first usable GPU that the rule names, or NULL. */
static const struct gpu *
rule_gpu(const struct gpu_rule *r, const struct inventory *inv)
{
	size_t i;

	for (i = 0; i < inv->gpus; i++)
		if (inv->gpu[i].unusable[0] == '\0' && gpu_rule_names(r, &inv->gpu[i]))
			return &inv->gpu[i];
	return NULL;
}

struct word_warning {
	struct checked *c;
	unsigned line;
};

static void
warn_word(void *ctx, const char *line)
{
	const struct word_warning *w = ctx;

	fault_add(&w->c->faults, w->line, true, "%s", line);
}

/* Checks the driver files of the rule's first GPU; mostly all of its GPUs have the same ones. */
static void
warn_driver_files(struct checked *c, const struct gpu_rule *r, const struct check_set *s, const struct host_gpus *v)
{
	const struct inventory *inv = &v->inventory;
	struct granted_gpu granted = { rule_gpu(r, inv), r };
	const struct driver_question q = { &v->specs, inv, &s->settings, &granted, 1, false };
	autostrlist struct strlist used = { 0 };
	struct extra_nodes nodes = { 0 };
	struct edits edits = { 0 };
	const char *unnamed;
	struct why why;
	size_t i;

	if (granted.gpu != NULL && (driver_files(&q, &edits, &used, &why) == -1 ||
	    driver_nodes(&q, &nodes, &why) == -1))
		fault_add(&c->faults, r->line, true, "a request would be refused: %s", why.text);
	else if (granted.gpu != NULL && granted.gpu->vendor == GPU_NVIDIA && (unnamed = driver_unnamed(&edits)) != NULL)
		fault_add(&c->faults, r->line, true, "containers will not find %s: no loader looks in its directory, and the spec's "
		    "hooks do not run: gpuhelperctl cdi generate --vendor nvidia", unnamed);
	else if (granted.gpu != NULL)
		extra_words_tell(&v->specs, r->nodes & ~nodes.words, warn_word, &(struct word_warning){ c, r->nodes_line });
	/* a host without a spec may well mean its images to bring the driver's files */
	for (i = 0; used.n > 0 && i < edits.notes.n; i++)
		fault_add(&c->faults, r->line, true, "%s", edits.notes.v[i]);
	edits_free(&edits);
}

/* The first spec that mounts a file beneath the folder, or NULL. */
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

/* Warns about writable folders with files that a spec mounts into other containers. */
static void
warn_driver_folders(struct checked *c, const struct cdi_registry *specs)
{
	const struct folder_rule *r;
	const struct cdi_file *f;
	size_t i;

	for (i = 0; i < c->policy.folders; i++) {
		r = &c->policy.folder[i];
		if (r->writable && (f = spec_with_files_in(specs, r->path)) != NULL)
			fault_add(&c->faults, r->line, true, "folder %.120s has driver files of %.120s: a container that writes there "
			    "changes the driver of others; while a container without a user namespace has the folder, no other one "
			    "gets driver files", r->path, f->path);
	}
}

/* Warns about nodes that give more than a GPU: access to other hosts, or the links between all GPUs. */
static void
warn_nodes(struct checked *c, const struct gpu_rule *r)
{
	if ((r->nodes & (EXTRA_INFINIBAND | EXTRA_IMEX)) != 0)
		fault_add(&c->faults, r->nodes_line, true, "nodes: these containers can reach other hosts by InfiniBand or IMEX as "
		    "far as the fabric lets this host; no policy limits that");
	if ((r->nodes & EXTRA_NVSWITCH) != 0)
		fault_add(&c->faults, r->nodes_line, true, "nodes: \"nvswitch\" lets these containers manage the links between all "
		    "GPUs of this host; CUDA does not need it");
}

/* True if the rule's count is larger than the number of GPUs that it names. */
static bool
is_count_beyond_names(const struct gpu_rule *r)
{
	return r->devices.n > 0 && !strlist_has(&r->devices, "all") && r->count > r->devices.n;
}

/*
 * True, with the reason, if a request for that many of the rule's GPUs would be refused.  Asks the rule alone, as the
 * policy may have others.
 */
static bool
is_refused(const struct checked *c, const struct gpu_rule *r, unsigned n, const struct check_set *s,
    const struct inventory *inv, const struct client *who, struct why *why)
{
	struct policy one = c->policy;
	struct gpu_rule rule = *r;
	autogrant struct grant grant = { 0 };
	autorequested struct requested requested = { 0 };
	char count[16], line[320];
	size_t len;

	one.gpu = &rule;
	one.gpus = 1;
	snprintf(count, sizeof(count), "%u", n);
	if (requested_parse(count, "none", &requested, why) == -1 ||
	    policy_decide(&one, who, &requested, inv, &s->settings, &grant, why) == VERDICT_GRANT)
		return false;
	len = (size_t)snprintf(line, sizeof(line), "%s:%u: ", one.name, r->line);
	if (text_starts(why->text, line))
		memmove(why->text, why->text + len, strlen(why->text + len) + 1);
	return true;
}

static void
warn_request(struct checked *c, const struct gpu_rule *r, const struct check_set *s, const struct inventory *inv,
    const struct client *who)
{
	struct why why;

	if (is_refused(c, r, r->count, s, inv, who, &why))
		warn_once(c, r->line, "a request of user %.32s for %u GPU%s would be refused: %s", who->user, r->count,
		    r->count == 1 ? "" : "s", why.text);
}

/* Warns about a rule of a CDI kind that names no GPU of this host.  True if it is one. */
static bool
warn_no_device(struct checked *c, const struct gpu_rule *r, const struct check_set *s, const struct inventory *inv)
{
	static const struct client root = { .user = "root", .member = true, .rootful = true };
	struct why why;

	if (r->kind == NULL || rule_gpu(r, inv) != NULL)
		return false;
	if (is_refused(c, r, 1, s, inv, &root, &why))
		fault_add(&c->faults, r->line, true, "every request would be refused: %s", why.text);
	return true;
}

/* Warns about a wait that Concourse cuts off.  A policy of identity «caller» is for other engines. */
static void
warn_wait_at_create(struct checked *c, const struct gpu_rule *r, const struct check_set *s)
{
	const char *setting = s->settings_at != SIZE_MAX ? settings_against_tasks(&s->settings) : NULL;

	if (setting != NULL && r->wait > CREATE_WAIT_MAX && s->settings.max_wait > CREATE_WAIT_MAX &&
	    c->policy.identity != IDENTITY_CALLER)
		fault_add(&c->faults, r->line, true, "wait = %u, but %s, so a container waits when it is created, and Concourse "
		    "gives up after 5 minutes: say at most %u", r->wait, setting, CREATE_WAIT_MAX);
}

/* Checks the names first: a wrong name also explains why a request would be refused. */
static void
warn_rule(struct checked *c, const struct gpu_rule *r, const struct check_set *s, const struct host_gpus *v,
    const struct client *who, size_t n)
{
	bool named = true;
	size_t k;

	if (is_count_beyond_names(r))
		fault_add(&c->faults, r->line, true, "count = %u, but the rule names only %zu GPUs: a container gets no more",
		    r->count, r->devices.n);
	if (s->settings_at != SIZE_MAX && r->wait > s->settings.max_wait)
		fault_add(&c->faults, r->line, true, "wait = %u is more than max_wait in gpuhelper.conf: containers wait at most "
		    "%u s", r->wait, s->settings.max_wait);
	warn_wait_at_create(c, r, s);
	if (!v->seen || warn_no_device(c, r, s, &v->inventory))
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
warn_gpus(struct checked *c, const struct check_set *s, const struct host_gpus *v)
{
	struct client who[CLIENTS_MAX];
	size_t i, n = policy_clients(&c->policy, who);

	for (i = 0; i < c->policy.gpus; i++)
		warn_rule(c, &c->policy.gpu[i], s, v, who, n);
	if (v->seen)
		warn_driver_folders(c, &v->specs);
}
