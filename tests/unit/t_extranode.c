/*
 * gpu/extranode.c: which nodes a CDI device may have besides its GPU's. The kernel's data about
 * the drivers decides.
 */
#include "gpu/extranode.h"
#include "gpu/extrapath.h"
#include "gpu/extraword.h"
#include "tap.h"

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))
#define OWN "0000:3b:00.0"
#define OTHER "0000:af:00.0"

static struct devmajors majors;

static void
test_judge(void)
{
	static const struct {
		const char *what;
		enum gpu_vendor vendor;
		const char *part;
		struct extra_node n;
		enum extra_kind kind;
		unsigned word;
	} t[] = {
		{
		    "a card of the GPU's own PCI device", GPU_NVIDIA, "",
		    { 226, 1, OWN, "drm/card1" }, EXTRA_OF_GPU, 0 },
		{
		    "a node of the GPU's own PCI device, with an unknown driver", GPU_AMD, "",
		    { 240, 7, OWN, "acme/x" }, EXTRA_OF_GPU, 0 },
		{
		    "a card of another PCI device", GPU_NVIDIA, "", { 226, 0, OTHER, "drm/card0" },
		    EXTRA_OF_GPUS, 0 },
		{
		    "a node of another PCI device, with an unknown driver", GPU_AMD, "",
		    { 240, 7, OTHER, "acme/x" }, EXTRA_UNKNOWN, 0 },
		{
		    "a card that sysfs does not list", GPU_NVIDIA, "", { 226, 0, "", "" },
		    EXTRA_OF_GPUS, 0 },
		{
		    "a card, for a part of a GPU", GPU_NVIDIA, "1:0", { 226, 1, OWN, "drm/card1" },
		    EXTRA_OF_GPUS, 0 },
		{
		    "another node of the GPU's PCI device, for a part of the GPU", GPU_AMD, "3",
		    { 240, 7, OWN, "acme/x" }, EXTRA_UNKNOWN, 0 },
		{ "an NVIDIA GPU's node", GPU_NVIDIA, "", { 195, 7, "", "" }, EXTRA_OF_GPUS, 0 },
		{
		    "the last NVIDIA GPU's node", GPU_NVIDIA, "", { 195, 247, "", "" },
		    EXTRA_OF_GPUS, 0 },
		{ "nvidiactl", GPU_NVIDIA, "", { 195, 255, "", "" }, EXTRA_OF_GPU, 0 },
		{ "nvidiactl for an AMD GPU", GPU_AMD, "", { 195, 255, "", "" }, EXTRA_OF_GPUS, 0 },
		{ "nvidia-modeset", GPU_NVIDIA, "", { 195, 254, "", "" }, EXTRA_DISPLAYS, 0 },
		{ "nvidia-uvm", GPU_NVIDIA, "1:0", { 510, 0, "", "" }, EXTRA_OF_GPU, 0 },
		{ "nvidia-uvm for an Intel GPU", GPU_INTEL, "", { 510, 0, "", "" }, EXTRA_UNKNOWN, 0 },
		{
		    "the node that configures MIG instances", GPU_NVIDIA, "", { 235, 1, "", "" },
		    EXTRA_OF_GPUS, 0 },
		{
		    "kfd under another name", GPU_AMD, "", { 236, 0, "", "kfd/kfd" },
		    EXTRA_OF_GPUS, 0 },
		{ "an accelerator", GPU_INTEL, "", { 261, 3, OTHER, "accel/accel3" }, EXTRA_OF_GPUS, 0 },
		{ "NVLink", GPU_NVIDIA, "", { 234, 0, "", "" }, EXTRA_UNKNOWN, 0 },
		{ "NVSwitch's control node", GPU_NVIDIA, "", { 239, 255, "", "" }, EXTRA_BY_WORD, EXTRA_NVSWITCH },
		{ "an NVSwitch", GPU_AMD, "", { 239, 0, "", "" }, EXTRA_BY_WORD, EXTRA_NVSWITCH },
		{
		    "a GPU that VFIO drives", GPU_NVIDIA, "", { 511, 12, "", "vfio/12" },
		    EXTRA_UNKNOWN, 0 },
		{
		    "a number that no driver has", GPU_NVIDIA, "", { 400, 0, "", "" },
		    EXTRA_UNKNOWN, 0 },
		{ "the number of a block driver", GPU_NVIDIA, "", { 8, 0, "", "" }, EXTRA_UNKNOWN, 0 },
		{ "GDRCopy", GPU_NVIDIA, "", { 237, 0, "", "gdrdrv/gdrdrv" }, EXTRA_BY_WORD, EXTRA_GDRDRV },
		{ "GPUDirect Storage", GPU_NVIDIA, "", { 238, 3, "", "" }, EXTRA_BY_WORD, EXTRA_NVIDIA_FS },
		{ "an IMEX channel", GPU_NVIDIA, "", { 233, 9, "", "" }, EXTRA_BY_WORD, EXTRA_IMEX },
		{ "verbs", GPU_AMD, "", { 231, 192, OTHER, "infiniband_verbs/uverbs0" }, EXTRA_BY_WORD, EXTRA_INFINIBAND },
		{
		    "verbs with a major of their own", GPU_AMD, "",
		    { 244, 0, OTHER, "infiniband_verbs/uverbs32" }, EXTRA_BY_WORD,
		    EXTRA_INFINIBAND },
		{ "umad, which manages the fabric", GPU_NVIDIA, "", { 231, 0, OTHER, "infiniband_mad/umad0" }, EXTRA_UNKNOWN, 0 },
		{
		    "a node with the major of verbs that sysfs does not list", GPU_NVIDIA, "",
		    { 231, 192, "", "" }, EXTRA_UNKNOWN, 0 },
		{ "rdma_cm", GPU_NVIDIA, "", { 10, 59, "", "misc/rdma_cm" }, EXTRA_BY_WORD, EXTRA_INFINIBAND },
		{
		    "another misc device", GPU_NVIDIA, "", { 10, 232, "", "misc/kvm" },
		    EXTRA_UNKNOWN, 0 },
		{
		    "a misc device whose name only begins like rdma_cm", GPU_NVIDIA, "",
		    { 10, 60, "", "misc/rdma_cm2" }, EXTRA_UNKNOWN, 0 },
		{
		    "a major that GDRCopy shares with another driver", GPU_NVIDIA, "",
		    { 242, 0, "", "" }, EXTRA_UNKNOWN, 0 },
	};
	size_t i;

	for (i = 0; i < COUNT(t); i++) {
		const struct gpu g = { .vendor = t[i].vendor, .pci = OWN };
		unsigned word = 0;

		is_int(extra_classify(&majors, &g, t[i].part, &t[i].n, &word), t[i].kind, "%s", t[i].what);
		is_int(word, t[i].word, "  the policy word that allows it is the expected one");
	}
}

