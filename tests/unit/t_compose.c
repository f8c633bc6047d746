/*
 * user/compose/compose.c and user/spec/specprocess.c: what changes in a config.json, and that all else stays. A
 * second run changes nothing. If memory runs out, the result is a refusal, never a part of the
 * edits.
 */
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fixture.h"
#include "nomem.h"
#include "tap.h"
#include "user/compose/compose.h"
#include "user/mount/nodes.h"
#include "user/privilege/privilege.h"
#include "user/mount/sources.h"
#include "user/spec/specprocess.h"
#include "user/spec/specrequest.h"

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))

/*
 * This host's /proc/devices. A GPU driver has the major of /dev/null (1), so that there is a "GPU"
 * to bind; 5 (/dev/tty) and 8 are no GPU drivers.
 */
static struct devmajor known[] = {
	{ 1, 'c', "nvidia-test" }, { 5, 'c', "/dev/tty" }, { 10, 'c', "misc" }, { 195, 'c', "nvidia" },
	    { 8, 'b', "sd" },
};
static const struct devmajors host = { .v = known, .n = COUNT(known) };

/* A grant of one GPU and one folder. */
static struct edits grant;

static void
make_grant(void)
{
	static const char *const options[] = { "bind", "ro", NULL };
	static const struct edit_node gpu = { "/dev/nvidia0", 195, 0, 0666, 0, 44 },
	    ctl = { "/dev/nvidiactl", 195, 255, 0666, 0, 0 };

	edits_add_node(&grant, &gpu);
	edits_add_node(&grant, &ctl);
	edits_add_mount(&grant, "/srv/\"a", "/data\\", options);
	strlist_add(&grant.env, "X=\"1\"\n", SIZE_MAX);
	strlist_add(&grant.masked, "/proc/driver/nvidia/gpus/0000:3b:00.0", SIZE_MAX);
	grant.gid[grant.gids++] = 44;
	grant.gid[grant.gids++] = 6;
}

/* The new text, which the caller frees, or NULL for a refusal. */
static char *
composed(const char *text, const struct edits *with, bool hide, struct why *why)
{
	autospec struct spec s;
	size_t len = 0;
	char *new;

	*why = (struct why){ 0 };
	if (spec_parse(&s, text, strlen(text), why) == -1)
		return NULL;
	new = compose(&s, &host, with, hide, &len, why);
	if (new != NULL && strlen(new) != len)
		ok(false, "compose() returns the length of its text");
	return new;
}

struct change {
	const char *what, *from, *to;
};

static void
check_changes(const struct change *t, size_t n, const struct edits *with, bool hide)
{
	struct why why;
	size_t i;

	for (i = 0; i < n; i++) {
		autofree char *new = composed(t[i].from, with, hide, &why), *again = NULL;

		if (!is_str(new, t[i].to, "%s", t[i].what)) {
			printf("# %s\n", why.text);
			continue;
		}
		again = composed(new, with, hide, &why);
		/* on the second run rootfs_check_conflicts() refuses the mounts of a grant */
		if (with == NULL || with->mounts == 0)
			is_str(again, new, "  a second run changes nothing");
	}
}

#define VOID "\"NVIDIA_VISIBLE_DEVICES=void\""
#define DENY "{\"allow\":false,\"type\":\"a\",\"access\":\"rwm\"}"
/* A spec that needs no change except the tested one. */
#define SPEC(top, env, linux) "{\"process\":{\"env\":[" env "]},\"linux\":{\"resources\":{\"devices\":[" DENY \
    "]}" linux "}" top "}"
#define ENV(list) "{\"process\":{" list "},\"linux\":{\"resources\":{\"devices\":[" DENY "]}}}"
#define RULES(list) "{\"process\":{\"env\":[" VOID "]},\"linux\":{" list "}}"

