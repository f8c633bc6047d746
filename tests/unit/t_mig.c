/*
 * NVIDIA MIG: gpu/mig.c, gpu/procmask.c, host/gpu/miginstances.c on a made-up tree
 * (fixtures/sysroot/nvidia-mig), and how judge/match.c treats instances.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "gpu/gpufind.h"
#include "gpu/mig.h"
#include "gpu/pick.h"
#include "gpu/procmask.h"
#include "host/file.h"
#include "host/gpu/gpus.h"
#include "judge/match.h"
#include "policy/policydecide.h"
#include "policy/settingsdefault.h"
#include "read/conf/policyread.h"
#include "tap.h"

#define UUID "GPU-edfee158-11c1-52b8-0517-92f30e7fac88"

static char sysroot[512];

static void
test_text(void)
{
	static const char *const bad_dirs[] = { "", "gi", "gi-1", "gi01", "gi100", "gi1x", "gI1", "ci1", " gi1", "gi 1" };
	static const char *const bad[] = { "", "DeviceFileMinor:", "DeviceFileMinor: \n", "DeviceFileMinor: x\n",
		"DeviceFileMinor: -1\n", "DeviceFileMinor: 1048576\n", "XDeviceFileMinor: 1\n", "DeviceFileMode: 3\n",
		"DeviceFileMinor: 12345678901234567890\n" };
	struct why why;
	uint32_t n = 7;
	size_t i;

	ok(mig_dir_parse("gi0", "gi", &n) && n == 0, "the directory gi0 is parsed");
	ok(mig_dir_parse("ci13", "ci", &n) && n == 13, "the directory ci13 is parsed");
	for (i = 0; i < sizeof(bad_dirs) / sizeof(bad_dirs[0]); i++)
		ok(!mig_dir_parse(bad_dirs[i], "gi", &n),
		    "this is no instance's directory: \"%s\"", bad_dirs[i]);
	ok(mig_access_parse("DeviceFileMinor: 12\nDeviceFileMode: 292\nDeviceFileModify: 1\n", &n, &why) == 0 && n == 12,
	    "the minor of a capability is read");
	ok(mig_access_parse("DeviceFileMode: 292\nDeviceFileMinor:\t1048575\n", &n, &why) == 0 &&
	    n == 1048575,
	    "the minor is read from any line");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(mig_access_parse(bad[i], &n, &why) == -1 && why.code == WHY_IO,
		    "a malformed capability is refused: number %zu", i);
}

static void
test_order(void)
{
	static const char *const sorted[] = { "", "0", "0:0", "0:1", "1", "1:0", "2", "9:6", "10", "10:0", "13:99" };
	size_t i, k;

	for (i = 0; i < sizeof(sorted) / sizeof(sorted[0]); i++)
		for (k = 0; k < i; k++)
			ok(mig_part_order(sorted[k]) < mig_part_order(sorted[i]),
			    "part \"%s\" comes before part \"%s\"", sorted[k], sorted[i]);
}

/* The inventory of a tree. An error ends the test. */
static void
find(const char *tree, struct inventory *inv)
{
	struct gpu_source src = { .root = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	struct why why = { 0 };

	if (!ok(src.root != -1 && gpus_find(&src, 1U << GPU_NVIDIA, inv, &why) == 0,
	    "the GPUs of %s are found", tree)) {
		printf("# %s\n", why.text);
		exit(done_testing());
	}
	close(src.root);
}

/* The minors of an entry's nodes; «c» marks a capability's node, «s» a shared one. */
static const char *
nodes_of(const struct gpu *g)
{
	static char text[256];
	size_t i, n = 0;

	text[0] = '\0';
	for (i = 0; i < g->nodes; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%u%s", i > 0 ? " " : "", g->node[i].major == 235 ? "c" : "",
		    g->node[i].minor, g->node[i].shared ? "s" : "");
	return text;
}

static void
test_found(void)
{
	static const struct { const char *part, *nodes; } want[] = { { "", "0 c12 c13 c21 c22" }, { "1", "0s c12 c13" },
		{ "1:0", "0s c12s c13" }, { "2", "0s c21 c22" }, { "2:0", "0s c21s c22" } };
	struct inventory inv;
	size_t i;

	find(sysroot, &inv);
	is_int(inv.gpus, 5, "one GPU and two GPU instances with a compute instance each are found");
	for (i = 0; i < inv.gpus && i < 5; i++) {
		is_str(inv.gpu[i].part, want[i].part, "entry %zu is the expected part", i);
		is_str(nodes_of(&inv.gpu[i]), want[i].nodes, "  the entry has its nodes");
		ok(inv.gpu[i].rank == 0 && strcmp(inv.gpu[i].uuid, UUID) == 0 && strcmp(inv.gpu[i].pci, "0000:3b:00.0") == 0,
		    "  the entry has the GPU's rank, UUID and address");
		ok(inv.gpu[i].has_instances == (i == 0), "  only the whole GPU has instances");
	}
	is_str(inv.gpu[1].node[1].path, "/dev/nvidia-caps/nvidia-cap12",
	    "a capability's node has its path");
	ok(inv.gpu[1].node[1].read_only, "a capability's node is read-only");
	inventory_free(&inv);
}

static void
test_names(void)
{
	static const struct { const char *name; bool rank; size_t which; } names[] = {
		{ UUID, false, 0 }, { "0000:3b:00.0", false, 0 }, { "0", true, 0 }, { UUID ":1", false, 1 }, { UUID ":1:0", false, 2 },
		{ "0000:3b:00.0:2", false, 3 }, { "3B:00.0:2:0", false, 4 }, { "0:2:0", true, 4 }, { "0:1", true, 1 },
		{ "0:1", false, 9 }, { UUID ":3", false, 9 }, { UUID ":1:1", false, 9 }, { UUID ":01", false, 9 }, { UUID ":", false, 9 },
		{ UUID "1", false, 9 }, { ":1", true, 9 }, { "1:0", true, 9 }, { UUID ":1:", false, 9 }, { "all:1", true, 9 } };
	struct inventory inv;
	size_t i, k, hits, at;

	find(sysroot, &inv);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (k = hits = 0, at = 9; k < inv.gpus; k++)
			if (gpu_is_named(&inv.gpu[k], names[i].name, names[i].rank)) {
				hits++;
				at = k;
			}
		ok(at == names[i].which && hits <= 1,
		    "\"%s\" names entry %zu (9: none)", names[i].name, names[i].which);
	}
	for (k = hits = 0; k < inv.gpus; k++)
		hits += gpu_is_named(&inv.gpu[k], "all", false);
	is_int(hits, 3, "\"all\" names the whole GPU and the compute instances");
	inventory_free(&inv);
}

