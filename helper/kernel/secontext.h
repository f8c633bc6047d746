/*
 * SELinux labels as text, «user:role:type:level» (selinux(8), «security context»), and MCS levels: a
 * sensitivity and categories, «s0:c12,c345».
 */
#ifndef GPUHELPER_KERNEL_SECONTEXT_H
#define GPUHELPER_KERNEL_SECONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#define SECONTEXT_MAX 256	/* including the NUL; longer labels are refused */
#define SECONTEXT_CATEGORIES 1024	/* in the policies of Fedora, RHEL and Debian */

#define SECONTEXT_CONTAINER_TYPE "nvidia_container_t"	/* if a policy names none */
#define SECONTEXT_FILE_TYPE "container_file_t"		/* of containers' files, in container-selinux and refpolicy */
#define SECONTEXT_DEVICE_TYPE "gpuhelper_device_t"	/* selinux/gpuhelper.te */

struct secontext {
	char user[64], role[64], type[128], level[128];	/* level: "" if the host's policy has none */
};

/* Parses a label. False if a part is empty, has a wrong character, or is too long. */
bool secontext_parse(const char *text, struct secontext *out);
/* False if it does not fit. */
bool secontext_format(const struct secontext *c, char out[SECONTEXT_MAX]);

/* True for an identifier, such as a type. */
bool secontext_is_type(const char *s);

/* Which categories a level has. */
enum level_kind {
	LEVEL_WRONG,		/* not a level */
	LEVEL_PLAIN,		/* no categories: accessible to every container */
	LEVEL_CATEGORIES,	/* one or more, each named */
	LEVEL_RANGE,		/* «s0-s0:c0.c1023», «s0:c0.c3»: more than a single container gets */
};
enum level_kind level_kind(const char *level);

/* The new labels for a granted folder (gpuhelper-policy(5)). */
enum relabel {
	RELABEL_NO,
	RELABEL_SHARED,		/* for all containers */
	RELABEL_PRIVATE,	/* for the container that gets it */
};
/* "no", "shared", "private" */
const char *relabel_name(enum relabel r);

/* The number of different categories; a range counts all that it contains. */
unsigned level_categories(const char *level);
/*
 * True if one level has all categories of the other: its processes may then use the other's files
 * («dominance»). Equal levels are one case. False if one has no categories, so that everyone may.
 */
bool level_overlaps(const char *a, const char *b);

/* Makes a level with two different categories from at least 20 random bits. */
void level_pair(uint32_t random, char out[32]);

#endif