static void
test_words(void)
{
	static const char *const names[] = { "gdrdrv", "nvidia-fs", "imex", "infiniband", "nvswitch" };
	static const char *const kinds[] = { "nvidia.com/gdrcopy", "nvidia.com/gds", "nvidia.com/imex-channel", "nvidia.com/mofed",
		"nvidia.com/nvswitch" };
	static const char *const wrong[] = { "vfio", "", "GDRDRV", "imex=", "imex=-1", "imex=01", "imex=1 ", "imex=1048576", "imex=all",
		"imex5", "gdrdrv=1", "nvswitch=0" };
	uint32_t channel = 77;
	unsigned bit, all = 0;
	size_t i;

	for (i = 0; i < COUNT(names); i++)
		if (ok(extra_word_parse(names[i], &bit, &channel) && channel == 77, "the word %s is known, and has no channel", names[i])) {
			is_str(extra_word_name(bit), names[i],
			    "  the bit has the word as its name");
			ok((all & bit) == 0, "  no other word has the bit");
			is_str(extra_word_kind(bit), kinds[i], "  the bit has the CDI kind of its nodes");
			is_int(extra_kind_word(kinds[i]), bit, "  and the kind has the bit");
			all |= bit;
		}
	for (i = 0; i < COUNT(wrong); i++)
		ok(!extra_word_parse(wrong[i], &bit, &channel) && channel == 77, "\"%s\" is no word", wrong[i]);
	ok(extra_word_parse("imex=0", &bit, &channel) && bit == EXTRA_IMEX && channel == 0, "an IMEX channel is named by its number");
	ok(extra_word_parse("imex=1048575", &bit, &channel) && bit == EXTRA_IMEX && channel == IMEX_CHANNEL_MAX,
	    "  up to the last one");
	ok(extra_kind_word("nvidia.com/gpu") == 0 && extra_kind_word("nvidia.com/imex") == 0 &&
	    extra_kind_word("nvidia.com/imex-channel=0") == 0, "other kinds have no word");
	is_str(extra_driver(&majors, 511), "vfio", "a char driver has a name");
	is_str(extra_driver(&majors, 8), "", "a block driver has no name");
}