static void
test_env(void)
{
	static const struct change t[] = {
		{
		    "an env with NVIDIA_VISIBLE_DEVICES=void stays",
		    ENV("\"env\":[ \"A=1\" , " VOID " ]"), ENV("\"env\":[ \"A=1\" , " VOID " ]") },
		{
		    "a process without env gets one", ENV("\"cwd\":\"/\""),
		    ENV("\"cwd\":\"/\",\"env\":[" VOID "]") },
		{ "an empty process gets an env", ENV(""), ENV("\"env\":[" VOID "]") },
		{ "an env of null is replaced", ENV("\"env\":null"), ENV("\"env\":[" VOID "]") },
		{ "an empty env gets the variable", ENV("\"env\":[ ]"), ENV("\"env\":[" VOID "]") },
		{
		    "an env whose key is escaped is found", ENV("\"\\u0065nv\":[\"A=1\"]"),
		    ENV("\"\\u0065nv\":[\"A=1\"," VOID
		    "]") },
		{
		    "the value \"all\" becomes \"void\"",
		    ENV("\"env\":[\"NVIDIA_VISIBLE_DEVICES=all\",\"B=2\"]"), ENV("\"env\":["
		    VOID ",\"B=2\"]") },
		{ "of void and another value, one void stays",
		    ENV("\"env\":[\"NVIDIA_VISIBLE_DEVICES=void\",\"A=1\","
		    "\"NVIDIA_VISIBLE_DEVICES=all\"]"),
		    ENV("\"env\":[" VOID ",\"A=1\"]") },
		{
		    "of two values, void after all, one void stays",
		    ENV("\"env\":[\"NVIDIA_VISIBLE_DEVICES=all\",\"A=1\","
		    "\"NVIDIA_VISIBLE_DEVICES=void\"]"),
		    ENV("\"env\":[" VOID ",\"A=1\"]") },
		{
		    "of two equal variables, one stays", ENV("\"env\":[" VOID "," VOID "]"),
		    ENV("\"env\":[" VOID "]") },
		{
		    "a variable without a value becomes void",
		    ENV("\"env\":[\"NVIDIA_VISIBLE_DEVICES\",\"NVIDIA_VISIBLE_DEVICES=\"]"),
		    ENV("\"env\":[" VOID "]") },
		{
		    "a variable whose name is escaped becomes void",
		    ENV("\"env\":[\"NVIDIA_VISIBLE\\u005fDEVICES=all\"]"),
		    ENV("\"env\":[" VOID "]") },
		{
		    "a void variable whose name is escaped stays",
		    ENV("\"env\":[\"NVIDIA_VISIBLE\\u005fDEVICES=void\"]"),
		    ENV("\"env\":[\"NVIDIA_VISIBLE\\u005fDEVICES=void\"]") },
		{ "other variables that request GPUs are removed, and so is the token",
		    ENV("\"env\":[\"A=\\u0031\",\"AMD_VISIBLE_DEVICES=all\",\"NVIDIA_IMEX_CHANNELS=0\","
		    "\"NVIDIA_GDS=enabled\","
		    "\"NVIDIA_MOFED=enabled\",\"NVIDIA_GDRCOPY=enabled\",\"NVIDIA_NVSWITCH=enabled\","
		    "\"DOCKER_RESOURCE_GPU=x\","
		    "\"DOCKER_RESOURCE_=\",\"NVIDIA_MIG_CONFIG_DEVICES=all\",\"NVIDIA_MIG_MONITOR_DEVICES=all\","
		    "\"GPUHELPER_TOKEN=secret\","
		    "\"GPUHELPER_TOKEN\",\"AMD_VISIBLE_DEVICES\",\"B=2\"]"), ENV("\"env\":[\"A=\\u0031\",\"B=2\"," VOID
		    "]") },
		{ "variables with similar names stay",
		    ENV("\"env\":[\"xGPUHELPER_TOKEN=1\",\"GPUHELPER_TOKEN2=1\",\"gpuhelper_token=1\","
		    "\"GPUHELPER_GPUS=1\",\"NVIDIA_MIG=1\","
		    "\"NVIDIA_GDS2=1\",\"NVIDIA_REQUIRE_CUDA=cuda>=12\",\"NVIDIA_DRIVER_CAPABILITIES=all\","
		    "\"DOCKER_RESOURCE=1\",\"=1\",\"\","
		    VOID "]"), ENV("\"env\":[\"xGPUHELPER_TOKEN=1\",\"GPUHELPER_TOKEN2=1\",\"gpuhelper_token=1\","
		    "\"GPUHELPER_GPUS=1\","
		    "\"NVIDIA_MIG=1\",\"NVIDIA_GDS2=1\",\"NVIDIA_REQUIRE_CUDA=cuda>=12\","
		    "\"NVIDIA_DRIVER_CAPABILITIES=all\","
		    "\"DOCKER_RESOURCE=1\",\"=1\",\"\"," VOID "]") },
	};

	check_changes(t, COUNT(t), NULL, true);
}

static void
test_annotations(void)
{
	static const struct change t[] = {
		{
		    "other annotations stay",
		    SPEC(",\"annotations\":{ \"a\" : \"b\" , \"cdi\":\"\" }", VOID, ""),
		    SPEC(",\"annotations\":{ \"a\" : \"b\" , \"cdi\":\"\" }", VOID, "") },
		{
		    "CDI requests and the token are removed",
		    SPEC(",\"annotations\":{\"cdi.k8s.io/x\":\"nvidia.com/gpu=all\", "
		    "\"a\" : \"b\","
		    "\"cdi.k8s.io\\/\":\"\",\"GPUHELPER_TOKEN\":\"x\",\"GPUHELPER_GPUS\":\"1\",\"CDI.k8s.io/x\":\"\"}",
		    VOID, ""),
		    SPEC(",\"annotations\":{\"a\" : \"b\",\"GPUHELPER_GPUS\":\"1\",\"CDI.k8s.io/x\":\"\"}", VOID, "") },
		{ "CDI requests of other domains are removed (the vendor's runtime may read them)",
		    SPEC(",\"annotations\":{\"nvidia.cdi.k8s.io/x\":\"management.nvidia.com/gpu=all\","
		    "\"a.b.cdi.k8s.io/\":1,\"x-cdi.k8s.io/y\":\"\",\"nvidia.cdi\\u002ek8s.io/y\":\"\",\"nvidia.cdi.k8s.io\":\"\","
		    "\"cdi.k8s.io\":\"\",\"b\":\"cdi.k8s.io/x\",\"cdi.k8s.i/o\":\"\",\"ccdi.k8s.i\":\"\"}", VOID, ""),
		    SPEC(",\"annotations\":{\"b\":\"cdi.k8s.io/x\",\"cdi.k8s.i/o\":\"\",\"ccdi.k8s.i\":\"\"}", VOID, "") },
		{
		    "an object of CDI requests alone becomes empty",
		    SPEC(",\"annotations\":{\"cdi.k8s.io/x\":\"\"}", VOID, ""),
		    SPEC(",\"annotations\":{}", VOID, "") },
		{ "a CDI request with a NUL in its name is removed",
		    SPEC(",\"annotations\":{\"cdi.k8s.io/\\u0000\":\"\",\"cdi\\u0000.k8s.io/\":1}",
		    VOID, ""), SPEC(",\"annotations\":{\"cdi\\u0000.k8s.io/\":1}", VOID, "") },
		{ "null", SPEC(",\"annotations\":null", VOID, ""), SPEC(",\"annotations\":null", VOID, "") },
	};

	check_changes(t, COUNT(t), NULL, true);
}

