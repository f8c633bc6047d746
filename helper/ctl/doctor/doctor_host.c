/* See doctor.h: checks GPUs and their nodes, CDI specs, SELinux and cgroups. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../cdi/cdiproblem.h"
#include "../../cdi/cdirenewal.h"
#include "../../host/driver/cdidirs.h"
#include "../../host/driver/driverfiles.h"
#include "../../host/file.h"
#include "../../host/gpu/udev.h"
#include "../../read/parse.h"
#include "../cdi/cdi_validate.h"
#include "../worker/rootful.h"
#include "../worker/tasktakes.h"
#include "doctor.h"

#define LABELLER GPUHELPER_LIBEXEC "/gpuhelper-label"

static char *
read_root(const char *path, size_t max)
{
	const int root = file_root();

	return root != -1 ? file_read_at(root, path, max, NULL) : NULL;
}

/* Finds a node of a GPU that everyone may open, and its mode. NULL: there is none. */
static const char *
find_open_node(const struct inventory *inv, unsigned *mode)
{
	const struct gpu_node *n;
	struct stat st;
	size_t i, k;

	for (i = 0; i < inv->gpus; i++)
		for (k = 0; inv->gpu[i].vendor == GPU_NVIDIA && k < inv->gpu[i].nodes; k++) {
			n = &inv->gpu[i].node[k];
			if (strncmp(n->path, "/dev/nvidia", 11) != 0 || stat(n->path, &st) == -1 || (st.st_mode & 0006) == 0)
				continue;
			*mode = st.st_mode & 07777;
			return n->path;
		}
	return NULL;
}

/*
 * Only a device cgroup protects a node that is open to everyone.  If nvidia-modprobe resets a node's mode, a grant by
 * ACL does not work until the helper opens the node again.
 */
static void
look_at_nvidia(struct doctor *d, const struct inventory *inv, bool rootful)
{
	static const char options[] = "options nvidia NVreg_DeviceFileMode=0660 NVreg_ModifyDeviceFiles=0 "
	    "in /etc/modprobe.d, and reload the driver";
	const char *limits = rootful ? "; device cgroups limit containers to their GPUs" :
	    ", and no device cgroup limits this user's containers";
	const enum finding found = rootful ? FINDING_OK : FINDING_WARN;
	const bool opens = (inv->nvidia_mode & 0006) != 0;
	unsigned mode;
	const char *node = find_open_node(inv, &mode);

	if (node != NULL)
		doctor_say(d, found, "nodes", rootful ? NULL : opens ? options : "chmod o= /dev/nvidia*, and find out what opened "
		    "them", "%s is open to everyone (mode %04o)%s", node, mode, limits);
	else if (opens && inv->nvidia_modify)
		doctor_say(d, found, "nodes", rootful ? NULL : options, "nvidia-modprobe makes NVIDIA nodes open to everyone "
		    "(NVreg_DeviceFileMode=%04o)%s", inv->nvidia_mode, limits);
	else if (inv->nvidia_modify && (inv->nvidia_mode & 0060) != 0060)
		doctor_say(d, FINDING_WARN, "nodes", options, "nvidia-modprobe resets NVIDIA nodes to %04o, which breaks grants "
		    "by ACL", inv->nvidia_mode);
	else
		doctor_say(d, FINDING_OK, "nodes", NULL, "nobody but their owner and group may open NVIDIA nodes, and they keep what "
		    "gpuhelper sets");
}

/* «here»: the vendors that this host has; of the others, nothing is said. */
static void
say_none_usable(struct doctor *d, const struct inventory *inv, unsigned here)
{
	autobuf struct buf why = { 0 };
	size_t i;

	for (i = 0; i < GPU_VENDORS; i++)
		if ((here & 1U << i) != 0)
			buf_printf(&why, "%s%s: %s", why.len > 0 ? "; " : "", gpu_vendor_name((enum gpu_vendor)i),
			    inv->absent[i]);
	doctor_say(d, d->gives_gpus ? FINDING_FAIL : FINDING_WARN, "gpus", why.len > 0 ? NULL :
	    "gpuhelperctl devices says why", "none usable%s: %s", d->gives_gpus ? ", but policies grant GPUs" : "",
	    why.len > 0 && !why.failed ? why.p : "this host has no GPU that gpuhelper knows");
}

