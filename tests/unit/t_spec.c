/*
 * user/spec/spec.c: reads a config.json, and the container's request in it. It refuses what a runtime
 * would read in another way.
 */
#include "base/cleanup.h"
#include "fixture.h"
#include "tap.h"
#include "user/privilege/privilege.h"
#include "user/spec/spec.h"
#include "user/spec/specrequest.h"

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))
#define TEXT(s) (s), sizeof(s) - 1

/* A spec with additional members in its parts. Each addition begins with a comma, or is empty. */
#define SPEC(top, process, linux) "{\"ociVersion\":\"1.3.0\",\"process\":{\"cwd\":\"/\"" process "}," \
    "\"root\":{\"path\":\"rootfs\"}," \
    "\"linux\":{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"mount\"}]" linux "}" top "}"
#define MOUNTS(list) SPEC(",\"mounts\":" list, "", "")
#define DEVICES(list) SPEC("", "", ",\"devices\":" list)
#define RULES(list) SPEC("", "", ",\"resources\":{\"devices\":" list "}")
#define ENV(list) SPEC("", ",\"env\":" list, "")

static bool
parses(struct spec *s, const char *text, struct why *why)
{
	*why = (struct why){ 0 };
	return spec_parse(s, text, strlen(text), why) == 0;
}

struct wrong {
	const char *text, *why;
};

static void
check_refused(const struct wrong *t, size_t n)
{
	struct why why;
	size_t i;

	for (i = 0; i < n; i++) {
		autospec struct spec s;

		ok(!parses(&s, t[i].text, &why), "refused: %.200s", t[i].text);
		is_str(why.text, t[i].why, "  the message says why");
		is_int(why.code, WHY_DATA, "  the code says that the bundle is at fault");
	}
}

static void
test_parts_refused(void)
{
	static const struct wrong t[] = {
		{ "", "config.json: line 1 column 1: not a JSON value" },
		{ "{\"process\":{},\"process\":{}}", "config.json: the key \"process\" appears twice in one object" },
		{ "[]", "config.json: it is not an object" },
		{ "null", "config.json: it is not an object" },
		{ "{}", "config.json: it has no \"process\"" },
		{ "{\"process\":{}}", "config.json: it has no \"linux\"" },
		{ "{\"linux\":{}}", "config.json: it has no \"process\"" },
		{ "{\"process\":null,\"linux\":{}}", "config.json: it has no \"process\"" },
		{ "{\"process\":[],\"linux\":{}}", "config.json: process is not an object" },
		{ "{\"process\":{},\"linux\":[]}", "config.json: linux is not an object" },
		{ "{\"process\":{},\"linux\":\"x\"}", "config.json: linux is not an object" },
		{ "{\"process\":{},\"linux\":{},\"root\":[]}", "config.json: root is not an object" },
		{ "{\"process\":{},\"linux\":{},\"root\":{\"path\":1}}", "config.json: root.path is not a string" },
		{ "{\"process\":{},\"linux\":{},\"root\":{\"path\":\"a\\u0000\"}}",
		    "config.json: root.path has a NUL in it" },
		{ "{\"process\":{},\"linux\":{},\"ociVersion\":1}", "config.json: ociVersion is not a string" },
		{ MOUNTS("{}"), "config.json: mounts is not a list" },
		{ SPEC(",\"annotations\":[]", "", ""), "config.json: annotations is not an object" },
		{ ENV("{}"), "config.json: process.env is not a list" },
		{ ENV("\"A=1\""), "config.json: process.env is not a list" },
		{ ENV("[\"A=1\",1]"), "config.json: process.env[1] is not a string (without a NUL)" },
		{ ENV("[\"A=1\\u0000\"]"), "config.json: process.env[0] is not a string (without a NUL)" },
		{ ENV("[null]"), "config.json: process.env[0] is not a string (without a NUL)" },
		{ SPEC("", ",\"user\":0", ""), "config.json: process.user is not an object" },
		{ SPEC("", ",\"user\":{\"additionalGids\":6}", ""),
		    "config.json: process.user.additionalGids is not a list" },
		{ SPEC("", ",\"capabilities\":[]", ""), "config.json: process.capabilities is not an object" },
		{ DEVICES("{}"), "config.json: linux.devices is not a list" },
		{ SPEC("", "", ",\"resources\":[]"), "config.json: linux.resources is not an object" },
		{ RULES("{}"), "config.json: linux.resources.devices is not a list" },
		{ SPEC("", "", ",\"maskedPaths\":{}"), "config.json: linux.maskedPaths is not a list" },
		{ SPEC("", "", ",\"cgroupsPath\":[]"), "config.json: linux.cgroupsPath is not a string" },
		{ SPEC("", "", ",\"cgroupsPath\":\"a\\u0000b\""), "config.json: linux.cgroupsPath has a NUL in it" },
	};

	check_refused(t, COUNT(t));
}

static void
test_mounts_refused(void)
{
	static const struct wrong t[] = {
		{ MOUNTS("[1]"), "config.json: mounts[0] is not an object" },
		{ MOUNTS("[null]"), "config.json: mounts[0] is not an object" },
		{ MOUNTS("[{}]"), "config.json: mounts[0] has no destination" },
		{ MOUNTS("[{\"destination\":null}]"), "config.json: mounts[0] has no destination" },
		{ MOUNTS("[{\"destination\":\"/a\"},{\"destination\":1}]"), "config.json: mounts[1] is not a string" },
		{ MOUNTS("[{\"destination\":\"/a\\u0000\"}]"), "config.json: mounts[0] has a NUL in it" },
		{ MOUNTS("[{\"destination\":\"/a\",\"source\":[]}]"), "config.json: mounts[0] is not a string" },
		{ MOUNTS("[{\"destination\":\"/a\",\"type\":1}]"), "config.json: mounts[0] is not a string" },
		{ MOUNTS("[{\"destination\":\"/a\",\"options\":\"ro\"}]"), "config.json: mounts[0] is not a list" },
		{ MOUNTS("[{\"destination\":\"/a\",\"options\":[\"ro\",1]}]"),
		    "config.json: mounts[0][1] is not a string (without a NUL)" },
	};

	check_refused(t, COUNT(t));
}

