#!/bin/sh
# Measures what runs as root in the setuid helper: lines of our code by room, libraries, system calls before its first
# decision.  Measures installed programs of the same kind in the same way (RESULTS.md has figures).  TAP.
#
#   tcb.sh			what is built and installed here (in tests/lib/sandbox.sh, with strace)
#   tcb.sh lines FILE...	counts the lines that have something beside comments
#
# The ceilings only go down: a change that removes lines lowers them, and no change exceeds them.  The goal: root/ 6500
# lines, no file above 500 lines (reached), no library (reached).
#
# If code moves between the rooms outside of root/, their sum counts.  Features that added lines, with the reason for
# each place («pure/» is the pure rooms, which tests/rooms.sh lists):
#   libudev, jansson and nettle replaced	host/ -639, pure/ +411: checks of gpuhelper-judge's answers, JSON output, SHA-256
#   finding our own programs		34 lines moved from root/ to host/
#   the audit log's chain			root/ 175, pure/ 127: the writer of a record must know the one before it
#   drained GPUs			root/ 56, host/ 42 (2 for how long a grant waited), pure/ 86: the lock's holder picks a GPU
#   instance variables in audit records	root/ 2, host/ 26, pure/ 34: the helper writes the record, and bounds and escapes the text
#   records of execs			root/ 59, pure/ 17: only code that sees a lease knows of it
#   the decision in gpuhelper-judge	host/ -222, pure/ +111: the check of the verdict
#   one function that lists directories	root/ -22, host/ +11 (host/listing.c)
#   faster grants			root/ 235, host/ 106, pure/ 13: the search in the filter (root/self/callset.c), the look at folders
#					that lie side by side, the hint of the verb, /etc/passwd without a
#					call for each line, /proc kept open
#   a helper that stays for its container	root/ 108, pure/ 5 (main.c, crowd.c), with verbs of exec that start fewer children
#   fewer calls to read a file		host/ 20, pure/ 7: one fstat(2) for owner and size, numbers without printf(3)
#   the pipeline in records of execs and ends	root/ 4, host/ 15
#   namespaces by their links		host/ 11: half the time for each process of the host (namespaces.c, home.c)
#   the name of a cgroup's hierarchy	host/ -1, pure/ 2: written once (cgroupline.c)
#   a folder opened as a directory	host/ -1
#   kept answers of gpuhelper-read	root/ 220, host/ 5: a grant starts one program less (kept.c, reader.c)
#   a looker that waits until it is needed	root/ 26: the judge starts first
#   eight bytes of ASCII at once	pure/ 7
#   a folder's access and mount by a call each	root/ 6, host/ 25: 4 calls a folder instead of 12
#   a sum of each folder's target	pure/ 10, host/ 1: no string is compared with each other one
#   names for each library		host/ 158, pure/ 35: a name for each library that lacks one (drivernames.c), which of them
#					programs will find, and a note if none would (driverfound.c, edits.c)
#   a driver in a root of its own	host/ 150, pure/ 70: a spec's nodes are known by their numbers (cdigpus.c), and a spec that
#					fits no GPU is told (driverunmatched.c); WSL2 and Tegra (unsupported.c)
#   unusable specs of others		host/ 20, pure/ 150: only a spec that may have the GPU stands in its way (cdiproblem.c); no
#					command overwrites what somebody wrote by hand (cdirenewal.c); paths cut in the middle
#   IMEX channels and NVIDIA's other kinds	root/ 17, host/ 74, pure/ 71: root alone has specs and GPUs together
#   a directory through a link		host/ 11: NixOS (cdisource.c)
#   secret variables by name, await_keys	pure/ 10: a spec's variables are no secret; a token that waits for new keys
#   root's wrapper checks replies		root/ -95, host/ 138, pure/ 62: the question to gpuhelper-read and the kept answers are
#					for both; so is what a folder's mount and a known node look like
#   quotas and priorities of policies	root/ 115, pure/ 17: the lock's holder counts what a policy's containers hold, and orders the
#					queue (queue.c)
#   shares of teams			root/ 143, pure/ 141: whoever gives a GPU back notes what its team has used (teamshares.c, usage.c)
#   a task that takes its promised GPUs	root/ 305, host/ 46, pure/ 22: a grant of its own for each task (task.c, over.c), its
#					place and its line in the build log (busy.c, queue.c), its process (container.c)
#   tokens of any CI			root/ 24, pure/ 84: a policy's claims and an issuer's names pass through the helper, unread,
#					to the judge and into the lease (claimset.c); tokens that take turns (usedtoken.c)
#   a folder's access and mount by one call	root/ -7, host/ 7, pure/ 1: 2 calls a folder, one before the lock and one under it
#   a create that sleeps until it is woken	root/ 22: its ticket may be old, but not older than the change that woke it (queue.c)
#   joined GPUs stay together		root/ 4, others 100: which GPUs are free, and so which group is whole, is known only under the
#					lock (pick.c); what joins them is found by gpuhelper-judge (host/gpu/topology.c is not linked)
#   time limits in one header		root/ -3, pure/ 30: with assertions on their order (times.h)
#   one table of verbs, one answer to a refusal	root/ -23
#   gpuhelper-look, a program		root/ -202, host/ -1976, pure/ 29: the check of its answers (lookquery.c)
#   gpuhelper-engine, a program: CDI specs	root/ 367, others -2360: what root asks it, the check of its answers (enginequery.c,
#					enginecheck.c, extraadd.c)
#   lists, versions, own nodes	root/ -5, others 6: one function each for what several files did
#   filters without a search tree	root/ -30 (callset.c)
#   a judge without libudev		root/ -1: the helper chooses between two (judge.c), and starts and wakes both in one call
#   the name of an exec record		root/ -6, pure/ 7: the wrapper finds by it what the helper wrote (leasename.c)
#   the ledger				root/ 306, others 180: acts are undone by what root noted of each node, not by what leases say
#					(ledger.c); leases can become bytes that root need not understand. Orphans (leaseverbs.c)
#   the reply's hash and the acts in records	root/ 51, others 51: a reply is written before its record, and again if nodes had to
#					be made (plan.c, giveaccess.c)
#   a look beside the runtime		root/ 90, pure/ 9: what is looked for outlives the plan, and the lease says that the look is
#					missing (latescan.c, gpuopeners.c, created.c)
#   gpuhelper-engine authorizes		root/ 19, others -494: policies, the questions to the judge and its verdict are the
#					engine's; the helper checks its answer (authzquery.c, authzcheck.c), and has heard the GPUs itself
#   gpuhelper-engine picks		root/ -232, others -19: it has the queue, the leases and what is drained as lines
#					(askpicks.c, pickquery.c); the helper checks the picks (leasegpus.c)
#   gpuhelper-look finds folders		root/ -46, others -401: it also looks where the driver's files are (pathsquery.c);
#					the helper checks what it found (pathscheck.c), and walks the paths (folderwalk.c)
#   the host's GPUs, checked once	root/ -3, others -169: gpuhelper-engine checks the judge's report, the helper that each node is a
#					GPU's (knownnode.c), and that the judge has heard nothing else before (judgepass.c)
#   gpuhelper-look finds cgroups		root/ -8, others -239: where a container may be put, and its waiter (pathsquery.c, lookquery.c); the
#					helper itself notes what the runtime made (created.c)
#   whose request it is, as told	others -122: the helper hears of a pipeline what records and leases need (attribution.c), and
#					keeps the identity for gpuhelper-engine unread
#   a driver's edits, unread		root/ -87, others -105: the wrapper checks what gpuhelper-engine adds to a container (driveredits.c,
#					takedriver.c); the helper hears paths to look at (enginequery.c). Workload managers' numbers
#					are the engine's (answering.c)
#   GPUs by their places		root/ -27, others -15: gpuhelper-engine names GPUs by their places in the judge's report, and no
#					longer says what they are (authzquery.c)
#   the line of a task's GPUs	root/ -22, others 4: gpuhelper-engine writes it (answering.c)
#   headers of their own		root/ -2, others -121: what only other programs call is no longer declared beside what the helper calls
#					(policydecide.h, gpurule.h, editsdriver.h, drainedread.h, gpufind.h)
#   a task that asks before it is there	root/ 37, others 2: the GPU is picked and looked at while the runtime starts the waiter
#					(task.c), and a lease that a killed helper left can be taken at once by its own task
#   clean paths, mounts of JSON	others -9: one function each for what several files did (path.c, edits.c)
#   gpuhelper-label words its refusals	root/ -77, others -10: it also says what label a folder or node gets (policyanswer.c);
#					the helper checks the label of a node (label.c)
#   one function for two			root/ -49: one ends all programs that were started (spawn.c), one writes files (state.c)
#   the wrapper's side of requests	others -33: what writes them is in a file of its own (requestwrite.c); only a test asked whether
#					one lookup path lies in another (lookup.c)
#   filters in groups			root/ 12: a number is compared with the cases of its group alone (callset.c)
# Functions of host/ and of the pure rooms that only other programs call are in files of their own, which the helper
# does not link: 37 functions, 60 lines of host/ and 435 of pure/.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$here/build}

