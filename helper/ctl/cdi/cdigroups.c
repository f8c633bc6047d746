/*
 * See cdigroups.h. Reads /etc/group. Opens device nodes, sockets and password files only with O_PATH, for
 * their ACLs, so that nothing happens to them.
 */
#include "cdigroups.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"
#include "../../host/file.h"
#include "../../host/inodeacl.h"
#include "../../host/listing.h"
#include "../../host/users.h"

struct found {
	struct cdi_group *v;
	size_t n;
};

/* Adds a group with the reason. The first reason for a group stays. Returns 0, or -1 if memory is short. */
static int __attribute__((format(printf, 3, 4)))
add_group(struct found *f, uint32_t gid, const char *fmt, ...)
{
	struct cdi_group *more;
	va_list ap;
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->v[i].gid == gid)
			return 0;
	if ((more = reallocarray(f->v, f->n + 1, sizeof(*more))) == NULL)
		return -1;
	f->v = more;
	more += f->n++;
	more->gid = gid;
	va_start(ap, fmt);
	vsnprintf(more->is, sizeof(more->is), fmt, ap);
	va_end(ap);
	return 0;
}

static int
add_if_known(const char *name, uint32_t gid, void *arg)
{
	/*
	 * disks, memory and input devices; engines, which start anything; passwords and logs; those who may
	 * become root
	 */
	static const char *const names[] = { "disk", "kmem", "input", "uinput", "docker", "lxd", "incus", "incus-admin",
		"podman", "containerd", "microk8s", "dockerroot", "libvirt", "libvirtd", "libvirt-qemu", "shadow", "adm",
		"systemd-journal", "ssl-cert", "ssh_keys", "staff", "sudo", "wheel", "admin", "gpuhelper", NULL };
	size_t i;

	for (i = 0; names[i] != NULL; i++)
		if (strcmp(name, names[i]) == 0)
			return add_group(arg, gid, "is this host's group %s, which is as good as root", name) == -1 ? 1 : 0;
	return 0;
}

/*
 * True if the node gives access to all of the host. Removable media do not count: their groups (cdrom,
 * floppy) are for people at the machine. Consoles do not count: every terminal has their group (tty).
 */
static bool
is_hosts(const char *path, const struct stat *st)
{
	static const char *const chars[] = { "/dev/mem", "/dev/kmem", "/dev/port", "/dev/uinput", NULL };
	/* a digit must follow: /dev/sgx_enclave is no disk */
	static const char *const prefixes[] = { "/dev/sg", "/dev/bsg/", "/dev/nvme", "/dev/raw/raw", "/dev/input/event",
		"/dev/mtd", NULL };
	char next;
	size_t i;

	if (S_ISBLK(st->st_mode))
		return cdi_host_node(path) != NULL;
	for (i = 0; S_ISCHR(st->st_mode) && chars[i] != NULL; i++)
		if (strcmp(path, chars[i]) == 0)
			return true;
	for (i = 0; S_ISCHR(st->st_mode) && prefixes[i] != NULL; i++)
		if (text_starts(path, prefixes[i]) && (next = path[strlen(prefixes[i])]) >= '0' && next <= '9')
			return true;
	return false;
}

/* Adds the groups that an administrator let in by ACL. An ACL that can't be read adds none. */
static int
add_acl_groups(struct found *f, const char *path)
{
	autoclose int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	autoposixacl struct posixacl a = { .v = NULL };
	size_t i;

	if (fd == -1 || !inode_acl_read(fd, &a))
		return fd != -1 && errno == ENOMEM ? -1 : 0;
	for (i = 0; i < a.n; i++)
		if (a.v[i].tag == POSIXACL_GROUP && (a.v[i].bits & (R_OK | W_OK)) != 0 &&
		    add_group(f, a.v[i].id, "has an ACL entry on this host's %s, and is as good as root", path) == -1)
			return -1;
	return 0;
}

