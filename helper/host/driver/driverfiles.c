/*
 * See driverfiles.h. The runtime resolves each path again, so only root may be able to change it or a
 * directory on the way; the runtime gets the path without links. Opens nothing: cdisource.h uses lstat(2) and
 * readlink(2).
 * Differs from CDI's reference library on purpose. A mount is read-only unless the spec says «rw», never
 * allows setuid programs or devices, and never includes the mounts beneath. Mounts beneath /dev (links to
 * nodes) are left out, because nodes are granted by themselves. A socket is left out if others than root can
 * change its directory. Hooks are left out unless gpuhelper.conf allows them.
 */
#include "driverfiles.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../../base/path.h"
#include "../../base/pathdepth.h"
#include "../../cdi/cdigpu.h"
#include "../../cdi/cdiproblem.h"
#include "../../cdi/cdirenewal.h"
#include "../../cdi/nvlibs.h"
#include "../../gpu/vendorasks.h"
#include "../../gpu/vendorvars.h"
#include "../../lease/editsdriver.h"
#include "../../policy/driverleftout.h"
#include "../../policy/gpurule.h"
#include "../folder/mounts.h"
#include "cdisource.h"
#include "driverfound.h"
#include "drivernames.h"
#include "driverunmatched.h"

/* What one spec contributes. */
struct spec_part {
	const struct driver_question *q;
	const struct cdi_file *file;
	const struct gpu_rule *rule;
	enum gpu_vendor vendor;
	bool again;		/* the spec's own edits were added already, with another GPU */
	struct edits *out;
	struct why *why;
};

static int
no_spec(const struct driver_question *q, const struct granted_gpu *w, struct why *why)
{
	const char *vendor = gpu_vendor_name(w->gpu->vendor), *problem = cdi_problem_of_gpus(q->inventory, w->gpu->vendor);

	if (driver_check_unmatched(q->specs, q->inventory, w->gpu, why) == -1)
		return -1;
	/* a spec that can't be used may be the one that has this GPU */
	if (problem != NULL)
		return refuse(why, WHY_CONFIG, "no CDI spec has the nodes of %s GPU %s, and one can't be used (mend it, or move it "
		    "to another directory): %s", vendor, w->gpu->pci, problem);
	if (q->settings->driver_files != DRIVER_FILES_CDI)
		return 0;
	return refuse(why, WHY_ABSENT, "no CDI spec in /etc/cdi or /run/cdi has the nodes of %s GPU %s, and gpuhelper.conf "
	    "says driver_files = \"cdi\": gpuhelperctl cdi generate --vendor %s --output /etc/cdi/gpuhelper-%s.json", vendor,
	    w->gpu->pci, vendor, vendor);
}

int
driver_entry(const struct driver_question *q, const struct granted_gpu *w, const struct cdi_entry **e, struct why *why)
{
	const char *name = gpu_rule_cdi_name(w->rule, cdi_same_gpu(q->inventory, w->gpu));

	*e = NULL;
	if (name == NULL)
		return w->rule->kind != NULL ? refuse(why, WHY_BUG, "GPU %s has no name of kind %s", w->gpu->pci, w->rule->kind) :
		    no_spec(q, w, why);
	if ((*e = cdi_registry_find(q->specs, name)) == NULL)
		return refuse(why, WHY_BUG, "CDI device %s is lost", name);
	return 0;
}

/*
 * Versions of drivers begin with three digits. Others, such as that of libglvnd's libGL.so.1.7.0, are a
 * library's own.
 */
void
driver_library_version(const char *path, char out[32])
{
	const char *name = path_last(path), *so = strstr(name, ".so.");

	out[0] = '\0';
	if (so != NULL && nvlib_capabilities(name) != 0 && !nvlib_own_version(name))
		(void)nvidia_version_parse(so + strlen(".so."), out);
	if (strcspn(out, ".") < 3)
		out[0] = '\0';
}

/*
 * Refuses a spec whose libraries are not of the loaded driver: they talk only to the kernel module of their
 * own version.
 */
static int
check_version(const struct spec_part *p, const struct cdi_edits *e)
{
	const char *loaded = p->q->inventory->nvidia_version;
	char renewal[CDI_RENEWAL_MAX], version[32];
	size_t i;

	for (i = 0; i < e->mounts; i++) {
		driver_library_version(e->mount[i].host_path, version);
		if (version[0] == '\0' || strcmp(version, loaded) == 0)
			continue;
		if (loaded[0] == '\0')
			return refuse(p->why, WHY_IO, "the loaded NVIDIA driver's version can't be read: neither "
			    "/sys/module/nvidia/version nor /proc/driver/nvidia/version has one");
		return refuse(p->why, WHY_CONFIG, "CDI spec %s is of NVIDIA driver %s, and %s is loaded: %s", p->file->path,
		    version, loaded, cdi_renewal(p->file->path, &p->file->spec, p->vendor, renewal));
	}
	return 0;
}

