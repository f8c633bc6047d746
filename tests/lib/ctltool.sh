# Shared by ctl.sh, keys.sh and cdi.sh: the tool ($ctl), the test's directory ($T, also the working directory), and
# functions that run the tool.  Sourced, with $here (the project) set.
ctl=${CTL:-$here/build/gpuhelperctl}
[ -x "$ctl" ] || { echo "${0##*/}: $ctl is not there: make" >&2; exit 2; }
T=$(mktemp -d) && chmod 755 "$T" || exit 2
trap 'rm -rf "$T"' EXIT
trap 'exit 2' INT TERM
cd "$T" || exit 2
. "$here/tests/lib/tap.sh"

# runs the tool; $st, out and err are what came of it
run() { "$ctl" "$@" >"$T/out" 2>"$T/err"; st=$?; }
# is STATUS: it ended so
is() { [ "$st" = "$1" ] || { echo "# exit status $st, not $1"; return 1; }; }
# says LINE: a whole line of stdout
says() { grep -qxF -e "$1" "$T/out"; }
# exits STATUS LINE
exits() { is "$1" && says "$2"; }
# complains STATUS LINE: nothing but that one line, on stderr (keys.sh has one that wants a part of it)
complains() { is "$1" && [ ! -s "$T/out" ] && [ "$(cat "$T/err")" = "gpuhelperctl: $2" ]; }
silent() { is 0 && [ ! -s "$T/out" ] && [ ! -s "$T/err" ]; }
# exactly STATUS: stdout is what stands on stdin
exactly() { cat >"$T/want"; is "$1" && diff "$T/want" "$T/out" >"$T/diff" || { sed 's/^/# /' "$T/diff"; return 1; }; }
