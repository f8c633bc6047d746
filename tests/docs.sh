#!/bin/sh
# Checks that the files, functions and attacks named in our pages exist in the source.  TAP.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
T=$(mktemp -d "${TMPDIR:-/tmp}/docs.XXXXXX")
trap 'rm -rf "$T"' EXIT
. "$here/tests/lib/tap.sh"
cd "$here" || exit 1
find helper tests policy.d selinux udev -type f ! -name '*.o' >"$T/files"
printf '%s\n' README.md SECURITY.md Makefile >>"$T/files"
cat $(find helper -name '*.[ch]') tests/unit/*.c >"$T/source"

# Names of source files in a text.  «parsedcheck.c» matches in any directory, «ask/parsedcheck.c» only in one of that
# name.
files_in() { grep -oE '(^|[^A-Za-z0-9_.@/*-])[A-Za-z0-9_@./-]*[A-Za-z0-9_@-]\.(c|h|sh|py|te|fc)\b' "$1" | sed 's/^[^A-Za-z0-9_.@/]*//' | sort -u; }

# missing_files PAGE: prints the named files that do not exist
missing_files() {
	files_in "$1" | while read -r f; do
		f=${f##*../}
		case $f in *NAME.*) continue ;; esac
		grep -qE "(^|/)$(echo "$f" | sed 's/[.]/[.]/g')\$" "$T/files" || echo "$f"
	done
}

# missing_functions PAGE: prints each «name()» that no file of helper/ or tests/unit/ defines
missing_functions() {
	grep -oE '\b[a-z][a-z0-9_]*_?[a-z0-9]+\(\)' "$1" | tr -d '()' | sort -u | while read -r f; do
		grep -qE "^$f\(" "$T/source" || echo "$f()"
	done
}

# none NAME FILE: passes if the file is empty
none() {
	if [ -s "$2" ]; then fail "$1: $(tr '\n' ' ' <"$2")"; else pass "$1"; fi
}

for page in README.md SECURITY.md helper/README helper/DEFENCES.md tests/README; do
	missing_files "$page" >"$T/missing"
	none "$page names files that exist" "$T/missing"
done
missing_functions helper/README >"$T/missing"
none "helper/README names functions that exist" "$T/missing"

sed -n 's/^    \([A-Z][0-9]*[a-z]*\) .*/\1/p' tests/attack/CASES | sort -u >"$T/cases"
for page in SECURITY.md helper/DEFENCES.md; do
	grep -oE '\b[A-Z][0-9]+[a-z]?\b' "$page" | sort -u | grep -vxF -f "$T/cases" >"$T/missing"
	none "$page names attacks that tests/attack/CASES has" "$T/missing"
done

lines=$(wc -l <README.md)
if [ "$lines" -le 130 ]; then pass "README.md has at most 130 lines"; else fail "README.md has $lines lines, at most 130 may be"; fi
lines=$(wc -l <SECURITY.md)
if [ "$lines" -le 200 ]; then pass "SECURITY.md has at most 200 lines"; else fail "SECURITY.md has $lines lines, at most 200 may be"; fi

for page in helper/man/gpuhelperctl*.8; do
	lines=$(wc -l <"$page")
	if [ "$lines" -lt 400 ]; then pass "${page##*/} has fewer than 400 lines"; else fail "${page##*/} has $lines lines"; fi
done
# missing_pages: prints each page of ours that a page names, and that does not exist
missing_pages() { sed -n 's/.*\.\{0,1\}Xr \(gpuhelper[a-z.-]*\) \([1578]\).*/\1.\2/p' helper/man/*.[1578] | sort -u | while read -r p; do
	[ -e "helper/man/$p" ] || echo "$p"; done; }
missing_pages >"$T/missing"
none "the manual refers to pages that exist" "$T/missing"

# a line that was renamed can't be taken out, which only «check.sh --long» would notice
if python3 -B tests/mutants.py --applies >"$T/missing" 2>&1; then pass "each line of tests/mutants.py is in the source"
else fail "each line of tests/mutants.py is in the source: $(tr '\n' ' ' <"$T/missing")"; fi

# this test's own test
echo 'See base/nowhere.c and nowhere_at_all().' >"$T/page"
missing_files "$T/page" | grep -qx base/nowhere.c && missing_functions "$T/page" | grep -qx 'nowhere_at_all()'
if [ $? = 0 ]; then pass "a file and a function that do not exist are seen"; else fail "a file and a function that do not exist are seen"; fi
echo "1..$n"
[ $bad = 0 ]