bool
driver_is_mps_dir(const char *real, const struct stat *st)
{
	char parent[PATH_MAX];
	struct stat up;

	snprintf(parent, sizeof(parent), "%.*s", (int)(path_last(real) - real - 1), real);
	return nvfile_is_mps(real) && S_ISDIR(st->st_mode) && st->st_uid == 0 && path_depth(real) == 2 &&
	    lstat(parent, &up) == 0 && up.st_uid == 0 && (up.st_mode & S_ISVTX) != 0 && up.st_dev == st->st_dev;
}

static bool
is_writable(const struct spec_part *p, const struct cdi_mount *m)
{
	return (strlist_has(&m->options, "rw") || (nvfile_is_mps(m->host_path) && p->rule->mps)) &&
	    !strlist_has(&m->options, "ro");
}

/* Checks the source of a mount. Returns 0, 1 if it is to be left out, or -1 with *why. */
static int
find_source(const struct spec_part *p, const struct cdi_mount *m, char *real, struct stat *st)
{
	automounts struct mount_table *mounts = NULL;
	char beneath[1100], renewal[CDI_RENEWAL_MAX];
	const char *control, *service;
	struct why why;
	bool roots;

	if (cdi_find_source(m->host_path, real, st, &roots, &why) == -1) {
		/* a service that has stopped has removed its socket: programs do without it, only a little slower */
		if (why.code == WHY_ABSENT && (service = nvfile_service(m->host_path)) != NULL)
			return edits_add_note(p->out, "%s, so the container does without that socket: systemctl status %s",
			    why.text, service) ? 1 : refuse_nomem(p->why);
		return refuse(p->why, WHY_CONFIG, "CDI spec %s: %s: was the driver changed since? %s", p->file->path, why.text,
		    cdi_renewal(p->file->path, &p->file->spec, p->vendor, renewal));
	}
	/* a link to a directory may lead to one of these */
	if ((control = cdi_host_control(real)) != NULL)
		return refuse(p->why, WHY_CONFIG, "CDI spec %s: %s is %s: %s can't be given out, nor what is above and beneath it",
		    p->file->path, m->host_path, real, control);
	if (is_writable(p, m) && (control = cdi_host_own(real)) != NULL)
		return refuse(p->why, WHY_CONFIG, "CDI spec %s: %s is %s: %s is the host's own: nothing above and beneath it can be "
		    "given out to write", p->file->path, m->host_path, real, control);
	if (S_ISSOCK(st->st_mode))
		return roots ? 0 : 1;
	if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode))
		return refuse(p->why, WHY_CONFIG, "CDI spec %s: %s is neither a file, a directory nor a socket", p->file->path,
		    m->host_path);
	if (!roots && !driver_is_mps_dir(real, st))
		return refuse(p->why, WHY_CONFIG, "CDI spec %s: %s can be changed by others than root: see ls -ld of it and of "
		    "each directory above it", p->file->path, m->host_path);
	mounts = S_ISDIR(st->st_mode) ? mounts_read() : NULL;
	if (S_ISDIR(st->st_mode) && mounts_beneath(mounts, real, beneath, sizeof(beneath)))
		return refuse(p->why, WHY_CONFIG, "CDI spec %s: %s has a mount beneath it (%s), which would come along writable",
		    p->file->path, m->host_path, beneath);
	return 0;
}

/* The options of the bind mount. Whatever else the spec wants is refused rather than dropped. */
static int
choose_options(const struct spec_part *p, const struct cdi_mount *m, const char *v[8])
{
	size_t i, n = 0;

	if (m->type != NULL && m->type[0] != '\0' && strcmp(m->type, "bind") != 0 && strcmp(m->type, "none") != 0)
		return refuse(p->why, WHY_CONFIG, "CDI spec %s: the mount at %s is of type %s: only bind mounts are made",
		    p->file->path, m->container_path, m->type);
	for (i = 0; i < m->options.n; i++)
		if (!cdi_option_known(m->options.v[i]))
			return refuse(p->why, WHY_CONFIG, "CDI spec %s: the mount at %s: option \"%s\" is not supported: remove it",
			    p->file->path, m->container_path, m->options.v[i]);
	v[n++] = "bind";
	v[n++] = "rprivate";
	v[n++] = is_writable(p, m) ? "rw" : "ro";
	v[n++] = "nosuid";
	v[n++] = "nodev";
	if (strlist_has(&m->options, "noexec"))
		v[n++] = "noexec";
	v[n] = NULL;
	return 0;
}

