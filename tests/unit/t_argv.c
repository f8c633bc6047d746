/*
 * user/command/argv.c: finds the bundle and the container where runc and crun find them. The command lines
 * are those that containerd, podman, guardian and people write. Trials with runc 1.1.5 and crun
 * 1.8.1 gave the meaning of each spelling.
 */
#include "base/cleanup.h"
#include "base/text.h"
#include "tap.h"
#include "user/command/argv.h"
#include "user/update.h"

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))
#define WORDS 64

/* Splits text at single spaces; «''» is an empty word. */
static int
split(char *text, char *argv[WORDS])
{
	int n = 0;
	char *p, *save = NULL;

	for (p = strtok_r(text, " ", &save); p != NULL && n < WORDS - 1; p = strtok_r(NULL, " ", &save))
		argv[n++] = strcmp(p, "''") == 0 ? p + 2 : p;
	argv[n] = NULL;
	return n;
}

/* "create root=/r bundle=/b id=x detach"; the caller frees. */
static char *
describe(const struct command *c)
{
	struct buf b = { 0 };

	buf_puts(&b, c->verb != NULL ? c->verb : "-");
	if (c->root != NULL)
		buf_printf(&b, " root=%s", c->root);
	if (c->log != NULL)
		buf_printf(&b, " log=%s%s", c->log, c->log_json ? "(json)" : "");
	if (c->systemd_cgroup)
		buf_puts(&b, " systemd");
	if (c->without_cgroup)
		buf_puts(&b, " without-cgroup");
	if (c->bundle != NULL)
		buf_printf(&b, " bundle=%s", c->bundle);
	if (c->detach)
		buf_puts(&b, " detach");
	if (c->no_pivot)
		buf_puts(&b, " no-pivot");
	if (c->id != NULL)
		buf_printf(&b, " id=%s", c->id);
	return buf_take(&b);
}

struct line {
	const char *words, *means;
};

static void
check_lines(const struct line *t, size_t n)
{
	struct command c;
	struct why why;
	size_t i;

	for (i = 0; i < n; i++) {
		autofree char *text = strdup(t[i].words), *means = NULL;
		char *argv[WORDS];
		int argc = split(text, argv);

		why = (struct why){ 0 };
		if (argv_parse(argc, argv, &c, &why) == -1)
			is_str(why.text, t[i].means, "%s", t[i].words);
		else
			is_str(means = describe(&c), t[i].means, "%s", t[i].words);
	}
}

#define B "/run/containerd/io.containerd.runtime.v2.task/concourse/H"
#define G "runc --root /run/containerd/runc/concourse --log " B "/log.json --log-format json "
#define GSAYS " root=/run/containerd/runc/concourse log=" B "/log.json(json)"

