/* See cdihost.h. Uses only lstat(2) and readlink(2), so that looking has no effect on a device. */
#include "cdihost.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../../base/path.h"
#include "../../base/pathshort.h"
#include "../../cdi/nvlibs.h"
#include "../../host/driver/cdisource.h"

/* The type of a device as CDI writes it; 0 if it is no device. */
static char
type_of(const struct stat *st)
{
	return S_ISBLK(st->st_mode) ? 'b' : S_ISCHR(st->st_mode) ? 'c' : S_ISFIFO(st->st_mode) ? 'p' : 0;
}

static const char *
node_host_path(const struct cdi_devnode *n)
{
	return n->host_path != NULL && n->host_path[0] != '\0' ? n->host_path : n->path;
}

static int
fill_node(struct cdi_devnode *n, struct why *why)
{
	const bool whole = n->type != 0 && (n->major.v != 0 || n->type == 'p');
	const char *path = node_host_path(n);
	struct stat st;
	char type;

	if (lstat(path, &st) == -1)
		return whole ? 0 : refuse(why, WHY_ABSENT, "device node %s: %s", path, strerror(errno));
	if ((type = type_of(&st)) == 0)
		return whole ? 0 : refuse(why, WHY_DATA, "device node %s: is not a device", path);
	if (!n->mode.set)
		n->mode = (struct cdi_u32){ true, st.st_mode & 07777U };
	if (whole)
		return 0;
	if (n->type == 0)
		n->type = type;
	if (n->type != type)
		return refuse(why, WHY_DATA, "device node %s: is of type %c, and the spec says %c", path, type, n->type);
	if (type != 'p' && n->major.v == 0) {
		n->major = (struct cdi_i64){ true, major(st.st_rdev) };
		n->minor = (struct cdi_i64){ true, minor(st.st_rdev) };
	}
	return 0;
}

int
cdi_fill_nodes(struct cdi_merged *m, struct why *why)
{
	size_t i, k, n = 0;

	m->nodes = 0;
	for (i = 0; i < m->n; i++)
		n += m->v[i]->nodes;
	if ((m->node = calloc(n + 1, sizeof(*m->node))) == NULL)
		return refuse_nomem(why);
	for (i = 0; i < m->n; i++)
		for (k = 0; k < m->v[i]->nodes; k++) {
			m->node[m->nodes] = m->v[i]->node[k];
			if (fill_node(&m->node[m->nodes++], why) == -1)
				return -1;
		}
	return 0;
}

struct looking {
	struct cdi_faults *f;
	enum cdi_layer layer;	/* of what is found */
	char at[64];		/* the edits: "devices[0].containerEdits" */
};

