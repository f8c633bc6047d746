/*
 * See cdi.h: which paths and devices of the host a spec must not give to containers, and what a mount's
 * options mean. Engines mount as root, each with options of its own, so only options known to be harmless are
 * allowed.
 */
#include <string.h>

#include "../base/path.h"
#include "../base/pathdepth.h"
#include "../gpu/extranode.h"
#include "../gpu/extrapath.h"
#include "cdi.h"

/* Without «/var» in /var/run, which is a link to /run on every current host. */
static const char *
without_var(const char *path)
{
	return text_starts(path, "/var/run") && (path[8] == '/' || path[8] == '\0') ? path + 4 : path;
}

/* True if the path has the component, given with its leading slash. */
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
 * Sources that let a container become root on the host, along with what is above and beneath them: control of
 * engines and services, passwords, and gpuhelper's own files.
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
		"/etc/krb5.keytab", "/etc/ssl/private", "/etc/pki/tls/private", "/etc/letsencrypt", "/etc/wireguard",
		"/etc/NetworkManager/system-connections", "/run/credentials", "/run/secrets", NULL };
	/* in any home, wherever it is */
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
	/* a whole home contains them */
	return strcmp(path, "/home") == 0 || (path_is_beneath(path, "/home") && path_depth(path) == 2) ? "/home" : NULL;
}

/*
 * Whoever can write there can make the host run anything. Nodes of GPUs are an exception: their users write
 * to them.
 */
const char *
cdi_host_own(const char *path)
{
	static const char *const own[] = { "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/home",
		"/var/spool", "/dev", NULL };
	unsigned word;
	size_t i;

	if (path_is_beneath(path, "/dev/dri/by-path") || extra_path_known(path, &word))
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

bool
cdi_mount_is_bind(const struct cdi_mount *m)
{
	if (m->type == NULL || m->type[0] == '\0' || strcmp(m->type, "bind") == 0 || strcmp(m->type, "none") == 0)
		return true;
	return strlist_has(&m->options, "bind") || strlist_has(&m->options, "rbind");
}

const char *
cdi_target_wrong(const struct cdi_mount *m)
{
	static const char *const own_dev[] = { "/dev", "/dev/pts", "/dev/shm", "/dev/mqueue", NULL };
	const char *target = m->container_path;

	if (strcmp(target, "/") == 0 || path_at_or_beneath(target, "/proc") || path_at_or_beneath(target, "/sys"))
		return "/, /proc and /sys can't be mounted over";
	if (text_among(target, own_dev))
		return "this directory is the runtime's to make";
	/* drivers mount links to devices there; anything else would be taken for a device */
	if (path_is_beneath(target, "/dev") && (m->host_path == NULL || !path_is_beneath(m->host_path, "/dev")))
		return "beneath /dev, and hostPath is not";
	return NULL;
}

/*
 * Why a device is dangerous by its number: the host's memory, disks or console, whatever its name (Linux's
 * devices.txt).
 */
const char *
cdi_host_device(char type, int64_t major, int64_t minor)
{
	static const struct { int16_t major, first, last; const char *what; } chars[] = {
		{ 1, 1, 2, "the host's memory" }, { 1, 4, 4, "the host's I/O ports" }, { 1, 11, 12, "the kernel's log or dump" },
		{ 4, 0, 63, "a console" }, { 5, 1, 1, "the console" }, { 7, 0, 255, "a console's memory" },
		{ 10, 223, 223, "uinput, which types for other users" },
		{ 10, 144, 144, "the NVRAM" }, { 10, 224, 224, "the TPM" }, { 10, 231, 231, "the hibernation image" },
		{ 13, 0, 255, "an input device, which shows what is typed" },
		{ 10, 234, 237, "control of file systems and disks" }, { 21, 0, 255, "a disk" }, { 90, 0, 255, "flash memory" },
		{ 162, 0, 255, "a disk" }, { 202, 0, 255, "the processor's registers" },
	};
	size_t i;

	for (i = 0; type != 'b' && i < sizeof(chars) / sizeof(chars[0]); i++)
		if (chars[i].major == major && minor >= chars[i].first && minor <= chars[i].last)
			return chars[i].what;
	return NULL;
}