#define NUMBER "config.json: linux.resources.devices[0]"
#define EVERY NUMBER " is of type \"a\", but does not cover every device: runtimes disagree on what that means: name a type"

static void
test_devices_refused(void)
{
	static const struct wrong t[] = {
		{ DEVICES("[null]"), "config.json: linux.devices[0] is not an object" },
		{ DEVICES("[[]]"), "config.json: linux.devices[0] is not an object" },
		{ DEVICES("[{}]"), "config.json: linux.devices[0] has no path" },
		{ DEVICES("[{\"path\":null}]"), "config.json: linux.devices[0] has no path" },
		{ DEVICES("[{\"path\":1}]"), "config.json: linux.devices[0] is not a string" },
		{ DEVICES("[{\"path\":\"/dev/a\"},{\"path\":\"/dev/b\",\"type\":2}]"),
		    "config.json: linux.devices[1] is not a string" },
		{ DEVICES("[{\"path\":\"/dev/a\",\"major\":\"195\"}]"),
		    "config.json: linux.devices[0].major is not a device number" },
		{ DEVICES("[{\"path\":\"/dev/a\",\"major\":195.0}]"),
		    "config.json: linux.devices[0].major is not a device number" },
		{ DEVICES("[{\"path\":\"/dev/a\",\"major\":1e2}]"),
		    "config.json: linux.devices[0].major is not a device number" },
		{ DEVICES("[{\"path\":\"/dev/a\",\"major\":-2}]"),
		    "config.json: linux.devices[0].major is not a device number" },
		{ DEVICES("[{\"path\":\"/dev/a\",\"major\":4294967295}]"),
		    "config.json: linux.devices[0].major is not a device number" },
		/* 2^32 + 195: truncated to 32 bits, this is an NVIDIA GPU */
		{ DEVICES("[{\"path\":\"/dev/a\",\"major\":4294967491}]"),
		    "config.json: linux.devices[0].major is not a device number" },
		{ RULES("[null]"), NUMBER " is not an object" },
		{ RULES("[1]"), NUMBER " is not an object" },
		{ RULES("[{\"allow\":1}]"), NUMBER ".allow is neither true nor false" },
		{ RULES("[{\"allow\":null}]"), NUMBER ".allow is neither true nor false" },
		{ RULES("[{\"allow\":\"true\"}]"), NUMBER ".allow is neither true nor false" },
		{ RULES("[{\"type\":1}]"), NUMBER " is not a string" },
		{ RULES("[{\"type\":\"p\"}]"), NUMBER ".type \"p\" is unknown" },
		{ RULES("[{\"type\":\"C\"}]"), NUMBER ".type \"C\" is unknown" },
		{ RULES("[{\"access\":7}]"), NUMBER " is not a string" },
		{ RULES("[{\"type\":\"c\",\"major\":\"*\"}]"), NUMBER ".major is not a device number" },
		{ RULES("[{\"type\":\"c\",\"major\":1,\"minor\":1.5}]"), NUMBER ".minor is not a device number" },
		{ RULES("[{\"type\":\"c\",\"major\":-2}]"), NUMBER ".major is not a device number" },
		{ RULES("[{\"type\":\"c\",\"minor\":-2}]"), NUMBER ".minor is not a device number" },
		/* cgroup v1's own number for «all», and a number that crun truncates to 195 */
		{ RULES("[{\"type\":\"c\",\"major\":4294967295}]"), NUMBER ".major is not a device number" },
		{ RULES("[{\"type\":\"c\",\"major\":1,\"minor\":4294967295}]"), NUMBER
		    ".minor is not a device number" },
		{ RULES("[{\"type\":\"c\",\"major\":4294967491}]"), NUMBER ".major is not a device number" },
		{ RULES("[{\"type\":\"c\",\"major\":99999999999999999999}]"), NUMBER ".major is not a device number" },
		/*
		 * crun takes these rules literally; runc and the kernel take them for «everything»
		 */
		{ RULES("[{\"allow\":false,\"type\":\"a\",\"major\":1}]"), EVERY },
		{ RULES("[{\"allow\":false,\"minor\":1}]"), EVERY },
		{ RULES("[{\"allow\":true,\"type\":\"a\",\"access\":\"rw\"}]"), EVERY },
	};

	check_refused(t, COUNT(t));
}

/*
 * runc ignores the case of keys, even for the long s and the Kelvin sign. A key that gpuhelper and
 * a runtime would read in different ways is refused.
 */
