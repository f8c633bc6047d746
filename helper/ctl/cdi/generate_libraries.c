/*
 * See generate.h: finds the libraries of the loaded NVIDIA driver.  They are in the cache of ldconfig(8) on most hosts.
 * Hosts that have no such cache, or keep the driver out of it, have them in a directory that this file knows, and a
 * driver in a container has them in that container's root directory.
 */
#include "generate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../cdi/nvlibs.h"
#include "../../host/file.h"
#include "../../host/rootfile.h"
#include "ldcache.h"

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))

struct library_search {
	struct generating *g;
	const char *version;		/* of the loaded module */
	char other[32];			/* another version of which there are libraries, or "" */
	bool cached, from_cache;	/* the driver's root directory has a cache; and that cache names libraries of the driver */
	struct host_libraries libs;
	struct why *why;
};

/* What every driver has, and what containers lack without it. */
static const struct { const char *stem, *what; } wanted[] = {
	{ "libcuda.so.", "CUDA" }, { "libnvidia-ptxjitcompiler.so.", "the compiler of CUDA's PTX code" },
	{ "libnvidia-ml.so.", "nvidia-smi and NVML" },
};

/* True if the file is libX.so.VERSION of the loaded driver.  Remembers another driver's version in s->other. */
static bool
of_version(struct library_search *s, const char *file)
{
	const char *so = strstr(file, ".so."), *version = so != NULL ? so + 4 : "";
	char found[32];

	if (strcmp(version, s->version) == 0)
		return true;
	/* every driver has these two libraries, and nothing else has them */
	if ((text_starts(file, "libcuda.so.") || text_starts(file, "libnvidia-ml.so.")) &&
	    nvidia_version_parse(version, found))
		memcpy(s->other, found, sizeof(found));
	return false;
}

/* Adds the library at this path if it belongs to the driver.  Returns 0, 1 with errno if it is missing, or -1. */
static int
take_library(struct library_search *s, const char *path)
{
	autofree char *real = NULL;
	autoclose int fd = -1;
	const char *file;

	/* skip by name what can't belong to the driver: most of a cache */
	if (nvlib_capabilities(path_last(path)) == 0 && strstr(path, "nvidia") == NULL)
		return 0;
	if ((fd = gen_open(s->g, path, O_PATH, &real)) == -1)
		return 1;
	file = path_last(real);
	if (!of_version(s, file) && !nvlib_own_version(file))
		return 0;
	if (nvlib_capabilities(file) == 0)
		complain(WHY_NONE, "%s: unknown capability: gpuhelper grants it with every capability", real);
	return gen_library(s->g, &s->libs, path, "", s->why) == -1 ? -1 : 0;
}

static int
find_cached(struct library_search *s)
{
	autofree char *bytes = NULL;
	autoldcache struct ldcache cache = { 0 };
	char name[sizeof(s->g->driver_root) + 32];
	size_t i, len;
	int ret;

	snprintf(name, sizeof(name), "%s/etc/ld.so.cache", s->g->driver_root);
	bytes = file_read_at(s->g->driver, "etc/ld.so.cache", LDCACHE_MAX, &len);
	s->cached = bytes != NULL || errno != ENOENT;
	if (bytes == NULL)
		return s->cached ? refuse(s->why, WHY_IO, "%s: %s", name, strerror(errno)) : 0;
	if (ldcache_parse(&cache, bytes, len, s->why) == -1)
		return refuse_within(s->why, name);
	for (i = 0; i < cache.n; i++) {
		if (cache.v[i].hwcap || strlen(cache.v[i].path) >= 1024)
			continue;
		if ((ret = take_library(s, cache.v[i].path)) == -1)
			return -1;
		if (ret == 1)
			complain(WHY_NONE, "%s names %s: %s: run ldconfig", name, cache.v[i].path, strerror(errno));
	}
	return 0;
}

