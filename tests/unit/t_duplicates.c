/*
 * user/compose/duplicates.c: which mounts of a config.json bring the same as the grant, and which names a hook of the engine
 * makes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tap.h"
#include "user/compose/duplicates.h"

#define LIB "/usr/lib/libcuda.so.1"
#define RO "\"ro\",\"nosuid\",\"nodev\",\"rbind\",\"rprivate\""

static char top[] = "/tmp/t_duplicates.XXXXXX";

/* The grant: a file, a directory and a socket of the driver, another name of the file, a folder, and a node. */
static void
make_grant(struct edits *e)
{
	static const char *const ro[] = { "bind", "rprivate", "ro", "nosuid", "nodev", NULL };
	static const char *const rw[] = { "bind", "rprivate", "rw", "nosuid", "nodev", NULL };
	struct edit_node null = { .path = "/dev/null", .major = 1, .minor = 3 };
	static const struct {
		const char *file, *target;
		bool driver, rw;
	} t[] = {
		{ "lib", LIB, true, false }, { "dir", "/usr/share/x", true, false }, { "rwdir", "/tmp/mps", true, true },
		{ "lib", "/usr/lib/libcuda.so", true, false }, { "dir", "/data", false, false },
	};
	char source[64];
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		snprintf(source, sizeof(source), "%s/%s", top, t[i].file);
		edits_add_mount(e, source, t[i].target, t[i].rw ? rw : ro);
		e->mount[i].driver = t[i].driver;
	}
	edits_add_node(e, &null);
}

static const struct {
	const char *what, *source, *target, *more;	/* «more» follows in the mount's object */
	bool same;
} mounts[] = {
	{ "the file, with the options of nvidia-ctk", "lib", LIB, ",\"options\":[" RO "]", true },
	{ "a bind mount by its type", "lib", LIB, ",\"type\":\"bind\",\"options\":[\"ro\"]", true },
	{ "the file through a link", "way/lib", LIB, ",\"options\":[" RO "]", true },
	{ "the file, writable", "lib", LIB, ",\"options\":[\"bind\"]", true },
	{ "the file, writable by the last option", "lib", LIB, ",\"options\":[" RO ",\"rw\"]", true },
	{ "the file, noexec", "lib", LIB, ",\"options\":[" RO ",\"noexec\"]", false },
	{ "the file, noexec and exec", "lib", LIB, ",\"options\":[" RO ",\"noexec\",\"exec\"]", true },
	{ "an unknown option", "lib", LIB, ",\"options\":[" RO ",\"rshared\"]", false },
	{ "an id-mapped mount", "lib", LIB, ",\"options\":[" RO "],\"uidMappings\":[]", false },
	{ "another file", "other", LIB, ",\"options\":[" RO "]", false },
	{ "a file that is missing", "none", LIB, ",\"options\":[" RO "]", false },
	{ "the file at another place", "lib", "/usr/lib/libcuda.so.2", ",\"options\":[" RO "]", false },
	{ "the file at its place in another spelling", "lib", "/usr//lib/libcuda.so.1", ",\"options\":[" RO "]", false },
	{ "no bind mount", "lib", LIB, ",\"type\":\"tmpfs\",\"options\":[\"ro\"]", false },
	{ "the directory", "dir", "/usr/share/x", ",\"options\":[" RO "]", true },
	{ "the directory, writable", "dir", "/usr/share/x", ",\"options\":[\"bind\"]", false },
	{ "the writable directory", "rwdir", "/tmp/mps", ",\"options\":[\"bind\",\"rw\"]", true },
	{ "the writable directory, read-only", "rwdir", "/tmp/mps", ",\"options\":[" RO "]", false },
	{ "a granted folder, which is no file of the driver", "dir", "/data", ",\"options\":[" RO "]", false },
	{ "the node", "null", "/dev/null", ",\"options\":[\"bind\"]", true },
	{ "another node at its place", "zero", "/dev/null", ",\"options\":[\"bind\"]", false },
	{ "a file at the place of the node", "lib", "/dev/null", ",\"options\":[\"bind\"]", false },
};

static void
test_mounts(void)
{
	struct why why = { 0 };
	size_t i;

	for (i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		autofree char *text = NULL;
		autospec struct spec s = { 0 };
		struct edits e = { 0 };
		int n;

		make_grant(&e);
		n = asprintf(&text, "{\"ociVersion\":\"1.0.2\",\"process\":{},\"linux\":{},\"mounts\":[{\"destination\":\"%s\","
		    "\"source\":\"%s/%s\"%s}]}", mounts[i].target, top, mounts[i].source, mounts[i].more);
		if (ok(n != -1 && spec_parse(&s, text, strlen(text), &why) == 0 && duplicates_mark(&s, &e, &why) == 0,
		    "%s: read", mounts[i].what))
			is_int(s.mount[0].duplicate, mounts[i].same, "  it is %s", mounts[i].same ? "the same" : "not the same");
		edits_free(&e);
	}
}