static void
test_keys_refused(void)
{
#define SPELT(was, is) "config.json: the key \"" was "\" must be spelt \"" is "\""
#define ASCII(key) "config.json: the key \"" key "\" is not plain ASCII"
	static const struct wrong t[] = {
		{ SPEC(",\"Linux\":{}", "", ""), SPELT("Linux", "linux") },
		{ SPEC(",\"PROCESS\":{}", "", ""), SPELT("PROCESS", "process") },
		{ SPEC(",\"Mounts\":[]", "", ""), SPELT("Mounts", "mounts") },
		{ SPEC(",\"mOUNTS\":[]", "", ""), SPELT("mOUNTS", "mounts") },
		{ SPEC(",\"M\\u004funts\":[]", "", ""), SPELT("MOunts", "mounts") },
		{ SPEC(",\"mount\\u017f\":[]", "", ""), ASCII("mount\xc5\xbf") },
		{ SPEC(",\"mount\xc5\xbf\":[]", "", ""), ASCII("mount\xc5\xbf") },
		{ SPEC(",\"a\\u0000\":[]", "", ""), ASCII("(with a NUL)") },
		{ SPEC(",\"\xc3\xa4\":[]", "", ""), ASCII("\xc3\xa4") },
		{ SPEC(",\"ociversion\":\"1.0.0\"", "", ""), SPELT("ociversion", "ociVersion") },
		{ SPEC(",\"Annotations\":{}", "", ""), SPELT("Annotations", "annotations") },
		{ SPEC(",\"Root\":{}", "", ""), SPELT("Root", "root") },
		{ SPEC("", ",\"Env\":[]", ""), SPELT("Env", "env") },
		{ SPEC("", ",\"User\":{}", ""), SPELT("User", "user") },
		{ SPEC("", ",\"Capabilities\":{}", ""), SPELT("Capabilities", "capabilities") },
		{ SPEC("", ",\"capabilities\":{\"Bounding\":[\"CAP_SYS_ADMIN\"]}", ""), SPELT("Bounding", "bounding") },
		{ SPEC("", ",\"capabilities\":{\"e\xef\xac\x80" "ective\":[]}", ""), ASCII("e\xef\xac\x80" "ective") },
		{ SPEC("", ",\"user\":{\"UID\":0}", ""), SPELT("UID", "uid") },
		{ SPEC("", ",\"user\":{\"additionalgids\":[6]}", ""), SPELT("additionalgids", "additionalGids") },
		{ SPEC("", "", ",\"Devices\":[]"), SPELT("Devices", "devices") },
		{ SPEC("", "", ",\"device\\u017f\":[]"), ASCII("device\xc5\xbf") },
		{ SPEC("", "", ",\"Resources\":{}"), SPELT("Resources", "resources") },
		{ SPEC("", "", ",\"resources\":{\"Devices\":[]}"), SPELT("Devices", "devices") },
		{ SPEC("", "", ",\"CgroupsPath\":\"/x\""), SPELT("CgroupsPath", "cgroupsPath") },
		{ SPEC("", "", ",\"uidmappings\":[]"), SPELT("uidmappings", "uidMappings") },
		{ SPEC("", "", ",\"MaskedPaths\":[]"), SPELT("MaskedPaths", "maskedPaths") },
		{ SPEC("", "", ",\"Namespaces\":[]"), SPELT("Namespaces", "namespaces") },
		{ "{\"process\":{},\"linux\":{},\"root\":{\"Path\":\"/\"}}", SPELT("Path", "path") },
		{ MOUNTS("[{\"destination\":\"/a\",\"Destination\":\"/b\"}]"), SPELT("Destination", "destination") },
		{ MOUNTS("[{\"destination\":\"/a\",\"SOURCE\":\"/b\"}]"), SPELT("SOURCE", "source") },
		{ MOUNTS("[{\"destination\":\"/a\",\"Options\":[]}]"), SPELT("Options", "options") },
		{ DEVICES("[{\"path\":\"/dev/a\",\"Major\":195}]"), SPELT("Major", "major") },
		{ DEVICES("[{\"path\":\"/dev/a\",\"Type\":\"c\"}]"), SPELT("Type", "type") },
		{ RULES("[{\"allow\":false,\"Allow\":true}]"), SPELT("Allow", "allow") },
		{ RULES("[{\"allow\":true,\"type\":\"c\",\"acceSS\":\"r\"}]"), SPELT("acceSS", "access") },
		{ RULES("[{\"allow\":true,\"type\":\"c\",\"Minor\":1}]"), SPELT("Minor", "minor") },
		{ SPEC("", "", ",\"namespaces2\":1,\"NAMESPACES\":[]"), SPELT("NAMESPACES", "namespaces") },
		{ "{\"process\":{},\"linux\":{\"namespaces\":[{\"Type\":\"user\"}]}}", SPELT("Type", "type") },
	};
	autospec struct spec s;
	struct why why;

	check_refused(t, COUNT(t));
	ok(parses(&s, SPEC(",\"annotations\":{\"Process\":\"x\",\"\xc3\xa4\":\"y\",\"linux\":\"z\"},\"Hostname\":\"h\"",
	    "", ""), &why), "annotations may have any keys: %s", why.text);
}

static void
test_capabilities_refused(void)
{
#define CAPS(set, list) SPEC("", ",\"capabilities\":{\"" set "\":" list "}", "")
	static const struct wrong t[] = {
		/* crun's cap_from_name(3) accepts these, too */
		{ CAPS("bounding", "[\"cap_sys_admin\"]"),
		    "config.json: the capability \"cap_sys_admin\" is not spelt like CAP_KILL" },
		{ CAPS("effective", "[\"CAP_KILL\",\"CAP_Sys_Admin\"]"),
		    "config.json: the capability \"CAP_Sys_Admin\" is not spelt like CAP_KILL" },
		{ CAPS("permitted", "[\"21\"]"), "config.json: the capability \"21\" is not spelt like CAP_KILL" },
		{ CAPS("ambient", "[\"\"]"), "config.json: the capability \"\" is not spelt like CAP_KILL" },
		{ CAPS("inheritable", "[21]"), "config.json: process.capabilities.inheritable has an entry that is not "
		    "a string" },
		{ CAPS("inheritable", "[\"CAP_KILL\\u0000\"]"),
		    "config.json: process.capabilities.inheritable has an entry that is not a string" },
		{ CAPS("bounding", "{\"CAP_SYS_ADMIN\":1}"),
		    "config.json: process.capabilities.bounding is not a list" },
		{ CAPS("bounding", "\"CAP_SYS_ADMIN\""), "config.json: process.capabilities.bounding is not a list" },
	};

	check_refused(t, COUNT(t));
}

