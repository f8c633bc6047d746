/* What root's wrapper lets pass of the helper's changes (vet/vet.h): compared with an oracle, and some by hand. */
#include "rnd.h"
#include "tap.h"
#include "vetmodel.h"

static uint64_t seed = 41;

/* Random changes: as many as pass must be those that the oracle lists. */
static void
test_oracle(void)
{
	const unsigned all = rounds(500000);
	unsigned long passed[8] = { 0 }, refused = 0, wrong = 0, round;
	uint8_t bytes[48];
	size_t i, len;

	for (round = 0; round < all; round++) {
		struct edits e = { .nodes = 0 };
		struct why why = { .code = WHY_NONE };
		bool given;

		len = 4 + rnd(round % 3 == 0 ? 8 : sizeof(bytes) - 3);
		for (i = 0; i < len; i++)
			/* small numbers leave most texts as they are */
			bytes[i] = (uint8_t)rnd(rnd(3) == 0 ? 256 : 24);
		model_edits(bytes, len, &e);
		given = model_vet(&e, &why) == 0;
		if (given != model_gives(&e) && wrong++ == 0)
			printf("# round %lu: %s: %s\n", round, given ? "passed" : "refused", why.text);
		refused += !given;
		if (given) {
			passed[0] += e.nodes > 0;
			passed[1] += e.mounts > 0 && !e.mount[0].driver;
			passed[2] += e.mounts > 0 && e.mount[0].driver;
			passed[3] += e.hooks > 0;
			passed[4] += e.env.n > 0;
			passed[5] += e.gids > 0;
			passed[6] += e.masked.n > 0;
			passed[7] += e.label != NULL;
		}
		edits_free(&e);
	}
	is_int((intmax_t)wrong, 0, "%u random replies: those pass that the oracle lists", all);
	ok(refused > all / 4, "  %lu of them were refused", refused);
	for (i = 0; i < 8; i++)
		ok(passed[i] > all / 5000, "  enough of kind %zu passed: %lu", i, passed[i]);
}

/* Words of «A,B» as a list. */
static void
words(struct strlist *l, const char *text)
{
	char *copy = strdup(text), *rest = copy, *word;

	while ((word = strsep(&rest, ",")) != NULL)
		strlist_add(l, word, SIZE_MAX);
	free(copy);
}

/* Each change of the oracle's lists passes alone, too; second names need the first one. */
static void
test_each(void)
{
	const char *const *lists[] = { model_mounts_given, model_files_given };
	static const char *const none[] = { NULL };
	size_t k, i;

	for (k = 0; k < 2; k++)
		for (i = 0; lists[k][i] != NULL; i++) {
			struct edits e = { .nodes = 0 };
			char source[256], target[256], options[128];
			struct why why = { .code = WHY_NONE };

			ok(sscanf(lists[k][i], "%255[^|]|%255[^|]|%127s", source, target, options) == 3 && edits_add_mount(&e, source, target, none),
			    "%s", lists[k][i]);
			words(&e.mount[0].options, options);
			e.mount[0].driver = k == 1;
			if (k == 1)
				edits_add_node(&e, &model_gpu);
			ok(model_vet(&e, &why) == 0, "  passes: %s", why.text);
			e.mount[0].driver = k == 0;
			ok(model_vet(&e, &why) == -1, "  is refused as the other kind of mount");
			e.mount[0].driver = k == 1;
			e.nodes = 0;
			is_int(model_vet(&e, &why), k == 1 ? -1 : 0, "  a driver's file is refused without its GPU");
			edits_free(&e);
		}
}

struct asked {
	struct vet v;
	struct edits e;
	struct request r;
	struct settings s;
	struct policy p;
	struct vet_source source[COUNT(model_sources)];
};

static void
begin(struct asked *a)
{
	*a = (struct asked){ .s = { .driver_files = DRIVER_FILES_AUTO }, .p = model_policy };
	a->r.spec.gids.identity = a->r.spec.uids.identity = true;
	memcpy(a->source, model_sources, sizeof(a->source));
	a->v = (struct vet){ .edits = &a->e, .request = &a->r, .settings = &a->s, .policy = &a->p, .source = a->source, .sources = COUNT(a->source),
		.majors = &model_majors, .host_view = { model_see_node, model_see_file, model_see_folder, NULL } };
}

static bool
passes(struct asked *a)
{
	struct why why;

	return vet_edits(&a->v, &why) == 0;
}

