/*
 * POSIX ACLs (acl(5)) in the kernel's form, the value of system.posix_acl_access
 * (include/uapi/linux/posix_acl_xattr.h, version 2): a header, then the entries sorted by tag and id,
 * little-endian.
 */
#ifndef GPUHELPER_KERNEL_POSIXACL_H
#define GPUHELPER_KERNEL_POSIXACL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POSIXACL_XATTR "system.posix_acl_access"
#define POSIXACL_SIZE_MAX 65536		/* bytes: XATTR_SIZE_MAX of include/uapi/linux/limits.h */

/* The kernel's numbers (include/uapi/linux/posix_acl.h). */
enum posixacl_tag {
	POSIXACL_OWNER = 0x01,
	POSIXACL_USER = 0x02,		/* named */
	POSIXACL_OWNING_GROUP = 0x04,
	POSIXACL_GROUP = 0x08,		/* named */
	POSIXACL_MASK = 0x10,
	POSIXACL_OTHER = 0x20,
};

struct posixacl_entry {
	enum posixacl_tag tag;
	unsigned bits;			/* R_OK, W_OK, X_OK */
	uint32_t id;			/* of a named user or group */
};

struct posixacl {
	struct posixacl_entry *v;	/* in the kernel's order */
	size_t n;
};

/* Parses such a value. False, with *out empty, if it is malformed or memory is short. */
bool posixacl_decode(const void *value, size_t size, struct posixacl *out);
/* Makes such a value of *size bytes. The caller frees it; NULL if memory is short. */
void *posixacl_encode(const struct posixacl *a, size_t *size);
/* Makes the ACL that a mode means. False if memory is short. */
bool posixacl_of_mode(uint32_t mode, struct posixacl *out);
void posixacl_free(struct posixacl *a);
#define autoposixacl __attribute__((cleanup(posixacl_free)))

/*
 * The entry with that tag and, for tags with ids, that id; NULL if there is none. Valid until entries are
 * added or removed.
 */
struct posixacl_entry *posixacl_find(const struct posixacl *a, enum posixacl_tag tag, uint32_t id);
/* Adds an entry in its place; one of that tag and id must not exist yet. False if memory is short. */
bool posixacl_add(struct posixacl *a, enum posixacl_tag tag, uint32_t id, unsigned bits);
/* Removes an entry that posixacl_find() returned. */
void posixacl_remove(struct posixacl *a, struct posixacl_entry *e);
/* True for tags whose entries have ids. */
bool posixacl_is_named(enum posixacl_tag tag);

#endif