/*
 * Returns 0 if the place is free, 1 if another GPU's device mounts the same there, or -1 with *why if
 * something else is there.
 */
static int
meets_another(const struct spec_part *p, const char *real, const char *target)
{
	const struct edit_mount *m;
	size_t i;

	for (i = 0; i < p->out->mounts; i++) {
		m = &p->out->mount[i];
		if (m->driver && strcmp(m->target, target) == 0 && strcmp(m->source, real) == 0)
			return 1;
		if (m->driver ? strcmp(m->target, target) == 0 : path_related(m->target, target))
			return refuse(p->why, WHY_CONFIG, "CDI spec %s: %s is mounted at %s, where %s %s is", p->file->path, real,
			    target, m->driver ? "the driver's" : "folder", m->source);
	}
	return 0;
}

static int
add_driver_mount(const struct spec_part *p, const struct cdi_edits *e, const struct cdi_mount *m)
{
	const char *options[8];
	char real[PATH_MAX];
	struct stat st;
	int ret;

	if (driver_mount_left_out(p->rule, p->vendor, e, m))
		return 0;
	if (choose_options(p, m, options) == -1)
		return -1;
	if ((ret = find_source(p, m, real, &st)) != 0 || (ret = meets_another(p, real, m->container_path)) != 0)
		return ret == -1 ? -1 : 0;
	if (p->out->mounts >= DRIVER_MOUNTS_MAX)
		return refuse(p->why, WHY_CONFIG, "CDI spec %s: more than %d mounts for one container", p->file->path,
		    DRIVER_MOUNTS_MAX);
	if (!edits_add_mount(p->out, real, m->container_path, options))
		return refuse_nomem(p->why);
	p->out->mount[p->out->mounts - 1].driver = true;
	return 0;
}

/* cdisafe.c checks that a hook sets its environment: a hook that inherited one was CVE-2025-23266. */
static int
add_driver_hook(const struct spec_part *p, const struct cdi_hook *h)
{
	struct edit_hook *to;
	char real[PATH_MAX];
	struct stat st;
	struct why why;
	bool roots;

	if (p->file->faults.unsafe_hooks > 0)
		return refuse(p->why, WHY_CONFIG, "CDI spec %s has hooks that are not safe to run, and gpuhelper.conf says cdi_hooks "
		    "= \"allow\": see gpuhelperctl cdi validate %s", p->file->path, p->file->path);
	if (cdi_find_source(h->path, real, &st, &roots, &why) == -1)
		return refuse(p->why, WHY_CONFIG, "CDI spec %s: hook %s", p->file->path, why.text);
	if (!S_ISREG(st.st_mode) || (st.st_mode & 0111) == 0 || !roots)
		return refuse(p->why, WHY_CONFIG, "CDI spec %s: hook %s %s", p->file->path, h->path,
		    roots ? "is no program" : "can be changed by others than root");
	if (p->out->hooks >= DRIVER_HOOKS_MAX || h->args.n > DRIVER_WORDS_MAX || h->env.n > DRIVER_WORDS_MAX)
		return refuse(p->why, WHY_CONFIG, "CDI spec %s: more than %d hooks for one container, or more than %d arguments or "
		    "variables for one hook", p->file->path, DRIVER_HOOKS_MAX, DRIVER_WORDS_MAX);
	if ((to = edits_add_hook(p->out)) == NULL || (to->when = strdup(cdi_hook_names[h->when])) == NULL ||
	    (to->path = strdup(real)) == NULL || !strlist_append(&to->args, &h->args) || !strlist_append(&to->env, &h->env))
		return refuse_nomem(p->why);
	to->timeout = h->timeout.set ? (uint32_t)h->timeout.v : 0;
	return 0;
}

/*
 * A variable of one device, or of its spec, would be wrong for a task that gets another one's GPU. A task gets a GPU of
 * each rule, so only GPUs of one rule take each other's place.
 */
static bool
counts_for_all(const struct spec_part *p, const char *entry)
{
	const struct driver_question *q = p->q;
	const struct cdi_entry *e;
	struct why ignored;
	size_t i;

	for (i = 0; q->promise && i < q->grants; i++)
		if (q->granted[i].rule == p->rule && (driver_entry(q, &q->granted[i], &e, &ignored) == -1 || e == NULL ||
		    (!strlist_has(&e->device->edits.env, entry) && !strlist_has(&e->file->spec.edits.env, entry))))
			return false;
	return true;
}

