#!/bin/sh
# Checks the spelling of the documents, the source, and the tests' comments.  sh tests/lib/spelling.sh, from the top
# of the tree; prints each misspelt word as codespell(1) does, and fails if there is one.  In tests only comments are
# checked: the tests' data contains misspelt words on purpose.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
cd "$here" || exit 2
command -v codespell >/dev/null || { echo "spelling.sh: codespell is missing: sh tests/deps.sh check" >&2; exit 2; }
ignore=tests/lib/spelling.ignore
T=$(mktemp -d) || exit 2
trap 'rm -rf "$T"' EXIT
status=0

# comments FILE: prints the comments at their line numbers, and empty lines for the rest
comments() {
	case $1 in
	*.[ch])
		awk '{
			line = $0; out = ""
			while (line != "") {
				if (inside) {
					at = index(line, "*/")
					out = out " " (at ? substr(line, 1, at - 1) : line)
					line = at ? substr(line, at + 2) : ""
					inside = !at
				} else {
					at = index(line, "/*")
					inside = at > 0
					line = at ? substr(line, at + 2) : ""
				}
			}
			print out
		}' "$1" ;;
	*)
		awk '{ print match($0, /(^|[ \t])#/) ? substr($0, RSTART + RLENGTH) : "" }' "$1" ;;
	esac
}

codespell -I "$ignore" README.md SECURITY.md tests/README helper policy.d selinux udev || status=1
for f in $(find tests \( -name '*.sh' -o -name '*.py' -o -name '*.[ch]' \) ! -path '*/fixtures/*') Makefile; do
	mkdir -p "$T/$(dirname "$f")"
	comments "$f" >"$T/$f"
done
(cd "$T" && codespell -I "$here/$ignore" .) || status=1
exit $status
