/*
 * user/mount/nodes.c: which bind mounts would bring GPU nodes into a container. A "GPU" here has the
 * major of /dev/null (1); /dev/tty (5) is no GPU. As root, the test makes directories with nodes.
 * The mounts are this machine's own.
 */
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tap.h"
#include "user/mount/nodes.h"

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))

static struct devmajor known[] = { { 1, 'c', "nvidia-test" }, { 5, 'c', "/dev/tty" } };
static const struct devmajors host = { .v = known, .n = COUNT(known) };
static char top[] = "/tmp/t_nodes.XXXXXX";

enum brings { NOTHING, TAKEN_OUT, REFUSED };

/* Checks one mount in a bundle whose root is «top». */
static enum brings
check(const char *type, const char *source, const char *option, struct why *why)
{
	autospec struct spec s;
	char text[1024];

	snprintf(text, sizeof(text), "{\"process\":{},\"linux\":{},\"mounts\":[{\"destination\":\"/x\",\"type\":\"%s\","
	    "\"source\":\"%s\",\"options\":[%s]},{\"destination\":\"/y\"}]}", type, source, option);
	*why = (struct why){ 0 };
	if (!ok(spec_parse(&s, text, strlen(text), why) == 0, "%s", text))
		return NOTHING;
	s.bundle = top;
	if (nodes_check_mounts(&s, &host, why) == -1)
		return REFUSED;
	return s.mount[0].only_gpus || (s.mount[0].bind && node_is_gpu(&s, &host, s.mount[0].source)) ? TAKEN_OUT : NOTHING;
}

static void
make_dir(const char *path)
{
	(void)!mkdir(path, 0755);
}

static bool
make_tree(void)
{
	size_t i;
	char name[32];

	if (mkdtemp(top) == NULL || chdir(top) == -1)
		return false;
	make_dir("plain");
	make_dir("plain/sub");
	close(open("plain/file", O_CREAT | O_WRONLY, 0600));
	(void)!symlink("/dev/null", "plain/link");
	(void)!symlink("/dev/null", "link");
	(void)!symlink("gpus", "linkdir");
	(void)!symlink("link", "link2");
	make_dir("gpus");
	make_dir("gpus/by-path");
	(void)!symlink("../a", "gpus/by-path/x");
	make_dir("mixed");
	make_dir("mixed/tty");
	make_dir("deep");
	make_dir("deep/1");
	make_dir("deep/1/2");
	make_dir("deep/1/2/3");
	make_dir("deeper");
	make_dir("deeper/1");
	make_dir("deeper/1/2");
	make_dir("deeper/1/2/3");
	make_dir("deeper/1/2/3/4");
	make_dir("unseen");
	make_dir("unseen/1");
	make_dir("unseen/1/2");
	make_dir("unseen/1/2/3");
	make_dir("unseen/1/2/3/4");
	make_dir("many");
	for (i = 0; i < 4200; i++) {
		snprintf(name, sizeof(name), "many/%zu", i);
		(void)!symlink("x", name);
	}
	return mknod("gpus/a", S_IFCHR | 0600, makedev(1, 3)) == 0 && mknod("gpus/b", S_IFCHR | 0600, makedev(1, 5)) == 0 &&
	    mknod("mixed/a", S_IFCHR | 0600, makedev(1, 3)) == 0 && mknod("mixed/tty/b", S_IFCHR | 0600, makedev(5, 0)) == 0 &&
	    mknod("deep/1/2/3/a", S_IFCHR | 0600, makedev(1, 3)) == 0 && mknod("many/a", S_IFCHR | 0600, makedev(1, 3)) == 0 &&
	    mknod("unseen/a", S_IFCHR | 0600, makedev(1, 3)) == 0 &&
	    mknod("deeper/1/2/3/4/a", S_IFCHR | 0600, makedev(1, 3)) == 0 && mknod("plain/tty", S_IFCHR | 0600, makedev(5, 0)) == 0;
}

static void
test_sources(void)
{
	static const struct {
		const char *type, *source, *option;
		enum brings brings;
	} t[] = {
		{ "bind", "/dev/null", "", TAKEN_OUT }, { "bind", "/dev/tty", "", NOTHING },
		/* relative to the bundle */
		{ "bind", "link", "", TAKEN_OUT }, { "none", "link2", "\"bind\"", TAKEN_OUT }, { "bind", "plain", "", NOTHING },
		{ "bind", "gpus", "", TAKEN_OUT }, { "none", "gpus", "\"rbind\",\"ro\"", TAKEN_OUT }, { "bind", "linkdir", "", TAKEN_OUT },
		{ "bind", "gpus/a", "", TAKEN_OUT }, { "bind", "gpus/by-path", "", NOTHING }, { "bind", "gpus/by-path/x", "", TAKEN_OUT },
		{ "bind", "mixed", "", REFUSED }, { "bind", "mixed/tty", "", NOTHING }, { "bind", ".", "", REFUSED },
		{ "bind", "deep", "", TAKEN_OUT }, { "bind", "many", "", TAKEN_OUT },
		/*
		 * the search is limited: it goes no deeper, and a full directory may have more
		 * files
		 */
		{ "bind", "unseen", "", REFUSED },
		{ "bind", "deeper", "", NOTHING },
		{ "tmpfs", "gpus", "", NOTHING }, { "bind", "nowhere", "", NOTHING }, { "bind", "/nowhere", "", NOTHING },
		{ "bind", "plain/file", "", NOTHING },
		/* this machine's own directories, which have other files, too */
		{ "bind", "/dev", "", REFUSED }, { "bind", "/dev", "\"rbind\",\"ro\"", REFUSED }, { "none", "/", "\"rbind\"", REFUSED },
		{ "bind", "/dev/shm", "\"rbind\"", NOTHING }, { "bind", "/usr", "", NOTHING }, { "bind", "/proc", "\"rbind\"", NOTHING },
	};
	struct why why;
	size_t i;

	for (i = 0; i < COUNT(t); i++) {
		is_int(check(t[i].type, t[i].source, t[i].option, &why), t[i].brings, "%s %s (%s): %s", t[i].type, t[i].source,
		    t[i].option, why.text);
		ok(t[i].brings == REFUSED ? why.code == WHY_DENIED && strstr(why.text, "no device cgroup") != NULL :
		    why.text[0] == '\0', "  a refusal has its message, and nothing else has one");
	}
}

/* A path that cannot be opened brings no node in. */
static void
test_long(void)
{
	char source[5000];
	autospec struct spec s = { .bundle = top };

	memset(source, 'a', sizeof(source) - 1);
	source[sizeof(source) - 1] = '\0';
	ok(!node_is_gpu(&s, &host, source), "a relative path that is too long brings no node in");
	source[0] = '/';
	ok(!node_is_gpu(&s, &host, source), "an absolute path that is too long brings no node in");
}

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st, (void)kind, (void)ftw;
	return remove(path);
}

int
main(void)
{
	bool made = make_tree();

	/* relative sources start from the bundle, not from the working directory */
	(void)!chdir("/");
	if (made) {
		test_sources();
		test_long();
	}
	(void)nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	if (!made)
		skip_all("no device nodes can be made here");
	return done_testing();
}
