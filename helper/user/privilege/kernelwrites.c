/*
 * See kernelwrites.h. The host's root needs no capability to set /proc/sys/kernel/core_pattern (the name of a
 * program that the kernel runs), to write to PCI devices through /proc/bus and sysfs, or to move processes
 * between cgroups: the user id is enough. The other files that maskedPaths usually hides need a capability,
 * which makes a container privileged anyway (speccapability.h).
 */
#include "kernelwrites.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../base/pathclean.h"
#include "../../host/file.h"
#include "../../host/folder/mounts.h"

/* File systems that change the kernel itself, by the names of mount(8) and the numbers of statfs(2). */
static const struct kernel_fs {
	const char *type;
	uint32_t magic;
} kernel_fs[] = {
	{ "proc", 0x9fa0 }, { "sysfs", 0x62656572 }, { "cgroup", 0x27e0eb }, { "cgroup2", 0x63677270 },
	{ "debugfs", 0x64626720 }, { "tracefs", 0x74726163 }, { "configfs", 0x62656570 }, { "securityfs", 0x73636673 },
	{ "bpf", 0xcafe4a11 }, { "binfmt_misc", 0x42494e4d }, { "efivarfs", 0xde5e81e4 }, { "selinuxfs", 0xf97cff8c },
	{ "smackfs", 0x43415d53 }, { "pstore", 0x6165676c }, { "resctrl", 0x7655821 }, { "rpc_pipefs", 0x67596969 },
	{ "nfsd", 0x6e667364 }, { "fusectl", 0x65735543 }, { "xenfs", 0xabba1974 },
	{ "devtmpfs", 0 },	/* statfs(2) reports a tmpfs */
};
#define COUNT (sizeof(kernel_fs) / sizeof(kernel_fs[0]))

/* Other types that engines mount. Any further one may be a disk, or a way into the kernel. */
static const char *const harmless[] = { "tmpfs", "ramfs", "mqueue", "devpts", "overlay", NULL };

struct search {
	const struct spec *s;
	bool cgroup_namespace;
	const struct spec_mount *mount;
	char source[PATH_MAX];		/* absolute, without links, while the mounts beneath are looked at */
	const char *root;		/* root.path, absolute and without links; NULL if it can't be resolved */
	bool failed;			/* a list of paths could not be read */
	char *what;
	size_t size;
};

static int __attribute__((format(printf, 2, 3)))
found(struct search *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(l->what, l->size, fmt, ap);
	va_end(ap);
	return 1;
}

static const struct kernel_fs *
kernel_fs_by_type(const char *type)
{
	size_t i;

	for (i = 0; i < COUNT; i++)
		if (strcmp(kernel_fs[i].type, type) == 0)
			return &kernel_fs[i];
	return NULL;
}

/*
 * Runtimes differ in which of two contrary options wins. So the mount counts as writable if any option says so.
 * «rro» is for bind mounts: runc ignores it elsewhere.
 */
static bool
is_readonly(const struct spec_mount *m)
{
	return (strlist_has(&m->options, "ro") || (m->bind && strlist_has(&m->options, "rro"))) &&
	    !strlist_has(&m->options, "rw") && !strlist_has(&m->options, "rrw");
}

/*
 * True if the list has this path or the whole mount with it, so that it is read-only or masked in the
 * container. Only clean paths count: a runtime follows links, so «/l/../proc» may be anywhere.
 */
static bool
is_listed(struct search *l, const char *key, const char *mount, const char *path)
{
	const struct doc *d = &l->s->doc;
	uint32_t list = doc_get(d, l->s->linux, key), n;

	if (!doc_is(d, list, DOC_ARRAY))
		return false;
	for (n = doc_first(d, list); n != DOC_NONE; n = doc_next(d, n)) {
		autofree char *given = doc_string(d, n), *clean = given != NULL ? path_cleaned(given) : NULL;

		if (clean == NULL)
			l->failed = l->failed || doc_is(d, n, DOC_STRING);
		else if (strcmp(clean, given) == 0 && (strcmp(clean, mount) == 0 || strcmp(clean, path) == 0))
			return true;
	}
	return false;
}

/*
 * The lists are reliable for a /proc directly beneath the root only: on the way to another, there may be a
 * link or a later mount.
 */
static int
find_in_proc(struct search *l, const char *target)
{
	static const char *const settings[] = { "sys", "sysrq-trigger", "bus", NULL };
	bool plain = strcmp(target, l->mount->target) == 0 && strrchr(target, '/') == target;
	size_t i;

	for (i = 0; settings[i] != NULL; i++) {
		autofree char *path = NULL;

		if (asprintf(&path, "%s/%s", target, settings[i]) == -1) {
			path = NULL;
			return -1;
		}
		if (!plain || (!is_listed(l, "readonlyPaths", target, path) && !is_listed(l, "maskedPaths", target, path)))
			return found(l, "may write %.120s, which linux.readonlyPaths does not list: list it there", path);
	}
	return 0;
}

