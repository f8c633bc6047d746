/*
 * Between cdifield.c, which reads values, cdiread.c, which reads a spec with it,
 * and cdisafe.c and cdimount.c, which are asked about each value that was read.
 */
#ifndef GPUHELPER_READ_CDIREAD_H
#define GPUHELPER_READ_CDIREAD_H

#include "../pure/cdi.h"
#include "cditree.h"

struct cdi_reading {
	const struct cdit *t;
	struct cdi_faults *f;
	unsigned version;	/* index into the known ones; CDI_VERSIONS where it is none of them */
	char path[128];		/* of the value at hand; cut where it is longer */
	size_t len;
};

/* A fault of the value n, or of its member where that is there. */
void cdi_invalid(struct cdi_reading *r, uint32_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void cdi_unsafe(struct cdi_reading *r, uint32_t n, const char *member, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* A key of an object, and what reads its value to base + offset. */
struct cdi_field {
	const char *name;	/* NULL ends the list */
	void (*read)(struct cdi_reading *r, uint32_t n, void *out);
	size_t offset;
	bool required;
};
#define CDI_FIELDS_MAX 9

/* Goes down to a member or an element; cdi_leave() with what it returned goes up again. */
size_t cdi_enter(struct cdi_reading *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cdi_leave(struct cdi_reading *r, size_t before);

/* Each is false, or leaves *out alone, with the fault, where the value is another. */
bool cdi_is(struct cdi_reading *r, uint32_t n, enum cdit_kind kind);
bool cdi_read_fields(struct cdi_reading *r, uint32_t n, const struct cdi_field *fields, void *base);
bool cdi_copy_string(struct cdi_reading *r, uint32_t n, char **out);
bool cdi_read_i64_in(struct cdi_reading *r, uint32_t n, int64_t min, int64_t max, int64_t *out);
void cdi_read_string(struct cdi_reading *r, uint32_t n, void *out);		/* char * */
void cdi_read_full_string(struct cdi_reading *r, uint32_t n, void *out);	/* not empty */
void cdi_read_i64(struct cdi_reading *r, uint32_t n, void *out);		/* struct cdi_i64 */
void cdi_read_u32(struct cdi_reading *r, uint32_t n, void *out);		/* struct cdi_u32 */
void cdi_read_strings(struct cdi_reading *r, uint32_t n, void *out);		/* struct strlist */
/* A list of strings, each of which «check» (may be NULL) looks at. */
void cdi_read_list(struct cdi_reading *r, uint32_t n, struct strlist *out, void (*check)(struct cdi_reading *, uint32_t,
    const char *));
/* Room for the elements of a list, which «each» reads one by one; no room and a *count of 0 where there are none. */
void *cdi_read_objects(struct cdi_reading *r, uint32_t n, size_t size, size_t *count, void (*each)(struct cdi_reading *,
    uint32_t, void *));

/*
 * What a privileged user of a spec must not do, though it is CDI: a fault of
 * layer CDI_UNSAFE for each.  n is the value's node; members may be NULL where
 * they were invalid.
 */
bool cdi_path_ok(struct cdi_reading *r, uint32_t n, const char *member, const char *path);	/* may be judged further */
void cdi_judge_text(struct cdi_reading *r, uint32_t n, const char *s);
void cdi_judge_env(struct cdi_reading *r, uint32_t n, const char *s);
void cdi_judge_kind(struct cdi_reading *r, uint32_t n, const char *kind);
void cdi_judge_annotations(struct cdi_reading *r, uint32_t n, const struct cdi_annotations *a);
void cdi_judge_devnode(struct cdi_reading *r, uint32_t n, const struct cdi_devnode *d);
void cdi_judge_mount(struct cdi_reading *r, uint32_t n, const struct cdi_mount *m);
void cdi_judge_option(struct cdi_reading *r, uint32_t n, const char *s);
void cdi_judge_gid(struct cdi_reading *r, uint32_t n, uint32_t gid);
void cdi_judge_hook(struct cdi_reading *r, uint32_t n, const struct cdi_hook *h);
void cdi_judge_rdt(struct cdi_reading *r, uint32_t n, const struct cdi_rdt *t);
void cdi_judge_netdev(struct cdi_reading *r, uint32_t n, const struct cdi_netdev *d);

#endif