static int
add_owners_of_nodes(struct found *f, const char *dir, struct why *why)
{
	autostrlist struct strlist names = { 0 };
	char path[300];
	struct stat st;
	size_t i;

	if (listing_names(open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), SIZE_MAX, &names) == -1)
		return errno == ENOENT ? 0 : refuse(why, WHY_IO, "%s: %s", dir, strerror(errno));
	for (i = 0; i < names.n; i++) {
		snprintf(path, sizeof(path), "%.40s/%.255s", dir, names.v[i]);
		if (lstat(path, &st) == 0 && is_hosts(path, &st) &&
		    (add_group(f, st.st_gid, "owns this host's %s, and is as good as root", path) == -1 ||
		    add_acl_groups(f, path) == -1))
			return refuse_nomem(why);
	}
	return 0;
}

/*
 * The rest of the search. Whoever may speak to an engine can have it start anything; whoever reads the
 * password files can guess passwords.
 */
static int
add_owners(struct found *f, struct why *why)
{
	static const char *const dirs[] = { "/dev", "/dev/mapper", "/dev/input", "/dev/raw", "/dev/bsg", NULL };
	static const char *const sockets[] = { "/run/docker.sock", "/run/containerd/containerd.sock",
		"/run/podman/podman.sock", "/run/crio/crio.sock", "/run/buildkit/buildkitd.sock",
		"/run/k3s/containerd/containerd.sock", "/run/cri-dockerd.sock", "/run/dockershim.sock", "/run/snapd.socket",
		"/run/libvirt/libvirt-sock", "/var/lib/lxd/unix.socket", "/var/snap/lxd/common/lxd/unix.socket",
		"/var/lib/incus/unix.socket", "/run/incus/unix.socket", NULL };
	static const char *const secrets[] = { "/etc/shadow", "/etc/gshadow", NULL };
	struct stat st;
	size_t i;

	for (i = 0; dirs[i] != NULL; i++)
		if (add_owners_of_nodes(f, dirs[i], why) == -1)
			return -1;
	for (i = 0; sockets[i] != NULL; i++)
		if (lstat(sockets[i], &st) == 0 && S_ISSOCK(st.st_mode) &&
		    (add_group(f, st.st_gid, "owns this host's %s, and is as good as root", sockets[i]) == -1 ||
		    add_acl_groups(f, sockets[i]) == -1))
			return refuse_nomem(why);
	for (i = 0; secrets[i] != NULL; i++)
		if (lstat(secrets[i], &st) == 0 && (add_group(f, st.st_gid, "owns this host's %s, and can have its passwords guessed",
		    secrets[i]) == -1 || add_acl_groups(f, secrets[i]) == -1))
			return refuse_nomem(why);
	return 0;
}

/*
 * Adds the known groups from every line of /etc/group, because a name or a gid may occur twice. Returns 0, 1
 * if memory is short, or -1 with errno.
 */
static int
add_known_groups(struct found *f)
{
	FILE *groups = fopen("/etc/group", "re");
	struct group *gr = NULL;
	int ret = 0, error;

	if (groups == NULL)
		return errno == ENOENT ? 0 : -1;
	while (ret == 0 && (gr = fgetgrent(groups)) != NULL)
		ret = add_if_known(gr->gr_name, gr->gr_gid, f);
	error = ret != 0 || feof(groups) ? 0 : errno != 0 ? errno : EIO;
	fclose(groups);
	errno = error;
	return ret != 0 ? ret : error == 0 ? 0 : -1;
}

int
cdi_groups_of_host(struct cdi_group **out, size_t *n, struct why *why)
{
	struct found f = { .n = 0 };
	int ret = add_known_groups(&f);

	*out = NULL;
	*n = 0;
	if (ret != 0)
		ret = ret == 1 ? refuse_nomem(why) : refuse(why, WHY_IO, "/etc/group: %s", strerror(errno));
	else
		ret = add_owners(&f, why);
	if (ret == -1) {
		free(f.v);
		return -1;
	}
	*out = f.v;
	*n = f.n;
	return 0;
}