/* null means that the member is missing, as in Go. */
static void
test_nulls(void)
{
	autospec struct spec s;
	struct why why;

	ok(parses(&s, "{\"ociVersion\":null,\"process\":{\"env\":null,\"user\":null,\"capabilities\":null},"
	    "\"root\":null,\"mounts\":null,"
	    "\"annotations\":null,\"linux\":{\"devices\":null,\"resources\":null,\"maskedPaths\":null,"
	    "\"cgroupsPath\":null,"
	    "\"namespaces\":null}}", &why),
	    "null is accepted instead of a missing member: %s", why.text);
	ok(s.env_text.n == 0 && s.mount_count == 0 && s.device_count == 0 && s.rule_count == 0 && s.root_path == NULL &&
	    strcmp(s.cgroups_path, "") == 0 && s.major == 0 && !s.user_namespace,
	    "null is read as a missing member");
	spec_free(&s);
	ok(parses(&s, "{\"process\":{},\"linux\":{\"resources\":{\"devices\":null}}}", &why),
	    "null is accepted for the device rules");
	spec_free(&s);
	ok(parses(&s, "{\"process\":{},\"linux\":{}}", &why) && s.env == DOC_NONE && s.rules == DOC_NONE,
	    "missing members are accepted");
	spec_free(&s);
	ok(parses(&s, MOUNTS("[{\"destination\":\"/a\",\"source\":null,\"type\":null,\"options\":null}]"), &why) &&
	    s.mount_count == 1 && s.mount[0].source == NULL && s.mount[0].type == NULL && !s.mount[0].bind,
	    "null is accepted in a mount");
	spec_free(&s);
	ok(parses(&s, DEVICES("[{\"path\":\"/dev/a\",\"type\":null,\"major\":null}]"), &why) &&
	    s.device[0].type == 'c' &&
	    s.device[0].major == -1, "null is accepted in a device");
	spec_free(&s);
	ok(parses(&s, RULES("[{\"allow\":true,\"type\":null,\"major\":null,\"minor\":null,\"access\":null}]"), &why) &&
	    s.rule[0].type == 'a' && s.rule[0].major == -1 && strcmp(s.rule[0].access, "rwm") == 0,
	    "null is accepted in a rule");
}

static void
test_read(void)
{
	static const char text[] = SPEC(",\"mounts\":[{\"destination\":\"/proc\",\"type\":\"proc\","
	    "\"source\":\"proc\"},"
	    "{\"destination\":\"/a\",\"source\":\"/x\",\"options\":[\"ro\",\"rbind\"]},{\"destination\":\"/b\","
	    "\"type\":\"bind\"},"
	    "{\"destination\":\"/c\",\"type\":\"none\",\"options\":[\"bind\"]}]",
	    ",\"env\":[\"A=\\u0031\",\"B\"]",
	    ",\"cgroupsPath\":\"garden/x\",\"devices\":[{\"path\":\"/dev/fuse\",\"type\":\"u\",\"major\":10,"
	    "\"minor\":229},"
	    "{\"path\":\"/dev/sda\",\"type\":\"b\",\"major\":8}],\"resources\":{\"devices\":[{},{\"allow\":true,"
	    "\"type\":\"\",\"access\":\"\"},"
	    "{\"allow\":true,\"type\":\"u\",\"major\":195,\"minor\":0,\"access\":\"wr\"},"
	    "{\"allow\":true,\"type\":\"b\",\"major\":-1,\"minor\":4294967294,\"access\":\"mmm\"},"
	    "{\"allow\":true,\"type\":\"c\",\"access\":\"x\"},{\"allow\":false,\"type\":\"a\",\"major\":-1,"
	    "\"minor\":-1,"
	    "\"access\":\"mwr\"}]}");
	autospec struct spec s;
	struct why why;

	if (!ok(parses(&s, text, &why), "a spec is read: %s", why.text))
		return;
	ok(s.major == 1 && strcmp(s.root_path, "rootfs") == 0 &&
	    strcmp(s.cgroups_path, "garden/x") == 0,
	    "the version, the root and the cgroup are read");
	ok(s.env_text.n == 2 && strcmp(s.env_text.v[0], "A=1") == 0, "the environment is read");
	ok(s.mount_count == 4 && !s.mount[0].bind && s.mount[1].bind && s.mount[2].bind && s.mount[3].bind,
	    "bind mounts are recognised by their type or an option");
	ok(strcmp(s.mount[1].source, "/x") == 0 && s.mount[1].options.n == 2 && s.mount[2].source == NULL,
	    "the mounts' sources are read");
	ok(s.device_count == 2 && s.device[0].type == 'u' && s.device[0].major == 10 && s.device[1].type == 'b',
	    "the devices are read");
	if (!is_int(s.rule_count, 6, "the device rules are read"))
		return;
	ok(s.rule[0].type == 'a' && !s.rule[0].allow && s.rule[0].major == -1 && strcmp(s.rule[0].access, "rwm") == 0,
	    "an empty rule denies every device");
	ok(s.rule[1].type == 'a' && s.rule[1].allow && strcmp(s.rule[1].access, "rwm") == 0,
	    "empty strings have the same meaning as missing ones");
	ok(s.rule[2].type == 'c' && s.rule[2].major == 195 && s.rule[2].minor == 0 && strcmp(s.rule[2].access,
	    "rw") == 0, "type u is read as c, and the access letters are sorted");
	ok(s.rule[3].type == 'b' && s.rule[3].major == -1 && s.rule[3].minor == 4294967294 &&
	    strcmp(s.rule[3].access, "m") == 0, "-1 is read as every number");
	ok(s.rule[4].access[0] == '\0', "unknown access is read as none");
	ok(s.rule[5].type == 'a' && strcmp(s.rule[5].access, "rwm") == 0,
	    "a rule for every device is read");
}

