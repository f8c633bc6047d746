#!/bin/sh
# Prints the rooms of helper/ and which includes which, as a graph for dot(1) of graphviz:
#
#   graph.sh [TREE] | dot -Tsvg >rooms.svg		TREE: another checkout (default: this one)
#
# A room's size is its lines.  An arrow that is part of a circle is red.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/tests/lib/arrows.sh"
cd "${1:-$here}"
T=$(mktemp "${TMPDIR:-/tmp}/graph.XXXXXX")
trap 'rm -f "$T"' EXIT
arrows $(find helper -name '*.[ch]' | sort) | of_rooms helper >"$T"
echo 'digraph rooms {'
echo '  rankdir = BT; node [shape = box, fontname = "sans-serif"];'
for room in $(tr ' ' '\n' <"$T" | sort -u); do
	printf '  "%s" [label = "%s\\n%d"];\n' "$room" "$room" "$(cat helper/"$room"/*.[ch] | wc -l)"
done
awk '{ from[NR] = $1; to[NR] = $2; leads[$1, $2] = 1; room[$1] = room[$2] = 1 }
    END {
	for (k in room) for (i in room) if ((i, k) in leads) for (j in room) if ((k, j) in leads) leads[i, j] = 1
	for (n = 1; n <= NR; n++)
		printf "  \"%s\" -> \"%s\"%s;\n", from[n], to[n], (to[n], from[n]) in leads ? " [color = red]" : ""
    }' "$T"
echo '}'