# C without comments.  A quote starts a string only outside of another string.
lines() {
	cat "$@" | awk '
	{ out = ""; n = length($0)
	  for (i = 1; i <= n; i++) {
		c = substr($0, i, 1); two = substr($0, i, 2)
		if (comment) { if (two == "*/") { comment = 0; i++ } continue }
		if (text != "") { out = out c; if (c == "\\") { i++; out = out "x" } else if (c == text) text = ""; continue }
		if (two == "/*") { comment = 1; i++; continue }
		if (two == "//") break
		if (c == "\"" || c == "\047") text = c
		out = out c
	  }
	  text = ""
	  if (out ~ /[^ \t]/) count++ }
	END { print count + 0 }'
}
[ "${1:-}" != lines ] || { shift; lines "$@"; exit; }

T=$(mktemp -d "${TMPDIR:-/tmp}/tcb.XXXXXX")
trap 'rm -rf "$T"' EXIT
. "$here/tests/lib/tap.sh"

# at_most WHAT NUMBER CEILING
at_most() {
	if [ "$2" -gt 0 ] 2>/dev/null && [ "$2" -le "$3" ]; then pass "$1: $2"; else fail "$1: $2, at most $3 may be"; fi
}

# The debugging information names the compilation units that are linked; make's dependency files name their headers.
readelf --debug-dump=info --dwarf-depth=1 "$build/gpuhelper" 2>/dev/null |
    sed -n 's|.*DW_AT_name .*: \(.*/\)\{0,1\}\(helper/[a-z/]*/[a-z0-9_]*\.c\)$|\2|p' | sort -u >"$T/linked"
