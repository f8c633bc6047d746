/*
 * Warnings about a valid spec, which an administrator should look at before a host uses it: nodes of no known GPU
 * driver, writable mounts, and hooks that are no known vendor's. Compares with lists of what is known to be good,
 * because bad things have too many names. The helper accepts the spec nevertheless: it judges nodes by their numbers
 * (extranode.h), and runs hooks only if gpuhelper.conf allows it.
 */
#include <stdio.h>
#include <string.h>

#include "../base/path.h"
#include "../base/pathshort.h"
#include "../base/text.h"
#include "../gpu/extranode.h"
#include "../gpu/extrapath.h"
#include "../gpu/extraword.h"
#include "../gpu/unsupported.h"
#include "../gpu/vendorasks.h"
#include "../gpu/vendorvars.h"
#include "cdi.h"
#include "cdigpu.h"
#include "nvhook.h"
#include "nvlibs.h"

struct warning {
	struct cdi_faults *f;
	const char *at;		/* "devices[0].containerEdits" */
};

/* True if this element, or a member of it, has a worse fault. */
static bool
is_told(const struct cdi_faults *f, const char *path)
{
	const size_t len = strlen(path);
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->v[i].layer != CDI_WARNING && strncmp(f->v[i].path, path, len) == 0 &&
		    (f->v[i].path[len] == '.' || f->v[i].path[len] == '\0'))
			return true;
	return false;
}

/*
 * The path by which the host's file is known. A root directory of the driver's own (/run/nvidia/driver) has the host's
 * nodes and sockets once more: then it is the path beneath that root, which is the path in the container, too.
 */
static const char *
known_by(const char *host, const char *container)
{
	const size_t len = strlen(host), part = container != NULL ? strlen(container) : 0;

	return part > 0 && len > part && strcmp(host + len - part, container) == 0 ? container : host;
}

static void
warn_node(const struct warning *w, size_t i, const struct cdi_devnode *n)
{
	char path[128], shown[PATH_SHOWN];
	const char *source = path_short(cdi_node_source(n), shown, sizeof(shown));
	const char *name = known_by(cdi_node_source(n), n->path), *unsupported = node_unsupported(name);
	unsigned word;

	snprintf(path, sizeof(path), "%s.deviceNodes[%zu]", w->at, i);
	/* a node without any permission gives access to nothing */
	if ((n->permissions != NULL && strcmp(n->permissions, "none") == 0) || is_told(w->f, path))
		return;
	if (unsupported != NULL)
		cdi_fault(w->f, CDI_WARNING, n->line, n->column, path, "%s is of a GPU of %s, which gpuhelper can't give: no node "
		    "stands for this GPU alone", source, unsupported);
	else if (!extra_path_known(name, &word))
		cdi_fault(w->f, CDI_WARNING, n->line, n->column, path, "%s is of no GPU driver that gpuhelper knows: see what "
		    "it opens; a grant refuses it where it is not the GPU's own PCI device", source);
	else if (n->type != 'p' && n->major.set && n->major.v != 0 &&
	    extra_path_number(name, n->major.v, n->minor.v) != EXTRA_NUMBER_FITS)
		cdi_fault(w->f, CDI_WARNING, n->line, n->column, path, "%s has a major number, %lld, that the kernel gives to "
		    "none of its kind: see which device that is", source, (long long)n->major.v);
	else if (word != 0)
		cdi_fault(w->f, CDI_WARNING, n->line, n->column, path, "%s is given only by a policy that says nodes = "
		    "[ \"%s\" ]", source, extra_word_name(word));
}

/* Sockets of the driver's own services, which need no mount option to be written to. */
static bool
is_of_services(const char *path)
{
	static const char *const dirs[] = { "/run/nvidia-persistenced", "/run/nvidia-fabricmanager",
		"/var/run/nvidia-persistenced", "/var/run/nvidia-fabricmanager", NULL };
	size_t i;

	for (i = 0; dirs[i] != NULL; i++)
		if (path_is_beneath(path, dirs[i]))
			return true;
	return nvfile_is_mps(path);
}

