/*
 * ctl/cdi/cdiapply.c and json/docbuild.c: the reference library's own cases
 * (pkg/cdi/container-edits_test.go), and forms of config.json that never reach the library.
 * tests/cdi.sh compares whole configurations.
 */
#include "ctl/cdi/cdiapply.h"
#include "nomem.h"
#include "read/cdi/cdispec.h"
#include "tap.h"

#define SPEC(edits) "{\"cdiVersion\":\"1.1.0\",\"kind\":\"v.com/c\",\"devices\":[{\"name\":\"d\",\"containerEdits\":{" edits "}}]}"

/*
 * The config after the edits of the first device, or "-" and why it was refused. The spec's nodes
 * are complete.
 */
static char *
apply(const char *config, const char *edits)
{
	struct cdi_faults f = { 0 };
	struct cdi_merged m = { 0 };
	const struct cdi_edits *v[1];
	struct cdi_spec s = { 0 };
	struct why why;
	struct buf b = { 0 };
	char *out = NULL;
	size_t len;

	buf_printf(&b, SPEC("%s"), edits);
	if (!b.failed && cdi_parse(&s, CDI_JSON, b.p, b.len, &f)) {
		v[0] = &s.device[0].edits;
		m = (struct cdi_merged){ .v = v, .n = 1, .node = v[0]->node, .nodes = v[0]->nodes };
		if ((out = cdi_apply(config, strlen(config), &m, &len, &why)) == NULL && why.code != WHY_BUG) {
			buf_free(&b);
			buf_printf(&b, "- %s", why.text);
			out = buf_take(&b);
		}
	} else if (!f.starved && !b.failed)
		ok(false, "the spec is read: %s: %s", f.n > 0 ? f.v[0].text : "", edits);
	cdi_free(&s);
	cdi_faults_free(&f);
	buf_free(&b);
	return out;
}

#define O "{\"ociVersion\":\"1.0.2\""
#define P "\"process\":{\"user\":{\"uid\":0,\"gid\":0},\"cwd\":\"/\""
#define NODE(more) "\"deviceNodes\":[{\"path\":\"/dev/a\",\"type\":\"c\",\"major\":240,\"minor\":1" more "}]"

