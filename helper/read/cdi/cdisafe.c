/*
 * Finds what CDI lets a spec ask for and a privileged helper must not do, as far as the text shows it
 * (mounts: cdimount.c). ctl/cdi/cdihost.c checks the host's files. Only root writes specs, but generators write
 * them for root, and a generator's mistake must not open a way out of every container with the device.
 * Drivers need hooks, network devices, classes of Intel RDT and writable mounts of files that are not the
 * host's own, so these are not unsafe as such. The user of the spec decides about them.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../../base/path.h"
#include "../../gpu/extranode.h"
#include "../../gpu/extrapath.h"
#include "cdiread.h"
#include "cdispec.h"

void
cdi_unsafe(struct cdi_reading *r, uint32_t n, const char *member, const char *fmt, ...)
{
	uint32_t at = member != NULL ? cdit_get(r->t, n, member) : n;
	char text[sizeof(r->f->v->text)], path[sizeof(r->path) + 32];
	va_list ap;

	if (at == CDIT_NONE)
		at = n;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(path, sizeof(path), "%s%s%s", r->path, at != n && r->len > 0 ? "." : "", at != n ? member : "");
	cdi_fault(r->f, r->in_hook ? CDI_UNSAFE_HOOK : CDI_UNSAFE, r->t->node[at].line, r->t->node[at].column, path, "%s",
	    text);
}

static bool
has_control_byte(const char *s)
{
	for (; *s != '\0'; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return true;
	return false;
}

/* Wherever values are written one a line, a line break in a value would begin another line. */
void
cdi_check_text(struct cdi_reading *r, uint32_t n, const char *s)
{
	if (has_control_byte(s))
		cdi_unsafe(r, n, NULL, "has a control byte in it");
}

/*
 * Reports a variable that a spec may not set. For a container, a policy may: root writes it for known pipelines, and a
 * spec's variables come to everybody who gets the device.
 */
static void
refuse_env(struct cdi_reading *r, uint32_t n, const char *s, const char *what)
{
	const int len = (int)strcspn(s, "="), shown = len > 60 ? 60 : len;
	const char *value = s[len] == '=' ? s + len + 1 : "";

	if (strlen(value) > 120 || strpbrk(value, "\"\\") != NULL)
		value = "...";
	if (r->in_hook)
		cdi_unsafe(r, n, NULL, "%.*s %s", shown, s, what);
	else
		cdi_unsafe(r, n, NULL, "%.*s %s: take it out of the spec, and set it in the policy: env = { %.*s = \"%s\"; }", shown,
		    s, what, shown, s, value);
}

/* Finds variables, of the container or of a hook, that make a loader or an interpreter run other code. */
void
cdi_check_env(struct cdi_reading *r, uint32_t n, const char *s)
{
	static const char *const loader[] = { "GCONV_PATH", "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "IFS", "PS4",
		"GLIBC_TUNABLES", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PERL5LIB", "PERL5OPT", "RUBYLIB", "RUBYOPT",
		"NODE_OPTIONS", "NODE_PATH", NULL };
	const size_t len = strcspn(s, "=");
	size_t i;

	if (text_starts(s, "LD_"))
		refuse_env(r, n, s, "steers the dynamic loader");
	else if (text_starts(s, "BASH_FUNC_"))
		cdi_unsafe(r, n, NULL, "%.*s is a shell function", (int)(len > 60 ? 60 : len), s);
	else if (text_starts(s, "GPUHELPER_"))
		cdi_unsafe(r, n, NULL, "GPUHELPER_ variables are a container's own request");
	for (i = 0; loader[i] != NULL; i++)
		if (strlen(loader[i]) == len && strncmp(s, loader[i], len) == 0)
			refuse_env(r, n, s, "decides which programs run");
	if (strcspn(s, " \t") < len)
		cdi_unsafe(r, n, NULL, "the name has a space in it");
}

/*
 * The vendor must consist of DNS labels (RFC 1123), as SPEC.md says. CDI's library checks only single
 * characters.
 */
void
cdi_check_kind(struct cdi_reading *r, uint32_t n, const char *kind)
{
	const char *slash = strchr(kind, '/'), *label = kind, *end;
	bool good = slash - kind <= 253;

	for (; label <= slash; label = end + 1) {
		end = label + strcspn(label, "./");
		good = good && end > label && end - label <= 63 && *label != '-' && end[-1] != '-' &&
		    memchr(label, '_', (size_t)(end - label)) == NULL;
	}
	if (!good)
		cdi_unsafe(r, n, NULL, "the vendor is not a domain name");
	if (strlen(slash + 1) > 63)
		cdi_unsafe(r, n, NULL, "the class is longer than 63 characters");
}

/* True for [domain/]name. CDI's library has this check (internal/validation/k8s), but never calls it. */
static bool
annotation_key_ok(const char *key)
{
	const char *slash = strchr(key, '/'), *name = slash != NULL ? slash + 1 : key;
	const char *inner = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	const size_t len = strlen(name);

	if (slash != NULL && (slash == key || slash - key > 253 || strspn(key, inner) != (size_t)(slash - key)))
		return false;
	return len > 0 && len <= 63 && strspn(name, inner) == len && strchr("_.-", name[0]) == NULL &&
	    strchr("_.-", name[len - 1]) == NULL;
}

