/*
 * See check.h: what a policy means beyond what it says.  Looks at this host
 * (folders, users, GPUs) and changes nothing; a host that can't be looked at
 * gives no warning about what may be there.
 */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../host/cdigpus.h"
#include "../host/drivernames.h"
#include "../host/drivernodes.h"
#include "../host/file.h"
#include "../host/gpus.h"
#include "../host/folders.h"
#include "../host/selinux.h"
#include "../host/users.h"
#include "../pure/cleanup.h"
#include "../pure/furthernode.h"
#include "../pure/path.h"

#define NAMES_SHOWN 3		/* of overlapping files in one warning */
#define HELPER_LABEL "system_u:system_r:gpuhelper_t:s0"

/* One that parses: what it says is known. */
static bool
is_policy(const struct checked *c)
{
	return c->kind == CHECKED_POLICY && c->good;
}

/* Line of a top-level key; 0 if it is not in the file. */
static unsigned
key_line(const struct checked *c, const char *key)
{
	autofaults struct faults ignored = { 0 };
	config_setting_t *s = NULL;
	unsigned line = 0;
	config_t cfg;

	if (conf_parse(&cfg, c->text, c->len, &ignored))
		s = config_lookup(&cfg, key);
	if (s != NULL)
		line = conf_line(s);
	config_destroy(&cfg);
	return line;
}

static void
list_callers(const struct policy *p, char *out, size_t size)
{
	autobuf struct buf b = { 0 };
	size_t i;

	if (!p->has_callers)
		buf_puts(&b, "root and of every member of group gpuhelper");
	for (i = 0; i < p->callers.n; i++)
		buf_printf(&b, "%s%s", i == 0 ? "user " : ", ", p->callers.v[i]);
	snprintf(out, size, "%s", b.failed || b.p == NULL ? "its callers" : b.p);
}

static void
warn_identity(struct checked *c, const struct settings *settings)
{
	const struct policy *p = &c->policy;
	char callers[64];

	list_callers(p, callers, sizeof(callers));
	if (p->identity == IDENTITY_CLAIM)
		fault_add(&c->faults, key_line(c, "identity"), true, "identity = \"claim\" is believed without proof: any "
		    "task that this worker runs, a pull request's too, can call itself %.40s/%.40s and get what this policy "
		    "gives", p->team, p->pipeline);
	else if (p->identity == IDENTITY_CALLER)
		fault_add(&c->faults, key_line(c, "identity"), true, "identity = \"caller\" covers every container of %s: a "
		    "pull request's task gets what this policy gives, too%s", callers,
		    settings->grant_unasked ? ", even unasked" : "");
}

static void
warn_callers(struct checked *c)
{
	uint32_t uid;
	size_t i;

	for (i = 0; i < c->policy.callers.n; i++)
		if (!user_uid(c->policy.callers.v[i], &uid, NULL))
			fault_add(&c->faults, key_line(c, "callers"), true, "caller \"%.100s\" is not in /etc/passwd: nobody "
			    "of this host can use the policy by that name", c->policy.callers.v[i]);
}

/* What keeps a directory from being given; NULL if nothing does, or if only root could tell. */
static const char *
dir_trouble(const char *path, char why[128])
{
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autoclose int fd = -1;
	struct stat st;

	if (root == -1 || path[1] == '\0')
		return NULL;
	if ((fd = file_open_beneath(root, path + 1, O_PATH)) == -1 && errno == EACCES)
		return NULL;
	if (fd == -1 && errno == ENOENT)
		return "does not exist on this host";
	if (fd == -1 && errno == ELOOP)
		return "there is a symbolic link in it, and none is followed";
	if (fd == -1) {
		snprintf(why, 128, "%s", strerror(errno));
		return why;
	}
	return fstat(fd, &st) == -1 || S_ISDIR(st.st_mode) ? NULL : "is not a directory";
}