while read -r c; do
	echo "$here/$c"
	tr ' \\' '\n\n' <"$build/${c%.c}.d" | sed -n "s|^\(.*/\)\{0,1\}\(helper/.*\.h\)\$|\2|p"
done <"$T/linked" | while read -r f; do
	case $f in /*) echo "$f" ;; *) readlink -f "$here/$f" ;; esac
done | sort -u >"$T/files"
room() { grep "^$here/helper/$1/" "$T/files" | xargs sh "$0" lines; }
others() { grep "^$here/helper/" "$T/files" | grep -v "^$here/helper/root/" | xargs sh "$0" lines; }

at_most "lines of helper/root/" "$(room root)" 9923
at_most "lines of other rooms that are linked" "$(others)" 10161
at_most "lines of its longest file" "$(while read -r f; do sh "$0" lines "$f"; done <"$T/files" | sort -n | tail -1)" 398
# Functions of ours that nothing in the helper calls.  The linker leaves them out (--gc-sections), and its map names them;
# it also names functions that the compiler put into their callers, which the debugging information tells apart.
sed -n '/^Discarded input sections/,/^Memory Configuration/p' "$build/gpuhelper.map" | tr '\n' ' ' | sed 's/ \.text\./\n/g' |
    sed -n 's,^\([a-z_0-9]*\)  *0x[0-9a-f]*  *0x[0-9a-f]* [^ ]*lib\(root\|host\|pure\)\.a(\([a-z_0-9]*\)\.o) .*,\2/\3.c: \1,p
	s,^\([a-z_0-9]*\)  *0x[0-9a-f]*  *0x[0-9a-f]* [^ ]*/root/main\.o .*,root/main.c: \1,p' | sort >"$T/discarded"