static void
test_mounts(void)
{
#define M(target, rest) "{\"destination\":\"" target "\"" rest "}"
#define MOUNTS(list) SPEC(",\"mounts\":[" list "]", VOID, "")
	static const struct change t[] = {
		{
		    "other mounts stay",
		    MOUNTS(M("/a", ",\"source\":\"/dev/zero2\",\"type\":\"bind\"") " , " M("/b",
		    "")),
		    MOUNTS(M("/a", ",\"source\":\"/dev/zero2\",\"type\":\"bind\"") " , " M("/b", "")) },
		{
		    "requests by volume are removed",
		    MOUNTS(M("/run/nvidia-container-devices", "") "," M("/a", "") ","
		    M("/run/nvidia-container-devices/all", "") "," M("/var/run/nvidia-container-devices/0", "") ","
		    M("/var/run/nvidia-container-devices", "")), MOUNTS(M("/a", "")) },
		{
		    "requests by volume are removed in every spelling",
		    MOUNTS(M("/run//nvidia-container-devices/all", "") ","
		    M("/var/run/./nvidia-container-devices/0", "") "," M("/x/../run/nvidia-container-devices/", "") ","
		    M("run/nvidia-container-devices/0", "") "," M("/../run/nvidia\\u002dcontainer-devices/0", "")),
		    MOUNTS("") },
		{
		    "paths that only begin like a request are removed (the toolkit compares text)",
		    MOUNTS(M("/run/nvidia-container-devicesall", "") ","
		    M("/var/run/nvidia-container-devicesall", "") "," M("/var/run/./nvidia-container-devicesx/../../run/"
		    "nvidia-container-devices0/", "") "," M("/var/run/nvidia-container-devices.", "")), MOUNTS("") },
		{
		    "similar paths that are no request stay",
		    MOUNTS(M("/run/nvidia-container-device", "") ","
		    M("/run/nvidia-container-devices/..", "") "," M("/a/run/nvidia-container-devices", "") "," M("/",
		    "") "," M("", "")),
		    MOUNTS(M("/run/nvidia-container-device", "") "," M("/run/nvidia-container-devices/..", "") ","
		    M("/a/run/nvidia-container-devices", "") "," M("/", "") "," M("", "")) },
		{
		    "a bind mount of a GPU's node is removed",
		    MOUNTS(M("/a", ",\"source\":\"/dev/null\",\"type\":\"bind\"") ","
		    M("/b", ",\"source\":\"/dev/../dev/null\",\"options\":[\"ro\",\"rbind\"]") ","
		    M("/c", ",\"source\":\"/dev/tty\",\"type\":\"bind\"")), MOUNTS(M("/c",
		    ",\"source\":\"/dev/tty\",\"type\":\"bind\"")) },
		{ "a mount that is no bind mount stays", MOUNTS(M("/a",
		    ",\"source\":\"/dev/null\",\"type\":\"tmpfs\"")),
		    MOUNTS(M("/a", ",\"source\":\"/dev/null\",\"type\":\"tmpfs\"")) },
	};
	static const struct change allowed[] = {
		{ "a privileged container may keep a GPU's node", MOUNTS(M("/a",
		    ",\"source\":\"/dev/null\",\"type\":\"bind\"") ","
		    M("/run/nvidia-container-devices", "")), MOUNTS(M("/a",
		    ",\"source\":\"/dev/null\",\"type\":\"bind\"")) },
	};

	check_changes(t, COUNT(t), NULL, true);
	check_changes(allowed, COUNT(allowed), NULL, false);
}

static void
test_devices(void)
{
#define D(path, rest) "{\"path\":\"" path "\"" rest "}"
#define DEVICES(list) SPEC("", VOID, ",\"devices\":[" list "]")
	static const struct change t[] = {
		{
		    "other devices stay",
		    DEVICES(D("/dev/fuse", ",\"type\":\"c\",\"major\":10,\"minor\":229") " , "
		    D("/dev/sda", ",\"type\":\"b\","
		    "\"major\":195")), DEVICES(D("/dev/fuse", ",\"type\":\"c\",\"major\":10,\"minor\":229") " , "
		    D("/dev/sda",
		    ",\"type\":\"b\",\"major\":195")) },
		{
		    "GPUs are removed by their numbers",
		    DEVICES(D("/dev/x", ",\"type\":\"c\",\"major\":195,\"minor\":0") "," D("/dev/y",
		    ",\"type\":\"u\",\"major\":226,\"minor\":1") "," D("/dev/z", ",\"major\":261") "," D("/dev/w",
		    ",\"type\":\"?\",\"major\":195")
		    "," D("/dev/none", "")),
		    DEVICES(D("/dev/none", "")) },
		{ "a GPU is removed by the host's node at its path", DEVICES(D("/dev/null",
		    ",\"type\":\"c\",\"major\":10,\"minor\":3") ","
		    D("/dev/./null", ",\"type\":\"b\"")), DEVICES("") },
	};
	static const struct change allowed[] = {
		{ "a privileged container may keep GPUs", DEVICES(D("/dev/null",
		    ",\"type\":\"c\",\"major\":195,\"minor\":0")),
		    DEVICES(D("/dev/null", ",\"type\":\"c\",\"major\":195,\"minor\":0")) },
	};

	check_changes(t, COUNT(t), NULL, true);
	check_changes(allowed, COUNT(allowed), NULL, false);
}

static void
test_rules(void)
{
#define R(list) RULES("\"resources\":{\"devices\":[" list "]}")
#define A(rest) "{\"allow\":true,\"type\":\"c\"" rest "}"
#define FIVE(access) "{\"allow\":true,\"type\":\"c\",\"major\":5,\"access\":\"" access "\"}," \
    "{\"allow\":true,\"type\":\"c\",\"major\":10,\"access\":\"" access "\"}"
#define DENIED(n) "{\"allow\":false,\"type\":\"c\",\"major\":" n ",\"access\":\"rwm\"}"
#define ALL "{\"allow\" : true}"
	static const struct change t[] = {
		{
		    "linux without resources gets a denial", RULES("\"x\":1"),
		    RULES("\"x\":1,\"resources\":{\"devices\":[" DENY "]}") },
		{
		    "resources of null are replaced", RULES("\"resources\":null"),
		    RULES("\"resources\":{\"devices\":[" DENY "]}") },
		{
		    "empty resources get a denial", RULES("\"resources\":{ }"),
		    RULES("\"resources\":{ \"devices\":[" DENY "]}") },
		{
		    "resources without rules get a denial",
		    RULES("\"resources\":{\"memory\":{\"limit\":1e400}}"),
		    RULES("\"resources\":{\"memory\":{\"limit\":1e400},\"devices\":[" DENY "]}") },
		{
		    "rules of null are replaced", RULES("\"resources\":{\"devices\":null}"),
		    R(DENY) },
		{ "Concourse's", R(A(",\"major\":10,\"minor\":229,\"access\":\"rwm\"")), R(DENY ","
		    A(",\"major\":10,\"minor\":229,"
		    "\"access\":\"rwm\"")) },
		{ "podman's denial of all devices stays", R("{\"allow\":false,\"access\":\"rwm\"}"),
		    R("{\"allow\":false,\"access\":\"rwm\"}") },
		{
		    "a rule for a GPU is removed",
		    R(DENY "," A(",\"major\":195,\"minor\":0,\"access\":\"rw\"") "," A(" ,"
		    "\"major\":5")),
		    R(DENY "," A(" ,\"major\":5")) },
		{
		    "a wildcard rule becomes rules for every other major",
		    R(DENY "," A(",\"access\":\"rw\"") ","
		    A(" ,\"major\":5")),
		    R(DENY "," FIVE("rw") "," A(" ,\"major\":5")) },
		{
		    "a wildcard written as -1 becomes the same",
		    R(DENY "," A(",\"major\":-1,\"minor\":-1")), R(DENY "," FIVE("rwm")) },
		{
		    "after a rule that allows all, GPUs are denied", R(ALL),
		    R(ALL "," DENIED("195") "," DENIED("226") ","
		    DENIED("261") ","
		    DENIED("1")) },
	};
	static const struct change allowed[] = {
		{
		    "a privileged container may keep its rules", R(ALL "," A(",\"major\":195")),
		    R(ALL ","
		    A(",\"major\":195")) },
	};

	check_changes(t, COUNT(t), NULL, true);
	check_changes(allowed, COUNT(allowed), NULL, false);
}