static void
test_version(void)
{
	static const struct {
		const char *version;
		unsigned major;
	} t[] = { { "1.0.0", 1 }, { "1.3.0-dev", 1 }, { "2.0.0", 2 }, { "0.9.0", 0 }, { "1", 0 }, { "", 0 },
	    { "x.1", 0 },
		{ "01.0", 0 }, { "-1.0", 0 }, { "1001.0", 0 } };
	struct why why;
	char text[256];
	size_t i;

	for (i = 0; i < COUNT(t); i++) {
		autospec struct spec s;

		snprintf(text, sizeof(text), "{\"ociVersion\":\"%s\",\"process\":{},\"linux\":{}}", t[i].version);
		ok(parses(&s, text, &why) && s.major == t[i].major,
		    "ociVersion \"%s\" has the major version %u", t[i].version,
		    t[i].major);
	}
}

/* "asks token=T gpus=1": the contents of a request. The caller frees the text. */
static char *
describe(const struct request *r, bool asks)
{
	const struct {
		const char *name, *value;
	} v[] = { { "token", r->untrusted.token }, { "gpus", r->untrusted.gpus }, { "folders", r->untrusted.folders },
	    { "team", r->untrusted.team },
		{ "pipeline", r->untrusted.pipeline }, { "job", r->untrusted.job },
		    { "vars", r->untrusted.instance_vars } };
	struct buf b = { 0 };
	size_t i;

	buf_puts(&b, asks ? "asks" : "plain");
	for (i = 0; i < COUNT(v); i++)
		if (v[i].value != NULL)
			buf_printf(&b, " %s=%s", v[i].name, v[i].value);
	return buf_take(&b);
}

static void
test_request(void)
{
#define NOTES(list) SPEC(",\"annotations\":" list, "", "")
	static const struct {
		const char *text, *says;	/* says: the result, or the reason for a refusal */
	} t[] = {
		{ SPEC("", "", ""), "plain" },
		{ ENV("[\"PATH=/bin\",\"NVIDIA_VISIBLE_DEVICES=all\"]"), "plain" },
		{ ENV("[\"GPUHELPER_GPUS=1\"]"), "asks gpus=1" },
		{ ENV("[\"GPUHELPER_FOLDERS=/srv/a:ro\",\"GPUHELPER_TOKEN=a.b=c\"]"),
		    "asks token=a.b=c folders=/srv/a:ro" },
		{ NOTES("{\"GPUHELPER_GPUS\":\"amd:1\",\"user\":\"\"}"), "asks gpus=amd:1" },
		{ SPEC(",\"annotations\":{\"GPUHELPER_FOLDERS\":\"all\"}", ",\"env\":[\"GPUHELPER_GPUS=2\"]", ""),
		    "asks gpus=2 folders=all" },
		{ ENV("[\"GPUHELPER_GPUS2=1\",\"xGPUHELPER_GPUS=1\",\"gpuhelper_gpus=1\",\"GPUHELPER_GPUS\"]"),
		    "plain" },
		{ ENV("[\"BUILD_TEAM_NAME=t\",\"BUILD_PIPELINE_NAME=p\",\"BUILD_JOB_NAME=j\","
		    "\"BUILD_PIPELINE_INSTANCE_VARS={}\"]"),
		    "plain team=t pipeline=p job=j vars={}" },
		{ ENV("[\"BUILD_TEAM_NAME=image\",\"BUILD_TEAM_NAME=t\",\"BUILD_JOB_NAME=\"]"), "plain team=t" },
		{ ENV("[\"BUILD_TEAM_NAME=t\",\"BUILD_TEAM_NAME=\"]"), "plain" },
		{ NOTES("{\"BUILD_TEAM_NAME\":\"t\"}"), "plain" },
		{ NOTES("{\"GPUHELPER_GPUS\":null}"), "plain" },
		/* given twice, or empty */
		{ ENV("[\"GPUHELPER_GPUS=1\",\"GPUHELPER_GPUS=1\"]"),
		    "config.json: GPUHELPER_GPUS is given 2 times: give it once" },
		{ ENV("[\"GPUHELPER_TOKEN=\",\"A=1\",\"GPUHELPER_TOKEN=x\",\"GPUHELPER_TOKEN=y\"]"),
		    "config.json: GPUHELPER_TOKEN is given 3 times: give it once" },
		{ SPEC(",\"annotations\":{\"GPUHELPER_FOLDERS\":\"all\"}", ",\"env\":[\"GPUHELPER_FOLDERS=all\"]", ""),
		    "config.json: GPUHELPER_FOLDERS is given 2 times: give it once" },
		{ ENV("[\"GPUHELPER_GPUS=\"]"), "config.json: GPUHELPER_GPUS is empty: remove it, or give a "
		    "value" },
		{ NOTES("{\"GPUHELPER_TOKEN\":\"\"}"), "config.json: GPUHELPER_TOKEN is empty: remove it, or give "
		    "a value" },
		{ NOTES("{\"GPUHELPER_GPUS\":1}"), "config.json: GPUHELPER_GPUS is not a string" },
		{ NOTES("{\"GPUHELPER_GPUS\":\"1\\u0000\"}"), "config.json: GPUHELPER_GPUS has a NUL in it" },
		/* an unknown version */
		{ "{\"ociVersion\":\"2.0.0\",\"process\":{\"env\":[\"GPUHELPER_GPUS=1\"]},\"linux\":{}}",
		    "config.json: ociVersion is not "
		    "1.x, and the container asks for GPUs or folders: gpuhelper can't read such a config.json" },
		{ "{\"process\":{\"env\":[\"GPUHELPER_TOKEN=1\"]},\"linux\":{}}", "config.json: ociVersion is not "
		    "1.x, and the container asks for GPUs or folders: gpuhelper can't read such a config.json" },
		{ "{\"ociVersion\":\"2.0.0\",\"process\":{},\"linux\":{}}", "plain" },
	};
	struct why why;
	size_t i;

	for (i = 0; i < COUNT(t); i++) {
		autorequest struct request r = { 0 };
		autofree char *says = NULL;
		autospec struct spec s;
		bool asks = false;

		if (!ok(parses(&s, t[i].text, &why), "%.150s: %s", t[i].text, why.text))
			continue;
		if (spec_request(&s, NULL, &r, &asks, &why) == -1)
			is_str(why.text, t[i].says, "  the request is refused");
		else
			is_str(says = describe(&r, asks), t[i].says, "  the request is read");
	}
}

