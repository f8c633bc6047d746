/*
 * user/vet/vethost.c: what it sees of a path must not depend on what it has seen before. So each path is looked at after
 * others, and compared with host/driver/cdisource.c, which looks anew. Reads this machine's directories, and a tree of
 * its own.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/driver/cdisource.h"
#include "tap.h"
#include "user/vet/vethost.h"

static unsigned same, different, was_asked, roots_seen;

/* Looks at the path with *host_view, and anew. */
static void
compare(const struct vet_host *host_view, const char *path)
{
	struct vet_file f = { .plain = false };
	char real[PATH_MAX] = "";
	struct why ignored;
	struct stat st;
	bool roots = false;
	const bool anew = cdi_find_source(path, real, &st, &roots, &ignored) == 0;
	const bool seen = host_view->file(host_view->host, path, &f);

	was_asked++;
	if (seen == anew && (!anew || (strcmp(f.real, real) == 0 && f.roots == roots &&
	    f.plain == (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) && f.socket == S_ISSOCK(st.st_mode)))) {
		same++;
		roots_seen += anew && roots;
		return;
	}
	different++;
	printf("# %s: %d %s %d, anew: %d %s %d\n", path, seen, f.real, f.roots, anew, real, roots);
}

static void
compare_dir(const struct vet_host *host_view, const char *dir)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *d = opendir(dir);
	unsigned n = 0;

	while (d != NULL && (e = readdir(d)) != NULL && n++ < 200) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		compare(host_view, path);
		/* one of another directory between them */
		if (n % 7 == 0)
			compare(host_view, "/etc/passwd");
	}
	if (d != NULL)
		closedir(d);
}

static void
make(int dir, const char *name, mode_t mode)
{
	const int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	(void)!fchmod(fd, mode);
	close(fd);
}

/* The directory is the test's own, beneath one where everybody may write. */
static void
check_loose(const struct vet_host *host_view)
{
	char dir[] = "/tmp/t_vethost.XXXXXX", path[PATH_MAX];
	int fd;

	if (mkdtemp(dir) == NULL || (fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1) {
		ok(false, "a directory can be made in /tmp");
		return;
	}
	make(fd, "plain", 0644);
	make(fd, "loose", 0666);
	(void)!symlinkat("plain", fd, "link");
	(void)!symlinkat("/etc", fd, "etc");
	compare_dir(host_view, dir);
	snprintf(path, sizeof(path), "%s/etc/passwd", dir);
	compare(host_view, path);
	unlinkat(fd, "plain", 0);
	unlinkat(fd, "loose", 0);
	unlinkat(fd, "link", 0);
	unlinkat(fd, "etc", 0);
	close(fd);
	rmdir(dir);
}

/* A link to "/" in a directory that only root can change. */
static void
check_link_to_root(const struct vet_host *host_view)
{
	char dir[] = "/run/t_vethost.XXXXXX", path[PATH_MAX];

	if (geteuid() != 0 || mkdtemp(dir) == NULL)
		return;
	snprintf(path, sizeof(path), "%s/host", dir);
	(void)!symlink("/", path);
	snprintf(path, sizeof(path), "%s/host/etc", dir);
	compare(host_view, path);
	snprintf(path, sizeof(path), "%s/host/usr", dir);
	compare(host_view, path);
	snprintf(path, sizeof(path), "%s/host", dir);
	(void)unlink(path);
	(void)rmdir(dir);
}

/* A folder must be a directory, and no link, in a directory that only root can change. */
static void
check_folders(const struct vet_host *host_view)
{
	ok(host_view->folder(host_view->host, "/usr/bin") && host_view->folder(host_view->host, "/usr/lib") && host_view->folder(host_view->host, "/etc"),
	    "directories of root's are folders, two of them in one directory");
	ok(!host_view->folder(host_view->host, "/etc/passwd"), "a file is none");
	ok(!host_view->folder(host_view->host, "/usr/absent") && !host_view->folder(host_view->host, "/absent/bin"), "nor is what is not there");
	ok(!host_view->folder(host_view->host, "/proc/self"), "nor is a link to a directory");
	ok(host_view->folder(host_view->host, "/usr/bin"), "after them, a directory still is one");
}

int
main(void)
{
	autovethost struct vethost state = { .parent = -1 };
	const struct vet_host host_view = vethost_functions(&state);

	compare_dir(&host_view, "/usr/bin");
	compare_dir(&host_view, "/usr/lib");
	compare_dir(&host_view, "/etc");
	compare_dir(&host_view, "/dev");
	compare_dir(&host_view, "/bin");
	check_loose(&host_view);
	check_link_to_root(&host_view);
	compare(&host_view, "/");
	compare(&host_view, "relative");
	compare(&host_view, "/usr//bin/env");
	compare(&host_view, "/usr/bin/env");
	compare(&host_view, "/usr/bin/absent");
	is_int(different, 0, "%u of %u paths are seen as by a look anew", same, was_asked);
	ok(roots_seen > 20, "%u of them are root's alone", roots_seen);
	check_folders(&host_view);
	return done_testing();
}
