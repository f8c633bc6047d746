/*
 * A made-up host with one policy and one CDI spec, changes to a container made of any bytes, and an oracle: the list of
 * all changes that the table (helper/vet/vet.h) must let pass there.  Shared by t_vet.c and fuzz/fuzz_vet.c.
 */
#ifndef GPUHELPER_TESTS_VETMODEL_H
#define GPUHELPER_TESTS_VETMODEL_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/extranode.h"
#include "lease/editsdriver.h"
#include "vet/vet.h"

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))
#define TEXT(s) ((char *)(uintptr_t)(s))

/* The host. */

static const struct model_node {
	const char *path;
	struct edit_node n;
	const char *gpu;		/* the GPU that alone has it */
	unsigned vendors;
	bool given, after;		/* it may pass; only if the spec's own GPU passes, too */
} model_nodes[] = {
	{ "/dev/nvidia0", { .major = 195, .minor = 0, .mode = 0666 }, "0000:3b:00.0", 1, true, false },
	{ "/dev/nvidia1", { .major = 195, .minor = 1, .mode = 0600, .uid = 7, .gid = 44 }, "0000:af:00.0", 1, true, false },
	{ "/dev/nvidia2", { .major = 195, .minor = 2, .mode = 0666 }, "0000:d8:00.0", 1, false, false },	/* no rule names it */
	{ "/dev/nvidiactl", { .major = 195, .minor = 255, .mode = 0666 }, "", 0, true, false },
	{ "/dev/nvidia-modeset", { .major = 195, .minor = 254, .mode = 0666 }, "", 0, false, false },	/* for displays */
	{ "/dev/dri/renderD128", { .major = 226, .minor = 128, .mode = 0666 }, "0000:3b:00.0", 1, true, false },
	{ "/dev/dri/renderD129", { .major = 226, .minor = 129, .mode = 0666 }, "0000:04:00.0", 2, false, false },	/* another vendor's */
	{ "/dev/dri/renderD130", { .major = 226, .minor = 130, .mode = 0666 }, "", 0, false, false },	/* of no GPU */
	{ "/dev/gdrdrv", { .major = 240, .minor = 0, .mode = 0660, .gid = 45 }, "", 0, true, true },
	{ "/dev/nvidia-fs0", { .major = 241, .minor = 0, .mode = 0666 }, "", 0, false, false },	/* the policy lacks the word */
	{ "/dev/extra", { .major = 242, .minor = 3, .mode = 0666, .gid = 46 }, "0000:3b:00.0", 1, true, true },
	{ "/dev/unlisted", { .major = 242, .minor = 4, .mode = 0666 }, "0000:3b:00.0", 1, false, false },	/* no spec has it */
	{ "/dev/closed", { .major = 242, .minor = 5, .mode = 0666 }, "0000:3b:00.0", 1, false, false },	/* the spec does not open it */
	{ "/dev/kfd", { .major = 243, .minor = 0, .mode = 0666 }, "", 0, false, false },	/* of another vendor */
	{ "/dev/mem", { .major = 1, .minor = 1, .mode = 0640, .gid = 9 }, "", 0, false, false },
	{ "/dev/nvidia-caps/nvidia-cap1", { .major = 244, .minor = 1, .mode = 0400 }, "", 0, false, false },	/* makes MIG instances */
};

static bool
model_see_node(void *host, const char *path, struct vet_node *n)
{
	size_t i;

	(void)host;
	for (i = 0; i < COUNT(model_nodes); i++)
		if (strcmp(model_nodes[i].path, path) == 0) {
			n->node = model_nodes[i].n;
			n->what = (struct extra_node){ .major = n->node.major, .minor = n->node.minor };
			n->vendors = model_nodes[i].vendors;
			snprintf(n->pci, sizeof(n->pci), "%s", model_nodes[i].gpu);
			if (n->node.major != 195)
				snprintf(n->what.pci, sizeof(n->what.pci), "%s", model_nodes[i].gpu);
			return true;
		}
	return false;
}

