/*
 * ctl/worker/containerdconf.c, daemonjson.c (t_toml.c tests the reader of TOML): reads engines' settings in all forms
 * that containerd has had, and keeps other people's settings in daemon.json.
 */
#include "base/cleanup.h"
#include "ctl/ctl.h"
#include "ctl/worker/containerdconf.h"
#include "ctl/worker/daemonjson.h"
#include "tap.h"

/*
 * The text is what «containerd config dump» prints. The names of the tables for CRI and the socket
 * depend on the version.
 */
static void
test_containerd(const char *version, const char *head, const char *cri)
{
	autobuf struct buf b = { 0 };
	autocontainerd struct containerd_conf c = { 0 };
	autofree char *path = NULL;
	struct why why;

	buf_printf(&b, "version = %s\ndisabled_plugins = []\nimports = ['/etc/containerd/config.toml']\n%s\n[plugins]\n"
	    "  [plugins.'%s']\n    [plugins.'%s'.containerd]\n      default_runtime_name = 'nvidia'\n"
	    "      [plugins.'%s'.containerd.runtimes]\n"
	    "        [plugins.'%s'.containerd.runtimes.nvidia]\n          runtime_type = 'io.containerd.runc.v2'\n"
	    "          [plugins.'%s'.containerd.runtimes.nvidia.options]\n            BinaryName = '/usr/bin/other'\n"
	    "        [plugins.'%s'.containerd.runtimes.runc]\n          runtime_type = 'io.containerd.runc.v2'\n"
	    "          [plugins.'%s'.containerd.runtimes.runc.options]\n            BinaryName = ''\n"
	    "        [plugins.'%s'.containerd.runtimes.kata]\n          runtime_type = 'io.containerd.kata.v2'\n"
	    "  [plugins.'io.containerd.internal.v1.opt']\n    path = '/srv/opt'\n"
	    "  [plugins.'io.containerd.shim.v1.manager']\n    env = []\n", version, head, cri, cri, cri, cri, cri, cri, cri, cri);
	ok(containerd_conf_read(&c, b.p, "dump", &why) == 0 && c.handlers == 3 && !c.opt_off && !c.cri_off,
	    "version %s: three runtimes are read", version);
	is_str(c.usual, "nvidia", "version %s: the default runtime is read", version);
	is_str(c.address, "/run/x.sock", "version %s: the socket's address is read", version);
	is_str(containerd_handler_calls(&c.handler[0], "/w"), "/usr/bin/other",
	    "version %s: a runtime may have another program", version);
	ok(containerd_handler_calls(&c.handler[0], "/usr/bin/other") == NULL,
	    "version %s: the other program may be the wrapper", version);
	ok(containerd_handler_calls(&c.handler[1], "/w") == NULL,
	    "version %s: a runtime with an empty program is runc", version);
	is_str(containerd_handler_calls(&c.handler[2], "/w"), "io.containerd.kata.v2",
	    "version %s: a runtime may have another shim", version);
	path = containerd_path(&c, "/usr/bin");
	is_str(path, "/srv/opt/bin:/usr/bin",
	    "version %s: the directory of opt comes first in the shims' PATH", version);
	ok(containerd_conf_read(&c,
	    "[plugins.'io.containerd.shim.v1.manager']\nenv = [ 'A=b', 'PATH=/only' ]", "dump", &why) == 0,
	    "a second text is read");
	free(path);
	path = containerd_path(&c, "/usr/bin");
	is_str(path, "/only",
	    "version %s: a PATH in the settings replaces the shims' PATH", version);
}

/* The same settings in other words of TOML, and words that only look like them. */
static void
test_forms(void)
{
	static const char forms[] = "version = 2\n"
	    "plugins.\"io.containerd.grpc.v1.cri\".containerd = { default_runtime_name = \"kata\", "
	    "runtimes.kata = { runtime_type = \"io.containerd.kata.v2\" } }\n"
	    "disabled_plugins = [\n  \"\"\"\\\n    io.containerd.internal.v1.opt\"\"\", # [ ' \n]\n";
	static const char others[] = "note = '''\n[plugins.\"io.containerd.internal.v1.opt\"]\npath = \"/false\"\n'''\n"
	    "[plugins.io.containerd.internal.v1.opt]\npath = \"/false\"\n";
	autocontainerd struct containerd_conf c = { 0 }, d = { 0 };
	struct why why;

	ok(containerd_conf_read(&c, forms, "dump", &why) == 0 && c.opt_off && c.handlers == 1,
	    "dotted keys, inline tables and strings of several lines are read");
	is_str(c.usual, "kata", "the default runtime of an inline table is read");
	is_str(c.handlers > 0 ? c.handler[0].type : NULL, "io.containerd.kata.v2", "the runtime of a dotted key is read");
	ok(containerd_conf_read(&d, others, "dump", &why) == 0 && d.opt == NULL,
	    "a table in a string, and one whose name has no quotation marks, are not the plugin's");
	ok(containerd_conf_read(&d, "version = 2\nroot = /srv\n", "dump", &why) == -1, "a text that is not TOML is refused");
	is_str(why.text, "dump:2: there is no value", "the refusal names the line");
}

