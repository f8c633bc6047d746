/*
 * cdi/cdiproblem.c and host/driver/cdigpus.c: which specs that can't be used are noted, with which kind, and to whom
 * they may matter; and how the judge hears of them.
 */
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ask/grantquery.h"
#include "base/cleanup.h"
#include "cdi/cdiproblem.h"
#include "gpu/gpufind.h"
#include "host/driver/cdigpus.h"
#include "host/file.h"
#include "read/parse.h"
#include "tap.h"

static void
test_kinds(void)
{
	static const struct { const char *kind; bool nvidia, amd; } t[] = {
		{ "", true, true },
		{ "nvidia.com/gpu", true, false },
		{ "nvidia.com/mig", true, false },
		{ "management.nvidia.com/gpu", true, false },
		{ "k8s.device-plugin.nvidia.com/gpu", true, false },
		{ "nvidia.com/gds", false, false },
		{ "nvidia.com/gdrcopy", false, false },
		{ "nvidia.com/imex-channel", false, false },
		{ "nvidia.com/nvswitch", false, false },
		{ "amd.com/gpu", false, true },
		{ "intel.com/gpu", false, false },
		{ "huawei.com/Ascend910", false, false },
		{ "notnvidia.com/gpu", false, false },
		{ "nvidia.com.example.org/gpu", false, false },
		{ "nvidia.org/gpu", false, false },
		{ "com/gpu", false, false },
		{ ".com/gpu", false, false },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		ok(cdi_kind_may_have(t[i].kind, GPU_NVIDIA) == t[i].nvidia && cdi_kind_may_have(t[i].kind, GPU_AMD) == t[i].amd,
		    "\"%s\" may have %s GPUs", t[i].kind, t[i].nvidia ? t[i].amd ? "any" : "NVIDIA" : t[i].amd ? "AMD" : "no");
}

static void
test_choice(void)
{
	struct inventory inv = { .gpus = 0 }, copy;
	struct why why;

	ok(cdi_problem_of_gpus(&inv, GPU_NVIDIA) == NULL && cdi_problem_of_kind(&inv, "a.b/c") == NULL,
	    "without problems, none is told");
	ok(cdi_problem_add(&inv, "nvidia.com/gds", "gds") && cdi_problem_add(&inv, "nvidia.com/gpu", "first") &&
	    cdi_problem_add(&inv, "nvidia.com/gpu", "second") && cdi_problem_add(&inv, "a.b/c", "abc"), "problems are noted");
	is_int((int)inv.cdi_problem.n, 3, "of one kind, the first one");
	is_str(cdi_problem_of_gpus(&inv, GPU_NVIDIA), "first", "a GPU's problem is that of its vendor's specs");
	ok(cdi_problem_of_gpus(&inv, GPU_AMD) == NULL, "another vendor's GPUs have no problem");
	is_str(cdi_problem_of_kind(&inv, "nvidia.com/gds"), "gds", "a rule's problem is that of its own kind");
	ok(cdi_problem_of_kind(&inv, "nvidia.com/gp") == NULL, "and not that of a longer kind");
	ok(inventory_copy(&inv, GPUS_ALL, &copy, &why) == 0 && copy.cdi_problem.n == 3 && copy.cdi_problem.v != inv.cdi_problem.v,
	    "a copy of the inventory has copies of them");
	inventory_free(&copy);
	ok(cdi_problem_add(&inv, "", "dark") && strcmp(cdi_problem_of_gpus(&inv, GPU_AMD), "dark") == 0 &&
	    strcmp(cdi_problem_of_kind(&inv, "x.y/z"), "dark") == 0, "a spec of an unknown kind may matter to everybody");
	inventory_free(&inv);
}

/* What the judge hears; kinds: so many of the kinds are sent. */
static bool
hears(struct inventory *inv, size_t kinds, struct grant_query *heard)
{
	struct grant_query a = { .inventory = *inv };
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };

	a.inventory.cdi_problem_kind.n = kinds;
	grant_query_lines(&t, &a);
	lines_finish(&t);
	t = (struct lines){ .at = b.p, .end = b.p + b.len };
	grant_query_lines(&t, heard);
	return lines_finish(&t);
}

static void
test_judge(void)
{
	struct inventory inv = { .gpus = 0 };
	struct grant_query heard = { .gpus = NULL };

	cdi_problem_add(&inv, "", "/etc/cdi/x.yaml:1:1: is not YAML");
	cdi_problem_add(&inv, "a.b/c", "%\n");
	ok(hears(&inv, 2, &heard) && heard.inventory.cdi_problem.n == 2, "the judge hears of each problem");
	is_str(heard.inventory.cdi_problem.v[0], "/etc/cdi/x.yaml:1:1: is not YAML", "  with its text");
	is_str(heard.inventory.cdi_problem_kind.v[0], "", "  and without the kind that is not known");
	is_str(heard.inventory.cdi_problem_kind.v[1], "a.b/c", "  or with the kind");
	grant_query_free(&heard);
	heard = (struct grant_query){ .gpus = NULL };
	ok(!hears(&inv, 1, &heard), "a problem without its kind is refused");
	grant_query_free(&heard);
	inventory_free(&inv);
}

/* Writes DIR/NAME, with a hole of «hole» bytes at its end. */
static bool
put(const char *dir, const char *name, const char *text, off_t hole)
{
	char path[PATH_MAX];
	autoclose int fd = -1;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	return fd != -1 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
	    (hole == 0 || ftruncate(fd, (off_t)strlen(text) + hole) == 0);
}

