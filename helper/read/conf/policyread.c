/*
 * See policyread.h. A policy says exactly what it means, or is refused. Must ignore no key and adjust no
 * value.
 */
#include "policyread.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../cdi/cdi.h"
#include "../../gpu/extranode.h"
#include "../../gpu/extraword.h"
#include "../../gpu/gpufind.h"
#include "../../gpu/mig.h"
#include "../../gpu/vendorvars.h"
#include "../../kernel/secontext.h"
#include "../../policy/varsjson.h"
#include "claimread.h"
#include "conf.h"
#include "confjson.h"
#include "folderread.h"
#include "variable.h"

/* Warns of names that are legal, but most likely not meant. */
static void
check_pipeline_name(config_setting_t *s, const char *text, const char *pipeline, struct faults *f)
{
	const size_t n = strlen(text);

	if (text[0] == ' ' || text[n - 1] == ' ' || pipeline[0] == ' ' || pipeline[-2] == ' ')
		fault_add(f, conf_line(s), true, "pipeline \"%.200s\" has a space at an end of a name, which counts", text);
}

static void
read_pipeline(config_setting_t *s, void *out, struct faults *f)
{
	struct policy *p = out;
	autofree char *text = NULL;
	char *slash;

	conf_string(s, &text, f);
	if (text == NULL)
		return;
	slash = strchr(text, '/');
	if (slash == NULL || slash == text || slash[1] == '\0') {
		fault_add(f, conf_line(s), false, "pipeline must be \"TEAM/PIPELINE\"; \"%s\" is not", text);
		return;
	}
	check_pipeline_name(s, text, slash + 1, f);
	*slash = '\0';
	free(p->team);
	free(p->pipeline);
	p->team = strdup(text);
	p->pipeline = strdup(slash + 1);
	if (p->team == NULL || p->pipeline == NULL)
		fault_add(f, conf_line(s), false, "out of memory");
}

static void
read_jobs(config_setting_t *s, void *out, struct faults *f)
{
	struct policy *p = out;

	p->has_jobs = true;
	if (conf_strings(s, &p->jobs, f) && p->jobs.n == 0)
		fault_add(f, conf_line(s), false, "jobs is empty: leave it out for every job");
}

static void
read_instance_vars(config_setting_t *s, void *out, struct faults *f)
{
	struct policy *p = out;
	json_t *vars;

	if (config_setting_type(s) != CONFIG_TYPE_GROUP) {
		fault_add(f, conf_line(s), false, "instance_vars must be a group: { name = value; ... }");
		return;
	}
	vars = conf_json(s, f);
	if (vars == NULL || !instance_vars_of(vars, &p->instance_vars))
		fault_add(f, conf_line(s), false, "out of memory");
	json_decref(vars);
}

static void
read_identity(config_setting_t *s, void *out, struct faults *f)
{
	static const char *const words[] = { "token", "caller", "claim", NULL };
	static const enum identity_kind values[] = { IDENTITY_TOKEN, IDENTITY_CALLER, IDENTITY_CLAIM };
	unsigned i = 0;

	conf_word(s, words, &i, f);
	((struct policy *)out)->identity = values[i];
}

static void
read_issuer(config_setting_t *s, void *out, struct faults *f)
{
	conf_string(s, &((struct policy *)out)->issuer, f);
}

static void
read_claims(config_setting_t *s, void *out, struct faults *f)
{
	claims_read(s, true, &((struct policy *)out)->claims, f);
}

static void
read_callers(config_setting_t *s, void *out, struct faults *f)
{
	struct policy *p = out;
	uint32_t id;
	size_t i;

	p->has_callers = true;
	conf_strings(s, &p->callers, f);
	for (i = 0; i < p->callers.n; i++)
		if (text_u32(p->callers.v[i], 0, UINT32_MAX, &id))
			fault_add(f, conf_line(s), false, "callers are names of users, \"%s\" is a number", p->callers.v[i]);
}

static void
read_privileged(config_setting_t *s, void *out, struct faults *f)
{
	conf_bool(s, &((struct policy *)out)->privileged, f);
}