/* Command lines of engines. */
static void
test_engines(void)
{
	static const struct line t[] = {
		/* containerd */
		{ G "create --bundle " B " --pid-file " B "/init.pid --no-new-keyring H", "create" GSAYS " bundle=" B
		    " id=H" },
		{ G "create --bundle " B " --pid-file " B "/init.pid --console-socket /tmp/pty1/pty.sock H",
		    "create" GSAYS " bundle=" B " id=H" },
		{ G "start H", "start" GSAYS " id=H" },
		{ G "exec --process /tmp/runc-process1 --console-socket /tmp/pty1/pty.sock --detach --pid-file " B
		    "/task.pid H",
		    "exec" GSAYS " id=H" },
		{ G "ps --format json H", "ps" GSAYS " id=H" },
		{ G "kill H 15", "kill" GSAYS " id=H" },
		{ G "kill --all H 9", "kill" GSAYS " id=H" },
		{ G "pause H", "pause" GSAYS " id=H" },
		{ G "resume H", "resume" GSAYS " id=H" },
		{ G "update --resources=- H", "update" GSAYS " id=H" },
		{ G "delete H", "delete" GSAYS " id=H" },
		{ G "delete --force H", "delete" GSAYS " id=H" },
		{ "runc features", "features" },
		{ G "events --stats H", "events" GSAYS " id=H" },
		{ "runc --root /r --log /l --log-format json --systemd-cgroup create --bundle /b H",
		    "create root=/r log=/l(json) systemd bundle=/b id=H" },
		{ "runc --root /r restore --bundle /b --pid-file /p --image-path /i --work-path /w --detach "
		    "--no-subreaper H",
		    "restore root=/r bundle=/b detach id=H" },
		{ "runc --root /r checkpoint --image-path /i H", "checkpoint root=/r id=H" },
		/* podman, conmon */
		{ "runc --log-format=json --log /f create --bundle /b --pid-file /p ID",
		    "create log=/f(json) bundle=/b id=ID" },
		{ "crun --systemd-cgroup --log-format=json --log=/f create --bundle /b --pid-file /p --console-socket "
		    "/s ID",
		    "create log=/f(json) systemd bundle=/b id=ID" },
		{ "crun --root=/run/user/1000/crun start ID", "start root=/run/user/1000/crun id=ID" },
		{ "runc --log-format=json --log /f exec --pid-file /p --process /j --tty --console-socket /s --detach "
		    "ID",
		    "exec log=/f(json) id=ID" },
		{ "runc kill ID 9", "kill id=ID" },
		{ "runc delete --force ID", "delete id=ID" },
		/* guardian */
		{ "runc --debug --log /d/H/create.log --log-format json run --detach --no-new-keyring --bundle /d/H "
		    "--pid-file /p H",
		    "run log=/d/H/create.log(json) bundle=/d/H detach id=H" },
		{ "runc --root /r --debug --log /f --log-format json exec --detach --pid-file /p -p /proc/7/fd/0 --tty "
		    "--console-socket /s H", "exec root=/r log=/f(json) id=H" },
		{ "runc state H", "state id=H" },
	};

	check_lines(t, COUNT(t));
}

