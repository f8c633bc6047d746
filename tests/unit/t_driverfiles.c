/*
 * host/driver/driverfiles.c: which variables of CDI specs a container gets that is promised GPUs before it is known which
 * of them its tasks take. Made-up GPUs and specs, without files; t_drivernames.c and the container tests have those.
 */
#include "gpu/gpu.h"
#include "host/driver/driverfiles.h"
#include "lease/editsdriver.h"
#include "tap.h"

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))
#define TEXT(s) ((char *)(uintptr_t)(s))
#define SHOWN 1024

/* Four GPUs. The first two can have a spec each, or one together. */
static char *names[] = { TEXT("nvidia.com/gpu=0"), TEXT("nvidia.com/gpu=1"), TEXT("amd.com/gpu=0"), TEXT("amd.com/gpu=1") };
static struct gpu gpus[] = {
	{ .vendor = GPU_NVIDIA, .pci = "0000:3b:00.0", .cdi = { &names[0], 1 } },
	{ .vendor = GPU_NVIDIA, .pci = "0000:af:00.0", .cdi = { &names[1], 1 } },
	{ .vendor = GPU_AMD, .pci = "0000:03:00.0", .cdi = { &names[2], 1 } },
	{ .vendor = GPU_AMD, .pci = "0000:04:00.0", .cdi = { &names[3], 1 } },
};
static const struct inventory host = { .gpu = gpus, .gpus = COUNT(gpus), .nvidia_version = "580.95.05" };
static const struct gpu_rule any = { .has_vendor = true, .vendor = GPU_NVIDIA, .count = 1 },
	other = { .has_vendor = true, .vendor = GPU_AMD, .count = 1 };

/* What each file and each device sets; a list ends with NULL. */
struct model {
	const char *spec[COUNT(gpus)][4], *device[COUNT(gpus)][4];
	size_t file_of[COUNT(gpus)];
};

static struct strlist
list(const char *const v[4])
{
	struct strlist l = { .v = (char **)(uintptr_t)v };

	while (l.n < 4 && v[l.n] != NULL)
		l.n++;
	return l;
}

/* The variables of a container for these GPUs, which rules grant; with spaces between them, sorted as they come. */
static const char *
variables(const struct model *m, const struct granted_gpu *granted, size_t n, bool promise)
{
	static char out[SHOWN];
	static char *paths[] = { TEXT("/etc/cdi/a.json"), TEXT("/etc/cdi/b.json"), TEXT("/etc/cdi/c.json"),
		TEXT("/etc/cdi/d.json") };
	struct cdi_file file[COUNT(gpus)] = { { .path = NULL } };
	struct cdi_device device[COUNT(gpus)] = { { .name = NULL } };
	/* sorted by name */
	static const size_t order[] = { 2, 3, 0, 1 };
	struct cdi_entry entry[COUNT(gpus)];
	const struct cdi_registry specs = { .file = file, .files = COUNT(gpus), .entry = entry, .entries = COUNT(gpus) };
	const struct settings settings = { .driver_files = DRIVER_FILES_AUTO };
	const struct driver_question q = { &specs, &host, &settings, granted, n, promise };
	autocontaineredits struct edits e = { 0 };
	autostrlist struct strlist used = { 0 };
	struct why why;
	size_t i;

	for (i = 0; i < COUNT(gpus); i++) {
		file[i].path = paths[i];
		file[i].spec.edits.env = list(m->spec[i]);
		device[i].edits.env = list(m->device[i]);
	}
	for (i = 0; i < COUNT(gpus); i++)
		entry[i] = (struct cdi_entry){ .name = names[order[i]], .file = &file[m->file_of[order[i]]],
			.device = &device[order[i]] };
	snprintf(out, sizeof(out), "%s", driver_files(&q, &e, &used, &why) == -1 ? why.text : "");
	for (i = 0; i < e.env.n; i++)
		snprintf(out + strlen(out), sizeof(out) - strlen(out), "%s%s", i > 0 ? " " : "", e.env.v[i]);
	return out;
}

static void
test_variables(void)
{
	static const struct granted_gpu two[] = { { &gpus[0], &any }, { &gpus[1], &any } };
	static const struct granted_gpu vendors[] = { { &gpus[0], &any }, { &gpus[1], &any }, { &gpus[2], &other } };
	static const struct model one = { .spec = { { "SPEC=1" } },
		.device = { { "ALIKE=1", "IS=zero" }, { "ALIKE=1", "IS=one" } }, .file_of = { 0, 0, 2, 2 } };
	static const struct model each = { .spec = { { "ALIKE=1", "IS=zero", "FIRST=1" }, { "IS=one", "ALIKE=1" } },
		.file_of = { 0, 1, 2, 2 } };
	static const struct model mixed = { .spec = { { "IS=zero", "BOTH=1" }, { NULL } },
		.device = { { NULL }, { "IS=one", "BOTH=1" } }, .file_of = { 0, 1, 2, 2 } };
	static const struct model further = { .spec = { { "IS=zero", "NVIDIA=1" }, { "IS=one", "NVIDIA=1" }, { "AMD=1" } },
		.device = { { NULL }, { NULL }, { "AMD_IS=zero" } }, .file_of = { 0, 1, 2, 2 } };

	is_str(variables(&one, two, 2, true), "SPEC=1 ALIKE=1", "one spec: all of its own, and of its devices what both set");
	is_str(variables(&one, two, 1, true), "SPEC=1 ALIKE=1 IS=zero", "  and for one GPU all of its device");
	is_str(variables(&each, two, 2, true), "ALIKE=1", "a spec for each GPU: what both of them set alike");
	is_str(variables(&each, two, 1, true), "ALIKE=1 IS=zero FIRST=1", "  and for one GPU all of its spec");
	is_str(variables(&each, &two[1], 1, true), "IS=one ALIKE=1", "  and for the other one");
	is_str(variables(&each, two, 2, false), "ALIKE=1 IS=zero FIRST=1",
	    "GPUs that come with the container: the first spec that sets a variable counts");
	is_str(variables(&mixed, two, 2, true), "BOTH=1", "a spec's variable and another spec's device's");
	is_str(variables(&further, vendors, 3, true), "NVIDIA=1 AMD=1 AMD_IS=zero",
	    "each task has a GPU of each rule: of the GPUs of one rule, what all of them set alike");
	is_str(variables(&further, vendors, 3, false), "IS=zero NVIDIA=1 AMD=1 AMD_IS=zero", "  and all of them with the container");
}

int
main(void)
{
	test_variables();
	return done_testing();
}
