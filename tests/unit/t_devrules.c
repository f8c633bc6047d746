/*
 * user/spec/devrules.c: under the resulting rules no GPU node can be opened, and no other device is lost
 * or gained. This holds in each model of devmodel.h.
 */
#include "devmodel.h"
#include "rnd.h"
#include "tap.h"

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))
#define MAX 256

static uint64_t seed = 195;

static const char *const model_names[] = { "runc", "crun on v1", "crun on v2" };

/* The rules of a plan, followed by «more». */
static size_t
planned(const struct devplan *p, const struct devrule *old, const struct devrule *more, size_t m, struct devrule *out)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		out[i] = p->v[i].keep ? old[p->v[i].old] : p->v[i].rule;
	for (i = 0; i < m; i++)
		out[p->n + i] = more[i];
	return p->n + m;
}

/* The host's /proc/devices in these tests. */
static struct devmajor known[] = {
	{ 1, 'c', "mem" }, { 5, 'c', "/dev/tty" }, { 5, 'c', "/dev/console" }, { 10, 'c', "misc" }, { 136, 'c', "pts" },
	{ 195, 'c', "nvidia" }, { 195, 'c', "nvidiactl" }, { 226, 'c', "drm" }, { 234, 'c', "kfd" },
	    { 510, 'c', "nvidia-uvm" },
	{ 511, 'c', "nvidia-caps" }, { 7, 'b', "loop" }, { 8, 'b', "sd" }, { 195, 'b', "not-a-gpu" },
	{ 510, 'b', "nvidia-not" },
};
/* 261: known only by its number */
static const uint32_t gpu_majors[] = { 195, 226, 261, 234, 510, 511 };
static const struct {
	char type;
	uint32_t major;
} others[] = { { 'c', 1 }, { 'c', 5 }, { 'c', 10 }, { 'c', 136 }, { 'b', 7 }, { 'b', 8 }, { 'b', 195 } };
static const uint32_t minors[] = { 0, 1, 3, 128, 229, 255 };

static struct devmajors host = { .v = known, .n = COUNT(known) };

/* Whether a GPU's node can be opened that is not in «granted». */
static bool
leaks(const struct set *s, const struct devrule *granted, size_t n, bool driver_absent)
{
	size_t i, k, g;
	unsigned a;

	for (i = 0; i < (driver_absent ? 3 : COUNT(gpu_majors)); i++)
		for (k = 0; k < COUNT(minors); k++) {
			for (g = 0; g < n; g++)
				if (granted[g].major == gpu_majors[i] && granted[g].minor == minors[k])
					break;
			for (a = 1; g == n && a < 4; a++)
				if (lets(s, 'c', gpu_majors[i], minors[k], a))
					return true;
		}
	return false;
}

/*
 * Whether the second set allows something that the first one does not. Reading, writing and making
 * count separately.
 */
static bool
gained(const struct set *before, const struct set *after)
{
	static const uint32_t unknown[] = { 77, 4095 };
	unsigned a;
	size_t i, k;

	for (a = 1; a < 8; a *= 2)
		for (k = 0; k < COUNT(minors); k++) {
			for (i = 0; i < COUNT(others); i++)
				if (lets(after, others[i].type, others[i].major, minors[k], a) &&
				    !lets(before, others[i].type, others[i].major, minors[k], a))
					return true;
			for (i = 0; i < COUNT(unknown); i++)
				if ((lets(after, 'c', unknown[i], minors[k], a) && !lets(before, 'c', unknown[i],
				    minors[k], a)) ||
				    (lets(after, 'b', unknown[i], minors[k], a) && !lets(before, 'b', unknown[i],
				    minors[k], a)))
					return true;
		}
	return false;
}

/* Whether a rule denies only some minors of this major. */
static bool
has_hole(const struct devrule *rules, size_t n, char type, uint32_t major)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!rules[i].allow && rules[i].type == type && (rules[i].major == ANY || rules[i].major == major) &&
		    rules[i].minor != ANY)
			return true;
	return false;
}