void
doctor_gpus(struct doctor *d)
{
	const unsigned here = doctor_vendors();
	struct inventory inv;
	size_t i, usable = 0;
	bool nvidia = false;
	char text[256];
	struct why why;

	if (gpus_of_host(GPUS_ALL, &inv, &why) == -1) {
		doctor_say(d, FINDING_FAIL, "gpus", NULL, "%s", why.text);
		inventory_free(&inv);
		return;
	}
	for (i = 0; i < inv.gpus; i++) {
		if (inv.gpu[i].unusable[0] != '\0')
			doctor_say(d, FINDING_WARN, "gpus", NULL, "%s %s can't be granted: %s", gpu_vendor_name(inv.gpu[i].vendor),
			    inv.gpu[i].pci, inv.gpu[i].unusable);
		usable += inv.gpu[i].unusable[0] == '\0';
		nvidia = nvidia || inv.gpu[i].vendor == GPU_NVIDIA;
	}
	if (usable > 0)
		doctor_say(d, FINDING_OK, "gpus", NULL, "%zu usable (gpuhelperctl devices lists them)", usable);
	else
		say_none_usable(d, &inv, here);
	for (i = 0; usable > 0 && i < GPU_VENDORS; i++)
		if ((d->vendors & here & 1U << i) != 0 && inv.absent[i][0] != '\0')
			doctor_say(d, FINDING_WARN, "gpus", NULL, "policies grant %s GPUs, but none is usable: %s",
			    gpu_vendor_name((enum gpu_vendor)i), inv.absent[i]);
	if (nvidia) {
		look_at_nvidia(d, &inv, rootful_for(d->uid, &d->settings, text, sizeof(text)));
		doctor_links(d, &inv);
	}
	inventory_free(&inv);
}

static bool
edits_of_other_driver(const struct cdi_edits *e, const char *loaded, char version[32])
{
	size_t i;

	for (i = 0; i < e->mounts; i++) {
		driver_library_version(e->mount[i].host_path, version);
		if (version[0] != '\0' && strcmp(version, loaded) != 0)
			return true;
	}
	return false;
}

/*
 * True if the spec names a library of another driver version than the loaded one. «version» gets the library's
 * version.
 */
static bool
is_of_other_driver(const struct cdi_spec *s, const char *loaded, char version[32])
{
	size_t i;

	if (edits_of_other_driver(&s->edits, loaded, version))
		return true;
	for (i = 0; i < s->devices; i++)
		if (edits_of_other_driver(&s->device[i].edits, loaded, version))
			return true;
	return false;
}

/* True if a spec of this kind ("": unknown) may have a GPU of this host, or a policy names the kind. */
static bool
may_matter(const struct doctor *d, const struct inventory *inv, const char *kind)
{
	size_t i;

	for (i = 0; i < inv->gpus; i++)
		if (cdi_kind_may_have(kind, inv->gpu[i].vendor))
			return true;
	return kind[0] == '\0' || strlist_has(&d->kinds, kind);
}

static void
say_unused(struct doctor *d, const struct cdi_file *f, const struct inventory *inv, const char *fix)
{
	const char *kind = cdi_kind_of(&f->spec);
	const struct cdi_fault *first = cdi_first_fault(&f->faults);
	char reason[1024] = "";

	if (f->problems.n > 0)
		snprintf(reason, sizeof(reason), ": %.1000s", f->problems.v[0]);
	else if (first != NULL)
		snprintf(reason, sizeof(reason), ": %s%s%s", first->path, first->path[0] != '\0' ? ": " : "", first->text);
	if (f->spec.empty && f->problems.n == 0)
		doctor_say(d, FINDING_OK, "cdi", NULL, "%s has no devices", f->path);
	else if (may_matter(d, inv, kind))
		doctor_say(d, FINDING_WARN, "cdi", fix, "%s is not used%s", f->path, reason);
	else
		doctor_say(d, FINDING_OK, "cdi", fix, "%s is not used, and no GPU of this host needs a spec of the kind %s%s",
		    f->path, kind, reason);
}

static void
look_at_spec(struct doctor *d, const struct cdi_file *f, const struct inventory *inv)
{
	const char *loaded = inv->nvidia_version;
	autofree char *fix = NULL;
	char version[32], renewal[CDI_RENEWAL_MAX];

	if (asprintf(&fix, "gpuhelperctl cdi validate --host %s", f->path) == -1)
		fix = NULL;
	if (!f->usable || f->problems.n > 0)
		say_unused(d, f, inv, fix);
	else if (loaded[0] != '\0' && is_of_other_driver(&f->spec, loaded, version))
		doctor_say(d, FINDING_FAIL, "cdi", cdi_renewal(f->path, &f->spec, GPU_NVIDIA, renewal),
		    "%s is for NVIDIA driver %s, but %s is loaded", f->path, version, loaded);
	else
		doctor_say(d, FINDING_OK, "cdi", NULL, "%s, %s", f->path, f->spec.kind);
}

static bool
is_hidden(const char *dir)
{
	return geteuid() != 0 && access(dir, R_OK) == -1 && errno == EACCES;
}

bool
doctor_specs_are_hidden(void)
{
	size_t i;

	for (i = 0; cdi_live_dirs[i] != NULL; i++)
		if (is_hidden(cdi_live_dirs[i]))
			return true;
	return false;
}

