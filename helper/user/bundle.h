/* config.json of a bundle: read whole, replaced whole. */
#ifndef GPUHELPER_USER_BUNDLE_H
#define GPUHELPER_USER_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "../pure/why.h"

#define BUNDLE_CONFIG_MAX (4 * 1024 * 1024)

struct bundle {
	int dir;		/* the bundle, open for reading */
	char *path;		/* resolved */
	char *text;		/* of config.json, terminated */
	size_t len;
	struct stat st;		/* of the file that was read */
};

/* Opens the bundle (NULL: the current directory) and reads its config.json: a regular file, no link, at most 4 MiB. */
int bundle_open(const char *path, struct bundle *b, struct why *why);

/*
 * Writes the new text beside config.json, durably, under a name of its own.
 * bundle_commit() then puts it in place if config.json is still what was read;
 * bundle_close() removes it where that never came.  It has the owner, group and
 * mode of config.json, and is for its owner alone where it is «secret», or the
 * owner or group can't be kept.
 */
int bundle_stage(struct bundle *b, const char *text, size_t len, bool secret, char staged[64], struct why *why);
int bundle_commit(struct bundle *b, const char *staged, struct why *why);
void bundle_discard(struct bundle *b, const char *staged);
void bundle_close(struct bundle *b);

#endif