/* The same in the other spellings that Go's flag package and argp accept. */
static void
test_spellings(void)
{
	static const struct line t[] = {
		{ "runc create -b /b x", "create bundle=/b id=x" },
		{ "crun create -b/b x", "create bundle=/b id=x" },
		{ "runc create -bundle /b x", "create bundle=/b id=x" },
		{ "runc create --bundle=/b x", "create bundle=/b id=x" },
		{ "runc create --bundle=/b=c x", "create bundle=/b=c id=x" },
		{ "crun create --bund /b x", "create bundle=/b id=x" },
		{ "crun create --b /b x", "create bundle=/b id=x" },
		{ "crun create --bu=/b x", "create bundle=/b id=x" },
		{ "runc create x", "create id=x" },
		{ "runc create x --bundle /b", "create bundle=/b id=x" },
		{ "runc create x -b /b", "create bundle=/b id=x" },
		{ "runc create --pid-file /p x --no-pivot --bundle=/b", "create bundle=/b no-pivot id=x" },
		{ "runc create --bundle /1 --bundle /2 x", "create bundle=/2 id=x" },
		{ "runc create --bundle /1 x --bundle /2", "create bundle=/2 id=x" },
		{ "runc create --pid-file --bundle x", "create id=x" },
		{ "runc create --bundle /b --pid-file --bundle x", "create bundle=/b id=x" },
		{ "runc create --bundle /b -- x", "create bundle=/b id=x" },
		{ "runc create --bundle /b -- -x", "create bundle=/b id=-x" },
		{ "runc create -- x", "create id=x" },
		{ "runc create --bundle /b -", "create bundle=/b id=-" },
		{ "runc -- create --bundle /b x", "create bundle=/b id=x" },
		{ "runc create --no-pivot=true -b /b x", "create bundle=/b no-pivot id=x" },
		{ "runc create --bundle= x", "create bundle= id=x" },
		{ "runc create --bundle '' x", "create bundle= id=x" },
		{ "runc -root /r create -b /b x", "create root=/r bundle=/b id=x" },
		{ "runc --root=/r create -b /b x", "create root=/r bundle=/b id=x" },
		{ "runc -root=/r -log=/l -log-format=text create -b /b x", "create root=/r log=/l bundle=/b id=x" },
		{ "runc --root /1 --root /2 create -b /b x", "create root=/2 bundle=/b id=x" },
		{ "runc --rootless auto --criu /c create -b /b x", "create bundle=/b id=x" },
		{ "crun --rootless auto --log-level debug create -b /b x", "create bundle=/b id=x" },
		{ "runc --rootless=true create -b /b x", "create without-cgroup bundle=/b id=x" },
		{ "runc --rootless 1 create -b /b x", "create without-cgroup bundle=/b id=x" },
		{ "runc --rootless=false create -b /b x", "create bundle=/b id=x" },
		{ "crun --cgroup-manager disabled create -b /b x", "create without-cgroup bundle=/b id=x" },
		{ "crun --cgroup-manager=disabled --cgroup-manager=cgroupfs create -b /b x",
		    "create without-cgroup bundle=/b id=x" },
		{ "runc --debug=true --systemd-cgroup=true create -b /b x", "create systemd bundle=/b id=x" },
		{ "runc --systemd-cgroup=false create -b /b x", "create bundle=/b id=x" },
		{ "runc --systemd-cgroup --systemd-cgroup=F create -b /b x", "create bundle=/b id=x" },
		{ "crun --cgroup-manager systemd create -b /b x", "create systemd bundle=/b id=x" },
		{ "crun --cgroup-manager=cgroupfs create -b /b x", "create bundle=/b id=x" },
		{ "crun --log-f json --log /l create -b /b x", "create log=/l(json) bundle=/b id=x" },
		{ "runc run x", "run id=x" },
		{ "runc run -d -b /b x", "run bundle=/b detach id=x" },
		{ "runc run -d=false -b /b x", "run bundle=/b id=x" },
		{ "runc run --detach=0 -b /b x", "run bundle=/b id=x" },
		{ "runc run --detach=t -b /b x", "run bundle=/b detach id=x" },
		{ "crun run --det -b /b x", "run bundle=/b detach id=x" },
		{ "crun run -db /b x", "run bundle=/b detach id=x" },
		{ "crun run -db/b x", "run bundle=/b detach id=x" },
		{ "runc run --keep --no-subreaper --preserve-fds 3 -b /b x", "run bundle=/b id=x" },
		/* options that runc accepts after the id, and crun does not */
		{ "runc create x --no-pivot -b /b", "create bundle=/b no-pivot id=x" },
		{ "runc create --no-pivot -b /b x", "create bundle=/b no-pivot id=x" },
		{ "runc create --no-pivot=false -b /b x", "create bundle=/b id=x" },
		{ "crun restore -b /b --network-lock skip x", "restore bundle=/b id=x" },
		{ "crun restore -b /b x y", "restore bundle=/b id=x" },
		/* argp's own */
		{ "crun --program-name create kill x", "kill id=x" },
		{ "crun create --program-name y --HANG=3 -b /b x", "create bundle=/b id=x" },
		{ "crun --HANG create -b /b x", "create bundle=/b id=x" },
		{ "crun --version create -b /b x", "create bundle=/b id=x" },
		/* harmless options are passed on, even if unknown */
		{ "runc kill --new x", "kill" }, { "runc delete --new=1 x", "delete" }, { "runc state -n x", "state" },
		{ "runc --root /r delete --new x", "delete root=/r" }, { "runc ps -f=json x", "ps" },
		{ "runc delete x y", "delete" }, { "crun delete -fr x", "delete id=x" },
		/* no id: the runtime prints something, and makes nothing */
		{ "runc create --help", "create" }, { "crun run -?", "run" }, { "runc exec -h", "exec" }, { "crun mounts --help", "mounts" },
		/* nothing to do */
		{ "runc", "-" }, { "runc --version", "-" }, { "runc --help", "-" }, { "runc --root /r", "- root=/r" },
		{ "runc help", "help" }, { "runc spec --bundle /b", "spec" }, { "runc list", "list" },
		{ "runc list -f json", "list" }, { "runc list --format=json", "list" },
		{ "runc delete -f x", "delete id=x" }, { "runc delete -force x", "delete id=x" },
		    { "runc delete -- x", "delete id=x" },
		{ "runc delete x --force", "delete id=x" }, { "runc delete", "delete" },
		    { "runc kill -a x KILL", "kill id=x" },
		{ "runc ps x -ef", "ps id=x" }, { "runc ps -f table x", "ps id=x" },
	};

	check_lines(t, COUNT(t));
}