#define LIB "/opt/d/libcuda.so.580.95.05"
static const struct { const char *path, *real; bool plain, socket, program, roots; } model_files[] = {
	{ LIB, LIB, true, false, true, true },
	{ "/opt/link/rw", "/opt/d/rw", true, false, false, true },
	{ "/opt/loose", "/opt/loose", true, false, true, false },
	{ "/opt/hook", "/opt/d/hook", true, false, true, true },
	{ "/etc/rw", "/etc/rw", true, false, false, true },
	{ "/run/gpuhelper/x", "/run/gpuhelper/x", true, false, false, true },
};

static bool
model_see_file(void *host, const char *path, struct vet_file *f)
{
	size_t i;

	(void)host;
	*f = (struct vet_file){ .real = "" };
	for (i = 0; i < COUNT(model_files); i++)
		if (strcmp(model_files[i].path, path) == 0) {
			snprintf(f->real, sizeof(f->real), "%s", model_files[i].real);
			f->plain = model_files[i].plain;
			f->socket = model_files[i].socket;
			f->program = model_files[i].program;
			f->roots = model_files[i].roots;
			return true;
		}
	return false;
}

static bool
model_see_folder(void *host, const char *path)
{
	static const char *const there[] = { "/srv/a", "/srv/a/x", "/srv/b", "/srv/b/x", "/srv/b/x/y", "/srv/p-1", "/srv/p-2",
		"/srv/p-1/x", "/srv/.p-3", "/srv/deep", "/srv/secret", "/etc", NULL };

	(void)host;
	return text_among(path, there);
}

/* Root's files. */

static char *model_env[] = { TEXT("FROM_POLICY=1") }, *model_spec_env[] = { TEXT("FROM_SPEC=1"), TEXT("NVIDIA_GDS=enabled") };
static char *model_devices[] = { TEXT("0000:3b:00.0"), TEXT("af:00.0") };
static struct gpu_rule model_rule = { .has_vendor = true, .vendor = GPU_NVIDIA, .devices = { model_devices, 2 }, .count = 2,
	.capabilities = GPU_CAP_COMPUTE | GPU_CAP_UTILITY, .nodes = EXTRA_GDRDRV };
static struct folder_rule model_rules[] = {
	{ .path = TEXT("/srv/a") },
	{ .path = TEXT("/srv/b"), .writable = true, .target = TEXT("/b"), .subfolders = true },
	{ .path = TEXT("/srv/p-*"), .target = TEXT("/p") },
	{ .path = TEXT("/srv/deep"), .writable = true, .submounts = true },
};
static struct policy model_policy = { .name = TEXT("t.conf"), .gpu = &model_rule, .gpus = 1, .folder = model_rules,
	.folders = COUNT(model_rules), .env = { model_env, 1 } };

static char *model_ro[] = { TEXT("ro") }, *model_rw[] = { TEXT("rw"), TEXT("noexec") }, *model_odd[] = { TEXT("exec") }, *model_args[] = { TEXT("hook"), TEXT("a") },
    *model_hook_env[] = { TEXT("A=1") };
static struct cdi_mount model_mounts[] = {
	{ TEXT(LIB), TEXT("/usr/lib/driver/libcuda.so.580.95.05"), NULL, { model_ro, 1 }, 0, 0 },
	{ TEXT("/opt/link/rw"), TEXT("/usr/share/rw"), NULL, { model_rw, 2 }, 0, 0 },
	{ TEXT("/opt/loose"), TEXT("/usr/share/loose"), NULL, { model_ro, 1 }, 0, 0 },
	{ TEXT("/etc/rw"), TEXT("/usr/share/etc"), NULL, { model_rw, 1 }, 0, 0 },
	{ TEXT("/run/gpuhelper/x"), TEXT("/usr/share/x"), NULL, { model_ro, 1 }, 0, 0 },
	{ TEXT("/opt/gone"), TEXT("/usr/share/gone"), NULL, { model_ro, 1 }, 0, 0 },
	{ TEXT(LIB), TEXT("/dev/dri"), NULL, { model_ro, 1 }, 0, 0 },
	{ TEXT(LIB), TEXT("/usr/lib/odd"), NULL, { model_odd, 1 }, 0, 0 },
};
static struct cdi_devnode model_devnodes[] = { { .path = TEXT("/dev/nvidia0") }, { .path = TEXT("/dev/gdrdrv") }, { .path = TEXT("/dev/extra") },
	{ .path = TEXT("/dev/closed"), .permissions = TEXT("r") }, { .path = TEXT("/dev/mem") }, { .path = TEXT("/dev/nvidia-fs0") }, { .path = TEXT("/dev/nvidia-caps/nvidia-cap1") } };