/* What the rule gives a request on this tree: the candidates' parts, or the refusal. */
static const char *
given(const struct inventory *inv, const char *rule, const char *asked)
{
	static char text[600];
	const struct client root = { .uid = 0, .member = true, .rootful = true };
	autosettings struct settings settings = { 0 };
	autofaults struct faults f = { 0 };
	autopolicy struct policy p;
	autogrant struct grant g = { 0 };
	autorequested struct requested a = { 0 };
	struct why why = { 0 };
	size_t i, n = 0;

	snprintf(text, sizeof(text), "identity = \"caller\"; callers = [ \"root\" ]; gpus = ( { vendor = \"nvidia\"; %s } );", rule);
	if (!policy_parse("p.conf", text, strlen(text), &p, &f) || !settings_default(&settings) ||
	    requested_parse(asked, NULL, &a, &why) == -1)
		return strncpy(text, f.n > 0 ? f.v[0].text : why.text, sizeof(text) - 1);
	text[0] = '\0';
	if (policy_decide(&p, &root, &a, inv, &settings, &g, &why) != VERDICT_GRANT) {
		snprintf(text, sizeof(text), "%s", why.text);
		return text;
	}
	for (i = 0; i < g.gpus; i++)
		for (size_t k = 0; k < g.gpu[i].n; k++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s[%s]", n > 0 ? " " : "", g.gpu[i].candidate[k]->part);
	return text;
}

static void
test_match(void)
{
	struct inventory inv;

	find(sysroot, &inv);
	is_str(given(&inv, "", "1"), "[1:0] [2:0]",
	    "a request for a GPU gets a compute instance on a host with MIG");
	is_str(given(&inv, "devices = [ \"all\" ];", "1"), "[1:0] [2:0]",
	    "a rule for all devices gives compute instances");
	is_str(given(&inv, "mig = \"instances\";", "1"), "[1:0] [2:0]",
	    "mig = \"instances\" gives compute instances, as by default");
	is_str(given(&inv, "mig = \"whole\";", "1"), "[]", "mig = \"whole\" gives the whole GPU");
	is_str(given(&inv, "devices = [ \"" UUID ":1\" ];", "1"), "[1]",
	    "a rule that names a GPU instance gives it");
	is_str(given(&inv, "devices = [ \"" UUID ":2:0\" ];", "1"), "[2:0]",
	    "a rule that names a compute instance gives it");
	is_str(given(&inv, "count = 2;", UUID ":2:0"), "[2:0]",
	    "a request that names a compute instance gets it");
	ok(strstr(given(&inv, "devices = [ \"" UUID "\" ];", "1"), "has MIG instances: name those") != NULL,
	    "a rule that names a GPU with MIG does not give the whole GPU");
	ok(strstr(given(&inv, "", UUID), "is not given as a whole") != NULL,
	    "a request that names a GPU with MIG does not get the whole GPU");
	is_str(given(&inv, "devices = [ \"" UUID "\" ]; mig = \"whole\";", UUID), "[]",
	    "with mig = \"whole\", both get the whole GPU");
	ok(strstr(given(&inv, "devices = [ \"" UUID ":1:0\" ];", UUID ":2:0"), "does not give GPU") != NULL,
	    "an instance that the rule does not name is refused");
	ok(strstr(given(&inv, "mig = \"half\";", "1"), "mig") != NULL,
	    "an unknown value of mig is refused");
	inventory_free(&inv);
}

static const char *
masked(const struct inventory *inv, size_t first, size_t second)
{
	static char text[1024];
	const struct gpu *granted[2] = { &inv->gpu[first], &inv->gpu[second] };
	autostrlist struct strlist out = { 0 };
	size_t i, n = 0;

	text[0] = '\0';
	if (!procmask_others(inv, granted, first == second ? 1 : 2, &out))
		return "no memory";
	for (i = 0; i < out.n; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n > 0 ? " " : "", out.v[i] + strlen("/proc/driver/nvidia/"));
	return text;
}

static void
test_masks(void)
{
	struct inventory inv;
	const struct gpu *none = NULL;
	autostrlist struct strlist out = { 0 };

	find(sysroot, &inv);
	is_str(masked(&inv, 0, 0), "capabilities/mig",
	    "for the whole GPU, only the configuration of MIG is masked");
	is_str(masked(&inv, 1, 1),
	    "capabilities/mig capabilities/gpu0/mig/gi2 capabilities/gpu0/mig/gi2/ci0",
	    "for GPU instance 1, instance 2 is masked");
	is_str(masked(&inv, 2, 2),
	    "capabilities/mig capabilities/gpu0/mig/gi2 capabilities/gpu0/mig/gi2/ci0",
	    "for compute instance 1:0, instance 2 is masked");
	is_str(masked(&inv, 2, 4), "capabilities/mig",
	    "for both compute instances, only the configuration of MIG is masked");
	ok(procmask_others(&inv, &none, 0, &out) && strlist_has(&out, "/proc/driver/nvidia/gpus/0000:3b:00.0") &&
	    strlist_has(&out, "/proc/driver/nvidia/capabilities/gpu0"),
	    "without a grant, the whole GPU is masked");
	inventory_free(&inv);
}

/* A tree like the fixture, with one file changed. */
static void
broken_tree(const char *file, const char *text, const char *what)
{
	char dir[] = "/tmp/t_mig.XXXXXX", command[1200];
	struct inventory inv;
	FILE *f;

	if (mkdtemp(dir) == NULL)
		return;
	snprintf(command, sizeof(command), "cp -R %s/proc %s/ && chmod -R u+w %s", sysroot, dir, dir);
	if (!ok(system(command) == 0, "the tree is copied"))
		return;
	snprintf(command, sizeof(command), "rm -r %s/%s", dir, file);
	if (!ok(system(command) == 0, "its %s is removed", file))
		return;
	snprintf(command, sizeof(command), "%s/%s", dir, file);
	if (text != NULL && (f = fopen(command, "w")) != NULL) {
		fputs(text, f);
		fclose(f);
	}
	find(dir, &inv);
	ok(inv.gpus == 1 && strstr(inv.gpu[0].unusable, "its MIG instances can't be known") != NULL,
	    "%s: the GPU is unusable",
	    what);
	inventory_free(&inv);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ok(system(command) == 0, "the copy is removed");
}

int
main(int argc, char **argv)
{
	snprintf(sysroot, sizeof(sysroot), "%s/fixtures/sysroot/nvidia-mig", tests_dir(argc, argv));
	test_text();
	test_order();
	test_found();
	test_names();
	test_match();
	test_masks();
	broken_tree("proc/driver/nvidia/capabilities/gpu0/mig/gi2/ci0/access", NULL,
	    "a missing capability");
	broken_tree("proc/driver/nvidia/capabilities/gpu0/mig/gi1/access", "DeviceFileMode: 292\n",
	    "a capability without a minor");
	broken_tree("proc/driver/nvidia/capabilities/gpu0/mig", "no directory", "a directory that can't be listed");
	broken_tree("proc/devices", "Character devices:\n195 nvidia\n195 nvidiactl\n510 nvidia-uvm\n\nBlock devices:\n  8 sd\n",
	    "no major for capabilities");
	return done_testing();
}