static void
test_refused(void)
{
	static const struct line t[] = {
		{ "runc create", "create: no container id" },
		{ "runc create --bundle /b", "create: no container id" },
		{ "runc run --", "run: no container id" },
		{ "runc restore -d", "restore: no container id" },
		{ "runc exec", "exec: no container id" }, { "runc exec --", "exec: no container id" },
		{ "runc exec -e A=1", "exec: no container id" }, { "runc update", "update: no container id" },
		{ "runc create x --bundle", "create: option --bundle needs a value" },
		{ "runc create x -b", "create: option -b needs a value" },
		{ "crun run -db", "run: option -db needs a value" },
		{ "runc exec --env", "exec: option --env needs a value" },
		{ "runc exec --console-socket", "exec: option --console-socket needs a value" },
		{ "runc --root", "option --root needs a value" },
		{ "crun create --no-piv=1 --bundle /b x", "create: option --no-piv=1 takes no value" },
		{ "runc create --bundle /b x y", "create: y is one word too many" },
		{ "runc create --pid-file", "create: option --pid-file needs a value" },
		{ "crun create --config other.json --bundle /b x",
		    "create --config is not supported: only the bundle's config.json is used" },
		{ "crun create --config=other.json --bundle /b x",
		    "create --config is not supported: only the bundle's config.json is used" },
		{ "crun run -f other.json -b /b x", "run --config is not supported: only the bundle's config.json is "
		    "used" },
		{ "crun run -fother.json -b /b x", "run --config is not supported: only the bundle's config.json is "
		    "used" },
		{ "crun run -df other.json -b /b x", "run --config is not supported: only the bundle's config.json is "
		    "used" },
		{ "crun run --conf other.json -b /b x",
		    "run --config is not supported: only the bundle's config.json is used" },
	};

	check_lines(t, COUNT(t));
}

#define TWICE "this command line means one thing to runc and another one to crun: write options as «--name VALUE», " \
	"before the container's id"
#define NONE_THERE " is not one of " VERBS_KNOWN " there, and an unknown one might change what a container may open"

/* Words that one of the two runtimes accepts and the other one reads differently. */
static void
test_read_twice(void)
{
	static const struct line t[] = {
		{ "runc create -b=/b x", TWICE },
		{ "runc create -bundle=/b x", TWICE },
		{ "runc run -b=/b x", TWICE },
		{ "runc restore x --bundle=/b", TWICE },
		{ "runc restore --bundle=/b x --bundle=/c", TWICE },
		{ "runc exec -p=/p x", TWICE },
		{ "runc exec -process=/p x", TWICE },
		{ "runc exec -e=A=1 x", TWICE },
		{ "runc exec -process /p x", TWICE },
		{ "runc exec -console-socket /s -e A=1 x", TWICE },
		{ "runc exec -t=true x sh", TWICE },
		{ "runc exec -c=CAP_KILL x sh", TWICE },
		{ "runc update -r=/f x", TWICE },
	};

	check_lines(t, COUNT(t));
}