static struct cdi_hook model_hook = { CDI_CREATE_CONTAINER, TEXT("/opt/hook"), { model_args, 2 }, { model_hook_env, 1 }, { true, 5 }, 0, 0 };
static const struct cdi_edits model_spec = { .env = { model_spec_env, 2 }, .node = model_devnodes, .nodes = COUNT(model_devnodes),
	.mount = model_mounts, .mounts = COUNT(model_mounts), .hook = &model_hook, .hooks = 1 };
/* A spec of something else, whose device is not granted. */
static struct cdi_mount model_other_mount = { TEXT(LIB), TEXT("/usr/share/other"), NULL, { model_ro, 1 }, 0, 0 };
static struct cdi_devnode model_other_node = { .path = TEXT("/dev/fpga0") };
static char *model_other_env[] = { TEXT("FROM_OTHER=1") };
static const struct cdi_edits model_other = { .env = { model_other_env, 1 }, .node = &model_other_node, .nodes = 1, .mount = &model_other_mount, .mounts = 1 },
    model_nothing;
static struct vet_source model_sources[] = { { { &model_nothing, &model_spec }, "nvidia.com/gpu", true, false }, { { &model_nothing, &model_other }, "vendor.com/fpga", true, false } };
static struct devmajor model_majors_v[] = { { 195, 'c', "nvidia" }, { 240, 'c', "gdrdrv" }, { 241, 'c', "nvidia-fs" }, { 242, 'c', "acme" },
	{ 243, 'c', "kfd" }, { 244, 'c', "nvidia-caps" }, { 1, 'c', "mem" } };
static const struct devmajors model_majors = { model_majors_v, COUNT(model_majors_v) };

/* The oracle: every change that may pass. */

#define RO "bind,rprivate,ro,nosuid,nodev"
#define RW "bind,rprivate,rw,nosuid,nodev"
static const char *const model_mounts_given[] = {
	"/srv/a|/srv/a|" RO,
	"/srv/b|/b|" RO, "/srv/b|/b|" RW, "/srv/b/x|/b/x|" RO, "/srv/b/x|/b/x|" RW, "/srv/b/x/y|/b/x/y|" RO, "/srv/b/x/y|/b/x/y|" RW,
	"/srv/p-1|/p/p-1|" RO, "/srv/p-2|/p/p-2|" RO,
	"/srv/deep|/srv/deep|rbind,rprivate,ro,nosuid,nodev,rro,rnosuid,rnodev",
	"/srv/deep|/srv/deep|rbind,rprivate,rw,nosuid,nodev,rnosuid,rnodev", NULL };
static const char *const model_files_given[] = {
	LIB "|/usr/lib/driver/libcuda.so.580.95.05|" RO,
	"/opt/d/rw|/usr/share/rw|" RO ",noexec", "/opt/d/rw|/usr/share/rw|" RW ",noexec",
	"/etc/rw|/usr/share/etc|" RO, NULL };
/* with the first of those files */
static const char *const model_second_names[] = { "libcuda.so.1", "libcuda.so.580.95.05", "libcuda.so", NULL };
static const char *const model_env_given[] = { "FROM_POLICY=1", "FROM_SPEC=1", NULL };