static void
warn_folders(struct checked *c)
{
	const struct folder_rule *r;
	const char *trouble;
	char why[128];
	size_t i;

	for (i = 0; i < c->policy.folders; i++) {
		autofree char *path = NULL;

		r = &c->policy.folder[i];
		/* of a pattern, the folder that it looks into */
		path = strndup(r->path, glob_is(r->path) ? (size_t)(path_last(r->path) - r->path - 1) : strlen(r->path));
		if (path != NULL && *path != '\0' && (trouble = dir_trouble(path, why)) != NULL)
			fault_add(&c->faults, r->line, true, "folder %.120s: %s", path, trouble);
	}
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

static void
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
warn_driver_files(struct checked *c, const struct gpu_rule *r, const struct check_set *s, const struct inventory *inv,
    const struct cdi_registry *specs)
{
	struct driver_want want = { .rule = r };
	const struct driver_question q = { specs, inv, &s->settings, &want, 1 };
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

static void
warn_gpus(struct checked *c, const struct check_set *s, const struct inventory *inv, const struct cdi_registry *specs)
{
	const struct gpu_rule *r;
	size_t i, k;

	for (i = 0; i < c->policy.gpus; i++) {
		r = &c->policy.gpu[i];
		warn_driver(c, r, inv);
		warn_driver_files(c, r, s, inv, specs);
		warn_nodes(c, r);
		for (k = 0; k < r->devices.n; k++)
			if (strcmp(r->devices.v[k], "all") != 0)
				warn_gpu(c, r, r->devices.v[k], s, inv);
	}
}

/* The GPUs of the vendors that the policies name; false where the host can't be looked at. */
static bool
look_at_gpus(const struct check_set *s, struct inventory *inv, struct cdi_registry *specs)
{
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct gpu_source source = { .root = root, .udev = true };
	unsigned vendors = 0;
	struct why why;
	size_t i, k;

	*inv = (struct inventory){ 0 };
	*specs = (struct cdi_registry){ 0 };
	for (i = 0; i < s->n; i++)
		for (k = 0; is_policy(&s->v[i]) && k < s->v[i].policy.gpus; k++)
			vendors |= gpu_rule_vendors(&s->v[i].policy.gpu[k]);
	return vendors != 0 && root != -1 && gpus_find(&source, vendors, inv, &why) == 0 &&
	    cdi_registry_load(CDI_DIRS, true, specs, &why) == 0 && cdigpus_name(specs, inv, &why) == 0;
}

/* The files before this one that it overlaps. */
static void
warn_overlap(struct check_set *s, size_t at)
{
	struct checked *c = &s->v[at];
	autobuf struct buf b = { 0 };
	unsigned n = 0;
	size_t i;

	for (i = 0; i < at; i++)
		if (is_policy(&s->v[i]) && policies_overlap(&s->v[i].policy, &c->policy) && ++n <= NAMES_SHOWN)
			buf_printf(&b, "%s%.40s", n > 1 ? ", " : "", s->v[i].policy.name);
	if (n > NAMES_SHOWN)
		buf_printf(&b, " and %u more", n - NAMES_SHOWN);
	if (n > 0 && !b.failed)
		fault_add(&c->faults, key_line(c, c->policy.pipeline != NULL ? "pipeline" : "identity"), true,
		    "overlaps %s: for the containers that both cover, what is refused there may be granted here", b.p);
}

/* A folder that lies in another rule's, which gives that for writing. */
static void
warn_nesting(struct check_set *s, struct checked *c)
{
	const struct folder_rule *r, *outer;
	bool found;
	size_t i, k, n;

	for (n = 0; n < c->policy.folders; n++) {
		r = &c->policy.folder[n];
		for (found = false, i = 0; !found && i < s->n; i++)
			for (k = 0; !found && is_policy(&s->v[i]) && k < s->v[i].policy.folders; k++) {
				outer = &s->v[i].policy.folder[k];
				if (!(found = folder_rules_nest(outer, r)))
					continue;
				fault_add(&c->faults, r->line, true, "folder %.120s lies in %.120s, which %.40s gives for writing: it is "
				    "refused while a container without a user namespace has that", r->path, outer->path,
				    s->v[i].policy.name);
			}
	}
}

/* Policies that ask for a token where no issuer's token is taken. */
static void
warn_no_issuers(struct check_set *s, struct checked *c)
{
	const char *first = NULL;
	unsigned n = 0;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (is_policy(&s->v[i]) && s->v[i].policy.identity == IDENTITY_TOKEN && n++ == 0)
			first = s->v[i].policy.name;
	if (n > 0)
		fault_add(&c->faults, 0, true, "no issuers are configured, so no token is taken: %u of the policies, %.60s "
		    "first, ask for identity = \"token\" and grant nothing", n, first);
}

/* A policy of an issuer that the settings do not know. */
static void
warn_issuer(struct checked *c, const struct settings *settings)
{
	const char *issuer = c->policy.issuer;
	size_t i;

	if (issuer == NULL || settings->issuers == 0)
		return;
	for (i = 0; i < settings->issuers; i++)
		if (strcmp(settings->issuer[i].url, issuer) == 0)
			return;
	fault_add(&c->faults, key_line(c, "issuer"), true, "issuer %.100s is none of gpuhelper.conf's: the policy grants "
	    "nothing", issuer);
}

/* What the settings say that their author may not mean. */
static void
warn_settings(struct check_set *s)
{
	struct checked *c = &s->v[s->settings_at];
	const struct issuer_setting *i;
	size_t k;

	if (!c->good && c->faults.errors > 0)
		return;
	if (s->settings.privileged == PRIVILEGED_ALLOW)
		fault_add(&c->faults, key_line(c, "privileged"), true, "privileged = \"allow\" leaves a privileged container "
		    "every GPU that its engine gives it, whatever the policies say");
	if (s->settings.issuers == 0)
		warn_no_issuers(s, c);
	for (k = 0; k < s->settings.issuers; k++) {
		i = &s->settings.issuer[k];
		if (access(i->keys, F_OK) == -1 && errno == ENOENT)
			fault_add(&c->faults, i->line, true, "issuer %.80s: there are no keys in %.80s yet, so its tokens are "
			    "refused: gpuhelperctl keys fetch", i->url, i->keys);
	}
}

/* A label that a container of this policy could have; false where SELinux knows none such, which is said. */
static bool
sample_label(struct checked *c, char out[SECONTEXT_MAX])
{
	const struct policy *p = &c->policy;
	const char *type = p->selinux_type != NULL ? p->selinux_type : SECONTEXT_CONTAINER_TYPE;
	const bool automatic = p->selinux_level == NULL || strcmp(p->selinux_level, "auto") == 0;

	snprintf(out, SECONTEXT_MAX, "system_u:system_r:%s:%s", type, automatic ? "s0:c0,c1" : p->selinux_level);
	switch (selinux_valid(out)) {
	case 1:
		return true;
	case 0:
		fault_add(&c->faults, key_line(c, "selinux"), true, "SELinux has no label %s on this host%s: where it enforces, "
		    "containers of this policy are refused", out, p->selinux_type == NULL ? " (make install-selinux)" : "");
	}
	return false;
}

/* What would refuse to label a folder anew; what it is labelled today counts for nothing else then. */
static void
warn_relabel(struct checked *c, const struct folder_rule *r, int fd)
{
	static const char *const from[] = { "getattr", "relabelfrom", NULL };
	char has[SECONTEXT_MAX];
	int may = -1;

	if (folders_hardlinks_protected() == 0)
		fault_add(&c->faults, r->line, true, "%s is not relabelled while anyone may give any file a name in it: sysctl "
		    "fs.protected_hardlinks=1", r->path);
	if (fd == -1 || !selinux_label_of(fd, has) || (may = selinux_may(HELPER_LABEL, has, "dir", from)) == 1)
		return;
	if (may == 0)
		fault_add(&c->faults, r->line, true, "gpuhelper may not relabel %s, which is labelled %s: setsebool -P "
		    "gpuhelper_relabel_folders on, for what is labelled as /srv and /mnt are", r->path, has);
	else if (errno == EINVAL)
		fault_add(&c->faults, r->line, true, "%s is not relabelled while the SELinux module gpuhelper is not loaded: make "
		    "install-selinux", r->path);
}

/* What SELinux would keep from this policy's containers. */
static void
warn_selinux(struct checked *c)
{
	char label[SECONTEXT_MAX], has[SECONTEXT_MAX];
	enum selinux_state state;
	struct why why;
	size_t i;

	if (selinux_state(&state, &why) == -1 || state == SELINUX_ABSENT || !sample_label(c, label))
		return;
	for (i = 0; i < c->policy.folders; i++) {
		const struct folder_rule *r = &c->policy.folder[i];
		autoclose int fd = open(r->path, O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (r->relabel != RELABEL_NO)
			warn_relabel(c, r, fd);
		else if (fd != -1 && selinux_label_of(fd, has) && selinux_may_folder(label, has, r->writable) == 0)
			fault_add(&c->faults, r->line, true, "SELinux keeps containers of this policy from %s, which is labelled "
			    "%s: semanage fcontext -a -t " SECONTEXT_FILE_TYPE " '%s(/.*)?' && restorecon -RF %s", r->path, has,
			    r->path, r->path);
	}
}

void
warn_about(struct check_set *s)
{
	autocdiregistry struct cdi_registry specs;
	struct inventory inv;
	bool looked = look_at_gpus(s, &inv, &specs);
	struct checked *c;
	size_t i;

	for (i = 0; i < s->n; i++) {
		c = &s->v[i];
		if (!is_policy(c))
			continue;
		warn_identity(c, &s->settings);
		warn_callers(c);
		warn_issuer(c, &s->settings);
		warn_overlap(s, i);
		warn_nesting(s, c);
		warn_folders(c);
		warn_selinux(c);
		if (looked) {
			warn_gpus(c, s, &inv, &specs);
			warn_driver_folders(c, &specs);
		}
	}
	if (s->settings_at != SIZE_MAX)
		warn_settings(s);
	inventory_free(&inv);
}
