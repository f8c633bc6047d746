/* Reads the config.json of a bundle, and replaces it in one rename. */
#ifndef GPUHELPER_USER_SPEC_BUNDLE_H
#define GPUHELPER_USER_SPEC_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "../../base/why.h"

#define BUNDLE_CONFIG_MAX (4 * 1024 * 1024)

struct bundle {
	int dir;		/* the bundle, open for reading */
	char *path;		/* absolute, without links; owned */
	char *text;		/* of config.json, with a NUL at the end; owned */
	size_t len;
	struct stat st;		/* of the file that was read */
};

/*
 * Opens the bundle (NULL: the current directory) and reads its config.json: a regular file with one link, of
 * at most 4 MiB. Returns 0, or -1 with *why. The caller calls bundle_close() in any case.
 */
int bundle_open(const char *path, struct bundle *b, struct why *why);

/* The users who may read the new config.json. */
struct bundle_readers {
	bool secret;		/* the text has variables that group and others must not read */
	bool hook;		/* except a hook, which reads the file as root of the container's user namespace */
	bool mapped;		/* that root's ids are known: the next two, as the caller sees them */
	uint32_t uid, gid;
};

/*
 * bundle_stage() writes the new text to a file beside config.json and that file's name to *staged. The file has the
 * owner, group and mode of config.json. Only its owner can read it if the text is secret, or if owner and group can't
 * be kept. A hook's user that could read config.json can still read a secret text, by its group if it is not the owner.
 * If that is not possible, the text is refused. bundle_commit() renames the file to config.json if config.json is
 * unchanged since it was read. Otherwise it removes the file. bundle_discard() removes it, for a caller that does not
 * commit. The first two return 0, or -1 with *why.
 */
int bundle_stage(struct bundle *b, const char *text, size_t len, const struct bundle_readers *readers, char staged[64],
    struct why *why);
int bundle_commit(struct bundle *b, const char *staged, struct why *why);
void bundle_discard(struct bundle *b, const char *staged);
void bundle_close(struct bundle *b);

#endif
