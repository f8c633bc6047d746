# Sourced: which files, and which rooms, include each other.

# arrows FILE...: prints what each includes, in tsort(1)'s form; «a.c» and «a.h» count as one
arrows() {
	awk '/^#include "/ {
		to = $2; gsub(/"/, "", to); sub(/\.h$/, "", to); from = FILENAME; sub(/\.[ch]$/, "", from)
		at = from; sub(/\/[^\/]*$/, "", at)
		while (to ~ /^\.\.\//) { sub(/^\.\.\//, "", to); sub(/\/?[^\/]*$/, "", at) }
		to = at == "" ? to : at "/" to
		if (to != from) print from, to
	}' "$@"
}
# of_rooms: makes arrows between rooms of arrows between files; their directory is $1
of_rooms() {
	awk -v top="$1" '{ for (i = 1; i <= 2; i++) { sub("^" top "/", "", $i); sub(/\/[^\/]*$/, "", $i) } }
	    $1 != $2 { print $1, $2 }' | sort -u
}
