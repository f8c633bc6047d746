/*
 * user/privilege/privilege.c and user/privilege/kernelwrites.c: which containers are privileged, and why. Those with an
 * engine's defaults are not. The bind mounts are of this machine's own /proc and /sys.
 */
#include "base/cleanup.h"
#include "policy/settingsdefault.h"
#include "tap.h"
#include "user/privilege/privilege.h"
#include "user/spec/specrequest.h"

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))

#define PROC "{\"destination\":\"/proc\",\"type\":\"proc\",\"source\":\"proc\"}"
#define SYS(options) "{\"destination\":\"/sys\",\"type\":\"sysfs\",\"source\":\"sysfs\",\"options\":[" options "]}"
#define CGROUP(type, options) "{\"destination\":\"/sys/fs/cgroup\",\"type\":\"" type "\",\"source\":\"cgroup\"," \
    "\"options\":[" options "]}"
#define BIND(source, options) "{\"destination\":\"/x/../b/\",\"type\":\"bind\",\"source\":\"" source "\"," \
    "\"options\":[\"bind\"" options "]}"
#define PLACE(target) "{\"destination\":\"" target "\",\"type\":\"bind\",\"source\":\"/opt/x\",\"options\":[\"bind\"]}"
#define MOUNTS PROC "," SYS("\"nosuid\",\"ro\"") "," CGROUP("cgroup", "\"ro\"")
#define NS(kind) "{\"type\":\"" kind "\"}"
#define JOIN(kind) "{\"type\":\"" kind "\",\"path\":\"/proc/7/ns/x\"}"
#define SPACES NS("pid") "," NS("mount") "," NS("network")
#define READONLY "\"/proc/bus\",\"/proc/fs\",\"/proc/irq\",\"/proc/sys\",\"/proc/sysrq-trigger\""
#define MAP(which, host) ",\"" which "Mappings\":[{\"containerID\":0,\"hostID\":" host ",\"size\":1000}]"
#define MAPPED(host) MAP("uid", host) MAP("gid", host)
#define CAPS(set, caps) "\"capabilities\":{\"" set "\":[" caps "]}"

#define SPEC(process, mounts, spaces, readonly, linux) "{\"ociVersion\":\"1.0.0\",\"process\":{" process "}," \
    "\"mounts\":[" mounts "],\"linux\":{\"namespaces\":[" spaces "],\"readonlyPaths\":[" readonly "]" linux "}}"
#define WITH_CAP(set, cap, ns) SPEC(CAPS(set, "\"CAP_KILL\",\"" cap "\""), MOUNTS, SPACES "," ns, READONLY, "")
#define WITH_SPACES(spaces) SPEC("", MOUNTS, spaces, READONLY, "")
#define WITH_MOUNT(mount, spaces) SPEC("", MOUNTS "," mount, spaces, READONLY, "")

static struct why why;

/* Why the container is privileged, or "" if it is not; or why the spec cannot be read. */
static const char *
judge(const char *text, bool hosts_root)
{
	static char what[PRIVILEGE_MAX];
	autorequest struct request r = { 0 };
	autospec struct spec s;
	bool asks;

	why = (struct why){ 0 };
	if (spec_parse(&s, text, strlen(text), &why) == -1 || spec_request(&s, NULL, &r, &asks, &why) == -1 ||
	    privilege_find(&s, &r, hosts_root, false, what, &why) == -1)
		return why.text;
	ok(r.spec.privileged == (what[0] != '\0'), "  the request says the same");
	return what;
}