static void
warn_mount(const struct warning *w, size_t i, const struct cdi_mount *m)
{
	char path[128], shown[PATH_SHOWN];
	unsigned word;

	snprintf(path, sizeof(path), "%s.mounts[%zu]", w->at, i);
	if (!cdi_mount_is_bind(m) || is_told(w->f, path) || vendor_mount_asks(m->container_path))
		return;
	path_short(m->host_path, shown, sizeof(shown));
	if (path_is_beneath(m->host_path, "/dev")) {
		if (!path_is_beneath(m->host_path, "/dev/dri/by-path") && !extra_path_known(m->host_path, &word))
			cdi_fault(w->f, CDI_WARNING, m->line, m->column, path, "%s is of no GPU driver that gpuhelper knows: an "
			    "engine that mounts it may open it, too", shown);
	} else if (cdi_mount_writable(m) && !nvfile_is_mps(m->host_path))
		cdi_fault(w->f, CDI_WARNING, m->line, m->column, path, "%s is mounted writable: any container with the device "
		    "can change it for all", shown);
	else if (!strlist_has(&m->options, "ro") && !is_of_services(known_by(m->host_path, m->container_path)))
		cdi_fault(w->f, CDI_WARNING, m->line, m->column, path, "%s has no option \"ro\": engines mount it "
		    "writable, a grant does not", shown);
}

/*
 * True if the hook names an ldconfig other than the host's, which may be any program, or another container
 * than its own.
 */
static bool
names_another(const struct cdi_hook *h)
{
	static const char *const own[] = { "/sbin/ldconfig", "/sbin/ldconfig.real", "/usr/sbin/ldconfig",
		"/usr/sbin/ldconfig.real", NULL };
	const char *value, *arg;
	size_t i;

	for (i = 0; i < h->args.n; i++) {
		/* Go's programs take one dash for two */
		arg = h->args.v[i] + (text_starts(h->args.v[i], "--") ? 1 : 0);
		/* another container than the runtime's */
		if (text_starts(arg, "-container-spec"))
			return true;
		if (!text_starts(arg, "-ldconfig-path"))
			continue;
		value = strchr(arg, '=');
		value = value != NULL ? value + 1 : i + 1 < h->args.n ? h->args.v[i + 1] : "";
		/* «@» means the host's ldconfig instead of the image's */
		if (*value != '@' || !text_among(value + 1, own))
			return true;
	}
	return false;
}

/* True for the programs of NVIDIA's and AMD's tool kits, by name and subcommand. */
static bool
is_known_hook(const struct cdi_hook *h)
{
	const enum nvhook nvidias = nvhook_of(h);

	if (!path_is_beneath(h->path, "/usr") || names_another(h))
		return false;
	if (nvidias != NVHOOK_NONE)
		return nvidias != NVHOOK_UNKNOWN;
	return strcmp(path_last(h->path), "amd-ctk") == 0 && h->args.n > 1 && strcmp(h->args.v[1], "gpu-tracker") == 0;
}

static void
warn_hook(const struct warning *w, size_t i, const struct cdi_hook *h)
{
	char path[128], shown[PATH_SHOWN];

	snprintf(path, sizeof(path), "%s.hooks[%zu]", w->at, i);
	if (!is_known_hook(h) && !is_told(w->f, path))
		cdi_fault(w->f, CDI_WARNING, h->line, h->column, path, "%s%s%.40s is no hook of NVIDIA's or AMD's tools: engines "
		    "run it as root, so see what it does", path_short(h->path, shown, sizeof(shown)),
		    h->args.n > 1 ? " " : "", h->args.n > 1 ? h->args.v[1] : "");
}

static void
warn_edits(struct cdi_faults *f, const char *at, const struct cdi_edits *e)
{
	const struct warning w = { f, at };
	size_t i;

	for (i = 0; i < e->nodes; i++)
		warn_node(&w, i, &e->node[i]);
	for (i = 0; i < e->mounts; i++)
		warn_mount(&w, i, &e->mount[i]);
	for (i = 0; i < e->hooks; i++)
		warn_hook(&w, i, &e->hook[i]);
}

void
cdi_warn(const struct cdi_spec *s, struct cdi_faults *f)
{
	char at[64];
	size_t i;

	for (i = 0; i < s->devices; i++) {
		snprintf(at, sizeof(at), "devices[%zu].containerEdits", i);
		warn_edits(f, at, &s->device[i].edits);
	}
	warn_edits(f, "containerEdits", &s->edits);
}
