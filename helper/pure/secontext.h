/*
 * SELinux labels as text, «user:role:type:level» (selinux(8), the «security
 * context»), and of their levels what MCS makes of them: a sensitivity and
 * categories, «s0:c12,c345».
 */
#ifndef GPUHELPER_PURE_SECONTEXT_H
#define GPUHELPER_PURE_SECONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#define SECONTEXT_MAX 256	/* with its NUL; longer ones are refused */
#define SECONTEXT_CATEGORIES 1024	/* of the policies of Fedora, RHEL and Debian */

#define SECONTEXT_CONTAINER_TYPE "nvidia_container_t"	/* where a policy names none */
#define SECONTEXT_FILE_TYPE "container_file_t"		/* what containers' files are, in container-selinux and refpolicy */
#define SECONTEXT_DEVICE_TYPE "gpuhelper_device_t"	/* selinux/gpuhelper.te */

struct secontext {
	char user[64], role[64], type[128], level[128];	/* level: "" where the policy knows none */
};

/* False for what is no label: an empty part, a character that none has, too long. */
bool secontext_parse(const char *text, struct secontext *out);
/* False if it does not fit. */
bool secontext_format(const struct secontext *c, char out[SECONTEXT_MAX]);

/* An identifier, as types are. */
bool secontext_is_type(const char *s);

/* What a level says of categories. */
enum level_kind {
	LEVEL_WRONG,		/* it is no level */
	LEVEL_PLAIN,		/* a sensitivity without categories: everyone's */
	LEVEL_CATEGORIES,	/* one or more, named one by one */
	LEVEL_RANGE,		/* «s0-s0:c0.c1023», «s0:c0.c3»: more than what one container has */
};
enum level_kind level_kind(const char *level);

/* What a folder that is given out is labelled anew as (gpuhelper-policy(5)). */
enum relabel {
	RELABEL_NO,
	RELABEL_SHARED,		/* for every container */
	RELABEL_PRIVATE,	/* for the one that has it */
};
/* "no", "shared", "private" */
const char *relabel_name(enum relabel r);
/* What a file of label «has» is labelled then, «level» being the container's; false if it is none, or gets too long. */
bool secontext_relabel(const char *has, enum relabel how, const char *level, char out[SECONTEXT_MAX]);

/* How many different categories it has; ranges count as what they hold. */
unsigned level_categories(const char *level);
/*
 * Has one of them all the categories of the other?  Then who has those may use
 * what the other has («dominance»): equal ones are only one case.  False where
 * one has none, which is everyone's.
 */
bool level_overlaps(const char *a, const char *b);

/* Two different categories from 20 random bits and more. */
void level_pair(uint32_t random, char out[32]);

#endif