static void
test_labels(void)
{
	static const struct {
		const char *engines, *engines_mount, *type, *level, *label, *mount;
		bool passes;
	} t[] = {
		/* drawn */
		{ NULL, NULL, NULL, NULL, "system_u:system_r:nvidia_container_t:s0:c1,c2", "system_u:object_r:container_file_t:s0:c1,c2", true },
		{ NULL, NULL, NULL, "auto", "system_u:system_r:nvidia_container_t:s0:c1,c2", "system_u:object_r:container_file_t:s0:c1,c2", true },
		{ NULL, NULL, NULL, NULL, "system_u:system_r:nvidia_container_t:s0:c1,c2,c3", "system_u:object_r:container_file_t:s0:c1,c2,c3", false },
		{ NULL, NULL, NULL, NULL, "system_u:system_r:nvidia_container_t:s0:c1", "system_u:object_r:container_file_t:s0:c1", false },
		{ NULL, NULL, NULL, NULL, "system_u:system_r:nvidia_container_t:s0:c0.c1023", "system_u:object_r:container_file_t:s0:c0.c1023", false },
		{ NULL, NULL, NULL, NULL, "system_u:system_r:nvidia_container_t:s0", "system_u:object_r:container_file_t:s0", false },
		{ NULL, NULL, NULL, NULL, "system_u:system_r:nvidia_container_t:s15:c1,c2", "system_u:object_r:container_file_t:s15:c1,c2", false },
		/* the engine's */
		{ "system_u:system_r:container_t:s0:c5,c6", "system_u:object_r:container_file_t:s0:c5,c6", NULL, NULL,
		    "system_u:system_r:nvidia_container_t:s0:c5,c6", NULL, true },
		{ "system_u:system_r:container_t:s0:c5,c6", NULL, NULL, NULL, "system_u:system_r:nvidia_container_t:s0:c5,c6", NULL, false },
		{ "system_u:system_r:container_t:s0:c5,c6", NULL, NULL, NULL, "system_u:system_r:nvidia_container_t:s0:c5,c6",
		    "system_u:object_r:container_file_t:s0:c5,c6", true },
		{ "system_u:system_r:container_t:s0:c5,c6", NULL, NULL, NULL, "system_u:system_r:nvidia_container_t:s0:c5,c7",
		    "system_u:object_r:container_file_t:s0:c5,c7", false },
		{ "u_u:r_r:container_t:s0:c5,c6", NULL, NULL, NULL, "system_u:system_r:nvidia_container_t:s0:c5,c6",
		    "system_u:object_r:container_file_t:s0:c5,c6", false },
		{ "u_u:r_r:container_t:s0:c5,c6", NULL, NULL, NULL, "u_u:r_r:nvidia_container_t:s0:c5,c6", "u_u:object_r:container_file_t:s0:c5,c6", true },
		/* the policy's */
		{ NULL, NULL, "my_t", "s0:c9,c8", "system_u:system_r:my_t:s0:c8,c9", "system_u:object_r:container_file_t:s0:c8,c9", true },
		/* the kernel's spelling */
		{ NULL, NULL, "my_t", "s0:c1,c2,c3", "system_u:system_r:my_t:s0:c1.c3", "system_u:object_r:container_file_t:s0:c1.c3", true },
		{ "system_u:system_r:container_t:s0:c5,c6,c7", NULL, NULL, NULL, "system_u:system_r:nvidia_container_t:s0:c5.c7", "system_u:object_r:container_file_t:s0:c5,c6,c7", true },
		{ NULL, NULL, "my_t", "s0:c1,c2,c3", "system_u:system_r:my_t:s0:c1.c4", "system_u:object_r:container_file_t:s0:c1.c4", false },
		{ NULL, NULL, "my_t", "s0:c1,c2", "system_u:system_r:my_t:s0-s0:c1,c2", "system_u:object_r:container_file_t:s0-s0:c1,c2", false },
		{ NULL, NULL, "my_t", "s0:c9,c8", "system_u:system_r:my_t:s0:c8,c10", "system_u:object_r:container_file_t:s0:c8,c10", false },
		{ NULL, NULL, "my_t", "s0", "system_u:system_r:my_t:s0", "system_u:object_r:container_file_t:s0", true },
		{ NULL, NULL, "my_t", "s0", "system_u:system_r:nvidia_container_t:s0", "system_u:object_r:container_file_t:s0", false },
		{ NULL, NULL, "my_t", "s0", "system_u:system_r:my_t:s0", "system_u:object_r:etc_t:s0", false },
		{ NULL, NULL, "my_t", "s0", "system_u:system_r:my_t:s0", "system_u:system_r:container_file_t:s0", false },
		{ NULL, NULL, NULL, NULL, "", NULL, false }, { NULL, NULL, NULL, NULL, NULL, "system_u:object_r:container_file_t:s0", false },
	};
	struct asked a;
	size_t i;

	for (i = 0; i < COUNT(t); i++) {
		begin(&a);
		a.r.spec.label = TEXT(t[i].engines);
		a.r.spec.mount_label = TEXT(t[i].engines_mount);
		a.p.selinux_type = TEXT(t[i].type);
		a.p.selinux_level = TEXT(t[i].level);
		a.e.label = TEXT(t[i].label);
		a.e.mount_label = TEXT(t[i].mount);
		a.v.enforcing = true;
		ok(passes(&a) == t[i].passes, "label %s, %s (engine's %s, policy's %s) %s", t[i].label ? t[i].label : "none", t[i].mount ? t[i].mount : "none",
		    t[i].engines ? t[i].engines : "none", t[i].level ? t[i].level : "none", t[i].passes ? "passes" : "is refused");
	}
	begin(&a);
	ok(passes(&a), "no label passes where SELinux does not enforce");
	a.v.enforcing = true;
	ok(!passes(&a), "no label is refused where SELinux enforces");
}

