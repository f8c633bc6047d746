/*
 * gpu/gpu.c, and host/gpu/gpus.c on fixture trees and on small trees made here. Every expected value
 * is written out; the code under test computes none of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../helper/base/cleanup.h"
#include "../../helper/gpu/gpufacts.h"
#include "../../helper/host/file.h"
#include "../../helper/host/gpu/gpus.h"
#include "gpu/gpufind.h"
#include "tap.h"

#define ALL_VENDORS (1U << GPU_NVIDIA | 1U << GPU_AMD | 1U << GPU_INTEL)
#define EVERY_CAPABILITY 0x7fU
#define NOT_UTILITY (EVERY_CAPABILITY & ~(unsigned)GPU_CAP_UTILITY)

static const char *sysroot;

/* Whether the text may go into a log: one line, not empty, and no capital at the start. */
static bool
is_line(const char *s)
{
	const char *p;

	for (p = s; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	return *s != '\0' && !(*s >= 'A' && *s <= 'Z');
}

static char *
fixture(const char *path)
{
	autoclose int fd = open(sysroot, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *text = fd == -1 ? NULL : file_read_at(fd, path, 1 << 20, NULL);

	if (text == NULL) {
		fprintf(stderr, "%s/%s: %s: is TESTS_DIR right?\n", sysroot, path, strerror(errno));
		exit(2);
	}
	return text;
}

static int
find_at(const char *path, unsigned vendors, struct inventory *inv, struct why *why)
{
	autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct gpu_source src = { .root = fd, .drm = NULL };

	*why = (struct why){ 0 };
	return gpus_find(&src, vendors, inv, why);
}

static int
find(const char *tree, unsigned vendors, struct inventory *inv)
{
	char path[PATH_MAX];
	struct why why;
	int r;

	snprintf(path, sizeof(path), "%s/%s", sysroot, tree);
	r = find_at(path, vendors, inv, &why);
	is_int(r, 0, "%s: the GPUs are found: %s", tree, why.text);
	return r;
}

/* "path major:minor needed_for[?]" of node i, or "" if there are fewer. */
static const char *
node(const struct gpu_node *v, size_t n, size_t i)
{
	static char text[4][128];
	static unsigned turn;
	char *out = text[turn++ % 4];

	if (i >= n)
		return "";
	snprintf(out, sizeof(text[0]), "%s %u:%u %#x%s", v[i].path, v[i].major, v[i].minor,
	    v[i].needed_for, v[i].optional ? "?" : "");
	return out;
}

/* "rank pci/partition uuid model path" of GPU i. */
static const char *
gpu(const struct inventory *inv, size_t i)
{
	static char text[512];
	const struct gpu *g = i < inv->gpus ? &inv->gpu[i] : NULL;

	if (g == NULL)
		return "";
	if (g->unusable[0] != '\0')
		snprintf(text, sizeof(text), "- %s: %s", g->pci, g->unusable);
	else
		snprintf(text, sizeof(text), "%u %s/%u %s %s%s %s", g->rank, g->pci, g->partition,
		    g->uuid[0] == '\0' ? "?" : g->uuid, g->model,
		    g->integrated ? " integrated" : "",
		    node(g->node, g->nodes, 0));
	return text;
}

static void
test_names(void)
{
	enum gpu_vendor v = GPU_VENDORS;
	unsigned bit = 0;

	is_str(gpu_vendor_name(GPU_NVIDIA), "nvidia", "a vendor has a name");
	is_str(gpu_vendor_name(GPU_VENDORS), "unknown", "an unknown vendor is named so");
	ok(gpu_vendor_parse("amd", &v) && v == GPU_AMD, "the vendor amd is read");
	ok(gpu_vendor_parse("intel", &v) && v == GPU_INTEL, "the vendor intel is read");
	ok(!gpu_vendor_parse("NVIDIA", &v) && !gpu_vendor_parse("", &v) &&
	    !gpu_vendor_parse("nvidi", &v) && !gpu_vendor_parse("nvidia ", &v),
	    "another spelling is no vendor");
	ok(gpu_capability_parse("compute", &bit) && bit == GPU_CAP_COMPUTE,
	    "the capability compute is read");
	ok(gpu_capability_parse("utility", &bit) && bit == GPU_CAP_UTILITY,
	    "the capability utility is read");
	ok(gpu_capability_parse("graphics", &bit) && bit == GPU_CAP_GRAPHICS,
	    "the capability graphics is read");
	ok(gpu_capability_parse("video", &bit) && bit == GPU_CAP_VIDEO,
	    "the capability video is read");
	ok(gpu_capability_parse("display", &bit) && bit == GPU_CAP_DISPLAY,
	    "the capability display is read");
	ok(gpu_capability_parse("ngx", &bit) && bit == GPU_CAP_NGX, "the capability ngx is read");
	ok(gpu_capability_parse("compat32", &bit) && bit == GPU_CAP_COMPAT32,
	    "the capability compat32 is read");
	ok(gpu_capability_parse("all", &bit) && bit == EVERY_CAPABILITY,
	    "the capability all is read");
	bit = 99;
	ok(!gpu_capability_parse("Compute", &bit) && !gpu_capability_parse("", &bit) &&
	    !gpu_capability_parse("compute,utility", &bit) && bit == 99,
	    "another spelling is no capability");
}

static void
test_pci_address(void)
{
	static const struct { const char *in, *out; } good[] = {
		{ "0000:3b:00.0", "0000:3b:00.0" },
		{ "00000000:3B:00.0", "0000:3b:00.0" },
		{ "3b:00.0", "0000:3b:00.0" },
		{ "FFFF:FF:1F.7", "ffff:ff:1f.7" },
		{ "10000:e1:00.0", "10000:e1:00.0" },
		{ "00010000:e1:00.0", "10000:e1:00.0" },
		{ "0fffffff:00:00.0", "fffffff:00:00.0" },
	};
	static const char *const bad[] = {
		"", "0", ":", "::", "0000", "0000:", "0000:3b", "0000:3b:00", "0000:3b:00.",
		"0000:3b:00.8", "0000:3b:20.0", "0000:3b:00.00", "0000:3b:0.0", "0000:b:00.0",
		"000:3b:00.0", "000000000:3b:00.0", "10000000:3b:00.0", "0000:3b:00.0 ",
		" 0000:3b:00.0", "0000:3b:00.0\n", "0000:3g:00.0", "0000:3b:00:0", "0000.3b:00.0",
		"0000:0000:3b:00.0", "+000:3b:00.0", "0x00:3b:00.0", "3b:00.0.0", ":3b:00.0",
		"0000:3b:00.0/../x", "-001:3b:00.0",
	};
	char out[16];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		ok(pci_address_normalise(good[i].in, out),
		    "\"%s\" is read as an address", good[i].in);
		is_str(out, good[i].out, "\"%s\" is normalised", good[i].in);
	}
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!pci_address_normalise(bad[i], out), "\"%s\" is refused as an address", bad[i]);
}

static void
test_devmajors(void)
{
	autofree char *odd = fixture("nvidia-odd/proc/devices");
	autofree char *h200 = fixture("nvidia-h200/proc/devices");
	struct devmajors m;
	struct why why = { 0 };
	uint32_t major = 7;

	is_int(devmajors_parse(odd, &m, &why), 0, "/proc/devices of nvidia-odd is read");
	ok(!devmajors_char(&m, "nvidia", &major) && major == 7,
	    "a block device's major is not found as a char device's");
	ok(devmajors_char(&m, "nvidia-frontend", &major) && major == 195,
	    "the major of nvidia-frontend is found");
	ok(devmajors_char(&m, "nvidia-uvm", &major) && major == 511,
	    "the major of the char device nvidia-uvm is found, not the block device's");
	ok(!devmajors_char(&m, "nvidia-", &major) && !devmajors_char(&m, "nvidia-cap", &major) &&
	    !devmajors_char(&m, "", &major) && !devmajors_char(&m, "not-a-gpu", &major),
	    "only whole names are found");
	ok(devmajors_is_gpu(&m, 195) && devmajors_is_gpu(&m, 226) && devmajors_is_gpu(&m, 261) &&
	    devmajors_is_gpu(&m, 235) && devmajors_is_gpu(&m, 511),
	    "the majors of GPUs are recognised");
	ok(!devmajors_is_gpu(&m, 99) && !devmajors_is_gpu(&m, 252) && !devmajors_is_gpu(&m, 1) &&
	    !devmajors_is_gpu(&m, 8) && !devmajors_is_gpu(&m, 512), "other majors are not");
	devmajors_free(&m);
	is_int(devmajors_parse(h200, &m, &why), 0,
	    "/proc/devices of nvidia-h200 is read: %s", why.text);
	is_int(m.n, 38, "all of its lines are read");
	ok(!devmajors_char(&m, "infiniband_verbs", &major), "a name with two majors is not found");
	ok(devmajors_char(&m, "cpu/cpuid", &major) && major == 203, "a name with a slash is found");
	ok(devmajors_is_gpu(&m, 239) && devmajors_is_gpu(&m, 242),
	    "the majors of nvswitch and imex count as GPUs'");
	devmajors_free(&m);
	is_int(devmajors_parse("Character devices:\n 29 fb\n236 kfd\n240 gdrdrv\n241 kfd2\n", &m,
	    &why), 0, "a list without block devices is read");
	ok(devmajors_is_gpu(&m, 236) && devmajors_is_gpu(&m, 240) && !devmajors_is_gpu(&m, 241) &&
	    !devmajors_is_gpu(&m, 29), "kfd and gdrdrv are recognised by their names");
	ok(devmajors_is_gpu(&m, 195) && devmajors_is_gpu(&m, 226),
	    "fixed majors count even without a driver");
	devmajors_free(&m);
	is_int(devmajors_parse("Character devices:\n195 nvidia\n195 nvidia\n", &m, &why), 0,
	    "a list with a duplicate line is read");
	ok(devmajors_char(&m, "nvidia", &major) && major == 195,
	    "the duplicate line gives one major");
	devmajors_free(&m);
}

