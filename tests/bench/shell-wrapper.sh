#!/bin/bash
# A runtime wrapper like those that people use today: bash and jq, with one pass over config.json for the environment,
# one for the GPU, and one for each folder.  Written for the benchmark; it checks nothing.
set -eu
runtime=${BENCH_RUNTIME:?}
bundle=. verb=
args=("$@")
while [ $# -gt 0 ]; do
	case $1 in
	create | run) verb=$1 ;;
	--bundle | -b) bundle=$2; shift ;;
	--bundle=*) bundle=${1#--bundle=} ;;
	esac
	shift
done
config=$bundle/config.json

change() { # change JQ-ARGUMENTS...
	jq -c "$@" "$config" >"$config.new"
	mv "$config.new" "$config"
}

if [ -n "$verb" ] && [ -f "$config" ]; then
	gpus='' folders=''
	while IFS= read -r line; do
		case $line in
		GPUHELPER_GPUS=*) gpus=${line#*=} ;;
		GPUHELPER_FOLDERS=*) folders=${line#*=} ;;
		esac
	done < <(jq -r '.process.env[]?' "$config")
	if [ -n "$gpus" ] && [ "$gpus" != none ]; then
		change '.linux.devices += [
		    {"path": "/dev/nvidia0", "type": "c", "major": 195, "minor": 0, "fileMode": 438, "uid": 0, "gid": 0},
		    {"path": "/dev/nvidiactl", "type": "c", "major": 195, "minor": 255, "fileMode": 438, "uid": 0, "gid": 0}] |
		    .linux.resources.devices += [{"allow": true, "type": "c", "major": 195, "minor": 0, "access": "rw"},
		    {"allow": true, "type": "c", "major": 195, "minor": 255, "access": "rw"}]'
	fi
	IFS=, read -r -a list <<<"$folders"
	for f in "${list[@]}"; do
		path=${f%%:*} access=${f##*:}
		[ "$access" != "$path" ] || access=ro
		[ -d "$path" ] || continue
		change --arg p "$path" --arg a "$access" \
		    '.mounts += [{"destination": $p, "type": "bind", "source": $p, "options": ["bind", $a]}]'
	done
fi
exec "$runtime" "${args[@]}"