/* What --undo leaves for older containers, of a file with our entries («with») and of one without («text»). */
static void
test_rest(const char *with, const char *text)
{
	struct why why;
	autofree char *rest = with != NULL ? daemon_json_rest(with, "/usr/bin/runc", &why) : NULL;
	autofree char *same = rest != NULL ? daemon_json_rest(rest, "/usr/bin/runc", &why) : NULL;
	autofree char *again = rest != NULL ? daemon_json_with(rest, true, &why) : NULL;
	autofree char *none = rest != NULL ? daemon_json_without(rest, false, &why) : NULL;
	autodaemonjson struct daemon_json conf = { 0 };

	is_str(rest, "{\n\t\"big\": 123456789012345678901234567890,\n\t\"runtimes\": { \"x\": { \"path\": \"/x\" }, \"gpuhelper\": "
	    "{ \"path\": \"/usr/bin/runc\", \"runtimeArgs\": [] } }\n}\n", "our name gets another program, and is no default");
	ok(rest != NULL && daemon_json_read(rest, &conf, &why) == 0 && conf.rest && !conf.runtime, "  which is told apart from ours");
	is_str(same, rest, "  and stays");
	is_str(again, with, "  until our entries replace it");
	is_str(none, text, "  or it is removed");
	ok(with != NULL && daemon_json_rest(with, "/a\"b", &why) == NULL, "a path that needs escapes is not written");
	ok(daemon_json_with("{\"runtimes\": {\"gpuhelper\": {\"path\": \"/x\", \"runtimeArgs\": [\"-d\"]}}}", true, &why) == NULL &&
	    daemon_json_with("{\"runtimes\": {\"gpuhelper\": {\"path\": \"" WRAPPER "\", \"runtimeArgs\": []}}}", true, &why) == NULL,
	    "an entry that is neither is somebody else's");
}

static void
test_daemon_json(void)
{
	static const char text[] = "{\n\t\"big\": 123456789012345678901234567890,\n\t\"runtimes\": { \"x\": { \"path\": \"/x\" } }\n}\n";
	struct why why;
	autofree char *with = daemon_json_with(text, true, &why);
	autofree char *back = with != NULL ? daemon_json_without(with, false, &why) : NULL;
	autofree char *told = with != NULL ? daemon_json_without(with, true, &why) : NULL;

	is_str(with, "{\n\t\"big\": 123456789012345678901234567890,\n\t\"runtimes\": { \"x\": { \"path\": \"/x\" }, \"gpuhelper\": "
	    "{ \"path\": \"" WRAPPER "\" } },\n\t\"default-runtime\": \"gpuhelper\"\n}\n",
	    "our entries are added in the format of the others");
	is_str(back, text, "our entries are removed, and every other byte is as before");
	ok(told != NULL && strstr(told, "\"default-runtime\": \"runc\"") != NULL,
	    "our entries are removed, and the default is set to runc");
	test_rest(with, text);
	ok(daemon_json_with("{\"default-runtime\": \"crun\"}", true, &why) == NULL,
	    "another default runtime is not replaced");
	ok(daemon_json_with("{\"a\": 1} x", true, &why) == NULL,
	    "a text that is not JSON is not changed");
}

int
main(void)
{
	test_containerd("2", "[grpc]\n  address = '/run/x.sock'", "io.containerd.grpc.v1.cri");
	test_containerd("3", "[grpc]\n  address = '/run/x.sock'", "io.containerd.cri.v1.runtime");
	test_containerd("4", "[plugins.'io.containerd.server.v1.grpc']\n  address = '/run/x.sock'", "io.containerd.cri.v1.runtime");
	test_forms();
	test_daemon_json();
	return done_testing();
}