static void
test_devmajors_bad(void)
{
	static const char *const bad[] = {
		"", "\n", "195 nvidia\n", "Block devices:\n195 nvidia\n", "Character devices:",
		"Character devices:\n195 nvidia", "Character devices:\nnvidia\n",
		"Character devices:\n-195 nvidia\n", "Character devices:\n0x195 nvidia\n",
		"Character devices:\n195\n", "Character devices:\n195 \n",
		"Character devices:\n195  nvidia\n", "Character devices:\n0 nvidia\n",
		"Character devices:\n4096 nvidia\n",
		"Character devices:\n99999999999999999999 nvidia\n",
		"Character devices:\n0195 nvidia\n", "Character devices:\nCharacter devices:\n",
		"Character devices:\n1 mem\nBlock devices:\n8 sd\nCharacter devices:\n195 nvidia\n",
		("Character devices:\n1 "
		    "a-name-longer-than-the-kernel-lets-be-01234567890123456789012345\n"),
		"character devices:\n195 nvidia\n", "Character devices: \n195 nvidia\n",
	};
	autofree char *whole = fixture("nvidia-2gpu/proc/devices");
	struct devmajors m;
	struct why why;
	size_t i, len = strlen(whole), wrong = 0;
	uint32_t major;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		is_int(devmajors_parse(bad[i], &m, &why), -1,
		    "the list is refused: \"%.60s\"", bad[i]);
		ok(m.v == NULL && m.n == 0 && is_line(why.text),
		    "  nothing is kept, and the message says why");
	}
	/*
	 * a list that is truncated at any byte is refused, or has no number that the whole list
	 * lacks
	 */
	for (i = 0; i < len; i++) {
		autofree char *cut = strndup(whole, i);

		if (devmajors_parse(cut, &m, &why) == -1)
			continue;
		wrong += devmajors_char(&m, "nvidia", &major) && major != 195;
		wrong += devmajors_char(&m, "nvidia-uvm", &major) && major != 510;
		wrong += cut[i - 1] != '\n';
		devmajors_free(&m);
	}
	is_int(wrong, 0,
	    "/proc/devices truncated to each of %zu lengths gives no wrong major", len);
}
static void
test_information(void)
{
	static const char path[] = "nvidia-2gpu/proc/driver/nvidia/gpus/0000:af:00.0/information";
	autofree char *text = fixture(path);
	struct why why = { 0 };
	struct gpu g;
	uint32_t minor = 9;

	is_int(nvidia_information_parse("0000:af:00.0", text, &g, &minor, &why), 0,
	    "the information file is read");
	is_int(minor, 1, "the minor is read");
	is_str(g.pci, "0000:af:00.0", "the address is read");
	is_str(g.uuid, "GPU-0d5b2d8e-8f0d-4a1e-9b2b-6a1b7f0c1d22", "the UUID is read");
	is_str(g.model, "NVIDIA A100-PCIE-40GB", "the model is read");
	is_str(g.unusable, "", "the GPU is usable");
	is_int(g.vendor, GPU_NVIDIA, "the vendor is set");
	is_int(nvidia_information_parse("0000:3b:00.0", text, &g, &minor, &why), -1,
	    "an information file in another GPU's directory is refused");
	is_str(why.text, "its information file does not say Bus Location 0000:3b:00.0: see dmesg",
	    "the message says why");
	ok(g.unusable[0] != '\0' && strcmp(g.pci, "0000:3b:00.0") == 0,
	    "the GPU is listed as unusable");
	is_int(nvidia_information_parse("../../etc", text, &g, &minor, &why), -1,
	    "a directory whose name is no address is refused");
	is_str(g.pci, "", "a GPU of such a directory has no address");
	is_int(nvidia_information_parse("0000:af:00.0", "", &g, &minor, &why), -1,
	    "an empty information file is refused");
	is_int(why.code, WHY_ABSENT, "a GPU that does not wake up counts as absent");
}

/* Reads the information of nvidia-2gpu's second GPU with one line replaced. */
static int
with_line(const char *from, const char *to, struct gpu *g, uint32_t *minor)
{
	autofree char *text =
	    fixture("nvidia-2gpu/proc/driver/nvidia/gpus/0000:af:00.0/information");
	autofree char *edited = NULL;
	char *at = strstr(text, from);
	struct why why;

	if (at == NULL || asprintf(&edited, "%.*s%s%s", (int)(at - text), text, to,
	    strchr(at, '\n')) == -1) {
		edited = NULL;
		return 99;
	}
	*minor = 4711;
	return nvidia_information_parse("0000:af:00.0", edited, g, minor, &why);
}

static void
test_information_lines(void)
{
	static const char *const minors[] = {
		"Device Minor: \t 248", "Device Minor: \t 255", "Device Minor: \t -1",
		"Device Minor: \t 4294967295", "Device Minor: \t 18446744073709551617",
		"Device Minor: \t 0x1", "Device Minor: \t 01", "Device Minor: \t 1 2",
		"Device Minor: \t ", "Device Minor:", "Device Minor", "device minor: 1",
		" Device Minor: 1", "Device Minor: 1\nDevice Minor: 2",
		"Device Minor: 1\nDevice Minor: 1",
		"Device Minor: 1\r",
	};
	static const char *const uuids[] = {
		/* escaped: "??-" is a trigraph */
		"GPU UUID:GPU-\?\?\?\?\?\?\?\?-\?\?\?\?-\?\?\?\?-\?\?\?\?-\?\?\?\?\?\?\?\?\?\?\?\?",
		"GPU UUID: \t ", "GPU UUID:",
		"GPU UUID: GPU-0d5b2d8e-8f0d-4a1e-9b2b-6a1b7f0c1d2",
		"GPU UUID: GPU-0d5b2d8e-8f0d-4a1e-9b2b-6a1b7f0c1d222",
		"GPU UUID: GPU-0d5b2d8e-8f0d-4a1e-9b2b_6a1b7f0c1d22", "GPU UUID: all",
		"GPU UUID: 0",
		"GPU UUID: gpu-0d5b2d8e-8f0d-4a1e-9b2b-6a1b7f0c1d22", "IRQ: 1",
		"GPU UUID: GPU-0d5b2d8e-8f0d-4a1e-9b2b-6a1b7f0c1d22\nGPU UUID: 1",
	};
	struct gpu g;
	uint32_t minor;
	size_t i;

	is_int(with_line("Device Minor", "Device Minor: \t 247", &g, &minor), 0,
	    "the greatest minor is accepted");
	is_int(minor, 247, "the minor is 247");
	ok(with_line("Model", "Device Minority: 9", &g, &minor) == 0 && minor == 1,
	    "a key that only begins with \"Device Minor\" is ignored");
	for (i = 0; i < sizeof(minors) / sizeof(*minors); i++)
		ok(with_line("Device Minor", minors[i], &g, &minor) == -1 && minor == 4711,
		    "a file without a valid minor is refused: \"%s\"", minors[i]);
	for (i = 0; i < sizeof(uuids) / sizeof(*uuids); i++) {
		is_int(with_line("GPU UUID", uuids[i], &g, &minor), 0,
		    "a file without a valid UUID is read: \"%s\"", uuids[i]);
		is_str(g.uuid, "", "  the UUID is unknown: \"%s\"", uuids[i]);
	}
	is_int(with_line("GPU UUID", "GPU UUID: GPU-0D5B2D8E-8F0D-4A1E-9B2B-6A1B7F0C1D22", &g,
	    &minor), 0, "a UUID in upper case is read");
	is_str(g.uuid, "GPU-0d5b2d8e-8f0d-4a1e-9b2b-6a1b7f0c1d22",
	    "a UUID is stored in lower case");
	is_int(with_line("GPU Excluded", "GPU Excluded:\t Yes", &g, &minor), 0,
	    "the information of an excluded GPU is read");
	is_str(g.unusable, "excluded by the driver: see its parameter NVreg_ExcludedGpus",
	    "an excluded GPU is unusable");
	is_int(with_line("GPU Excluded", "Blacklisted:\t Yes", &g, &minor), 0,
	    "the information of a blacklisted GPU is read");
	is_str(g.unusable, "excluded by the driver: see its parameter NVreg_ExcludedGpus",
	    "a blacklisted GPU is unusable");
	is_int(with_line("GPU Excluded", "GPU Excluded:\t Maybe", &g, &minor), 0,
	    "the information of a GPU with an unclear exclusion is read");
	ok(g.unusable[0] != '\0', "an unclear exclusion counts as one");
	is_int(with_line("GPU Excluded", "GPU Excluded: No\nGPU Excluded: Yes", &g, &minor), 0,
	    "the information of a GPU with two exclusion lines is read");
	ok(g.unusable[0] != '\0', "two contradicting exclusions count as one");
	is_int(with_line("GPU Excluded", "IRQ: 1", &g, &minor), 0,
	    "the information from a driver without exclusions is read");
	is_str(g.unusable, "", "the GPU is usable");
	is_int(with_line("Model", "Model: \t\t evil\x1b[2J\x01model\xff", &g, &minor), 0,
	    "a model with control bytes is read");
	is_str(g.model, "evil?[2J?model?", "a model's control bytes are replaced");
}