/* A whole result, compared byte by byte. No JSON library would reproduce it. */
static void
test_bytes(void)
{
	static const struct change t[] = {
		{ "every other byte stays", "\n{ \"ociVersion\" : \"1.3.0\",\t\"hooks\":{ },\r\n "
		    "\"process\":{\"rlimits\":[{\"hard\":18446744073709551615,"
		    "\"soft\":0.10, \"x\":1e400}], \"env\":[ \"A=\\u0031\\/\" ,\"GPUHELPER_TOKEN=x\"], "
		    "\"args\":[\"\\ud83d\\ude00\"] },"
		    "\"linux\":{\"sysctl\":{ } ,\"resources\":{\"devices\":[ {\"allow\":true ,\"type\":\"c\","
		    "\"major\":195}] ,"
		    "\"memory\":{\"limit\":9223372036854775808}}, \"zero\":-0 } , \"z\":[[ ]] }\n ",
		    "\n{ \"ociVersion\" : \"1.3.0\",\t\"hooks\":{ },\r\n "
		    "\"process\":{\"rlimits\":[{\"hard\":18446744073709551615,"
		    "\"soft\":0.10, \"x\":1e400}], \"env\":[\"A=\\u0031\\/\"," VOID
		    "], \"args\":[\"\\ud83d\\ude00\"] },"
		    "\"linux\":{\"sysctl\":{ } ,\"resources\":{\"devices\":[" DENY "] ,"
		    "\"memory\":{\"limit\":9223372036854775808}}, \"zero\":-0 } , \"z\":[[ ]] }\n " },
	};

	check_changes(t, COUNT(t), NULL, true);
}

#define NODES "{\"path\":\"/dev/nvidia0\",\"type\":\"c\",\"major\":195,\"minor\":0,\"fileMode\":438,\"uid\":0," \
    "\"gid\":44}," \
    "{\"path\":\"/dev/nvidiactl\",\"type\":\"c\",\"major\":195,\"minor\":255,\"fileMode\":438,\"uid\":0,\"gid\":0}"
#define GRANTED A(",\"major\":195,\"minor\":0,\"access\":\"rw\"") "," \
    A(",\"major\":195,\"minor\":255,\"access\":\"rw\"")
#define MOUNT "{\"destination\":\"/data\\\\\",\"type\":\"bind\",\"source\":\"/srv/\\\"a\",\"options\":[\"bind\"," \
    "\"ro\"]}"
#define MASK "\"/proc/driver/nvidia/gpus/0000:3b:00.0\""
#define GIVEN_ENV "\"X=\\\"1\\\"\\u000a\""

static void
test_grant(void)
{
	static const struct change t[] = {
		{ "a grant is added to an empty config", "{\"process\":{},\"linux\":{}}",
		    "{\"process\":{\"env\":[" VOID "," GIVEN_ENV
		    "],\"user\":{\"uid\":0,\"gid\":0,\"additionalGids\":[44,6]}},"
		    "\"linux\":{\"devices\":[" NODES "],\"resources\":{\"devices\":[" DENY "," GRANTED
		    "]},\"maskedPaths\":[" MASK "]},"
		    "\"mounts\":[" MOUNT "]}" },
		{
		    "a grant replaces null",
		    "{\"process\":{\"env\":null,\"user\":null},\"linux\":{\"devices\":null,"
		    "\"resources\":null,"
		    "\"maskedPaths\":null},\"mounts\":null}",
		    "{\"process\":{\"env\":[" VOID "," GIVEN_ENV
		    "],\"user\":{\"uid\":0,\"gid\":0,\"additionalGids\":[44,6]}},"
		    "\"linux\":{\"devices\":[" NODES "],\"resources\":{\"devices\":[" DENY "," GRANTED
		    "]},\"maskedPaths\":[" MASK "]},"
		    "\"mounts\":[" MOUNT "]}" },
		{ "a grant is added after existing entries, once each",
		    "{\"process\":{\"user\":{\"uid\":7,\"additionalGids\":[ 6 ]},\"env\":[\"X=old\",\"Y=1\",\"X\"]},"
		    "\"mounts\":[{\"destination\":"
		    "\"/z\"}],\"linux\":{\"maskedPaths\":[\"/proc/kcore\", " MASK
		    "],\"devices\":[{\"path\":\"/dev/nvidia0\",\"type\":\"c\","
		    "\"major\":10},{\"path\":\"/dev/fuse\",\"major\":10}],\"resources\":{\"devices\":[" DENY ","
		    A(",\"major\":195") ","
		    A(",\"major\":10") "]}}}",
		    "{\"process\":{\"user\":{\"uid\":7,\"additionalGids\":[6,44]},\"env\":[\"Y=1\"," VOID "," GIVEN_ENV
		    "]},\"mounts\":"
		    "[{\"destination\":\"/z\"}," MOUNT "],\"linux\":{\"maskedPaths\":[\"/proc/kcore\", " MASK
		    "],\"devices\":[{\"path\":"
		    "\"/dev/fuse\",\"major\":10}," NODES "],\"resources\":{\"devices\":[" DENY "," A(",\"major\":10")
		    "," GRANTED "]}}}" },
		{
		    "a grant to a container with all devices allows all majors but the GPUs', and "
		    "the nodes",
		    "{\"process\":{},\"linux\":{\"resources\":{\"devices\":[{\"allow\":true},{\"allow\":false,"
		    "\"type\":\"b\"}]}}}",
		    "{\"process\":{\"env\":[" VOID "," GIVEN_ENV
		    "],\"user\":{\"uid\":0,\"gid\":0,\"additionalGids\":[44,6]}},"
		    "\"linux\":{\"resources\":{\"devices\":[" DENY "," FIVE("rwm") "," GRANTED "]},\"devices\":[" NODES
		    "],\"maskedPaths\":["
		    MASK "]},\"mounts\":[" MOUNT "]}" },
	};

	check_changes(t, COUNT(t), &grant, true);
}