/* Adds the driver's libraries that are directly in this directory of the driver's root, if there is one. */
static int
find_in(struct library_search *s, const char *dir)
{
	autostrlist struct strlist names = { 0 };
	size_t i;

	if (rootfile_list(s->g->driver, dir, &names, s->why) == -1)
		return -1;
	for (i = 0; i < names.n; i++) {
		autobuf struct buf path = { 0 };

		if (!text_starts(names.v[i], "lib") || strstr(names.v[i], ".so.") == NULL)
			continue;
		buf_printf(&path, "%s/%s", dir, names.v[i]);
		if (path.failed)
			return refuse_nomem(s->why);
		/* a link that leads nowhere is no library */
		if (take_library(s, path.p) == -1)
			return -1;
	}
	return 0;
}

/* The directories that --library-path names, as paths of the driver's root or of the host. */
static int
find_named(struct library_search *s)
{
	const struct options *o = s->g->o;
	size_t i;

	for (i = 0; i < o->library_paths; i++) {
		const char *beneath = gen_in_root(s->g, o->library_path[i]), *dir = beneath != NULL ? beneath : o->library_path[i];
		autoclose int fd = rootfile_open(s->g->driver, dir, O_PATH | O_DIRECTORY, NULL);

		if (fd == -1)
			complain(WHY_NONE, "%s%s: %s", s->g->driver_root, dir, strerror(errno));
		else if (find_in(s, dir) == -1)
			return -1;
	}
	return 0;
}

static bool
has_library(const struct library_search *s, const char *stem)
{
	size_t i;

	for (i = 0; i < s->libs.n; i++)
		if (s->libs.v[i].bits == 64 && text_starts(s->libs.v[i].soname, stem))
			return true;
	return false;
}

static bool
has_any_wanted(const struct library_search *s)
{
	size_t i;

	for (i = 0; i < COUNT(wanted); i++)
		if (has_library(s, wanted[i].stem))
			return true;
	return false;
}

/* Looks in the driver's root directory.  Returns -1 with *s->why. */
static int
find_in_root(struct library_search *s)
{
	/* where drivers are, besides the directories of a loader: Debian, Bottlerocket, Talos, COS, COS in GKE, NixOS */
	static const char *const known[] = { "/usr/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu/nvidia/current",
		"/usr/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu/nvidia/current", "/usr/lib64", "/usr/lib",
		"/usr/lib/nvidia/tesla", "/usr/local/glibc/usr/lib", "/var/lib/nvidia/lib64", "/home/kubernetes/bin/nvidia/lib64",
		"/run/opengl-driver/lib", "/run/opengl-driver-32/lib" };
	size_t i;

	if (find_named(s) == -1 || find_cached(s) == -1)
		return -1;
	s->from_cache = s->cached && has_any_wanted(s);
	if (has_any_wanted(s))
		return 0;
	for (i = 0; i < COUNT(known); i++)
		if (find_in(s, known[i]) == -1)
			return -1;
	return 0;
}

/* Opens the driver's root directory in the place of the host's.  Returns -1 with errno. */
static int
open_driver_root(struct generating *g, const char *path)
{
	autofree char *real = NULL;
	const int fd = rootfile_open(g->host.root, path, O_PATH | O_DIRECTORY, &real);

	if (fd == -1)
		return -1;
	if (strlen(real) >= sizeof(g->driver_root)) {
		close(fd);
		errno = ENAMETOOLONG;
		return -1;
	}
	g->driver = fd;
	snprintf(g->driver_root, sizeof(g->driver_root), "%s", strcmp(real, "/") == 0 ? "" : real);
	return 0;
}