static const struct {
	const char *what, *hooks;
	bool linked;		/* /usr/lib/libcuda.so */
} hooks[] = {
#define HOOK(when, path, args) "{\"" when "\":[{\"path\":\"" path "\",\"args\":[" args "]}]}"
#define LINK "\"--link\",\"libcuda.so.1::/usr/lib/libcuda.so\""
	{ "no hook", "{}", false },
	{ "a hook that links the name to a granted file",
	    HOOK("createContainer", "/usr/bin/nvidia-cdi-hook", "\"nvidia-cdi-hook\",\"create-symlinks\"," LINK), true },
	{ "the older tool",
	    HOOK("createContainer", "/usr/bin/nvidia-ctk", "\"nvidia-ctk\",\"hook\",\"create-symlinks\"," LINK), true },
	{ "a hook that does not see the container's mounts",
	    HOOK("createRuntime", "/usr/bin/nvidia-cdi-hook", "\"nvidia-cdi-hook\",\"create-symlinks\"," LINK), false },
	{ "another program",
	    HOOK("createContainer", "/usr/bin/other", "\"nvidia-cdi-hook\",\"create-symlinks\"," LINK), false },
	{ "another subcommand",
	    HOOK("createContainer", "/usr/bin/nvidia-cdi-hook", "\"nvidia-cdi-hook\",\"update-ldcache\"," LINK), false },
	{ "a link to a file that is not granted",
	    HOOK("createContainer", "/usr/bin/nvidia-cdi-hook", "\"nvidia-cdi-hook\",\"create-symlinks\",\"--link\","
	    "\"libother.so.1::/usr/lib/libcuda.so\""), false },
	{ "a link to itself",
	    HOOK("createContainer", "/usr/bin/nvidia-cdi-hook", "\"nvidia-cdi-hook\",\"create-symlinks\",\"--link\","
	    "\"libcuda.so::/usr/lib/libcuda.so\""), false },
	{ "a hook whose path is not absolute",
	    HOOK("createContainer", "nvidia-cdi-hook", "\"nvidia-cdi-hook\",\"create-symlinks\"," LINK), false },
	{ "a hook without arguments", "{\"createContainer\":[{\"path\":\"/usr/bin/nvidia-cdi-hook\"}]}", false },
	{ "hooks that the runtime will refuse", "{\"createContainer\":[1,{},{\"path\":1,\"args\":{}},{\"path\":\"/x\",\"args\":[1]}]}", false },
};

static void
test_hooks(void)
{
	struct why why = { 0 };
	size_t i, k, linked;

	for (i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		autofree char *text = NULL;
		autospec struct spec s = { 0 };
		struct edits e = { 0 };
		int n;

		make_grant(&e);
		n = asprintf(&text, "{\"ociVersion\":\"1.0.2\",\"process\":{},\"linux\":{},\"hooks\":%s}", hooks[i].hooks);
		if (ok(n != -1 && spec_parse(&s, text, strlen(text), &why) == 0 && duplicates_mark(&s, &e, &why) == 0,
		    "%s: read %s", hooks[i].what, why.text)) {
			for (k = linked = 0; k < e.mounts; k++)
				linked += e.mount[k].linked;
			ok(e.mount[3].linked == hooks[i].linked && linked == hooks[i].linked, "  the name is %s",
			    hooks[i].linked ? "left to the hook" : "mounted");
		}
		edits_free(&e);
	}
}

static void
put(int dir, const char *name)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT, 0644);

	if (fd == -1)
		exit(2);
	close(fd);
}

int
main(void)
{
	static const char *const names[] = { "lib", "other", "way", "null", "zero", NULL };
	static const char *const dirs[] = { "dir", "rwdir", NULL };
	int dir, i;

	if (mkdtemp(top) == NULL || (dir = open(top, O_RDONLY | O_DIRECTORY)) == -1)
		return 2;
	put(dir, "lib");
	put(dir, "other");
	if (mkdirat(dir, "dir", 0755) == -1 || mkdirat(dir, "rwdir", 0755) == -1 || symlinkat(".", dir, "way") == -1 ||
	    symlinkat("/dev/null", dir, "null") == -1 || symlinkat("/dev/zero", dir, "zero") == -1)
		return 2;
	test_mounts();
	test_hooks();
	for (i = 0; names[i] != NULL; i++)
		unlinkat(dir, names[i], 0);
	for (i = 0; dirs[i] != NULL; i++)
		unlinkat(dir, dirs[i], AT_REMOVEDIR);
	close(dir);
	rmdir(top);
	return done_testing();
}