/* A grant can be applied twice, except its mounts: no mount is added twice. */
static void
test_grant_again(void)
{
	struct edits g = grant;
	struct why why;
	char *one, *two;

	g.mounts = 0;
	one = composed("{\"process\":{},\"linux\":{\"resources\":{\"devices\":[{\"allow\":true}]}}}", &g, true, &why);
	two = one != NULL ? composed(one, &g, true, &why) : NULL;
	ok(one != NULL, "a grant is applied: %s", why.text);
	is_str(two, one, "the grant is applied again without a change");
	free(two);
	two = one != NULL ? composed(one, NULL, true, &why) : NULL;
	ok(two != NULL && strstr(two, "\"major\":195") == NULL,
	    "without a grant, the GPUs of an earlier one are removed: %s", two ? two :
	    why.text);
	free(one);
	free(two);
}

/* A policy's own NVIDIA_VISIBLE_DEVICES replaces «void». */
static void
test_own_variable(void)
{
	struct edits g = { 0 };
	struct why why;
	char *new;

	strlist_add(&g.env, "NVIDIA_VISIBLE_DEVICES=GPU-1", SIZE_MAX);
	new = composed(ENV("\"env\":[\"NVIDIA_VISIBLE_DEVICES=all\",\"A=1\"]"), &g, true, &why);
	is_str(new, ENV("\"env\":[\"A=1\",\"NVIDIA_VISIBLE_DEVICES=GPU-1\"]"),
	    "a granted NVIDIA_VISIBLE_DEVICES replaces the image's");
	free(new);
	edits_free(&g);
}

/* The process.json of an exec: the same lists, but without «void». */
static void
test_process(void)
{
	static const struct change t[] = {
		{ "an env without a token stays", "{\"env\":[\"A=1\" ]}",
		    "{\"env\":[\"A=1\" ],\"user\":{\"uid\":0,\"gid\":0,\"additionalGids\":[6]}}" },
		{ "the token is removed, and NVIDIA_VISIBLE_DEVICES stays",
		    "{\"user\":{\"additionalGids\":[6]},\"env\":[\"NVIDIA_VISIBLE_DEVICES=all\","
		    "\"GPUHELPER_TOKEN=x\"]}", "{\"user\":{\"additionalGids\":[6]},"
		    "\"env\":[\"NVIDIA_VISIBLE_DEVICES=all\"]}" },
		{ "a token in another variable is removed, too",
		    "{\"user\":{\"additionalGids\":[6]},\"env\":[\"CI_TOKEN=x\",\"CI_TOKENS=y\",\"CI_TOKEN\",\"A=1\"]}",
		    "{\"user\":{\"additionalGids\":[6]},\"env\":[\"CI_TOKENS=y\",\"A=1\"]}" },
		{
		    "a process without env gets none", "{\"user\":{\"uid\":1}}",
		    "{\"user\":{\"uid\":1,\"additionalGids\":[6]}}" },
	};
	const struct strlist none = { 0 }, tokens = { (char *[]){ (char []){ "CI_TOKEN" } }, 1 };
	const uint32_t gids[] = { 6 };
	struct why why;
	size_t i, len;

	for (i = 0; i < COUNT(t); i++) {
		autoedits struct doc_edits e = { 0 };
		autodoc struct doc d = { 0 };
		autofree char *new = NULL;

		ok(doc_parse(&d, t[i].from, strlen(t[i].from), &why) == 0, "exec: %s", t[i].what);
		process_env(&d, 0, &none, &tokens, false, &e);
		process_groups(&d, 0, gids, 1, &e);
		is_str(new = doc_apply(&d, &e, &len), t[i].to, "  the result is the expected one");
	}
}