static int
add_driver_edits(const struct spec_part *p, const struct cdi_edits *e)
{
	const bool hooks = p->q->settings->cdi_hooks && !(p->again && e == &p->file->spec.edits);
	size_t i;

	if (p->vendor == GPU_NVIDIA && check_version(p, e) == -1)
		return -1;
	for (i = 0; i < e->mounts; i++)
		if (add_driver_mount(p, e, &e->mount[i]) == -1)
			return -1;
	for (i = 0; i < e->env.n; i++)
		if (!vendor_env_requests(e->env.v[i]) && counts_for_all(p, e->env.v[i]) && !edits_add_env(p->out, e->env.v[i]))
			return refuse_nomem(p->why);
	if (p->out->env.n > DRIVER_WORDS_MAX)
		return refuse(p->why, WHY_CONFIG, "CDI spec %s: more than %d variables for one container", p->file->path,
		    DRIVER_WORDS_MAX);
	for (i = 0; hooks && i < e->hooks; i++)
		if (add_driver_hook(p, &e->hook[i]) == -1)
			return -1;
	return 0;
}

/* When all mounts and hooks are there: a place may be that of another GPU's mount, or a hook may make the name. */
static int
add_names(const struct driver_question *q, struct edits *out, struct why *why)
{
	const struct cdi_entry *e;
	size_t i;

	for (i = 0; i < q->grants; i++) {
		if (q->granted[i].gpu->vendor != GPU_NVIDIA)
			continue;
		if (driver_entry(q, &q->granted[i], &e, why) == -1)
			return -1;
		if (e != NULL &&
		    !driver_names_add((const struct cdi_edits *const[2]){ &e->file->spec.edits, &e->device->edits }, out))
			return refuse_nomem(why);
	}
	return 0;
}

/* Without these libraries a job fails much later, and its log blames CUDA. */
static int
note_missing(const struct driver_question *q, struct edits *out, struct why *why)
{
	char missing[DRIVER_MISSING_MAX], renewal[CDI_RENEWAL_MAX];
	const struct granted_gpu *first = NULL;
	const struct cdi_entry *e;
	unsigned capabilities = 0;
	size_t i;
	bool ok;

	for (i = q->grants; i-- > 0;)
		if (q->granted[i].gpu->vendor == GPU_NVIDIA) {
			first = &q->granted[i];
			capabilities |= first->rule->capabilities;
		}
	driver_missing(out, capabilities, missing);
	if (missing[0] == '\0')
		return 0;
	if (driver_entry(q, first, &e, why) == -1)
		return -1;
	if (e == NULL)
		ok = edits_add_note(out, "no CDI spec has the nodes of nvidia GPU %s, so the container has no %s but its image's "
		    "own: gpuhelperctl cdi generate --vendor nvidia --output /etc/cdi/gpuhelper-nvidia.json", first->gpu->pci,
		    missing);
	else
		ok = edits_add_note(out, "CDI spec %.120s gives the container no %s, without which programs can't use the GPU: "
		    "%s", e->file->path, missing, cdi_renewal(e->file->path, &e->file->spec, GPU_NVIDIA, renewal));
	return ok ? 0 : refuse_nomem(why);
}

int
driver_files(const struct driver_question *q, struct edits *out, struct strlist *used, struct why *why)
{
	const struct cdi_entry *e;
	size_t i;

	if (q->settings->driver_files != DRIVER_FILES_AUTO && q->settings->driver_files != DRIVER_FILES_CDI)
		return 0;
	for (i = 0; i < q->grants; i++) {
		struct spec_part p = { .q = q, .rule = q->granted[i].rule, .vendor = q->granted[i].gpu->vendor, .out = out,
			.why = why };

		if (driver_entry(q, &q->granted[i], &e, why) == -1)
			return -1;
		if (e == NULL)
			continue;
		p.file = e->file;
		p.again = strlist_has(used, e->file->path);
		/*
		 * the rule of a second GPU may have more capabilities, so go through all mounts;
		 * meets_another() skips those present
		 */
		if (add_driver_edits(&p, &e->file->spec.edits) == -1 || add_driver_edits(&p, &e->device->edits) == -1)
			return -1;
		if (!p.again && !strlist_add(used, e->file->path, SIZE_MAX))
			return refuse_nomem(why);
	}
	return add_names(q, out, why) == -1 ? -1 : note_missing(q, out, why);
}