static void
test_paths(void)
{
	static const char *const none[] = { "/dev/nvidia", "/dev/nvidia0x", "/dev/nvidia00", "/dev/nvidia-nvlink", "/dev/nvidia-nvswitch",
		"/dev/nvidia-nvswitchctl0",
		"/dev/vfio/12", "/dev/st0", "/dev/sr0", "/dev/pmem0", "/dev/dax0.0", "/dev/kvm", "/dev/tpm0", "/dev/ipmi0", "/dev/i2c-0",
		"/dev/char/195:0", "/dev/fd/3", "/dev/infiniband/umad0", "/dev/infiniband/issm0", "/dev/dri", "/dev/dri/by-path/x",
		"/dev/dri/card", "/dev/accel/accel_controlD0", "/vendor/dev/nvidia0", "nvidia0", "" };
	static const struct { const char *path; unsigned word; } known[] = {
		{ "/dev/nvidia0", 0 }, { "/dev/nvidia247", 0 }, { "/dev/nvidiactl", 0 }, { "/dev/nvidia-modeset", 0 },
		{ "/dev/nvidia-uvm", 0 }, { "/dev/nvidia-uvm-tools", 0 }, { "/dev/nvidia-caps/nvidia-cap21", 0 }, { "/dev/kfd", 0 },
		{ "/dev/dri/card0", 0 }, { "/dev/dri/renderD128", 0 }, { "/dev/accel/accel0", 0 }, { "/dev/gdrdrv", EXTRA_GDRDRV },
		{ "/dev/nvidia-fs15", EXTRA_NVIDIA_FS }, { "/dev/nvidia-caps-imex-channels/channel0", EXTRA_IMEX },
		{ "/dev/infiniband/uverbs0", EXTRA_INFINIBAND }, { "/dev/infiniband/rdma_cm", EXTRA_INFINIBAND },
		{ "/dev/nvidia-nvswitch0", EXTRA_NVSWITCH }, { "/dev/nvidia-nvswitchctl", EXTRA_NVSWITCH },
	};
	unsigned word;
	size_t i;

	for (i = 0; i < COUNT(none); i++)
		ok(!extra_path_known(none[i], &word), "unknown by its path: %s", none[i]);
	for (i = 0; i < COUNT(known); i++)
		ok(extra_path_known(known[i].path, &word) && word == known[i].word,
		    "known by its path: %s", known[i].path);
}

int
main(void)
{
	static const char devices[] = "Character devices:\n 10 misc\n195 nvidia\n195 nvidia-modeset\n195 nvidiactl\n226 drm\n"
	    "231 infiniband_mad\n231 infiniband_verbs\n233 nvidia-caps-imex-channels\n234 nvidia-nvlink\n235 nvidia-caps\n236 kfd\n"
	    "237 gdrdrv\n238 nvidia-fs\n239 nvidia-nvswitch\n240 acme\n242 gdrdrv\n242 acme\n244 infiniband_verbs\n261 accel\n510 nvidia-uvm\n"
	    "511 vfio\n\nBlock devices:\n  8 sd\n";
	struct why why;

	if (!ok(devmajors_parse(devices, &majors, &why) == 0, "the drivers are read: %s", why.text))
		return done_testing();
	test_judge();
	test_words();
	test_paths();
	devmajors_free(&majors);
	return done_testing();
}