static void
test_information_location(void)
{
	struct gpu g;
	uint32_t minor;

	is_int(with_line("Bus Location", "Bus Location: \t 0000:af:00.1", &g, &minor), -1,
	    "another GPU's location is refused");
	is_int(with_line("Bus Location", "IRQ: 1", &g, &minor), -1,
	    "a missing location is refused");
	is_int(with_line("Bus Location", "Bus Location: 00000000:AF:00.0", &g, &minor), 0,
	    "a location in NVML's format is accepted");
}

static void
test_information_hostile(void)
{
	static const char bytes[] = "\n\t :?\x01\xff" "09AZ%-";
	autofree char *whole =
	    fixture("nvidia-2gpu/proc/driver/nvidia/gpus/0000:af:00.0/information");
	size_t len = strlen(whole), i, b, read = 0, wrong = 0;
	struct why why;
	struct gpu g;
	uint32_t minor;

	for (i = 0; i <= len; i++) {
		autofree char *cut = strndup(whole, i);

		if (nvidia_information_parse("0000:af:00.0", cut, &g, &minor, &why) == 0) {
			read++;
			wrong += minor != 1 || strcmp(g.pci, "0000:af:00.0") != 0;
		} else
			wrong += !is_line(why.text) || g.unusable[0] == '\0';
	}
	is_int(wrong, 0,
	    "truncated to each of %zu lengths, the file never gives another minor", len);
	/* the last two lines may be missing: GPU Firmware and GPU Excluded */
	is_int(read, strlen("GPU Firmware: \t 580.95.05\nGPU Excluded:\t No\n") + 1,
	    "the file is read from the length at which the minor's line is complete");
	for (i = wrong = 0; i < len; i++)
		for (b = 0; b < sizeof(bytes) - 1; b++) {
			autofree char *edited = strdup(whole);

			edited[i] = bytes[b];
			if (nvidia_information_parse("0000:af:00.0", edited, &g, &minor, &why) == 0)
				wrong += minor > 247 || strcmp(g.pci, "0000:af:00.0") != 0 ||
				    (g.uuid[0] != '\0' && strlen(g.uuid) != 40);
			else
				wrong += !is_line(why.text);
		}
	is_int(wrong, 0,
	    "each byte replaced by each of %zu others never gives invalid values",
	    sizeof(bytes) - 1);
}

static void
test_params(void)
{
	autofree char *odd = fixture("nvidia-odd/proc/driver/nvidia/params");
	struct inventory inv = { 0 };

	nvidia_params_parse("", &inv);
	ok(inv.nvidia_modify && inv.nvidia_uid == 0 && inv.nvidia_gid == 0,
	    "missing parameters have their defaults");
	is_int(inv.nvidia_mode, 0666, "the default mode is 0666");
	nvidia_params_parse(odd, &inv);
	ok(!inv.nvidia_modify, "ModifyDeviceFiles is read");
	ok(inv.nvidia_uid == 0 && inv.nvidia_gid == 44, "the owner is read");
	is_int(inv.nvidia_mode, 0660, "the mode is read as a decimal number");
	nvidia_params_parse("ModifyDeviceFiles: 2\nDeviceFileMode: 4095\nDeviceFileGID: "
	    "4294967295\n"
	    "DeviceFileUID: x\n", &inv);
	ok(!inv.nvidia_modify && inv.nvidia_mode == 0666 && inv.nvidia_gid == 0 &&
	    inv.nvidia_uid == 0, "numbers out of range are ignored");
	nvidia_params_parse("DeviceFileMode: 4", &inv);
	is_int(inv.nvidia_mode, 0666, "a truncated line is ignored");
}

static const char gpu_properties[] = "cpu_cores_count 0\nsimd_count 440\nvendor_id 4098\n"
    "location_id 17152\ndomain 0\ndrm_render_minor 128\nunique_id 17233476384203276013\n"
    "gfx_target_version 90010\n";

static void
test_kfd_node(void)
{
	struct kfd_node k;
	struct why why = { 0 };
	char pci[16], model[64];

	is_int(kfd_node_parse("40001\n", gpu_properties, &k, &why), 0,
	    "the node of a GPU is read: %s",
	    why.text);
	ok(kfd_node_is_gpu(&k) && !kfd_node_integrated(&k), "the GPU is a discrete card");
	ok(kfd_node_address(&k, pci), "the node has an address");
	is_str(pci, "0000:43:00.0", "the bus is 0x43");
	is_int(k.drm_render_minor, 128, "the render node's minor is read");
	ok(k.unique_id == 17233476384203276013ULL, "the unique_id is read");
	kfd_node_model(&k, model, sizeof(model));
	is_str(model, "gfx90a", "the version gives the model");
	k.gfx_target_version = 110501;
	kfd_node_model(&k, model, sizeof(model));
	is_str(model, "gfx1151", "another version gives another model");
	ok(kfd_node_integrated(&k),
	    "a GPU with an APU's version is integrated even with a unique_id");
	k.gfx_target_version = UINT64_MAX;
	kfd_node_model(&k, model, sizeof(model));
	is_str(model, "AMD GPU", "an impossible version gives no model");
	k = (struct kfd_node){ .gfx_target_version = 80003 };
	ok(!kfd_node_integrated(&k), "an old GPU without a unique_id is a discrete card");
	k = (struct kfd_node){ .gfx_target_version = 130000 };
	ok(kfd_node_integrated(&k), "a new GPU without a unique_id is integrated");
	k.unique_id = 1;
	ok(!kfd_node_integrated(&k), "a new GPU with a unique_id is a discrete card");
	k = (struct kfd_node){ .gfx_target_version = 90010, .cpu_cores_count = 4, .unique_id = 1 };
	ok(kfd_node_integrated(&k), "a node with processor cores is integrated");
	k = (struct kfd_node){ .location_id = 0x70000500, .domain = 0x10000 };
	ok(kfd_node_address(&k, pci), "a partition has an address");
	is_str(pci, "10000:05:00.0", "a partition's address is that of its GPU");
	k.location_id = 0xc3a7;
	ok(kfd_node_address(&k, pci) && strcmp(pci, "10000:c3:14.7") == 0,
	    "bus, device and function are read");
	k.location_id = 0x10500;
	ok(!kfd_node_address(&k, pci), "an address with unknown bits is refused");
	k = (struct kfd_node){ .domain = UINT64_MAX };
	ok(!kfd_node_address(&k, pci), "an impossible domain is refused");
	is_int(kfd_node_parse("0\n", gpu_properties, &k, &why), 0, "a node with gpu_id 0 is read");
	ok(!kfd_node_is_gpu(&k), "a node with gpu_id 0 is a processor");
}