#define EDITS "containerEdits: {env: [A=1]}"
#define FINE(kind, name) "cdiVersion: 0.6.0\ndevices:\n- {name: " name ", " EDITS "}\nkind: " kind "\n"

static void
test_files(void)
{
	static const struct {
		const char *name, *text;
		off_t hole;
		const char *want;	/* «KIND FILE: reason», or NULL: no problem */
		const char *what;
	} t[] = {
		{ "x.yaml", FINE("nvidia.com/gpu", "a"), 0, NULL, "a spec that can be used" },
		{ "x.yaml", "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices: []\n", 0, NULL, "a spec without devices" },
		{ "x.json", "{\"cdiVersion\":\"0.5.0\",\"kind\":\"nvidia.com/gpu\",\"devices\":[]}", 0, NULL,
		    "a spec without devices, in JSON" },
		{ "x.yaml", "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\n", 0,
		    "nvidia.com/gpu x.yaml:1:1: has no devices", "a spec that lacks its devices" },
		{ "x.yaml", "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices: {}\n", 0,
		    "nvidia.com/gpu x.yaml:3:10: devices: must be a list", "devices that are no list" },
		{ "x.yaml", "devices:\n- {name: a, " EDITS "}\nkind: nvidia.com/gds\n", 0,
		    "nvidia.com/gds x.yaml:1:1: has no cdiVersion", "a fault, and the kind at the end" },
		{ "x.yaml", "kind: nvidia.com/gds\ndevices: [\n", 0,
		    "nvidia.com/gds x.yaml:3:1: is not YAML: did not find expected node content",
		    "YAML that breaks off after the kind" },
		{ "x.yaml", "devices: &x [\nkind: nvidia.com/gds\n", 0,
		    " x.yaml:1:10: an anchor: anchors and aliases are not accepted", "YAML that breaks off before the kind" },
		{ "x.yaml", "kind: nvidia\ndevices: [\n", 0,
		    " x.yaml:3:1: is not YAML: did not find expected node content", "a kind that is none" },
		{ "x.yaml", FINE("nvidia/com/gds", "a"), 0,
		    " x.yaml:4:7: kind: \"nvidia/com/gds\" is not vendor/class: each a letter, then letters, digits and inside of it _ "
		    ". -", "a kind of three parts" },
		{ "x.json", "{\"kind\":\"nvidia.com/gds\",\"devices\":[", 0, " x.json:1:37: not a JSON value",
		    "JSON that breaks off" },
		{ "x.yaml", "kind: nvidia.com/gds\n", 1 << 20, " x.yaml: is too large: it has 1048597 bytes, and at most 1048576 are read", "a file of more than 1 MiB" },
		{ "x.yaml", "kind: \xff\n", 0, " x.yaml: is not UTF-8 text", "no text" },
	};
	char dir[] = "/tmp/gpuhelper-cdiproblem-XXXXXX", path[PATH_MAX];
	size_t i;

	if (!ok(mkdtemp(dir) != NULL, "a directory is made"))
		return;
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		autocdiregistry struct cdi_registry r = { 0 };
		struct inventory inv = { .gpus = 0 };
		char got[1024] = "a problem of something else";
		struct why why;

		if (!ok(put(dir, t[i].name, t[i].text, t[i].hole) && cdi_registry_load(dir, false, specs_parse, &r, &why) == 0 &&
		    cdigpus_name(&r, &inv, &why) == 0, "%s is read", t[i].what))
			continue;
		if (inv.cdi_problem.n > 0 && strncmp(inv.cdi_problem.v[0], dir, strlen(dir)) == 0)
			snprintf(got, sizeof(got), "%s %s", inv.cdi_problem_kind.v[0], inv.cdi_problem.v[0] + strlen(dir) + 1);
		is_str(inv.cdi_problem.n > 0 ? got : NULL, t[i].want, "  its problem");
		inventory_free(&inv);
		snprintf(path, sizeof(path), "%s/%s", dir, t[i].name);
		unlink(path);
	}
	rmdir(dir);
}

/* Two files that have the same device: neither is used, and that is a problem of their kind. */
static void
test_conflict(void)
{
	char dir[] = "/tmp/gpuhelper-cdiproblem-XXXXXX", path[PATH_MAX];
	static const char *const names[] = { "a.yaml", "b.yaml" };
	autocdiregistry struct cdi_registry r = { 0 };
	struct inventory inv = { .gpus = 0 };
	struct why why;
	size_t i;

	if (!ok(mkdtemp(dir) != NULL && put(dir, names[0], FINE("a.b/c", "d"), 0) && put(dir, names[1], FINE("a.b/c", "d"), 0) &&
	    cdi_registry_load(dir, false, specs_parse, &r, &why) == 0 && cdigpus_name(&r, &inv, &why) == 0, "two files are read"))
		return;
	ok(inv.cdi_problem.n == 1 && strcmp(inv.cdi_problem_kind.v[0], "a.b/c") == 0 &&
	    strstr(inv.cdi_problem.v[0], "none of them is used") != NULL, "a conflict is a problem of the kind");
	inventory_free(&inv);
	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
}

int
main(void)
{
	test_kinds();
	test_choice();
	test_judge();
	test_files();
	test_conflict();
	return done_testing();
}
