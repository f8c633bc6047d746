#!/bin/sh
# The benchmark (tests/README, «The benchmark»).
#
#   bench.sh quick [GROUP...]	compares gpuhelper with what people use today; at most five minutes
#   bench.sh growth [CURVE...]	measures how the cost grows; at most fifteen minutes
#   bench.sh phases		times the parts of one granted create
#   bench.sh waiting		measures containers that wait for a GPU; about five minutes
#   bench.sh whole		times whole containers with real runtimes; about three minutes
#   bench.sh instructions [--record]	compares instruction counts with the recorded ones; TAP
#
# Figures go to build/bench/*.json.  If no GROUP or CURVE is named, report.py writes them into RESULTS.md.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
[ "$(id -u)" = 0 ] || { echo "bench.sh: must run as root (containers, cgroups)" >&2; exit 2; }
what=${1:-quick}
[ $# = 0 ] || shift
case $what in
quick) program=bench.py ;;
growth) program=growth.py ;;
phases) program=phases.py ;;
waiting) program=waiting.py ;;
whole) program=whole.py ;;
instructions) program=instructions.py ;;
*) echo "usage: bench.sh quick|growth|phases|waiting|whole|instructions [GROUP...]" >&2; exit 2 ;;
esac
sh "$here/build.sh" "$top/build"
if [ "$what" = instructions ]; then
	exec sh "$top/tests/lib/sandbox.sh" --gpu nvidia-8gpu --cgroup keep -- python3 -B "$here/$program" "$@"
fi
if [ "$what" = whole ]; then
	set --
	for r in runc crun; do
		out=$top/build/bench/whole-$r.json
		rm -f "$out"
		sh "$top/tests/lib/sandbox.sh" --gpu nvidia-8gpu --cgroup v1 -- python3 -B "$here/$program" "$r" "$out"
		[ ! -e "$out" ] || set -- "$@" "$out"
	done
	[ $# = 0 ] || python3 -B "$here/report.py" whole "$@"
	exit
fi
out=$top/build/bench/$what.json
sh "$top/tests/lib/sandbox.sh" --gpu nvidia-8gpu --cgroup keep -- python3 -B "$here/$program" "$out" "$@"
[ $# != 0 ] || [ ! -e "$out" ] || python3 -B "$here/report.py" "$what" "$out"
