/*
 * What a mount of a CDI spec must not be, by its text: of what, to where, and how.
 * Engines make these as root, and each by options of its own, so of options there is
 * a list of those that are known to harm nowhere.
 */
#include <stdio.h>
#include <string.h>

#include "cdiread.h"
#include "furthernode.h"
#include "path.h"

/* /var/run is a link to /run on every host of today. */
static const char *
without_var(const char *path)
{
	return text_starts(path, "/var/run") && (path[8] == '/' || path[8] == '\0') ? path + 4 : path;
}

/* «component» with the slash before it. */
static bool
has_component(const char *path, const char *component)
{
	const size_t n = strlen(component);
	const char *at;

	for (at = path; (at = strstr(at, component)) != NULL; at += n)
		if (at[n] == '/' || at[n] == '\0')
			return true;
	return false;
}

/*
 * Sources whose use is as good as root on the host, with what is above and
 * beneath them: control of engines and services, passwords, and our own files.
 */
const char *
cdi_host_control(const char *path)
{
	static const char *const control[] = { GPUHELPER_CONFDIR, GPUHELPER_RUNDIR, GPUHELPER_STATEDIR, GPUHELPER_LOGDIR,
		"/run/containerd", "/run/docker", "/run/docker.sock", "/run/podman", "/run/crio", "/run/buildkit", "/run/k3s",
		"/run/cri-dockerd.sock", "/run/dockershim.sock", "/run/snapd.socket", "/run/libvirt", "/run/incus", "/run/user",
		"/run/containers", "/run/libpod", "/run/runc", "/run/crun", "/run/k0s", "/run/balena-engine",
		"/run/balena-engine.sock", "/run/isulad", "/run/isulad.sock", "/run/lxd", "/run/lxc",
		"/run/systemd", "/run/dbus", "/run/udev", "/run/cdi", "/etc/cdi", "/etc/ssh", "/etc/kubernetes", "/etc/rancher",
		"/var/lib/containerd", "/var/lib/docker", "/var/lib/kubelet", "/var/lib/containers", "/var/lib/rancher",
		"/var/lib/etcd", "/var/lib/lxd", "/var/snap", "/var/lib/incus", "/var/lib/k0s", "/var/lib/lxc",
		"/var/lib/balena-engine", "/var/lib/isulad", "/var/backups", "/proc", "/sys", "/boot", "/root", NULL };
	/* and their copies: /etc/shadow-, /etc/sudoers.d */
	static const char *const secrets[] = { "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/security/opasswd",
		"/etc/krb5.keytab", "/etc/ssl/private", NULL };
	/* in anybody's home, wherever that is */
	static const char *const keys[] = { "/.ssh", "/.gnupg", "/.kube", "/.docker", "/.aws", NULL };
	const char *run = without_var(path);
	size_t i;

	for (i = 0; control[i] != NULL; i++)
		if (path_related(run, control[i]))
			return control[i];
	for (i = 0; secrets[i] != NULL; i++)
		if (text_starts(path, secrets[i]) || path_related(path, secrets[i]))
			return secrets[i];
	for (i = 0; keys[i] != NULL; i++)
		if (has_component(path, keys[i]))
			return keys[i] + 1;
	return NULL;
}

/* Who writes there has the host run what he likes.  Nodes of GPUs are written by everyone who may use them. */
const char *
cdi_host_own(const char *path)
{
	static const char *const own[] = { "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/home",
		"/var/spool", "/dev", NULL };
	unsigned word;
	size_t i;

	if (path_is_beneath(path, "/dev/dri/by-path") || further_path_known(path, &word))
		return NULL;
	for (i = 0; own[i] != NULL; i++)
		if (path_related(path, own[i]))
			return own[i];
	return cdi_host_control(path);
}

bool
cdi_option_known(const char *option)
{
	static const char *const known[] = { "bind", "rbind", "ro", "rw", "nosuid", "nodev", "private", "rprivate", "noexec",
		"relatime", "noatime", "nodiratime", NULL };

	return text_among(option, known);
}

/* What tmpfs has of its own, by which it only becomes another empty directory. */
static bool
is_of_tmpfs(const char *option)
{
	return text_starts(option, "mode=") || text_starts(option, "size=") || text_starts(option, "nr_inodes=");
}

