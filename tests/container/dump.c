/*
 * Stands in for the runtime below the wrapper, to record what reaches it.  Prints argv, environment, directory,
 * descriptors, PDEATHSIG and ignored signals to the file that DUMP_TO names.  With DUMP_LEAVES, a cgroup.procs file,
 * it leaves a process in that cgroup, like a container's first process.  Other tests show what real runtimes do.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

extern char **environ;

int
main(int argc, char **argv)
{
	const char *to = getenv("DUMP_TO"), *status = getenv("DUMP_STATUS");
	char cwd[4096], link[4096], path[64];
	struct sigaction sa;
	struct dirent *e;
	int sig = 0, leaves = 0, i;
	ssize_t n;
	FILE *f;
	DIR *d;

	if (to == NULL || (f = fopen(to, "we")) == NULL)
		return 99;
	for (i = 0; i < argc; i++)
		fprintf(f, "arg %s\n", argv[i]);
	for (i = 0; environ[i] != NULL; i++)
		fprintf(f, "env %s\n", environ[i]);
	fprintf(f, "cwd %s\n", getcwd(cwd, sizeof(cwd)));
	fprintf(f, "ppid %d\npid %d\n", getppid(), getpid());
	prctl(PR_GET_PDEATHSIG, &sig);
	fprintf(f, "pdeathsig %d\n", sig);
	for (i = 1; i < NSIG; i++)
		if (sigaction(i, NULL, &sa) == 0 && sa.sa_handler == SIG_IGN)
			fprintf(f, "ignored %d\n", i);
	d = opendir("/proc/self/fd");
	while (d != NULL && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.' || atoi(e->d_name) == fileno(f) || atoi(e->d_name) == dirfd(d))
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%.20s", e->d_name);
		n = readlink(path, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = '\0';
		fprintf(f, "fd %s %s\n", e->d_name, link);
	}
	fclose(f);
	if (getenv("DUMP_LEAVES") != NULL && (leaves = fork()) == 0) {
		setsid();
		close(0);
		close(1);
		close(2);
		sleep(3);
		_exit(0);
	}
	if (leaves > 0 && (f = fopen(getenv("DUMP_LEAVES"), "w")) != NULL) {
		fprintf(f, "%d", leaves);
		fclose(f);
	}
	if (getenv("DUMP_SLEEP") != NULL)
		pause();
	return status != NULL ? atoi(status) : 0;
}