static void
test_capabilities(void)
{
	static const struct {
		const char *text, *what;
	} t[] = {
		{ WITH_CAP("bounding", "CAP_SYS_ADMIN", NS("ipc")), "has CAP_SYS_ADMIN: leave that out" },
		{ WITH_CAP("effective", "CAP_SYS_MODULE", NS("ipc")), "has CAP_SYS_MODULE: leave that out" },
		{ WITH_CAP("permitted", "CAP_SYS_RAWIO", NS("ipc")), "has CAP_SYS_RAWIO: leave that out" },
		{ WITH_CAP("inheritable", "CAP_DAC_READ_SEARCH", NS("ipc")), "has CAP_DAC_READ_SEARCH: leave that out" },
		{ WITH_CAP("ambient", "CAP_SYS_PTRACE", NS("ipc")), "has CAP_SYS_PTRACE: leave that out" },
		{ WITH_CAP("bounding", "CAP_BPF", NS("ipc")), "has CAP_BPF: leave that out" },
		{ WITH_CAP("bounding", "CAP_SYS_BOOT", NS("ipc")), "has CAP_SYS_BOOT: leave that out" },
		{ WITH_CAP("bounding", "CAP_SYS_TIME", NS("ipc")), "has CAP_SYS_TIME: leave that out" },
		{ WITH_CAP("bounding", "CAP_PERFMON", NS("ipc")), "has CAP_PERFMON: leave that out" },
		{ WITH_CAP("bounding", "CAP_SYS_\\u0041DMIN", NS("ipc")), "has CAP_SYS_ADMIN: leave that out" },
		{ WITH_CAP("bounding", "CAP_MKNOD", NS("ipc")), "" },
		{ WITH_CAP("bounding", "CAP_DAC_OVERRIDE", NS("ipc")), "" },
		{ WITH_CAP("bounding", "CAP_SYS_ADMIN", NS("user")), "" },
		{ WITH_CAP("bounding", "CAP_SYS_ADMIN", NS("User")), "has CAP_SYS_ADMIN: leave that out" },
		{ WITH_CAP("bounding", "CAP_SYS_ADMIN", "\"user\",{},{\"type\":\"u\\u0073er\",\"path\":\"\"}"), "" },
		{ WITH_CAP("bounding", "CAP_SYS_ADMIN", "\"user\",{},{\"type\":\"u\\u0073er\",\"path\":\"/x\"}"),
		    "has CAP_SYS_ADMIN: leave that out" },
	};
	size_t i;

	/* a user's runtime, whose namespaces need no id maps */
	for (i = 0; i < COUNT(t); i++)
		is_str(judge(t[i].text, false), t[i].what, "%.150s", t[i].text);
}

/* A profile that fakes success for the calls by which the runtime drops capabilities. */
static void
test_seccomp(void)
{
#define PROFILE(profile) SPEC("", MOUNTS, SPACES, READONLY, ",\"seccomp\":{" profile "}")
#define RULE(calls, action) PROFILE("\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":[" calls "]," \
    "\"action\":\"SCMP_ACT_" action "}]")
