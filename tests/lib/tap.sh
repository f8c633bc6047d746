# TAP for the tests that are shell scripts.  Sourced, with $T set: a directory where a check may leave what it saw
# (out, err).
n=0 bad=0

pass() { n=$((n + 1)); echo "ok $n - $1"; }
# also prints the output of the tool
fail() { n=$((n + 1)); bad=$((bad + 1)); echo "not ok $n - $1"; sed 's/^/# /' "$T/out" "$T/err" 2>/dev/null; }
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }
# t NAME TEST...: passes if the command TEST succeeds
t() { name=$1; shift; if "$@"; then pass "$name"; else fail "$name"; fi; }