/* Adds a fault of the host's file «path», which is the member «key» of the element i of a list. */
static void __attribute__((format(printf, 8, 9)))
add_fault(const struct looking *l, uint32_t line, uint32_t column, const char *list, size_t i, const char *key,
    const char *path, const char *fmt, ...)
{
	char text[sizeof(l->f->v->text)], at[sizeof(l->at) + 64], shown[PATH_SHOWN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(at, sizeof(at), "%s.%s[%zu].%s", l->at, list, i, key);
	cdi_fault(l->f, l->layer, line, column, at, "%s %s", path_short(path, shown, sizeof(shown)), text);
}

static void
check_host_node(const struct looking *l, size_t i, const struct cdi_devnode *n)
{
	const char *path = node_host_path(n), *key = path == n->path ? "path" : "hostPath", *list = "deviceNodes";
	const char want = n->type == 'u' ? 'c' : n->type;
	static struct cdi_walk w;
	const char *what;
	struct stat st;
	struct why why;
	char type;

	w.loose = false;
	if (path_check(path, &why) == -1)
		return;		/* a check of the text reports this */
	if (cdi_walk(&w, path, &st, &why) == -1)
		add_fault(l, n->line, n->column, list, i, key, path, "%s", why.text);
	else if (S_ISLNK(st.st_mode))
		add_fault(l, n->line, n->column, list, i, key, path, "is a symbolic link");
	else if ((type = type_of(&st)) == 0)
		add_fault(l, n->line, n->column, list, i, key, path, "is not a device");
	else if (want != 0 && want != type)
		add_fault(l, n->line, n->column, list, i, key, path, "is of type %c here, and the spec says %c", type,
		    want);
	else if (type != 'p' && n->major.set && n->major.v != 0 &&
	    (n->major.v != (int64_t)major(st.st_rdev) || n->minor.v != (int64_t)minor(st.st_rdev)))
		add_fault(l, n->line, n->column, list, i, key, path, "is %u:%u here, and the spec says %lld:%lld",
		    major(st.st_rdev), minor(st.st_rdev), (long long)n->major.v, (long long)n->minor.v);
	else if (type == 'b' && (n->permissions == NULL || strcmp(n->permissions, "none") != 0))
		add_fault(l, n->line, n->column, list, i, key, path, "is a block device here: access to a disk is access to all "
		    "files on it");
	else if (type == 'c' && (what = cdi_host_device(type, major(st.st_rdev), minor(st.st_rdev))) != NULL)
		add_fault(l, n->line, n->column, list, i, key, path, "is %u:%u here, which is %s", major(st.st_rdev),
		    minor(st.st_rdev), what);
}

/*
 * The reason why a mount of this real path is unsafe, or NULL. Links on the way lead elsewhere than the
 * spec's text says, and a file may be a device node. «what» is room for the reason.
 */
static const char *
why_unsafe(const struct cdi_mount *m, const char *real, const struct stat *st, char what[PATH_MAX])
{
	const char *found = NULL;

	if (S_ISBLK(st->st_mode))
		return "a block device: access to a disk is access to all files on it";
	if (S_ISCHR(st->st_mode) && (found = cdi_host_device('c', major(st->st_rdev), minor(st->st_rdev))) != NULL)
		return found;
	if (strcmp(real, m->host_path) == 0)
		return NULL;	/* a check of the text reports this */
	if (strcmp(real, "/") == 0)
		return "the whole of the host's files";
	if ((found = cdi_host_control(real)) != NULL)
		snprintf(what, PATH_MAX, "%s can't be given out, nor what is above and beneath it", found);
	else if (strcmp(real, "/dev") == 0 || (found = cdi_host_node(real)) != NULL)
		snprintf(what, PATH_MAX, "%s", found != NULL ? found : "all devices of the host");
	else if (cdi_mount_writable(m) && (found = cdi_host_own(real)) != NULL)
		snprintf(what, PATH_MAX, "%s is the host's own: nothing above and beneath it can be given out to write", found);
	else
		return NULL;
	return what;
}

/* A grant leaves out the socket of a service of the driver that does not run, and refuses any other missing file. */
static void
add_missing_source(const struct looking *l, const struct cdi_mount *m, size_t i, const struct why *why)
{
	const char *service = why->code == WHY_ABSENT ? nvfile_service(m->host_path) : NULL;
	char at[sizeof(l->at) + 64], shown[PATH_SHOWN / 2];

	snprintf(at, sizeof(at), "%s.mounts[%zu].hostPath", l->at, i);
	if (service == NULL)
		add_fault(l, m->line, m->column, "mounts", i, "hostPath", m->host_path, "%s", why->text);
	else
		cdi_fault(l->f, CDI_WARNING, m->line, m->column, at, "%s %.60s, so containers do without that socket: systemctl "
		    "status %s", path_short(m->host_path, shown, sizeof(shown)), why->text, service);
}

static void
check_host_mount(const struct looking *l, size_t i, const struct cdi_mount *m)
{
	static char text[PATH_MAX];
	char shown[PATH_SHOWN / 2];
	const char *real, *what;
	static struct cdi_walk w;
	struct stat st;
	struct why why;

	w.loose = false;
	if (!cdi_mount_is_bind(m) || path_check(m->host_path, &why) == -1)
		return;
	if (cdi_walk(&w, m->host_path, &st, &why) == -1) {
		add_missing_source(l, m, i, &why);
		return;
	}
	if (S_ISLNK(st.st_mode) && !cdi_walk_into(&w, m->host_path, &st)) {
		add_fault(l, m->line, m->column, "mounts", i, "hostPath", m->host_path, "is a symbolic link");
		return;
	}
	real = w.done[0] != '\0' ? w.done : "/";
	if ((what = why_unsafe(m, real, &st, text)) != NULL)
		add_fault(l, m->line, m->column, "mounts", i, "hostPath", m->host_path, "is %s here: %s",
		    path_short(real, shown, sizeof(shown)), what);
}

/* Root will run the hook's program, so nobody else may be able to change it. */
static void
check_host_hook(const struct looking *l, size_t i, const struct cdi_hook *h)
{
	static struct cdi_walk w;
	struct stat st;
	struct why why;

	w.loose = false;
	if (path_check(h->path, &why) == -1)
		return;
	if (cdi_walk(&w, h->path, &st, &why) == -1)
		add_fault(l, h->line, h->column, "hooks", i, "path", h->path, "%s", why.text);
	else if (S_ISLNK(st.st_mode))
		add_fault(l, h->line, h->column, "hooks", i, "path", h->path, "is a symbolic link");
	else if (!S_ISREG(st.st_mode) || (st.st_mode & 0111) == 0)
		add_fault(l, h->line, h->column, "hooks", i, "path", h->path, "is no program");
	else if (cdi_walk_visit(&w, h->path, &st), w.loose)
		add_fault(l, h->line, h->column, "hooks", i, "path", w.who, "can be changed by others than root");
}

static void
check_host_edits(struct looking *l, const struct cdi_edits *e)
{
	size_t i;

	l->layer = CDI_UNSAFE;
	for (i = 0; i < e->nodes; i++)
		check_host_node(l, i, &e->node[i]);
	for (i = 0; i < e->mounts; i++)
		check_host_mount(l, i, &e->mount[i]);
	l->layer = CDI_UNSAFE_HOOK;
	for (i = 0; i < e->hooks; i++)
		check_host_hook(l, i, &e->hook[i]);
}

void
cdi_check_host(const struct cdi_spec *s, struct cdi_faults *f)
{
	struct looking l = { .f = f };
	size_t i;

	for (i = 0; i < s->devices; i++) {
		snprintf(l.at, sizeof(l.at), "devices[%zu].containerEdits", i);
		check_host_edits(&l, &s->device[i].edits);
	}
	snprintf(l.at, sizeof(l.at), "containerEdits");
	check_host_edits(&l, &s->edits);
}