#define ERRNO(n) "ERRNO\",\"errnoRet\":" n
#define FAKES(call) "has a seccomp profile that fakes the result of " call ": allow that call, or let it fail with EPERM"
	static const struct {
		const char *text, *what;
	} t[] = {
		{ RULE("\"prctl\"", ERRNO("0")), FAKES("prctl") }, { RULE("\"read\",\"capset\"", ERRNO("22")), FAKES("capset") },
		{ RULE("\"capget\"", ERRNO("0")), FAKES("capget") }, { RULE("\"setgroups32\"", ERRNO("0")), FAKES("setgroups32") },
		{ RULE("\"setresuid\"", ERRNO("4294967296")), FAKES("setresuid") }, { RULE("\"setuid\"", ERRNO("\"1\"")), FAKES("setuid") },
		{ RULE("\"prctl\"", "NOTIFY\""), FAKES("prctl") }, { RULE("\"prctl\"", "TRACE\",\"errnoRet\":1"), FAKES("prctl") },
		{ RULE("\"prctl\"", "NEW\""), FAKES("prctl") }, { RULE("\"chown\"", ERRNO("0")), FAKES("chown") },
		{ RULE("7", ERRNO("22")), FAKES("a call that is not a string") },
		{ RULE("\"prctl\"", ERRNO("1")), "" }, { RULE("\"prctl\"", ERRNO("38")), "" }, { RULE("\"prctl\"", "ERRNO\""), "" },
		{ RULE("\"prctl\"", ERRNO("null")), "" }, { RULE("\"prctl\"", "ALLOW\",\"errnoRet\":0"), "" },
		{ RULE("\"prctl\"", "LOG\""), "" }, { RULE("\"prctl\"", "KILL_PROCESS\""), "" },
		{ RULE("\"chown\",\"setsid\",\"prctl64\"", ERRNO("22")), "" }, { RULE("\"mount\"", "NOTIFY\""), "" }, { RULE("", ERRNO("0")), "" },
		{ PROFILE("\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":0"), FAKES("every call") },
		{ PROFILE("\"defaultAction\":\"SCMP_ACT_NOTIFY\""), FAKES("every call") }, { PROFILE(""), FAKES("every call") },
		{ PROFILE("\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":38"), "" },
		{ PROFILE("\"defaultAction\":\"SCMP_ACT_ERRNO\""), "" },
		{ PROFILE("\"DefaultAction\":\"SCMP_ACT_ERRNO\""), "config.json: the key \"DefaultAction\" must be spelt \"defaultAction\"" },
		{ PROFILE("\"defaultAction\":\"SCMP_ACT_LOG\",\"syscalls\":[{\"Names\":[\"prctl\"]}]"),
		    "config.json: the key \"Names\" must be spelt \"names\"" },
		{ SPEC("", MOUNTS, SPACES, READONLY, ",\"seccomp\":null"), "" },
	};
	size_t i;

	for (i = 0; i < COUNT(t); i++)
		is_str(judge(t[i].text, true), t[i].what, "%.200s", strstr(t[i].text, "\"seccomp"));
}

static void
test_namespaces(void)
{
#define NO_PID "has no PID namespace of its own: give it one"
	static const struct {
		const char *spaces, *what;
	} t[] = {
		{ SPACES, "" },
		{ SPACES "," NS("cgroup"), "" },
		{ SPACES "," JOIN("ipc") "," JOIN("uts") "," JOIN("network") "," JOIN("time"), "" },
		{ NS("mount"), NO_PID }, { NS("mount") "," NS("Pid"), NO_PID }, { NS("mount") ",\"pid\",{\"type\":1}", NO_PID },
		{ NS("mount") "," JOIN("pid"), "joins the PID namespace /proc/7/ns/x: give it one of its own" },
		{ SPACES "," JOIN("pid"), "joins the PID namespace /proc/7/ns/x: give it one of its own" },
		{ NS("mount") ",{\"type\":\"pid\",\"path\":\"\"}", "" }, { NS("mount") ",{\"type\":\"pid\",\"path\":null}", "" },
		{ NS("mount") ",{\"type\":\"pid\",\"path\":7}", "config.json: linux.namespaces: the path of the PID namespace is "
		    "not a string (without a NUL)" },
		{ NS("pid"), "has no mount namespace of its own: give it one" },
		{ NS("pid") "," JOIN("mount"), "joins the mount namespace /proc/7/ns/x: give it one of its own" },
		{ SPACES "," JOIN("cgroup"), "joins the cgroup namespace /proc/7/ns/x: give it one of its own" },
		{ SPACES "," JOIN("user"), "joins the user namespace /proc/7/ns/x: give it one of its own" },
		{ SPACES "," NS("user") "," JOIN("user"), "joins the user namespace /proc/7/ns/x: give it one of its own" },
	};
	char text[4096];
	size_t i;
	int root;

	for (i = 0; i < COUNT(t); i++)
		for (root = 0; root < 2; root++) {
			snprintf(text, sizeof(text), WITH_SPACES("%s"), t[i].spaces);
			is_str(judge(text, root), t[i].what, "%s (%s)", t[i].spaces, root ? "the host's root" : "a user");
		}
}

/* A user namespace protects only through its id maps. */
static void
test_ids(void)
{
#define IDS(linux) SPEC(CAPS("bounding", "\"CAP_SYS_ADMIN\""), SYS("") "," CGROUP("cgroup", ""), NS("user"), "", linux)
#define HELD(mount) SPEC(CAPS("bounding", "\"CAP_SYS_ADMIN\""), "{\"destination\":\"/x\",\"source\":\"/tmp\"" mount "}", \
    NS("user"), "", MAPPED("100000"))
	static const struct {
		const char *text;
		/* whether it is privileged if uid 0 is the host's, and if it is not */
		bool root, user;
	} t[] = {
		{ IDS(MAPPED("100000")), false, false }, { IDS(MAPPED("1")), false, false }, { IDS(MAPPED("4294966000")), false, false },
		{ IDS(MAPPED("0")), true, false },
		{ IDS(MAP("uid", "100000") MAP("gid", "0")), true, false }, { IDS(MAP("uid", "0") MAP("gid", "100000")), true, false },
		/* without maps, crun uses its own id */
		{ IDS(""), true, false }, { IDS(MAP("uid", "100000")), true, false }, { IDS(MAP("gid", "100000")), true, false },
		/* a mount that gives files the host's ids */
		{ HELD(",\"options\":[\"bind\"]"), false, false }, { HELD(",\"options\":[\"rbind\",\"idmap\"]"), true, false },
		{ HELD(",\"options\":[\"bind\",\"ridmap\"]"), true, false }, { HELD(",\"options\":[\"idmap=uids=0-0-1\"]"), true, false },
		{ HELD(",\"options\":[\"ridmap=\"]"), true, false }, { HELD(",\"options\":[\"noidmap\"]"), false, false },
		{ HELD(MAP("uid", "5")), true, false }, { HELD(MAP("gid", "5")), true, false },
		{ HELD(",\"uidMappings\":[],\"gidMappings\":null"), false, false },
	};
	size_t i;

	for (i = 0; i < COUNT(t); i++) {
		ok((*judge(t[i].text, true) != '\0') == t[i].root, "%s %s", t[i].text, why.text);
		ok((*judge(t[i].text, false) != '\0') == t[i].user, "  for a user: %s", why.text);
	}
}

static void
test_mounts(void)
{
#define WRITES(at) "may write in " at ": mount it read-only"
#define CGROUPS(at) WRITES(at) ", or give it a cgroup namespace of its own"
	static const struct {
		const char *mount, *spaces, *what;
	} t[] = {
		{ CGROUP("cgroup", ""), SPACES, CGROUPS("/sys/fs/cgroup (cgroup)") },
		{ CGROUP("cgroup2", "\"nosuid\""), SPACES, CGROUPS("/sys/fs/cgroup (cgroup2)") },
		{ CGROUP("cgroup", "\"ro\",\"rw\""), SPACES, CGROUPS("/sys/fs/cgroup (cgroup)") },
		{ CGROUP("cgroup", "\"rro\",\"rrw\""), SPACES, CGROUPS("/sys/fs/cgroup (cgroup)") },
		/* runc accepts this option only for bind mounts */
		{ CGROUP("cgroup", "\"rro\""), SPACES, CGROUPS("/sys/fs/cgroup (cgroup)") },
		{ CGROUP("cgroup", ""), SPACES "," NS("cgroup"), "" },
		{ CGROUP("cgroup2", "\"rw\""), SPACES "," NS("cgroup"), "" },
		{ SYS(""), SPACES "," NS("cgroup"), WRITES("/sys (sysfs)") },
		{ "{\"destination\":\"/d\",\"type\":\"debugfs\"}", SPACES, WRITES("/d (debugfs)") },
		{ "{\"destination\":\"/d\",\"type\":\"tmpfs\"}", SPACES, "" },
		{ "{\"destination\":\"/d\",\"type\":\"proc\"}", SPACES, "may write /d/sys, which linux.readonlyPaths does not list: "
		    "list it there" },
		{ "{\"destination\":\"/d\",\"type\":\"proc\",\"options\":[\"ro\"]}", SPACES, "" },
		{ "{\"destination\":\"/sys\",\"type\":\"none\",\"options\":[\"remount\",\"rw\"]}", SPACES,
		    "may change the mount at /sys by «remount»: leave that mount out" },
		{ "{\"destination\":\"/tmp\",\"type\":\"tmpfs\",\"options\":[\"remount\",\"ro\"]}", SPACES, "" },
		/* bind mounts of this machine's files */
		{ BIND("/proc", ",\"ro\""), SPACES, "has the host's proc at /b: leave that mount out" },
		{ BIND("/proc/self/../1", ",\"ro\""), SPACES, "has the host's proc at /b: leave that mount out" },
		{ BIND("/proc/loadavg", ",\"ro\""), SPACES, "has the host's proc at /b: leave that mount out" },
		{ BIND("/proc/loadavg", ""), SPACES, "has the host's proc at /b: leave that mount out" },
		{ BIND("/sys/kernel", ""), SPACES, WRITES("/b (sysfs)") },
		{ BIND("/sys/kernel", ",\"rw\",\"ro\""), SPACES, WRITES("/b (sysfs)") },
		{ BIND("/sys/kernel", ",\"ro\""), SPACES, "" },
		{ BIND("/usr", ""), SPACES, "" }, { BIND("/usr", ",\"rbind\""), SPACES, "" },
		{ BIND("/nowhere", ""), SPACES, "" },
		{ "{\"destination\":\"/b\",\"type\":\"bind\"}", SPACES, "" },
	};
	char text[4096];
	size_t i;

	for (i = 0; i < COUNT(t); i++) {
		snprintf(text, sizeof(text), WITH_MOUNT("%s", "%s"), t[i].mount, t[i].spaces);
		is_str(judge(text, true), t[i].what, "%s", t[i].mount);
		is_str(judge(text, false), "", "  a user's container is not privileged");
		snprintf(text, sizeof(text), SPEC("", "%s", "%s", "", "%s"), t[i].mount, NS("user"), MAPPED("7"));
		is_str(judge(text, true), "",
		    "  a container in a user namespace is not privileged");
	}
}

/* Each path in /proc that only a uid protects must be in the list, under its canonical name. */
static void
test_readonly(void)
{
#define MAY(path) "may write " path ", which linux.readonlyPaths does not list: list it there"
	static const struct {
		const char *readonly, *linux, *what;
	} t[] = {
		{ READONLY, "", "" },
		{ "\"/proc\"", "", "" },
		{ "", "", MAY("/proc/sys") },
		{ "\"/\"", "", MAY("/proc/sys") },
		{ "\"/proc/sys/kernel\",\"/proc/sysx\",\"/proc/bus\",\"/proc/sysrq-trigger\"", "", MAY("/proc/sys") },
		{ "\"/proc/sys\",\"/proc/bus\"", "", MAY("/proc/sysrq-trigger") },
		{ "\"/proc/sys\",\"/proc/sysrq-trigger\"", "", MAY("/proc/bus") },
		{ "1,null,\"/proc//sys/\",\"/proc/x/../bus\",\"/proc/sysrq-trigger/.\"", "", MAY("/proc/sys") },
		{ "\"/proc/sys\"", ",\"maskedPaths\":[\"/proc/sysrq-trigger\",\"/proc/bus\"]", "" },
		{ "", ",\"maskedPaths\":[\"/proc\"]", "" },
		{ "\"/proc/sys\\u0000\"", "", "config.json: linux.readonlyPaths and linux.maskedPaths can't be read: a NUL in a path, or "
		    "too little memory" },
		{ "", ",\"ReadonlyPaths\":[" READONLY "]", "config.json: the key \"ReadonlyPaths\" must be spelt \"readonlyPaths\"" },
	};
	char text[4096];
	size_t i;

	for (i = 0; i < COUNT(t); i++) {
		snprintf(text, sizeof(text), SPEC("", MOUNTS, SPACES, "%s", "%s"), t[i].readonly, t[i].linux);
		is_str(judge(text, true), t[i].what, "%s", t[i].readonly);
	}
	is_str(judge("{\"process\":{},\"mounts\":[" PROC "],\"linux\":{\"namespaces\":"
	    "[" SPACES "]}}", true), MAY("/proc/sys"),
	    "a config without readonlyPaths");
	is_str(judge("{\"process\":{},\"mounts\":[" PROC "],\"linux\":{\"readonlyPaths\":{\"/proc\":1},\"namespaces\":[" SPACES "]}}", true),
	    MAY("/proc/sys"), "readonlyPaths that is not a list");
	is_str(judge("{\"process\":{},\"linux\":{\"namespaces\":[" SPACES "]}}", true), "",
	    "a config without a mount of /proc");
}

/* A refusal that names the policy which does not allow it needs no other policy. */
static void
test_refusal_by_policy(const struct settings *settings)
{
	static const char *const t[][2] = {
		{ "/bin/sh", "" },
		{ "/tmp/gdn-init", " (in Concourse: remove «privileged: true» from the task's step)" },
	};
	size_t i;

	for (i = 0; i < COUNT(t); i++) {
		autofree char *text = NULL, *expected = NULL;
		autospec struct spec s;
		struct why refused = { 0 };

		if (asprintf(&text, "{\"process\":{\"args\":[\"%s\"]},\"linux\":{},\"mounts\":[" PLACE("/tmp/gdn-init") ","
		    PLACE("/tmp/build/e55deab7") "]}", t[i][0]) == -1 ||
		    asprintf(&expected, "t1.conf: it does not say privileged = true, and " PRIVILEGED_DENIED ", and this one is: it has CAP_X: "
		    "leave that out, or give it a user namespace%s", t[i][1]) == -1)
			exit(1);
		ok(spec_parse(&s, text, strlen(text), &refused) == 0, "a container of %s", t[i][0]);
		refuse(&refused, WHY_DENIED, "t1.conf: it does not say privileged = true, and " PRIVILEGED_DENIED);
		privilege_explain(&s, settings, "has CAP_X: leave that out", &refused);
		is_str(refused.text, expected, "  by a policy");
	}
}

static void
test_refusal(void)
{
	static const char line[] = "privileged containers are not allowed on this host (privileged = \"deny\" in "
	    "gpuhelper.conf), and this one is: it has CAP_X: leave that out, or give it a user namespace";
	static const char token[] = ", or pass the GPUHELPER_TOKEN of a pipeline whose policy says privileged = true";
	static const char type[] = " (in Concourse: remove «privileged: true» from the resource type)";
	static const char step[] = ", or pass the GPUHELPER_TOKEN of a pipeline whose policy says privileged = true (in Concourse: "
	    "remove «privileged: true» from the task's step)";
	static const struct {
		const char *program, *mounts, *more, *what;
	} t[] = {
		{ "/bin/sh", PLACE("/tmp/gdn-init"), token, "a container of another engine" },
		{ "/sbin/init", PLACE("/sbin/init"), token, "another engine's program from the host" },
		{ "/tmp/gdn-init", PLACE("/x"), token, "an image's own program of that name" },
		{ "/tmp/gdn-init", PLACE("/tmp/gdn-init"), type, "a check of Concourse's" },
		{ "/tmp/garden-init", PLACE("/tmp/garden-init"), type, "a check of an older Concourse's" },
		{ "/tmp/gdn-init", PLACE("/tmp/gdn-init") "," PLACE("/tmp/build/get"), type, "a step «get»" },
		{ "/tmp/gdn-init", PLACE("/tmp/gdn-init") "," PLACE("/tmp/build/put"), type, "a step «put»" },
		{ "/tmp/gdn-init", PLACE("/tmp/gdn-init") "," PLACE("/tmp/build/e55deab7"), step, "a step «task»" },
		{ "/tmp/gdn-init", PLACE("/tmp/gdn-init") "," PLACE("/tmp/build/get") "," PLACE("/tmp/build/e55deab7"), step,
		    "a task with an input at get's place" },
		{ "/tmp/gdn-init", PLACE("/tmp/gdn-init") "," PLACE("/tmp/build/e55deab"), type, "a name that is too short" },
		{ "/tmp/gdn-init", PLACE("/tmp/gdn-init") "," PLACE("/tmp/build/e55deab70"), type, "a name that is too long" },
		{ "/tmp/gdn-init", PLACE("/tmp/gdn-init") "," PLACE("/tmp/build/E55DEAB7"), type, "a name that is no hash" },
		{ "/tmp/gdn-init", PLACE("/tmp/gdn-init") "," PLACE("/tmp"), type, "a place above" },
	};
	autosettings struct settings settings = { 0 };
	size_t i;

	ok(settings_default(&settings), "settings");
	for (i = 0; i < COUNT(t); i++) {
		autofree char *text = NULL, *expected = NULL;
		autospec struct spec s;
		struct why refused = { 0 };

		if (asprintf(&text, "{\"process\":{\"args\":[\"%s\"]},\"linux\":{},\"mounts\":[%s]}", t[i].program, t[i].mounts) == -1 ||
		    asprintf(&expected, "%s%s", line, t[i].more) == -1)
			exit(1);
		ok(spec_parse(&s, text, strlen(text), &refused) == 0 &&
		    privilege_refuse(&s, &settings, "has CAP_X: leave that out", &refused) == -1 && refused.code == WHY_DENIED,
		    "%s is refused", t[i].what);
		is_str(refused.text, expected, "  the message says what to do");
	}
	test_refusal_by_policy(&settings);
}

int
main(void)
{
	test_capabilities();
	test_seccomp();
	test_namespaces();
	test_ids();
	test_mounts();
	test_readonly();
	test_refusal();
	return done_testing();
}