static void
read_vendor(config_setting_t *s, void *out, struct faults *f)
{
	static const char *const words[] = { "nvidia", "amd", "intel", NULL };
	static const enum gpu_vendor values[] = { GPU_NVIDIA, GPU_AMD, GPU_INTEL };
	struct gpu_rule *r = out;
	const char *slash;
	unsigned i = 0;

	r->has_vendor = true;
	if (config_setting_type(s) == CONFIG_TYPE_STRING &&
	    (slash = strchr(config_setting_get_string(s), '/')) != NULL) {
		conf_string(s, &r->kind, f);
		if (r->kind != NULL && (!cdi_vendor_or_class_ok(r->kind, (size_t)(slash - config_setting_get_string(s))) ||
		    !cdi_vendor_or_class_ok(slash + 1, strlen(slash + 1))))
			fault_add(f, conf_line(s), false, "vendor \"%s\" is no kind of CDI devices: \"vendor.com/class\"", r->kind);
		return;
	}
	conf_word(s, words, &i, f);
	r->vendor = values[i];
}

/* True for a name that a GPU may have: all, a rank (0 or #0), a PCI address, a UUID of NVIDIA or AMD. */
static bool
is_gpu_name(const char *name)
{
	char pci[16];
	uint32_t rank;
	size_t n;

	if (strcmp(name, "all") == 0 || text_u32(name + (*name == '#'), 0, 4095, &rank) || pci_address_normalise(name, pci))
		return true;
	if (text_starts(name, "GPU-"))
		return strlen(name) == 40 && strspn(name + 4, "0123456789abcdefABCDEF-") == 36;
	if (!text_starts(name, "0x"))
		return false;
	n = strspn(name + 2, "0123456789abcdefABCDEF");
	return n >= 1 && n <= 16 && name[2 + n] == '\0';
}

/*
 * True as well for the names of MIG instances: with «:GI» or «:GI:CI» at the end, or a UUID of their own,
 * which CDI specs list.
 */
static bool
is_device_name(const char *name)
{
	char base[64];
	unsigned i;

	if (is_gpu_name(name))
		return true;
	if (text_starts(name, "MIG-"))
		return strlen(name) == 40 && strspn(name + 4, "0123456789abcdefABCDEF-") == 36;
	if ((size_t)snprintf(base, sizeof(base), "%s", name) >= sizeof(base))
		return false;
	for (i = 0; i < 2; i++)
		if (mig_name_shorten(base) && is_gpu_name(base))
			return strcmp(base, "all") != 0;
	return false;
}

static void
read_devices(config_setting_t *s, void *out, struct faults *f)
{
	struct gpu_rule *r = out;

	r->devices_line = conf_line(s);
	if (conf_strings(s, &r->devices, f) && r->devices.n == 0)
		fault_add(f, conf_line(s), false, "devices is empty: leave it out for every GPU");
}

static void
read_gpu_count(config_setting_t *s, void *out, struct faults *f)
{
	conf_number(s, 1, 64, &((struct gpu_rule *)out)->count, f);
}

static void
read_sharing(config_setting_t *s, void *out, struct faults *f)
{
	static const char *const words[] = { "exclusive", "shared", NULL };
	static const enum sharing values[] = { SHARING_EXCLUSIVE, SHARING_SHARED };
	unsigned i = 0;

	conf_word(s, words, &i, f);
	((struct gpu_rule *)out)->sharing = values[i];
}

static void
read_share_limit(config_setting_t *s, void *out, struct faults *f)
{
	conf_number(s, 1, 1024, &((struct gpu_rule *)out)->share_limit, f);
}

static void
read_wait(config_setting_t *s, void *out, struct faults *f)
{
	conf_number(s, 0, 86400, &((struct gpu_rule *)out)->wait, f);
}

static void
read_nodes(config_setting_t *s, void *out, struct faults *f)
{
	autostrlist struct strlist names = { 0 };
	struct gpu_rule *r = out;
	uint32_t channel;
	unsigned bit;
	size_t i;

	conf_strings(s, &names, f);
	r->nodes_line = conf_line(s);
	if (names.n == 0)
		fault_add(f, conf_line(s), false, "nodes is empty: leave it out for none");
	for (i = 0; i < names.n; i++) {
		channel = UINT32_MAX;
		if (!extra_word_parse(names.v[i], &bit, &channel)) {
			fault_add(f, conf_line(s), false, "unknown nodes \"%s\": gdrdrv, nvidia-fs, imex, imex=CHANNEL, infiniband or "
			    "nvswitch", names.v[i]);
			continue;
		}
		r->nodes |= bit;
		if (channel == UINT32_MAX)
			continue;
		if (r->one_channel)
			fault_add(f, conf_line(s), false, "nodes has two IMEX channels, %u and %u: a container gets one", r->channel,
			    channel);
		r->one_channel = true;
		r->channel = channel;
	}
}