static void
model_line(const struct edit_mount *m, char *out, size_t size)
{
	size_t i, n = (size_t)snprintf(out, size, "%s|%s|", m->source, m->target);

	for (i = 0; i < m->options.n && n < size; i++)
		n += (size_t)snprintf(out + n, size - n, "%s%s", i > 0 ? "," : "", m->options.v[i]);
}

static bool
model_gives_second_name(const struct edits *e, const char *line)
{
#ifdef __aarch64__
	static const char *const dirs[] = { "/usr/lib/aarch64-linux-gnu", "/usr/lib64", NULL };
#else
	static const char *const dirs[] = { "/usr/lib/x86_64-linux-gnu", "/usr/lib64", NULL };
#endif
	char want[512];
	bool first = false;
	size_t i, k;

	for (i = 0; i < e->mounts; i++) {
		model_line(&e->mount[i], want, sizeof(want));
		first = first || (e->mount[i].driver && strcmp(want, model_files_given[0]) == 0);
	}
	for (i = 0; first && dirs[i] != NULL; i++)
		for (k = 0; model_second_names[k] != NULL; k++) {
			snprintf(want, sizeof(want), LIB "|%s/%s|" RO, dirs[i], model_second_names[k]);
			if (strcmp(want, line) == 0)
				return true;
		}
	return false;
}

/* True if the spec's GPU is granted, and with it all that the spec has. */
static bool
model_has_gpu(const struct edits *e)
{
	size_t i;

	for (i = 0; i < e->nodes; i++)
		if (strcmp(e->node[i].path, "/dev/nvidia0") == 0)
			return true;
	return false;
}

static bool
model_gives_node(const struct edits *e, const struct edit_node *n)
{
	const struct model_node *m;

	for (m = model_nodes; m < model_nodes + COUNT(model_nodes); m++)
		if (strcmp(m->path, n->path) == 0)
			return m->given && (!m->after || model_has_gpu(e)) && m->n.major == n->major && m->n.minor == n->minor && (n->mode | m->n.mode) == m->n.mode &&
			    m->n.uid == n->uid && m->n.gid == n->gid;
	return false;
}

static bool
model_gives_masked(const char *path)
{
	static const char above[] = "/proc/driver/nvidia/";
	const char *c;

	if (strncmp(path, above, sizeof(above) - 1) != 0 || strlen(path) > 1023 || !text_is_utf8(path, strlen(path)))
		return false;
	for (c = path; *c != '\0'; c++) {
		const size_t n = strcspn(c + 1, "/");

		if ((unsigned char)*c < ' ' || *c == 127)
			return false;
		if (*c == '/' && (n == 0 || n > 255 || (n == 1 && c[1] == '.') || (n == 2 && c[1] == '.' && c[2] == '.')))
			return false;
	}
	return true;
}

/* Ids of the container are the host's. */
static bool
model_gives_group(const struct edits *e, uint32_t gid)
{
	size_t i;

	for (i = 0; gid != 0 && i < e->nodes; i++)
		if (e->node[i].gid == gid)
			return true;
	return false;
}

static bool
model_gives_hook(const struct edit_hook *h)
{
	return strcmp(h->when, "createContainer") == 0 && strcmp(h->path, "/opt/d/hook") == 0 && h->timeout == 5 && h->args.n == 2 &&
	    strcmp(h->args.v[0], "hook") == 0 && strcmp(h->args.v[1], "a") == 0 && h->env.n == 1 && strcmp(h->env.v[0], "A=1") == 0;
}