static void
test_unknown(void)
{
	static const struct line t[] = {
		{ "runc --new create --bundle /b x", "option --new" NONE_THERE },
		{ "runc --new value create --bundle /b x", "option --new" NONE_THERE },
		{ "runc --new create run --bundle /b x", "option --new" NONE_THERE },
		{ "runc --new=value create --bundle /b x", "option --new=value" NONE_THERE },
		{ "runc -n value create --bundle /b x", "option -n" NONE_THERE },
		{ "runc --new start x", "option --new" NONE_THERE },
		{ "runc --criu /c --log-level debug create -b /b x", "option --log-level" NONE_THERE },
		{ "runc create --new --bundle /b x", "create: option --new" NONE_THERE },
		{ "runc create --new value --bundle /b x", "create: option --new" NONE_THERE },
		{ "runc create --new=value --bundle /b x", "create: option --new=value" NONE_THERE },
		{ "runc create -n --bundle /b x", "create: option -n" NONE_THERE },
		{ "runc create -dn --bundle /b x", "create: option -dn" NONE_THERE },
		{ "crun create --con f x", "create: option --con" NONE_THERE },
		{ "crun exec --proc=/p x", "exec: option --proc=/p" NONE_THERE },
		{ "runc exec --unknown x", "exec: option --unknown" NONE_THERE },
		{ "runc update --unknown x", "update: option --unknown" NONE_THERE },
		{ "runc checkpoint --unknown x", "checkpoint: option --unknown" NONE_THERE },
		{ "runc frobnicate x", "frobnicate is not a verb of " VERBS_KNOWN ", and an unknown one might change what a container "
		    "may open" },
		{ "runc init", "init is not a verb of " VERBS_KNOWN ", and an unknown one might change what a container may open" },
		{ "runc --frobnicate", "option --frobnicate" NONE_THERE },
		{ "crun mounts add x f", "mounts is not supported: a container's mounts are checked only when it is made" },
		{ "crun mounts remove x f",
		    "mounts is not supported: a container's mounts are checked only when it is made" },
	};

	check_lines(t, COUNT(t));
}

/* A refusal is reported where the engine looks. */
static void
test_log_of_refused(void)
{
	char *const argv[] = { (char[]){ "runc" }, (char[]){ "--log" }, (char[]){ "/l" }, (char[]){ "--log-format=json" },
		(char[]){ "frobnicate" }, NULL };
	static struct command c;
	struct why why;

	is_int(argv_parse(5, argv, &c, &why), -1, "an unknown verb is refused");
	ok(c.log != NULL && strcmp(c.log, "/l") == 0 && c.log_json,
	    "  the value of --log is known although the command line is refused");
}

static void
test_makers(void)
{
	static const struct {
		const char *verb;
		bool makes;
	} t[] = { { "create", true }, { "run", true }, { "restore", true }, { "exec", false }, { "start", false },
		{ "delete", false }, { "Create", false }, { "creat", false }, { NULL, false } };
	static struct command c;
	struct why why;
	size_t i;

	for (i = 0; i < COUNT(t); i++) {
		char *argv[] = { (char[]){ "runc" }, (char *)(uintptr_t)t[i].verb, (char[]){ "x" }, NULL };

		(void)argv_parse(t[i].verb != NULL ? 3 : 1, argv, &c, &why);
		ok(command_makes_container(&c) == t[i].makes, "%s %s a container", t[i].verb ? t[i].verb : "no verb",
		    t[i].makes ? "makes" : "does not make");
	}
}

