/*
 * user/mount/volumes.c: a volume counts only for a user who, apart from root, is the only one who can
 * change where it leads. The test makes directories and links of several owners, so it needs root.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tap.h"
#include "user/mount/volumes.h"

#define ROOT 0
#define ANNA 61001
#define BERT 61002

static char top[] = "/tmp/t_volumes.XXXXXX";
static int dir;

static void
make(const char *name, uid_t owner, mode_t mode)
{
	if (mkdirat(dir, name, 0700) == -1 || fchownat(dir, name, owner, owner, AT_SYMLINK_NOFOLLOW) == -1 ||
	    fchmodat(dir, name, mode, 0) == -1)
		exit(2);
}

static void
make_link(const char *name, uid_t owner, const char *target)
{
	if (symlinkat(target, dir, name) == -1 || fchownat(dir, name, owner, owner, AT_SYMLINK_NOFOLLOW) == -1)
		exit(2);
}

/*
 * Checks that the volume TOP/NAME leads to TOP/WANT for this user; with NULL, that it does not
 * count.
 */
static void
leads(const char *name, uid_t caller, const char *want, const char *what)
{
	char volume[300], real[300];
	autofree char *found = NULL;
	struct why why = { 0 };

	snprintf(volume, sizeof(volume), "%s/%s", top, name);
	if (volume_resolve(volume, caller, &found, &why) == -1) {
		if (!ok(want == NULL && found == NULL && why.text[0] != '\0',
		    "%s does not count", what))
			printf("# %s\n", why.text);
		return;
	}
	snprintf(real, sizeof(real), "%s/%s", top, want != NULL ? want : "(nothing)");
	is_str(found, real, "%s counts", what);
}

static void
directories(void)
{
	make("roots", ROOT, 0711);
	make("roots/store", ROOT, 0700);
	make("group", ROOT, 0775);
	make("group/store", ROOT, 0755);
	make("sticky", ROOT, 01777);
	make("sticky/root", ROOT, 0755);
	make("sticky/bert", BERT, 0755);
	make("anna", ANNA, 0755);
	make("anna/store", ANNA, 0700);
	make("anna/shared", ANNA, 0777);
	make("anna/roots", ROOT, 0755);
	leads("roots/store", ROOT, "roots/store", "root's directory, for root,");
	leads("roots/store", ANNA, "roots/store", "root's directory, for a user,");
	leads("roots//./store/", ROOT, "roots/store", "root's directory in another spelling");
	leads("roots/nothing", ROOT, NULL, "a missing directory");
	leads("group/store", ROOT, NULL, "a directory in one that a group may write");
	leads("sticky/root", ROOT, "sticky/root", "root's directory in a sticky one");
	leads("sticky/bert", ROOT, NULL, "a user's directory in a sticky one, for root,");
	leads("sticky/bert", ANNA, NULL, "a user's directory in a sticky one, for another user,");
	leads("sticky/bert", BERT, "sticky/bert",
	    "a user's directory in a sticky one, for its owner,");
	leads("anna/store", ANNA, "anna/store", "a user's storage, for its owner,");
	leads("anna/store", ROOT, NULL, "a user's storage, for root,");
	leads("anna/store", BERT, NULL, "a user's storage, for another user,");
	leads("anna/roots", ROOT, NULL, "root's directory in a user's, for root,");
	leads("anna/shared", ANNA, "anna/shared",
	    "a directory that others may write, for its owner,");
	leads("anna/shared", BERT, NULL, "a directory that others may write, for another user,");
}

static void
links(void)
{
	char absolute[300];

	snprintf(absolute, sizeof(absolute), "%s/roots", top);
	make_link("to-roots", ROOT, absolute);
	make_link("anna/to-roots", ANNA, absolute);
	make_link("anna/to-bert", ANNA, "../bert");
	make_link("roots-to-anna", ROOT, "anna/store");
	make_link("circle", ROOT, "circle");
	make("bert", BERT, 0755);
	make("bert/own", BERT, 0700);
	leads("to-roots/store", ROOT, "roots/store", "root's link to root's directory");
	leads("anna/to-roots", ROOT, NULL, "a user's link to root's directory, for root,");
	leads("anna/to-roots", BERT, NULL, "a user's link to root's directory, for another user,");
	leads("anna/to-roots/store", ANNA, "roots/store",
	    "a user's link to root's directory, for its owner,");
	leads("anna/to-bert", BERT, NULL,
	    "a user's link to another user's directory, for the other,");
	leads("anna/to-bert/own", BERT, NULL, "a directory beneath such a link, for the other,");
	leads("anna/to-bert", ANNA, NULL,
	    "a user's link to another user's directory, for the link's owner,");
	leads("roots-to-anna", ANNA, "anna/store",
	    "root's link to a user's storage, for that user,");
	leads("roots-to-anna", ROOT, NULL, "root's link to a user's storage, for root,");
	leads("circle", ROOT, NULL, "a link to itself");
}

static void
settings_of_two(void)
{
	char anna[300], roots[300], path[320], *v[] = { anna, roots };
	const struct settings s = { .volumes = { v, 2 } };

	snprintf(anna, sizeof(anna), "%s/anna/to-roots", top);
	snprintf(roots, sizeof(roots), "%s/group", top);
	snprintf(path, sizeof(path), "%s/roots/store", top);
	ok(volumes_have(&s, path, ANNA), "of several volumes, one that counts is enough");
	ok(!volumes_have(&s, path, ROOT), "for root, none of the volumes counts");
	snprintf(path, sizeof(path), "%s/roots", top);
	ok(!volumes_have(&s, path, ANNA), "the volume itself is not accepted as a root filesystem");
}

int
main(void)
{
	if (geteuid() != 0)
		skip_all("this test needs root: it makes files of several owners");
	if (mkdtemp(top) == NULL || chmod(top, 0755) == -1 || (dir = open(top, O_RDONLY | O_DIRECTORY)) == -1)
		exit(2);
	directories();
	links();
	settings_of_two();
	if (system(NULL) != 0) {
		char command[340];

		snprintf(command, sizeof(command), "rm -rf %s", top);
		(void)!system(command);
	}
	return done_testing();
}
