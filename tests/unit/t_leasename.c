/*
 * lease/leasename.c: a lease's name tells every request whether the lease concerns it, so that no
 * request skips the lease. Also: how names in other forms are treated.
 */
#include "lease/leasename.h"
#include "tap.h"

#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static char id[] = "c1", root[] = "/run/runc";

static struct lease
plain(void)
{
	struct lease l = { .id = id, .root = root, .uid = 1000 };

	lease_key(l.uid, l.root, l.id, l.key);
	return l;
}

static struct leased_gpu
gpu(enum gpu_vendor vendor, unsigned bus, const char *part)
{
	struct leased_gpu g = { .vendor = vendor };

	snprintf(g.pci, sizeof(g.pci), "0000:%02x:00.0", bus);
	snprintf(g.part, sizeof(g.part), "%s", part);
	return g;
}

static struct lease_name
name_of(const struct lease *l)
{
	char text[LEASE_NAME_SIZE];
	struct lease_name n;

	lease_name_make(l, text);
	if (!lease_name_parse(text, &n))
		ok(false, "%s is not read back", text);
	return n;
}

static bool
meets_gpu(const struct lease_name *n, const struct leased_gpu *g)
{
	struct bloom_query m = { 0 };

	bloom_add_gpu(&m, g->vendor, g->pci);
	return lease_name_may_have(n, &m);
}

static bool
meets_node(const struct lease_name *n, uint32_t major, uint32_t minor)
{
	struct bloom_query m = { 0 };

	bloom_add_node(&m, major, minor);
	return lease_name_may_have(n, &m);
}

static void
test_form(void)
{
	struct lease l = plain();
	char text[LEASE_NAME_SIZE];
	struct lease_name n;

	memcpy(l.key, KEY, sizeof(KEY));
	lease_name_make(&l, text);
	is_str(text, KEY "-1000-0-0000000000000000", "a lease that holds nothing has no marks");
	l.uid = UINT32_MAX;
	l.gpus_by_task = true;
	lease_name_make(&l, text);
	is_str(text, KEY "-4294967295-0-ffffffffffffffff",
	    "a lease that may hold anything later has all marks");
	ok(lease_name_parse(text, &n) && n.uid == UINT32_MAX && n.signature == UINT64_MAX && n.flags == 0 &&
	    strcmp(n.key, KEY) == 0, "this name is read");
	ok(lease_name_parse(KEY "-0-7-0123456789abcdef", &n) && n.uid == 0 && n.flags == 7 &&
	    n.signature == 0x0123456789abcdefU, "another name is read");
}

static void
test_others(void)
{
	static const char *const none[] = { KEY, "x", "", "0-0-0-0", KEY "-", KEY "x", KEY "-1000-0-000000000000000", KEY "-1000-0-00000000000000000",
		KEY "-1000-0-0000000000000000-", KEY "-01-0-0000000000000000", KEY "--0-0000000000000000",
		KEY "-4294967296-0-0000000000000000", KEY "-99999999999999999999-0-0000000000000000",
		KEY "-1-g-0000000000000000", KEY "-1--0000000000000000", KEY "-1-00-0000000000000000",
		KEY "-1-0-000000000000000G", KEY "-1-0-000000000000000A", KEY "_1-0-0000000000000000",
		"g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef-1-0-0000000000000000" };
	struct lease_name n;
	size_t i;

	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ok(!lease_name_parse(none[i], &n), "\"%s\" is refused as a name", none[i]);
}

static void
test_gpus(void)
{
	struct leased_gpu g[2] = { gpu(GPU_NVIDIA, 0x3b, "3:0"), gpu(GPU_AMD, 7, "") }, other;
	struct lease l = plain();
	struct lease_name n;
	unsigned i, met = 0;

	n = name_of(&l);
	ok(!meets_gpu(&n, &g[0]), "a lease without a GPU meets no GPU");
	l.gpu = g;
	l.gpus = 2;
	n = name_of(&l);
	other = gpu(GPU_NVIDIA, 0x3b, "1");
	ok(meets_gpu(&n, &g[0]) && meets_gpu(&n, &g[1]) && meets_gpu(&n, &other),
	    "a lease with two GPUs meets both, and other parts of them");
	for (i = 0; i < 256; i++) {
		other = gpu(GPU_NVIDIA, i, "");
		met += i != 0x3b && meets_gpu(&n, &other);
	}
	ok(met <= 2, "a lease meets only %u of 255 other GPUs", met);
}

static void
test_nodes(void)
{
	struct edit_node a = { .path = "/dev/nvidia0", .major = 195, .minor = 0 };
	struct lease l = plain();
	struct lease_name n;
	unsigned i, met = 0;

	l.node = &a;
	l.nodes = 1;
	n = name_of(&l);
	ok(meets_node(&n, 195, 0), "a lease meets its node");
	for (i = 1; i < 256; i++)
		met += meets_node(&n, 195, i);
	ok(met <= 2, "a lease meets only %u of 255 other nodes", met);
}

