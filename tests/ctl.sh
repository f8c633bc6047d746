#!/bin/sh
# gpuhelperctl as its users see it: exact lines, exit statuses, JSON.  sh tests/ctl.sh; TAP.
#   CTL=PROGRAM   another build of it (default build/gpuhelperctl)
# The trees are in a directory of the test.  What needs root or a (simulated) GPU runs in tests/lib/sandbox.sh;
# without root it is skipped.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/tests/lib/ctltool.sh"

hasnt() { ! grep -qF -e "$1" "$T/out" "$T/err"; }
# json EXPRESSION: true of the document j, whose members must all be in the manual
cat >schema.py <<'E'
import json, re, sys
text = ''.join(part.split('\n.Sh ')[0] for part in open(sys.argv[1]).read().split('\n.Sh JSON\n')[1:])
known = set(re.findall(r'"([a-zA-Z_]+)"', text.replace('\\(dq', '"')))
free = 'common', 'absent', 'annotations', 'instance_vars', 'further_claims'   # their members have names of their own
def look(j):
    if isinstance(j, dict):
        for k in j:
            assert k in known, 'the manual has no "%s"' % k
            for v in j[k].values() if k in free and isinstance(j[k], dict) else [j[k]]:
                look(v)
    for v in j if isinstance(j, list) else []:
        look(v)
j = json.load(open('out'))
look(j)
sys.exit(not eval(sys.argv[2]))
E
cat "$here"/helper/man/gpuhelperctl*.8 >"$T/man.8"
json() { (cd "$T" && python3 schema.py man.8 "$1"); }

# tree NAME: makes a new configuration directory, $d
tree() { d=$T/$1; rm -rf "$d"; mkdir -p "$d/policy.d"; }
policy() { cat >"$d/policy.d/$1"; }
check() { run check --config-dir "$d" "$@"; }
explain() { run explain --config-dir "$d" "$@"; }
shot() { find "$1" -printf '%p %i %s %m %u %T@ %C@\n' | sort; find "$1" -type f -exec cksum {} + | sort; }

echo "# the command line"
run --version
t "--version" exits 0 "gpuhelperctl $(sed -n 's/^VERSION *:= *//p' "$here/Makefile")"
run --help
t "--help" exits 0 "usage: gpuhelperctl COMMAND [OPTION ...] [...]"
run
t "no command" complains 64 "no command (see gpuhelperctl --help)"
run chek
t "a misspelt command" complains 64 'unknown command "chek"; did you mean "check"?'
run frobnicate
t "an unknown command" complains 64 'unknown command "frobnicate" (see gpuhelperctl --help)'
run check --jsn
t "a misspelt option" complains 64 'unknown option "--jsn"; did you mean "--json"?'
run check -x
t "an unknown letter" complains 64 'unknown option "-x" (see gpuhelperctl --help)'
run explain --bundle
t "an option without its value" complains 64 'option "--bundle" needs a value'
run check --json=yes
t "a value for an option that has none" complains 64 'option "--json" takes no value'
run -V
t "-V" exits 0 "gpuhelperctl $(sed -n 's/^VERSION *:= *//p' "$here/Makefile")"
run version
t "version" exits 0 "gpuhelperctl $(sed -n 's/^VERSION *:= *//p' "$here/Makefile")"
run help
cp out before
run --help
t "«help» prints the same as --help" cmp -s before out
run help keys import
cp out before
run keys import --help
t "--help of a subcommand shows only that subcommand" sh -c '[ $1 = 0 ] && cmp -s before out && grep -q "^usage: gpuhelperctl keys import .*--issuer URL FILE|-$" out && ! grep -q "keys fetch" out' - "$st"
run keys --help
t "--help of a group shows each of its subcommands" [ "$(grep -o '^usage: gpuhelperctl keys [a-z]*' out | wc -l)" = 4 ]
run help frobnicate
t "help for an unknown command" complains 64 'unknown command "frobnicate" (see gpuhelperctl --help)'
run help keys frob
t "help for an unknown command of a group" complains 64 "keys needs fetch, show, import or place (see gpuhelperctl help keys)"
# completion: from the program itself, and through the shells' own scripts
completes() { want=$1; shift; "$ctl" complete -- "$@" | tr '\n' ' ' >out; [ "$(cat out)" = "$want" ]; }
t "complete: a group is offered once" completes "keys " ke
t "complete: the words of a group" completes "fetch show import place " keys ""
t "complete: a word of a group that is begun" completes "show " keys s
t "complete: options of the subcommand" completes "--config-dir --json --host --help " cdi validate -
t "complete: an option that is begun" completes "--undo " setup concourse --u
t "complete: the engines" completes "concourse containerd podman docker " setup ""
t "complete: an option that only one engine has" completes "--rootless " setup podman --r
t "complete: no option of another engine" completes "" setup docker --r
t "complete: the values of an option" completes "token claim caller " explain --identity ""
t "complete: the next word after a value" completes "--instance-vars --identity --issuer " explain --identity token --i
t "complete: nothing for a file name, which the shell completes" completes "" explain --bundle ""
t "complete: the commands after «help»" completes "keys " help ke
t "complete: a group's words after «help»" completes "fetch " help keys f
"$ctl" complete -- "" | sort >words
"$ctl" help --json | python3 -c 'import json, sys; print(*sorted({c["name"].split()[0] for c in json.load(sys.stdin)["commands"]}), sep="\n")' >known
t "complete: all subcommands" cmp -s words known
cat >complete.bash <<-'E'
	PATH=$1:$PATH
	. "$2"
	COMP_WORDS=(gpuhelperctl keys f) COMP_CWORD=2
	_gpuhelperctl
	[ "${COMPREPLY[*]}" = fetch ]
E
mkdir -p bin && ln -sf "$ctl" bin/gpuhelperctl
t "complete: bash" bash complete.bash "$T/bin" "$here/helper/completion/gpuhelperctl.bash"
if command -v zsh >/dev/null; then
	t "complete: zsh reads its script" zsh -n "$here/helper/completion/gpuhelperctl.zsh"
else
	skip "complete: zsh reads its script" "there is no zsh"
fi
run help --json
t "help and the pages of the manual name the same commands and options" python3 -c 'import glob, json, os, re, sys
overview = open(sys.argv[1] + "/gpuhelperctl.8").read()
pages = {os.path.basename(p)[:-2]: open(p).read().split(".Sh DESCRIPTION") for p in glob.glob(sys.argv[1] + "/gpuhelperctl*.8")}
forms = [(name, f) for name, p in pages.items() for f in re.split(r"\n\.Nm(?: gpuhelperctl)?\n", p[0])]
listed = {}
for part in overview.split("\n.Ss ")[1:]:
    name = "gpuhelperctl" if part.startswith("This page") else part.split("(")[0]
    for command, summary in re.findall(r"^\.It Cm (.*)\n(.*)$", part.split("\n.Sh ")[0], re.M):
        listed[command] = name, summary.replace("\\(Fo", "«").replace("\\(Fc", "»")
commands = json.load(open("out"))["commands"]
assert set(listed) == {c["name"] for c in commands}, "the overview lists each command once"
for c in commands:
    page, summary = listed[c["name"]]
    assert summary == c["summary"], (c["name"], summary)
    form = [f for name, f in forms if name == page and "\n.Cm %s\n" % c["name"] in "\n" + f + "\n"]
    assert form, (c["name"], page)
    for o in c["options"]:
        assert any("Fl -" + o["name"] in f or "letter" in o and "Fl " + o["letter"] in f for f in form), (c["name"], o["name"])
        assert "Fl -" + o["name"] in pages[page][1] + pages["gpuhelperctl"][1], o["name"]
    named = set(re.findall(r"Fl -([a-z-]+)", "".join(form)))
    assert named <= {o["name"] for o in c["options"]}, (c["name"], named)' "$here/helper/man"
for c in status reap reapply doctor "cdi list"; do
	run $c --config-dir /
	t "--config-dir for $c, which does not read it" complains 64 "$c has no option --config-dir (see gpuhelperctl help $c)"
done
run check --config-dir / /etc
t "--config-dir together with a file argument" complains 64 "check: name files or give --config-dir, not both"
# the output is one JSON document, whatever is wrong
for c in "--json" "chek --json" "check --json --frob" "check --jsn --json" "explain --bundle --json" "devices x --json" "keys --json" \
	"explain --json" "explain --json --at 1" "explain --json --bundle b --gpus 1" "status --json" "reap --json" "reap -n --json" \
	"reapply --json" "cdi list --json --spec-dirs /nowhere" "cdi validate --json /nowhere" "cdi inject --json --device v.com/c=d /nowhere" \
	"cdi generate --json --root /nowhere" "cdi generate --json --vendor x" "keys fetch --json --config-dir /nowhere" \
	"keys import --json --config-dir /nowhere --issuer x -" "doctor --json --user no-such-user" "devices --json" "doctor --json" \
	"help --json" "help --json nothing" "version --json" "--version --json" "check --json --config-dir /nowhere" "check --json /nowhere"; do
	run $c </dev/null
	t "nothing but JSON: $c" json "isinstance(j, dict) and ('error' not in j or j['code'] == $st) and ($st != 64 or 'error' in j)"
done
run devices -v
t "an option of another command" complains 64 "devices has no option --verbose (see gpuhelperctl help devices)"
run devices nvidia
t "an argument that the command does not take" complains 64 'devices takes no "nvidia" (see gpuhelperctl help devices)'
tree order
run --config-dir "$d" check -v
cp out before
run check -v --config-dir "$d"
t "options before and after the command" cmp -s before out
POSIXLY_CORRECT=1 "$ctl" check --config-dir "$d" -v >out 2>err; st=$?
t "options after the command under POSIXLY_CORRECT" cmp -s before out
"$ctl" --help >/dev/full 2>err; st=$?
t "stdout can't be written" is 74
if [ "$(id -u)" = 0 ]; then
	cp "$ctl" "$T/suid" && chmod 4755 "$T/suid"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$T/suid" --version >out 2>err; st=$?
	rm -f "$T/suid"
	if [ "$st" = 0 ] && findmnt -no OPTIONS -T "$T" | grep -q nosuid; then
		skip "a setuid copy refuses" "$T is nosuid"
	else
		t "a setuid copy refuses" complains 77 "must not be setuid or setgid, nor have file capabilities: chmod 0755 gpuhelperctl and setcap -r it"
	fi
else
	skip "a setuid copy refuses" "not root"
fi

echo "# check: errors"
tree empty
nothing="$d: warning: has neither gpuhelper.conf nor a policy (policy.d/*.conf): nothing is granted"
check
t "an empty configuration has no errors, but a warning" exactly 0 <<-E
	$nothing
E
rm -r "$d/policy.d"
check
t "a configuration without policy.d has no errors, but a warning" exactly 0 <<-E
	$nothing
E
check --strict
t "  which --strict refuses" is 78
: >"$d/gpuhelper.conf"
check
t "an empty gpuhelper.conf is enough" silent
run check --config-dir "$T/nowhere"
t "a missing --config-dir" exits 78 "$T/nowhere: No such file or directory"
tree errors
cat >"$d/gpuhelper.conf" <<-'E'
	# settings
	privileged = "denny";
	max_wait = 100000;
	volumes = [ "/", "data" ];
	audit = { plan = true; };
E
policy 10-keys.conf <<-'E'
	pipelin = "ml/train";
	identity = "clam";
	callers = [ "1000" ];
	gpus = ( { vendor = "nvidia"; count = 0; shareing = "shared"; },
	  { devices = [ "gpu0" ]; share_limit = 2; } );
	folders = ( { path = "/srv/../etc"; },
	  { path = "/srv/*/x"; acces = "rw"; },
	  { access = "ro"; } );