/* The levels of both labels have the same two categories; the mount's may be a range of two. */
static bool
model_gives_labels(const struct edits *e)
{
	unsigned a, b, c, d;
	char again[128];

	if (e->label == NULL)
		return e->mount_label == NULL;
	if (e->mount_label == NULL || sscanf(e->label, "system_u:system_r:nvidia_container_t:s0:c%u,c%u", &a, &b) != 2 ||
	    (sscanf(e->mount_label, "system_u:object_r:container_file_t:s0:c%u,c%u", &c, &d) != 2 &&
	    (sscanf(e->mount_label, "system_u:object_r:container_file_t:s0:c%u.c%u", &c, &d) != 2 || d != c + 1)) || a == b || a > 1023 || b > 1023)
		return false;
	snprintf(again, sizeof(again), "system_u:system_r:nvidia_container_t:s0:c%u,c%u", a, b);
	if (strcmp(again, e->label) != 0)
		return false;
	snprintf(again, sizeof(again), "system_u:object_r:container_file_t:s0:c%u%cc%u", c, strchr(strstr(e->mount_label, "s0"), '.') ? '.' : ',', d);
	return strcmp(again, e->mount_label) == 0 && ((a == c && b == d) || (a == d && b == c));
}

static bool
model_within(const char *a, const char *b)
{
	return strncmp(a, b, strlen(b)) == 0 && (a[strlen(b)] == '\0' || a[strlen(b)] == '/');
}

/* True if one of two mounts is in the way of the other. */
static bool
model_meets(const struct edit_mount *a, const struct edit_mount *b)
{
	return a->driver == b->driver ? strcmp(a->target, b->target) == 0 : model_within(a->target, b->target) ||
	    model_within(b->target, a->target);
}

static bool
model_gives(const struct edits *e)
{
	const bool gpu = model_has_gpu(e);
	char line[4096];
	size_t i, k;

	for (i = 0; i < e->nodes; i++)
		for (k = 0; k <= i; k++)
			if (k == i ? !model_gives_node(e, &e->node[i]) : strcmp(e->node[k].path, e->node[i].path) == 0)
				return false;
	for (i = 0; i < e->mounts; i++) {
		for (k = 0; k < i; k++)
			if (model_meets(&e->mount[i], &e->mount[k]))
				return false;
		if (e->mount[i].driver && !gpu)
			return false;
		model_line(&e->mount[i], line, sizeof(line));
		if (!text_among(line, e->mount[i].driver ? model_files_given : model_mounts_given) &&
		    !(e->mount[i].driver && model_gives_second_name(e, line)))
			return false;
	}
	for (i = 0; i < e->hooks; i++)
		if (i > 0 || !gpu || !model_gives_hook(&e->hook[i]))
			return false;
	for (i = 0; i < e->env.n; i++)
		if (!text_among(e->env.v[i], model_env_given) || (!gpu && strcmp(e->env.v[i], "FROM_SPEC=1") == 0))
			return false;
	for (i = 0; i < e->gids; i++)
		if (!model_gives_group(e, e->gid[i]))
			return false;
	for (i = 0; i < e->masked.n; i++)
		if (!model_gives_masked(e->masked.v[i]))
			return false;
	return model_gives_labels(e);
}

/* Changes of any bytes. */

struct model_bytes {
	const uint8_t *p, *end;
};

static unsigned
model_byte(struct model_bytes *b)
{
	return b->p < b->end ? *b->p++ : 0;
}

/* One of the texts, mostly unchanged; else with one byte changed, cut, or with a piece added. */
static char *
model_text(struct model_bytes *b, const char *const *texts, size_t n)
{
	static const char *const pieces[] = { "/", "/..", "/.", "x", "0", ",rw", "*", "\n", "\377", "/x" };
	const char *from = texts[model_byte(b) % n];
	const size_t len = strlen(from);
	char *out = calloc(1, len + 16);
	size_t at;

	if (out == NULL)
		abort();
	memcpy(out, from, len);
	switch (model_byte(b)) {
	case 1:
		if (len > 0 && (at = model_byte(b) % len) < len)
			out[at] = (char)model_byte(b);
		break;
	case 2:
		out[len > 0 ? model_byte(b) % len : 0] = '\0';
		break;
	case 3:
		strcpy(out + len, pieces[model_byte(b) % COUNT(pieces)]);
		break;
	default:
		break;
	}
	return out;
}