/* Whether a device was lost that is no GPU and has a driver here. */
static bool
lost(const struct set *before, const struct set *after, const struct devrule *rules, size_t n)
{
	unsigned a;
	size_t i, k;

	for (i = 0; i < COUNT(others); i++) {
		/* the old rules allow all but some minors; an allow-list cannot express this */
		if (before->default_allow && !after->default_allow && has_hole(rules, n, others[i].type,
		    others[i].major))
			continue;
		for (k = 0; k < COUNT(minors); k++)
			for (a = 1; a < 4; a *= 2)
				if (lets(before, others[i].type, others[i].major, minors[k], a) &&
				    !lets(after, others[i].type, others[i].major, minors[k], a))
					return true;
	}
	return false;
}

static bool
has_default(const struct devrule *rules, size_t n)
{
	while (n-- > 0)
		if (rules[n].type == 'a')
			return true;
	return false;
}

static const char *
wrong_plan(const struct devrule *rules, size_t n, const struct devrule *granted, size_t g)
{
	static struct devrule after[MAX], again[MAX];
	static struct set was, is;
	struct devplan p, q;
	const char *wrong = NULL;
	size_t len, len2;
	enum model m;

	devrules_hide_gpus(rules, n, &host, g > 0, &p);
	len = planned(&p, rules, granted, g, after);
	for (m = 0; m < MODELS && wrong == NULL; m++) {
		/*
		 * crun on v1 starts an incomplete list with everything allowed; compare with what
		 * runc makes of the list
		 */
		read_rules(&was, m == CRUN_V1 && !has_default(rules, n) ? RUNC : m, rules, n);
		read_rules(&is, m, after, len);
		if (leaks(&is, granted, g, false))
			wrong = "a GPU can be opened";
		else if (gained(&was, &is))
			wrong = "a device can be opened that could not be opened before";
		else if (is.refused && !was.refused)
			wrong = "the new list is refused, and the old one was not";
		else if (!was.refused && m == RUNC && lost(&was, &is, rules, n))
			wrong = "a device can no longer be opened";
	}
	/* a second run changes nothing */
	devrules_hide_gpus(after, len, &host, g > 0, &q);
	len2 = planned(&q, after, granted, g, again);
	if (wrong == NULL && g == 0 && q.changed)
		wrong = "a second run reports a change";
	if (wrong == NULL && (len2 != len || memcmp(again, after, len * sizeof(again[0])) != 0))
		wrong = "a second run gives another list";
	if (wrong == NULL && !p.changed && (p.n != n || memcmp(after, rules, n * sizeof(rules[0])) != 0))
		wrong = "the plan changed the list and reports no change";
	devplan_free(&p);
	devplan_free(&q);
	return wrong;
}

/* One rule a line: "# allow c 1:* rw". */
static void
print_rules(const struct devrule *r, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		printf("#\t%s %c %lld:%lld %s\n", r[i].allow ? "allow" : "deny", r[i].type, (long long)r[i].major,
		    (long long)r[i].minor, r[i].access);
}

static void
random_rule(struct devrule *r, bool mostly_deny)
{
	static const uint32_t majors[] = { 1, 1, 5, 10, 136, 195, 195, 226, 234, 261, 510, 511, 7, 8, 77 };

	memset(r, 0, sizeof(*r));
	r->allow = rnd(4) >= (mostly_deny ? 3 : 1);
	r->type = rnd(12) == 0 ? 'a' : rnd(4) == 0 ? 'b' : 'c';
	r->major = rnd(3) == 0 || r->type == 'a' ? ANY : (int64_t)majors[rnd(COUNT(majors))];
	r->minor = rnd(2) == 0 || r->type == 'a' ? ANY : (int64_t)minors[rnd(COUNT(minors))];
	letters(rnd(2) == 0 || r->type == 'a' ? 7 : (unsigned)rnd(7) + 1, r->access);
}

