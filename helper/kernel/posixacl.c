/*
 * See posixacl.h. Assumes nothing about a value's size and numbers, which come from the kernel or a file
 * system.
 */
#include "posixacl.h"

#include <stdlib.h>
#include <string.h>

#define VERSION 2
#define HEAD_SIZE 4
#define ENTRY_SIZE 8	/* 16 bits of tag, 16 of permissions, 32 of id */
#define NO_ID UINT32_MAX

static uint32_t
get(const unsigned char *p, unsigned bytes)
{
	uint32_t n = 0;

	while (bytes-- > 0)
		n = n << 8 | p[bytes];
	return n;
}

static void
put_little_endian(unsigned char *p, unsigned bytes, uint32_t n)
{
	unsigned i;

	for (i = 0; i < bytes; i++, n >>= 8)
		p[i] = n & 0xff;
}

static bool
is_tag(uint32_t n)
{
	return n == POSIXACL_OWNER || n == POSIXACL_USER || n == POSIXACL_OWNING_GROUP || n == POSIXACL_GROUP ||
	    n == POSIXACL_MASK || n == POSIXACL_OTHER;
}

bool
posixacl_is_named(enum posixacl_tag tag)
{
	return tag == POSIXACL_USER || tag == POSIXACL_GROUP;
}

bool
posixacl_decode(const void *value, size_t size, struct posixacl *out)
{
	const unsigned char *p = value;
	uint32_t tag, bits;
	size_t i, n;

	*out = (struct posixacl){ .v = NULL };
	if (size < HEAD_SIZE || (size - HEAD_SIZE) % ENTRY_SIZE != 0 || size > POSIXACL_SIZE_MAX || get(p, 4) != VERSION)
		return false;
	n = (size - HEAD_SIZE) / ENTRY_SIZE;
	if ((out->v = calloc(n + 1, sizeof(*out->v))) == NULL)
		return false;
	for (i = 0, p += HEAD_SIZE; i < n; i++, p += ENTRY_SIZE) {
		tag = get(p, 2);
		bits = get(p + 2, 2);
		if (!is_tag(tag) || bits > 7) {
			posixacl_free(out);
			return false;
		}
		out->v[out->n++] = (struct posixacl_entry){ (enum posixacl_tag)tag, bits, get(p + 4, 4) };
	}
	return true;
}

void *
posixacl_encode(const struct posixacl *a, size_t *size)
{
	unsigned char *value, *p;
	size_t i;

	*size = HEAD_SIZE + a->n * ENTRY_SIZE;
	if ((value = malloc(*size)) == NULL)
		return NULL;
	put_little_endian(value, 4, VERSION);
	for (i = 0, p = value + HEAD_SIZE; i < a->n; i++, p += ENTRY_SIZE) {
		put_little_endian(p, 2, a->v[i].tag);
		put_little_endian(p + 2, 2, a->v[i].bits);
		put_little_endian(p + 4, 4, posixacl_is_named(a->v[i].tag) ? a->v[i].id : NO_ID);
	}
	return value;
}

bool
posixacl_of_mode(uint32_t mode, struct posixacl *out)
{
	*out = (struct posixacl){ .v = NULL };
	if (posixacl_add(out, POSIXACL_OWNER, NO_ID, mode >> 6 & 7) &&
	    posixacl_add(out, POSIXACL_OWNING_GROUP, NO_ID, mode >> 3 & 7) &&
	    posixacl_add(out, POSIXACL_OTHER, NO_ID, mode & 7))
		return true;
	posixacl_free(out);
	return false;
}

void
posixacl_free(struct posixacl *a)
{
	free(a->v);
	*a = (struct posixacl){ .v = NULL };
}

struct posixacl_entry *
posixacl_find(const struct posixacl *a, enum posixacl_tag tag, uint32_t id)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (a->v[i].tag == tag && (a->v[i].id == id || !posixacl_is_named(tag)))
			return &a->v[i];
	return NULL;
}

static bool
is_before(const struct posixacl_entry *e, enum posixacl_tag tag, uint32_t id)
{
	return e->tag < tag || (e->tag == tag && e->id < id);
}

bool
posixacl_add(struct posixacl *a, enum posixacl_tag tag, uint32_t id, unsigned bits)
{
	struct posixacl_entry *v = reallocarray(a->v, a->n + 1, sizeof(*v));
	size_t at = 0;

	if (v == NULL)
		return false;
	a->v = v;
	while (at < a->n && is_before(&v[at], tag, id))
		at++;
	memmove(&v[at + 1], &v[at], (a->n - at) * sizeof(*v));
	v[at] = (struct posixacl_entry){ tag, bits, id };
	a->n++;
	return true;
}

void
posixacl_remove(struct posixacl *a, struct posixacl_entry *e)
{
	const size_t at = (size_t)(e - a->v);

	a->n--;
	memmove(e, e + 1, (a->n - at) * sizeof(*e));
}