/* Says of each directory of specs that only root can list it. Returns whether there is one. */
static bool
tell_hidden(struct doctor *d)
{
	bool any = false;
	size_t i;

	for (i = 0; cdi_live_dirs[i] != NULL; i++)
		if (is_hidden(cdi_live_dirs[i])) {
			doctor_say(d, FINDING_OK, "cdi", NULL, "%s: only root can list it, which is enough; to check the specs there, "
			    "run gpuhelperctl doctor as root", cdi_live_dirs[i]);
			any = true;
		}
	return any;
}

/* True for the problem that such a directory is: tell_hidden() has told of it. */
static bool
is_of_hidden_dir(const char *problem)
{
	size_t i;

	for (i = 0; cdi_live_dirs[i] != NULL; i++)
		if (text_starts(problem, cdi_live_dirs[i]) && problem[strlen(cdi_live_dirs[i])] == ':' &&
		    is_hidden(cdi_live_dirs[i]))
			return true;
	return false;
}

void
doctor_cdi(struct doctor *d)
{
	autocdiregistry struct cdi_registry r = { 0 };
	struct inventory inv = { 0 };
	struct why why;
	bool hidden;
	size_t i;

	if (cdi_registry_load(CDI_DIRS, true, specs_parse, &r, &why) == -1 || gpus_of_host(GPUS_ALL, &inv, &why) == -1)
		doctor_say(d, FINDING_FAIL, "cdi", NULL, "%s", why.text);
	hidden = tell_hidden(d);
	for (i = 0; i < r.problems.n; i++)
		if (!is_of_hidden_dir(r.problems.v[i]))
			doctor_say(d, FINDING_WARN, "cdi", NULL, "%s", r.problems.v[i]);
	for (i = 0; i < r.files; i++)
		look_at_spec(d, &r.file[i], &inv);
	if (r.files == 0 && r.problems.n == 0 && !hidden)
		doctor_say(d, FINDING_OK, "cdi", NULL, "no specs in " CDI_DIRS);
	inventory_free(&inv);
}

/* Checks gpuhelper-label, which the helper starts to set SELinux labels. */
static void
look_at_labeller(struct doctor *d, bool enforces)
{
	const enum finding bad = enforces ? FINDING_FAIL : FINDING_WARN;
	char label[256] = "";

	if (doctor_program(d, "selinux", LABELLER, bad, "nothing is granted while SELinux is on") &&
	    (getxattr(LABELLER, "security.selinux", label, sizeof(label) - 1) == -1 ||
	    strstr(label, ":gpuhelper_label_exec_t:") == NULL))
		doctor_say(d, bad, "selinux", "semodule -i gpuhelper.pp && restorecon -R " GPUHELPER_LIBEXEC,
		    "%s is not labelled gpuhelper_label_exec_t (%s)", LABELLER, label[0] != '\0' ? label : "no label");
}

void
doctor_selinux(struct doctor *d)
{
	autofree char *enforce = read_root("sys/fs/selinux/enforce", 16), *devices = NULL;
	char label[256] = "";

	if (enforce == NULL) {
		doctor_say(d, FINDING_OK, "selinux", NULL, "is off");
		return;
	}
	if (getxattr(DOOR_HELPER, "security.selinux", label, sizeof(label) - 1) == -1)
		label[0] = '\0';
	if (strstr(label, ":gpuhelper_exec_t:") != NULL)
		doctor_say(d, FINDING_OK, "selinux", NULL, "%s; the helper is %s", enforce[0] == '1' ? "enforces" : "is permissive",
		    label);
	else
		doctor_say(d, enforce[0] == '1' ? FINDING_FAIL : FINDING_WARN, "selinux",
		    "semodule -i gpuhelper.pp && restorecon -R " GPUHELPER_LIBEXEC " " GPUHELPER_CONFDIR,
		    "%s, but the helper is not labelled gpuhelper_exec_t (%s)", enforce[0] == '1' ? "enforces" : "is permissive",
		    label[0] != '\0' ? label : "no label");
	look_at_labeller(d, enforce[0] == '1');
	devices = read_root("sys/fs/selinux/booleans/container_use_devices", 16);
	if (devices != NULL && devices[0] == '1')
		doctor_say(d, FINDING_WARN, "selinux", "setsebool -P container_use_devices off",
		    "container_use_devices lets every container use every device");
}

void
doctor_cgroups(struct doctor *d)
{
	char text[320];
	const char *fix;
	bool rootful = rootful_for(d->uid, &d->settings, text, sizeof(text));

	doctor_say(d, rootful || d->settings.unenforced ? FINDING_OK : FINDING_WARN, "cgroups",
	    rootful || d->settings.unenforced ? NULL : "sharing = \"shared\" in the policies, or unenforced = \"allow\" in "
	    "gpuhelper.conf (SECURITY.md)", "%s", text);
	(void)task_takes(&(struct task_question){ .rootful = rootful, .settings = &d->settings }, text, sizeof(text), &fix);
	doctor_say(d, fix != NULL ? FINDING_WARN : FINDING_OK, "tasks", fix, "%s", text);
}