static void
test_random(void)
{
	static const struct devrule grant[] = {
		{ .allow = true, .type = 'c', .major = 195, .minor = 0, .access = "rw" },
		{ .allow = true, .type = 'c', .major = 195, .minor = 255, .access = "rw" },
		{ .allow = true, .type = 'c', .major = 510, .minor = 0, .access = "rw" },
	};
	unsigned wrong = 0, granted = 0, i;
	struct devrule rules[12];
	const char *what;
	size_t n, k, g;

	for (i = 0; i < 30000; i++) {
		n = rnd(9);
		for (k = 0; k < n; k++)
			random_rule(&rules[k], i % 3 == 0);
		/* privileged: everything is allowed, with exceptions */
		if (i % 3 == 0 && n > 0)
			rules[0] = (struct devrule){ .allow = true, .type = 'a', .major = ANY, .minor = ANY,
			    .access = "rwm" };
		g = rnd(2) ? COUNT(grant) : 0;
		if ((what = wrong_plan(rules, n, grant, g)) == NULL) {
			granted += g > 0;
			continue;
		}
		if (wrong++ < 5) {
			ok(false, "random rules %u%s: %s", i, g ? " and a grant" : "", what);
			print_rules(rules, n);
		}
	}
	is_int(wrong, 0,
	    "30000 random lists, for runc and crun: no GPU can be opened, and no other device is "
	    "gained or lost");
	ok(granted > 10000, "many of the lists come with a grant");
}

struct table {
	const char *what;
	struct devrule rules[6];
	size_t n;
	bool granted;
	struct devrule want[24];
	size_t m;
};

#define A(t, ma, mi, acc) { true, t, ma, mi, acc }
#define D(t, ma, mi, acc) { false, t, ma, mi, acc }
#define RWM "rwm"
#define EVERY_CHAR(acc) A('c', 1, ANY, acc), A('c', 5, ANY, acc), A('c', 10, ANY, acc), A('c', 136, ANY, acc)
#define EVERY_BLOCK A('b', 7, ANY, RWM), A('b', 8, ANY, RWM), A('b', 195, ANY, RWM), \
    A('b', 510, ANY, RWM)
#define DENY_GPUS D('c', 195, ANY, RWM), D('c', 226, ANY, RWM), D('c', 261, ANY, RWM), D('c', 234, ANY, RWM), \
    D('c', 510, ANY, RWM), D('c', 511, ANY, RWM)