#define UUID "GPU-11111111-2222-3333-4444-555555555555"

static void
test_env(void)
{
	static const struct {
		const char *entry;
		enum driver_files files;
		bool allocation, passes;
	} t[] = {
		{ "NVIDIA_VISIBLE_DEVICES=" UUID "," UUID, DRIVER_FILES_VENDOR_RUNTIME, false, true },
		{ "NVIDIA_VISIBLE_DEVICES=" UUID, DRIVER_FILES_AUTO, false, false },
		{ "NVIDIA_VISIBLE_DEVICES=" UUID ",all", DRIVER_FILES_VENDOR_RUNTIME, false, false },
		{ "NVIDIA_VISIBLE_DEVICES=all", DRIVER_FILES_VENDOR_RUNTIME, false, false },
		{ "NVIDIA_VISIBLE_DEVICES=", DRIVER_FILES_VENDOR_RUNTIME, false, false },
		{ "AMD_VISIBLE_DEVICES=all", DRIVER_FILES_VENDOR_RUNTIME, false, false },
		{ "NVIDIA_DRIVER_CAPABILITIES=all", DRIVER_FILES_VENDOR_RUNTIME, false, false },
		{ "NVIDIA_VISIBLE_DEVICES=/dev/x", DRIVER_FILES_VENDOR_RUNTIME, false, false },
		{ "NVIDIA_DRIVER_CAPABILITIES=compute,utility", DRIVER_FILES_VENDOR_RUNTIME, false, true },
		{ "AMD_VISIBLE_DEVICES=0x0123456789abcdef", DRIVER_FILES_VENDOR_RUNTIME, false, true },
		{ "CUDA_VISIBLE_DEVICES=0,1", DRIVER_FILES_AUTO, true, true }, { "CUDA_VISIBLE_DEVICES=0", DRIVER_FILES_AUTO, false, false },
		{ "CUDA_VISIBLE_DEVICES=x", DRIVER_FILES_AUTO, true, false }, { "ROCR_VISIBLE_DEVICES=", DRIVER_FILES_AUTO, true, true },
		{ "CUDA_VISIBLE_DEVICES", DRIVER_FILES_AUTO, true, false }, { "CUDA_VISIBLE_DEVICES2=1", DRIVER_FILES_AUTO, true, false },
		{ "FROM_SPEC=1", DRIVER_FILES_AUTO, false, true }, { "FROM_SPEC=1", DRIVER_FILES_NONE, false, false },
		{ "FROM_POLICY=1", DRIVER_FILES_NONE, false, true }, { "FROM_POLICY=12", DRIVER_FILES_NONE, false, false },
	};
	struct edit_node gpu = model_gpu;
	struct asked a;
	size_t i;

	for (i = 0; i < COUNT(t); i++) {
		char *v[] = { TEXT(t[i].entry) };

		begin(&a);
		a.e.env = (struct strlist){ v, 1 };
		a.e.node = &gpu;
		a.e.nodes = 1;
		a.s.driver_files = t[i].files;
		a.s.respect_allocation = t[i].allocation;
		ok(passes(&a) == t[i].passes, "%s, driver_files %d, allocation %d: %s", t[i].entry, (int)t[i].files, t[i].allocation,
		    t[i].passes ? "passes" : "is refused");
	}
}