/*
 * Tokens in the variables of three issuers: one of ours, one of the CI's own, which is no request by itself, and
 * Concourse's.
 */
static void
test_token_variables(void)
{
	static const struct {
		const char *text, *says;	/* the token, "-" for none, or the refusal */
		bool asks;
		const char *out;	/* the variables that are taken out, besides GPUHELPER_TOKEN */
	} t[] = {
		{ ENV("[\"GPUHELPER_TOKEN=a\"]"), "a", true, "GPUHELPER_TOKEN_B CI_TOKEN CI_OTHER" },
		{ ENV("[\"GPUHELPER_TOKEN_B=b\"]"), "b", true, "GPUHELPER_TOKEN_B CI_TOKEN CI_OTHER" },
		{ ENV("[\"CI_TOKEN=c\"]"), "-", false, "GPUHELPER_TOKEN_B" },
		{ ENV("[\"CI_TOKEN=c\",\"GPUHELPER_GPUS=1\"]"), "c", true, "GPUHELPER_TOKEN_B CI_TOKEN CI_OTHER" },
		{ ENV("[\"CI_TOKEN=c\",\"GPUHELPER_FOLDERS=none\"]"), "c", true, "GPUHELPER_TOKEN_B CI_TOKEN CI_OTHER" },
		{ ENV("[\"CI_TOKENS=c\",\"XCI_TOKEN=c\",\"ci_token=c\",\"GPUHELPER_GPUS=1\"]"), "-", true,
		    "GPUHELPER_TOKEN_B CI_TOKEN CI_OTHER" },
		{ NOTES("{\"CI_TOKEN\":\"c\",\"GPUHELPER_GPUS\":\"1\"}"), "c", true, "GPUHELPER_TOKEN_B CI_TOKEN CI_OTHER" },
		{ ENV("[\"GPUHELPER_TOKEN=a\",\"CI_TOKEN=c\"]"), "a", true, "GPUHELPER_TOKEN_B CI_TOKEN CI_OTHER" },
		{ ENV("[\"GPUHELPER_TOKEN_B=b\",\"CI_TOKEN=c\",\"GPUHELPER_GPUS=1\"]"), "b", true, "GPUHELPER_TOKEN_B CI_TOKEN CI_OTHER" },
		{ ENV("[\"GPUHELPER_TOKEN=a\",\"GPUHELPER_TOKEN_B=b\"]"),
		    "config.json: there are tokens in GPUHELPER_TOKEN and in GPUHELPER_TOKEN_B: give one", false, NULL },
		{ ENV("[\"CI_TOKEN=c\",\"CI_OTHER=d\",\"GPUHELPER_GPUS=1\"]"),
		    "config.json: there are tokens in CI_TOKEN and in CI_OTHER: give one", false, NULL },
		{ ENV("[\"CI_TOKEN=c\",\"CI_TOKEN=d\",\"GPUHELPER_GPUS=1\"]"),
		    "config.json: CI_TOKEN is given 2 times: give it once", false, NULL },
		{ ENV("[\"CI_TOKEN=\",\"GPUHELPER_GPUS=1\"]"), "config.json: CI_TOKEN is empty: remove it, or give a value", false,
		    NULL },
	};
	struct issuer_setting issuers[] = { { .url = NULL }, { .variable = (char []){ "GPUHELPER_TOKEN_B" } },
		{ .variable = (char []){ "CI_TOKEN" } }, { .variable = (char []){ "CI_TOKEN" } }, { .variable = (char []){ "CI_OTHER" } } };
	const struct settings settings = { .issuer = issuers, .issuers = COUNT(issuers) };
	struct why why;
	size_t i, k;

	for (i = 0; i < COUNT(t); i++) {
		autorequest struct request r = { 0 };
		autobuf struct buf out = { 0 };
		autospec struct spec s;
		bool asks = false;

		if (!ok(parses(&s, t[i].text, &why), "%.150s", t[i].text))
			continue;
		if (spec_request(&s, &settings, &r, &asks, &why) == -1) {
			is_str(why.text, t[i].says, "  it is refused");
			continue;
		}
		for (k = 0; k < s.tokens.n; k++)
			buf_printf(&out, "%s%s", k > 0 ? " " : "", s.tokens.v[k]);
		is_str(r.untrusted.token != NULL ? r.untrusted.token : "-", t[i].says, "  the token");
		ok(asks == t[i].asks, "  it asks, or not");
		is_str(out.p, t[i].out, "  what is taken out");
	}
}