static void
model_add_text(struct model_bytes *b, struct strlist *l, const char *const *texts, size_t n)
{
	char *text = model_text(b, texts, n);

	if (!strlist_add(l, text, SIZE_MAX))
		abort();
	free(text);
}

static void
model_add_mount(struct model_bytes *b, struct edits *e)
{
	static const char *const sources[] = { "/srv/a", "/srv/b", "/srv/b/x", "/srv/b/x/y", "/srv/p-1", "/srv/p-2", "/srv/deep", LIB, "/opt/d/rw",
		"/etc/rw", "/opt/loose", "/opt/link/rw", "/srv/secret", "/srv/a/x", "/srv/p-1/x", "/srv/.p-3", "/etc", "/run/gpuhelper/x", "/opt/d/hook" };
	static const char *const targets[] = { "/srv/a", "/b", "/b/x", "/b/x/y", "/p/p-1", "/p/p-2", "/srv/deep", "/usr/lib/driver/libcuda.so.580.95.05",
		"/usr/share/rw", "/usr/share/etc", "/usr/share/loose", "/usr/share/rw", "/srv/secret", "/srv/a/x", "/p/p-1/x", "/p/.p-3", "/etc", "/usr/share/x",
		"/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/lib64/libcuda.so", "/lib64/libcuda.so.580.95.05", "/usr/share/gone", "/dev/dri", "/usr/lib/odd", "/usr/share/other" };
	static const char *const options[] = { RO, RW, "rbind,rprivate,ro,nosuid,nodev,rro,rnosuid,rnodev", "rbind,rprivate,rw,nosuid,nodev,rnosuid,rnodev",
		RO ",noexec", RW ",noexec", "bind,rprivate,ro", "" };
	static const char *const none[] = { NULL };
	const unsigned pair = model_byte(b), choice = model_byte(b);
	const char *same_source = sources[pair % COUNT(sources)], *same_target = targets[pair % COUNT(sources)];
	char *source = choice & 1 ? model_text(b, sources, COUNT(sources)) : strdup(same_source);
	char *target = choice & 2 ? model_text(b, targets, COUNT(targets)) : strdup(same_target);
	char *words = model_text(b, options, choice & 4 ? COUNT(options) : 2), *word, *rest = words;

	if (source == NULL || target == NULL || !edits_add_mount(e, source, target, none))
		abort();
	e->mount[e->mounts - 1].driver = ((choice & 8) != 0) != (pair % COUNT(sources) >= 7 && pair % COUNT(sources) < 12);
	while ((word = strsep(&rest, ",")) != NULL)
		if (*word != '\0' && !strlist_add(&e->mount[e->mounts - 1].options, word, SIZE_MAX))
			abort();
	free(source);
	free(target);
	free(words);
}

static void
model_add_node(struct model_bytes *b, struct edits *e)
{
	const struct model_node *m = &model_nodes[model_byte(b) % COUNT(model_nodes)];
	struct edit_node n = m->n;
	char *path = model_text(b, &m->path, 1);

	snprintf(n.path, sizeof(n.path), "%s", path);
	free(path);
	switch (model_byte(b) % 16) {
	case 1: n.major = model_byte(b); break;
	case 2: n.minor = model_byte(b); break;
	case 3: n.mode = model_byte(b) << 4; break;
	case 4: n.uid = model_byte(b); break;
	case 5: n.gid = model_byte(b); break;
	case 6: n.mode &= model_byte(b); break;
	default: break;
	}
	if (!edits_add_node(e, &n))
		abort();
}