/* SELinux labels: the grant's labels replace the engine's. Others stay. */
static void
test_labels(void)
{
	static const struct change both[] = {
		{ "a config without labels gets both", "{\"process\":{},\"linux\":{}}",
		    "{\"process\":{\"env\":[" VOID "],\"selinuxLabel\":\"u:r:t:s0:c1,c2\"},\"linux\":{\"mountLabel\":"
		    "\"u:object_r:f:s0:c1,c2\",\"resources\":{\"devices\":[" DENY "]}}}" },
		{
		    "an engine's labels are replaced",
		    "{\"process\":{\"selinuxLabel\":\"a:b:c:s0\",\"env\":[" VOID "]},\"linux\":"
		    "{\"mountLabel\":\"\"}}",
		    "{\"process\":{\"selinuxLabel\":\"u:r:t:s0:c1,c2\",\"env\":[" VOID "]},\"linux\":{\"mountLabel\":"
		    "\"u:object_r:f:s0:c1,c2\",\"resources\":{\"devices\":[" DENY "]}}}" },
	};
	static const struct change cgroup[] = {
		{ "a cgroup2 mount becomes a cgroup mount, because cgroup2 takes no second label",
		    "{\"process\":{},\"mounts\":[{\"destination\":\"/c\",\"type\" : \"cgroup2\",\"source\":\"x\",\"options\":[\"ro\"]},"
		    "{\"destination\":\"/d\",\"type\":\"tmpfs\"}],\"linux\":{}}",
		    "{\"process\":{\"env\":[" VOID "],\"selinuxLabel\":\"u:r:t:s0:c1,c2\"},\"mounts\":[{\"destination\":\"/c\","
		    "\"type\":\"cgroup\",\"source\":\"x\",\"options\":[\"ro\"]},{\"destination\":\"/d\",\"type\":\"tmpfs\"}],"
		    "\"linux\":{\"mountLabel\":\"u:object_r:f:s0:c1,c2\",\"resources\":{\"devices\":[" DENY "]}}}" },
	};
	static const struct change kept[] = {
		{ "a cgroup2 mount stays if the grant has no mount label",
		    "{\"process\":{\"env\":[" VOID "]},\"mounts\":[{\"destination\":\"/c\",\"type\":\"cgroup2\"}],\"linux\":{}}",
		    "{\"process\":{\"env\":[" VOID "],\"selinuxLabel\":\"u:r:t:s0:c1,c2\"},\"mounts\":[{\"destination\":\"/c\","
		    "\"type\":\"cgroup2\"}],\"linux\":{\"resources\":{\"devices\":[" DENY "]}}}" },
	};
	static const struct change one[] = {
		{
		    "a mount label stays if the grant has none",
		    "{\"process\":{\"env\":[" VOID "]},\"linux\":{\"mountLabel\":\"x\"}}",
		    "{\"process\":{\"env\":[" VOID "],\"selinuxLabel\":\"u:r:t:s0:c1,c2\"},\"linux\":{\"mountLabel\":\"x\","
		    "\"resources\":{\"devices\":[" DENY "]}}}" },
	};
	struct edits e = { .label = strdup("u:r:t:s0:c1,c2"), .mount_label = strdup("u:object_r:f:s0:c1,c2") };
	static const char *const odd[] = { "{\"process\":{\"selinuxLabel\":1},\"linux\":{}}",
		"{\"process\":{},\"linux\":{\"mountLabel\":[]}}", "{\"process\":{\"SELinuxLabel\":\"x\"},\"linux\":{}}",
		"{\"process\":{},\"linux\":{\"mountlabel\":\"x\"}}" };
	struct why why;
	size_t i;

	check_changes(both, COUNT(both), &e, true);
	check_changes(cgroup, COUNT(cgroup), &e, true);
	free(e.mount_label);
	e.mount_label = NULL;
	check_changes(kept, COUNT(kept), &e, true);
	check_changes(one, COUNT(one), &e, true);
	edits_free(&e);
	for (i = 0; i < COUNT(odd); i++) {
		autofree char *new = composed(odd[i], NULL, true, &why);

		ok(new == NULL, "%s: %s", odd[i], why.text);
	}
}

