# What ctl.sh, keys.sh and cdi.sh share: TAP, and a run of the tool.  Sourced, with «ctl» (the tool) and «T» (a directory of
# the test's own) set.  What a test wants on stderr (complains) is its own: an exact line in one, a part in the other.
n=0 bad=0

pass() { n=$((n + 1)); echo "ok $n - $1"; }
# with what the tool printed
fail() { n=$((n + 1)); bad=$((bad + 1)); echo "not ok $n - $1"; sed 's/^/# /' "$T/out" "$T/err" 2>/dev/null; }
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }
# t NAME TEST...: a check that holds if the test succeeds
t() { name=$1; shift; if "$@"; then pass "$name"; else fail "$name"; fi; }

# runs the tool; $st, out and err are what came of it
run() { "$ctl" "$@" >"$T/out" 2>"$T/err"; st=$?; }
# is STATUS: it ended so
is() { [ "$st" = "$1" ] || { echo "# exit status $st, not $1"; return 1; }; }
# says LINE: a whole line of stdout
says() { grep -qxF -e "$1" "$T/out"; }
# exits STATUS LINE
exits() { is "$1" && says "$2"; }