readelf --debug-dump=info "$build/gpuhelper" | awk '/DW_TAG_/ { name = "" } /DW_AT_name/ { name = $NF }
    /DW_AT_inline/ && name != "" { print name }' | sort -u >"$T/inlined"
# each of these shares a table or a static function with code that the helper calls
shared='mounts_own trust_in_namespace users_each known_node_vendors procdir_use secontext_is_type'
printf '%s\n' $shared | cat - "$T/inlined" >"$T/known"
awk 'NR == FNR { known[$1] = 1; next } !($2 in known)' "$T/known" "$T/discarded" >"$T/uncalled"
sed 's/^/# /' "$T/uncalled"
if [ -s "$T/discarded" ] && ! [ -s "$T/uncalled" ]; then pass "no function of ours is linked that the helper never calls"
else fail "no function of ours is linked that the helper never calls"; fi

none() { ! readelf -dW "$1" | grep NEEDED && ! readelf -lW "$1" | grep INTERP; }
if none "$build/gpuhelper" >"$T/out"; then pass "no library (NEEDED), and no loader"; else fail "no library (NEEDED), and no loader"; fi

# System calls from the program's execve(2) to the reply, or the end, of a refused request.
calls_of() { # calls_of PROGRAM UNTIL COMMAND...: runs COMMAND as nobody; it executes PROGRAM, which then prints UNTIL
	program=$1 until=$2
	shift 2
	strace -ff -qq -s 4096 -u "${TCB_USER:-nobody}" -o "$T/trace" "$@" >"$T/out" 2>&1
	f=$(grep -l "^execve(\"$program\", .* = 0\$" "$T"/trace.* 2>/dev/null | head -1)
	[ -n "$f" ] && sed -n "\\|^execve(\"$program\"|,\$p" "$f" | awk -v until="$until" '{ n++ } until != "" && $0 ~ until { exit } END { print n + 0 }'
	rm -f "$T"/trace.*
}
beside() { # beside NAME PROGRAM COMMAND...
	name=$1 program=$2
	shift 2
	if [ -x "$program" ]; then
		echo "# $name: $(ldd "$program" 2>/dev/null | grep -c '=> /') libraries, $(stat -L -c %s "$program") bytes, $(calls_of "$program" '' "$@") system calls to a refusal"
	else
		echo "# $name: $program is not installed"
	fi
}

if ! command -v strace >/dev/null 2>&1; then
	skip "system calls before the first decision" "strace is not installed"
elif [ ! -u /usr/libexec/gpuhelper/gpuhelper ]; then
	skip "system calls before the first decision" "gpuhelper is not installed here: tests/lib/sandbox.sh installs it"
else
	useradd --create-home tcb
	usermod -aG gpuhelper tcb
	echo 'identity = "caller"; callers = [ "tcb" ]; gpus = ( { vendor = "nvidia"; } );' >/etc/gpuhelper/policy.d/10-tcb.conf
	TCB_USER=tcb
	calls=$(calls_of /usr/libexec/gpuhelper/gpuhelper '^(sendto|sendmsg|write)[(]0, ' /usr/bin/python3 -c '
import sys
sys.path.insert(0, sys.argv[1])
from client import exchange
print(exchange(gpus=None, folders="/srv/nothing"))' "$here/tests/attack")
	echo "# gpuhelper: $(ldd "$build/gpuhelper" | grep -c '=> /') libraries, $(stat -c %s /usr/libexec/gpuhelper/gpuhelper) bytes"
	grep -q refused "$T/out" || sed 's/^/# /' "$T/out"
	at_most "system calls to a refusal, its children's not counted" "${calls:-0}" 1050
	beside doas /usr/bin/doas doas -n true
	beside fusermount3 /usr/bin/fusermount3 fusermount3 -u /
	beside newuidmap /usr/bin/newuidmap newuidmap 1 0 0 1
	beside bubblewrap /usr/bin/bwrap bwrap --bind /nowhere / true
fi
echo "1..$n"
[ $bad = 0 ]