/* What gpuhelper.conf or the spec switches off. */
static void
test_settings(void)
{
	struct edit_node node = model_gpu;
	struct asked a;
	uint8_t hook[] = { 0, 3 };

	begin(&a);
	model_edits(hook, sizeof(hook), &a.e);
	ok(!passes(&a), "a spec's hook is refused without cdi_hooks");
	a.s.cdi_hooks = true;
	ok(passes(&a), "  and passes with it");
	a.source[0].safe_hooks = false;
	ok(!passes(&a), "  and is refused if the spec has unsafe hooks");
	a.source[0].safe_hooks = true;
	a.s.driver_files = DRIVER_FILES_NONE;
	ok(!passes(&a), "  and without driver_files");
	edits_free(&a.e);

	begin(&a);
	a.e.node = &node;
	a.e.nodes = 1;
	ok(passes(&a), "a GPU's node passes");
	a.p.gpus = 0;
	ok(!passes(&a), "  and is refused by a policy without GPUs");
}

/* As model_see_file(), but with a real path that no list of the host's own directories has. */
static bool
see_with_slashes(void *host, const char *path, struct vet_file *f)
{
	if (!model_see_file(host, path, f))
		return false;
	snprintf(f->real, sizeof(f->real), "/%s", path);
	return true;
}

/* A source must be spelt as every path is, whatever the look at the host says. */
static void
test_slashes(void)
{
	static const char *const none[] = { NULL };
	struct edit_node node = model_gpu;
	char options[] = RW;
	struct asked a;

	begin(&a);
	a.e.node = &node;
	a.e.nodes = 1;
	ok(edits_add_mount(&a.e, "//etc/rw", "/usr/share/etc", none), "a mount of //etc/rw");
	words(&a.e.mount[0].options, options);
	a.e.mount[0].driver = true;
	a.v.host_view.file = see_with_slashes;
	ok(!passes(&a), "  is refused, even if a look at the host gives that path");
	a.e.node = NULL;
	a.e.nodes = 0;
	edits_free(&a.e);
}

/* What the rules say of GPUs: which, how many, and for what. */
static void
test_rules(void)
{
	static char *const names[] = { TEXT("3b:00.0"), TEXT("0000:3B:00.0"), TEXT("all"), TEXT("0"), TEXT("#0"), TEXT("nvidia.com/gpu=0"), TEXT("3b:00.0:1:0"), TEXT("0000:3b:00.0:1"),
		TEXT("MIG-x") }, *const others[] = { TEXT("af:00.0"), TEXT("0000:3b:00.1"), TEXT("GPU-11111111-2222-3333-4444-555555555555"), TEXT("af:00.0:1:0"), TEXT("3b:00.0:x") };
	struct edit_node two[] = { model_gpu, { .path = "/dev/nvidia1", .major = 195, .minor = 1, .mode = 0600, .uid = 7, .gid = 44 } };
	struct edit_node set = { .path = "/dev/nvidia-modeset", .major = 195, .minor = 254, .mode = 0666 };
	struct devmajor more[] = { { 195, 'c', "nvidia" }, { 195, 'c', "nvidia-modeset" }, { 250, 'c', IMEX_DRIVER } };
	struct gpu_rule rule = model_rule;
	struct devmajors majors = { more, 3 };
	struct asked a;
	size_t i;
	char *name;

	for (i = 0; i < COUNT(names) + COUNT(others); i++) {
		begin(&a);
		name = i < COUNT(names) ? names[i] : others[i - COUNT(names)];
		rule.devices = (struct strlist){ &name, 1 };
		a.p.gpu = &rule;
		a.e.node = two;
		a.e.nodes = 1;
		ok(passes(&a) == (i < COUNT(names)), "devices = [ \"%s\" ]: the GPU %s", name, i < COUNT(names) ? "passes" : "is refused");
	}
	rule.devices.n = 0;
	rule.count = 1;
	begin(&a);
	a.p.gpu = &rule;
	a.e.node = two;
	a.e.nodes = 2;
	ok(!passes(&a), "count = 1: two GPUs are refused");
	a.e.promise = true;
	ok(passes(&a), "  unless they are only promised");
	a.e.promise = false;
	a.v.majors = &majors;
	a.e.node = &set;
	a.e.nodes = 1;
	ok(!passes(&a), "modeset is refused without graphics or display");
	rule.capabilities = GPU_CAP_DISPLAY;
	ok(passes(&a), "  and passes with it");
	begin(&a);
	a.r.spec.privileged = true;
	a.s.privileged = PRIVILEGED_DENY;
	ok(!passes(&a), "a privileged container is refused by a policy that does not allow it");
	a.p.privileged = true;
	ok(passes(&a), "  and passes with one that does");
	a.p.privileged = false;
	a.s.privileged = PRIVILEGED_ALLOW;
	ok(passes(&a), "  and where all may be privileged");
}

int
main(void)
{
	test_oracle();
	test_each();
	test_labels();
	test_env();
	test_settings();
	test_slashes();
	test_rules();
	return done_testing();
}
