/*
 * The least work that any such wrapper must do: reads config.json, starts one program and waits for it
 * (FLOOR_STARTS=PATH; none if unset), writes config.json again, executes the runtime.
 *
 *   floor RUNTIME-ARGUMENTS...		with FLOOR_RUNTIME=PATH, in the bundle
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int
start(char *path)
{
	char *argv[] = { path, NULL }, *envp[] = { NULL };
	pid_t pid;
	int st;

	return posix_spawn(&pid, path, NULL, NULL, argv, envp) == 0 && waitpid(pid, &st, 0) == pid && st == 0 ? 0 : -1;
}

static int
write_anew(const char *text, size_t len)
{
	int fd = open(".config.json.new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd != -1 && write(fd, text, len) == (ssize_t)len && close(fd) == 0 &&
	    rename(".config.json.new", "config.json") == 0 ? 0 : -1;
}

int
main(int argc, char **argv)
{
	char *program = getenv("FLOOR_STARTS"), *runtime = getenv("FLOOR_RUNTIME"), *text;
	int fd = open("config.json", O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (argc < 1 || runtime == NULL || fd == -1 || fstat(fd, &st) == -1 || (text = malloc((size_t)st.st_size)) == NULL ||
	    read(fd, text, (size_t)st.st_size) != st.st_size)
		return 1;
	close(fd);
	if ((program != NULL && start(program) == -1) || write_anew(text, (size_t)st.st_size) == -1)
		return 1;
	execve(runtime, argv, environ);
	return 1;
}