/* The lists of engines, and each resulting rule. */
static void
test_table(void)
{
	static const struct table t[] = {
		{ "an empty list becomes a denial of all", { { 0 } }, 0, false,
		    { D('a', ANY, ANY, RWM) }, 1 },
		{ "Concourse's list gets a denial of all", { A('c', 10, 229, RWM) },
		    1, false, { D('a', ANY, ANY, RWM), A('c', 10, 229, RWM) }, 2 },
		{ "podman's list has a denial of all and stays",
		    { D('a', ANY, ANY, RWM), A('c', 1, 3, RWM) }, 2, false,
		    { D('a', ANY, ANY, RWM), A('c', 1, 3, RWM) }, 2 },
		{ "a rule for a GPU is removed",
		    { D('a', ANY, ANY, RWM), A('c', 195, 0, "rw"), A('c', 1, 3, RWM), A('c', 226,
		    ANY, "r") }, 4, false,
		    { D('a', ANY, ANY, RWM), A('c', 1, 3, RWM) }, 2 },
		{ "a rule that allows only making GPU nodes stays",
		    { D('a', ANY, ANY, RWM), A('c', 195, ANY, "m"), A('c', ANY, ANY, "m") },
		    3, false,
		    { D('a', ANY, ANY, RWM), A('c', 195, ANY, "m"), A('c', ANY, ANY, "m") }, 3 },
		{ "a rule for block devices with a GPU's number stays",
		    { D('a', ANY, ANY, RWM), A('b', 195, ANY, RWM), A('b',
		    ANY, ANY, RWM) }, 3, false,
		    { D('a', ANY, ANY, RWM), A('b', 195, ANY, RWM), A('b', ANY, ANY, RWM) }, 3 },
		{ "a wildcard becomes rules for the other majors",
		    { D('a', ANY, ANY, RWM), A('c', ANY, ANY, "rw"), A('c', 1, 3,
		    RWM) }, 3, false,
		    { D('a', ANY, ANY, RWM), EVERY_CHAR("rw"), A('c', 1, 3, RWM) }, 6 },
		{ "a wildcard over majors alone becomes rules for the other majors",
		    { D('a', ANY, ANY, RWM), A('c', ANY, 0, "r") }, 2, false,
		    { D('a', ANY, ANY, RWM), A('c', 1, 0, "r"), A('c', 5, 0, "r"), A('c', 10, 0, "r"), A('c', 136, 0,
		    "r") }, 5 },
		{ "access that a later rule denies is not given",
		    { D('a', ANY, ANY, RWM), A('c', ANY, ANY, RWM), D('c', ANY,
		    ANY, "w") }, 3, false,
		    { D('a', ANY, ANY, RWM), EVERY_CHAR("rm"), D('c', ANY, ANY, "w") }, 6 },
		{ "a wildcard that a later rule denies wholly gives no rules",
		    { D('a', ANY, ANY, RWM), A('c', ANY, ANY, "rw"), D('c', ANY, ANY, "rw") },
		    3, false,
		    { D('a', ANY, ANY, RWM), D('c', ANY, ANY, "rw") }, 2 },
		{ "rules before the last rule for all devices stay",
		    { A('c', 195, 0, RWM), A('a', ANY, ANY,
		    RWM),
		    D('a', ANY, ANY, RWM) }, 3, false, { A('c', 195, 0, RWM), A('a', ANY, ANY, RWM), D('a', ANY, ANY,
		    RWM) }, 3 },
		{ "in a privileged list, denials are added at the end",
		    { A('a', ANY, ANY, RWM), D('c', 1, 3, RWM) }, 2, false,
		    { A('a', ANY, ANY, RWM), D('c', 1, 3, RWM), DENY_GPUS }, 8 },
		{ "a GPU's major that is denied wholly is not denied again",
		    { A('a', ANY, ANY, RWM), D('c', 195, ANY, RWM), D('c', 226, ANY, "rw"), D('c',
		    261, 0,
		    RWM) },
		    4, false,
		    { A('a', ANY, ANY, RWM), D('c', 195, ANY, RWM), D('c', 226, ANY, "rw"), D('c', 261, 0, RWM), D('c',
		    226, ANY, RWM),
		    D('c', 261, ANY, RWM), D('c', 234, ANY, RWM), D('c', 510, ANY, RWM), D('c', 511, ANY, RWM) }, 9 },
		{ "a GPU is denied again after a later rule that allows it",
		    { A('a', ANY, ANY, RWM), D('c', 195, ANY, RWM), A('c',
		    195, 0, RWM) }, 3, false,
		    { A('a', ANY, ANY, RWM), D('c', 195, ANY, RWM), A('c', 195, 0, RWM), DENY_GPUS }, 9 },
		{ "with a grant, a privileged list becomes an allow-list",
		    { A('a', ANY, ANY, RWM) }, 1, true,
		    { D('a', ANY, ANY, RWM), EVERY_CHAR(RWM), EVERY_BLOCK }, 9 },
		{ "with a grant, denied access is not given",
		    { A('a', ANY, ANY, RWM), D('b', ANY, ANY, RWM), D('c', 5, ANY, "w"),
		    D('c', ANY, ANY, "m") }, 4,
		    true, { D('a', ANY, ANY, RWM), A('c', 1, ANY, "rw"), A('c', 5, ANY, "r"), A('c', 10, ANY, "rw"),
		    A('c', 136, ANY, "rw") }, 5 },
		{ "with a grant, a major with a denied minor is not given",
		    { A('a', ANY, ANY, RWM), D('c', 1, 3, "rw"), D('b', ANY, 0, RWM) },
		    3, true,
		    { D('a', ANY, ANY, RWM), A('c', 1, ANY, "m"), A('c', 5, ANY, RWM), A('c', 10, ANY, RWM), A('c', 136,
		    ANY, RWM) }, 5 },
		{ "with a grant, access that was allowed again is given",
		    { A('a', ANY, ANY, RWM), D('c', 1, 3, "rw"), D('b', ANY, ANY, "w"),
		    A('c', 1, 3, "rw"),
		    A('b', ANY, ANY, RWM) }, 5, true, { D('a', ANY, ANY, RWM), EVERY_CHAR(RWM), EVERY_BLOCK }, 9 },
		{ "a wildcard with a denied minor gives nothing (only crun could express it)",
		    { D('a', ANY, ANY, RWM), A('c', ANY, ANY, "rw"), D('c', ANY, 5, "rw") }, 3, false,
		    { D('a', ANY, ANY, RWM), D('c', ANY, 5, "rw") }, 2 },
		{ "a wildcard with a denied minor gives the access that is not denied",
		    { D('a', ANY, ANY, RWM), A('c', ANY, ANY, RWM), D('c', ANY, 5, "rw") }, 3,
		    false,
		    { D('a', ANY, ANY, RWM), EVERY_CHAR("m"), D('c', ANY, 5, "rw") }, 6 },
		{ "a denial before the wildcard is no exception from it",
		    { D('a', ANY, ANY, RWM), D('c', ANY, 5, "rw"), A('c', ANY, ANY,
		    "rw") }, 3, false, { D('a', ANY, ANY, RWM), D('c', ANY, 5, "rw"), EVERY_CHAR("rw") }, 6 },
		{ "rules with impossible numbers stay",
		    { D('a', ANY, ANY, RWM), A('c', 4294967294, 1, RWM), A('c',
		    8589934787, 1, RWM) }, 3,
		    false, { D('a', ANY, ANY, RWM), A('c', 4294967294, 1, RWM), A('c', 8589934787, 1, RWM) }, 3 },
	};
	struct devrule after[MAX];
	struct devplan p;
	size_t i, k, n;

	for (i = 0; i < COUNT(t); i++) {
		devrules_hide_gpus(t[i].rules, t[i].n, &host, t[i].granted, &p);
		n = planned(&p, t[i].rules, NULL, 0, after);
		for (k = 0; k < n && k < t[i].m; k++)
			if (!same(&after[k], &t[i].want[k]) || after[k].allow != t[i].want[k].allow ||
			    strcmp(after[k].access, t[i].want[k].access) != 0)
				break;
		if (!ok(k == n && n == t[i].m, "%s", t[i].what))
			print_rules(after, n);
		ok(p.changed == (n != t[i].n || memcmp(after, t[i].rules, n * sizeof(after[0])) != 0) && !p.failed,
		    "  and the plan says whether the list changed");
		devplan_free(&p);
	}
}