/*
 * "uids 0>1x2 1>1x3 gids identity user 0:0 groups 6 dac": the numbers in a request. The caller
 * frees the text.
 */
static char *
describe_ids(const struct request *r)
{
	const struct idmap *maps[] = { &r->spec.uids, &r->spec.gids };
	struct buf b = { 0 };
	size_t i, k;

	for (i = 0; i < 2; i++) {
		buf_printf(&b, "%s%s", i ? " gids" : "uids", maps[i]->identity ? " identity" : "");
		for (k = 0; k < maps[i]->n; k++)
			buf_printf(&b, " %u>%ux%u", maps[i]->v[k].inside, maps[i]->v[k].outside, maps[i]->v[k].size);
	}
	buf_printf(&b, " user %u:%u", r->spec.uid, r->spec.gid);
	for (i = 0; i < r->spec.gid_count; i++)
		buf_printf(&b, "%s%u", i ? "," : " groups ", r->spec.gid_list[i]);
	if (r->spec.dac_override)
		buf_puts(&b, " dac");
	return buf_take(&b);
}

static void
test_ids(void)
{
#define MAPS(ns, maps) "{\"process\":{},\"linux\":{\"namespaces\":[" ns "]" maps "}}"
#define USER(user) SPEC("", ",\"user\":" user, "")
#define M1 "{\"containerID\":0,\"hostID\":4294967294,\"size\":1}"
#define M2 "{\"containerID\":1,\"hostID\":1,\"size\":4294967293}"
	static const struct {
		const char *text, *says;
	} t[] = {
		{ MAPS("", ""), "uids identity gids identity user 0:0" },
		{ MAPS("{\"type\":\"user\"}", ",\"uidMappings\":[" M1 "," M2 "],\"gidMappings\":[" M2 "]"),
		    "uids 0>4294967294x1 1>1x4294967293 gids 1>1x4294967293 user 0:0" },
		{ MAPS("{\"type\":\"user\"}", ""), "uids gids user 0:0" },
		{ MAPS("{\"type\":\"user\"}", ",\"uidMappings\":null,\"gidMappings\":[]"), "uids gids user 0:0" },
		{ MAPS("", ",\"uidMappings\":[" M1 "]"), "uids 0>4294967294x1 gids identity user 0:0" },
		{ MAPS("{\"type\":\"user\"}", ",\"uidMappings\":[{\"size\":1}]"), "uids 0>0x1 gids user 0:0" },
		{ MAPS("{\"type\":\"user\"}", ",\"uidMappings\":[{\"size\":4294967295}]"),
		    "uids 0>0x4294967294 gids user 0:0" },
		{ MAPS("{\"type\":\"user\"}", ",\"uidMappings\":[{\"size\":0}]"), "uids 0>0x0 gids user 0:0" },
		{ MAPS("", ",\"uidMappings\":{}"), "config.json: uidMappings is not a list" },
		{ MAPS("", ",\"uidMappings\":[1]"), "config.json: linux.uidMappings: a size is not a number of ids" },
		{ MAPS("", ",\"uidMappings\":[{}]"), "config.json: linux.uidMappings: a size is not a number of ids" },
		{ MAPS("", ",\"gidMappings\":[{\"size\":-1}]"),
		    "config.json: linux.gidMappings: a size is not a number of ids" },
		{ MAPS("", ",\"gidMappings\":[{\"size\":4294967296}]"),
		    "config.json: linux.gidMappings: a size is not a number of ids" },
		{ MAPS("", ",\"gidMappings\":[{\"containerID\":-1,\"size\":1}]"),
		    "config.json: containerID is not an id" },
		{ MAPS("", ",\"gidMappings\":[{\"hostID\":4294967295,\"size\":1}]"),
		    "config.json: hostID is not an id" },
		{ MAPS("", ",\"gidMappings\":[{\"hostID\":\"0\",\"size\":1}]"), "config.json: hostID is not an id" },
		{ MAPS("", ",\"gidMappings\":[{\"hostid\":7,\"size\":1}]"),
		    "config.json: the key \"hostid\" must be spelt \"hostID\"" },
		{ MAPS("", ",\"gidMappings\":[{\"Size\":7}]"), "config.json: the key \"Size\" must be spelt \"size\"" },
		{ USER("{\"uid\":1000,\"gid\":6,\"additionalGids\":[6,0,4294967294]}"),
		    "uids identity gids identity user 1000:6 groups 6,0,4294967294" },
		{ USER("{}"), "uids identity gids identity user 0:0" },
		{ USER("{\"uid\":-1}"), "config.json: uid is not an id" },
		{ USER("{\"gid\":4294967295}"), "config.json: gid is not an id" },
		{ USER("{\"uid\":1.0}"), "config.json: uid is not an id" },
		{ USER("{\"uid\":null}"), "config.json: uid is not an id" },
		{ USER("{\"additionalGids\":[-1]}"), "config.json: process.user.additionalGids has an entry that is not an id" },
		{ USER("{\"additionalGids\":[\"6\"]}"),
		    "config.json: process.user.additionalGids has an entry that is not an id" },
		{ USER("{\"additionalGids\":[4294967295]}"),
		    "config.json: process.user.additionalGids has an entry that is not an id" },
		{ SPEC("", ",\"capabilities\":{\"effective\":[\"CAP_DAC_OVERRIDE\"]}", ""),
		    "uids identity gids identity user 0:0 dac" },
		{ SPEC("", ",\"user\":{\"uid\":1},\"capabilities\":{\"effective\":[\"CAP_DAC_OVERRIDE\"]}", ""),
		    "uids identity gids identity user 1:0" },
	};
	struct why why;
	size_t i;

	for (i = 0; i < COUNT(t); i++) {
		autorequest struct request r = { 0 };
		autofree char *says = NULL;
		autospec struct spec s;
		bool asks;

		if (!ok(parses(&s, t[i].text, &why), "%.150s: %s", t[i].text, why.text))
			continue;
		if (spec_request(&s, NULL, &r, &asks, &why) == -1)
			is_str(why.text, t[i].says, "  the ids are refused");
		else
			is_str(says = describe_ids(&r), t[i].says, "  the ids are read");
	}
}