/* Looks in the root directory that --driver-root names; without it, in the host's, and then in a driver container's. */
static int
find_libraries(struct library_search *s)
{
	static const char container[] = "/run/nvidia/driver";
	const char *given = s->g->o->driver_root;
	bool cached;

	if (given != NULL)
		return open_driver_root(s->g, given) == -1 ? refuse(s->why, WHY_IO, "%s: %s", given, strerror(errno)) :
		    find_in_root(s);
	if (find_in_root(s) == -1)
		return -1;
	if (has_any_wanted(s) || open_driver_root(s->g, container) == -1)
		return 0;
	cached = s->cached;
	if (find_in_root(s) == -1)
		return -1;
	if (has_any_wanted(s)) {
		complain(WHY_NONE, "the driver's files are those of a container: %s", s->g->driver_root);
		return 0;
	}
	close(s->g->driver);
	s->g->driver = s->g->host.root;
	s->g->driver_root[0] = '\0';
	s->cached = cached;
	return 0;
}

/* True if no library before index «at» is in the same directory, whose path has «len» bytes. */
static bool
is_first_of(const struct host_libraries *l, size_t at, size_t len)
{
	size_t i;

	for (i = 0; i < at; i++)
		if ((size_t)(path_last(l->v[i].real) - l->v[i].real) == len && strncmp(l->v[i].real, l->v[at].real, len) == 0)
			return false;
	return true;
}

/* VDPAU loads its drivers from a subdirectory that ldconfig does not index, so the cache does not name them. */
static int
find_vdpau(struct library_search *s)
{
	const size_t known = s->libs.n;
	size_t i, len;

	for (i = 0; i < known; i++) {
		const char *real = gen_in_root(s->g, s->libs.v[i].real);
		autobuf struct buf path = { 0 };

		if (real == NULL || !is_first_of(&s->libs, i, (size_t)(path_last(s->libs.v[i].real) - s->libs.v[i].real)))
			continue;
		len = (size_t)(path_last(real) - real);
		buf_add(&path, real, len);
		buf_printf(&path, "vdpau/libvdpau_nvidia.so.%s", s->version);
		if (path.failed)
			return refuse_nomem(s->why);
		if (gen_library(s->g, &s->libs, path.p, "vdpau/", s->why) == -1)
			return -1;
	}
	return 0;
}

/* There is no library of the loaded driver at all. */
static int
refuse_missing(const struct library_search *s)
{
	const char *root = s->g->driver_root, *but = s->other[0] != '\0' ? ", but of " : "";

	if (root[0] != '\0')
		return refuse(s->why, WHY_ABSENT, "%s has no libraries of driver %s%s%s: name that driver's root directory, or with "
		    "--library-path the directory of its libraries", root, s->version, but, s->other);
	if (!s->cached)
		return refuse(s->why, WHY_ABSENT, "no directory where drivers usually are has libraries of driver %s%s%s: name "
		    "theirs with --library-path, or with --driver-root the root directory of a driver in a container", s->version,
		    but, s->other);
	return refuse(s->why, WHY_ABSENT, "/etc/ld.so.cache has no libraries of driver %s%s%s: install them and run "
	    "ldconfig, load the installed module (reboot), or name their directory with --library-path", s->version, but,
	    s->other);
}

/* Reports what containers will lack. */
static int
tell_missing(const struct library_search *s)
{
	size_t i;

	if (!has_any_wanted(s))
		return refuse_missing(s);
	for (i = 0; i < COUNT(wanted); i++)
		if (!has_library(s, wanted[i].stem))
			complain(WHY_NONE, "%s%s has no %s%s: containers will lack %s", s->from_cache ? s->g->driver_root : "the driver",
			    s->from_cache ? "/etc/ld.so.cache" : "", wanted[i].stem, s->version, wanted[i].what);
	if (s->other[0] != '\0')
		complain(WHY_NONE, "libraries of driver %s left out: the loaded module is of %s", s->other, s->version);
	return 0;
}

int
gen_nvidia_libraries(struct generating *g, struct why *why)
{
	struct library_search s = { .g = g, .version = g->inv->nvidia_version, .why = why };
	int ret = -1;

	if (find_libraries(&s) == 0 && find_vdpau(&s) == 0 && tell_missing(&s) == 0)
		ret = gen_mount_libraries(g, &s.libs, true, why);
	gen_libraries_free(&s.libs);
	return ret;
}