/* Mounts whose source would show our own files to the container. */
static void
test_sources(void)
{
	char dir[] = "/tmp/t_compose.XXXXXX", etc[64], run[64], other[64], loop[64], text[512];
	static const struct {
		const char *type, *source, *options;
		bool good;
	} t[] = {
		{ "bind", "/etc/gpuhelper", "", false }, { "bind", "/etc/gpuhelper/keys/x.json", "", false },
		    { "bind", "/etc", "", false },
		{ "bind", "/", "", false }, { "none", "/run", "\"rbind\"", false },
		    { "none", "/run/gpuhelper/leases", "\"bind\"", false },
		{ "bind", "/usr/../etc", "", false }, { "bind", "//etc", "", false }, { "bind", "/etc/.", "", false },
		{ "bind", "/proc/self/root", "", false }, { "bind", "/proc/self/root/etc", "", false },
		{ "bind", "@/etc", "", false }, { "bind", "@/run", "", false }, { "bind", "@/other", "", true },
		{ "bind", "/etc/hosts", "", true }, { "bind", "/run/lock", "", true }, { "bind", "/usr", "", true },
		{ "bind", "/dev/fd/0", "", false }, { "bind", "/proc/1/ns/pid", "", false },
		{ "bind", "@/loop", "", false }, { "bind", "/nowhere/etc/gpuhelper", "", false },
		{ "bind", "/nowhere", "\"copy-symlink\"", true }, { "bind", "/etc/gpuhelperx", "", false },
		{ "bind", "hosts", "", false }, { "bind", "a/b", "", false }, { "bind", ".", "", true },
		{ "tmpfs", "/etc/gpuhelper", "", true }, { "tmpfs", "tmpfs", "", true },
		{ "bind", "a..b/..c", "\"copy-symlink\"", true },
		{ "bind", "../../etc/gpuhelper", "", false }, { "bind", "a/..", "", false },
		    { "bind", "a/../../..//etc", "", false },
		{ "overlay", "overlay", "\"lowerdir=/usr:/etc,upperdir=/x\"", false },
		{ "overlay", "overlay", "\"lowerdir=/usr:/lib\",\"upperdir=/run/gpuhelper/x\"", false },
		{ "overlay", "overlay", "\"workdir=/etc/gpuhelper\"", false },
		    { "overlay", "overlay", "\"ro,lowerdir=/usr:/etc\"", false },
		{ "overlay", "overlay", "\"lowerdir=/usr:/e\\\\tc:/lib\"", false },
		{ "overlay", "overlay", "\"lowerdir=/usr:/x\\\\:/etc,upperdir=/y\"", true },
		{ "overlay", "overlay", "\"lowerdir=../../etc\"", false },
		    { "overlay", "overlay", "\"x=/etc,lowerdir=\"", true },
		{ "overlay", "overlay", "\"lowerdir\",\"/etc\"", true },
		    { "overlay", "overlay", "\"lowerdir+=/run\"", false },
		{ "overlay", "overlay", "\"datadir+=/etc\"", false },
		    { "overlay", "overlay", "\"lowerdir=/usr:/lib\",\"ro\"", true },
		{ "tmpfs", "tmpfs", "\"size=/etc\"", true },
	};
	struct why why;
	size_t i;

	if (mkdtemp(dir) == NULL) {
		ok(false, "a directory in /tmp is made");
		return;
	}
	snprintf(etc, sizeof(etc), "%s/etc", dir);
	snprintf(run, sizeof(run), "%s/run", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	snprintf(loop, sizeof(loop), "%s/loop", dir);
	ok(symlink("/etc", etc) == 0 && symlink("/run/gpuhelper/../../run", run) == 0 && symlink("/usr/lib",
	    other) == 0 && symlink("loop/x", loop) == 0, "symbolic links are made");
	for (i = 0; i < COUNT(t); i++) {
		autospec struct spec s;

		snprintf(text, sizeof(text), "{\"process\":{},\"linux\":{},\"mounts\":[{\"destination\":\"/x\","
		    "\"type\":\"%s\",\"source\":"
		    "\"%s%s\",\"options\":[%s]}]}", t[i].type, t[i].source[0] == '@' ? dir : "",
		    t[i].source + (t[i].source[0] == '@'),
		    t[i].options);
		/* a path through a missing directory leads nowhere */
		if (strcmp(t[i].source, "@/run") == 0 && access("/run/gpuhelper", F_OK) == -1)
			continue;
		if (strcmp(t[i].source, "/run/lock") == 0 && access("/run/lock", F_OK) == -1) {
			skip("a mount of /run/lock", "it is not there");
			continue;
		}
		why = (struct why){ 0 };
		ok(spec_parse(&s, text, strlen(text), &why) == 0 && (sources_check(&s, &why) == 0) == t[i].good,
		    "a mount of %s (%s %s) %s",
		    t[i].source, t[i].type, t[i].options, t[i].good ? "is accepted" :
		    "is refused");
		ok(t[i].good ? why.text[0] == '\0' : why.code == (strstr(why.text, "can't be followed") != NULL ? WHY_DATA : WHY_DENIED),
		    "  %s", why.text);
	}
	unlink(etc);
	unlink(run);
	unlink(other);
	unlink(loop);
	rmdir(dir);
}

/*
 * Whether both texts have the same members in the same order. The members in «except» (ends with
 * NULL) may differ; all others have the same bytes.
 */
static bool
same_but(const struct doc *a, uint32_t x, const struct doc *b, uint32_t y, const char *const *except)
{
	uint32_t k = doc_first(a, x), l = doc_first(b, y), v, w;
	size_t i;

	for (; k != DOC_NONE && l != DOC_NONE; k = doc_next(a, k), l = doc_next(b, l)) {
		v = doc_value(a, k);
		w = doc_value(b, l);
		for (i = 0; except[i] != NULL && !doc_equals(a, k, except[i]); i++)
			;
		if (except[i] != NULL ? !doc_equals(b, l, except[i]) : a->node[v].end - a->node[k].start !=
		    b->node[w].end - b->node[l].start || memcmp(a->text + a->node[k].start, b->text + b->node[l].start,
		    a->node[v].end - a->node[k].start) != 0)
			return false;
	}
	return k == DOC_NONE;
}

static void
check_fixture(const char *name, const char *old, const struct edits *with)
{
	static const char *const top[] = { "process", "linux", "mounts", NULL },
	    *const process[] = { "env", "user", NULL };
	static const char *const lin[] = { "resources", "devices", "maskedPaths", NULL },
	    *const resources[] = { "devices", NULL };
	autofree char *new = NULL, *again = NULL;
	autodoc struct doc a = { 0 }, b = { 0 };
	json_t *j, *rules;
	struct why why;
	const char *s;
	size_t i, n = 0;

	new = composed(old, with, true, &why);
	if (!ok(new != NULL && doc_parse(&a, old, strlen(old), &why) == 0 && doc_parse(&b, new, strlen(new), &why) == 0,
	    "%s: %s", name,
	    why.text))
		return;
	ok(same_but(&a, 0, &b, 0, top) && same_but(&a, doc_get(&a, 0, "process"), &b, doc_get(&b, 0, "process"),
	    process) &&
	    same_but(&a, doc_get(&a, 0, "linux"), &b, doc_get(&b, 0, "linux"), lin) &&
	    same_but(&a, doc_get(&a, doc_get(&a, 0, "linux"), "resources"), &b,
	    doc_get(&b, doc_get(&b, 0, "linux"), "resources"), resources),
	    "  only the members that must change have changed");
	j = json_loads(new, JSON_REJECT_DUPLICATES, NULL);
	json_array_foreach(json_object_get(json_object_get(j, "process"), "env"), i, rules) {
		s = json_string_value(rules);
		n += strcmp(s, "NVIDIA_VISIBLE_DEVICES=void") == 0 ? 1 : strstr(s, "NVIDIA_VISIBLE_DEVICES") == s ?
		    100 : 0;
		n += strstr(s, "GPUHELPER_TOKEN") == s ? 100 : 0;
	}
	is_int(n, 1, "  NVIDIA_VISIBLE_DEVICES=void is there once, and no token");
	rules = json_object_get(json_object_get(json_object_get(j, "linux"), "resources"), "devices");
	is_int(json_array_size(rules), 2 + (with != NULL ? 2 : 0),
	    "  the config's own rule stands after the denial");
	json_decref(j);
	if (with == NULL)
		is_str(again = composed(new, with, true, &why), new,
		    "  a second run changes nothing");
}

static void
test_fixtures(const char *dir)
{
	static const char *const names[] = { "task.json", "task-privileged.json", "task-forged-env.json", "get.json",
	    "put.json",
		"check.json" };
	const char *text;
	size_t i, len;

	for (i = 0; i < COUNT(names); i++) {
		if ((text = oci_fixture(dir, names[i], &len)) == NULL)
			continue;
		check_fixture(names[i], text, NULL);
		check_fixture(names[i], text, &grant);
	}
}

#if !defined(__SANITIZE_ADDRESS__)
/*
 * Memory runs out: the nth allocation fails, and in the second pass all after it fail, too. The
 * result is the right text or a refusal.
 */
/* %s: a directory of this host, which is searched for nodes */
static const char full_format[] = "{\"ociVersion\":\"1.0.0\",\"root\":{\"p\\u0061th\":\"r\"},\"process\":{\"user\":{\"uid\":1,"
    "\"additionalGids\":[6]},"
    "\"capabilities\":{\"bounding\":[\"CAP_KILL\"]},\"env\":[\"A=1\",\"GPUHELPER_GPUS=1\","
    "\"NVIDIA_VISIBLE_DEVICES=\\u0061ll\"]},"
    "\"annotations\":{\"a\":\"b\",\"cdi.k8s.io/x\":\"y\",\"c\":\"d\"},\"mounts\":[{\"destination\":\"/a\","
    "\"source\":\"%s\",\"options\":"
    "[\"bind\"]},{\"destination\":\"/run/nvidia-container-devices\"},{\"destination\":\"/b\",\"type\":\"overlay\","
    "\"options\":"
    "[\"lowerdir=/x\"]}],\"linux\":{\"namespaces\":[{\"type\":\"us\\u0065r\"}],\"uidMappings\":[{\"size\":1}],"
    "\"cgroupsPath\":\"x\","
    "\"d\\u0065vices\":[{\"path\":\"/dev/x\",\"type\":\"c\",\"major\":195},{\"path\":\"/dev/y\",\"type\":\"b\","
    "\"major\":8}],"
    "\"r\\u0065sources\":{\"devic\\u0065s\":[{\"allow\":true,\"type\":\"c\"},{\"allow\":true,\"type\":\"b\","
    "\"access\":\"r\"}]},"
    "\"maskedPaths\":[\"/m\"]}}";
static char full[sizeof(full_format) + 64];

/* All that the wrapper does with a bundle's text. Returns the new text, or NULL. */
static char *
everything(struct why *why)
{
	autorequest struct request r = { 0 };
	autospec struct spec s;
	char what[PRIVILEGE_MAX];
	size_t len;
	bool asks = false;

	*why = (struct why){ 0 };
	if (spec_parse(&s, full, strlen(full), why) == -1 || spec_request(&s, NULL, &r, &asks, why) == -1 ||
	    privilege_find(&s, &r, false, false, what, why) == -1 || sources_check(&s, why) == -1 ||
	    nodes_check_mounts(&s, &host, why) == -1)
		return NULL;
	if (r.spec.privileged || !asks || r.spec.uids.n != 1 || r.spec.gid_count != 1) {
		refuse(why, WHY_NONE, "read wrongly");
		return NULL;
	}
	return compose(&s, &host, &grant, true, &len, why);
}

static void
test_memory(void)
{
	char dir[] = "/tmp/t_compose.XXXXXX", beneath[64];
	struct why why;
	char *right, *new;
	unsigned wrong = 0, refused = 0;
	long n, all;

	if (mkdtemp(dir) == NULL)
		abort();
	snprintf(beneath, sizeof(beneath), "%s/a", dir);
	mkdir(beneath, 0755);
	snprintf(full, sizeof(full), full_format, dir);
	right = everything(&why);
	if (!ok(right != NULL, "with enough memory, the text is made: %s", why.text))
		return;
	for (n = 1;; n++) {
		for (all = 0; all < 2; all++) {
			fail_all = all;
			fail_at = n;
			new = everything(&why);
			if (fail_at > 0)
				break;	/* the text takes fewer than n allocations */
			fail_at = -1;
			refused += new == NULL;
			if ((new == NULL ? why.code != WHY_NONE : strcmp(new, right) == 0) || wrong++ >= 5)
				;
			else
				ok(false, "allocation %ld fails%s: %s", n, all ? ", and all after it" : "", new ? new :
				    why.text);
			free(new);
		}
		if (fail_at > 0)
			break;
	}
	fail_at = -1;
	rmdir(beneath);
	rmdir(dir);
	free(new);
	free(right);
	is_int(wrong, 0,
	    "whichever of %ld allocations fails, the result is the right text or a refusal", n - 1);
	ok(n > 150 && refused > 150, "most failing allocations lead to a refusal (%u)", refused);
}
#else
static void
test_memory(void)
{
	skip("when memory runs out", "a sanitizer has its own allocator");
}
#endif

/*
 * A rootless runtime makes no nodes, so the nodes are among the mounts. The config's own nodes on
 * these paths are removed.
 */
static void
test_bound(void)
{
	static const char text[] = "{\"process\":{\"env\":[]},\"mounts\":[],\"linux\":{\"devices\":[{\"path\":\"/dev/null\","
	    "\"type\":\"c\",\"major\":1,\"minor\":3},{\"path\":\"/dev/bound0\",\"type\":\"c\",\"major\":9,\"minor\":9}]}}";
	static const char *const options[] = { "bind", "rw", NULL };
	const struct edit_node node = { .path = "/dev/bound0", .major = 99, .minor = 7, .mode = 0600 };
	struct edits with = { .nodes_bound = true };
	autofree char *bound = NULL, *made = NULL;
	struct why why;

	edits_add_node(&with, &node);
	edits_add_mount(&with, node.path, node.path, options);
	bound = composed(text, &with, true, &why);
	with.nodes_bound = false;
	made = composed(text, &with, true, &why);
	edits_free(&with);
	ok(made != NULL &&
	    strstr(made, "\"path\":\"/dev/bound0\",\"type\":\"c\",\"major\":99") != NULL,
	    "a node that the runtime makes is added to the devices");
	ok(bound != NULL && strstr(bound, "\"path\":\"/dev/bound0\"") == NULL,
	    "a bind-mounted node is not added to the devices");
	ok(bound != NULL && strstr(bound, "\"destination\":\"/dev/bound0\"") != NULL,
	    "a bind-mounted node is added to the mounts");
	ok(bound != NULL && strstr(bound, "\"major\":99,\"minor\":7") != NULL,
	    "a bind-mounted node gets its device rule");
}

/* A CDI spec's nodes may have unusual names. */
static void
test_odd_node(void)
{
	static const struct edit_node odd = { "/dev/\",\\", 240, 7, 0666, 0, 0 };
	struct edits with = { 0 };
	struct why why;
	char *text;

	edits_add_node(&with, &odd);
	text = composed("{\"process\":{},\"linux\":{}}", &with, true, &why);
	ok(text != NULL && strstr(text, "[{\"path\":\"/dev/\\\",\\\\\",\"type\":\"c\",\"major\":240,") != NULL,
	    "a node's path is escaped");
	free(text);
	edits_free(&with);
}

int
main(int argc, char **argv)
{
	make_grant();
	test_env();
	test_annotations();
	test_mounts();
	test_devices();
	test_rules();
	test_bytes();
	test_grant();
	test_grant_again();
	test_own_variable();
	test_process();
	test_labels();
	test_sources();
	test_fixtures(tests_dir(argc, argv));
	test_memory();
	edits_free(&grant);
	test_bound();
	test_odd_node();
	return done_testing();
}