static void
test_kfd_node_bad(void)
{
	static const char *const ids[] = { "", "1", "\n", "-1\n", "4294967296\n", "1\n2\n", "x\n" };
	static const struct { const char *from, *to; int r; bool gpu; } lines[] = {
		{ "drm_render_minor", "drm_render_minor 0", 0, false },
		{ "drm_render_minor", "drm_render_minor 4294967295", 0, false },
		{ "drm_render_minor", "drm_render_minor 18446744073709551615", 0, false },
		{ "drm_render_minor", "drm_render_minor 1", 0, false },
		{ "drm_render_minor", "drm_render_minor 127", 0, false },
		{ "drm_render_minor", "drm_render_minor 1048576", 0, false },
		{ "drm_render_minor", "drm_render_minor 1048575", 0, true },
		{ "drm_render_minor", "drm_render_minor -1", -1, false },
		{ "drm_render_minor", "drm_render_minor 128 129", -1, false },
		{ "drm_render_minor", "drm_render_minor 128\ndrm_render_minor 129", -1, false },
		{ "drm_render_minor", "num_xcc 1", -1, false },
		{ "simd_count", "simd_count 0", 0, false },
		{ "simd_count", "num_xcc 1", -1, false },
		{ "vendor_id", "vendor_id 4318", 0, false },
		{ "location_id", "location_id", -1, false },
		{ "location_id", "location_id 99999999999999999999999", -1, false },
		{ "unique_id", "num_xcc 1", 0, true },
		{ "unique_id", "unique_id 0x1", -1, false },
		{ "domain", "num_xcc 1", 0, true },
	};
	struct kfd_node k;
	struct why why;
	size_t i, wrong = 0;

	for (i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		is_int(kfd_node_parse(ids[i], gpu_properties, &k, &why), -1,
		    "a malformed gpu_id is refused: \"%s\"",
		    ids[i]);
	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		autofree char *text = NULL;
		const char *at = strstr(gpu_properties, lines[i].from);

		if (asprintf(&text, "%.*s%s%s", (int)(at - gpu_properties), gpu_properties,
		    lines[i].to, strchr(at, '\n')) == -1)
			exit(2);
		is_int(kfd_node_parse("40001\n", text, &k, &why), lines[i].r, lines[i].to);
		if (lines[i].r == 0)
			is_int(kfd_node_is_gpu(&k), lines[i].gpu,
			    "whether it is a GPU: %s", lines[i].to);
	}
	is_int(kfd_node_parse("1\n",
	    "cpu_cores_count 0\nsimd_count 4\nvendor_id 4098\nlocation_id 1\n"
	    "drm_render_minor 128\ndomain 6553", &k, &why), -1,
	    "a truncated last line is refused, rather than read as domain 0");
	for (i = 0; i < sizeof(gpu_properties) - 1; i++) {
		autofree char *cut = strndup(gpu_properties, i);

		if (kfd_node_parse("40001\n", cut, &k, &why) == 0)
			wrong += k.location_id != 17152 || k.drm_render_minor != 128 ||
			    (k.unique_id != 0 && k.unique_id != 17233476384203276013ULL);
		else
			wrong += !is_line(why.text);
	}
	is_int(wrong, 0, "properties truncated at each byte give no wrong value");
}

static void
test_drm_node(void)
{
	const struct drm_facts good = {
		.name = "renderD128", .devnode = "/dev/dri/renderD128", .major = 226, .minor = 128,
		.bus = "pci", .parent = "0000:03:00.0", .driver = "xe",
		.vendor = "0x8086", .device = "0x56c0", .class = "0x038000",
	};
	struct drm_facts f = good;
	struct drm_node d;

	ok(drm_node_make(&f, &d), "a render node is read");
	ok(d.kind == DRM_RENDER && d.major == 226 && d.minor == 128,
	    "the render node has its number");
	is_str(d.path, "/dev/dri/renderD128", "the render node has its path");
	is_str(d.pci, "0000:03:00.0", "the render node has its address");
	ok(d.vendor == 0x8086 && d.device == 0x56c0 && d.class == 0x038000,
	    "the render node has its ids");
	is_str(d.driver, "xe", "the render node has its driver");
#define BAD(field, value, what) \
	f = good; \
	f.field = (value); \
	ok(!drm_node_make(&f, &d), what)
	BAD(name, NULL, "a node without a name is refused");
	BAD(name, "renderD129", "a node with another name is refused");
	BAD(name, "renderD", "a name without a number is refused");
	BAD(name, "renderD0128", "a number with a leading zero is refused");
	BAD(name, "renderD128-DP-1", "a connector is refused");
	BAD(name, "card128", "a card with the render node's number is refused");
	BAD(name, "renderD18446744073709551744", "a number that overflows is refused");
	BAD(major, 195, "another major is refused");
	BAD(minor, 129, "another minor is refused");
	BAD(devnode, "/dev/dri/renderD129", "another node's path is refused");
	BAD(devnode, "/dev/nvidia0", "a path outside /dev/dri is refused");
	BAD(parent, NULL, "a PCI parent without a name is refused");
	BAD(parent, "0000:03:00", "a PCI parent without an address is refused");
	BAD(vendor, NULL, "a node without a vendor is refused");
	BAD(vendor, "8086", "a vendor that is not a hex number is refused");
	BAD(device, "0x", "an empty device id is refused");
	BAD(class, "0x123456789", "a class that is too long is refused");
	BAD(driver, "a-driver-of-thirty-two-characters",
	    "a driver's name that is too long is refused");
#undef BAD
}

static void
test_drm_node_others(void)
{
	struct drm_facts f;
	struct drm_node d;

	f = (struct drm_facts){ .name = "renderD129", .major = 226, .minor = 129,
		.bus = "platform", .parent = "amdgpu_xcp.38" };
	ok(drm_node_make(&f, &d) && strcmp(d.driver, "amdgpu_xcp") == 0 && d.pci[0] == '\0',
	    "the node of a partition is read");
	f.parent = "amdgpu_xcp_1";
	ok(drm_node_make(&f, &d) && strcmp(d.driver, "amdgpu_xcp") == 0,
	    "the node of a partition is read as newer kernels name it");
	f.parent = "amdgpu_xcpfake";
	ok(drm_node_make(&f, &d) && d.driver[0] == '\0',
	    "a similar parent is not taken for a partition");
	f.parent = "amdgpu_xcp.1";
	f.bus = "usb";
	ok(drm_node_make(&f, &d) && d.driver[0] == '\0',
	    "a parent on another bus is not taken for a partition");
	f.driver = "amdgpu_xcp";
	ok(drm_node_make(&f, &d) && d.driver[0] == '\0',
	    "a driver of this name on another bus is not taken for a partition");
	f = (struct drm_facts){ .name = "accel0", .devnode = "/dev/accel/accel0", .major = 261 };
	ok(drm_node_make(&f, &d) && d.kind == DRM_ACCEL && d.pci[0] == '\0',
	    "an accel node is read");
	f.name = "accel_controlD0";
	ok(!drm_node_make(&f, &d), "Gaudi's control node is refused");
	f = (struct drm_facts){ .name = "renderD0", .major = 226 };
	ok(!drm_node_make(&f, &d), "a render node with a card's number is refused");
	f.name = "card0";
	ok(drm_node_make(&f, &d) && d.kind == DRM_CARD && strcmp(d.path, "/dev/dri/card0") == 0,
	    "a card's node is read");
}

static void
test_named(void)
{
	struct gpu g = { .vendor = GPU_NVIDIA, .rank = 0, .pci = "0000:3b:00.0",
		.uuid = "GPU-edfee158-11c1-52b8-0517-92f30e7fac88" };
	struct gpu amd = { .vendor = GPU_AMD, .rank = 12, .pci = "0000:43:00.0",
		.uuid = "0xef29c8f1e4a1a4ad" };
	static const char *const no[] = {
		"", "00", "01", "1", "0 ", " 0", "+0", "-0", "0x0", "0.", "00000000", "4294967295",
		"ALL", "All", "all ", "al", "GPU-", "GPU", "GPU-e", "GPU-edfee158", "3b", "3b:00",
		"gpu-edfee158-11c1-52b8-0517-92f30e7fac88", "edfee158-11c1-52b8-0517-92f30e7fac88",
		"GPU-edfee158-11c1-52b8-0517-92f30e7fac8",
		"GPU-edfee158-11c1-52b8-0517-92f30e7fac888",
		"GPU-edfee158-11c1-52b8-0517-92f30e7fac89", "0000:3b:00", "0000:3b:00.1",
		"0001:3b:00.0", "0000:3c:00.0", "0000:3b:00.0,0000:af:00.0", "GPU-*", "*",
		"nvidia0",
	};
	size_t i;

	ok(gpu_is_named(&g, "all", false) && gpu_is_named(&g, "all", true), "\"all\" names a GPU");
	ok(gpu_is_named(&g, "0", true) && !gpu_is_named(&g, "0", false),
	    "a rank names a GPU only where ranks count");
	ok(gpu_is_named(&g, "GPU-edfee158-11c1-52b8-0517-92f30e7fac88", false),
	    "a UUID names a GPU");
	ok(gpu_is_named(&g, "GPU-EDFEE158-11C1-52B8-0517-92F30E7FAC88", false),
	    "a UUID in upper case names a GPU");
	ok(gpu_is_named(&g, "0000:3b:00.0", false) && gpu_is_named(&g, "00000000:3B:00.0", false) &&
	    gpu_is_named(&g, "3b:00.0", false), "an address names a GPU, in each of its forms");
	for (i = 0; i < sizeof(no) / sizeof(*no); i++)
		ok(!gpu_is_named(&g, no[i], true), "\"%s\" does not name the GPU", no[i]);
	ok(gpu_is_named(&amd, "0xef29c8f1e4a1a4ad", false) &&
	    gpu_is_named(&amd, "0xEF29C8F1E4A1A4AD", false), "a unique_id names an AMD GPU");
	ok(!gpu_is_named(&amd, "0Xef29c8f1e4a1a4ad", true) &&
	    !gpu_is_named(&amd, "ef29c8f1e4a1a4ad", true) && !gpu_is_named(&amd, "0x", true),
	    "similar texts do not name it");
	ok(gpu_is_named(&amd, "12", true) && !gpu_is_named(&amd, "1", true) &&
	    !gpu_is_named(&amd, "2", true), "a rank of two digits names a GPU");
	amd.uuid[0] = amd.pci[0] = '\0';
	ok(!gpu_is_named(&amd, "", true) && !gpu_is_named(&amd, "0000:43:00.0", true),
	    "an empty name or the unknown address does not name a GPU");
	strcpy(g.unusable, "excluded by the driver");
	g.rank = UINT_MAX;
	ok(!gpu_is_named(&g, "all", true) && !gpu_is_named(&g, "0", true) &&
	    !gpu_is_named(&g, "4294967295", true),
	    "an unusable GPU has no rank, and \"all\" does not name it");
	g.rank = 0;
	ok(!gpu_is_named(&g, "0", true), "an unusable GPU has no rank even if one is set");
	ok(gpu_is_named(&g, "3b:00.0", false),
	    "an unusable GPU is named by its address, so that a refusal can name it");
}

