/*
 * Prints the SELinux label that a policy gives to each file beneath a folder that stands for a root directory: «PATH
 * LABEL», with paths relative to that root.  It labels nothing, so it needs no rights; image.sh and vm.sh apply the
 * labels.
 *
 *	label FILE_CONTEXTS FOLDER
 */
#include <ftw.h>
#include <stdio.h>
#include <string.h>

#include <selinux/label.h>
#include <selinux/selinux.h>

static struct selabel_handle *labels;
static size_t root;	/* length of the folder's path */

static int
one(const char *path, const struct stat *st, int type, struct FTW *unused)
{
	const char *there = path[root] != '\0' ? path + root : "/";
	char *label;

	(void)type;
	(void)unused;
	if (strpbrk(there, " \"\\\n") != NULL) {
		fprintf(stderr, "label: \"%s\" can't be written down\n", there);
		return 0;
	}
	if (selabel_lookup_raw(labels, &label, there, (int)st->st_mode) == -1)
		return 0;
	printf("%s %s\n", there, label);
	freecon(label);
	return 0;
}

static int
quiet(int type, const char *fmt, ...)
{
	(void)type;
	(void)fmt;
	return 0;
}

int
main(int argc, char **argv)
{
	struct selinux_opt o = { .type = SELABEL_OPT_PATH };

	if (argc != 3)
		return 64;
	/* libselinux complains about aliases, and about files of newer versions */
	selinux_set_callback(SELINUX_CB_LOG, (union selinux_callback){ .func_log = quiet });
	o.value = argv[1];
	root = strlen(argv[2]);
	if ((labels = selabel_open(SELABEL_CTX_FILE, &o, 1)) == NULL) {
		perror(argv[1]);
		return 1;
	}
	if (nftw(argv[2], one, 32, FTW_PHYS) != 0 || fflush(stdout) != 0) {
		perror(argv[2]);
		return 1;
	}
	return 0;
}
