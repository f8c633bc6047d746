/*
 * kernel/posixacl.c and host/inodeacl.c. The first value is what the kernel stored when setfacl(1) of
 * acl 2.3 set u:1000:rw, u:5:r, g:7:rwx and m:rw on a file of mode 0640. The test also checks that
 * the kernel accepts our values.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "host/file.h"
#include "host/inodeacl.h"
#include "kernel/posixacl.h"
#include "tap.h"

#define SIZE 60		/* of the value, without the zero byte that C adds */
static const unsigned char real[SIZE + 1] = "\2\0\0\0" "\1\0\6\0\377\377\377\377" "\2\0\4\0\5\0\0\0" "\2\0\6\0\350\3\0\0"
    "\4\0\4\0\377\377\377\377" "\10\0\7\0\7\0\0\0" "\20\0\6\0\377\377\377\377" "\40\0\0\0\377\377\377\377";

static void
test_decode(void)
{
	static const struct posixacl_entry want[] = { { POSIXACL_OWNER, 6, UINT32_MAX }, { POSIXACL_USER, 4, 5 },
		{ POSIXACL_USER, 6, 1000 }, { POSIXACL_OWNING_GROUP, 4, UINT32_MAX }, { POSIXACL_GROUP, 7, 7 },
		{ POSIXACL_MASK, 6, UINT32_MAX }, { POSIXACL_OTHER, 0, UINT32_MAX } };
	struct posixacl a;
	size_t i, size;
	void *again;

	if (!ok(posixacl_decode(real, SIZE, &a) && a.n == 7, "a value from setfacl is decoded"))
		return;
	for (i = 0; i < a.n; i++)
		ok(a.v[i].tag == want[i].tag && a.v[i].bits == want[i].bits &&
		    a.v[i].id == want[i].id,
		    "the value's entry %zu is right", i);
	again = posixacl_encode(&a, &size);
	ok(again != NULL && size == SIZE && memcmp(again, real, size) == 0,
	    "the value is encoded to the same bytes");
	ok(posixacl_find(&a, POSIXACL_USER, 1000) == &a.v[2] && posixacl_find(&a, POSIXACL_USER, 7) == NULL &&
	    posixacl_find(&a, POSIXACL_MASK, 12) == &a.v[5],
	    "an entry is found by its tag, and a named one also by its id");
	free(again);
	posixacl_free(&a);
}

static void
test_refused(void)
{
	unsigned char v[SIZE];
	struct posixacl a;
	size_t i;
	int taken = 0;

	for (i = 0; i < SIZE; i++)
		if (i % 8 != 4)
			taken += posixacl_decode(real, i, &a) || a.v != NULL;
	is_int(taken, 0, "a truncated entry is refused");
	ok(posixacl_decode(real, 4, &a) && a.n == 0, "a header alone has no entries");
	posixacl_free(&a);
	/* the header's version, and an entry's tag and bits; every id is valid */
	for (i = 0; i < 8; i++) {
		memcpy(v, real, sizeof(v));
		v[i < 4 ? i : i + 8] ^= 0x48;
		ok(!posixacl_decode(v, sizeof(v), &a) && a.v == NULL,
		    "another version, tag or bits are refused: byte %zu", i < 4 ? i : i + 8);
		posixacl_free(&a);
	}
}

static void
test_changes(void)
{
	autoposixacl struct posixacl a = { .v = NULL };
	struct posixacl_entry *e;
	size_t size;
	void *value;

	ok(posixacl_of_mode(0640, &a) && a.n == 3 && a.v[0].bits == 6 && a.v[1].bits == 4 &&
	    a.v[2].bits == 0,
	    "a mode becomes three entries");
	ok(posixacl_add(&a, POSIXACL_MASK, 0, 6) && posixacl_add(&a, POSIXACL_GROUP, 7, 7) && posixacl_add(&a, POSIXACL_USER, 1000, 6) &&
	    posixacl_add(&a, POSIXACL_USER, 5, 4), "entries are added in any order");
	value = posixacl_encode(&a, &size);
	ok(value != NULL && size == SIZE && memcmp(value, real, size) == 0,
	    "they are encoded in the kernel's order");
	free(value);
	if ((e = posixacl_find(&a, POSIXACL_USER, 5)) != NULL)
		posixacl_remove(&a, e);
	ok(a.n == 6 && posixacl_find(&a, POSIXACL_USER, 5) == NULL &&
	    posixacl_find(&a, POSIXACL_USER, 1000) == &a.v[1],
	    "an entry is removed");
}

/* On a real inode, through an O_PATH descriptor. */
static void
test_inode(void)
{
	char path[] = "/tmp/t_posixacl.XXXXXX", name[FILE_LINK_MAX];
	int made = mkstemp(path), fd = open(path, O_PATH | O_CLOEXEC);
	struct posixacl a = { .v = NULL };
	struct stat st;
	size_t size;
	void *value;

	ok(made != -1 && fd != -1 && fchmod(made, 0640) == 0, "a file in /tmp is made");
	ok(inode_acl_read(fd, &a) && a.n == 3 && a.v[1].bits == 4,
	    "an inode without an ACL has the entries of its mode");
	ok(posixacl_add(&a, POSIXACL_USER, 1000, 6) && posixacl_add(&a, POSIXACL_MASK, 0, 6),
	    "a named user and a mask are added");
	value = posixacl_encode(&a, &size);
	posixacl_free(&a);
	if (value != NULL && setxattr(file_link(fd, name), POSIXACL_XATTR, value, size, 0) == -1 && errno == EOPNOTSUPP) {
		skip("the kernel accepts the value", "the file system of /tmp has no ACLs");
	} else {
		ok(inode_acl_read(fd, &a) && a.n == 5 &&
		    posixacl_find(&a, POSIXACL_USER, 1000) != NULL,
		    "the kernel accepts the value");
		ok(fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0660,
		    "the kernel shows the mask as the group's bits");
	}
	free(value);
	posixacl_free(&a);
	close(made);
	close(fd);
	unlink(path);
	errno = 0;
	ok(!inode_acl_read(-1, &a) && errno != 0 && a.v == NULL,
	    "without a descriptor, the read fails");
}

int
main(void)
{
	test_decode();
	test_refused();
	test_changes();
	test_inode();
	return done_testing();
}