static void
test_rank(void)
{
	struct inventory inv = { .gpus = 8, .gpu = calloc(8, sizeof(struct gpu)) };
	static const char *const pci[] = {
		"0000:af:00.0", "10000:01:00.0", "0000:3b:00.0", "0000:3b:00.0", "", "0000:3b:00.0",
		"0000:0b:00.0", "0002:01:00.0",
	};
	static const char *const want[] = {
		"0 0000:3b:00.0/0", "1 0000:3b:00.0/1", "4294967295 0000:af:00.0/0",
		"2 0002:01:00.0/0",
		"3 10000:01:00.0/0", "0 0000:0b:00.0/0", "1 0000:3b:00.0/0", "2 /0",
	};
	char got[64];
	size_t i;

	for (i = 0; i < inv.gpus; i++)
		strcpy(inv.gpu[i].pci, pci[i]);
	inv.gpu[2].partition = 1;
	inv.gpu[4].vendor = inv.gpu[5].vendor = inv.gpu[6].vendor = GPU_AMD;
	inv.gpu[5].integrated = true;
	strcpy(inv.gpu[0].unusable, "excluded");
	inventory_rank(&inv);
	for (i = 0; i < inv.gpus; i++) {
		snprintf(got, sizeof(got), "%u %s/%u", inv.gpu[i].rank, inv.gpu[i].pci,
		    inv.gpu[i].partition);
		is_str(got, want[i], "the GPU at place %zu has its rank", i);
	}
	inventory_free(&inv);
	ok(inv.gpu == NULL && inv.gpus == 0, "inventory_free() frees the GPUs");
	inventory_rank(&inv);
	inventory_free(&inv);
}

/* "PART,PART,…": the parts of all GPUs in the inventory. */
static const char *
parts(const struct inventory *inv)
{
	static char all[256];
	char part[16];
	size_t i, n = 0;

	all[0] = '\0';
	for (i = 0; i < inv->gpus; i++) {
		gpu_part(inv, &inv->gpu[i], part);
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", i > 0 ? "," : "", part);
	}
	return all;
}

static void
test_part(void)
{
	struct gpu g[] = {
		{ .vendor = GPU_NVIDIA, .pci = "0000:05:00.0" },
		{ .vendor = GPU_AMD, .pci = "0000:05:00.0" },
		{ .vendor = GPU_AMD, .pci = "0000:15:00.0" },
		{ .vendor = GPU_AMD, .pci = "0000:15:00.0", .partition = 1 },
		{ .vendor = GPU_AMD, .pci = "0000:15:00.0", .partition = UINT_MAX },
		{ .vendor = GPU_INTEL, .pci = "0000:25:00.0" },
		{ .vendor = GPU_INTEL, .pci = "0000:25:00.0" },
	};
	struct inventory inv = { .gpu = g, .gpus = sizeof(g) / sizeof(*g) };

	is_str(parts(&inv), ",,0,1,4294967295,,",
	    "only AMD GPUs with the same address are parts of one GPU");
	strcpy(g[2].unusable, "it has gone mad");
	is_str(parts(&inv), ",,0,1,4294967295,,", "an unusable one counts as a part");
	inv.gpus = 3;
	is_str(parts(&inv), ",,", "the only partition of a GPU is the GPU");
}

static void
test_node_check(void)
{
	struct gpu_node n = { .path = "/dev/nvidia-uvm", .major = 510 };
	struct why why = { 0 };

	is_int(gpu_node_check(&n, &why), 0, "a node with a number is usable");
	n.major = GPU_NODE_NO_MODULE;
	is_int(gpu_node_check(&n, &why), -1, "a node without a number is refused");
	is_int(why.code, WHY_ABSENT, "the node counts as absent");
	is_str(why.text,
	    "/dev/nvidia-uvm: module nvidia_uvm is not loaded: run modprobe nvidia_uvm",
	    "the message says how to load the module");
}

static void
test_nvidia_2gpu(void)
{
	struct inventory inv;

	if (find("nvidia-2gpu", ALL_VENDORS, &inv) == 0) {
		is_int(inv.gpus, 2, "two GPUs are found");
		is_str(gpu(&inv, 0), "0 0000:3b:00.0/0 GPU-edfee158-11c1-52b8-0517-92f30e7fac88 "
		    "NVIDIA A100-PCIE-40GB /dev/nvidia0 195:0 0", "the first GPU has its values");
		is_str(gpu(&inv, 1), "1 0000:af:00.0/0 GPU-0d5b2d8e-8f0d-4a1e-9b2b-6a1b7f0c1d22 "
		    "NVIDIA A100-PCIE-40GB /dev/nvidia1 195:1 0", "the second GPU has its values");
		is_int(inv.commons[GPU_NVIDIA], 4, "four common nodes are found");
		is_str(node(inv.common[GPU_NVIDIA], 4, 0), "/dev/nvidiactl 195:255 0",
		    "nvidiactl is always needed");
		is_str(node(inv.common[GPU_NVIDIA], 4, 1), "/dev/nvidia-uvm 510:0 0x7d",
		    "nvidia-uvm is needed for compute");
		is_str(node(inv.common[GPU_NVIDIA], 4, 2), "/dev/nvidia-uvm-tools 510:1 0x7d?",
		    "nvidia-uvm-tools is optional");
		is_str(node(inv.common[GPU_NVIDIA], 4, 3), "/dev/nvidia-modeset 195:254 0x14?",
		    "nvidia-modeset is for graphics and display");
		is_int(inv.common[GPU_NVIDIA][1].needed_for, NOT_UTILITY,
		    "nvidia-uvm is needed for all but utility");
		is_str(inv.absent[GPU_NVIDIA], "", "NVIDIA GPUs are present");
		is_str(inv.absent[GPU_AMD], "module amdgpu is not loaded: if this host has such a GPU, run modprobe amdgpu",
		    "AMD GPUs are absent");
		is_str(inv.absent[GPU_INTEL],
		    "no GPU of driver i915 or xe and no NPU of intel_vpu on this host",
		    "Intel GPUs are absent");
		ok(inv.nvidia_modify && inv.nvidia_mode == 0666,
		    "the driver's parameters are read");
	}
	inventory_free(&inv);
}

static void
test_nvidia_h200(void)
{
	struct inventory inv;

	if (find("nvidia-h200", 1U << GPU_NVIDIA, &inv) == 0) {
		is_int(inv.gpus, 1, "one GPU is found");
		is_str(gpu(&inv, 0), "0 0000:00:06.0/0 GPU-11111111-2222-3333-4444-555555555555 "
		    "NVIDIA H200 /dev/nvidia0 195:0 0", "the H200 has its values");
		is_int(inv.commons[GPU_NVIDIA], 3,
		    "three common nodes are found, without nvidia-modeset");
		is_str(node(inv.common[GPU_NVIDIA], 3, 0), "/dev/nvidiactl 195:255 0",
		    "nvidiactl is always needed");
		is_str(node(inv.common[GPU_NVIDIA], 3, 1), "/dev/nvidia-uvm 238:0 0x7d",
		    "nvidia-uvm is needed for compute");
		is_str(node(inv.common[GPU_NVIDIA], 3, 2), "/dev/nvidia-uvm-tools 238:1 0x7d?",
		    "nvidia-uvm-tools is optional");
		is_str(inv.absent[GPU_AMD], "not looked for", "AMD GPUs are not looked for");
	}
	inventory_free(&inv);
	if (find("nvidia-mig", 1U << GPU_NVIDIA, &inv) == 0)
		is_str(gpu(&inv, 0), "0 0000:3b:00.0/0 GPU-edfee158-11c1-52b8-0517-92f30e7fac88 "
		    "NVIDIA A100-PCIE-40GB /dev/nvidia0 195:0 0", "a GPU with MIG is found");
	inventory_free(&inv);
}