void
cdi_check_annotations(struct cdi_reading *r, uint32_t n, const struct cdi_annotations *a)
{
	size_t i, total = 0;

	for (i = 0; i < a->key.n; i++) {
		total += strlen(a->key.v[i]) + strlen(a->value.v[i]);
		if (!annotation_key_ok(a->key.v[i]))
			cdi_unsafe(r, n, NULL, "\"%.60s\" is no key of an annotation: [domain/]name", a->key.v[i]);
	}
	if (total > 256 * 1024)
		cdi_unsafe(r, n, NULL, "has %zu bytes: more than 256 KiB", total);
}

bool
cdi_path_ok(struct cdi_reading *r, uint32_t n, const char *member, const char *path)
{
	struct why why;

	if (has_control_byte(path))
		return false;		/* reported already */
	if (path_check(path, &why) == 0)
		return true;
	cdi_unsafe(r, n, member, "%s", why.text);
	return false;
}

/* Reports a path that belongs to a driver by its name, with the number of another driver's device. */
static void
check_device_numbers(struct cdi_reading *r, uint32_t n, const struct cdi_devnode *d, const char *member,
    const char *path)
{
	const int64_t minor = d->minor.set ? d->minor.v : 0;

	if (path != NULL && d->type != 'p' && d->major.set && d->major.v != 0 &&
	    extra_path_number(path, d->major.v, minor) == EXTRA_NUMBER_OTHER)
		cdi_unsafe(r, n, member, "%.80s never has the number %lld:%lld: it is another device", path,
		    (long long)d->major.v, (long long)minor);
}

void
cdi_check_devnode(struct cdi_reading *r, uint32_t n, const struct cdi_devnode *d)
{
	const char *what;
	const char *host = d->host_path != NULL && d->host_path[0] != '\0' ? d->host_path : d->path;

	if (d->path != NULL && d->path[0] != '\0' && cdi_path_ok(r, n, "path", d->path) && !path_is_beneath(d->path, "/dev"))
		cdi_unsafe(r, n, "path", "a device node that is not beneath /dev");
	if (host != NULL && host != d->path)
		cdi_path_ok(r, n, "hostPath", host);
	if (host != NULL && (what = cdi_host_node(host)) != NULL)
		cdi_unsafe(r, n, host == d->path ? "path" : "hostPath", "is %s", what);
	/* the kernel has 12 and 20 bits for these; -1 would be every minor to the device cgroup */
	if (d->major.set && (d->major.v < 0 || d->major.v > 4095))
		cdi_unsafe(r, n, "major", "is out of range: 0 to 4095");
	if (d->minor.set && (d->minor.v < 0 || d->minor.v > 1048575))
		cdi_unsafe(r, n, "minor", "is out of range: 0 to 1048575");
	if (d->major.set && (what = cdi_host_device(d->type, d->major.v, d->minor.set ? d->minor.v : 0)) != NULL)
		cdi_unsafe(r, n, "major", "%lld:%lld is %s", (long long)d->major.v,
		    (long long)(d->minor.set ? d->minor.v : 0), what);
	else {
		check_device_numbers(r, n, d, "path", d->path);
		if (host != d->path)
			check_device_numbers(r, n, d, "hostPath", host);
	}
	if (d->type == 'b' && (d->permissions == NULL || strcmp(d->permissions, "none") != 0))
		cdi_unsafe(r, n, "type", "a block device: access to a disk is access to all files on it");
	if (d->mode.set && d->mode.v > 0777)
		cdi_unsafe(r, n, "fileMode", "0%o has more than permissions in it", d->mode.v);
}

/* CDI's library ignores group 0; not all engines do. */
void
cdi_check_gid(struct cdi_reading *r, uint32_t n, uint32_t gid)
{
	if (gid == 0)
		cdi_unsafe(r, n, NULL, "0 is root's own group");
}

static void
check_gids(const struct cdi_edits *e, const char *at, const struct cdi_group *groups, size_t n, struct cdi_faults *f)
{
	char path[128];
	size_t i, k;

	for (i = 0; i < e->gids; i++)
		for (k = 0; k < n; k++) {
			/* cdi_check_gid() reports 0 */
			if (e->gid[i] == 0 || groups[k].gid != e->gid[i])
				continue;
			snprintf(path, sizeof(path), "%s.additionalGids[%zu]", at, i);
			cdi_fault(f, CDI_UNSAFE, e->gids_line, e->gids_column, path, "%u %s", e->gid[i], groups[k].is);
			break;
		}
}

void
cdi_check_groups(const struct cdi_spec *s, const struct cdi_group *groups, size_t n, struct cdi_faults *f)
{
	char at[64];
	size_t i;

	for (i = 0; i < s->devices; i++) {
		snprintf(at, sizeof(at), "devices[%zu].containerEdits", i);
		check_gids(&s->device[i].edits, at, groups, n, f);
	}
	check_gids(&s->edits, "containerEdits", groups, n, f);
}

