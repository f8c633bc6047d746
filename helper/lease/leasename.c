/* See leasename.h. */
#include "leasename.h"

#include <stdio.h>
#include <string.h>

#include "../base/hash.h"
#include "../base/text.h"

#define KEY_LEN 64
#define HEX "0123456789abcdef"

void
lease_key(uint32_t uid, const char *root, const char *id, char out[LEASE_KEY_SIZE])
{
	char number[16];
	const char *const pieces[] = { number, root, id, NULL };

	snprintf(number, sizeof(number), "%u", uid);
	hash_pieces(pieces, out);
}

void
exec_record_name(const char *root, const char *id, char out[HASH_SIZE])
{
	const char *const pieces[] = { root != NULL ? root : "", id != NULL ? id : "", NULL };

	hash_pieces(pieces, out);
}

/* Three bits of 64, from the text's FNV-1a hash, mixed (splitmix64's last step). */
static uint64_t
bits_of(const char *text)
{
	uint64_t h = 14695981039346656037U;

	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * 1099511628211U;
	h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9U;
	h = (h ^ (h >> 27)) * 0x94d049bb133111ebU;
	h ^= h >> 31;
	return 1ULL << (h & 63) | 1ULL << (h >> 6 & 63) | 1ULL << (h >> 12 & 63);
}

/* All parts of a GPU have the same bits, because a lease of the whole GPU holds all parts. */
static uint64_t
bits_of_gpu(enum gpu_vendor vendor, const char *pci)
{
	char text[64];

	snprintf(text, sizeof(text), "%s %s", gpu_vendor_name(vendor), pci);
	return bits_of(text);
}

static uint64_t
bits_of_node(uint32_t major, uint32_t minor)
{
	char text[32];

	snprintf(text, sizeof(text), "%u:%u", major, minor);
	return bits_of(text);
}

static void
add_bits(struct bloom_query *m, uint64_t bits)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->v[i] == bits)
			return;
	if (m->n == BLOOM_MAX)
		m->any = true;
	else
		m->v[m->n++] = bits;
}

void
bloom_add_gpu(struct bloom_query *m, enum gpu_vendor vendor, const char *pci)
{
	add_bits(m, bits_of_gpu(vendor, pci));
}

void
bloom_add_node(struct bloom_query *m, uint32_t major, uint32_t minor)
{
	add_bits(m, bits_of_node(major, minor));
}

/* A lease whose GPUs may come back will have nodes that are not known yet: it sets all bits. */
static uint64_t
signature_of(const struct lease *l)
{
	uint64_t s = l->gpus_by_task ? UINT64_MAX : 0;
	size_t i;

	for (i = 0; i < l->gpus; i++)
		s |= bits_of_gpu(l->gpu[i].vendor, l->gpu[i].pci);
	for (i = 0; i < l->nodes; i++)
		s |= bits_of_node(l->node[i].major, l->node[i].minor);
	return s;
}

static unsigned
flags_of(const struct lease *l)
{
	return (l->lookups > 0 ? LEASE_LOOKUPS : 0) | (lease_writes_as_root(l) ? LEASE_WRITES : 0) |
	    (l->label[0] != '\0' || l->folders > 0 ? LEASE_LABEL : 0) | (l->reuse_hash[0] != '\0' ? LEASE_REUSE : 0);
}

void
lease_name_make(const struct lease *l, char out[LEASE_NAME_SIZE])
{
	snprintf(out, LEASE_NAME_SIZE, "%s-%u-%x-%016llx", l->key, l->uid, flags_of(l),
	    (unsigned long long)signature_of(l));
}

/* Reads so many hex digits, and the character after them. */
static bool
take_hex(const char **p, size_t digits, char after, uint64_t *out)
{
	uint64_t v = 0;
	size_t i;

	if (strspn(*p, HEX) != digits || (*p)[digits] != after)
		return false;
	for (i = 0; i < digits; i++)
		v = v << 4 | (uint64_t)(strchr(HEX, (*p)[i]) - HEX);
	*p += digits + (after != '\0');
	*out = v;
	return true;
}

static bool
read_parts(const char *text, struct lease_name *out)
{
	const char *p = text + KEY_LEN + 1;
	const size_t digits = strspn(p, "0123456789");
	char uid[16];
	uint64_t flags;

	if (strspn(text, HEX) != KEY_LEN || text[KEY_LEN] != '-' || digits >= sizeof(uid) || p[digits] != '-')
		return false;
	memcpy(uid, p, digits);
	uid[digits] = '\0';
	p += digits + 1;
	if (!text_u32(uid, 0, UINT32_MAX, &out->uid) || !take_hex(&p, 1, '-', &flags) ||
	    !take_hex(&p, 16, '\0', &out->signature))
		return false;
	out->flags = (unsigned)flags;
	return true;
}

bool
lease_name_parse(const char *text, struct lease_name *out)
{
	*out = (struct lease_name){ 0 };
	if (strlen(text) <= KEY_LEN || !read_parts(text, out))
		return false;
	memcpy(out->key, text, KEY_LEN);
	return true;
}

bool
lease_name_covers(const struct lease_name *n, const struct lease *l)
{
	char key[LEASE_KEY_SIZE];

	lease_key(l->uid, l->root, l->id, key);
	return n->uid == l->uid && strcmp(n->key, key) == 0 && (flags_of(l) & ~n->flags) == 0 &&
	    (signature_of(l) & ~n->signature) == 0;
}

bool
lease_name_may_have(const struct lease_name *n, const struct bloom_query *m)
{
	size_t i;

	if (m->any && n->signature != 0)
		return true;
	for (i = 0; i < m->n; i++)
		if ((n->signature & m->v[i]) == m->v[i])
			return true;
	return false;
}