static void
test_nvidia_odd(void)
{
	struct inventory inv;

	if (find("nvidia-odd", ALL_VENDORS, &inv) == 0) {
		is_int(inv.gpus, 4, "four GPUs are found");
		is_str(gpu(&inv, 0),
		    "0 0000:17:00.0/0 ? NVIDIA A100-PCIE-40GB /dev/nvidia2 195:2 0",
		    "the GPU without a UUID has the third minor");
		is_str(gpu(&inv, 1), "1 0000:65:00.0/0 GPU-2f1e0d3c-4b5a-6978-8796-a5b4c3d2e1f0 "
		    "NVIDIA A100-PCIE-40GB /dev/nvidia0 195:0 0",
		    "the GPU with the first minor is second by its address");
		is_str(gpu(&inv, 2), "- 0000:ca:00.0: excluded by the driver: see its parameter "
		    "NVreg_ExcludedGpus", "the excluded GPU is unusable");
		is_str(gpu(&inv, 3),
		    "2 0000:e3:00.0/0 ? NVIDIA A100-PCIE-40GB /dev/nvidia3 195:3 0",
		    "the excluded GPU has no rank");
		is_int(inv.gpu[0].nodes, 1, "the first GPU has no DRM nodes");
		is_int(inv.gpu[1].nodes, 3, "the second GPU has DRM nodes");
		ok(strcmp(node(inv.gpu[1].node, 3, 1), "/dev/dri/card1 226:1 0x14?") == 0 ||
		    strcmp(node(inv.gpu[1].node, 3, 2), "/dev/dri/card1 226:1 0x14?") == 0,
		    "the second GPU has a card node");
		ok(strcmp(node(inv.gpu[1].node, 3, 1), "/dev/dri/renderD128 226:128 0x14?") == 0 ||
		    strcmp(node(inv.gpu[1].node, 3, 2), "/dev/dri/renderD128 226:128 0x14?") == 0,
		    "the second GPU has a render node");
		is_str(node(inv.common[GPU_NVIDIA], inv.commons[GPU_NVIDIA], 1),
		    "/dev/nvidia-uvm 511:0 0x7d", "nvidia-uvm has its number");
		ok(!inv.nvidia_modify && inv.nvidia_mode == 0660 && inv.nvidia_gid == 44,
		    "the driver's parameters are read");
	}
	inventory_free(&inv);
}

static void
test_nvidia_nouvm(void)
{
	struct inventory inv;
	struct why why;

	if (find("nvidia-nouvm", 1U << GPU_NVIDIA, &inv) == 0) {
		is_str(gpu(&inv, 0), "0 0000:3b:00.0/0 GPU-edfee158-11c1-52b8-0517-92f30e7fac88 "
		    "NVIDIA A100-PCIE-40GB /dev/nvidia0 195:0 0",
		    "a GPU is found without nvidia-uvm");
		is_str(inv.absent[GPU_NVIDIA], "", "NVIDIA GPUs are present");
		is_int(inv.commons[GPU_NVIDIA], 2, "two common nodes are found");
		is_str(node(inv.common[GPU_NVIDIA], 2, 0), "/dev/nvidiactl 195:255 0",
		    "nvidiactl has the major of nvidia");
		is_str(node(inv.common[GPU_NVIDIA], 2, 1), "/dev/nvidia-uvm 4294967295:0 0x7d",
		    "nvidia-uvm has no number");
		is_int(gpu_node_check(&inv.common[GPU_NVIDIA][1], &why), -1,
		    "nvidia-uvm without a number is refused");
	}
	inventory_free(&inv);
	if (find("empty", ALL_VENDORS, &inv) == 0) {
		is_int(inv.gpus, 0, "no GPU is found");
		is_str(inv.absent[GPU_NVIDIA], "module nvidia is not loaded: if this host has such a GPU, run modprobe nvidia",
		    "the NVIDIA driver is absent");
		is_str(inv.absent[GPU_AMD], "module amdgpu is not loaded: if this host has such a GPU, run modprobe amdgpu",
		    "the AMD driver is absent");
		ok(inv.absent[GPU_INTEL][0] != '\0', "Intel GPUs are absent");
		is_int(inv.commons[GPU_NVIDIA] + inv.commons[GPU_AMD], 0,
		    "no common nodes are found");
	}
	inventory_free(&inv);
}

static void
test_amd(void)
{
	struct inventory inv;
	size_t i;
	char want[256];

	if (find("amd-2dgpu-apu", 1U << GPU_AMD, &inv) == 0) {
		is_int(inv.gpus, 3, "three GPUs are found");
		is_str(gpu(&inv, 0),
		    "0 0000:03:00.0/0 0x89ccee8bf76be243 gfx1100 /dev/dri/renderD129 "
		    "226:129 0", "the first card has its values");
		is_str(gpu(&inv, 1), "1 0000:12:00.0/0 ? gfx1036 integrated /dev/dri/renderD130 "
		    "226:130 0", "the integrated GPU has its values and a rank");
		is_str(gpu(&inv, 2),
		    "2 0000:43:00.0/0 0xef299b76ed84feed gfx90a /dev/dri/renderD128 "
		    "226:128 0", "the second card has its values");
		is_str(node(inv.common[GPU_AMD], inv.commons[GPU_AMD], 0), "/dev/kfd 236:0 0",
		    "kfd is a common node");
		is_int(inv.commons[GPU_AMD], 1, "kfd is the only common node");
		is_str(inv.absent[GPU_AMD], "", "AMD GPUs are present");
		is_str(parts(&inv), ",,", "each GPU is a whole");
	}
	inventory_free(&inv);
	if (find("amd-mi300x-cpx", ALL_VENDORS, &inv) == 0) {
		is_int(inv.gpus, 8, "eight partitions are found");
		for (i = 0; i < 8; i++) {
			snprintf(want, sizeof(want),
			    "%zu 0000:05:00.0/%zu 0xa1b2c3d4e5f60718 gfx942 "
			    "/dev/dri/renderD%zu 226:%zu 0", i, i, 128 + i, 128 + i);
			is_str(gpu(&inv, i), want, "partition %zu has its values", i);
		}
		is_str(node(inv.common[GPU_AMD], 1, 0), "/dev/kfd 505:0 0", "kfd has its number");
		is_str(parts(&inv), "0,1,2,3,4,5,6,7", "the partitions are parts of one GPU");
	}
	inventory_free(&inv);
}

static void
test_intel(void)
{
	struct inventory inv;

	if (find("intel", ALL_VENDORS, &inv) == 0) {
		is_int(inv.gpus, 3, "three devices are found");
		is_str(gpu(&inv, 0), "0 0000:00:02.0/0 ? Intel 8086:7d55 integrated "
		    "/dev/dri/renderD128 226:128 0", "the integrated GPU has its values");
		is_str(gpu(&inv, 1), "1 0000:00:0b.0/0 ? NPU integrated /dev/accel/accel0 261:0 0",
		    "the NPU has its values");
		is_str(gpu(&inv, 2),
		    "2 0000:03:00.0/0 ? Intel 8086:56c0 /dev/dri/renderD129 226:129 0",
		    "the card has its values");
		is_int(inv.commons[GPU_INTEL], 0, "no common nodes are found");
		is_str(inv.absent[GPU_INTEL], "", "Intel GPUs are present");
	}
	inventory_free(&inv);
}

/* Small trees, made in a directory that is removed at the end. */
static char scratch[PATH_MAX];

static void
put_bytes(const char *tree, const char *path, const char *bytes, size_t len)
{
	char full[PATH_MAX + 512], *slash;
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s/%s", scratch, tree, path);
	for (slash = full + strlen(scratch) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		(void)mkdir(full, 0755);
		*slash = '/';
	}
	if (bytes == NULL) {
		(void)mkdir(full, 0755);
		return;
	}
	if ((f = fopen(full, "we")) == NULL || fwrite(bytes, 1, len, f) != len || fclose(f) == EOF) {
		perror(full);
		exit(2);
	}
}

static void
put(const char *tree, const char *path, const char *text)
{
	put_bytes(tree, path, text, text != NULL ? strlen(text) : 0);
}

static int
find_made(const char *tree, unsigned vendors, struct inventory *inv, struct why *why)
{
	char path[PATH_MAX + 512];

	snprintf(path, sizeof(path), "%s/%s", scratch, tree);
	return find_at(path, vendors, inv, why);
}

static void
put_gpu(const char *tree, const char *address, const char *location, const char *minor)
{
	char path[128], text[256];

	snprintf(path, sizeof(path), "proc/driver/nvidia/gpus/%s/information", address);
	snprintf(text, sizeof(text), "Model: \t\t X\nBus Location: \t %s\nDevice Minor: \t %s\n",
	    location, minor);
	put(tree, path, text);
}