static void
test_many(void)
{
	struct lease l = plain();
	struct bloom_query m = { 0 };
	struct leased_gpu g = gpu(GPU_NVIDIA, 1, "");
	struct lease_name n, none = name_of(&l);
	unsigned i;

	l.gpu = &g;
	l.gpus = 1;
	n = name_of(&l);
	ok(!lease_name_may_have(&n, &m), "a request for nothing meets no lease");
	for (i = 0; i < 4 * BLOOM_MAX; i++)
		bloom_add_node(&m, 500, i);
	ok(m.any && m.n == BLOOM_MAX,
	    "a request with too many marks becomes a request for anything");
	ok(lease_name_may_have(&n, &m) && !lease_name_may_have(&none, &m),
	    "a request for anything meets every lease that holds something");
	m = (struct bloom_query){ 0 };
	for (i = 0; i < 4 * BLOOM_MAX; i++)
		bloom_add_node(&m, 500, 1);
	ok(!m.any && m.n == 1, "a mark that is added again takes no room");
}

static void
test_flags(void)
{
	struct lookup w[2] = { { .writable = false }, { .writable = true } };
	struct leased_folder f = { 0 };
	struct lease l = plain();

	is_int((int)name_of(&l).flags, 0, "a plain lease has no flags");
	l.container.host_root = true;
	is_int((int)name_of(&l).flags, 0,
	    "a lease of the host's root without a folder has no flags");
	l.lookup = w;
	l.lookups = 1;
	is_int((int)name_of(&l).flags, LEASE_LOOKUPS,
	    "a lease with a read-only folder has LEASE_WAYS");
	l.lookups = 2;
	is_int((int)name_of(&l).flags, LEASE_LOOKUPS | LEASE_WRITES,
	    "a lease of the host's root with a writable folder has LEASE_WRITES");
	l.container.host_root = false;
	is_int((int)name_of(&l).flags, LEASE_LOOKUPS,
	    "a lease of another user with a writable folder does not have LEASE_WRITES");
	l.lookups = 0;
	snprintf(l.label, sizeof(l.label), "u:r:t:s0");
	is_int((int)name_of(&l).flags, LEASE_LABEL, "a lease with a label has LEASE_LABEL");
	l.label[0] = '\0';
	l.folder = &f;
	l.folders = 1;
	is_int((int)name_of(&l).flags, LEASE_LABEL, "a lease with a held folder has LEASE_LABEL");
	l = plain();
	snprintf(l.reuse_hash, sizeof(l.reuse_hash), KEY);
	is_int((int)name_of(&l).flags, LEASE_REUSE, "a lease whose token takes turns has LEASE_TURN");
}

/* A name must cover everything that the lease can become later. */
static void
test_covers(void)
{
	struct leased_gpu g = gpu(GPU_NVIDIA, 0x3b, "");
	struct edit_node a = { .major = 195, .minor = 255 };
	struct lookup w = { .writable = false };
	struct lease l = plain(), m = l;
	struct lease_name n;
	static char other[] = "c2";

	l.gpu = &g;
	l.node = &a;
	l.lookup = &w;
	l.gpus = l.nodes = l.lookups = 1;
	n = name_of(&l);
	ok(lease_name_covers(&n, &l), "a name covers its lease");
	ok(lease_name_covers(&n, &m), "a name covers what is left of its lease");
	n = name_of(&m);
	m.gpu = &g;
	m.gpus = 1;
	ok(!lease_name_covers(&n, &m), "a name does not cover a GPU that was added");
	m.gpus = 0;
	m.node = &a;
	m.nodes = 1;
	ok(!lease_name_covers(&n, &m), "a name does not cover a node that was added");
	m.nodes = 0;
	m.lookup = &w;
	m.lookups = 1;
	ok(!lease_name_covers(&n, &m), "a name does not cover a folder's path that was added");
	m.lookups = 0;
	m.gpus_by_task = true;
	ok(!lease_name_covers(&n, &m), "a name does not cover a lease that may get its GPUs again");
	m.gpus_by_task = false;
	m.uid = 1001;
	ok(!lease_name_covers(&n, &m), "a name does not cover another user's lease");
	m.uid = 1000;
	m.id = other;
	ok(!lease_name_covers(&n, &m), "a name does not cover another container's lease");
	m.id = id;
	ok(lease_name_covers(&n, &m), "a name covers the unchanged lease");
	m.gpus_by_task = true;
	n = name_of(&m);
	m.node = &a;
	m.nodes = 1;
	m.gpu = &g;
	m.gpus = 1;
	ok(lease_name_covers(&n, &m),
	    "the name of a lease that may get its GPUs again covers all of that");
}

/* Leases survive an upgrade, so these names must never change. */
static void
test_for_ever(void)
{
	struct leased_gpu g = gpu(GPU_NVIDIA, 0x3b, "");
	struct edit_node a = { .major = 195, .minor = 255 };
	struct lease l = plain();
	char text[LEASE_NAME_SIZE], record[HASH_SIZE];

	exec_record_name(root, id, record);
	is_str(record, "8ce3cd744efa732aa33281ed590f1fc167f5028947ae3ef42af9f171236c7dd3", "an exec record has its name");
	exec_record_name(NULL, NULL, record);
	is_str(record, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d", "  and one without a root and an id as well");
	l.gpu = &g;
	l.gpus = 1;
	lease_name_make(&l, text);
	is_str(text + 64, "-1000-0-0010000040000800", "a GPU has its bits");
	l.gpus = 0;
	l.node = &a;
	l.nodes = 1;
	lease_name_make(&l, text);
	is_str(text + 64, "-1000-0-1000000400400000", "a node has its bits");
}

int
main(void)
{
	test_form();
	test_others();
	test_gpus();
	test_nodes();
	test_many();
	test_flags();
	test_covers();
	test_for_ever();
	return done_testing();
}