static void
test_apply(void)
{
	static const struct {
		const char *config, *edits, *want, *what;
	} t[] = {
		{ O "," P "}}", "\"env\":[\"BAR=1\"]", O "," P ",\"env\":[\"BAR=1\"]}}",
		    "a variable is added" },
		{ O "," P ",\"env\":[]}}", "\"env\":[\"FOO=1\",\"FOO=2\"]",
		    O "," P ",\"env\":[\"FOO=2\"]}}",
		    "of two variables with one name, the last is used" },
		{ O "," P ",\"env\":[\"FOO=0\",\"B=\",\"FOO=9\",\"C\"]}}", "\"env\":[\"FOO=1\",\"C=2\"]",
		    O "," P ",\"env\":[\"FOO=0\",\"B=\",\"FOO=1\",\"C=2\"]}}",
		    "a variable that exists is replaced at its last place" },
		{ O "," P ",\"env\":[\"F\\u004fO=0\"]}}", "\"env\":[\"FOO=1\"]",
		    O "," P ",\"env\":[\"FOO=1\"]}}",
		    "a variable whose name is escaped is replaced" },
		{ O "," P ",\"env\":null}}", "\"env\":[\"A=1\"]", O "," P ",\"env\":[\"A=1\"]}}",
		    "null is read as an empty list" },
		{ O ",\"process\":null}", "\"env\":[\"A=1\"]",
		    O ",\"process\":{\"env\":[\"A=1\"],\"cwd\":\"\",\"user\":{\"uid\":0,"
		    "\"gid\":0}}}",
		    "null is read as an empty object" },
		{ O "," P "}}", "\"env\":[\"A=\\\"\\\\\"]",
		    O "," P ",\"env\":[\"A=\\\"\\\\\"]}}", "a variable with quotes is escaped" },
		{ "{}", NODE(""), "{\"linux\":{\"devices\":[{\"path\":\"/dev/a\",\"type\":\"c\",\"major\":240,\"minor\":1}],\"resources\":"
		    "{\"devices\":[{\"allow\":true,\"type\":\"c\",\"major\":240,\"minor\":1,\"access\":\"rwm\"}]}},\"ociVersion\":\"\"}",
		    "a device node is added to an empty config" },
		{ O ",\"linux\":{}}", NODE(",\"permissions\":\"none\""),
		    O ",\"linux\":{\"devices\":[{\"path\":\"/dev/a\",\"type\":\"c\",\"major\":240,\"minor\":1}],\"resources\":"
		    "{\"devices\":[{\"allow\":true,\"type\":\"c\",\"major\":240,\"minor\":1}]}}}",
		    "a device node without permissions gets a rule without access" },
		{ O ",\"linux\":{\"devices\":[{\"path\":\"/dev/a\",\"x\":1},{\"path\":\"/dev/b\"}],\"resources\":{\"devices\":[{\"allow\":false}]}}}",
		    NODE(",\"fileMode\":432,\"uid\":0,\"gid\":5"),
		    O ",\"linux\":{\"devices\":[{\"path\":\"/dev/b\"},{\"path\":\"/dev/a\",\"type\":\"c\",\"major\":240,\"minor\":1,"
		    "\"fileMode\":432,\"uid\":0,\"gid\":5}],\"resources\":{\"devices\":[{\"allow\":false},{\"allow\":true,\"type\":\"c\","
		    "\"major\":240,\"minor\":1,\"access\":\"rwm\"}]}}}",
		    "a device node replaces the one with its path, and a rule is added" },
		{ O ",\"linux\":{\"devices\":[{\"path\":\"/dev/a\"},{\"path\":\"/dev/b\"},{\"path\":\"/dev/a\"},{\"path\":\"/dev/a\",\"x\":1}]}}",
		    NODE(",\"permissions\":\"none\""), O ",\"linux\":{\"devices\":[{\"path\":\"/dev/b\"},{\"path\":\"/dev/a\",\"type\":\"c\","
		    "\"major\":240,\"minor\":1},{\"path\":\"/dev/a\",\"x\":1}],\"resources\":{\"devices\":[{\"allow\":true,\"type\":\"c\","
		    "\"major\":240,\"minor\":1}]}}}",
		    "of three nodes with the path, the first is removed and the second is "
		    "replaced" },
		{ O ",\"process\":{\"user\":{\"uid\":7,\"gid\":8}}}", "\"deviceNodes\":[{\"path\":\"/dev/p\",\"type\":\"p\"}]",
		    O ",\"process\":{\"user\":{\"uid\":7,\"gid\":8}},\"linux\":{\"devices\":[{\"path\":\"/dev/p\",\"type\":\"p\",\"major\":0,"
		    "\"minor\":0,\"uid\":7,\"gid\":8}]}}",
		    "a pipe gets no rule, and a node belongs to the container's user" },
		{ O ",\"linux\":{\"netDevices\":{\"e\":{\"name\":\"x\"},\"f\":{\"name\":\"y\"}}}}",
		    "\"netDevices\":[{\"hostInterfaceName\":\"e\",\"name\":\"a\"}]",
		    O ",\"linux\":{\"netDevices\":{\"f\":{\"name\":\"y\"},\"e\":"
		    "{\"name\":\"a\"}}}}",
		    "a network device replaces the one with its name" },
		{ O ",\"linux\":{\"intelRdt\":{\"closID\":\"x\"}}}", "\"intelRdt\":{\"closID\":\"/\"}", O ",\"linux\":{\"intelRdt\":{\"closID\":\"/\"}}}",
		    "new RDT settings replace the old ones" },
		{ O "}", "\"intelRdt\":{}", O ",\"linux\":{\"intelRdt\":{}}}",
		    "empty RDT settings are added" },
		{ O "," P "}}", "\"additionalGids\":[4,5,6,5,6,4,0]",
		    O ",\"process\":{\"user\":{\"uid\":0,\"gid\":0,\"additionalGids\":[4,5,6]},"
		    "\"cwd\":\"/\"}}",
		    "each additional group is added once" },
		{ O ",\"process\":{\"user\":{\"additionalGids\":[4]}}}", "\"additionalGids\":[4,5]",
		    O ",\"process\":{\"user\":{\"additionalGids\":[4,5]}}}",
		    "a group that exists is not added again" },
		{ O "}", "\"additionalGids\":[0]", O "}", "group 0 is not added" },
		{ O "}", "\"additionalGids\":[4294967295]",
		    O ",\"process\":{\"cwd\":\"\",\"user\":{\"uid\":0,\"gid\":0,\"additionalGids\":"
		    "[4294967295]}}}",
		    "the greatest group id is added" },
		{ O ",\"mounts\":[{\"destination\":\"/x/b\"},{\"destination\":\"/x/a\"}]}",
		    "\"mounts\":[{\"hostPath\":\"/h\",\"containerPath\":\"/c\"},{\"hostPath\":\"/h\",\"containerPath\":\"/x/c\",\"type\":\"bind\"}]",
		    O ",\"mounts\":[{\"destination\":\"/c\",\"source\":\"/h\"},{\"destination\":\"/x/b\"},{\"destination\":\"/x/a\"},"
		    "{\"destination\":\"/x/c\",\"type\":\"bind\",\"source\":\"/h\"}]}",
		    "mounts are sorted by depth, and keep their order otherwise" },
		{ O ",\"mounts\":[{\"destination\":\"/a/../b//c/./d\"},{\"destination\":\"rel/a/b\"},{\"destination\":\"/\"},{}]}",
		    "\"mounts\":[{\"hostPath\":\"/h\",\"containerPath\":\"/x/y\"}]",
		    O ",\"mounts\":[{},{\"destination\":\"/\"},{\"destination\":\"rel/a/b\"},{\"destination\":\"/x/y\",\"source\":\"/h\"},"
		    "{\"destination\":\"/a/../b//c/./d\"}]}",
		    "the depth is that of the cleaned path, as Go's filepath.Clean gives it" },
		{ O ",\"mounts\":[{\"destination\":\"/m\",\"source\":\"1\"},{\"destination\":\"/m\",\"source\":\"2\"}]}",
		    "\"mounts\":[{\"hostPath\":\"/h\",\"containerPath\":\"/m\"}]",
		    O ",\"mounts\":[{\"destination\":\"/m\",\"source\":\"2\"},{\"destination\":\"/m\",\"source\":\"/h\"}]}",
		    "of two mounts with the same destination, the first is removed" },
		{ O ",\"linux\":{\"namespaces\":[{\"type\":\"user\"}]},\"mounts\":[]}",
		    "\"mounts\":[{\"hostPath\":\"/h\",\"containerPath\":\"/a\",\"type\":\"bind\"},{\"hostPath\":\"/h\",\"containerPath\":\"/b\","
		    "\"options\":[\"rbind\"]},{\"hostPath\":\"/h\",\"containerPath\":\"/c\",\"options\":[\"bind\",\"ridmap\"]},"
		    "{\"hostPath\":\"t\",\"containerPath\":\"/d\",\"type\":\"tmpfs\"}]",
		    O ",\"linux\":{\"namespaces\":[{\"type\":\"user\"}]},\"mounts\":[{\"destination\":\"/a\",\"type\":\"bind\",\"source\":\"/h\","
		    "\"options\":[\"idmap\"]},{\"destination\":\"/b\",\"source\":\"/h\",\"options\":[\"rbind\",\"ridmap\"]},"
		    "{\"destination\":\"/c\",\"source\":\"/h\",\"options\":[\"bind\",\"ridmap\"]},{\"destination\":\"/d\",\"type\":\"tmpfs\","
		    "\"source\":\"t\"}]}", "in a user namespace, bind mounts are mapped" },
		{ O ",\"hooks\":{\"poststop\":[{\"path\":\"/z\"}]}}",
		    "\"hooks\":[{\"hookName\":\"poststop\",\"path\":\"/a\",\"timeout\":0},{\"hookName\":\"prestart\",\"path\":\"/b\",\"args\":[\"b\",\"\"],"
		    "\"env\":[\"E=1\"]}]",
		    O ",\"hooks\":{\"poststop\":[{\"path\":\"/z\"},{\"path\":\"/a\",\"timeout\":0}],\"prestart\":[{\"path\":\"/b\",\"args\":[\"b\",\"\"],"
		    "\"env\":[\"E=1\"]}]}}", "each hook is added to its own list" },
		{ "[]", "\"env\":[\"A=1\"]", "- config.json: is not an object",
		    "a config that is not an object is refused" },
		{ "{\"a\":1,\"a\":1}", "\"env\":[\"A=1\"]",
		    "- config.json: the key \"a\" appears twice in one object",
		    "a duplicate key is refused" },
		{ O ",\"process\":{\"env\":{}}}", "\"env\":[\"A=1\"]",
		    "- config.json: env is not a list",
		    "an object instead of a list is refused" },
		{ O ",\"process\":{\"env\":[1]}}", "\"env\":[\"A=1\"]",
		    "- config.json: an element of process.env is not a string",
		    "a variable that is not a string is refused" },
		{ O ",\"linux\":{\"devices\":[1]}}", NODE(""),
		    "- config.json: an element of linux.devices is not an object",
		    "a device that is not an object is refused" },
		{ O ",\"process\":{\"user\":{\"additionalGids\":[-1]}}}", "\"additionalGids\":[1]",
		    "- config.json: an element of process.user.additionalGids is no group",
		    "an invalid group is refused" },
	};
	char *got;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		got = apply(t[i].config, t[i].edits);
		is_str(got, t[i].want, "%s", t[i].what);
		free(got);
	}
}

#if !defined(__SANITIZE_ADDRESS__)
static char *
apply_all(void)
{
	return apply(O "," P ",\"env\":[\"A=0\"]},\"hooks\":{},\"mounts\":[{\"destination\":\"/a\"}],\"linux\":{\"devices\":[{\"path\":\"/dev/a\"}],"
	    "\"netDevices\":{\"e\":{}}}}", "\"env\":[\"A=1\",\"B=2\"]," NODE("") ",\"netDevices\":[{\"hostInterfaceName\":\"e\",\"name\":\"f\"}],"
	    "\"mounts\":[{\"hostPath\":\"/h\",\"containerPath\":\"/a\",\"options\":[\"ro\"]}],\"hooks\":[{\"hookName\":\"poststop\",\"path\":\"/h\"}],"
	    "\"intelRdt\":{\"closID\":\"/\"},\"additionalGids\":[7]");
}
#endif

int
main(void)
{
	test_apply();
#if !defined(__SANITIZE_ADDRESS__)
	starve("all edits are applied", apply_all);
#else
	skip("when memory runs out", "the sanitizer has its own allocator");
#endif
	return done_testing();
}
