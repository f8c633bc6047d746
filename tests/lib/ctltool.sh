# Shared by ctl.sh, keys.sh and cdi.sh: the tool ($ctl), the test's directory ($T, also the working directory), and
# functions that run the tool.  Sourced, with $here (the project) set.
ctl=${CTL:-$here/build/gpuhelperctl}
[ -x "$ctl" ] || { echo "${0##*/}: $ctl is not there: make" >&2; exit 2; }
T=$(mktemp -d) && chmod 755 "$T" || exit 2
trap 'rm -rf "$T"' EXIT
trap 'exit 2' INT TERM
cd "$T" || exit 2
. "$here/tests/lib/tap.sh"

# run ARG...: runs the tool; leaves its status in $st, and its output in the files out and err
run() { "$ctl" "$@" >"$T/out" 2>"$T/err"; st=$?; }
# is STATUS: the status was STATUS
is() { [ "$st" = "$1" ] || { echo "# exit status $st, not $1"; return 1; }; }
# says LINE: stdout has this whole line
says() { grep -qxF -e "$1" "$T/out"; }
# exits STATUS LINE: the status was STATUS, and stdout has this whole line
exits() { is "$1" && says "$2"; }
# complains STATUS LINE: the tool printed only that line, on stderr (in keys.sh: only a line that contains LINE)
complains() { is "$1" && [ ! -s "$T/out" ] && [ "$(cat "$T/err")" = "gpuhelperctl: $2" ]; }
silent() { is 0 && [ ! -s "$T/out" ] && [ ! -s "$T/err" ]; }
# exactly STATUS: the status was STATUS, and stdout was what this function reads on stdin
exactly() { cat >"$T/want"; is "$1" && diff "$T/want" "$T/out" >"$T/diff" || { sed 's/^/# /' "$T/diff"; return 1; }; }