static void
read_capabilities(config_setting_t *s, void *out, struct faults *f)
{
	struct gpu_rule *r = out;
	struct strlist names = { 0 };
	unsigned bit;
	size_t i;

	conf_strings(s, &names, f);
	r->capabilities = 0;
	for (i = 0; i < names.n; i++) {
		if (gpu_capability_parse(names.v[i], &bit))
			r->capabilities |= bit;
		else
			fault_add(f, conf_line(s), false, "unknown capability \"%s\": compute, utility, graphics, video, "
			    "display, ngx, compat32 or all", names.v[i]);
	}
	if (config_setting_is_aggregate(s) && config_setting_length(s) == 0)
		fault_add(f, conf_line(s), true, "capabilities is empty: a container gets the GPU's nodes and hardly any of the "
		    "driver's files; leave it out for compute and utility");
	strlist_free(&names);
}

static void
read_mig(config_setting_t *s, void *out, struct faults *f)
{
	static const char *const words[] = { "instances", "whole", NULL };
	unsigned i = 0;

	conf_word(s, words, &i, f);
	((struct gpu_rule *)out)->whole_mig = i == 1;
}

static void
read_mps(config_setting_t *s, void *out, struct faults *f)
{
	conf_bool(s, &((struct gpu_rule *)out)->mps, f);
}

static const struct conf_key gpu_keys[] = {
	{ "vendor", read_vendor },
	{ "devices", read_devices },
	{ "count", read_gpu_count },
	{ "sharing", read_sharing },
	{ "share_limit", read_share_limit },
	{ "wait", read_wait },
	{ "capabilities", read_capabilities },
	{ "mig", read_mig },
	{ "mps", read_mps },
	{ "nodes", read_nodes },
	{ NULL, NULL },
};

/* Checks what needs the whole rule. */
static void
check_gpu_rule(const struct gpu_rule *r, uint32_t there, struct faults *f)
{
	const bool nvidia = r->vendor == GPU_NVIDIA || r->kind != NULL || !r->has_vendor;
	const char *name;
	size_t i;

	if (!conf_there(gpu_keys, there, "vendor"))
		fault_add(f, r->line, false, "a gpus entry needs a vendor: nvidia, amd, intel, or a CDI kind "
		    "(\"nvidia.com/gpu\")");
	for (i = 0; i < r->devices.n; i++) {
		name = r->devices.v[i];
		if (r->kind != NULL && !cdi_device_name_ok(name))
			fault_add(f, r->devices_line, false, "\"%s\" is no name of a CDI device: give what comes after the \"=\" "
			    "(gpuhelperctl cdi list), or \"all\"", name);
		else if (r->kind == NULL && !is_device_name(name))
			fault_add(f, r->devices_line, false, "\"%s\" is no GPU: give a UUID, a PCI address, a rank (\"0\") or "
			    "\"all\"", name);
	}
	if (r->share_limit != 0 && r->sharing == SHARING_EXCLUSIVE)
		fault_add(f, r->line, false, "share_limit goes with sharing = \"shared\"");
	if (r->whole_mig && !nvidia)
		fault_add(f, r->line, false, "mig goes with vendor = \"nvidia\"");
	if (r->mps && !nvidia)
		fault_add(f, r->line, false, "mps goes with vendor = \"nvidia\"");
	if (r->nodes_line != 0 && r->kind == NULL)
		fault_add(f, r->nodes_line, false, "nodes goes with a CDI kind as the vendor (\"nvidia.com/gpu\"): a CDI "
		    "spec lists these nodes");
}

static void
read_gpus(config_setting_t *s, void *out, struct faults *f)
{
	struct policy *p = out;
	config_setting_t *e;
	struct gpu_rule *r;
	int i;

	if (!conf_groups(s, GPU_RULES_MAX, f))
		return;
	if ((p->gpu = calloc((size_t)config_setting_length(s) + 1, sizeof(*r))) == NULL) {
		fault_add(f, conf_line(s), false, "out of memory");
		return;
	}
	for (i = 0; i < config_setting_length(s); i++) {
		e = config_setting_get_elem(s, (unsigned)i);
		r = &p->gpu[p->gpus++];
		*r = (struct gpu_rule){ .line = conf_line(e), .count = 1,
			.capabilities = GPU_CAP_COMPUTE | GPU_CAP_UTILITY };
		check_gpu_rule(r, conf_group(e, gpu_keys, r, f), f);
	}
}

