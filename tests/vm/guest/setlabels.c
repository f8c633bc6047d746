/*
 * In the initrd, before a policy is loaded: labels the files in the lines «PATH LABEL» of standard input, beneath
 * argv[1].
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

int
main(int argc, char **argv)
{
	char line[4096], path[4200], *label;
	int ret = 0;

	while (argc == 2 && fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if ((label = strchr(line, ' ')) == NULL)
			return 1;
		*label++ = '\0';
		snprintf(path, sizeof(path), "%s%s", argv[1], line);
		if (lsetxattr(path, "security.selinux", label, strlen(label) + 1, 0) == -1) {
			fprintf(stderr, "setlabels: %s: %s\n", path, strerror(errno));
			ret = 1;
		}
	}
	return ret;
}