bool
cdi_mount_is_bind(const struct cdi_mount *m)
{
	if (m->type == NULL || m->type[0] == '\0' || strcmp(m->type, "bind") == 0 || strcmp(m->type, "none") == 0)
		return true;
	return strlist_has(&m->options, "bind") || strlist_has(&m->options, "rbind");
}

/* Runtimes take the last word. */
bool
cdi_mount_writable(const struct cdi_mount *m)
{
	bool writable = false;
	size_t i;

	for (i = 0; i < m->options.n; i++)
		if (strcmp(m->options.v[i], "rw") == 0 || strcmp(m->options.v[i], "ro") == 0)
			writable = m->options.v[i][1] == 'w';
	return writable;
}

static void
judge_source(struct cdi_reading *r, uint32_t n, const struct cdi_mount *m)
{
	const char *what;

	if (!cdi_mount_is_bind(m)) {
		/* an empty file system; any other brings in a file system that was made by who knows whom */
		if (strcmp(m->type, "tmpfs") != 0)
			cdi_unsafe(r, n, "type", "a file system of type %.40s: only bind mounts and tmpfs", m->type);
		return;
	}
	if (m->host_path == NULL || m->host_path[0] == '\0' || !cdi_path_ok(r, n, "hostPath", m->host_path))
		return;
	if (strcmp(m->host_path, "/") == 0)
		cdi_unsafe(r, n, "hostPath", "is the whole of the host's files");
	else if ((what = cdi_host_control(m->host_path)) != NULL)
		cdi_unsafe(r, n, "hostPath", "%s can't be given out, nor what is above and beneath it", what);
	else if (strcmp(m->host_path, "/dev") == 0)
		cdi_unsafe(r, n, "hostPath", "all devices of the host");
	else if ((what = cdi_host_node(m->host_path)) != NULL)
		cdi_unsafe(r, n, "hostPath", "is %s", what);
	else if (cdi_mount_writable(m) && (what = cdi_host_own(m->host_path)) != NULL)
		cdi_unsafe(r, n, "hostPath", "%s is the host's own: nothing above and beneath it can be given out to write", what);
}

static void
judge_type(struct cdi_reading *r, uint32_t n, const struct cdi_mount *m)
{
	size_t i;

	for (i = 0; cdi_mount_is_bind(m) && i < m->options.n; i++)
		if (is_of_tmpfs(m->options.v[i]))
			cdi_unsafe(r, n, "options", "option \"%.40s\" is tmpfs's, and this is a bind mount", m->options.v[i]);
}

void
cdi_judge_mount(struct cdi_reading *r, uint32_t n, const struct cdi_mount *m)
{
	static const char *const own_dev[] = { "/dev", "/dev/pts", "/dev/shm", "/dev/mqueue", NULL };
	const char *target = m->container_path;

	judge_source(r, n, m);
	judge_type(r, n, m);
	if (target == NULL || target[0] == '\0' || !cdi_path_ok(r, n, "containerPath", target))
		return;
	if (strcmp(target, "/") == 0 || path_at_or_beneath(target, "/proc") || path_at_or_beneath(target, "/sys"))
		cdi_unsafe(r, n, "containerPath", "/, /proc and /sys can't be mounted over");
	else if (text_among(target, own_dev))
		cdi_unsafe(r, n, "containerPath", "%s is the runtime's to make", target);
	/* links to devices are mounted by drivers; anything else there would be taken for one */
	else if (path_is_beneath(target, "/dev") && (m->host_path == NULL || !path_is_beneath(m->host_path, "/dev")))
		cdi_unsafe(r, n, "containerPath", "beneath /dev, and hostPath is not");
}

/* What is mounted of the host is to be read and run there, and nothing more. */
void
cdi_judge_option(struct cdi_reading *r, uint32_t n, const char *s)
{
	if (!cdi_option_known(s) && !is_of_tmpfs(s))
		cdi_unsafe(r, n, NULL, "option \"%.40s\" is none that a driver needs: bind, ro, rw, nosuid, nodev, noexec, "
		    "rprivate", s);
}