/* "id=x@3 process@1-2=/p env@3=A=1": each value, and the word at which it was found. */
static void
test_exec(void)
{
	static const enum role roles[] = { ROLE_PROCESS, ROLE_ENV, ROLE_CONSOLE, ROLE_CAP, ROLE_LABEL };
	static const char *const names[] = { "process", "env", "console", "cap", "label" };
	static const struct line t[] = {
		{ "runc exec x sh", "id=x@2" },
		{ "runc exec --process /p x", "id=x@4 process@2-3=/p" },
		{ "runc exec -p /p x", "id=x@4 process@2-3=/p" },
		{ "crun exec -p/p x", "id=x@3 process@2-2=/p" },
		{ "crun exec --process=/p x", "id=x@3 process@2-2=/p" },
		{ "runc --root /r exec --detach --pid-file /q --process /p --console-socket /s x",
		    "id=x@11 process@7-8=/p console@9-10=/s" },
		{ "runc exec -d --pid-file /q -p /proc/7/fd/0 --tty --console-socket /s x",
		    "id=x@10 process@5-6=/proc/7/fd/0 console@8-9=/s" },
		{ "runc exec --console-socket=/s x", "id=x@3 console@2-2=/s" },
		{ "runc exec --console-socket /s -e A=1 x", "id=x@6 console@2-3=/s env@4-5=A=1" },
		{ "crun exec --console-socket=/s -p/p x", "id=x@4 console@2-2=/s process@3-3=/p" },
		{ "runc exec x sh --console-socket /s", "id=x@2" },
		{ "crun exec -dp /p x", "id=x@4 process@2-3=/p" },
		{ "crun exec -dp/p x", "id=x@3 process@2-2=/p" },
		{ "runc exec --env A=1 -e B=2 --env=D=4 x env",
		    "id=x@7 env@2-3=A=1 env@4-5=B=2 env@6-6=D=4" },
		{ "crun exec -tp=/p x", "id=x@3" },
		{ "crun exec --process-l l x", "id=x@4 label@2-3=l" },
		{ "crun exec -tx -p /p x", "id=x@5 process@3-4=/p" },
		{ "crun exec -eA=1 -de B=2 x env", "id=x@5 env@2-2=A=1 env@3-4=B=2" },
		{ "runc exec --cwd / --user 1000:6 -u 0 -g 6 --additional-gids 7 -c CAP_KILL --cap CAP_KILL x id",
		    "id=x@16 cap@12-13=CAP_KILL cap@14-15=CAP_KILL" },
		{ "runc exec --process-label l --apparmor a --preserve-fds 2 --cgroup c --no-new-privs --ignore-paused "
		    "x", "id=x@12 label@2-3=l" },
		{ "runc exec x sh --env A=1 -p /p", "id=x@2" },
		{ "runc exec -- x --env A=1", "id=x@3" },
		{ "runc exec --env A=1 -- x --env B=2", "id=x@5 env@2-3=A=1" },
	};
	static struct command c;
	struct why why;
	size_t i, j;
	int k;

	for (i = 0; i < COUNT(t); i++) {
		autofree char *text = strdup(t[i].words);
		autobuf struct buf b = { 0 };
		char *argv[WORDS];
		int argc = split(text, argv);

		if (!ok(argv_parse(argc, argv, &c, &why) == 0, "%s", t[i].words))
			continue;
		buf_printf(&b, "id=%s@%d", c.id != NULL ? c.id : "-", c.id_at);
		for (k = c.line.globals; k < c.line.words; k++)
			for (j = 0; j < COUNT(roles); j++)
				if (c.line.word[k].option->role == roles[j])
					buf_printf(&b, " %s@%d-%d=%s", names[j], c.line.word[k].at, c.line.word[k].value_at,
					    c.line.word[k].value);
		is_str(b.p, t[i].means, "  each value is found at its word");
	}
}

static void
test_exec_many(void)
{
	static char *argv[PARSED_WORDS_MAX + 8];
	char runc[] = "runc", exec[] = "exec", env[] = "-eA=1", id[] = "x";
	static struct command c;
	struct why why;
	int i, n, from = 0;

	argv[0] = runc;
	argv[1] = exec;
	for (i = 0; i < PARSED_WORDS_MAX; i++)
		argv[2 + i] = env;
	argv[2 + i] = id;
	ok(argv_parse(3 + i, argv, &c, &why) == 0, "a command line with the most options is read");
	for (n = 0; command_next(&c, ROLE_ENV, &from) != NULL; n++)
		;
	ok(n == PARSED_WORDS_MAX && strcmp(c.id, "x") == 0,
	    "all %d variables are found", PARSED_WORDS_MAX);
	argv[2 + i] = env;
	argv[3 + i] = id;
	is_int(argv_parse(4 + i, argv, &c, &why), -1, "one option more is refused");
	is_str(why.text, "exec: more than 512 options",
	    "  the message says how many options are allowed");
}