/*
 * The driver may be loaded after the container starts. Fixed numbers count even without the driver.
 */
static void
test_no_driver(void)
{
	static struct devmajor few[] = { { 1, 'c', "mem" }, { 5, 'c', "/dev/tty" } };
	const struct devmajors none = { .v = few, .n = COUNT(few) };
	static const struct devrule lists[][3] = {
		{ D('a', ANY, ANY, RWM), A('c', ANY, ANY, RWM), A('c', 195, 0, RWM) },
		{ A('a', ANY, ANY, RWM), A('c', 226, 128, RWM), D('c', 1, 1, RWM) },
	};
	struct devrule after[MAX];
	static struct set s;
	struct devplan p;
	enum model m;
	size_t i, n;

	for (i = 0; i < COUNT(lists); i++) {
		devrules_hide_gpus(lists[i], COUNT(lists[i]), &none, false, &p);
		n = planned(&p, lists[i], NULL, 0, after);
		for (m = 0; m < MODELS; m++) {
			read_rules(&s, m, after, n);
			ok(!leaks(&s, NULL, 0, true),
			    "%s, list %zu: no GPU can be opened even if no driver is loaded yet",
			    model_names[m], i);
			ok(lets(&s, 'c', 5, 0, 3), "  a terminal can be opened");
		}
		devplan_free(&p);
	}
}