static const char *const anyones[] = { "/tmp", "/var/tmp", "/usr/tmp", "/dev", "/proc", "/home", "/run/user", NULL };

/* True for a directory where others than root can write, and for a relative or too long path, which may be one. */
static bool
is_anyones(const char *dir, size_t len)
{
	char path[256];
	size_t i;

	if (len == 0 || dir[0] != '/' || len >= sizeof(path))
		return true;
	memcpy(path, dir, len);
	path[len] = '\0';
	for (i = 0; anyones[i] != NULL; i++)
		if (path_at_or_beneath(path, anyones[i]))
			return true;
	return false;
}

/*
 * Variables that say where a hook finds the programs that it runs, or its settings (config.toml of NVIDIA's).
 */
static void
check_hook_env(struct cdi_reading *r, uint32_t n, const char *entry)
{
	static const char *const variables[] = { "PATH=", "XDG_CONFIG_HOME=", "HOME=", "TMPDIR=", NULL };
	const char *dir, *end;
	size_t i;

	for (i = 0; variables[i] != NULL; i++)
		if (text_starts(entry, variables[i]))
			for (dir = entry + strlen(variables[i]);; dir = end + 1) {
				end = strchrnul(dir, i == 0 ? ':' : '\0');
				if (is_anyones(dir, (size_t)(end - dir)))
					cdi_unsafe(r, n, "env", "%.60s can be changed by others than root", entry);
				if (*end == '\0')
					break;
			}
}

/* Hooks run on the host as the engine's user, most often root. */
void
cdi_check_hook(struct cdi_reading *r, uint32_t n, const struct cdi_hook *h)
{
	static const char *const interpreters[] = { "sh", "bash", "dash", "ash", "ksh", "zsh", "csh", "tcsh", "fish",
		"busybox", "env", "perl", "ruby", "lua", "awk", "mawk", "gawk", "nawk", "php", "node", "nsenter", "unshare", "chroot",
		"sudo", "su", "setpriv", "runuser", "timeout", "nohup", "nice", "setsid", "xargs", "find", NULL };
	const char *name;
	size_t i;

	if (h->path != NULL && h->path[0] != '\0' && cdi_path_ok(r, n, "path", h->path)) {
		name = path_last(h->path);
		if (text_among(name, interpreters) || text_starts(name, "python") || text_starts(name, "ld-linux") ||
		    text_starts(name, "ld-musl") || strcmp(name, "ld.so") == 0)
			cdi_unsafe(r, n, "path", "%.40s runs whatever its arguments say", name);
		for (i = 0; anyones[i] != NULL; i++)
			if (path_at_or_beneath(h->path, anyones[i]))
				cdi_unsafe(r, n, "path", "a program beneath %s can be changed by others than root", anyones[i]);
	}
	for (i = 0; i < h->env.n; i++)
		check_hook_env(r, n, h->env.v[i]);
	if (h->env.n == 0)
		cdi_unsafe(r, n, "env", "a hook without env runs in the environment of whoever calls the runtime: name one");
	if (h->timeout.set && (h->timeout.v < 1 || h->timeout.v > 3600))
		cdi_unsafe(r, n, "timeout", "is out of range: 1 to 3600 seconds");
}

/*
 * A class of service that is only named belongs to someone else. With a schema, it is the spec's own. "/" is
 * the class that every process begins in.
 */
void
cdi_check_rdt(struct cdi_reading *r, uint32_t n, const struct cdi_rdt *t)
{
	if (t->clos_id != NULL && t->clos_id[0] != '\0' && strcmp(t->clos_id, "/") != 0 && t->schemata.n == 0 &&
	    (t->l3_schema == NULL || t->l3_schema[0] == '\0') && (t->mb_schema == NULL || t->mb_schema[0] == '\0'))
		cdi_unsafe(r, n, "closID", "joins a class of service that is not the spec's own: it has no schema");
}

/*
 * Checks a name as Linux's dev_valid_name() does, refuses patterns, and refuses the usual name of a host's or
 * container's own link.
 */
static void
check_link(struct cdi_reading *r, uint32_t n, const char *member, const char *s)
{
	if (s == NULL || s[0] == '\0')
		return;
	if (strlen(s) > 15 || strpbrk(s, "/: \t%") != NULL || strcmp(s, ".") == 0 || strcmp(s, "..") == 0)
		cdi_unsafe(r, n, member, "\"%.40s\" is no name of a network interface", s);
	else if (strcmp(s, "lo") == 0 || strcmp(s, "eth0") == 0)
		cdi_unsafe(r, n, member, "%s is %s", s, strcmp(member, "name") == 0 ? "the container's own link" :
		    "the host's own link, which it would lose");
}

void
cdi_check_netdev(struct cdi_reading *r, uint32_t n, const struct cdi_netdev *d)
{
	check_link(r, n, "hostInterfaceName", d->host);
	check_link(r, n, "name", d->name);
}