static void
read_max_gpus(config_setting_t *s, void *out, struct faults *f)
{
	conf_number(s, 1, QUOTA_MAX, &((struct policy *)out)->max_gpus, f);
}

static void
read_max_waiting(config_setting_t *s, void *out, struct faults *f)
{
	conf_number(s, 1, QUOTA_MAX, &((struct policy *)out)->max_waiting, f);
}

static void
read_priority(config_setting_t *s, void *out, struct faults *f)
{
	conf_number(s, 0, PRIORITY_MAX, &((struct policy *)out)->priority, f);
}

static void
read_folders(config_setting_t *s, void *out, struct faults *f)
{
	struct policy *p = out;
	struct folder_rule *r;
	config_setting_t *e;
	int i;

	if (!conf_groups(s, FOLDER_RULES_MAX, f))
		return;
	if ((p->folder = calloc((size_t)config_setting_length(s) + 1, sizeof(*r))) == NULL) {
		fault_add(f, conf_line(s), false, "out of memory");
		return;
	}
	for (i = 0; i < config_setting_length(s); i++) {
		e = config_setting_get_elem(s, (unsigned)i);
		r = &p->folder[p->folders++];
		folder_rule_read(e, r, f);
	}
}

static void
read_selinux_type(config_setting_t *s, void *out, struct faults *f)
{
	struct policy *p = out;

	conf_string(s, &p->selinux_type, f);
	if (p->selinux_type != NULL && !secontext_is_type(p->selinux_type))
		fault_add(f, conf_line(s), false, "type must be a type of SELinux's, as nvidia_container_t is; \"%s\" is not",
		    p->selinux_type);
}

static void
read_selinux_level(config_setting_t *s, void *out, struct faults *f)
{
	struct policy *p = out;
	enum level_kind kind;

	conf_string(s, &p->selinux_level, f);
	if (p->selinux_level == NULL || strcmp(p->selinux_level, "auto") == 0)
		return;
	kind = level_kind(p->selinux_level);
	if (kind == LEVEL_WRONG || kind == LEVEL_RANGE || strlen(p->selinux_level) >= 128)
		fault_add(f, conf_line(s), false, "level must be \"auto\" or one level, as \"s0:c12,c345\"; \"%s\" is not",
		    p->selinux_level);
	else if (kind == LEVEL_PLAIN)
		fault_add(f, conf_line(s), true, "level \"%s\" has no categories: SELinux does not keep these containers apart "
		    "from each other", p->selinux_level);
}

static void
read_selinux(config_setting_t *s, void *out, struct faults *f)
{
	static const struct conf_key keys[] = {
		{ "type", read_selinux_type }, { "level", read_selinux_level }, { NULL, NULL } };

	conf_group(s, keys, out, f);
}

static void
read_env(config_setting_t *s, void *out, struct faults *f)
{
	struct policy *p = out;
	config_setting_t *e;
	int i;

	if (config_setting_type(s) != CONFIG_TYPE_GROUP) {
		fault_add(f, conf_line(s), false, "env must be a group: { NAME = \"value\"; ... }");
		return;
	}
	for (i = 0; i < config_setting_length(s); i++) {
		autofree char *value = NULL;
		autobuf struct buf b = { 0 };

		e = config_setting_get_elem(s, (unsigned)i);
		if (!variable_is_name(config_setting_name(e)) || text_starts(config_setting_name(e), "GPUHELPER_"))
			fault_add(f, conf_line(e), false, "\"%s\" can't be set", config_setting_name(e));
		/* a runtime below would take it for a grant, in addition to the leased GPUs */
		if (vendor_env_owns(config_setting_name(e)))
			fault_add(f, conf_line(e), false, "\"%s\" can't be set: with driver_files = \"vendor-runtime\" in "
			    "gpuhelper.conf it tells what was granted", config_setting_name(e));
		conf_string(e, &value, f);
		buf_printf(&b, "%s=%s", config_setting_name(e), value != NULL ? value : "");
		if (b.failed || !strlist_add(&p->env, b.p, SIZE_MAX))
			fault_add(f, conf_line(e), false, "out of memory");
	}
}

