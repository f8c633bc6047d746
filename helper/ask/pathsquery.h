/*
 * What the helper asks gpuhelper-look about paths, after struct look_query (lookquery.h), and what it answers, after
 * struct look_answer, as lines (lines.h): about the folders and cgroups of a grant, or the files of a driver. A value
 * that was read must be freed in any case.
 */
#ifndef GPUHELPER_ASK_PATHSQUERY_H
#define GPUHELPER_ASK_PATHSQUERY_H

#include "../base/lines.h"
#include "../lease/edits.h"
#include "../lease/leasefile.h"
#include "../policy/policygrant.h"
#include "request.h"

/* A folder of a grant (struct folder_grant), with what its rule says of its mount. */
struct folder_query {
	char *path, *target, *base;
	bool writable, submounts;
	enum relabel relabel;
};

/* For the cgroups of the container that is to be made. */
struct cgroups_query {
	uint32_t asker;	/* the process that will start the runtime; 0: the cgroups are not asked for */
	char *path, *id;	/* linux.cgroupsPath, which may be "" (NULL where it was read), and the container's id */
	bool rootful;		/* its runtime can make cgroups */
	bool by_systemd;	/* by systemd, then */
};

struct paths_query {
	struct cgroups_query cgroups;
	/* of the container's process: ids in the container, and their maps to this host's ids */
	uint32_t uid, gid;
	uint32_t group[REQUEST_GIDS_MAX];
	size_t groups;
	bool dac_override;
	struct idmap uids, gids;
	struct folder_query *folder;
	size_t folders;
	struct policy_set writers;	/* policies that give folders for writing: no folder may lie in one of these */
	struct strlist file;		/* of a driver, instead of folders and cgroups: absolute paths */
};

/* A folder, or the directory of files. */
struct found_path {
	/* the index of the sought folder or file; of several folders with one target, one granted for writing, if any is */
	uint32_t of;
	char *path;		/* of the folder: for a pattern, one that matches */
	struct strlist at;	/* file system paths, as in struct lookup (lease/lookup.h) */
};

/* What is wrong with the way to a driver's file. */
enum file_fault {
	FILE_FAULT_NONE,
	FILE_FAULT_UNSURE,	/* a file system on the way may never answer */
	FILE_FAULT_CLOSED,	/* a directory on the way is not root's, or not open to all */
	FILE_FAULT_UNSEEN,	/* the mounts on the way can't be found */
	FILE_FAULT_MEMORY,
};

struct paths_answer {
	struct why why;			/* not of files: why nothing is given. The caller may get to see it (root/child/looker.h) */
	enum file_fault fault;		/* of files: what is wrong, and the index of the first such file */
	uint32_t at_fault;
	struct found_path *found;	/* folders in the order in which they are to be mounted */
	size_t n;
	struct strlist cgroup;		/* where the container's cgroups may be, relative to /sys/fs/cgroup */
};

void paths_query_lines(struct lines *t, struct paths_query *a);

void paths_answer_lines(struct lines *t, struct paths_answer *a);
void paths_answer_free(struct paths_answer *a);
#define autopathsanswer __attribute__((cleanup(paths_answer_free)))

/*
 * Checks that each path is one that was sought, or matches a pattern that was, and adds the folders' mounts to *e, and
 * the lookup paths of folders or files, and the cgroups, to *l; moves texts from the answer. -1 with *why.
 */
int paths_answer_give(const struct paths_query *asked, struct paths_answer *a, struct edits *e, struct lease *l,
    struct why *why);

#endif