static void
model_add_hook(struct model_bytes *b, struct edits *e)
{
	static const char *const whens[] = { "createContainer", "createRuntime", "prestart" }, *const paths[] = { "/opt/d/hook", "/opt/hook", "/opt/loose" },
	    *const args[] = { "hook", "a", "b" }, *const envs[] = { "A=1", "LD_PRELOAD=/srv/x.so" };
	struct edit_hook *h = edits_add_hook(e);
	const unsigned odd = model_byte(b);
	size_t i;

	if (h == NULL)
		abort();
	h->when = model_text(b, whens, odd == 1 ? 3 : 1);
	h->path = model_text(b, paths, odd == 2 ? 3 : 1);
	h->timeout = odd == 3 ? model_byte(b) : 5;
	for (i = 0; i < (odd == 4 ? 3U : 2U); i++)
		model_add_text(b, &h->args, args + (odd == 5 ? 0 : i % 2), odd == 5 ? 3 : 1);
	for (i = 0; i < (odd == 6 ? 2U : odd == 7 ? 0U : 1U); i++)
		model_add_text(b, &h->env, envs, odd == 8 ? 2 : 1);
}

static void
model_add_labels(struct model_bytes *b, struct edits *e)
{
	static const char *const labels[] = { "system_u:system_r:nvidia_container_t:s0:c1,c2", "system_u:system_r:nvidia_container_t:s0:c7,c9",
		"system_u:system_r:nvidia_container_t:s0", "system_u:system_r:unconfined_t:s0:c1,c2", "unconfined_u:system_r:nvidia_container_t:s0:c1,c2" };
	static const char *const mounts[] = { "system_u:object_r:container_file_t:s0:c1,c2", "system_u:object_r:container_file_t:s0:c2,c1",
		"system_u:object_r:container_file_t:s0:c7,c9", "system_u:object_r:etc_t:s0:c1,c2" };

	free(e->label);
	free(e->mount_label);
	e->label = model_byte(b) == 1 ? NULL : model_text(b, labels, COUNT(labels));
	e->mount_label = model_byte(b) == 1 ? NULL : model_text(b, mounts, COUNT(mounts));
}

static const struct edit_node model_gpu = { .path = "/dev/nvidia0", .major = 195, .mode = 0666 };

/* Makes the changes; each kind has its number. */
static void
model_edits(const uint8_t *p, size_t len, struct edits *e)
{
	static const char *const env[] = { "FROM_POLICY=1", "FROM_SPEC=1", "FROM_POLICY=2", "LD_PRELOAD=/srv/x.so", "NVIDIA_GDS=enabled",
		"NVIDIA_VISIBLE_DEVICES=all", "CUDA_VISIBLE_DEVICES=0", "FROM_OTHER=1" };
	static const char *const masked[] = { "/proc/driver/nvidia/gpus/0000:3b:00.0", "/proc/driver/nvidia/capabilities/mig", "/proc/driver/nvidia", "/proc/kcore" };
	static const uint32_t gids[] = { 44, 45, 46, 0, 9, 1 };
	struct model_bytes b = { p, p + len };
	unsigned n;

	/* mostly with the GPU of the spec */
	if (model_byte(&b) % 4 != 3 && !edits_add_node(e, &model_gpu))
		abort();
	for (n = 0; b.p < b.end && n < 12; n++)
		switch (model_byte(&b) % 8) {
		case 0: case 1: model_add_mount(&b, e); break;
		case 2: model_add_node(&b, e); break;
		case 3: model_add_hook(&b, e); break;
		case 4: model_add_text(&b, &e->env, env, COUNT(env)); break;
		case 5: e->gid[e->gids++] = gids[model_byte(&b) % COUNT(gids)]; break;
		case 6: model_add_text(&b, &e->masked, masked, COUNT(masked)); break;
		default: model_add_labels(&b, e); break;
		}
}

static int
model_vet(const struct edits *e, struct why *why)
{
	static const struct request request = { .spec.uids = { .identity = true }, .spec.gids = { .identity = true } };
	static const struct settings settings = { .driver_files = DRIVER_FILES_AUTO, .cdi_hooks = true };
	struct vet_source sources[COUNT(model_sources)];
	struct vet v = { .edits = e, .request = &request, .settings = &settings, .policy = &model_policy, .source = sources,
		.sources = COUNT(sources), .majors = &model_majors, .host_view = { model_see_node, model_see_file, model_see_folder, NULL } };

	memcpy(sources, model_sources, sizeof(sources));
	return vet_edits(&v, why);
}

#endif