static const struct conf_key policy_keys[] = {
	{ "pipeline", read_pipeline },
	{ "jobs", read_jobs },
	{ "instance_vars", read_instance_vars },
	{ "identity", read_identity },
	{ "issuer", read_issuer },
	{ "claims", read_claims },
	{ "callers", read_callers },
	{ "privileged", read_privileged },
	{ "gpus", read_gpus },
	{ "max_gpus", read_max_gpus },
	{ "max_waiting", read_max_waiting },
	{ "priority", read_priority },
	{ "folders", read_folders },
	{ "selinux", read_selinux },
	{ "env", read_env },
	{ NULL, NULL },
};

/* Checks what the policy says of the queue for GPUs. */
static void
check_quotas(const struct policy *p, uint32_t there, struct faults *f)
{
	static const char *const queue[] = { "max_waiting", "priority", NULL };
	bool waits = p->gpus == 0;
	size_t i;

	for (i = 0; i < p->gpus; i++) {
		waits = waits || p->gpu[i].wait > 0;
		if (p->max_gpus != 0 && p->gpu[i].count > p->max_gpus)
			fault_add(f, p->gpu[i].line, false, "count = %u is more than max_gpus = %u", p->gpu[i].count, p->max_gpus);
	}
	if (p->max_gpus != 0 && !conf_there(policy_keys, there, "gpus"))
		fault_add(f, 0, false, "max_gpus goes with gpus");
	for (i = 0; queue[i] != NULL && f->errors == 0; i++)
		if (conf_there(policy_keys, there, queue[i]) && (!waits || !conf_there(policy_keys, there, "gpus")))
			fault_add(f, 0, true, "%s is about containers that wait, and no gpus entry here says wait", queue[i]);
}

/* Checks what needs the whole file. */
static void
check_whole_policy(const struct policy *p, uint32_t there, struct faults *f)
{
	const bool unsure = f->errors > 0 && conf_there(policy_keys, there, "identity");
	const bool gives = conf_there(policy_keys, there, "gpus") || conf_there(policy_keys, there, "folders");

	if (p->identity == IDENTITY_CALLER) {
		if (p->pipeline != NULL || p->has_jobs || p->instance_vars.there)
			fault_add(f, 0, false, "identity = \"caller\" knows no pipeline: leave pipeline, jobs and "
			    "instance_vars out, or ask for a token");
		if (!conf_there(policy_keys, there, "callers"))
			fault_add(f, 0, true, "identity = \"caller\" without callers covers every container of every "
			    "member of group gpuhelper, and of root");
	} else if (!conf_there(policy_keys, there, "pipeline") && !unsure)
		fault_add(f, 0, false, "no pipeline: say pipeline = \"TEAM/PIPELINE\", or identity = \"caller\"");
	if (p->issuer != NULL && p->identity != IDENTITY_TOKEN)
		fault_add(f, 0, false, "issuer goes with identity = \"token\"");
	/* a claim means what its issuer makes of it; each CI has its own */
	if (conf_there(policy_keys, there, "claims") && !unsure &&
	    (p->identity != IDENTITY_TOKEN || !conf_there(policy_keys, there, "issuer")))
		fault_add(f, 0, false, "claims goes with identity = \"token\" and the issuer that makes them: issuer = \"URL\"");
	if (p->privileged && p->identity != IDENTITY_TOKEN && !unsure)
		fault_add(f, 0, false, "privileged goes with identity = \"token\": without a proof, any task could be privileged");
	check_quotas(p, there, f);
	if (p->folders > CONTAINER_FOLDERS_MAX)
		fault_add(f, 0, true, "this policy lists %zu folders, and one container gets at most %d: it must ask for those that "
		    "it needs (GPUHELPER_FOLDERS)", p->folders, CONTAINER_FOLDERS_MAX);
	if (p->gpus == 0 && p->folders == 0 && !p->privileged && !(f->errors > 0 && gives))
		fault_add(f, 0, true, "this policy gives nothing: neither gpus nor folders");
}

bool
policy_parse(const char *name, const char *text, size_t len, struct policy *p, struct faults *f)
{
	uint32_t there;
	config_t cfg;

	*p = (struct policy){ .identity = IDENTITY_TOKEN, .priority = PRIORITY_DEFAULT };
	if ((p->name = strdup(name)) == NULL) {
		fault_add(f, 0, false, "out of memory");
		return false;
	}
	if (conf_parse(&cfg, text, len, f)) {
		there = conf_group(config_root_setting(&cfg), policy_keys, p, f);
		check_whole_policy(p, there, f);
	}
	config_destroy(&cfg);
	return f->errors == 0;
}