static void
test_made_nvidia(void)
{
	static const char devices[] = "Character devices:\n195 nvidia\n\nBlock devices:\n";
	struct inventory inv;
	struct why why;

	put("bad", "proc/devices", devices);
	put_gpu("bad", "0000:01:00.0", "0000:01:00.0", "0");
	put_gpu("bad", "0000:02:00.0", "0000:02:00.0", "0");
	put_gpu("bad", "0000:03:00.0", "0000:04:00.0", "1");
	put_gpu("bad", "0000:05:00.0", "0000:05:00.0", "999");
	put_gpu("bad", "0000:06:00.0", "0000:06:00.0", "6");
	put("bad", "proc/driver/nvidia/gpus/0000:07:00.0/registry", "");
	put_gpu("bad", "nonsense", "nonsense", "7");
	is_int(find_made("bad", 1U << GPU_NVIDIA, &inv, &why), 0,
	    "an unusable GPU does not hide the others");
	is_int(inv.gpus, 7, "seven GPUs are listed");
	is_str(gpu(&inv, 0),
	    "- 0000:01:00.0: /dev/nvidia0 is claimed by 0000:02:00.0 too: see dmesg",
	    "a GPU whose minor another one claims is unusable");
	is_str(gpu(&inv, 1),
	    "- 0000:02:00.0: /dev/nvidia0 is claimed by 0000:01:00.0 too: see dmesg",
	    "the other claimant of the minor is unusable");
	is_str(gpu(&inv, 2), "- 0000:03:00.0: its information file does not say Bus Location "
	    "0000:03:00.0: see dmesg", "a GPU with another one's location is unusable");
	is_str(gpu(&inv, 3),
	    "- 0000:05:00.0: its information file has no Device Minor from 0 to 247: "
	    "see dmesg", "a GPU whose minor is too large is unusable");
	is_str(gpu(&inv, 4), "0 0000:06:00.0/0 ? X /dev/nvidia6 195:6 0",
	    "the well-formed GPU is usable");
	is_str(gpu(&inv, 5), "- 0000:07:00.0: can't read its information file: No such file or "
	    "directory", "a GPU without an information file is unusable");
	is_str(gpu(&inv, 6), "- : /proc/driver/nvidia/gpus/nonsense: not the name of a PCI device",
	    "a GPU without an address is unusable");
	is_str(inv.absent[GPU_NVIDIA], "", "NVIDIA GPUs are present if one is usable");
	inventory_free(&inv);

	put("ctl", "proc/devices", "Character devices:\n195 nvidia\n196 nvidiactl\n");
	put_gpu("ctl", "0000:01:00.0", "0000:01:00.0", "0");
	is_int(find_made("ctl", 1U << GPU_NVIDIA, &inv, &why), 0,
	    "a driver whose nvidiactl has its own major is found");
	is_str(node(inv.common[GPU_NVIDIA], 1, 0), "/dev/nvidiactl 196:255 0",
	    "nvidiactl has that major");
	inventory_free(&inv);

	put("nomajor", "proc/devices", "Character devices:\n1 mem\n\nBlock devices:\n195 nvidia\n");
	put_gpu("nomajor", "0000:01:00.0", "0000:01:00.0", "0");
	is_int(find_made("nomajor", 1U << GPU_NVIDIA, &inv, &why), 0,
	    "a driver without a major is found");
	is_str(inv.absent[GPU_NVIDIA], "no usable GPU: 0000:01:00.0: no character device nvidia in "
	    "/proc/devices: see dmesg",
	    "the GPUs of a driver without a major are unusable, and the message says why");
	is_int(inv.commons[GPU_NVIDIA], 0, "there are no common nodes");
	inventory_free(&inv);

	put("nogpu", "proc/devices", devices);
	put("nogpu", "proc/driver/nvidia/gpus/", NULL);
	is_int(find_made("nogpu", 1U << GPU_NVIDIA, &inv, &why), 0,
	    "a driver without GPUs is found");
	is_str(inv.absent[GPU_NVIDIA], "module nvidia drives no GPU on this host: see dmesg",
	    "GPUs of a driver without GPUs are absent, and the message says why");
	inventory_free(&inv);
}

static void
test_made_links(void)
{
	char from[PATH_MAX + 512], to[PATH_MAX + 512];
	struct inventory inv;
	struct why why;

	put("link", "proc/devices", "Character devices:\n195 nvidia\n");
	put_gpu("link", "0000:01:00.0", "0000:01:00.0", "0");
	snprintf(from, sizeof(from), "%s/link/proc/driver/nvidia/gpus/0000:02:00.0", scratch);
	snprintf(to, sizeof(to), "%s/link/proc/driver/nvidia/gpus/0000:01:00.0", scratch);
	if (symlink(to, from) == -1)
		exit(2);
	is_int(find_made("link", 1U << GPU_NVIDIA, &inv, &why), 0,
	    "a tree with a symbolic link among the GPUs is read");
	is_str(gpu(&inv, 1), "- 0000:02:00.0: can't read its information file: Too many levels of "
	    "symbolic links", "the link is not followed");
	inventory_free(&inv);

	put("nul", "proc/devices", "Character devices:\n195 nvidia\n");
	put_gpu("nul", "0000:01:00.0", "0000:01:00.0", "0");
	snprintf(to, sizeof(to), "%s/nul/proc/driver/nvidia/gpus/0000:01:00.0/information",
	    scratch);
	if (truncate(to, 400) == -1)
		exit(2);
	is_int(find_made("nul", 1U << GPU_NVIDIA, &inv, &why), 0,
	    "a tree with zero bytes in an information file is read");
	is_str(gpu(&inv, 0), "- 0000:01:00.0: can't read its information file: Bad message",
	    "zero bytes after a valid text make the GPU unusable");
	inventory_free(&inv);
	put("none", "proc/", NULL);
	is_int(find_made("none", ALL_VENDORS, &inv, &why), -1,
	    "a missing /proc/devices is an error");
	is_str(why.text, "/proc/devices: No such file or directory: is /proc mounted?",
	    "the message says why");
	is_int(why.code, WHY_IO, "the code says that the host is at fault");
	inventory_free(&inv);
}

static void
put_kfd(const char *tree, unsigned n, unsigned location, unsigned render)
{
	char path[128], text[512];

	snprintf(path, sizeof(path), "sys/class/kfd/kfd/topology/nodes/%u/gpu_id", n);
	snprintf(text, sizeof(text), "%u\n", 1000 + n);
	put(tree, path, text);
	snprintf(path, sizeof(path), "sys/class/kfd/kfd/topology/nodes/%u/properties", n);
	snprintf(text, sizeof(text), "cpu_cores_count 0\nsimd_count 8\nvendor_id 4098\n"
	    "location_id %u\ndomain 0\ndrm_render_minor %u\nunique_id %u\ngfx_target_version "
	    "90402\n",
	    location, render, n);
	put(tree, path, text);
}

static void
put_render(const char *tree, unsigned minor, const char *vendor, const char *uevent)
{
	char path[128], dev[64];

	snprintf(path, sizeof(path), "sys/class/drm/renderD%u/dev", minor);
	snprintf(dev, sizeof(dev), "226:%u\n", minor);
	put(tree, path, dev);
	snprintf(path, sizeof(path), "sys/class/drm/renderD%u/device/uevent", minor);
	put(tree, path, uevent);
	snprintf(path, sizeof(path), "sys/class/drm/renderD%u/device/vendor", minor);
	put(tree, path, vendor);
	snprintf(path, sizeof(path), "sys/class/drm/renderD%u/device/device", minor);
	put(tree, path, "0x74a1\n");
	snprintf(path, sizeof(path), "sys/class/drm/renderD%u/device/class", minor);
	put(tree, path, "0x120000\n");
}

/* Whether the inventory has this GPU, at any place. */
static void
has(const struct inventory *inv, const char *want)
{
	bool found = false;
	size_t i;

	for (i = 0; i < inv->gpus; i++)
		found |= strcmp(gpu(inv, i), want) == 0;
	ok(found, "the inventory has %s", want);
}

/* A GPU whose files this process may not read, as if its cgroup denied the render node. */
static void
test_made_hidden(void)
{
	autoclose int fd = -1;
	char path[PATH_MAX + 512];
	struct gpu_source src = { .drm = NULL };
	struct inventory inv;
	struct why why = { 0 };
	const bool root = geteuid() == 0;
	int r;

	put("hidden", "proc/devices", "Character devices:\n226 drm\n240 kfd\n");
	put_kfd("hidden", 1, 0x100, 128);
	snprintf(path, sizeof(path), "%s/hidden/sys/class/kfd/kfd/topology/nodes/1/gpu_id",
	    scratch);
	if (chmod(path, 0) == -1)
		exit(2);
	snprintf(path, sizeof(path), "%s/hidden", scratch);
	src.root = fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root && seteuid(65534) == -1)
		exit(2);
	r = gpus_find(&src, 1U << GPU_AMD, &inv, &why);
	is_int(r, 0, "a tree with a hidden GPU is read: %s", why.text);
	is_str(inv.absent[GPU_AMD],
	    "kfd hides 1 GPUs from this process: its cgroup denies their render "
	    "nodes", "the message says that the GPU is hidden");
	inventory_free(&inv);
	if (root && seteuid(0) == -1)
		exit(2);
	put_kfd("hidden", 2, 0x200, 129);
	if (root && seteuid(65534) == -1)
		exit(2);
	r = gpus_find(&src, 1U << GPU_AMD, &inv, &why);
	if (root && seteuid(0) == -1)
		exit(2);
	is_int(r, 0, "a tree with a hidden and a visible GPU is read");
	is_str(inv.absent[GPU_AMD], "", "AMD GPUs are present");
	is_int(inv.gpus, 1, "only the visible GPU is listed");
	inventory_free(&inv);
}