E
policy 20-syntax.conf <<-'E'
	pipeline = "ml/train";
	jobs = [ "fit" ;
E
policy 30-comment.conf <<-'E'
	pipeline = "ml/train";
	/* jobs = [ "fit" ];
E
policy 40-caller.conf <<-'E'
	identity = "caller"; pipeline = "ml/train"; callers = [ "root" ];
	folders = ( { path = "/"; } );
E
: >"$d/policy.d/50-empty.conf"
check
t "all errors of all files, by line" exactly 78 <<-E
	$d/gpuhelper.conf:2: privileged = "denny" is unknown; did you mean "deny"?
	$d/gpuhelper.conf:3: max_wait must be a number from 0 to 86400
	$d/gpuhelper.conf:4: volumes: "/" would let a task take the host for its root
	$d/gpuhelper.conf:4: path "data" is not absolute
	$d/gpuhelper.conf:5: unknown key "plan"; did you mean "plain"?
	$d/policy.d/10-keys.conf:1: unknown key "pipelin"; did you mean "pipeline"?
	$d/policy.d/10-keys.conf:2: identity = "clam" is unknown; did you mean "claim"?
	$d/policy.d/10-keys.conf:3: callers are names of users, "1000" is a number
	$d/policy.d/10-keys.conf:4: count must be a number from 1 to 64
	$d/policy.d/10-keys.conf:4: unknown key "shareing"; did you mean "sharing"?
	$d/policy.d/10-keys.conf:5: a gpus entry needs a vendor: nvidia, amd, intel, or a CDI kind ("nvidia.com/gpu")
	$d/policy.d/10-keys.conf:5: "gpu0" is no GPU: give a UUID, a PCI address, a rank ("0") or "all"
	$d/policy.d/10-keys.conf:5: share_limit goes with sharing = "shared"
	$d/policy.d/10-keys.conf:6: path "/srv/../etc" has a "." or ".." in it
	$d/policy.d/10-keys.conf:7: unknown key "acces"; did you mean "access"?
	$d/policy.d/10-keys.conf:7: * and ? are for the last component of a path
	$d/policy.d/10-keys.conf:8: a folders entry needs a path
	$d/policy.d/20-syntax.conf:2: ";" stands before the "]" of jobs, whose "[" is in line 2
	$d/policy.d/30-comment.conf:2: this comment has no end
	$d/policy.d/40-caller.conf: identity = "caller" knows no pipeline: leave pipeline, jobs and instance_vars out, or ask for a token
	$d/policy.d/40-caller.conf:2: "/" can't be a folder or a target
	$d/policy.d/50-empty.conf: no pipeline: say pipeline = "TEAM/PIPELINE", or identity = "caller"
	$d/policy.d/50-empty.conf: warning: this policy gives nothing: neither gpus nor folders
E
cp out whole
run check "$d"
t "the same errors for the directory as an argument" cmp -s whole out
run check "$d/policy.d/"
grep -v gpuhelper.conf: whole >part
t "policy.d as an argument" cmp -s part out
run check "$d/policy.d/20-syntax.conf"
t "one policy as an argument" exactly 78 <<-E
	$d/policy.d/20-syntax.conf:2: ";" stands before the "]" of jobs, whose "[" is in line 2
E
run check "$d/gpuhelper.conf"
t "gpuhelper.conf as an argument" sh -c '[ $1 = 78 ] && [ $(wc -l <out) = 5 ]' - "$st"
(cd "$d/policy.d" && "$ctl" check 20-syntax.conf) >out 2>err; st=$?
t "a file name without a directory" exactly 78 <<-'E'
	20-syntax.conf:2: ";" stands before the "]" of jobs, whose "[" is in line 2
E
run check "$d/policy.d/60-none.conf"
t "a missing file" exactly 78 <<-E
	$d/policy.d/60-none.conf: No such file or directory
E
run check "$T/nowhere/x.conf"
t "a file in a missing directory" exactly 78 <<-E
	$T/nowhere/x.conf: No such file or directory
E
check --json
t "the same errors as JSON" json "not j['ok'] and j['errors'] == 22 and j['warnings'] == 1 and len(j['findings']) == 23"
t "JSON has file, line, severity and message" json "j['findings'][0] == {'file': '$d/gpuhelper.conf', 'line': 2, 'severity': 'error', 'message': 'privileged = \"denny\" is unknown; did you mean \"deny\"?'}"
t "JSON has no line for a whole file" json "[f for f in j['findings'] if f['file'].endswith('50-empty.conf')][0].get('line') is None"
tree links
echo 'identity = "caller"; callers = [ "root" ]; folders = ( { path = "/usr"; } );' >"$d/real"
ln -s ../real "$d/policy.d/10-link.conf"
mkdir "$d/policy.d/20-dir.conf"
head -c 270000 /dev/zero | tr '\0' '#' >"$d/policy.d/30-large.conf"
printf '# \303\244\npipeline = "a/\377";' >"$d/policy.d/40-bytes.conf"
check
t "a link, a directory, a large file and a file that is not UTF-8" exactly 78 <<-E
	$d/policy.d/10-link.conf: is a symbolic link
	$d/policy.d/20-dir.conf: is not a regular file
	$d/policy.d/30-large.conf: is too large: it has 270000 bytes, and at most 262144 are read
	$d/policy.d/40-bytes.conf:2: not UTF-8 text: save the file as UTF-8
E
tree others
policy 10-a.conf <<-'E'
	pipeline = "ml/train"; identity = "claim";
	folders = ( { path = "/usr"; } );
E
chmod -R go+w "$d"
check
t "outside /etc/gpuhelper, owner and mode do not matter" is 0
esc=$(printf '\033')
mv "$d/policy.d/10-a.conf" "$d/policy.d/10-${esc}[31m.conf"
check
t "a file name can't send control codes to the terminal" sh -c '[ $1 = 0 ] && grep -q "10-?\[31m.conf:1: warning" out && ! grep -q "$2" out' - "$st" "$esc"

echo "# check: warnings"
tree claim
policy 10-a.conf <<-'E'
	pipeline = "ml/train";
	identity = "claim";
	folders = ( { path = "/usr"; } );
E
check
t "identity claim" exactly 0 <<-E
	$d/policy.d/10-a.conf:2: warning: identity = "claim" needs no proof: any task on this worker, a pull request's too, can claim to be ml/train and get what this policy gives
E
check --json
t "a warning as JSON" json "j['ok'] and j['warnings'] == 1 and j['findings'][0]['severity'] == 'warning' and j['read'] == ['$d/policy.d/10-a.conf']"
check -v
t "-v names the files that were read" exactly 0 <<-E
	$d/gpuhelper.conf: does not exist: the defaults apply
	$d/policy.d/10-a.conf: read: ml/train, identity claim; GPU rules: 0, folder rules: 1
	$d/policy.d/10-a.conf:2: warning: identity = "claim" needs no proof: any task on this worker, a pull request's too, can claim to be ml/train and get what this policy gives
	errors: 0, warnings: 1
E
cp out before
check --strict -v
t "--strict: a warning fails" sh -c '[ "$1" = 78 ] && cmp -s before out' - "$st"
check --strict --json
t "--strict as JSON" json "$st == 78 and not j['ok'] and j['errors'] == 0 and j['warnings'] == 1"
"$ctl" check - <"$d/policy.d/10-a.conf" >out 2>err; st=$?
t "a policy on standard input" exactly 0 <<-E
	standard input:2: warning: identity = "claim" needs no proof: any task on this worker, a pull request's too, can claim to be ml/train and get what this policy gives
E
printf 'pipeline = "a/b;\njobs = [ "x" ];\n' | "$ctl" check - >out 2>err; st=$?
t "a broken policy on standard input" exactly 78 <<-'E'
	standard input:1: a double quote (") is missing on this line: a string begins and ends on one line
E
tree caller
policy 10-a.conf <<-'E'
	callers = [ "root" ];
	identity = "caller";
	folders = ( { path = "/usr"; } );
E
check
t "identity caller" exactly 0 <<-E
	$d/policy.d/10-a.conf:2: warning: identity = "caller" covers every container of user root: a pull request's task also gets what this policy gives
E
echo 'grant_unasked = true;' >"$d/gpuhelper.conf"
check
t "identity caller with grant_unasked" exactly 0 <<-E
	$d/policy.d/10-a.conf:2: warning: identity = "caller" covers every container of user root: a pull request's task also gets what this policy gives, even without a request
E
policy 10-a.conf <<-'E'
	identity = "caller";
	folders = ( { path = "/usr"; } );
E
rm "$d/gpuhelper.conf"
check
t "identity caller without callers" exactly 0 <<-E
	$d/policy.d/10-a.conf: warning: identity = "caller" without callers covers every container of every member of group gpuhelper, and of root
	$d/policy.d/10-a.conf:1: warning: identity = "caller" covers every container of root and of every member of group gpuhelper: a pull request's task also gets what this policy gives
E
tree token
policy 10-a.conf <<-'E'
	pipeline = "ml/train";
	callers = [ "root", "no-such-user" ];
	folders = ( { path = "/usr"; } );
E
run check "$d/policy.d"
t "a caller who is no user" exactly 0 <<-E
	$d/policy.d/10-a.conf:2: warning: caller "no-such-user" is not in /etc/passwd of this host
E
policy 10-a.conf <<-'E'
	pipeline = "ml/train";
	folders = ( { path = "/usr"; } );
E
run check "$d/policy.d/10-a.conf"
t "a single policy without issuers gives no warning" silent
check
t "identity token without issuers" exactly 0 <<-E
	$d/gpuhelper.conf: warning: no issuers are configured, so no token is accepted: policies with identity = "token" grant nothing (1, 10-a.conf first)
E
printf '\n\nprivileged = "allow";\n' >"$d/gpuhelper.conf"
policy 10-a.conf <<-'E'
	pipeline = "ml/images";
	privileged = true;
E
run check "$d/policy.d/10-a.conf"
t "a policy that allows privileged containers is named each time" exactly 0 <<-E
	$d/policy.d/10-a.conf:2: warning: privileged = true makes containers of ml/images the host's root: what runs there can open every GPU and folder, whatever the other policies say. No pull request may write what that pipeline runs
E
run check "$d"
t "  and where every container may be privileged, as without effect" says "$d/policy.d/10-a.conf:2: warning: privileged = true has no effect: gpuhelper.conf lets every container be privileged. Say privileged = \"deny\" there"
policy 10-a.conf <<-'E'
	pipeline = "ml/images";
	privileged = true;
	gpus = ( { vendor = "nvidia"; } );
E
run check "$d/policy.d/10-a.conf"
t "  and if it gives GPUs, that a task does not give them back" says "$d/policy.d/10-a.conf:3: warning: a privileged container keeps its GPUs until the container ends, and Concourse keeps that of a failed task for days. Let tasks that are not privileged use the GPUs"
policy 10-a.conf <<-'E'
	pipeline = "ml/images"; identity = "claim";
	privileged = true;
E
run check "$d/policy.d/10-a.conf"
t "privileged = true without a proof is an error" exits 78 "$d/policy.d/10-a.conf: privileged goes with identity = \"token\": without a proof, any task could be privileged"
rm "$d/policy.d/10-a.conf"
check
t "privileged = \"allow\"" exactly 0 <<-E
	$d/gpuhelper.conf:3: warning: privileged = "allow" lets a privileged container keep every GPU that its engine gives it, whatever the policies say
E
tree leftovers
for f in 10-a.conf.dpkg-old 10-a.conf~ .10-a.conf.swp 10-a.cnf 10-a.conf.example; do : >"$d/policy.d/$f"; done
check
t "ignored files" exactly 0 <<-E
	$d/policy.d/.10-a.conf.swp: warning: is ignored: its name begins with "."
	$d/policy.d/10-a.cnf: warning: is ignored: its name does not end in ".conf"
	$d/policy.d/10-a.conf.dpkg-old: warning: is ignored: its name does not end in ".conf"
	$d/policy.d/10-a.conf~: warning: is ignored: its name does not end in ".conf"
E
tree gpus
policy 10-a.conf <<-'E'
	pipeline = "ml/train";
	gpus = (
	  { vendor = "nvidia"; devices = [ "all", "GPU-11111111-2222-3333-4444-555555555555" ]; } );
E
run check "$d/policy.d"
t "a GPU that is not there" exactly 0 <<-E
	$d/policy.d/10-a.conf:3: warning: this host has no nvidia GPU "GPU-11111111-2222-3333-4444-555555555555" (gpuhelperctl devices lists them)
E
tree meant
echo 'max_wait = 100;' >"$d/gpuhelper.conf"
policy 10-a.conf <<-'E'
	pipeline = "ml/train/fit"; identity = "claim";
	folders = ( { path = "/usr"; } );
E
policy 11-b.conf <<-'E'
	identity = "claim";
	pipeline = "ml/train ";
	gpus = (
	  { vendor = "nvidia"; devices = [ "GPU-11111111-2222-3333-4444-555555555555", "0" ]; count = 3; },
	  { vendor = "nvidia"; wait = 101; },
	  { vendor = "nvidia"; wait = 100; capabilities = [ ]; } );
E
policy 9-c.conf <<-'E'
	pipeline = " ml/c"; identity = "claim";
	folders = ( { path = "/usr"; } );
E
check
grep -v -e "needs no proof" -e "a request of" -e "this host has no" out >part
mv part out
t "check: rules that are allowed, but may be mistakes" exactly 0 <<-E
	$d/policy.d/10-a.conf:1: warning: pipeline "ml/train/fit" means one whose name is "train/fit", with a slash in it; jobs and instance_vars are settings of their own
	$d/policy.d/11-b.conf:2: warning: pipeline "ml/train " has a space at an end of a name, which counts
	$d/policy.d/11-b.conf:4: warning: count = 3, but the rule names only 2 GPUs: a container gets no more
	$d/policy.d/11-b.conf:5: warning: wait = 101 is more than max_wait in gpuhelper.conf: containers wait at most 100 s
	$d/policy.d/11-b.conf:6: warning: capabilities is empty: a container gets the GPU's nodes and hardly any of the driver's files; leave it out for compute and utility
	$d/policy.d/9-c.conf: warning: comes after 10-a.conf, as names are compared byte by byte: give all numbers the same number of digits
	$d/policy.d/9-c.conf:1: warning: pipeline " ml/c" has a space at an end of a name, which counts
E
tree tasks
policy 10-a.conf <<-'E'
	identity = "claim"; pipeline = "ml/train";
	gpus = ( { vendor = "nvidia"; wait = 3600; }, { vendor = "nvidia"; wait = 240; } );
E
policy 20-b.conf <<-'E'
	identity = "caller"; callers = [ "root" ];
	gpus = ( { vendor = "nvidia"; wait = 3600; } );
E
warned_of_tasks() { # SETTING: what check says of tasks
	printf '%s\n' "$1" >"$d/gpuhelper.conf"
	check
	grep -e "wait = " -e exec out >part
	mv part out
}
warned_of_tasks 'left_behind = 60;'
t "check: a task may wait for hours" silent
for s in 'idle = "keep"' 'driver_files = "vendor-runtime"' 'placeholder_init = [ ]'; do
	warned_of_tasks "$s;"
	t "check: a container may not wait for hours when it is created: $s" exactly 0 <<-E
		$d/policy.d/10-a.conf:2: warning: wait = 3600, but gpuhelper.conf sets $s, so a container waits when it is created, and Concourse gives up after 5 minutes: say at most 240
	E
done
warned_of_tasks 'idle = "keep"; max_wait = 200;'
t "check: max_wait already sees to that" sh -c '[ "$(grep -c "more than max_wait" out)" = 3 ] && ! grep "when it is created" out'
warned_of_tasks 'first_exec = 30;'
t "check: first_exec has no effect any more" exactly 0 <<-E
	$d/gpuhelper.conf:1: warning: first_exec has no effect any more: a task takes its GPUs by itself. Remove the line
E
warned_of_tasks 'task_execs = [ ];'
t "check: no exec is a task" exactly 0 <<-E
	$d/gpuhelper.conf:1: warning: no exec is a task, so none takes the GPUs that its container was promised, unless it has GPUHELPER_GPUS=again: leave the line out
E
warned_of_tasks 'task_execs = [ ]; idle = "keep";'
t "check: no exec needs to be a task if containers take the GPUs" hasnt "no exec"
tree runtimes
mkdir "$T/bin"
cp /bin/true "$T/bin/runc"
printf 'runtime = "/nowhere/runc";\nvolumes = [ "/nowhere/a" ];\n' >"$d/gpuhelper.conf"
check
t "check: a missing runtime, and no existing volume" exactly 0 <<-E
	$d/gpuhelper.conf:1: warning: no container can be created: runtime /nowhere/runc: No such file or directory
	$d/gpuhelper.conf:2: warning: none of the volumes exists on this host: containers whose root filesystem is not in their bundle are refused
E
printf 'runtime = "%s";\nvolumes = [ "/nowhere/a", "%s" ];\n' "$T/bin/runc" "$T" >"$d/gpuhelper.conf"
check
t "check: a runtime that others may change, and one existing volume" exactly 0 <<-E
	$d/gpuhelper.conf:1: warning: no container can be created: runtime: /tmp may be written by others than root (mode 1777): use another place
E

# nest NAME yes|no OUTER INNER: whether check warns of the inner folder
nest() {
	tree nest
	echo "pipeline = \"ml/a\"; folders = ( { $3 } );" | policy 10-a.conf
	echo "pipeline = \"ml/b\"; folders = ( { $4 } );" | policy 20-b.conf
	run check "$d/policy.d"
	warned=no
	grep -q "20-b.conf:1: warning: folder /.* is inside /.*, to which 10-a.conf gives write access: it is refused while a container without a user namespace has the outer folder" out && warned=yes
	t "nesting: $1: $2" [ "$warned" = "$2" ]
}
nest "a folder inside a writable folder" yes 'path = "/usr"; access = "rw";' 'path = "/usr/share"; access = "ro";'
nest "a folder inside a read-only folder" no 'path = "/usr"; access = "ro";' 'path = "/usr/share"; access = "rw";'
nest "twice the same folder" no 'path = "/usr"; access = "rw";' 'path = "/usr"; access = "ro";'
nest "a folder with a similar name" no 'path = "/usr/lib"; access = "rw";' 'path = "/usr/libexec"; access = "ro";'
nest "a folder inside a folder that a pattern matches" yes 'path = "/usr/s*"; access = "rw";' 'path = "/usr/share/doc"; access = "ro";'
nest "a folder inside no folder that the pattern matches" no 'path = "/usr/s*"; access = "rw";' 'path = "/usr/lib/x"; access = "ro";'
nest "a folder that the pattern itself matches" no 'path = "/usr/s*"; access = "rw";' 'path = "/usr/share"; access = "ro";'

# overlap NAME yes|no EARLIER LATER: whether check warns of the later policy.  The earlier one gives /usr read-only.
overlap() {
	tree overlap
	echo "$3; folders = ( { path = \"/usr\"; } );" | policy 10-a.conf
	echo "$4" | policy 20-b.conf
	run check "$d/policy.d"
	warned=no
	grep -qF "$d/policy.d/20-b.conf:1: warning: overlaps 10-a.conf: for a container that both cover, this policy may grant what the other refuses" out && warned=yes
	! grep -q 'policy.d/10-a.conf.*overlaps' out || warned=earlier
	[ "$st" = "${5:-0}" ] || warned="exit status $st"
	t "overlap: $1: $2" [ "$warned" = "$2" ]
}
more='folders = ( { path = "/var/tmp"; access = "rw"; } );'
overlap "equal pipelines" yes 'pipeline = "ml/train"' "pipeline = \"ml/train\"; $more"
overlap "other pipelines" no 'pipeline = "ml/train"' "pipeline = \"ml/pr\"; $more"
overlap "other teams" no 'pipeline = "ml/train"' "pipeline = \"web/train\"; $more"
overlap "a wider pattern" yes 'pipeline = "ml/pr"' "pipeline = \"ml/*\"; $more"
overlap "a wider team" yes 'pipeline = "ml/pr"' "pipeline = \"*/p?\"; $more"
overlap "a pattern that does not match" no 'pipeline = "ml/pr"' "pipeline = \"ml/p??*\"; $more"
overlap "patterns that match a common name" yes 'pipeline = "ml/pr-*"' "pipeline = \"ml/*-eu\"; $more"
overlap "patterns without a common name" no 'pipeline = "ml/pr-*"' "pipeline = \"ml/build-*\"; $more"
overlap "a ? does not match nothing" no 'pipeline = "ml/a?"' "pipeline = \"ml/a\"; $more"
overlap "a ? against a *" yes 'pipeline = "ml/a?c"' "pipeline = \"ml/ab*\"; $more"
overlap "a later policy with a narrower pattern" no 'pipeline = "ml/*"' "pipeline = \"ml/train\"; $more"
overlap "a later policy that is narrower by its jobs" no 'pipeline = "ml/train"' "pipeline = \"ml/train\"; jobs = [ \"fit\" ]; $more"
overlap "a later policy that is wider by its jobs" yes 'pipeline = "ml/train"; jobs = [ "fit" ]' "pipeline = \"ml/train\"; $more"
overlap "other jobs" no 'pipeline = "ml/train"; jobs = [ "fit" ]' "pipeline = \"ml/train\"; jobs = [ \"eval-*\" ]; $more"
overlap "jobs in common" yes 'pipeline = "ml/train"; jobs = [ "fit", "eval-a" ]' "pipeline = \"ml/train\"; jobs = [ \"eval-*\" ]; $more"
overlap "other callers" no 'pipeline = "ml/train"; callers = [ "root" ]' "pipeline = \"ml/train\"; callers = [ \"nobody\" ]; $more"
overlap "callers in common" yes 'pipeline = "ml/train"; callers = [ "root" ]' "pipeline = \"ml/train\"; callers = [ \"root\", \"nobody\" ]; $more"
overlap "a later policy without callers" yes 'pipeline = "ml/train"; callers = [ "root" ]' "pipeline = \"ml/train\"; $more"
overlap "other instances" no 'pipeline = "ml/train"; instance_vars = { pr = 1; }' "pipeline = \"ml/train\"; instance_vars = { pr = 2; }; $more"
overlap "a later policy for every instance" yes 'pipeline = "ml/train"; instance_vars = { pr = 1; }' "pipeline = \"ml/train\"; $more"
overlap "instances by other variables" yes 'pipeline = "ml/train"; instance_vars = { pr = 1; }' "pipeline = \"ml/train\"; instance_vars = { branch = \"main\"; }; $more"
overlap "tokens of other issuers" no 'pipeline = "ml/train"; issuer = "https://a.example"' "pipeline = \"ml/train\"; issuer = \"https://b.example\"; $more"
overlap "a later policy for every issuer" yes 'pipeline = "ml/train"; issuer = "https://a.example"' "pipeline = \"ml/train\"; $more"
overlap "a later policy for one issuer, after one for every issuer" no 'pipeline = "ml/train"' "pipeline = \"ml/train\"; issuer = \"https://b.example\"; $more"
claims='pipeline = "ml/train"; issuer = "https://a.example"; claims ='
overlap "other claims" no "$claims { ref = \"main\"; }" "$claims { ref = \"next\"; }; $more"
overlap "claims in common" yes "$claims { ref = [ \"main\", \"next\" ]; }" "$claims { ref = [ \"next\", \"last\" ]; }; $more"
overlap "a claim of another type" no "$claims { ok = true; }" "$claims { ok = \"true\"; }; $more"
overlap "a later policy that is narrower by its claims" no "$claims { ref = \"v*\"; }" "$claims { ref = \"v1\"; event = \"push\"; }; $more"
overlap "a later policy that is wider by its claims" yes "$claims { ref = \"v1\"; }" "$claims { ref = \"v*\"; }; $more"
overlap "a later policy without claims" yes "$claims { ref = \"v1\"; }" "pipeline = \"ml/train\"; issuer = \"https://a.example\"; $more"
overlap "claims of other names" yes "$claims { ref = \"v1\"; }" "$claims { event = \"push\"; }; $more"
overlap "a claim after a token" yes 'pipeline = "ml/train"' "pipeline = \"ml/train\"; identity = \"claim\"; $more"
overlap "a token after a claim" no 'pipeline = "ml/train"; identity = "claim"' "pipeline = \"ml/train\"; $more"
overlap "a caller after a pipeline" yes 'pipeline = "ml/train"' "identity = \"caller\"; callers = [ \"root\" ]; $more"
overlap "a pipeline after its caller" no 'identity = "caller"; callers = [ "root" ]' "pipeline = \"ml/train\"; callers = [ \"root\" ]; $more"
overlap "a later policy that gives nothing more" no 'pipeline = "ml/train"' 'pipeline = "ml/*"; folders = ( { path = "/usr"; } );'
overlap "the same GPU" no 'pipeline = "ml/train"; gpus = ( { vendor = "amd"; } )' 'pipeline = "ml/*"; gpus = ( { vendor = "amd"; } );'
overlap "one GPU more" yes 'pipeline = "ml/train"; gpus = ( { vendor = "amd"; } )' 'pipeline = "ml/*"; gpus = ( { vendor = "amd"; count = 2; } );'
overlap "the same entry twice" yes 'pipeline = "ml/train"; gpus = ( { vendor = "amd"; } )' 'pipeline = "ml/*"; gpus = ( { vendor = "amd"; }, { vendor = "amd"; } );'
overlap "another vendor" yes 'pipeline = "ml/train"; gpus = ( { vendor = "amd"; } )' 'pipeline = "ml/*"; gpus = ( { vendor = "intel"; } );'
overlap "a broken earlier policy" no 'pipeline = "ml/train"; x = 1' "pipeline = \"ml/train\"; $more" 78
tree many
for i in 1 2 3 4 5; do echo 'pipeline = "ml/train"; folders = ( { path = "/usr"; } );' | policy "1$i.conf"; done
echo "pipeline = \"ml/*\"; $more" | policy 20.conf
run check "$d/policy.d"
t "overlap: with many earlier policies" exactly 0 <<-E
	$d/policy.d/20.conf:1: warning: overlaps 11.conf, 12.conf, 13.conf and 2 more: for a container that both cover, this policy may grant what the other refuses
E
mkdir "$T/loose"
cp "$d/policy.d/20.conf" "$T/loose/30-z.conf"
run check "$T/loose/30-z.conf" "$d/policy.d/11.conf"
t "files as arguments are checked as one set, in the order of their names" exactly 0 <<-E
	$T/loose/30-z.conf:1: warning: overlaps 11.conf: for a container that both cover, this policy may grant what the other refuses
E
tree crowd
{ echo 'pipeline = "ml/train"; folders = ('; for i in $(seq 1100); do echo "{ path = \"$T/no/$i\"; },"; done; echo '{ path = "/usr"; } );'; } | policy 10-a.conf
{ cat "$d/policy.d/10-a.conf"; echo 'env = { A = "1"; };'; } | sed 's/no/neither/' | policy 20-b.conf
run check --json "$d/policy.d"
t "a thousand missing folders hide no other warning" json "$st == 0 and [f for f in j['findings'] if 'overlaps 10-a.conf' in f['message']] and j['warnings'] == 2203"
shot "$d" >before
check -v; check --json
shot "$d" >after
t "check leaves no trace" cmp -s before after
tree quiet
: >"$d/gpuhelper.conf"
check --strict
t "--strict without a warning succeeds" silent
for f in "$here"/policy.d/*.conf.example; do
	tree example
	cp "$f" "$d/policy.d/$(basename "$f" .example)"
	check
	t "example: $(basename "$f")" sh -c '[ $1 = 0 ] && ! grep -v warning: out && [ ! -s err ]' - "$st"
done
tree example
cp "$here/policy.d/gpuhelper.conf" "$d/gpuhelper.conf"
check
t "example: gpuhelper.conf" silent
sed 's/^#\([a-z_]* *=\)/\1/; s/^#\( .*"\/var\/lib\/docker\)/\1/' "$here/policy.d/gpuhelper.conf" >"$d/gpuhelper.conf"
check
t "example: gpuhelper.conf with its commented lines active" sh -c '[ $1 = 0 ] && grep -q "^max_wait = 43200" $2/gpuhelper.conf && ! grep -v -e "no keys of" -e "none of the volumes" out' - "$st" "$d"

echo "# explain"
tree explain
policy 10-pr.conf <<-'E'
	pipeline = "ml/pr";
	folders = ( { path = "/var/tmp"; } );
E
policy 20-train.conf <<-'E'
	pipeline = "ml/train";
	jobs = [ "fit", "eval-*" ];
	folders = ( { path = "/var/tmp"; } );
E
policy 30-all.conf <<-'E'
	pipeline = "ml/*";
	folders = ( { path = "/var/tmp"; access = "rw"; target = "/there"; }, { path = "/usr/*"; } );
	env = { A_NAME = "its-value"; OTHER = "x"; };
E
assumed='assumed: a valid token of this pipeline, but today this host would refuse each one: gpuhelper.conf has no issuers'
judged='note: folders are checked for root in a container with a user namespace, uid 4294967294 of the host (--bundle for others)'
takes="a Concourse task takes its GPU itself, and waits for it in the build's log; other containers wait when they are created, as do those of systemd's cgroup driver"
leases='not considered: leases (whether the GPUs are free or busy)'
nodes="not considered: access (whether the container's user may open the GPUs' nodes)
not considered: SELinux (whether its policy lets the container use them)"
shot "$d" >before
explain --pipeline ml/train --job fit --user root
t "the first policy that allows the whole request decides" exactly 0 <<-E
	$assumed
	container: user root (uid 0), pipeline ml/train, job fit, by token
	requests: everything that the policy lists
	10-pr.conf: does not cover the container: it is for pipeline ml/pr
	20-train.conf: decides: covers the container, and allows the whole request
	30-all.conf: not asked: an earlier file grants
	would be granted by 20-train.conf:
	  folder /var/tmp ro at /var/tmp
	$judged
	$leases
	$nodes
E
explain --pipeline ml/train --job fit --user root --folders /var/tmp:rw,/usr/share
t "a policy that does not allow the whole request is passed over" exactly 0 <<-E
	$assumed
	container: user root (uid 0), pipeline ml/train, job fit, by token
	requests: gpus none; folders /var/tmp:rw,/usr/share
	10-pr.conf: does not cover the container: it is for pipeline ml/pr
	20-train.conf: covers the container, but does not allow the whole request: 20-train.conf:3: it gives folder /var/tmp read-only, and rw was asked for
	30-all.conf: decides: covers the container, and allows the whole request
	would be granted by 30-all.conf:
	  folder /var/tmp rw at /there
	  folder /usr/share ro at /usr/share
	  variables A_NAME, OTHER
	$judged
	$leases
	$nodes
E
t "explain prints no value of a variable" hasnt its-value
explain --pipeline ml/train --job fit --user root --folders /home
t "explain: a refused request" exactly 77 <<-E
	$assumed
	container: user root (uid 0), pipeline ml/train, job fit, by token
	requests: gpus none; folders /home
	10-pr.conf: does not cover the container: it is for pipeline ml/pr
	20-train.conf: covers the container, but does not allow the whole request: it does not give folder /home
	30-all.conf: covers the container, but does not allow the whole request: it does not give folder /home
	refused: 20-train.conf: it does not give folder /home
	$leases
	$nodes
E
explain --pipeline ml/train --job fit --user root --folders /home --json
t "explain: a refused request, as JSON" json "j['outcome'] == 'refused' and j['code'] == 77 and [p['verdict'] for p in j['policies']] == ['other', 'lacks', 'lacks'] and 'gives' not in j"
explain --pipeline ml/train --user root --folders all
t "an unknown job is not among a policy's jobs" exits 0 '20-train.conf: does not cover the container: job "(none)" is not among its jobs'
t "a pattern of folders" says "  folder /usr/* ro in /usr"
explain --pipeline ml/train --job eval-x --user root --json
t "explain: a granted request, as JSON" json "j['outcome'] == 'granted' and j['policy'] == '20-train.conf' and j['assumed'].endswith('gpuhelper.conf has no issuers') and [p['verdict'] for p in j['policies']] == ['other', 'grants', 'not asked'] and j['gives']['folders'] == [{'path': '/var/tmp', 'target': '/var/tmp', 'access': 'ro', 'submounts': False, 'relabel': 'no'}] and len(j['not_looked_at']) == 3"
explain --pipeline ml/pr --user root --json --folders /var/tmp:rw
t "JSON has the names of variables only" json "j['gives']['env'] == ['A_NAME', 'OTHER'] and j['gives']['folders'][0]['target'] == '/there'"
explain --pipeline web/site --user root
t "no policy covers the pipeline" exits 77 "refused: no policy covers pipeline web/site (by token) for user root"
t "the refusal does not advise to run explain" hasnt "gpuhelperctl explain"
explain --pipeline ml/train --user root --identity claim --folders /var/tmp
t "a policy with identity token does not cover a claim" exits 77 "30-all.conf: does not cover the container: it requires a token, and a claim is not one"
explain --pipeline ml/train --user nobody
t "a user outside the group gpuhelper" exits 77 "30-all.conf: does not cover the container: the caller is not in group gpuhelper"
explain --pipeline ml/train --user 65534
t "a user by number" says "container: user nobody (uid 65534), pipeline ml/train, job (none), by token"
explain --pipeline ml/train --user 65533
t "a user without a name" says "container: user (without a name) (uid 65533), pipeline ml/train, job (none), by token"
explain --pipeline ml/train --user no-such-user
t "an unknown user" complains 65 'user "no-such-user" is not in /etc/passwd'
explain --pipeline ml/train
t "--user defaults to the user who runs explain" says "container: user $(id -un) (uid $(id -u)), pipeline ml/train, job (none), by token"
shot "$d" >after
t "explain leaves no trace" cmp -s before after

policy 25-broken.conf <<-'E'
	pipeline = "ml/x";
	jbos = [ "fit" ];
E
explain --pipeline ml/train --job fit --user root
t "a policy before a broken file still grants" exits 0 "25-broken.conf: not asked: an earlier file grants"
explain --pipeline ml/train --user root
t "a broken file ends the search" exits 78 '25-broken.conf: broken, so the search ends here: 25-broken.conf:2: unknown key "jbos"; did you mean "jobs"?'
t "no file after a broken one is asked" says "30-all.conf: not asked: an earlier file is broken"
explain --pipeline ml/train --user root --json
t "a broken file in JSON" json "j['outcome'] == 'refused' and j['code'] == 78 and [p['verdict'] for p in j['policies']] == ['other', 'other', 'broken', 'not asked'] and j['policies'][2]['reason'].startswith('25-broken.conf:2: ')"
rm "$d/policy.d/25-broken.conf"
echo 'volumes = 1;' >"$d/gpuhelper.conf"
explain --pipeline ml/train --user root
t "broken settings" complains 78 "$d/gpuhelper.conf:1: volumes must be a list of strings: [ \"...\" ]"
explain --pipeline ml/train --user root --json
t "broken settings in JSON" json "j['code'] == 78"
rm "$d/gpuhelper.conf"
run explain --config-dir "$T/nowhere" --pipeline ml/train
t "no configuration" complains 78 "$T/nowhere: No such file or directory"
explain --pipeline ml/train --gpus 0
t "a bad number of GPUs" complains 65 'GPUHELPER_GPUS: "0" is not a count (1 to 64), VENDOR:COUNT, "all", "none", UUID, PCI address, rank ("#0") or CDI device'
explain --pipeline ml/train --folders usr
t "a bad folder" complains 65 'GPUHELPER_FOLDERS: path "usr" is not absolute'
explain --pipeline ml/train --instance-vars '[1]'
t "bad instance variables" complains 65 "BUILD_PIPELINE_INSTANCE_VARS: is JSON, but no object"
explain --pipeline train
t "a pipeline without a team" complains 64 'explain: --pipeline must be TEAM/PIPELINE, not "train"'
explain --pipeline ml/train --identity tokn
t "an unknown identity" complains 64 'explain: --identity must be token, claim or caller, not "tokn"'
explain
t "explain without a container" complains 64 "explain: give --bundle DIR, --pipeline TEAM/PIPELINE, --token-file FILE or --identity caller"
explain --bundle "$T" --gpus 1
t "--bundle together with --gpus" complains 64 "explain: the bundle says everything but the user: with --bundle, give only --user"

echo 'runtime = "/nowhere/runc";' >"$d/gpuhelper.conf"
explain --pipeline ml/train --job fit --user root
t "explain: a missing runtime" exits 77 "refused: runtime /nowhere/runc: No such file or directory"
tree kinds
policy 10-vars.conf <<-'E'
	pipeline = "ml/train"; instance_vars = { branch = "main"; pr = 7; };
	folders = ( { path = "/usr"; } );
E
policy 20-claim.conf <<-'E'
	pipeline = "ml/train"; identity = "claim"; callers = [ "nobody" ];
	folders = ( { path = "/usr"; } );
E
policy 30-caller.conf <<-'E'
	identity = "caller"; callers = [ "root" ];
	folders = ( { path = "/usr"; } );
E
explain --pipeline ml/train --user root --instance-vars '{"branch":"main","pr":7,"more":1}'
t "the policy's instance variables match" exits 0 "10-vars.conf: decides: covers the container, and allows the whole request"
explain --pipeline ml/train --user root --instance-vars '{"branch":"main","pr":"7"}'
t "an instance variable with another value" says '10-vars.conf: does not cover the container: instance variable "pr" is "7", and the policy is for 7'
t "a user who is not among a policy's callers" says "20-claim.conf: does not cover the container: user root is not among its callers"
mv "$d/policy.d/30-caller.conf" "$T/30-caller.conf"
explain --pipeline ml/train --user root --instance-vars '{"branch":["main"]}'
t "an instance variable of another type" says '10-vars.conf: does not cover the container: instance variable "branch" is a list, and the policy is for "main"'
t "the refusal says that the instance variables did not match" exits 77 "refused: no policy covers these instance variables of pipeline ml/train (by token) for user root"
explain --pipeline ml/train --user root --instance-vars '{"branch":"main"}'
t "an instance variable that is missing" says '10-vars.conf: does not cover the container: instance variable "pr" is not there, and the policy is for 7'
mv "$T/30-caller.conf" "$d/policy.d/30-caller.conf"
explain --identity caller --user nobody --folders all
t "a container without a pipeline that no policy covers" exits 77 "refused: no policy covers a container of user nobody that proves no pipeline: pass GPUHELPER_TOKEN"
explain --pipeline ml/train --user nobody --identity claim --folders all
t "a policy with identity claim covers a claim" exits 0 "20-claim.conf: decides: covers the container, and allows the whole request"
explain --identity caller --user root --folders all
t "a policy with identity caller covers the user's container" exits 0 "30-caller.conf: decides: covers the container, and allows the whole request"
t "--identity caller: the pipeline is unknown" says "container: user root (uid 0); pipeline unknown"
explain --identity caller --pipeline ml/train --user root --folders all
t "--identity caller: --pipeline is ignored" exits 0 "note: with --identity caller the pipeline is unknown: --pipeline is ignored"
explain --identity caller --user root
t "a container without a request gets nothing" exits 77 "plain (created without a grant): the container requests nothing: it has no GPUHELPER_TOKEN, GPUHELPER_GPUS or GPUHELPER_FOLDERS"
explain --identity caller --user root --json
t "explain: a plain container, as JSON" json "j['outcome'] == 'plain' and j['question']['identity'] == 'caller'"
echo 'grant_unasked = true;' >"$d/gpuhelper.conf"
explain --identity caller --user root
t "grant_unasked: a container without a request gets what the policy lists" exits 0 "granted by 30-caller.conf:"
explain --identity caller --user nobody
t "grant_unasked: not if no policy covers the container" sh -c '[ $1 = 77 ] && grep -q "^plain (created without a grant): no policy covers" out' - "$st"

tree issuers
policy 10-a.conf <<-'E'
	pipeline = "ml/train"; issuer = "https://a.example";
	folders = ( { path = "/usr"; } );
E
policy 20-b.conf <<-'E'
	pipeline = "ml/train";
	issuer = "https://b.example";
	folders = ( { path = "/opt"; } );
E
cp "$here/tests/fixtures/jwt/jwks.json" "$d/keys.json"
echo "issuers = ( { url = \"https://a.example\"; audience = \"g\"; keys = \"$d/keys.json\"; } );" >"$d/gpuhelper.conf"
check
t "check: a policy of an unknown issuer" exactly 0 <<-E
	$d/policy.d/20-b.conf:2: warning: gpuhelper.conf has no issuer https://b.example: the policy grants nothing
E
cp "$d/gpuhelper.conf" "$d/one"
sed 's|} );|}, { url = "https://b.example"; audience = "g"; keys = "/k/b.json"; } );|' "$d/one" >"$d/gpuhelper.conf"
policy 30-open.conf <<-'E'
	pipeline = "ml/eval";
	identity = "token";
	folders = ( { path = "/usr"; } );
E
policy 40-claim.conf <<-'E'
	pipeline = "ml/claim";
	identity = "claim";
	folders = ( { path = "/usr"; } );
E
check
t "check: two issuers, and a policy that takes tokens of any" exits 78 "$d/policy.d/30-open.conf:2: gpuhelper.conf has several issuers, so the policy grants nothing until it says whose tokens it accepts: issuer = \"https://a.example\""
explain --pipeline ml/eval --user root --issuer https://a.example
t "explain says that it grants nothing, and what to add" says '30-open.conf: does not cover the container: gpuhelper.conf has several issuers, and the policy does not say whose tokens it accepts: add issuer = "URL" there'
explain --pipeline ml/train --user root --issuer https://b.example
t "a policy that names its issuer grants" exits 0 "would be granted by 20-b.conf:"
t "explain says first that this issuer's tokens are refused, and why" [ "$(head -n 1 out)" = \
    "assumed: a valid token of this pipeline, but today this host would refuse each one: there are no keys of issuer https://b.example in /k/b.json yet: gpuhelperctl keys fetch" ]
mv "$d/one" "$d/gpuhelper.conf"
rm "$d/policy.d/30-open.conf" "$d/policy.d/40-claim.conf"
explain --pipeline ml/train --user root
t "--issuer defaults to the only issuer" exits 0 "granted by 10-a.conf:"
touch -d '3 days ago' "$d/keys.json"
explain --pipeline ml/train --user root
t "explain says first that the keys are too old for any token" [ "$(head -n 1 out)" = \
    "assumed: a valid token of this pipeline, but today this host would refuse each one: the keys in $d/keys.json are older than keys_max_age: gpuhelperctl keys fetch" ]
touch "$d/keys.json"
explain --pipeline ml/train --user root
t "explain says first that it judges without a token" [ "$(head -n 1 out)" = \
    "assumed: a valid token of this pipeline; none was given (--token-file FILE checks one)" ]
explain --pipeline ml/train --user root --issuer https://b.example
t "--issuer names another issuer" exits 0 "would be granted by 20-b.conf:"
t "explain says first that no issuer here can have signed the token" [ "$(head -n 1 out)" = \
    "assumed: a valid token of this pipeline, but today this host would refuse each one: https://b.example is not one of gpuhelper.conf's issuers" ]
t "a policy with another issuer does not cover the container" says "10-a.conf: does not cover the container: it accepts only tokens of issuer https://a.example"

# What the tokens of each CI do not say by themselves.
issuer() { # URL SETTINGS
	echo "issuers = ( { url = \"$1\"; audience = \"g\"; keys = \"$d/keys.json\"; $2 } );" >"$d/gpuhelper.conf"
}
# warned_of WHAT URL SETTINGS POLICY, and the texts on standard input, one a line: check warns of exactly these
warned_of() {
	issuer "$2" "$3"
	policy 10-a.conf <<-E
		issuer = "$2"; $4
		folders = ( { path = "/usr"; } );
	E
	check
	sed -n "s|^$d/[a-z./0-9-]*:[0-9]*: warning: ||p" out | cut -d: -f1 | cut -c1-60 >part
	mv part out
	cut -c1-60 >want
	t "check: $1" sh -c '[ $1 = 0 ] && cmp -s want out' - "$st"
}
rm "$d/policy.d/20-b.conf"
GITHUB=https://token.actions.githubusercontent.com
none() { warned_of "$@" </dev/null; }
warned_of "GitHub: a policy by its repository alone" $GITHUB 'pipeline = "repository";' 'pipeline = "octo/repo";' <<-'E'
	without event_name it covers pull requests
	without ref it covers every branch and tag, so whoever may pu
	without repository_id or repository_owner_id it covers whoeve
E
none "GitHub: a policy by event, ref and id" $GITHUB 'pipeline = "repository";' \
	'pipeline = "octo/repo"; claims = { event_name = "push"; ref = "refs/heads/main"; repository_id = "74"; };'
none "GitHub: the owner's id for all of the issuer's tokens" $GITHUB 'pipeline = "repository"; require = { repository_owner_id = "65"; };' \
	'pipeline = "octo/*"; claims = { event_name = "push"; ref = "refs/heads/main"; job_workflow_ref = "a/b/.github/workflows/c.yml@refs/heads/main"; };'
warned_of "GitHub: claims that take any text" $GITHUB 'pipeline = "repository";' \
	'pipeline = "octo/repo"; claims = { event_name = "*"; ref = [ "refs/heads/main", "*" ]; repository_id = "74"; };' <<-'E'
	without event_name it covers pull requests
	without ref it covers every branch and tag, so whoever may pu
	event_name takes pull_request_target
E
warned_of "GitHub: job_workflow_ref without an id" $GITHUB 'pipeline = "repository";' \
	'pipeline = "octo/repo"; claims = { event_name = "push"; ref = "refs/heads/main"; job_workflow_ref = "a/b/.github/workflows/c.yml@refs/heads/main"; };' <<-'E'
	without repository_id or repository_owner_id it covers whoeve
	job_workflow_ref names the workflow that is called, not who c
E
warned_of "GitHub: pull_request_target" $GITHUB 'pipeline = "repository";' \
	'pipeline = "octo/repo"; claims = { event_name = [ "push", "pull_request_*" ]; ref = "refs/heads/main"; repository_id = "74"; };' <<-'E'
	event_name takes pull_request_target
E
warned_of "GitHub Enterprise Server is known, too" https://ghe.example/_services/token 'pipeline = "repository"; require = { repository_owner_id = "65"; };' \
	'pipeline = "octo/repo"; claims = { ref = "refs/heads/main"; };' <<-'E'
	without event_name it covers pull requests
E
warned_of "Forgejo: a policy by its repository alone" https://forgejo.example/api/actions 'pipeline = "repository"; reuse_by = "sha";' 'pipeline = "octo/repo";' <<-'E'
	reuse_by = "sha"
	without event_name it covers pull requests
	without ref it covers every branch and tag, so whoever may pu
	without repository_id or repository_owner_id it covers whoeve
E
warned_of "GitLab: a policy by its project alone" https://gitlab.example 'pipeline = "project_path";' 'pipeline = "group/sub/project";' <<-'E'
	without ref_protected it covers every branch and merge reques
	without job_project_id (from GitLab 18.3) it does not say whe
	without project_id it covers whoever registers the name of th
E
none "GitLab: a policy by protected refs and the job's project" https://gitlab.example 'pipeline = "project_path"; reuse_by = "job_id";' \
	'pipeline = "group/sub/project"; claims = { ref_protected = "true"; job_project_id = "20"; };'
warned_of "Buildkite: a policy for every organization" https://agent.buildkite.com 'team = "organization_slug"; pipeline = "pipeline_slug";' \
	'pipeline = "*/app"; claims = { build_branch = "main"; };' <<-'E'
	without organization_id it covers every organization
	without organization_id or pipeline_id it covers whoever regi
	build_branch is also the name of a tag
E
none "Buildkite: a policy by id, branch and no tag" https://agent.buildkite.com 'team = "organization_slug"; pipeline = "pipeline_slug"; require = { organization_id = "1"; };' \
	'pipeline = "acme/app"; claims = ( { claim = "build_branch"; value = "main"; }, { claim = "build_tag"; absent = true; } );'
warned_of "CircleCI: a policy by its project alone" https://oidc.circleci.com/org/1 'team = "aud2"; pipeline = "oidc.circleci.com/project-id";' 'pipeline = "a/b";' <<-'E'
	without oidc.circleci.com/vcs-origin it covers pull requests
E
warned_of "CircleCI: a policy by its repository alone" https://oidc.circleci.com/org/1 'pipeline = "oidc.circleci.com/vcs-origin";' 'pipeline = "github.com/a/b";' <<-'E'
	without oidc.circleci.com/project-id it covers whoever regist
E
warned_of "Bitbucket: a policy by its repository alone" https://api.bitbucket.org/2.0/x 'team = "workspaceUuid"; pipeline = "repositoryUuid"; reuse_by = "repositoryUuid";' 'pipeline = "{1}/{2}";' <<-'E'
	reuse_by = "repositoryUuid"
	without branchName or deploymentEnvironmentUuid it covers eve
E
none "Concourse: nothing" https://ci.example '' 'pipeline = "ml/train";'
none "another CI: nothing, and a name with groups is one" https://jenkins.example/oidc 'pipeline = "job_name";' 'pipeline = "ml/train/main";'
issuer https://gitlab.example 'pipeline = "project_path";'
policy 10-a.conf <<-'E'
	pipeline = "group/sub/project"; issuer = "https://gitlab.example";
	claims = { ref_protected = "true"; ref = [ "main", "v*" ]; job_project_id = "20"; };
	folders = ( { path = "/usr"; } );
E
explain --pipeline group/sub/project --user root --claims '{"ref_protected":"true","ref":"v2","job_project_id":"20"}'
t "explain --claims: these claims are covered" exits 0 "granted by 10-a.conf:"
explain --pipeline group/sub/project --user root --claims '{"ref_protected":true,"ref":"v2","job_project_id":"20"}'
t "explain --claims: a value of another type is not" exits 77 '10-a.conf: does not cover the container: claim "ref_protected" is true, and the policy is for "true"'
t "the refusal names the claim" says 'refused: no policy covers these claims of pipeline group/sub/project (by token) for user root: 10-a.conf: claim "ref_protected" is true, and the policy is for "true"'
explain --pipeline group/sub/project --user root
t "without --claims the token has none" exits 77 '10-a.conf: does not cover the container: claim "ref_protected" is not there, and the policy is for "true"'
explain --pipeline group/sub/project --user root --claims '{"ref_protected":"true","ref":"x","job_project_id":"20"}' --json
t "explain --claims --json has them" json "j['question']['further_claims'] == {'ref_protected': 'true', 'ref': 'x', 'job_project_id': '20'}"
explain --pipeline group/sub/project --user root --claims '[]'
t "--claims must be an object" complains 65 "claims: is JSON, but no object"
run show-config --config-dir "$d"
t "show-config has an issuer's claims, and a policy's" sh -c 'grep -qx "gpuhelper.conf issuers\[0\].pipeline \"project_path\"" out && grep -qx "gpuhelper.conf issuers\[0\].token_bytes 8192" out &&
	! grep -q "issuers\[0\].team" out && grep -qx "10-a.conf claims.ref\[1\] \"v\*\"" out && grep -qx "10-a.conf claims.job_project_id \"20\"" out'
cat >tests.test <<-'E'
	tests = (
	  { name = "main"; pipeline = "group/sub/project"; claims = { ref_protected = "true"; ref = "main"; job_project_id = "20"; }; expect = "granted"; },
	  { name = "other"; pipeline = "group/sub/project"; claims = ( { claim = "ref_protected"; value = "false"; } ); expect = "refused"; reason = "is \"false\""; } );
E
run test --config-dir "$d" tests.test
t "test: claims of a test's token" exits 0 "2 passed, 0 failed"
policy 10-a.conf <<-'E'
	pipeline = "ml/train"; issuer = "https://a.example";
	folders = ( { path = "/usr"; } );
E
echo "issuers = ( { url = \"https://a.example\"; audience = \"g\"; keys = \"$d/keys.json\"; } );" >"$d/gpuhelper.conf"
rm "$d/keys.json"
check
t "check: missing keys" exactly 0 <<-E
	$d/gpuhelper.conf:1: warning: issuer https://a.example: its tokens are refused: there are no keys of issuer https://a.example in $d/keys.json yet: gpuhelperctl keys fetch
E
# keys WHAT LINE: check prints LINE about the keys
keys() { check; t "check: keys: $1" exactly 0 <<-E
	$d/gpuhelper.conf:1: warning: issuer https://a.example: its tokens are refused: $2
E
}
mkdir "$d/keys.json"
keys "a directory" "$d/keys.json is not a regular file"
rmdir "$d/keys.json"
echo '{' >"$d/keys.json"
keys "no JSON" "$d/keys.json: is not JSON from line 2, column 0 on"
cp "$here/tests/fixtures/jwt/jwks.json" "$d/keys.json"
touch -d '3 days ago' "$d/keys.json"
keys "too old" "the keys in $d/keys.json are older than keys_max_age: gpuhelperctl keys fetch"

echo "# explain --bundle"
d=$T/kinds
bundle() { # ENV-JSON [MOUNTS] [MORE-OF-PROCESS] [NAMESPACES]
	mkdir -p "$T/b/rootfs"
	cat >"$T/b/config.json" <<-E
		{"ociVersion":"1.0.2","process":{"user":{"uid":0,"gid":0},"env":[$1]${3:-}},"root":{"path":"rootfs"},
		"mounts":[${2:-}],"linux":{"namespaces":[${4:-}]}}
	E
}
claims='"BUILD_TEAM_NAME=ml","BUILD_PIPELINE_NAME=train"'
echo 'privileged = "hide-gpus";' >"$d/gpuhelper.conf"
bundle "$claims,\"GPUHELPER_FOLDERS=all\",\"BUILD_JOB_NAME=fit\""
shot "$T/b" >before
explain --bundle "$T/b" --user nobody
t "a bundle: its claims and its request" exactly 0 <<-E
	container: user nobody (uid 65534), pipeline ml/train, job fit, by claim
	requests: gpus none; folders all
	10-vars.conf: does not cover the container: the caller is not in group gpuhelper
	20-claim.conf: decides: covers the container, and allows the whole request
	30-caller.conf: not asked: an earlier file grants
	granted by 20-claim.conf:
	  folder /usr ro at /usr
	$leases
	$nodes
E
(cd "$T/b" && "$ctl" explain --config-dir "$d" -b . --user nobody --json) >out 2>err; st=$?
t "a bundle by a relative path, as JSON" json "j['policy'] == '20-claim.conf' and j['question']['job'] == 'fit' and j['question']['folders'] == 'all' and j['notes'] == []"
shot "$T/b" >after
t "explain does not change the bundle" cmp -s before after
bundle "$claims"
explain --bundle "$T/b" --user nobody
t "a bundle without a request" exits 77 "requests: nothing"
t "a bundle without a request asks no policy" says "20-claim.conf: not asked: the request is decided before any policy"
bundle "$claims,\"GPUHELPER_FOLDERS=/usr\",\"GPUHELPER_FOLDERS=/opt\""
explain --bundle "$T/b" --user nobody
t "a bundle with a variable twice" complains 65 "config.json: GPUHELPER_FOLDERS is given 2 times: give it once"
bundle "$claims,\"BUILD_PIPELINE_INSTANCE_VARS=7\",\"GPUHELPER_FOLDERS=/usr\""
explain --bundle "$T/b" --user nobody
t "a bundle with bad instance variables" is 65
bundle "$claims,\"GPUHELPER_FOLDERS=/usr\",\"GPUHELPER_TOKEN=x.y.z\""
explain --bundle "$T/b" --user nobody
t "a bundle with a token, without issuers" complains 78 "GPUHELPER_TOKEN: gpuhelper.conf lists no token issuers: add one to issuers"
t "the refusal does not contain the token" hasnt x.y.z
# makes a key, and tokens of it: ES256 by RFC 7515 and FIPS 186-4, with only Python's own integers
cat >sign.py <<-'E'
	import base64, hashlib, json, secrets, sys
	P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffff
	N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551
	G = (0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296,
	     0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5)
	def add(a, b):
	    if a is None or b is None:
	        return a or b
	    if a[0] == b[0] and (a[1] + b[1]) % P == 0:
	        return None
	    s = (3 * a[0] * a[0] - 3) * pow(2 * a[1], -1, P) if a == b else (b[1] - a[1]) * pow(b[0] - a[0], -1, P)
	    x = (s * s - a[0] - b[0]) % P
	    return x, (s * (a[0] - x) - a[1]) % P
	def times(k, p):
	    r = None
	    while k:
	        r, p, k = add(r, p) if k & 1 else r, add(p, p), k >> 1
	    return r
	b64 = lambda b: base64.urlsafe_b64encode(b).rstrip(b'=').decode()
	num = lambda n: n.to_bytes(32, 'big')
	d = int(hashlib.sha256(b'ctl.sh').hexdigest(), 16) % N
	Q = times(d, G)
	if sys.argv[1] == 'keys':
	    print(json.dumps({'keys': [{'use': 'sig', 'kty': 'EC', 'kid': '7', 'crv': 'P-256', 'alg': 'ES256',
	                                'x': b64(num(Q[0])), 'y': b64(num(Q[1]))}]}))
	    sys.exit()
	text = b64(b'{"alg":"ES256","kid":"7"}') + '.' + b64(sys.argv[1].encode())
	k = secrets.randbelow(N - 1) + 1
	r = times(k, G)[0] % N
	s = pow(k, -1, N) * (int(hashlib.sha256(text.encode()).hexdigest(), 16) + r * d) % N
	print(text + '.' + b64(num(r) + num(s)))
E
token() { # SECONDS-AGO AUDIENCE
	now=$(date +%s)
	python3 "$T/sign.py" "{\"iss\":\"https://ci.example\",\"aud\":[\"$2\"],\"sub\":\"ml/train\",\"iat\":$((now - $1)),\"exp\":$((now + 1000)),\"team\":\"ml\",\"pipeline\":\"train\",\"job\":\"fit\",\"instance_vars\":{\"branch\":\"main\",\"pr\":7}}"
}
python3 sign.py keys >keys.json
echo "privileged = \"hide-gpus\"; issuers = ( { url = \"https://ci.example\"; audience = \"gpuhelper\"; keys = \"$T/keys.json\"; } );" >"$d/gpuhelper.conf"
tok=$(token 10 gpuhelper)
bundle "\"BUILD_TEAM_NAME=web\",\"GPUHELPER_TOKEN=$tok\""
explain --bundle "$T/b" --user root
t "a bundle with a valid token" exits 0 "10-vars.conf: decides: covers the container, and allows the whole request"
t "the token names the pipeline" says "container: user root (uid 0), pipeline ml/train, job fit, by token"
t "a token without a request requests everything" says "requests: everything that the policy lists"
t "explain prints each check of the token" sh -c '[ "$(grep -c "^token, [a-z_]*: ok" out)" -ge 15 ]'
t "a note says that the token's reuse was not checked" says "note: not checked: whether another container has used the token already"
t "explain does not print the token" hasnt "$(echo "$tok" | cut -d. -f3)"
explain --bundle "$T/b" --user root --json
t "JSON has each check of the token" json "all(c['result'] == 'ok' for c in j['token']) and 'signature' in [c['check'] for c in j['token']] and j['question']['issuer'] == 'https://ci.example'"
bundle "\"GPUHELPER_TOKEN=$(token 7200 other)\""
explain --bundle "$T/b" --user root
t "a bundle with an invalid token" sh -c '[ $1 = 77 ] && grep -q "^token, signature: ok" out && grep -q "^token, aud: fails: " out && grep -q "^token, max_age: fails: " out && grep -q "^refused: GPUHELPER_TOKEN: " out' - "$st"
t "an invalid token asks no policy" says "20-claim.conf: not asked: the request is decided before any policy"
bundle "\"GPUHELPER_TOKEN=$(token 10 gpuhelper | sed 's/.....$/AAAAA/')\""
explain --bundle "$T/b" --user root
t "a bundle with a token with a wrong signature" sh -c '[ $1 = 77 ] && grep -q "^token, signature: fails: " out' - "$st"
rm "$T/keys.json"
explain --bundle "$T/b" --user root
t "explain: the issuer's keys are missing" sh -c '[ $1 = 78 ] && grep -q "no keys of issuer https://ci.example" err' - "$st"
echo '{"keys":[]}' >keys.json
explain --bundle "$T/b" --user root
t "explain: a key file without keys" is 78
run keys show --config-dir "$d"
t "keys show: a key file without keys" is 78
run keys show --config-dir "$d" --json
t "keys show: a key file without keys, as JSON" json "$st == 78 and j['issuers'][0]['code'] == 78 and j['issuers'][0]['file'] == '$T/keys.json'"
run keys import --config-dir "$d" --issuer https://ci.example keys.json
t "keys import: a file without keys" is 65
rm "$T/keys.json"
run keys show --config-dir "$d"
t "keys show: missing keys" is 78
echo 'privileged = "hide-gpus";' >"$d/gpuhelper.conf"
bundle "$claims,\"GPUHELPER_FOLDERS=/usr\"" '{"destination":"/usr/lib","type":"bind","source":"/opt","options":["bind"]}'
explain --bundle "$T/b" --user nobody
t "a mount that would cover a grant" exits 77 "refused: the container mounts /usr/lib, which would cover or lie in /usr that is granted to it: move that input, output or cache elsewhere"
t "the policy's decision is still printed" says "20-claim.conf: decides: covers the container, and allows the whole request"
explain --bundle "$T/b" --user nobody --json
t "refused by the host, as JSON" json "j['outcome'] == 'refused' and j['code'] == 77 and 'gives' not in j and [p['verdict'] for p in j['policies']] == ['other', 'grants', 'not asked']"
bundle "$claims,\"GPUHELPER_FOLDERS=/usr\""
sed -i 's,"rootfs","/usr",' "$T/b/config.json"
explain --bundle "$T/b" --user nobody
t "a root filesystem outside of bundle and volumes" sh -c '[ $1 = 77 ] && grep -q "^refused: root.path /usr is not beneath" out' - "$st"
sed -i 's,"GPUHELPER_FOLDERS=/usr","X=1",' "$T/b/config.json"
explain --bundle "$T/b" --user nobody
t "a bundle without a request is refused for its root filesystem, too" sh -c '[ $1 = 77 ] && grep -q "^refused: root.path /usr is not beneath" out' - "$st"
bundle "$claims,\"GPUHELPER_FOLDERS=/home\""
sed -i 's,"rootfs","/usr",' "$T/b/config.json"
explain --bundle "$T/b" --user nobody
t "a bundle that its policy refuses has a note about its root filesystem" sh -c '[ $1 = 77 ] && grep -q "^note: gpuhelper-runc would refuse the container: root.path /usr" out && grep -q "^refused: 20-claim.conf: it does not give folder /home" out' - "$st"
bundle "$claims,\"GPUHELPER_FOLDERS=/usr\""
sed -i 's/"mounts"/"annotations":{"run.oci.hooks.stdout":"x"},"mounts"/' "$T/b/config.json"
explain --bundle "$T/b" --user nobody
t "an annotation that a runtime takes for an order" sh -c '[ $1 = 77 ] && grep -q "^refused: annotation run.oci.hooks.stdout tells the runtime" out' - "$st"
bundle "$claims,\"GPUHELPER_FOLDERS=/usr\"" "" ',"capabilities":{"bounding":["CAP_SYS_ADMIN"]}'
echo 'privileged = "deny";' >"$d/gpuhelper.conf"
explain --bundle "$T/b" --user nobody
t "privileged = \"deny\": a privileged container" exits 77 'refused: privileged containers are not allowed on this host (privileged = "deny" in gpuhelper.conf), and this one is: it has CAP_SYS_ADMIN: leave that out, or give it a user namespace, or pass the GPUHELPER_TOKEN of a pipeline whose policy says privileged = true'
echo 'privileged = "hide-gpus";' >"$d/gpuhelper.conf"
esc=$(printf '\\u001b[31m')
bundle "\"BUILD_TEAM_NAME=ml\",\"BUILD_PIPELINE_NAME=$esc\",\"GPUHELPER_FOLDERS=/usr\""
explain --bundle "$T/b" --user nobody
t "a pipeline's name can't send control codes to the terminal" sh -c '[ $1 = 77 ] && grep -q "pipeline ml/\"?\[31m\", job" out && ! grep -q "$(printf "\033")" out' - "$st"
explain --bundle "$T/b" --user nobody --json
t "JSON has no control codes of a pipeline's name" json "j['question']['pipeline'] == '?[31m'"
echo '{' >"$T/b/config.json"
explain --bundle "$T/b"
t "a bundle that is no JSON" is 65
explain --bundle "$T/nowhere"
t "a bundle that is not there" complains 65 "bundle $T/nowhere: No such file or directory"

echo "# show-config"
tree shown
policy 10-a.conf <<-'E'
	pipeline = "ml/train"; jobs = [ "fit" ]; instance_vars = { pr = { n = 17; }; };
	gpus = ( { vendor = "nvidia"; devices = [ "0" ]; sharing = "shared"; share_limit = 3; },
	         { vendor = "nvidia.com/gpu"; nodes = [ "imex=9", "gdrdrv" ]; } );
	max_gpus = 4; max_waiting = 9; priority = 7;
	folders = ( { path = "/srv/x"; access = "rw"; target = "/x"; } );
	env = { SECRET = "s3cret"; };
E
policy 20-b.conf <<-'E'
	?
E
run show-config --config-dir "$d"
t "show-config: a default" says 'gpuhelper.conf idle "give-back"'
t "show-config: the values of a policy" sh -c '[ $1 = 0 ] && grep -qxF "10-a.conf gpus[0].share_limit 3" out && grep -qxF "10-a.conf folders[0].access \"rw\"" out &&
    grep -qxF "10-a.conf instance_vars.pr.n 17" out && grep -qxF "10-a.conf gpus[1].nodes[0] \"gdrdrv\"" out &&
    grep -qxF "10-a.conf gpus[1].nodes[1] \"imex=9\"" out && grep -qxF "10-a.conf priority 7" out' - "$st"
t "show-config: variables without their values" sh -c 'grep -qxF "10-a.conf env[0] \"SECRET\"" out && ! grep -q s3cret out'
t "show-config: a broken policy is named with its error" grep -q '^20-b.conf broken "20-b.conf:1: ' out
run show-config --config-dir "$d" --json
# its members are the keys in gpuhelper.conf(5) and gpuhelper-policy(5)
t "show-config as JSON" python3 -c 'import json; j = json.load(open("out"))
assert j["settings"]["max_wait"] == 43200 and j["policies"][0]["gpus"][0]["devices"] == ["0"] and j["policies"][1]["file"] == "20-b.conf"'
# every possible key of settings and policies is shown
sed -n '/^static const struct conf_key keys/,/NULL, NULL/s/.*{ "\([a-z_]*\)".*/\1/p' "$here/helper/read/conf/settingsread.c" | grep -vx first_exec | sort >keys
python3 -c 'import json; print(*sorted(json.load(open("out"))["settings"]), "runtime", sep="\n")' | sort >has
t "show-config: every setting has a line" diff keys has
sed -n '/^static const struct conf_key policy_keys/,/NULL, NULL/s/.*{ "\([a-z_]*\)".*/\1/p' "$here/helper/read/conf/policyread.c" | grep -vx 'issuer\|callers' | sort >keys
python3 -c 'import json; print(*sorted(set(json.load(open("out"))["policies"][0]) - {"file"}), sep="\n")' >has
t "show-config: every key of a policy has a line" diff keys has
echo 'privileged = "?";' >"$d/gpuhelper.conf"
run show-config --config-dir "$d"
t "show-config: broken settings" complains 78 "$d/gpuhelper.conf:1: privileged must be one of \"deny\", \"hide-gpus\", \"allow\""

echo "# test"
tree tested
for f in 10-train 20-pull-requests; do cp "$here/policy.d/$f.conf.example" "$d/policy.d/$f.conf"; done
python3 - >gpus.json <<'E'
import json
node = {"path": "/dev/nvidia0", "major": 195, "minor": 0, "optional": False, "state": "ok", "text": "ok"}
def gpu(n):
    return {"vendor": "nvidia", "rank": n, "pci": "0000:%02x:00.0" % (59 + n), "part": "", "integrated": False,
            "uuid": "GPU-00000000-0000-0000-0000-00000000000%d" % n, "model": "A100", "nodes": [dict(node, minor=n, path="/dev/nvidia%d" % n)]}
print(json.dumps({"gpus": [gpu(0), gpu(1)], "common": {"nvidia": [dict(node, path="/dev/nvidiactl", minor=255)]},
                  "absent": {"amd": "no", "intel": "no"}, "cdi_problem": ""}))
E
tested() { run test --config-dir "$d" --devices gpus.json "$@"; }
tested "$here/policy.d/policies.test.example"
t "test: the example tests pass with the example policies" exactly 0 <<-'E'
	6 passed, 0 failed
E
cat >p.test <<-'E'
	tests = (
	{ name = "builds"; pipeline = "ml/images"; privileged = true; expect = "granted"; policy = "30-images.conf"; },
	{ name = "a pull request"; pipeline = "ml/pull-requests"; privileged = true; expect = "refused"; reason = "privileged = true"; },
	{ name = "a claim"; pipeline = "ml/images"; identity = "claim"; gpus = "none"; privileged = true; expect = "refused"; reason = "privileged containers are not allowed"; }
	);
E
cp "$here/policy.d/30-images.conf.example" "$d/policy.d/30-images.conf"
tested p.test
t "test: privileged containers" exactly 0 <<-'E'
	note: no passed test has a grant by 10-train.conf
	note: no passed test has a grant by 20-pull-requests.conf
	3 passed, 0 failed
E
run explain --config-dir "$d" --pipeline ml/images
t "explain says what privileged = true means" says "  it may be privileged, and is the host's root then"
run explain --config-dir "$d" --pipeline ml/images --json
t "  as JSON, too" json "j['gives']['privileged'] is True"
rm "$d/policy.d/30-images.conf"
tested -v "$here/policy.d/policies.test.example"
t "test -v names the tests that pass" says "$here/policy.d/policies.test.example:5: training gets a GPU and its folders: ok"
cat >a.test <<-'E'
	tests = (
	{ name = "one"; pipeline = "ml/train"; job = "fit"; gpus = "1"; expect = "refused"; },
	{ name = "two"; pipeline = "ml/train"; job = "fit"; gpus = "2"; expect = "granted"; },
	{ name = "three"; pipeline = "ml/train"; job = "fit"; gpus = "1"; expect = "granted"; policy = "20-x.conf"; },
	{ name = "four"; pipeline = "ml/train"; job = "fit"; folders = "all"; expect = "granted"; given = { gpus = 1; folders = [ "/srv/datasets:rw" ]; }; },
	{ name = "five"; pipeline = "ml/train"; gpus = "1"; expect = "refused"; reason = "the moon"; },
	{ name = "six"; identity = "caller"; user = "nobody-of-this-name"; gpus = "1"; expect = "refused"; },
	{ name = "seven"; pipeline = "ml/other"; expect = "plain"; },
	{ name = "eight"; pipeline = "ml/train"; gpus = "0x"; expect = "refused"; }
	);
E
run test --config-dir "$d" --devices gpus.json a.test
t "test: each failure says what differs" exactly 77 <<-'E'
	a.test:2: one: expected refused, got granted by 10-train.conf
	a.test:3: two: expected granted, got refused: 10-train.conf: 2 GPUs asked for, and it gives a container at most 1
	a.test:4: three: expected a grant by 20-x.conf, got one by 10-train.conf
	a.test:5: four: 10-train.conf grants 0 GPUs instead of 1, unexpected folder /srv/datasets:ro, unexpected folder /srv/outputs/train:rw, no folder /srv/datasets:rw
	a.test:6: five: expected a reason with "the moon", got: no policy covers this job of pipeline ml/train (by token) for user root
	a.test:7: six: user "nobody-of-this-name" is not in /etc/passwd
	a.test:8: seven: expected plain, got refused: no policy covers pipeline ml/other (by token) for user root
	note: no passed test has a grant by 10-train.conf
	note: no passed test has a grant by 20-pull-requests.conf
	1 passed, 7 failed
E
run test --config-dir "$d" --devices gpus.json a.test --json
t "test as JSON" json "not j['ok'] and j['passed'] == 1 and j['tests'][0] == {'name': 'one', 'line': 2, 'passed': False, 'message': 'expected refused, got granted by 10-train.conf'} and len(j['untested']) == 2"
echo 'tests = ();' >b.test
tested b.test
t "test: a file without tests fails" complains 78 "b.test: has no tests; the form is tests = ( { name = ...; }, ... );"
printf 'tests = ( { name = "x"; expect = "granted"; },\n{ name = "y"; pipeline = "a/b"; expect = "grant"; } );\n' >b.test
tested b.test
t "test: a request without a pipeline" complains 78 'b.test:1: a test needs a pipeline, or identity = "caller"'
echo 'tests = ( { name = "x"; pipeline = "a/b"; expect = "refused"; given = { gpus = 1; }; } );' >b.test
tested b.test
t "test: given without expect = \\\"granted\\\"" complains 78 'b.test:1: policy and given need expect = "granted"'
for j in '[]' '{}' '{"gpus": [{}]}' '{"gpus": [{"vendor": "nvidia", "pci": "x", "rank": 0}]}' '{"gpus": [{"vendor": "nvidia", "pci": "0000:01:00.0"}]}' \
    '{"gpus": [{"vendor": "nvidia", "rank": 0, "nodes": [{"path": "x"}]}]}' "{\"gpus\": [{\"vendor\": \"amd\", \"rank\": 0, \"model\": \"$(printf %099d 0)\"}]}"; do
	echo "$j" >bad.json
	run test --config-dir "$d" --devices bad.json a.test
	t "test: invalid GPUs: $(echo "$j" | cut -c -60)" sh -c '[ $1 = 65 ] && [ ! -s out ] && grep -q "^gpuhelperctl: bad.json: " err' - "$st"
done

echo "# check --against"
python3 - >hosts.json <<'E'
import json
node = {"path": "/dev/nvidia0", "major": 195, "minor": 0, "optional": False, "state": "ok", "text": "ok"}
def gpu(n, vendor="nvidia", **more):
    return dict({"vendor": vendor, "rank": n, "pci": "0000:%02x:00.0" % (16 + n), "part": "", "integrated": False,
                 "model": "A100", "nodes": [dict(node, minor=n, path="/dev/nvidia%d" % n)]}, **more)
def host(*gpus):
    return {"gpus": gpus, "common": {"nvidia": [dict(node, path="/dev/nvidiactl", minor=255)]}, "absent": {"amd": "no GPU"}, "cdi_problem": ""}
print(json.dumps({"w1": host(gpu(0), gpu(1)), "w2": host(gpu(0), gpu(0, "amd", model="MI300X", uuid="0x0000000000000001")),
                  "w3": host(gpu(0, "intel", integrated=True))}))
E
against() { run check --config-dir "$d" --against hosts.json "$@"; }
tree fleet
policy 10-a.conf <<-'E'
	pipeline = "ml/a";
	gpus = ( { vendor = "nvidia"; devices = [ "0" ]; }, { vendor = "nvidia"; count = 2; } );
E
policy 20-b.conf <<-'E'
	pipeline = "ml/b"; callers = [ "nobody-here" ];
	gpus = ( { vendor = "nvidia"; count = 4; },
	         { vendor = "amd"; devices = [ "0x0000000000000002" ]; },
	         { vendor = "intel"; } );
E
against
t "check --against: rules that no host can serve, and GPUs that no policy grants" exactly 0 <<-'E'
	20-b.conf:2: warning: count = 4: no host has that many GPUs for this rule; w1 has the most: 2
	20-b.conf:3: warning: this rule grants no GPU of any host: w1: no amd GPU can be granted: no GPU
	20-b.conf:4: warning: this rule grants no GPU of any host: w1: this host has 0 of the intel GPUs that this rule names (gpuhelperctl devices lists them)
	w2: warning: no policy grants amd GPU 0000:10:00.0 0x0000000000000001 (MI300X)
E
against --strict
t "check --against --strict" is 78
against --json
t "check --against as JSON" json "j['ok'] and j['warnings'] == 4 and j['hosts'] == 3 and j['findings'][3]['host'] == 'w2' and j['findings'][0]['line'] == 2"
echo 'allow_integrated = true;' >"$d/gpuhelper.conf"
against -v
t "check --against: the settings apply" sh -c 'grep -qx "hosts: 3, policies: 2, warnings: 3" out && ! grep -q "20-b.conf:4" out'
echo '{}' >none.json
run check --config-dir "$d" --against none.json
t "check --against: no hosts" complains 65 'none.json: names no host; the form is {"HOST": output of «devices --json», ...}'
echo '{"w1": {"gpus": [{"vendor": "nvidia"}]}}' >none.json
run check --config-dir "$d" --against none.json
t "check --against: invalid GPUs" sh -c '[ $1 = 65 ] && grep -q "^gpuhelperctl: none.json: host w1: " err' - "$st"
run check --against hosts.json "$d"
t "check --against: together with a file argument" complains 64 "check: --against takes the policies from --config-dir: name no files"
echo '?' >"$d/policy.d/30-c.conf"
against
t "check --against: a broken policy" sh -c '[ $1 = 78 ] && grep -q "30-c.conf:1: " err' - "$st"

echo "# edit"
tree edited
cp "$here/policy.d/10-train.conf.example" "$d/policy.d/10-train.conf"
chmod 640 "$d/policy.d/10-train.conf"
cat >ed <<-'E'
	#!/bin/sh
	# Stands in for an editor: changes the file as $DO says, and reports the mode of its directory.
	stat -c %a "${1%/gpuhelper-edit*}"/gpuhelper-edit.* >"${0%/*}/mode"
	echo "$1" >"${0%/*}/name"
	eval "$DO"
E
chmod 755 ed
export TMPDIR="$T"
edit() { DO=$1 EDITOR=$T/ed run edit --config-dir "$d" "$2" </dev/null; }
nothing_left() { ! ls -d "$T"/gpuhelper-edit.* >/dev/null 2>&1; }
before=$(shot "$d")
edit : 10-train.conf
t "edit: nothing changed" exits 0 "$d/policy.d/10-train.conf: unchanged"
t "edit: only the user can read the copy, which has the file's name" sh -c '[ "$(cat mode)" = 700 ] && grep -q "/10-train.conf$" name'
edit 'echo "bogus = 1;" >>"$1"' 10-train.conf
t "edit: a copy with errors is not installed" is 78
t "edit: the error names its line" says "$d/policy.d/10-train.conf:$(($(wc -l <"$d/policy.d/10-train.conf") + 1)): unknown key \"bogus\""
t "edit: the file is unchanged after an error" [ "$before" = "$(shot "$d")" ]
edit 'exit 1' 10-train.conf
t "edit: an editor that fails" complains 74 'the editor ($VISUAL, else $EDITOR, else vi) failed: nothing has changed'
DO=: EDITOR="$T/ed -x" run edit --config-dir "$d" 10-train.conf </dev/null
t "edit: an editor with an option" sh -c '[ $1 = 0 ] && [ "$(cat name)" = -x ]' - "$st"
VISUAL='' EDITOR=no-such-editor run edit --config-dir "$d" 10-train.conf </dev/null
t "edit: an editor that is not installed, in one line" complains 69 'the editor no-such-editor is not installed: set EDITOR to another one'
(unset VISUAL EDITOR; PATH=$T/nowhere "$ctl" edit --config-dir "$d" 10-train.conf </dev/null >"$T/out" 2>"$T/err"; echo $? >"$T/st")
st=$(cat st)
t "edit: neither EDITOR nor vi" complains 69 'the editor vi is not installed: set EDITOR to another one'
edit 'echo "# more" >>"$1"' policy.d/10-train.conf
t "edit: a change" exits 0 "$d/policy.d/10-train.conf: changed"
t "edit: the change is installed, and the mode stays" sh -c 'tail -1 "$1" | grep -qx "# more" && [ "$(stat -c %a "$1")" = 640 ]' - "$d/policy.d/10-train.conf"
edit 'echo "pipeline = \"a/b\";" >"$1"' "$d/policy.d/30-new.conf"
t "edit: a new file" exits 0 "$d/policy.d/30-new.conf: created"
edit : 40-new.conf
t "edit: a new file that the editor did not write" exits 0 "$d/policy.d/40-new.conf: not created"
edit 'echo "privileged = 1;" >"$1"' gpuhelper.conf
t "edit: broken settings" is 78
edit 'echo "max_wait = 5;" >"$1"' gpuhelper.conf
t "edit: settings" sh -c '[ $1 = 0 ] && grep -qx "max_wait = 5;" "$2"' - "$st" "$d/gpuhelper.conf"
echo '?' >"$d/policy.d/50-broken.conf"
edit 'echo "# again" >>"$1"' 10-train.conf
t "edit: an error in another file does not prevent a change" exits 0 "$d/policy.d/10-train.conf: changed"
edit 'echo "pipeline = \"a/b\";" >"$1"' 50-broken.conf
t "edit: a broken file can be repaired" exits 0 "$d/policy.d/50-broken.conf: changed"
edit "echo '# theirs' >>'$d/policy.d/10-train.conf'; echo '# ours' >>\"\$1\"" 10-train.conf
t "edit: the file was changed by somebody else meanwhile" sh -c '[ $1 = 75 ] && grep -qxF "$2" err' - "$st" "gpuhelperctl: $d/policy.d/10-train.conf was changed by somebody else in the meantime: your text is in $(cat name)"
t "edit: both versions still exist" sh -c 'tail -1 "$1" | grep -qx "# theirs" && tail -1 "$2" | grep -qx "# ours"' - "$d/policy.d/10-train.conf" "$(cat name)"
rm -rf "$T"/gpuhelper-edit.*
ln -s 10-train.conf "$d/policy.d/60-link.conf"
edit : 60-link.conf
t "edit: a link" complains 78 "$d/policy.d/60-link.conf is not a regular file: the helper would not read it"
rm "$d/policy.d/60-link.conf"
if [ "$(id -u)" = 0 ]; then
	as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$ctl" edit --config-dir "$d" 10-train.conf >"$T/out" 2>"$T/err"; st=$?; }
	chmod 700 "$d/policy.d"
	as_nobody
	t "edit: somebody who may not list the directory" complains 74 "$d/policy.d: Permission denied: run this as root"
	chmod 755 "$d/policy.d"
	as_nobody
	t "edit: somebody who may not write to it" complains 74 "$d/policy.d: this user can't write to the directory: Permission denied: run this as root"
else
	skip "edit by somebody else" "not root"
fi
for f in ../passwd .x.conf a/b.conf x .conf /etc/passwd; do
	edit : "$f"
	t "edit: no file of the configuration: $f" complains 64 "edit: \"$f\" is neither gpuhelper.conf nor the name of a policy, like 10-train.conf"
done
t "edit: no temporary file is left" nothing_left
# at a terminal the tool asks: the file is broken, «e» edits it again, then it is valid
cat >ed <<-'E'
	#!/bin/sh
	if grep -q bogus "$1"; then sed -i 's/^bogus.*/# mended/' "$1"; else echo 'bogus = 1;' >>"$1"; fi
E
if command -v script >/dev/null; then
	(sleep 1; echo e; sleep 1) | EDITOR=$T/ed script -qec "$ctl edit --config-dir $d 10-train.conf" /dev/null >out 2>&1
	t "edit: at a terminal, a broken copy can be edited again" sh -c 'grep -q "10-train.conf has errors" out && tail -1 "$1" | grep -qx "# mended"' - "$d/policy.d/10-train.conf"
	(sleep 1; echo x) | EDITOR=$T/ed script -qec "$ctl edit --config-dir $d 10-train.conf" /dev/null >out 2>&1
	t "edit: at a terminal, the file can be left unchanged" sh -c 'grep -q "is unchanged: the edited text has errors" out && tail -1 "$1" | grep -qx "# mended"' - "$d/policy.d/10-train.conf"
else
	skip "edit at a terminal" "no script(1)"
fi
unset TMPDIR

echo "# audit verify"
cat >chain.py <<-'E'
	# chain.py FIRST LAST [HASH]: prints records FIRST to LAST of a chain in the helper's form; the last hash goes to stderr
	import hashlib, sys
	first, last = int(sys.argv[1]), int(sys.argv[2])
	prev = sys.argv[3] if len(sys.argv) > 3 else "0" * 64
	for n in range(first, last + 1):
	    line = '{"n":%d,"prev":"%s","time":"2026-11-24T05:%02d:%02dZ","event":"grant","uid":0}' % (n, prev, n // 60 % 60, n % 60)
	    prev = hashlib.sha256(line.encode()).hexdigest()
	    print(line)
	print(prev, file=sys.stderr)
E
python3 chain.py 1 50 >log.1 2>h50
python3 chain.py 51 100 "$(cat h50)" >log.2 2>h100
verify() { run audit verify "$@"; }
# damaged NAME LINE...: verify prints these lines about the file «log»
damaged() {
	name=$1 line=$2
	verify log
	t "verify: $name" sh -c '[ $1 = 65 ] && grep -qxF "$2" out && grep -q "NOT intact" out' - "$st" "$line"
}
cat log.1 log.2 >log
verify log
t "verify: an intact log" sh -c '[ $1 = 0 ] && grep -q "^records 1 to 100, 2026-11-24T05:00:01Z to 2026-11-24T05:01:40Z, in 1 file: intact (0\.[0-9] s)$" out && grep -qx "head $(cat h100)" out' - "$st"
gzip -k log.1
verify log.2 log.1.gz
t "verify: rotated files in any order" sh -c '[ $1 = 0 ] && grep -q "^records 1 to 100, .* in 2 files: intact" out' - "$st"
verify log.2
t "verify: without the oldest file" sh -c '[ $1 = 0 ] && grep -qx "note: records 1 to 50 are in files that were not read" out' - "$st"
verify --head "$(cat h50)" log
t "verify --head: the record is found" sh -c '[ $1 = 0 ] && grep -q "^--head is the hash of record 50:" out' - "$st"
verify --head "$(tr 0-8 1-9 <h50)" log
t "verify --head: no record has it" is 65
verify --head xyz log
t "verify --head: not a hash" complains 64 "audit verify: --head must be a hash that this command printed: 64 hexadecimal digits"
sed '20s/$/\x00more/' log.1 >log
damaged "a NUL and more behind a record" "log:21: record 20 is missing before this one"
sed '20s/"uid":0/"uid":1/' log.1 >log
damaged "one byte changed" "log:21: record 21 does not match record 20 before it: one of the two was changed"
sed '20d' log.1 >log
damaged "one record removed" "log:20: record 20 is missing before this one"
sed '20,29d' log.1 >log
damaged "ten records removed" "log:20: records 20 to 29 are missing before this one"
sed '20{h;d};21G' log.1 >log
damaged "two records swapped" "log:21: record 20 comes after record 21: moved, or written twice"
sed '20p' log.1 >log
damaged "one record twice" "log:21: record 20 comes after record 20: moved, or written twice"
sed '20a{"time":"2026-11-24T05:00:00Z","event":"grant","uid":0}' log.1 >log
damaged "a grant outside the chain" "log:21: this record is not in the chain, and the helper writes no such record outside it"
sed '1s/"prev":"0/"prev":"1/' log.1 >log
damaged "a first record that names a previous one" "log:1: record 1 names a previous record, but is the first"
sed '20s/$/\x00{"time":"x"}/' log.1 >log
damaged "a NUL and text that it would hide" "log:21: record 21 does not match record 20 before it: one of the two was changed"
{ printf '{"n":0,"prev":"%064d","time":"x","event":"grant","uid":0}\n' 0; cat log.1; } >log
verify log
t "verify: a record with number 0 is not in the chain" sh -c '[ $1 = 0 ] && grep -q "^note: 1 records are older than the chain" out && grep -q "^records 1 to 50" out' - "$st"
{ sed '$d' log.1; sed -n '$p' log.1 | tr -d '\n'; } >log
verify --head "$(cat h50)" log
t "verify: a last line without a newline is no record" sh -c '[ $1 = 65 ] && grep -q "^note: 1 lines are no records" out' - "$st"
cat >bytes.py <<-'E'
	# bytes.py CTL FILE LINE: verify detects each changed, removed or added byte of that line
	import subprocess, sys
	lines = open(sys.argv[2], "rb").read().splitlines(keepends=True)
	line, unseen = lines[int(sys.argv[3])], []
	for i in range(len(line)):
	    for new in line[:i] + b"\0" + line[i:], line[:i] + line[i + 1:], line[:i] + bytes([line[i] ^ 1]) + line[i + 1:], line[:i] + b"\n" + line[i:]:
	        changed = b"".join(new if l is line else l for l in lines)
	        open("log", "wb").write(changed)
	        if subprocess.run([sys.argv[1], "audit", "verify", "log"], stdout=subprocess.DEVNULL).returncode == 0:
	            unseen.append((i, new))
	print(unseen)
	# an empty line before or after the record is not part of any record
	sys.exit(set(unseen) != {(0, b"\n" + line), (len(line) - 1, line[:-1] + b"\n\n")})
E
sed 5q log.1 >few
t "verify: a change of any byte of a record is detected" python3 bytes.py "$ctl" few 1
# without its last records a log looks complete; only the head tells otherwise
head -40 log.1 >log
verify --head "$(cat h50)" log
t "verify --head: the log's end was cut off" sh -c '[ $1 = 65 ] && grep -q "^no record here has the hash of --head" out' - "$st"
gzip -c log.1 | head -c 300 >log.gz
verify log.gz
t "verify: a truncated compressed file" sh -c '[ $1 = 65 ] && grep -q "can.t read the file to its end: it is cut off or damaged$" out' - "$st"
{ echo '{"time":"x","event":"grant","uid":0}'; sed 5q log.1; echo '{"time":"x","event":"refuse","uid":7}'; echo '{"time":"x","event":"quota","uid":7}'; echo '{"tim'; sed -n '6,$p' log.1; } >log
verify log
t "verify: records older than the chain, records outside it, and a torn line" sh -c '[ $1 = 0 ] && grep -qx "note: 1 records are older than the chain, and not verified" out &&
    grep -q "^note: 2 records are outside the chain" out && grep -q "^note: 1 lines are no records" out' - "$st"
verify --json log
t "verify as JSON" json "j['ok'] and j['count'] == 50 and j['before'] == 1 and j['outside'] == 2 and j['torn'] == 1 and j['findings'] == []"
verify --json nowhere
t "verify: a missing file" is 74
: >log
verify log
t "verify: an empty log" exits 0 "no record of the chain in 1 file"
# there are 30 faults; verify reports 20
awk 'NR % 2' log.1 >log
verify log
t "verify: prints 20 faults, and counts the others" sh -c '[ "$(grep -c "is missing" out)" = 20 ] && grep -qx "and 4 more" out'
if [ -n "${LONG:-}" ]; then
	python3 chain.py 1 1000000 >log 2>h
	verify log
	t "verify: 10^6 records" sh -c '[ $1 = 0 ] && sed "s/^/# /" out && grep -q "^records 1 to 1000000,.*intact" out' - "$st"
fi
rm -f log log.*

echo "# the audit log"
cat >log <<-'E'
	{"time":"2026-11-21T20:00:00Z","event":"grant","uid":998,"user":"concourse","container":"abc","asked_gpus":"1","identity":"token","team":"ml","pipeline":"train","job":"fit","policy":"10-train.conf","gpus":["nvidia 0000:3b:00.0 GPU-1","nvidia 0000:5e:00.0"],"folders":[{"path":"/srv/x","target":"/x","access":"ro"}]}
	{"time":"2026-11-22T20:00:00Z","event":"refuse","uid":7,"container":"d\u001b[31m\n2026","asked_gpus":"all","privileged":true,"code":77,"reason":"no policy"}
	half a li
	{"time":"2026-11-23T20:00:00Z","event":"end","uid":998,"user":"concourse","container":"abc","policy":"10-train.conf","suppressed":3}
E
run audit show log
t "audit show" exactly 0 <<-'E'
	2026-11-21T20:00:00Z  grant     ml/train job fit by token; gpu nvidia 0000:3b:00.0 GPU-1, nvidia 0000:5e:00.0; folder /x ro; asked for gpus 1; policy 10-train.conf; container abc; user concourse
	2026-11-22T20:00:00Z  refuse    -; asked for gpus all; privileged; container "d?[31m?2026"; uid 7: no policy
	2026-11-23T20:00:00Z  end       -; policy 10-train.conf; records left out before: 3; container abc; user concourse
	! 1 line is no valid record: cut off by a full disk, or changed later
E
cat >log4 <<-'E'
	{"time":"2026-11-24T20:00:00Z","event":"promise","uid":0,"user":"root","container":"t1","asked_gpus":"1","identity":"token","team":"ml","pipeline":"train","job":"fit","policy":"10-train.conf","gpus":["nvidia 0000:3b:00.0","nvidia 0000:5e:00.0"]}
	{"time":"2026-11-24T20:00:01Z","event":"exec","uid":0,"user":"root","container":"t1","team":"ml","pipeline":"train","policy":"10-train.conf"}
	{"time":"2026-11-24T20:00:40Z","event":"abandon","uid":0,"pid":7,"container":"t1","team":"ml","pipeline":"train","waited":38}
	{"time":"2026-11-24T20:01:00Z","event":"grant","uid":0,"user":"root","container":"t1","identity":"token","team":"ml","pipeline":"train","job":"fit","policy":"10-train.conf","gpus":["nvidia 0000:3b:00.0"],"waited":12}
	{"time":"2026-11-24T20:02:00Z","event":"gave-back","uid":0,"container":"t1","team":"ml","pipeline":"train","policy":"10-train.conf"}
E
run audit show log4
t "audit show: a promise and its task" exactly 0 <<-'E'
	2026-11-24T20:00:00Z  promise   ml/train job fit by token; gpu nvidia 0000:3b:00.0, nvidia 0000:5e:00.0; asked for gpus 1; policy 10-train.conf; container t1; user root
	2026-11-24T20:00:01Z  exec      ml/train; policy 10-train.conf; container t1; user root
	2026-11-24T20:00:40Z  abandon   ml/train; seconds waited: 38; container t1; uid 0
	2026-11-24T20:01:00Z  grant     ml/train job fit by token; gpu nvidia 0000:3b:00.0; policy 10-train.conf; seconds waited: 12; container t1; user root
	2026-11-24T20:02:00Z  gave-back  ml/train; policy 10-train.conf; container t1; uid 0
E
# texts that a stranger chose look like nothing of ours
cat >log5 <<-'E'
	{"time":"2026-11-25T20:00:00Z","event":"refuse","uid":0,"user":"root","container":"x; user root: granted","asked_gpus":"1; policy 10-train.conf","asked_folders":"/srv/a b","identity":"claim","team":"ml","pipeline":"train {\"pr\":\"17\"} job fit by token","job":"x by token","code":77,"reason":"no"}
	{"time":"2026-11-25T20:00:01Z","event":"grant","uid":0,"user":"root","container":"c","identity":"claim","team":"ml","pipeline":"train\u2003job\u2003fit","instance_vars":"{} job fit by token","policy":"p.conf","folders":[{"path":"/srv/x","target":"/x rw; policy q.conf","access":"ro"}]}
E
run audit show log5
t "audit show: a stranger's texts are quoted" exactly 0 <<-'E'
	2026-11-25T20:00:00Z  refuse    "ml/train {\"pr\":\"17\"} job fit by token" job "x by token" by claim; asked for gpus "1; policy 10-train.conf"; asked for folders "/srv/a b"; container "x; user root: granted"; user root: no
	2026-11-25T20:00:01Z  grant     "ml/train job fit" "{} job fit by token" by claim; folder "/x rw; policy q.conf" ro; policy p.conf; container c; user root
E
run audit show --pipeline 'ml/train {"pr":"17"} job fit by token' log5
t "audit show --pipeline takes the name as it is" sh -c '[ $1 = 0 ] && [ "$(grep -c "^2026" out)" = 1 ]' - "$st"
rm log5
run audit show --denied log4
t "audit show --denied: an abandoned wait is no denial" is 0
run audit show --denied log
t "audit show --denied" sh -c '[ $1 = 0 ] && [ "$(grep -c "^2026" out)" = 1 ] && grep -q "no policy$" out' - "$st"
run audit show --pipeline ml/train log
run audit show --pipeline ml/trian log
t "audit show --pipeline: no record has that name" sh -c '[ $1 = 69 ] && ! grep -q ^2026 out && grep -q "audit show: no record is of pipeline ml/trian" err' - "$st"
for t in train ml/ /train; do
	run audit show --pipeline $t log
	t "audit show --pipeline: no TEAM/PIPELINE: $t" complains 64 "audit show: --pipeline must be TEAM/PIPELINE, not \"$t\""
done
run report --pipeline train --output - log
t "report --pipeline: no TEAM/PIPELINE" complains 64 "report: --pipeline must be TEAM/PIPELINE, not \"train\""
run audit show --pipeline ml/train --since 2039-01-01T00:00:00Z log
t "audit show --pipeline: none since then" sh -c '[ $1 = 0 ] && ! grep -q ^2026 out && [ ! -s err ]' - "$st"
run audit show --pipeline ml/train log
t "audit show --pipeline" sh -c '[ $1 = 0 ] && [ "$(grep -c "^2026" out)" = 1 ] && grep -q "  grant" out' - "$st"
run audit show --since 2026-11-22T20:00:00Z log
t "audit show --since with a date" sh -c '[ $1 = 0 ] && [ "$(grep -c "^2026" out)" = 2 ] && ! grep -q "  grant" out' - "$st"
printf '{"time":"%s","event":"plain","uid":0}\n{"time":"%s","event":"end","uid":0}\n' "$(date -u -d '-50 hours' +%FT%TZ)" "$(date -u -d '-46 hours' +%FT%TZ)" >log2
run audit show --since 2d log2
t "audit show --since 2d" sh -c '[ $1 = 0 ] && [ "$(wc -l <out)" = 1 ] && grep -q "  end" out' - "$st"
run audit show --since 2d log2 --json
t "audit show --since 2d, as JSON" json "[r['event'] for r in j['records']] == ['end'] and j['torn'] == 0"
run audit show --json log log2
t "audit show: two files" json "len(j['records']) == 5 and j['torn'] == 1"
cat >log3 <<-'E'
	{"time":"2026-11-24T20:00:00Z","event":"refuse","uid":0,"user":"root","container":"p17","asked_gpus":"2","identity":"token","team":"ml","pipeline":"pr","job":"test","instance_vars":"{\"branch\":\"a\\\"b; gpu x\\n\",\"pr\":17,\"deep\":{\"b\":[1],\"a\":null}}","code":77,"reason":"no policy"}
	{"time":"2026-11-24T20:01:00Z","event":"refuse","uid":0,"user":"root","container":"p18","identity":"token","team":"ml","pipeline":"pr","instance_vars":"{\"pr\":18}","code":77,"reason":"no policy"}
	{"time":"2026-11-24T20:02:00Z","event":"refuse","uid":0,"user":"root","container":"p19","identity":"token","team":"ml","pipeline":"pr","instance_vars":"{\"pr\":\"17\"}","instance_vars_left_out":1,"code":77,"reason":"no policy"}
	{"time":"2026-11-24T20:03:00Z","event":"refuse","uid":0,"user":"root","container":"p20","identity":"claim","team":"ml","pipeline":"pr","instance_vars":"{\"pr\":17} job test by token; gpu nvidia","code":77,"reason":"no policy"}
	{"time":"2026-11-24T20:04:00Z","event":"grant","uid":0,"user":"root","container":"t1","identity":"token","team":"ml","pipeline":"train","instance_vars":"{\"branch\":\"main\"}","policy":"10-train.conf"}
	{"time":"2026-11-24T20:05:00Z","event":"exec","uid":0,"user":"root","container":"t1","policy":"10-train.conf","gpus":["nvidia 0000:3b:00.0"]}
	{"time":"2026-11-24T20:06:00Z","event":"exec","uid":0,"user":"root","container":"t1","policy":"10-train.conf","code":75,"reason":"container t2 has it"}
	{"time":"2026-11-24T20:07:00Z","event":"end","uid":0,"user":"root","container":"t1","policy":"10-train.conf"}
E
shown() { # shown CONTAINER...: the output has lines of exactly these containers, in this order
	[ "$st" = 0 ] && [ "$(sed -n 's/.*; container \([a-z0-9]*\);.*/\1/p' out | tr '\n' ' ')" = "$* " ]
}
run audit show --denied --pipeline ml/pr --instance-var pr=17 log3
t "audit show --instance-var: the refusals of one pull request" shown p17 p19
t "audit show prints the instance variables unchanged" sh -c 'grep -qF "  ml/pr {\"branch\":\"a\\\"b; gpu x\\n\",\"pr\":17,\"deep\":{\"b\":[1],\"a\":null}} job test by token; asked for gpus 2;" out &&
    grep -qF " ml/pr {\"pr\":\"17\"}, instance variables left out: 1 by token;" out'
run audit show --denied --pipeline ml/pr log3
t "audit show --pipeline: the refusals of all pull requests" shown p17 p18 p19 p20
t "audit show quotes a claim that is no JSON" grep -qF ' ml/pr "{\"pr\":17} job test by token; gpu nvidia" by claim;' out
run audit show --instance-var branch=main log3
t "--instance-var also matches a record that lacks the variable for want of room" shown p19 t1
run audit show --instance-var 'deep={"a":null,"b":[1]}' log3
t "--instance-var with a JSON value" shown p17 p19
run audit show --instance-var pr=17 --instance-var branch=main log3
t "two --instance-var must both match" shown p19
run audit show --denied --instance-var pr=18 --json log3
t "audit show --instance-var, as JSON" json "[(r['container'], r['instance_vars']) for r in j['records']] == [('p18', '{\"pr\":18}')]"
run audit show --denied log3
t "audit show --denied includes an exec without its GPU" shown p17 p18 p19 p20 t1
run audit show --instance-var pr log3
t "--instance-var without a value" complains 64 'audit show: --instance-var must be NAME=VALUE, not "pr"'
run report --output - --instance-var =1 log3
t "--instance-var without a name" complains 64 'report: --instance-var must be NAME=VALUE, not "=1"'
for t in 7 30 99999999 "7 dogs"; do
	run audit show --since "$t" log
	t "--since with an invalid time: $t" complains 64 'audit show: --since must be like 30m, 1h30m, 7d, "7 days", today, yesterday, 2026-11-25 or 2026-11-20T23:06:00Z, not "'"$t"'"'
done
run audit show log "$T/nowhere"
t "a missing file" complains 74 "$T/nowhere: No such file or directory: nothing has been recorded yet, or the log is elsewhere"
run audit verify log "$T/nowhere"
t "a missing file: verify says the same" complains 74 "$T/nowhere: No such file or directory: nothing has been recorded yet, or the log is elsewhere"

echo "# devices"
run devices
t "devices" is 0
run devices --json
t "devices as JSON" json "set(j) == {'gpus', 'common', 'absent', 'cdi_problem'} and all(v in ('nvidia', 'amd', 'intel') for v in j['absent'])"

if [ "$(id -u)" = 0 ]; then
	sandbox=yes
	cat >inside.sh <<-'E'
		ctl=$1 T=$2
		run() { name=$1; shift; "$ctl" "$@" >"$T/sb-$name" 2>"$T/sb-$name.err"; echo $? >"$T/sb-$name.st"; }
		run devices devices
		run devices.json devices --json
		d=$T/sb
		mkdir -p "$d/policy.d" /srv/data
		cat >"$d/policy.d/10-a.conf" <<-'P'
			pipeline = "ml/train";
			gpus = ( { vendor = "nvidia"; devices = [ "GPU-0d5b2d8e-8f0d-4a1e-9b2b-6a1b7f0c1d22", "0" ]; count = 2;
			    sharing = "shared"; share_limit = 3; wait = 500; } );
			folders = ( { path = "/srv/data"; } );
		P
		cat >"$d/policy.d/20-b.conf" <<-'P'
			pipeline = "ml/x"; callers = [ "nobody" ];
			gpus = ( { vendor = "nvidia"; devices = [ "3b:00.0" ]; },
			  { vendor = "nvidia"; devices = [ "2" ]; } );
		P
		cat >"$d/policy.d/30-c.conf" <<-'P'
			pipeline = "ml/amd";
			gpus = ( { vendor = "amd"; } );
		P
		run named check "$d/policy.d"
		run gpu explain --config-dir "$d" --pipeline ml/train --user root --gpus 1
		run gpu.json explain --config-dir "$d" --pipeline ml/train --user root --gpus 0000:af:00.0 --json
		run many explain --config-dir "$d" --pipeline ml/train --user root --gpus 3
		run rootless explain --config-dir "$d" --pipeline ml/x --user nobody --gpus 3b:00.0
		run amd explain --config-dir "$d" --pipeline ml/amd --user root
		mkdir "$T/b2" "$T/b2/rootfs"
		sed 's/"env":\[.*\]},"root"/"env":["GPUHELPER_GPUS=1"]},"root"/' "$T/bundle2.json" >"$T/b2/config.json"
		echo 'identity = "caller"; callers = [ "root" ]; folders = ( { path = "/srv/none"; } ); gpus = ( { vendor = "nvidia"; } );' >"$d/policy.d/40-d.conf"
		sed -i 's/GPUHELPER_GPUS=1"/GPUHELPER_GPUS=1","GPUHELPER_FOLDERS=all"/' "$T/b2/config.json"
		echo 'privileged = "hide-gpus";' >"$d/gpuhelper.conf"
		run absent explain --config-dir "$d" --bundle "$T/b2"
		rm "$d/gpuhelper.conf"
		# who takes the GPUs, by the container
		t=$T/takes
		mkdir -p "$t/policy.d" "$T/b3/rootfs"
		echo 'identity = "caller"; callers = [ "root", "nobody" ]; gpus = ( { vendor = "nvidia"; sharing = "shared"; } );' >"$t/policy.d/10-a.conf"
		install -m 755 /bin/true /srv/gdn-init
		pausing() { # pausing ARGS MORE-OF-PROCESS
			cat >"$T/b3/config.json" <<-J
				{"ociVersion":"1.0.2","process":{"user":{"uid":0,"gid":0},"args":[$1],"env":["GPUHELPER_GPUS=1"]$2},"root":{"path":"rootfs"},
				"mounts":[{"destination":"/proc","type":"proc","source":"proc"},
				  {"destination":"/tmp/gdn-init","type":"bind","source":"/srv/gdn-init","options":["bind"]}],"linux":{"namespaces":[{"type":"mount"},{"type":"pid"},{"type":"ipc"},{"type":"uts"},{"type":"network"},{"type":"cgroup"}],
				"maskedPaths":["/proc/kcore","/proc/keys","/proc/timer_list","/sys/firmware"],"readonlyPaths":["/proc/bus","/proc/fs","/proc/irq","/proc/sys","/proc/sysrq-trigger"]}}
			J
		}
		pausing '"/tmp/gdn-init"'
		run takes explain --config-dir "$t" --bundle "$T/b3"
		run takes.json explain --config-dir "$t" --bundle "$T/b3" --json
		run takes.user explain --config-dir "$t" --user nobody --identity caller --gpus 1
		echo 'idle = "keep";' >"$t/gpuhelper.conf"
		run takes.keep explain --config-dir "$t" --bundle "$T/b3"
		rm "$t/gpuhelper.conf"
		pausing '"/bin/sh"'
		run takes.task explain --config-dir "$t" --bundle "$T/b3"
		run takes.task.json explain --config-dir "$t" --bundle "$T/b3" --json
		echo 'privileged = "allow";' >"$t/gpuhelper.conf"
		pausing '"/tmp/gdn-init"' ',"capabilities":{"bounding":["CAP_SYS_ADMIN","CAP_MKNOD"],"effective":["CAP_SYS_ADMIN","CAP_MKNOD"],"permitted":["CAP_SYS_ADMIN","CAP_MKNOD"]}'
		run takes.privileged explain --config-dir "$t" --bundle "$T/b3"
		e=$T/host
		mkdir -p "$e/policy.d" /srv/shut/in /srv/open/in /srv/real/in /srv/one /srv/two /srv/data/dir /etc/cdi
		chmod 700 /srv/shut; chmod 777 /srv/open; ln -s real /srv/link; : >/srv/file
		setfacl -m u:4294967294:rwx /srv/two
		cat >"$e/policy.d/10-a.conf" <<-'P'
			pipeline = "ml/host";
			gpus = ( { vendor = "nvidia"; } );
			folders = ( { path = "/srv/none"; }, { path = "/srv/link"; }, { path = "/srv/file"; }, { path = "/srv/shut"; },
			  { path = "/srv/data"; access = "rw"; }, { path = "/srv/open/in"; }, { path = "/srv/link/in"; },
			  { path = "/srv/one"; target = "/there"; }, { path = "/srv/two"; access = "rw"; target = "/there"; },
			  { path = "/srv/shut/in"; } );
		P
		sed 's,"ml/host","ml/new",; s,/there,/srv/data/new,' "$e/policy.d/10-a.conf" >"$e/policy.d/20-b.conf"
		sed 's,"ml/host","ml/dir",; s,/there,/srv/data/dir,' "$e/policy.d/10-a.conf" >"$e/policy.d/30-c.conf"
		f=$T/checked
		mkdir -p "$f/policy.d"
		cat >"$f/policy.d/10-a.conf" <<-'P'
			pipeline = "ml/host"; callers = [ "root", "nobody" ];
			gpus = ( { vendor = "nvidia"; sharing = "shared"; count = 3; }, { vendor = "nvidia"; sharing = "shared"; count = 2; } );
			folders = ( { path = "/srv/none"; },
			  { path = "/srv/none/*"; },
			  { path = "/srv/link"; },
			  { path = "/srv/file"; },
			  { path = "/srv/shut"; },
			  { path = "/srv/data"; access = "rw"; },
			  { path = "/srv/open/in"; },
			  { path = "/srv/real"; subfolders = true; } );
		P
		cat >"$f/policy.d/20-b.conf" <<-'P'
			pipeline = "ml/two";
			folders = ( { path = "/srv/one"; target = "/there"; }, { path = "/srv/data"; },
			  { path = "/srv/real"; target = "/there"; } );
		P
		cat >"$f/policy.d/30-c.conf" <<-'P'
			pipeline = "ml/in";
			folders = ( { path = "/srv/data"; },
			  { path = "/srv/real"; target = "/srv/data/new"; } );
		P
		run folders check "$f/policy.d"
		printf 'pipeline = "ml/host"; folders = ( { path = "/srv/shut/in"; }, { path = "/srv/shut/none"; }, { path = "/srv/none"; } );\n' >"$f/shut.conf"
		setpriv --reuid 65534 --regid 65534 --clear-groups "$ctl" check "$f/shut.conf" >"$T/sb-unseen" 2>"$T/sb-unseen.err"
		echo $? >"$T/sb-unseen.st"
		ex() { name=$1 pipeline=$2 folders=$3; shift 3; run "ex-$name" explain --config-dir "$e" --pipeline "ml/$pipeline" --user root --folders "$folders" "$@"; }
		ex missing host /srv/none
		ex link host /srv/link
		ex file host /srv/file
		ex shut host /srv/shut
		ex unwritable host /srv/data
		ex open host /srv/open/in
		ex linked host /srv/link/in
		ex twice host /srv/one,/srv/two:ro
		ex inside new /srv/data:ro,/srv/one
		ex inner dir /srv/data:ro,/srv/one
		ex acl host /srv/two:rw
		echo '{"cdiVersion": "0.6.0", "kind": "nvidia.com/gpu", "devices": [{"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia0"}], "mounts": [{"hostPath": "/usr/lib/libcuda.so.111.22.33", "containerPath": "/usr/lib/libcuda.so.111.22.33"}]}}]}' >/etc/cdi/x.json
		run ex-spec explain --config-dir "$e" --pipeline ml/host --user root --gpus 1
		rm /etc/cdi/x.json
		sed -i 's,^pipeline,callers = [ "nobody" ]; &,' "$e/policy.d/10-a.conf"
		run ex-nobody explain --config-dir "$e" --pipeline ml/host --user nobody --folders /srv/data
		setpriv --reuid 65534 --regid 65534 --clear-groups "$ctl" explain --config-dir "$e" --pipeline ml/host --folders /srv/shut/in >"$T/sb-ex-unseen" 2>"$T/sb-ex-unseen.err"
		echo $? >"$T/sb-ex-unseen.st"
		rm -r /dev/nvidia0 /dev/nvidia1 /dev/nvidia-uvm /dev/nvidia-uvm-tools
		mknod /dev/nvidia0 c 1 0
		mknod /dev/nvidia1 c 195 3
		run odd devices
		mkdir -p /etc/gpuhelper/policy.d
		run good check
		cp "$d/policy.d/10-a.conf" /etc/gpuhelper/policy.d/10-a.conf
		echo 'jbos = 1;' >>/etc/gpuhelper/policy.d/10-a.conf
		echo 'privileged = "deny";' >/etc/gpuhelper/gpuhelper.conf
		ln /etc/gpuhelper/gpuhelper.conf /etc/gpuhelper/second
		chmod 0666 /etc/gpuhelper/policy.d/10-a.conf
		chown 12345 /etc/gpuhelper/policy.d
		run trust check
		run trust.arg check /etc/gpuhelper/
		run trust.dir check /etc/gpuhelper/policy.d
		run trust.file check /etc/gpuhelper/policy.d/10-a.conf
		run trust.explain explain --pipeline ml/train
		find /run/gpuhelper /var/log/gpuhelper -type f >"$T/sb-traces" 2>/dev/null
		setpriv --reuid 65534 --regid 65534 --clear-groups "$ctl" check >"$T/sb-shut" 2>"$T/sb-shut.err"
		echo $? >"$T/sb-shut.st"
		chmod 755 /etc/gpuhelper/policy.d
		setpriv --reuid 65534 --regid 65534 --clear-groups "$ctl" check >"$T/sb-nobody" 2>&1
		printf 'runtime = "/usr/bin/gpuhelper-runc"; privileged = "deny";\n' >/etc/gpuhelper/gpuhelper.conf2
		mv /etc/gpuhelper/gpuhelper.conf2 /etc/gpuhelper/gpuhelper.conf
		run wrapper check /etc/gpuhelper/gpuhelper.conf
		chmod 600 /etc/gpuhelper/gpuhelper.conf
		groupadd -f gpuhelper; useradd -M worker; useradd -M -G gpuhelper member
		chown 0 /etc/gpuhelper/policy.d
		echo 'pipeline = "ml/x"; identity = "claim"; callers = [ "worker", "root" ]; folders = ( { path = "/srv/data"; } );' >/etc/gpuhelper/policy.d/10-a.conf
		chmod 644 /etc/gpuhelper/policy.d/10-a.conf
		echo 'runtime = "/bin/true"; privileged = "hide-gpus";' >/etc/gpuhelper/gpuhelper.conf
		run readers check
		mv /etc/gpuhelper /etc/gpuhelper.real
		ln -s gpuhelper.real /etc/gpuhelper
		run link check
	E
	bundle '"X=1"'
	cp "$T/b/config.json" bundle2.json
	sh "$here/tests/lib/sandbox.sh" --gpu nvidia-2gpu --build "$(dirname "$ctl")" -- sh "$T/inside.sh" "$ctl" "$T" >sb.log 2>&1 ||
	    [ -s sb-link.st ] || { sandbox=broken; }
else
	sandbox=no
fi

# s NAME TEST...: checks what the run named NAME left in the sandbox
sandboxed() {
	run=$1; shift
	if [ $sandbox = no ]; then skip "$1" "not root"; cat >/dev/null; return; fi
	if [ $sandbox = broken ]; then : >out; cp sb.log err; fail "$1"; cat >/dev/null; return; fi
	cp "sb-$run" out; cp "sb-$run.err" err; st=$(cat "sb-$run.st")
	t "$@"
}
sandboxed devices "the GPUs, their nodes, what is absent" exactly 0 <<-'E'
	nvidia 0  0000:3b:00.0  GPU-edfee158-11c1-52b8-0517-92f30e7fac88  NVIDIA A100-PCIE-40GB
	    /dev/nvidia0 195:0: ok, mode 0666, owner 0:0
	nvidia 1  0000:af:00.0  GPU-0d5b2d8e-8f0d-4a1e-9b2b-6a1b7f0c1d22  NVIDIA A100-PCIE-40GB
	    /dev/nvidia1 195:1: ok, mode 0666, owner 0:0
	every nvidia GPU needs:
	    /dev/nvidiactl 195:255: ok, mode 0666, owner 0:0
	    /dev/nvidia-uvm 510:0 (for compute, graphics, video, display, ngx, compat32): ok, mode 0666, owner 0:0
	    /dev/nvidia-uvm-tools 510:1 (for compute, graphics, video, display, ngx, compat32): ok, mode 0666, owner 0:0
	    /dev/nvidia-modeset 195:254 (for graphics, display): ok, mode 0666, owner 0:0
	no usable amd GPU: module amdgpu is not loaded: if this host has such a GPU, run modprobe amdgpu
	no usable intel GPU: no GPU of driver i915 or xe and no NPU of intel_vpu on this host
E
sandboxed devices.json "the GPUs as JSON" json "[g['uuid'][:7] for g in j['gpus']] == ['GPU-edf', 'GPU-0d5'] and j['gpus'][1]['nodes'][0] == {'path': '/dev/nvidia1', 'major': 195, 'minor': 1, 'optional': False, 'state': 'ok', 'text': 'ok, mode 0666, owner 0:0'} and len(j['common']['nvidia']) == 4 and set(j['absent']) == {'amd', 'intel'}" </dev/null
sandboxed odd "a node of another driver" says "    /dev/nvidia0 195:0: has the wrong number 1:0: remove it, and the driver creates the right node" </dev/null
sandboxed odd "a node of another GPU" says "    /dev/nvidia1 195:1: has the wrong number 195:3: remove it, and the driver creates the right node" </dev/null
sandboxed odd "a node that does not exist" says "    /dev/nvidia-uvm 510:0 (for compute, graphics, video, display, ngx, compat32): does not exist (gpuhelper creates it when it grants the GPU)" </dev/null
sandboxed odd "an optional node that does not exist" says "    /dev/nvidia-uvm-tools 510:1 (for compute, graphics, video, display, ngx, compat32): does not exist (optional: containers go without)" </dev/null
sandboxed named "check: a rule with an existing GPU gives no warning, one with a missing GPU does" exactly 0 <<-E
	$T/sb/policy.d/20-b.conf:2: warning: a request of user nobody for 1 GPU would be refused: without a device cgroup (rootless) nothing holds a GPU to one container: say sharing = "shared" there, or unenforced = "allow" in gpuhelper.conf
	$T/sb/policy.d/20-b.conf:3: warning: this host has no nvidia GPU "2" (gpuhelperctl devices lists them)
	$T/sb/policy.d/30-c.conf:2: warning: a request of user root for 1 GPU would be refused: no amd GPU can be granted: module amdgpu is not loaded: if this host has such a GPU, run modprobe amdgpu
E
sandboxed gpu "explain: the candidates" exactly 0 <<-E
	$assumed
	container: user root (uid 0), pipeline ml/train, job (none), by token
	requests: gpus 1; folders none
	10-a.conf: decides: covers the container, and allows the whole request
	20-b.conf: not asked: an earlier file grants
	30-c.conf: not asked: an earlier file grants
	would be granted by 10-a.conf:
	  1 of these nvidia GPUs, shared by at most 3, for compute, utility:
	    0  0000:3b:00.0  GPU-edfee158-11c1-52b8-0517-92f30e7fac88  NVIDIA A100-PCIE-40GB
	    1  0000:af:00.0  GPU-0d5b2d8e-8f0d-4a1e-9b2b-6a1b7f0c1d22  NVIDIA A100-PCIE-40GB
	  if they are busy, the container waits up to 500 s
	  $takes
	note: warning: no CDI spec has the nodes of nvidia GPU 0000:3b:00.0, so the container has no libcuda.so.1 or libnvidia-ml.so.1 but its image's own: gpuhelperctl cdi generate --vendor nvidia --output /etc/cdi/gpuhelper-nvidia.json
	$leases
	$nodes
E
sandboxed gpu.json "explain: the candidates as JSON" json "j['gives']['libraries'] == {} and j['gives']['gpus'][0]['count'] == 1 and [c['pci'] for c in j['gives']['gpus'][0]['candidates']] == ['0000:af:00.0'] and j['gives']['wait'] == 500 and j['gives']['tasks'].startswith('a Concourse task takes') and j['gives']['gpus'][0]['share_limit'] == 3" </dev/null
sandboxed takes "explain: the task of a container that pauses takes the GPU" exits 0 "  the task takes the GPU itself, and waits for it in the build's log, unless the engine uses systemd's cgroup driver" </dev/null
sandboxed takes.json "explain: the same as JSON" json "j['gives']['taken_by'] == 'task' and j['gives']['tasks'].startswith('the task takes the GPU itself')" </dev/null
at_create="  the container takes the GPU when it is created, and waits for it then:"
sandboxed takes.keep "explain: with idle = \"keep\" the container takes it" exits 0 "$at_create gpuhelper.conf sets idle = \"keep\"" </dev/null
sandboxed takes.task "explain: a container whose first process is the task takes it" exits 0 "$at_create its first process is the task, not one of placeholder_init" </dev/null
sandboxed takes.task.json "explain: the same as JSON" json "j['gives']['taken_by'] == 'create' and 'first process' in j['gives']['tasks']" </dev/null
sandboxed takes.privileged "explain: a privileged container takes it" exits 0 "$at_create it is privileged: it has CAP_SYS_ADMIN: leave that out" </dev/null
sandboxed takes.user "explain: where no device cgroup enforces, every container takes its GPU" exits 0 "  every container takes its GPU when it is created, and waits then, unseen in a Concourse build's log: no device cgroup limits this user's containers" </dev/null
sandboxed many "explain: more GPUs than the policy gives" sh -c '[ $(cat sb-many.st) = 77 ] && grep -q "^refused: 10-a.conf: .*3.* at most 2" out' </dev/null
sandboxed rootless "explain: without a device cgroup" sh -c '[ $(cat sb-rootless.st) = 77 ] && grep -q "^20-b.conf: covers the container, but does not allow the whole request: 20-b.conf:2: without a device cgroup" out' </dev/null
sandboxed amd "explain: a GPU that the host lacks is a refusal" exits 77 "refused: 30-c.conf:2: no amd GPU can be granted: module amdgpu is not loaded: if this host has such a GPU, run modprobe amdgpu" </dev/null
sandboxed folders "check: folders and GPUs that would be refused" exactly 0 <<-E
	$T/checked/policy.d/10-a.conf:2: warning: a request of user root for 3 GPUs would be refused: this host has 2 of the nvidia GPUs that this rule names (gpuhelperctl devices lists them)
	$T/checked/policy.d/10-a.conf:2: warning: a request of user nobody for 3 GPUs would be refused: this host has 2 of the nvidia GPUs that this rule names (gpuhelperctl devices lists them)
	$T/checked/policy.d/10-a.conf:3: warning: a request would be refused: folder /srv/none: No such file or directory
	$T/checked/policy.d/10-a.conf:4: warning: a request would be refused: folder /srv/none/*: /srv/none: No such file or directory
	$T/checked/policy.d/10-a.conf:5: warning: a request would be refused: folder /srv/link: is a symbolic link
	$T/checked/policy.d/10-a.conf:6: warning: a request would be refused: folder /srv/file: is not a directory
	$T/checked/policy.d/10-a.conf:7: warning: a request would be refused: folder /srv/shut: its mode and ACL give the container's user (uid 4294967294 here) no read access: setfacl -m u:4294967294:rx /srv/shut
	$T/checked/policy.d/10-a.conf:7: warning: a request would be refused: folder /srv/shut: its mode and ACL give the container's user (uid 65534 here) no read access: setfacl -m u:65534:rx /srv/shut
	$T/checked/policy.d/10-a.conf:8: warning: a request would be refused: folder /srv/data: its mode and ACL give the container's user (uid 4294967294 here) no write access: setfacl -m u:4294967294:rwx /srv/data
	$T/checked/policy.d/10-a.conf:8: warning: a request would be refused: folder /srv/data: its mode and ACL give the container's user (uid 65534 here) no write access: setfacl -m u:65534:rwx /srv/data
	$T/checked/policy.d/10-a.conf:9: warning: a request would be refused: folder /srv/open/in: /srv/open may be written by others than root (mode 0777): chmod go-w it
	$T/checked/policy.d/20-b.conf:3: warning: a request would be refused: folders /srv/one and /srv/real would both be at /there in the container
	$T/checked/policy.d/30-c.conf:3: warning: a request would be refused: folder /srv/real would be at /srv/data/new in the container, where /srv/data is read-only and has no directory new: mkdir -p /srv/data/new, or another target in the policy
E
sandboxed unseen "check: folders that the user may not look at give no warning" exactly 0 <<-E
	$T/checked/shut.conf:1: warning: a request would be refused: folder /srv/none: No such file or directory
E
sandboxed wrapper "check: an unusable runtime in /etc/gpuhelper is an error" exactly 78 <<-'E'
	/etc/gpuhelper/gpuhelper.conf:1: no container can be created: runtime /usr/bin/gpuhelper-runc in gpuhelper.conf is gpuhelper-runc itself: name the runtime below it
E
sandboxed readers "check: settings that the worker's user can't read" sh -c '
	[ $(cat sb-readers.st) = 0 ] && [ $(grep -c "can.t read the file" out) = 2 ] && for u in worker member; do
	grep -q "^/etc/gpuhelper/gpuhelper.conf: warning: user $u can.t read the file, so gpuhelper-runc refuses that user.s containers: .* && chmod 0644 /etc/gpuhelper/gpuhelper.conf$" out || exit 1; done' </dev/null
sandboxed absent "explain: a bundle requests a missing folder" exits 77 "refused: folder /srv/none: No such file or directory" </dev/null
# told NAME TEXT: explain refuses the request with this text
told() { sandboxed "ex-$1" "explain: refused: $1" exits "${3:-77}" "refused: $2" </dev/null; }
told missing "folder /srv/none: No such file or directory"
told link "folder /srv/link: is a symbolic link"
told file "folder /srv/file: is not a directory"
told shut "folder /srv/shut: its mode and ACL give the container's user (uid 4294967294 here) no read access: setfacl -m u:4294967294:rx /srv/shut"
told unwritable "folder /srv/data: its mode and ACL give the container's user (uid 4294967294 here) no write access: setfacl -m u:4294967294:rwx /srv/data"
sandboxed ex-unwritable "explain: a note says which container could have the folder" says "note: a container without a user namespace could have the folders: its root is the host's root" </dev/null
told open "folder /srv/open/in: /srv/open may be written by others than root (mode 0777): chmod go-w it"
told linked "folder /srv/link/in: /srv/link: is a symbolic link"
told twice "folders /srv/one and /srv/two would both be at /there in the container" 78
told inside "folder /srv/one would be at /srv/data/new in the container, where /srv/data is read-only and has no directory new: mkdir -p /srv/data/new, or another target in the policy" 78
told spec "CDI spec /etc/cdi/x.json is of NVIDIA driver 111.22.33, and 580.95.05 is loaded: mend it, or move it to another directory and write a spec anew: gpuhelperctl cdi generate --vendor nvidia --output /etc/cdi/gpuhelper-nvidia.json" 78
sandboxed ex-inner "explain: a target in an existing directory of another folder" exits 0 "would be granted by 30-c.conf:" </dev/null
sandboxed ex-acl "explain: an ACL lets the container's user write" exits 0 "would be granted by 10-a.conf:" </dev/null
sandboxed ex-missing "explain: no such note if nobody could have the folder" hasnt "could have the folders" </dev/null
sandboxed ex-nobody "explain: a folder that another user's containers may not write" exits 77 "refused: folder /srv/data: its mode and ACL give the container's user (uid 65534 here) no write access: setfacl -m u:65534:rwx /srv/data" </dev/null
sandboxed ex-unseen "explain: a note names the folder that the user may not look at" exits 0 "note: this user has no right to check everything, so the host may still refuse the container: folder /srv/shut/in: /srv/shut: Permission denied" </dev/null
sandboxed good "check: an /etc/gpuhelper that only root can change" exactly 0 <<-'E'
	/etc/gpuhelper: warning: has neither gpuhelper.conf nor a policy (policy.d/*.conf): nothing is granted
E
sandboxed trust "check: an /etc/gpuhelper that others can change, and its other errors" exactly 78 <<-'E'
	/etc/gpuhelper/policy.d: belongs to uid 12345 and not to root: chown root it
	/etc/gpuhelper/gpuhelper.conf: has 2 links: it must have one
	/etc/gpuhelper/policy.d/10-a.conf: may be written by others than root (mode 0666): chmod go-w it
	/etc/gpuhelper/policy.d/10-a.conf:5: unknown key "jbos"; did you mean "jobs"?
E
[ $sandbox = no ] || cp sb-trust trust 2>/dev/null
sandboxed trust.arg "check /etc/gpuhelper/ says the same" cmp -s trust out </dev/null
sandboxed trust.dir "check /etc/gpuhelper/policy.d" exactly 78 <<-'E'
	/etc/gpuhelper/policy.d: belongs to uid 12345 and not to root: chown root it
	/etc/gpuhelper/policy.d/10-a.conf: may be written by others than root (mode 0666): chmod go-w it
	/etc/gpuhelper/policy.d/10-a.conf:5: unknown key "jbos"; did you mean "jobs"?
E
[ $sandbox = no ] || cp sb-trust.dir trust 2>/dev/null
sandboxed trust.file "check of a file in /etc/gpuhelper says the same" cmp -s trust out </dev/null
sandboxed trust.explain "explain: a configuration that is not to be trusted" complains 78 "/etc/gpuhelper/gpuhelper.conf has 2 links: it must have one" </dev/null
sandboxed link "check: /etc/gpuhelper that is a link" exactly 78 <<-'E'
	/etc/gpuhelper: is a symbolic link
E
sandboxed shut "check, where only root may list the policies" exits 78 "/etc/gpuhelper/policy.d: only root may list it: run this as root" </dev/null
if [ $sandbox != no ]; then
	t "check and explain write nothing" sh -c '[ -e sb-traces ] && [ ! -s sb-traces ]'
	cmp sb-trust sb-nobody >out 2>err
	t "check prints the same for an unprivileged user" cmp -s sb-trust sb-nobody
else
	skip "check and explain write nothing" "not root"
	skip "check prints the same for an unprivileged user" "not root"
fi

echo "1..$n"
[ $bad = 0 ] || echo "# $bad of $n failed"
[ $bad = 0 ]
