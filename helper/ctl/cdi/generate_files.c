/*
 * See generate.h: adds files of the host that containers get.  Whoever can change such a file runs code in every
 * container that has the GPU.  So only root may be able to change it and, on the running host, the directories above
 * it.
 */
#include "generate.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../cdi/loaderdirs.h"
#include "../../cdi/nvlibs.h"
#include "../../host/driver/cdisource.h"
#include "../../host/file.h"
#include "../../host/rootfile.h"
#include "../../host/trust.h"
#include "elflib.h"

static const char *const file_options[] = { "bind", "ro", "nosuid", "nodev", "rprivate", NULL };

int
gen_open(const struct generating *g, const char *path, int flags, char **real)
{
	autofree char *beneath = NULL;
	const int fd = rootfile_open(g->driver, path, flags, &beneath);

	if (fd != -1 && asprintf(real, "%s%s", g->driver_root, beneath) == -1) {
		*real = NULL;
		close(fd);
		errno = ENOMEM;
		return -1;
	}
	return fd;
}

const char *
gen_in_root(const struct generating *g, const char *path)
{
	const size_t n = strlen(g->driver_root);

	return strncmp(path, g->driver_root, n) == 0 && path[n] == '/' ? path + n : NULL;
}

/* As a grant checks it (host/driver/driverfiles.c). */
static bool
only_root_can_change(const struct generating *g, int fd, const char *real)
{
	static struct cdi_walk w;
	struct why why;
	struct stat st;

	if (trust_check(fd, real, &why) == -1) {
		complain(WHY_NONE, "%s: left out", why.text);
		return false;
	}
	if (!g->live)
		return true;
	w.loose = false;
	if (cdi_walk(&w, real, &st, &why) == -1)
		complain(WHY_NONE, "%s %s: left out", real, why.text);
	else if (w.loose)
		complain(WHY_NONE, "%s can be changed by others than root (see ls -ld): %s left out", w.who, real);
	else
		return true;
	return false;
}

/*
 * Opens a regular file that only root can change.  -1 with errno: ENOENT if there is none; else the file is unsuitable,
 * which was reported.
 */
static int
open_root_file(const struct generating *g, const char *path, char **real)
{
	struct stat st;
	int fd;

	if ((fd = gen_open(g, path, O_RDONLY, real)) == -1) {
		if (errno == ENOENT || errno == ENOTDIR)
			errno = ENOENT;
		else
			complain(WHY_NONE, "%s: %s: left out", path, strerror(errno));
		return -1;
	}
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && only_root_can_change(g, fd, *real))
		return fd;
	if (!S_ISREG(st.st_mode))
		complain(WHY_NONE, "%s is not a regular file: left out", *real);
	close(fd);
	errno = EPERM;
	return -1;
}

int
gen_file(struct generating *g, const char *const *paths, const char *container, struct why *why)
{
	int fd = -1;

	for (; *paths != NULL; paths++) {
		autofree char *real = NULL;

		if ((fd = open_root_file(g, *paths, &real)) == -1)
			continue;
		close(fd);
		return cdi_make_mount(&g->spec.edits, real, container != NULL ? container : *paths, file_options) ? 0 :
		    refuse_nomem(why);
	}
	return 1;
}

static bool
read_at(void *ctx, uint64_t at, void *buf, size_t len)
{
	const int fd = *(const int *)ctx;
	char *p = buf;
	ssize_t n;

	while (len > 0) {
		if ((n = pread(fd, p, len, (off_t)at)) == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return true;
}

/* Takes ownership of real, even on failure. */
static int
add_library(struct host_libraries *l, char *real, const struct elf_library *elf, const char *subdir, struct why *why)
{
	struct host_library *v;

	if ((v = reallocarray(l->v, l->n + 1, sizeof(*v))) == NULL) {
		free(real);
		return refuse_nomem(why);
	}
	l->v = v;
	v += l->n;
	*v = (struct host_library){ .real = real, .subdir = subdir, .bits = elf->bits, .machine = elf->machine,
		.order = l->n };
	snprintf(v->soname, sizeof(v->soname), "%s", elf->soname[0] != '\0' ? elf->soname : path_last(real));
	l->n++;
	return 0;
}

int
gen_library(const struct generating *g, struct host_libraries *l, const char *path, const char *subdir, struct why *why)
{
	autofree char *real = NULL;
	autoclose int fd = open_root_file(g, path, &real);
	struct elf_source src = { .read = read_at, .ctx = &fd };
	struct elf_library elf;
	struct why bad;
	char *taken;
	size_t i;

	if (fd == -1)
		return errno == ENOENT ? 1 : 0;
	for (i = 0; i < l->n; i++)
		if (strcmp(l->v[i].real, real) == 0)
			return 0;
	if (elf_library_read(&src, &elf, &bad) == -1) {
		complain(WHY_NONE, "%s %s: left out", real, bad.text);
		return 0;
	}
	if (loader_dirs(elf.machine, elf.bits) == NULL) {
		complain(WHY_NONE, "%s is for an unknown machine (ELF %u, %u bits): left out", real, elf.machine, elf.bits);
		return 0;
	}
	taken = real;
	real = NULL;
	return add_library(l, taken, &elf, subdir, why);
}

static bool
mount_as(struct generating *g, const struct host_library *l, const char *dir, const char *name)
{
	autobuf struct buf path = { 0 };

	buf_printf(&path, "%s/%s%s", dir, l->subdir, name);
	return !path.failed && cdi_make_mount(&g->spec.edits, l->real, path.p, file_options);
}

/*
 * Sorts 32-bit libraries first: in an image whose /usr/lib64 is a link to /usr/lib, the 64-bit ones are then mounted
 * over them.  Then sorts by SONAME, and equal ones in the loader's order.
 */
static int
in_order(const void *a, const void *b)
{
	const struct host_library *x = a, *y = b;
	int ret = (x->bits > y->bits) - (x->bits < y->bits);

	if (ret == 0)
		ret = strcmp(x->soname, y->soname);
	return ret != 0 ? ret : (x->order > y->order) - (x->order < y->order);
}

int
gen_mount_libraries(struct generating *g, struct host_libraries *l, bool vendor_names, struct why *why)
{
	const struct host_library *lib;
	const char *const *dir, *other;
	size_t i;

	if (l->n > 1)
		qsort(l->v, l->n, sizeof(*l->v), in_order);
	for (i = 0; i < l->n; i++) {
		lib = &l->v[i];
		other = vendor_names ? nvlib_other_name(lib->soname) : NULL;
		for (dir = loader_dirs(lib->machine, lib->bits); *dir != NULL; dir++)
			if (!mount_as(g, lib, *dir, lib->soname) ||
			    (vendor_names && !mount_as(g, lib, *dir, path_last(lib->real))) ||
			    (other != NULL && !mount_as(g, lib, *dir, other)))
				return refuse_nomem(why);
	}
	return 0;
}

void
gen_libraries_free(struct host_libraries *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->v[i].real);
	free(l->v);
	*l = (struct host_libraries){ 0 };
}