/* A tree without an NVIDIA GPU of the driver's own: why there is none. */
static void
is_absent(const char *tree, const char *text, const char *what)
{
	struct inventory inv;
	struct why why;

	put(tree, "proc/devices", "Character devices:\n10 misc\n");
	if (find_made(tree, 1U << GPU_NVIDIA, &inv, &why) == 0)
		is_str(inv.absent[GPU_NVIDIA], text, "%s", what);
	else
		ok(false, "%s: %s", what, why.text);
	inventory_free(&inv);
}

static void
test_unsupported(void)
{
	static const char wsl[] = "this host is WSL2, where /dev/dxg stands for all GPUs at once: gpuhelper can't give one";
	static const char tegra[] = "this host is a Tegra, whose own GPU has no node for it alone: gpuhelper can't give it";
	static const char orin[] = "nvidia,p3737-0000+p3701-0000\0nvidia,tegra234", arm[] = "raspberrypi,5-model-b\0brcm,bcm2712";
	struct inventory inv;
	struct why why;

	put("dxg", "dev/dxg", "");
	is_absent("dxg", wsl, "/dev/dxg is WSL2's");
	put("wsl", "proc/sys/kernel/osrelease", "5.15.167.4-microsoft-standard-WSL2\n");
	is_absent("wsl", wsl, "WSL2 is known by its kernel");
	put_bytes("orin", "sys/firmware/devicetree/base/compatible", orin, sizeof(orin));
	is_absent("orin", tegra, "a Tegra is known by its device tree");
	put("nvgpu", "dev/nvgpu/igpu0/ctrl", "");
	is_absent("nvgpu", tegra, "a Tegra is known by the nodes of nvgpu");
	/* its display has NVIDIA's usual driver, which lists no GPU */
	put("display", "dev/nvhost-gpu", "");
	put("display", "proc/driver/nvidia/gpus", NULL);
	is_absent("display", tegra, "a Tegra whose display has NVIDIA's usual driver");
	put_bytes("arm", "sys/firmware/devicetree/base/compatible", arm, sizeof(arm));
	is_absent("arm", "module nvidia is not loaded: if this host has such a GPU, run modprobe nvidia", "another host with a device tree");
	put("igx", "dev/nvhost-gpu", "");
	put("igx", "proc/devices", "Character devices:\n195 nvidia\n");
	put_gpu("igx", "0005:09:00.0", "0005:09:00.0", "0");
	if (find_made("igx", 1U << GPU_NVIDIA, &inv, &why) == 0)
		is_str(inv.absent[GPU_NVIDIA], "", "a Tegra with a PCI GPU can give that one");
	inventory_free(&inv);
}

static void
test_made_amd(void)
{
	static const char xcp[] = "MODALIAS=platform:amdgpu_xcp_1\n";
	struct inventory inv;
	struct why why;

	put("amd", "proc/devices", "Character devices:\n226 drm\n240 kfd\n");
	put_kfd("amd", 1, 0x100, 128);	/* sysfs agrees */
	put_render("amd", 128, "0x1002\n", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:01:00.0\n");
	put_kfd("amd", 2, 0x200, 129);	/* sysfs has another address */
	put_render("amd", 129, "0x1002\n", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n");
	put_kfd("amd", 3, 0x300, 130);	/* another driver's node */
	put_render("amd", 130, "0x8086\n", "DRIVER=i915\nPCI_SLOT_NAME=0000:03:00.0\n");
	put_kfd("amd", 4, 0x400, 131);	/* two GPUs with one render node */
	put_kfd("amd", 5, 0x500, 131);
	/* partition 1 of the first GPU, with its number in the address */
	put_kfd("amd", 6, 0x101, 133);
	put_render("amd", 133, "", xcp);
	put_kfd("amd", 7, 0x20000700, 134);	/* a partition of a missing GPU */
	put_render("amd", 134, "", xcp);
	/* a partition of the second GPU, which is unusable */
	put_kfd("amd", 10, 0x30000200, 136);
	put_render("amd", 136, "", xcp);
	put_kfd("amd", 8, 0x10800, 135);	/* an impossible address */
	put("amd", "sys/class/kfd/kfd/topology/nodes/9/gpu_id", "9\n");
	put("amd", "sys/class/kfd/kfd/topology/nodes/9/properties", "simd_count 1\n");
	put("amd", "sys/class/kfd/kfd/topology/nodes/x/gpu_id", "9\n");
	is_int(find_made("amd", ALL_VENDORS, &inv, &why), 0,
	    "a tree with usable and unusable AMD GPUs is read: %s",
	    why.text);
	is_int(inv.gpus, 10, "ten GPUs are listed");
	has(&inv, "0 0000:01:00.0/0 0x0000000000000001 gfx942 /dev/dri/renderD128 226:128 0");
	has(&inv, "1 0000:01:00.0/1 0x0000000000000006 gfx942 /dev/dri/renderD133 226:133 0");
	has(&inv, "- 0000:02:00.0: kfd says /dev/dri/renderD129 is of 0000:02:00.0, udev says of "
	    "0000:03:00.0: see dmesg");
	has(&inv,
	    "- 0000:02:00.0: a partition, but no GPU can be told to be at 0000:02:00.0: see dmesg");
	has(&inv,
	    "- 0000:03:00.0: /dev/dri/renderD130 belongs to driver \"i915\" of vendor 0x8086, "
	    "not to amdgpu");
	has(&inv, "- 0000:04:00.0: /dev/dri/renderD131 is claimed by 0000:05:00.0 too: see dmesg");
	has(&inv, "- 0000:05:00.0: /dev/dri/renderD131 is claimed by 0000:04:00.0 too: see dmesg");
	has(&inv,
	    "- 0000:07:00.0: a partition, but no GPU can be told to be at 0000:07:00.0: see dmesg");
	has(&inv, "- : kfd's location_id 67584 and domain 0 are no PCI address");
	has(&inv, "- : kfd topology node 9: its cpu_cores_count is not one number: see dmesg");
	inventory_free(&inv);

	put("nokfd", "proc/devices", "Character devices:\n226 drm\n\nBlock devices:\n240 kfd\n");
	put_kfd("nokfd", 1, 0x100, 128);
	is_int(find_made("nokfd", 1U << GPU_AMD, &inv, &why), 0,
	    "a tree with a topology but without kfd is read");
	is_str(inv.absent[GPU_AMD], "no character device kfd in /proc/devices: see dmesg",
	    "AMD GPUs are absent, and the message says why");
	is_int(inv.gpus + inv.commons[GPU_AMD], 0, "no GPUs and no common nodes are listed");
	inventory_free(&inv);
}

/* Two functions of one slot: a partition without an exact address could belong to either GPU. */
static void
test_made_slots(void)
{
	static const char xcp[] = "MODALIAS=platform:amdgpu_xcp\n";
	struct inventory inv;
	struct why why;

	put("slot", "proc/devices", "Character devices:\n226 drm\n240 kfd\n");
	put_kfd("slot", 1, 0x100, 128);
	put_render("slot", 128, "0x1002\n", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:01:00.0\n");
	put_kfd("slot", 2, 0x102, 129);
	put_render("slot", 129, "0x1002\n", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:01:00.2\n");
	put_kfd("slot", 3, 0x102, 130);
	put_render("slot", 130, "", xcp);
	put_kfd("slot", 4, 0x103, 131);
	put_render("slot", 131, "", xcp);
	is_int(find_made("slot", 1U << GPU_AMD, &inv, &why), 0,
	    "a tree with two GPUs in one slot is read");
	is_str(gpu(&inv, 2),
	    "2 0000:01:00.2/1 0x0000000000000003 gfx942 /dev/dri/renderD130 226:130 0",
	    "a partition with an exact address belongs to the GPU there");
	is_str(gpu(&inv, 3), "- 0000:01:00.3: a partition, but not one GPU can be told to be at "
	    "0000:01:00.3: see dmesg", "a partition that could belong to either GPU is unusable");
	inventory_free(&inv);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

int
main(int argc, char **argv)
{
	const char *tmp = getenv("TMPDIR");
	char root[PATH_MAX];

	snprintf(root, sizeof(root), "%s/fixtures/sysroot", tests_dir(argc, argv));
	sysroot = root;
	snprintf(scratch, sizeof(scratch), "%s/t_gpu.XXXXXX", tmp == NULL ? "/tmp" : tmp);
	if (mkdtemp(scratch) == NULL) {
		perror(scratch);
		return 2;
	}
	test_names();
	test_pci_address();
	test_devmajors();
	test_devmajors_bad();
	test_information();
	test_information_lines();
	test_information_location();
	test_information_hostile();
	test_params();
	test_kfd_node();
	test_kfd_node_bad();
	test_drm_node();
	test_drm_node_others();
	test_named();
	test_rank();
	test_part();
	test_node_check();
	test_nvidia_2gpu();
	test_nvidia_h200();
	test_nvidia_odd();
	test_nvidia_nouvm();
	test_amd();
	test_intel();
	test_made_nvidia();
	test_made_links();
	test_made_hidden();
	test_unsupported();
	test_made_amd();
	test_made_slots();
	(void)nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return done_testing();
}