static void
test_exec_cgroup(void)
{
	static const struct {
		const char *path;
		bool taken;
	} t[] = {
		{ "a", true }, { "a/b", true }, { "/a", true }, { "memory:a,cpu:b", true }, { "..a", true }, { "a..", true },
		{ "...", true }, { "a/...", true }, { "", true }, { ".", true },
		{ "..", false }, { "../a", false }, { "a/../../b", false }, { "a/..", false }, { "/..", false },
		{ "memory:..", false }, { "memory:a,cpu:../b", false }, { "a//..", false },
	};
	static struct command c;
	struct why why;
	char joined[40];
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char *two[] = { (char[]){ "runc" }, (char[]){ "exec" }, (char[]){ "--cgroup" }, (char *)(uintptr_t)t[i].path,
			(char[]){ "id" }, NULL };
		char *one[] = { two[0], two[1], joined, two[4], NULL };

		snprintf(joined, sizeof(joined), "--cgroup=%s", t[i].path);
		ok((argv_parse(5, two, &c, &why) == 0) == t[i].taken && (argv_parse(4, one, &c, &why) == 0) == t[i].taken,
		    "exec --cgroup %s is %s", t[i].path, t[i].taken ? "accepted" : "refused");
	}
}

static void
test_update(void)
{
	static const struct {
		const char *words[8], *value;
		int ret, at, value_at;
	} t[] = {
		{ { "update", "id" }, NULL, 0, 0, 0 },
		{ { "update", "--resources", "f", "id" }, "f", 0, 2, 3 },
		{ { "update", "--resources=f", "id" }, "f", 0, 2, 2 },
		{ { "update", "-r", "f", "id" }, "f", 0, 2, 3 },
		{ { "update", "-rf", "id" }, "f", 0, 2, 2 },
		{ { "update", "-resources", "f", "id" }, "f", 0, 2, 3 },
		{ { "update", "--res", "f", "id" }, "f", 0, 2, 3 },
		{ { "update", "id", "--resources", "-" }, "-", 0, 3, 4 },
		{ { "update", "--memory", "-r", "id", "-r", "f" }, "f", 0, 5, 6 },
		{ { "update", "--memory=1", "--resources", "f", "id" }, "f", 0, 3, 4 },
		{ { "update", "--", "-r" }, NULL, 0, 0, 0 },
		{ { "update", "--", "-r", "f" }, NULL, -1, 0, 0 },
		{ { "update", "-r=f", "id" }, NULL, -1, 0, 0 },
		{ { "update", "-r", "f", "-r", "g", "id" }, NULL, -1, 0, 0 },
		{ { "update", "-r", "f", "--resources=f", "id" }, NULL, -1, 0, 0 },
	};
	const struct word *w;
	static struct command c;
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char *argv[10] = { (char[]){ "crun" } };
		char *const *to = argv;
		int n = 1, ret, from = 0;

		for (; t[i].words[n - 1] != NULL; n++)
			argv[n] = (char *)(uintptr_t)t[i].words[n - 1];
		ret = argv_parse(n, argv, &c, &why);
		/* a missing file is refused as well, but for another reason */
		if (ret == 0 && t[i].ret == -1) {
			ret = update_prepare(n, &to, &c, &why);
			is_str(why.text, "update: more than one --resources",
			    "update command line %zu: the message says why it is refused", i);
		}
		if (!ok(ret == t[i].ret,
		    "update command line %zu: %s", i, ret == 0 ? "" : why.text) || ret == -1)
			continue;
		w = command_next(&c, ROLE_RESOURCES, &from);
		is_str(w != NULL ? w->value : NULL, t[i].value,
		    "  the value of --resources is found");
		ok(w == NULL || (w->at == t[i].at && w->value_at == t[i].value_at),
		    "  --resources is found at its word");
	}
}

int
main(void)
{
	test_engines();
	test_spellings();
	test_refused();
	test_read_twice();
	test_unknown();
	test_log_of_refused();
	test_makers();
	test_exec();
	test_exec_many();
	test_exec_cgroup();
	test_update();
	return done_testing();
}
