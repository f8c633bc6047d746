/*
 * See setup.h: one container, in a bundle of its own, with the host's /usr mounted read-only: it runs true(1).  It asks
 * for nothing, so that it shows the wrapper, gpuhelper.conf and the runtime, and no policy.
 */
#include "setup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../host/clock.h"
#include "../host/file.h"
#include "../pure/cleanup.h"
#include "../pure/text.h"

#define TRY_MS 30000
#define SAID_MAX 400		/* of what it says on stderr */

extern char **environ;

/* The runtime mounts one, and makes its nodes in the other. */
static const char *const mounted[] = { "proc", "dev" };

/* What a host has as directories of its own, or as links into /usr. */
static const char *const tops[] = { "usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32" };
#define TOPS (sizeof(tops) / sizeof(tops[0]))

static int
add_top(int root, const char *name, json_t *mounts)
{
	char path[16], target[64];
	struct stat st;
	ssize_t n;

	snprintf(path, sizeof(path), "/%s", name);
	if (lstat(path, &st) == -1)
		return 0;
	if (S_ISLNK(st.st_mode)) {
		if ((n = readlink(path, target, sizeof(target) - 1)) == -1)
			return -1;
		target[n] = '\0';
		return symlinkat(target, root, name);
	}
	if (mkdirat(root, name, 0755) == -1)
		return -1;
	return json_array_append_new(mounts, json_pack("{s:s, s:s, s:s, s:[s, s, s, s]}", "destination", path, "type", "bind",
	    "source", path, "options", "rbind", "ro", "nosuid", "nodev"));
}

/* OCI runtime specification 1.0, config.md; not a privileged one (user/exposure.h), which settings may refuse. */
static json_t *
config_of(json_t *mounts)
{
	return json_pack("{s:s, s:{s:b, s:{s:i, s:i}, s:[s], s:[s], s:s, s:b}, s:{s:s, s:b}, s:s, s:o, "
	    "s:{s:[{s:s}, {s:s}, {s:s}, {s:s}, {s:s}], s:[s, s, s, s, s], s:[s, s]}}",
	    "ociVersion", "1.0.2", "process", "terminal", 0, "user", "uid", 0, "gid", 0, "args", "/usr/bin/true",
	    "env", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "cwd", "/", "noNewPrivileges", 1,
	    "root", "path", "rootfs", "readonly", 1, "hostname", "gpuhelper-setup", "mounts", mounts,
	    "linux", "namespaces", "type", "pid", "type", "mount", "type", "ipc", "type", "uts", "type", "network",
	    "readonlyPaths", "/proc/sys", "/proc/sysrq-trigger", "/proc/bus", "/proc/fs", "/proc/irq",
	    "maskedPaths", "/proc/kcore", "/proc/keys");
}

static int
make_bundle(int dir, struct why *why)
{
	autoclose int root = -1;
	json_t *mounts = json_array(), *config;
	autofree char *text = NULL;
	size_t i;
	int ret = 0;

	if (mkdirat(dir, "rootfs", 0755) == -1 || (root = openat(dir, "rootfs", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1 ||
	    mkdirat(root, mounted[0], 0755) == -1 || mkdirat(root, mounted[1], 0755) == -1 || json_array_append_new(mounts,
	    json_pack("{s:s, s:s, s:s}", "destination", "/proc", "type", "proc", "source", "proc")) == -1 ||
	    json_array_append_new(mounts, json_pack("{s:s, s:s, s:s, s:[s, s]}", "destination", "/dev", "type", "tmpfs",
	    "source", "tmpfs", "options", "nosuid", "mode=755")) == -1)
		ret = -1;
	for (i = 0; ret == 0 && i < TOPS; i++)
		ret = add_top(root, tops[i], mounts);
	if (ret == -1) {
		json_decref(mounts);
		return refuse(why, WHY_IO, "a bundle can't be made: %s", strerror(errno));
	}
	config = config_of(mounts);
	text = config != NULL ? json_dumps(config, JSON_INDENT(2)) : NULL;
	json_decref(config);
	return text == NULL ? refuse_nomem(why) :
	    ctl_write_file(dir, "config.json", "config.json", text, strlen(text), NULL, why);
}

static void
remove_bundle(int dir)
{
	int root = openat(dir, "rootfs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t i;

	for (i = 0; root != -1 && i < TOPS; i++)
		if (unlinkat(root, tops[i], 0) == -1)
			(void)unlinkat(root, tops[i], AT_REMOVEDIR);
	if (root != -1) {
		(void)unlinkat(root, mounted[0], AT_REMOVEDIR);
		(void)unlinkat(root, mounted[1], AT_REMOVEDIR);
		close(root);
	}
	(void)unlinkat(dir, "rootfs", AT_REMOVEDIR);
	(void)unlinkat(dir, "config.json", 0);
	(void)unlinkat(dir, "state", AT_REMOVEDIR);
}

/* What the wrapper writes, until it closes the pipe.  False: it has not by TRY_MS. */
static bool
hear(int from, char said[SAID_MAX])
{
	const int64_t until = clock_ms() + TRY_MS;
	struct pollfd p = { .fd = from, .events = POLLIN };
	char bytes[SAID_MAX];
	size_t len = 0;
	ssize_t n, i;

	said[0] = '\0';
	while (clock_ms() < until) {
		if (poll(&p, 1, (int)(until - clock_ms())) <= 0)
			continue;
		if ((n = read(from, bytes, sizeof(bytes))) <= 0)
			return true;
		for (i = 0; i < n && len < SAID_MAX - 1; i++)
			said[len++] = bytes[i] == '\n' ? ' ' : bytes[i];
		said[len] = '\0';
	}
	return false;
}

static int
run(const char *name, const char *bundle, struct why *why)
{
	const char *const argv[] = { WRAPPER, "--root", name, "run", "--bundle", bundle, "gpuhelper-setup", NULL };
	posix_spawn_file_actions_t actions;
	char said[SAID_MAX];
	int out[2], status = -1, err;
	bool ended;
	pid_t pid;

	/* if whoever started us ignores this signal, the kernel keeps no exit status for waitpid(2) */
	(void)signal(SIGCHLD, SIG_DFL);
	if (pipe2(out, O_CLOEXEC) == -1)
		return refuse(why, WHY_AGAIN, "pipe: %s", strerror(errno));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	posix_spawn_file_actions_adddup2(&actions, out[1], 2);
	err = posix_spawn(&pid, WRAPPER, &actions, NULL, (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(out[1]);
	if (err != 0) {
		close(out[0]);
		return refuse(why, WHY_IO, WRAPPER ": %s", strerror(err));
	}
	if (!(ended = hear(out[0], said)))
		(void)kill(pid, SIGKILL);
	close(out[0]);
	(void)waitpid(pid, &status, 0);
	if (ended && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return refuse(why, WHY_CONFIG, "a container of its own could not be run%s (gpuhelperctl doctor): %.300s", ended ? "" :
	    " within 30 s", said);
}

int
setup_try(struct why *why)
{
	char name[sizeof(SETUP_DIR)], state[sizeof(name) + 8];
	autoclose int dir = setup_dir(name, why);
	int ret;

	if (dir == -1)
		return -1;
	snprintf(state, sizeof(state), "%s/state", name);
	if ((ret = make_bundle(dir, why)) == 0)
		ret = run(state, name, why);
	remove_bundle(dir);
	(void)rmdir(name);
	if (ret == 0)
		say("trial: a container of its own ran, by gpuhelper-runc and the runtime");
	return ret;
}