/* Checks a file system that the runtime mounts by its type. */
static int
find_in_type(struct search *l, const char *target)
{
	const char *type = l->mount->type != NULL ? l->mount->type : "";
	size_t i;

	for (i = 0; harmless[i] != NULL; i++)
		if (strcmp(type, harmless[i]) == 0)
			return 0;
	if (kernel_fs_by_type(type) == NULL)
		return found(l, "mounts a file system of the type «%.40s» at %.120s: leave that mount out", type, target);
	if (is_readonly(l->mount))
		return 0;
	if (strcmp(type, "proc") == 0)
		return find_in_proc(l, target);
	if (!text_starts(type, "cgroup"))
		return found(l, "may write in %.120s (%s): mount it read-only", target, type);
	return l->cgroup_namespace ? 0 : found(l, "may write in %.120s (%s): mount it read-only, or give it a cgroup "
	    "namespace of its own", target, type);
}

/*
 * Files of proc show a process's memory and environment even if read-only. A single node of a devtmpfs is up
 * to the device rules.
 */
static int
find_in_host_fs(struct search *l, const char *target, const char *type, bool is_directory)
{
	if (strcmp(type, "proc") == 0)
		return found(l, "has the host's proc at %.120s: leave that mount out", target);
	if (is_readonly(l->mount) || (strcmp(type, "devtmpfs") == 0 && !is_directory))
		return 0;
	return found(l, "may write in %.120s (%s): mount it read-only", target, type);
}

/* For finding a mount by its id. */
struct mount_kind {
	uint64_t id;
	const struct kernel_fs *fs;
};

static bool
is_that_mount(void *ctx, struct mount *m)
{
	struct mount_kind *k = ctx;

	if (m->id != k->id)
		return false;
	k->fs = kernel_fs_by_type(mount_type(m));
	return true;
}

/* The kernel file system that the descriptor is in, or NULL. */
static const struct kernel_fs *
kernel_fs_of_file(int fd, const struct statfs *fs)
{
	struct mount_kind kind = { 0 };
	size_t i;

	for (i = 0; i < COUNT; i++)
		if (kernel_fs[i].magic != 0 && (uint32_t)fs->f_type == kernel_fs[i].magic)
			return &kernel_fs[i];
	if (mount_of(fd, &kind.id))
		(void)mounts_own(is_that_mount, &kind);
	return kind.fs;
}

/* Finds a kernel file system among the mounts that a recursive bind includes. Only «rro» makes these read-only. */
static bool
is_brought(void *ctx, struct mount *m)
{
	struct search *l = ctx;
	const struct kernel_fs *fs;
	bool readonly = strlist_has(&l->mount->options, "rro") && is_readonly(l->mount);

	if (!path_is_beneath(m->point, l->source) || (fs = kernel_fs_by_type(mount_type(m))) == NULL ||
	    (strcmp(fs->type, "proc") != 0 && (readonly || !m->writable)))
		return false;
	return found(l, "gets the host's %s by the recursive bind of %.60s at %.60s, which includes %.60s: leave that mount "
	    "out, or use «bind»", fs->type, l->source, l->mount->target, m->point) == 1;
}

static int
find_in_bind(struct search *l, const char *target)
{
	char source[PATH_MAX];
	autoclose int fd = l->mount->source != NULL && spec_host_path(l->s, l->mount->source, source) ?
	    open(source, O_PATH | O_CLOEXEC) : -1;
	const struct kernel_fs *kind;
	struct statfs fs;
	struct stat st;

	/* sources.h refuses a source that does not exist */
	if (fd == -1 || fstatfs(fd, &fs) == -1 || fstat(fd, &st) == -1)
		return 0;
	if ((kind = kernel_fs_of_file(fd, &fs)) != NULL && find_in_host_fs(l, target, kind->type, S_ISDIR(st.st_mode)) == 1)
		return 1;
	if (!strlist_has(&l->mount->options, "rbind") || realpath(source, l->source) == NULL)
		return 0;
	if (mounts_own(is_brought, l) == 1)
		return 1;
	/*
	 * when the runtime makes this mount, the container's new /proc is beneath root.path, and
	 * linux.readonlyPaths does not apply yet
	 */
	return l->root != NULL && path_at_or_beneath(l->root, l->source) ? found(l, "gets its own root.path by the recursive "
	    "bind of %.60s at %.60s: leave that mount out, or use «bind»", l->source, target) : 0;
}

int
kernel_writes_find(const struct spec *s, bool cgroup_namespace, char *what, size_t size, struct why *why)
{
	char given[PATH_MAX], real[PATH_MAX];
	const char *root = s->root_path != NULL && spec_host_path(s, s->root_path, given) ? realpath(given, real) : NULL;
	struct search l = { .s = s, .cgroup_namespace = cgroup_namespace, .root = root, .what = what, .size = size };
	int ret = 0;
	size_t i;

	for (i = 0; ret == 0 && i < s->mount_count; i++) {
		autofree char *target = path_cleaned(s->mount[i].target);

		l.mount = &s->mount[i];
		if (target == NULL)
			ret = -1;
		else if (strlist_has(&l.mount->options, "remount") && !is_readonly(l.mount))
			ret = found(&l, "may change the mount at %.120s by «remount»: leave that mount out", target);
		else
			ret = l.mount->bind ? find_in_bind(&l, target) : find_in_type(&l, target);
	}
	if (ret != -1 && l.failed)
		return refuse(why, WHY_DATA, "config.json: linux.readonlyPaths and linux.maskedPaths can't be read: a NUL in a "
		    "path, or too little memory");
	return ret == -1 ? refuse_nomem(why) : ret;
}
