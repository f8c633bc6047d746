/*
 * POSIX ACLs (acl(5)) in the kernel's own form, which is the value of
 * system.posix_acl_access (include/uapi/linux/posix_acl_xattr.h, version 2): a
 * header, then the entries in the order of their tags and ids, little endian.
 */
#ifndef GPUHELPER_PURE_POSIXACL_H
#define GPUHELPER_PURE_POSIXACL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POSIXACL_XATTR "system.posix_acl_access"
#define POSIXACL_SIZE_MAX 65536		/* bytes: XATTR_SIZE_MAX of include/uapi/linux/limits.h */

/* The numbers are the kernel's (include/uapi/linux/posix_acl.h). */
enum posixacl_tag {
	POSIXACL_OWNER = 0x01,
	POSIXACL_USER = 0x02,		/* a named one */
	POSIXACL_OWNING_GROUP = 0x04,
	POSIXACL_GROUP = 0x08,		/* a named one */
	POSIXACL_MASK = 0x10,
	POSIXACL_OTHER = 0x20,
};

struct posixacl_entry {
	enum posixacl_tag tag;
	unsigned bits;			/* R_OK, W_OK, X_OK, as a mode has them */
	uint32_t id;			/* of a named user or group */
};

struct posixacl {
	struct posixacl_entry *v;	/* in the kernel's order */
	size_t n;
};

/* Reads such a value.  False for what is none, and where there is no memory; *out is then empty. */
bool posixacl_decode(const void *value, size_t size, struct posixacl *out);
/* Makes one of *size bytes, which the caller frees.  NULL: no memory. */
void *posixacl_encode(const struct posixacl *a, size_t *size);
/* The ACL that a mode is.  False: no memory. */
bool posixacl_of_mode(uint32_t mode, struct posixacl *out);
void posixacl_free(struct posixacl *a);
#define autoposixacl __attribute__((cleanup(posixacl_free)))

/*
 * The entry of that tag, and of that id where the tag has one; NULL if there is
 * none.  Valid until entries come or go.
 */
struct posixacl_entry *posixacl_find(const struct posixacl *a, enum posixacl_tag tag, uint32_t id);
/* Adds an entry where it belongs; there is none of that tag and id.  False: no memory. */
bool posixacl_add(struct posixacl *a, enum posixacl_tag tag, uint32_t id, unsigned bits);
/* Takes out an entry, as posixacl_find() gave it. */
void posixacl_remove(struct posixacl *a, struct posixacl_entry *e);
/* The tag is one whose entries have names. */
bool posixacl_is_named(enum posixacl_tag tag);

#endif