static void
test_many_ids(void)
{
	autobuf struct buf b = { 0 };
	struct request r = { 0 };
	struct spec s;
	struct why why;
	bool asks;
	int i;

	buf_puts(&b, "{\"process\":{\"user\":{\"additionalGids\":[1");
	for (i = 0; i < 100; i++)
		buf_puts(&b, ",2");
	buf_puts(&b, "]}},\"linux\":{\"uidMappings\":[" M1);
	for (i = 1; i < IDMAP_MAX; i++)
		buf_puts(&b, "," M1);
	buf_puts(&b, "]}}");
	ok(parses(&s, b.p, &why) && spec_request(&s, NULL, &r, &asks, &why) == 0 && r.spec.uids.n == IDMAP_MAX,
	    "340 mappings are accepted: %s",
	    why.text);
	is_int(r.spec.gid_count, REQUEST_GIDS_MAX,
	    "only the first 64 groups are kept, so that the request claims fewer rights than the "
	    "container has");
	request_free(&r);
	spec_free(&s);
	b.len -= 3;
	buf_puts(&b, "," M1 "]}}");
	r = (struct request){ 0 };
	ok(parses(&s, b.p, &why) && spec_request(&s, NULL, &r, &asks, &why) == -1,
	    "one mapping more is refused");
	is_str(why.text, "config.json: linux.uidMappings has more than 340 entries",
	    "  the message says why");
	request_free(&r);
	spec_free(&s);
}

static void
test_fixtures(const char *dir)
{
	static const struct {
		const char *name, *says, *ids;
		bool privileged;
		size_t mounts;
	} t[] = {
		{ "task.json", "plain", "uids 0>4294967294x1 1>1x4294967293 gids 0>4294967294x1 1>1x4294967293 user "
		    "0:0 dac", false, 15 },
		{ "task-privileged.json", "plain", "uids identity gids identity user 0:0 dac", true, 15 },
		{ "task-forged-env.json", NULL, "uids 0>4294967294x1 1>1x4294967293 gids 0>4294967294x1 1>1x4294967293 "
		    "user 0:0 dac", false,
		    0 },
		{ "get.json", NULL, "uids 0>4294967294x1 1>1x4294967293 gids 0>4294967294x1 1>1x4294967293 user 0:0 "
		    "dac", false, 0 },
		{ "put.json", NULL, "uids 0>4294967294x1 1>1x4294967293 gids 0>4294967294x1 1>1x4294967293 user 0:0 "
		    "dac", false, 0 },
		{ "check.json", NULL, "uids 0>4294967294x1 1>1x4294967293 gids 0>4294967294x1 1>1x4294967293 user 0:0 "
		    "dac", false, 0 },
	};
	const char *text;
	char what[PRIVILEGE_MAX];
	struct why why;
	size_t i, len;

	for (i = 0; i < COUNT(t); i++) {
		autofree char *says = NULL, *ids = NULL;
		autorequest struct request r = { 0 };
		autospec struct spec s = { 0 };
		bool asks = true;

		if ((text = oci_fixture(dir, t[i].name, &len)) == NULL)
			continue;
		if (!ok(spec_parse(&s, text, len, &why) == 0 && spec_request(&s, NULL, &r, &asks, &why) == 0, "%s: %s",
		    t[i].name, why.text))
			continue;
		ok(!asks && s.major == 1 && privilege_find(&s, &r, true, false, what, &why) == 0 &&
		    r.spec.privileged == t[i].privileged, "  the spec of a Concourse worker is read");
		is_str(ids = describe_ids(&r), t[i].ids, "  the ids are read");
		if (t[i].says != NULL)
			is_str(says = describe(&r, asks), t[i].says, "  the spec has no claims");
		else
			ok(r.untrusted.team != NULL && r.untrusted.pipeline != NULL,
			    "  its claims are read: %s/%s", r.untrusted.team ? r.untrusted.team : "-",
			    r.untrusted.pipeline ? r.untrusted.pipeline : "-");
		if (t[i].mounts > 0)
			is_int(s.mount_count, t[i].mounts, "  the mounts are counted");
	}
}

static void
test_env_value(void)
{
	is_str(env_value("A=1", "A"), "1", "a variable has its value");
	is_str(env_value("A=", "A"), "", "a variable with an empty value has it");
	is_str(env_value("A=b=c", "A"), "b=c", "a value goes on to the end");
	is_str(env_value("A", "A"), NULL, "a variable without = has no value");
	is_str(env_value("AB=1", "A"), NULL, "a longer name is another variable");
	is_str(env_value("a=1", "A"), NULL, "a name in small letters is another variable");
}

int
main(int argc, char **argv)
{
	test_parts_refused();
	test_mounts_refused();
	test_devices_refused();
	test_keys_refused();
	test_capabilities_refused();
	test_nulls();
	test_read();
	test_version();
	test_request();
	test_token_variables();
	test_ids();
	test_many_ids();
	test_fixtures(tests_dir(argc, argv));
	test_env_value();
	return done_testing();
}
