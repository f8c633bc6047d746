/*
 * For the files that read CDI specs: cdifield.c reads values, cdiread.c reads a spec by means of them, and
 * cdisafe.c and cdimount.c check each value that was read.
 */
#ifndef GPUHELPER_READ_CDI_CDIREAD_H
#define GPUHELPER_READ_CDI_CDIREAD_H

#include "../../cdi/cdi.h"
#include "cditree.h"

struct cdi_reading {
	const struct cdit *t;
	struct cdi_faults *f;
	unsigned version;	/* index of a known version; CDI_VERSIONS if the version is unknown */
	char path[CDI_PATH_MAX];	/* of the value at hand, cut to this size */
	size_t len;
	bool in_hook;		/* the value is of a hook */
};

/* Adds a fault of the value n, or of its member if that is present. */
void cdi_invalid(struct cdi_reading *r, uint32_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void cdi_unsafe(struct cdi_reading *r, uint32_t n, const char *member, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* A key of an object, and the function that reads its value to base + offset. */
struct cdi_field {
	const char *name;	/* NULL ends the list */
	void (*read)(struct cdi_reading *r, uint32_t n, void *out);
	size_t offset;
	bool required;
};
#define CDI_FIELDS_MAX 9

/* Appends a member or an element to the path. cdi_leave() with the returned value removes it again. */
size_t cdi_enter(struct cdi_reading *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cdi_leave(struct cdi_reading *r, size_t before);

/*
 * Each of these adds a fault if the value is of another kind or out of range. It then returns false, or
 * leaves *out alone.
 */
bool cdi_is(struct cdi_reading *r, uint32_t n, enum cdit_kind kind);
bool cdi_read_fields(struct cdi_reading *r, uint32_t n, const struct cdi_field *fields, void *base);
bool cdi_copy_string(struct cdi_reading *r, uint32_t n, char **out);
bool cdi_read_i64_in(struct cdi_reading *r, uint32_t n, int64_t min, int64_t max, int64_t *out);
void cdi_read_string(struct cdi_reading *r, uint32_t n, void *out);		/* char * */
void cdi_read_full_string(struct cdi_reading *r, uint32_t n, void *out);	/* not empty */
void cdi_read_i64(struct cdi_reading *r, uint32_t n, void *out);		/* struct cdi_i64 */
void cdi_read_u32(struct cdi_reading *r, uint32_t n, void *out);		/* struct cdi_u32 */
void cdi_read_strings(struct cdi_reading *r, uint32_t n, void *out);		/* struct strlist */
/* Reads a list of strings. Calls «check» (may be NULL) for each. */
void cdi_read_list(struct cdi_reading *r, uint32_t n, struct strlist *out, void (*check)(struct cdi_reading *, uint32_t,
    const char *));
/*
 * Allocates the elements of a list, which the caller frees, and calls «each» to read each one. NULL with
 * *count 0 if the list is empty or not a list.
 */
void *cdi_read_objects(struct cdi_reading *r, uint32_t n, size_t size, size_t *count, void (*each)(struct cdi_reading *,
    uint32_t, void *));

/*
 * These functions add a CDI_UNSAFE fault (in a hook CDI_UNSAFE_HOOK) for each thing that CDI allows and a privileged
 * user of the spec must not do. «n» is the value's node. Members may be NULL if they were invalid.
 */
/* True if further checks of the path make sense. */
bool cdi_path_ok(struct cdi_reading *r, uint32_t n, const char *member, const char *path);
void cdi_check_text(struct cdi_reading *r, uint32_t n, const char *s);
void cdi_check_env(struct cdi_reading *r, uint32_t n, const char *s);
void cdi_check_kind(struct cdi_reading *r, uint32_t n, const char *kind);
void cdi_check_annotations(struct cdi_reading *r, uint32_t n, const struct cdi_annotations *a);
void cdi_check_devnode(struct cdi_reading *r, uint32_t n, const struct cdi_devnode *d);
void cdi_check_mount(struct cdi_reading *r, uint32_t n, const struct cdi_mount *m);
void cdi_check_option(struct cdi_reading *r, uint32_t n, const char *s);
void cdi_check_gid(struct cdi_reading *r, uint32_t n, uint32_t gid);
void cdi_check_hook(struct cdi_reading *r, uint32_t n, const struct cdi_hook *h);
void cdi_check_rdt(struct cdi_reading *r, uint32_t n, const struct cdi_rdt *t);
void cdi_check_netdev(struct cdi_reading *r, uint32_t n, const struct cdi_netdev *d);

#endif
