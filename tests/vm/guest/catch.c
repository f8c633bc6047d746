/*
 * catch FOLDER TYPE: waits until a process «gpuhelper-label» has a file beneath FOLDER open while FOLDER is labelled
 * TYPE; stops the process and prints its PID.  Fails after some seconds, or if FOLDER's label has changed once the
 * process has stopped.
 */
#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static int
is_labelled(const char *folder, const char *type)
{
	char label[256] = "", wanted[128];

	snprintf(wanted, sizeof(wanted), ":%s:", type);
	return getxattr(folder, "security.selinux", label, sizeof(label) - 1) > 0 && strstr(label, wanted) != NULL;
}

static int
is_labeller(const char *pid)
{
	char path[64], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	if ((f = fopen(path, "r")) == NULL)
		return 0;
	(void)!fgets(name, sizeof(name), f);
	fclose(f);
	return strcmp(name, "gpuhelper-label\n") == 0;
}

static int
has_open(const char *pid, const char *folder)
{
	char path[64], link[4096];
	struct dirent *e;
	int found = 0;
	ssize_t n;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
	if ((d = opendir(path)) == NULL)
		return 0;
	while (!found && (e = readdir(d)) != NULL)
		if ((n = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1)) > 0) {
			link[n] = '\0';
			found = strncmp(link, folder, strlen(folder)) == 0 && link[strlen(folder)] == '/';
		}
	closedir(d);
	return found;
}

int
main(int argc, char **argv)
{
	time_t end = time(NULL) + 20;
	struct dirent *e;
	DIR *d;

	if (argc != 3 || (d = opendir("/proc")) == NULL)
		return 2;
	for (; time(NULL) < end; rewinddir(d))
		while ((e = readdir(d)) != NULL) {
			if (!isdigit((unsigned char)e->d_name[0]) || !is_labeller(e->d_name) || !has_open(e->d_name, argv[1]) ||
			    !is_labelled(argv[1], argv[2]))
				continue;
			kill(atoi(e->d_name), SIGSTOP);
			usleep(10000);
			printf("%s\n", e->d_name);
			return !is_labelled(argv[1], argv[2]);
		}
	return 1;
}