static void
test_keep(void)
{
	static const struct devrule grant = A('c', 195, 0, "rw");
	struct devplan p;

	devrules_keep(3, &p);
	ok(p.n == 3 && !p.changed && p.v[0].keep && p.v[2].keep && p.v[2].old == 2,
	    "devrules_keep() keeps every rule");
	devplan_add(&p, &grant);
	ok(p.n == 4 && p.changed && !p.v[3].keep && p.v[3].rule.major == 195,
	    "a rule is added to the plan");
	devplan_free(&p);
	ok(p.n == 0 && p.v == NULL, "devplan_free() empties the plan");
}

/* The models themselves: what the sources of the runtimes and the kernel say about these lists. */
static void
test_models(void)
{
	static const struct devrule none[1], open[] = { A('a', ANY, ANY, RWM) };
	static const struct devrule hole[] = { A('c', ANY, ANY, "rw"), D('c', 195, ANY, "rw") };
	static const struct devrule closed[] = { D('a', ANY, ANY, RWM), A('c', ANY, ANY, "rw"), D('c', 195, ANY,
	    "rw") };
	static const struct devrule back[] = { A('c', 195, 0, "rwm"), D('c', 195, 0, "w") };
	static struct set s;

	read_rules(&s, RUNC, none, 0);
	ok(leaks(&s, NULL, 0, false) == false, "runc denies what no rule allows");
	read_rules(&s, CRUN_V2, none, 0);
	ok(leaks(&s, NULL, 0, false) == false, "crun on v2 denies what no rule allows");
	read_rules(&s, CRUN_V1, none, 0);
	ok(leaks(&s, NULL, 0, false), "crun on v1 allows what no rule denies");
	read_rules(&s, RUNC, open, 1);
	ok(leaks(&s, NULL, 0, false) && !s.refused, "runc allows everything if a rule says so");
	read_rules(&s, RUNC, hole, 2);
	ok(s.refused, "runc refuses an exception from a wildcard");
	read_rules(&s, CRUN_V1, hole, 2);
	ok(!s.refused && !lets(&s, 'c', 195, 0, 1) && lets(&s, 'c', 195, 0, 4) && lets(&s, 'c', 1, 0, 3),
	    "if all is allowed, the kernel takes an exception from a wildcard for a denial");
	read_rules(&s, CRUN_V1, closed, 3);
	ok(!s.refused && lets(&s, 'c', 195, 0, 3),
	    "if all is denied, the kernel ignores an exception from a wildcard");
	read_rules(&s, CRUN_V2, hole, 2);
	ok(!lets(&s, 'c', 195, 0, 3) && lets(&s, 'c', 195, 0, 4) == false && lets(&s, 'c', 1, 0, 3),
	    "crun on v2 applies an exception from a wildcard");
	read_rules(&s, RUNC, back, 2);
	ok(lets(&s, 'c', 195, 0, 1) && !lets(&s, 'c', 195, 0, 2) && !lets(&s, 'c', 195, 0, 3) && lets(&s, 'c', 195, 0,
	    5) &&
	    !lets(&s, 'c', 195, 1, 1) && !lets(&s, 'b', 195, 0, 1),
	    "each letter of an access is denied separately");
}

int
main(void)
{
	test_models();
	test_table();
	test_no_driver();
	test_keep();
	test_random();
	return done_testing();
}
