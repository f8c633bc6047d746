#!/bin/sh
# Folders that a policy has labelled for containers (relabel), with SELinux enforcing: real kernel, policy, systemd, crun and runc.
# selinux: enforcing
# programs: vm/guest/tries.c vm/guest/swap.c vm/guest/catch.c vm/guest/fuse.c vm/guest/deep.c
set -u
. /job/job.sh
. /job/selinux.sh

useradd worker 1000
admit worker
settings crun
mkdir -p /srv
restorecon -F /srv
USER='identity = "caller"; callers = [ "root", "worker" ];'
gives() { # gives FILE FOLDER [MORE]: a policy that gives the folder for writing
	policy "$1" <<-END
	$USER
	folders = ( { path = "$2"; access = "rw"; ${3-} } );
	END
}
asks() { # asks ID FOLDER SCRIPT: a container that asks for the folder
	mkdir -p "$r$2"
	config "$1" 0 "\"GPUHELPER_FOLDERS=$2\"" '' '' '' "$3"
}
# refused ID PATTERN...: its refusal matches these patterns
refused() { cp "$OUT/$1" "$T/out"; shift; for p in "$@"; do grep -q -e "$p" "$T/out" || return 1; done; }
runs() { run "$1" || { cp "$OUT/$1" "$T/out"; return 1; }; }
fails() { ! "$@"; }
level() { label "$1" | cut -d : -f 4-; }
own() { sed -n 's/^label=.*:s0:/s0:/p' "$OUT/$1"; }
# labelled LABEL FOLDER: everything in it has this label (a pattern, without the user), and so has the folder
labelled() { find "$2" -xdev ! -type c ! -name mounted -exec stat -c '%C %N' {} + | grep -v -e "^[a-z_]*:object_r:$1 " >"$T/out"; ! [ -s "$T/out" ]; }
SHARED=container_file_t:s0
VAR=var_t:s0
SAY='read l </proc/self/attr/current; echo label=$l;'

tree() { # tree FOLDER: makes one of everything
	rm -rf "$1"
	mkdir -p "$1/a/b" "$1/.hidden"
	echo data >"$1/a/b/file"
	echo data >"$1/.hidden/file"
	echo data >"$1/$(printf 'a\nb')"
	ln "$1/a/b/file" "$1/a/hard"
	ln -s /srv/outside "$1/a/link"
	ln -s /srv/outsiders "$1/a/dirlink"
	mkfifo "$1/a/fifo"
	mknod "$1/a/null" c 1 3
	mkdir "$1/a/mounted"
	restorecon -RF "$1"
}
mkdir /srv/outsiders
echo keep >/srv/outside
echo keep >/srv/outsiders/file
tree /srv/cache
mount -t tmpfs tmpfs /srv/cache/a/mounted
echo data >/srv/cache/a/mounted/file
MOUNTED=$(label /srv/cache/a/mounted/file)

echo "# the boolean"
gives 10-cache /srv/cache 'relabel = "shared";'
asks a /srv/cache "$SAY cat /srv/cache/a/b/file"
t "control: at first the folder has the system's label" labelled $VAR /srv/cache
t "gpuhelperctl check warns that the folder may not be relabelled" sh -c 'gpuhelperctl check | grep -q "/srv/cache.*var_t.*setsebool -P gpuhelper_relabel_folders on"'
run a
t "without the boolean a folder is not relabelled, and the refusal names it" refused a 'folder /srv/cache: gpuhelper may not' var_t \
    'setsebool -P gpuhelper_relabel_folders on' 'chcon -R -t container_file_t /srv/cache'
t "nothing in it was changed" labelled $VAR /srv/cache
gpuhelperctl reap
t "no lease is left" is "$(ls /run/gpuhelper/leases)" ""
tree /srv/ready
rm /srv/ready/a/null
chcon -R -t container_file_t -l s0 /srv/ready
gives 15-ready /srv/ready 'relabel = "shared";'
asks b /srv/ready "$SAY cat /srv/ready/a/b/file"
t "a folder that is labelled already is granted without the boolean" runs b
t "the container reads it" says b data
TRIES=/usr/libexec/gpuhelper/tries
cp /job/tries $TRIES
cp /job/tries $TRIES-label
cp /job/tries $TRIES-read
cp /job/tries $TRIES-judge
chcon --reference=/usr/libexec/gpuhelper/gpuhelper $TRIES
chcon --reference=/usr/libexec/gpuhelper/gpuhelper-label $TRIES-label
chcon --reference=/usr/libexec/gpuhelper/gpuhelper-read $TRIES-read
chcon --reference=/usr/libexec/gpuhelper/gpuhelper-judge $TRIES-judge
LABEL="$TRIES by $TRIES-label" READ="$TRIES by $TRIES-read" JUDGE="$TRIES by $TRIES-judge"
t "control: a program labelled as gpuhelper-label runs in gpuhelper_label_t, where the helper's domain starts it" \
    like "$($LABEL label)" '.*:gpuhelper_label_t:.*'
t "without the boolean gpuhelper_label_t cannot relabel a folder" is "$($LABEL relabel /srv/cache 2>&1)" EACCES
t "the log has that denial" avc 'comm="tries-label"' 'scontext=[^ ]*:gpuhelper_label_t:' 'relabelfrom'
setsebool gpuhelper_relabel_folders on
t "with the boolean it can" is "$(getsebool gpuhelper_relabel_folders)" "gpuhelper_relabel_folders --> on"
forget
t "it still cannot relabel the system's files" is "$($LABEL relabel /etc/passwd 2>&1)" EACCES
t "the log has that denial, too" avc 'comm="tries-label"' 'scontext=[^ ]*:gpuhelper_label_t:' 'relabelfrom' 'tcontext=[^ ]*:etc_t:'
t "the helper itself can't relabel a folder at all" is "$($TRIES relabel /srv/cache 2>&1)" EACCES
t "the log has that denial, too" avc 'comm="tries"' 'scontext=[^ ]*:gpuhelper_t:' 'relabelfrom'
# nor can gpuhelper-label do anything else
for what in "write /etc/passwd" "make /etc/made" "read /etc/shadow" "read /etc/gpuhelper/gpuhelper.conf" "list /run/gpuhelper/leases" \
    "exec /usr/bin/dash" "exec /usr/libexec/gpuhelper/gpuhelper" "inet -" "open /dev/fuse" "kill 1"; do
	# shellcheck disable=SC2086
	t "gpuhelper_label_t can't: $what" like "$($LABEL $what 2>&1)" 'EACCES\|EPERM'
	# shellcheck disable=SC2086
	t "gpuhelper_read_t can't: $what" like "$($READ $what 2>&1)" 'EACCES\|EPERM'
	# shellcheck disable=SC2086
	t "gpuhelper_judge_t can't: $what" like "$($JUDGE $what 2>&1)" 'EACCES\|EPERM'
done
t "control: the log names gpuhelper_read_t" avc 'comm="tries-read"' 'scontext=[^ ]*:gpuhelper_read_t:' 'tcontext=[^ ]*:shadow_t:'
t "control: the log names gpuhelper_judge_t, too one" avc 'comm="tries-judge"' 'scontext=[^ ]*:gpuhelper_judge_t:' 'tcontext=[^ ]*:shadow_t:'
rm $TRIES $TRIES-label $TRIES-read $TRIES-judge

echo "# shared"
t "gpuhelperctl check has no complaint about SELinux and the folder" sh -c '! gpuhelperctl check | grep -e "SELinux keeps" -e relabel'
t "explain mentions the relabelling" sh -c 'gpuhelperctl explain --bundle /var/lib/containers/ct/a | grep -q "folder /srv/cache rw at /srv/cache, labelled for all containers"'
t "a container with the folder runs" runs a
t "the container reads it" says a data
umount /srv/cache/a/mounted
t "everything in it is labelled for containers, links and pipes included" labelled $SHARED /srv/cache
t "the links' targets are not labelled" is "$(label /srv/outside) $(label /srv/outsiders) $(label /srv/outsiders/file)" \
    "unconfined_u:object_r:var_t:s0 unconfined_u:object_r:var_t:s0 unconfined_u:object_r:var_t:s0"
tree /srv/cache
mount -t tmpfs tmpfs /srv/cache/a/mounted
echo data >/srv/cache/a/mounted/file
run a
t "mounts in it and a device node keep their labels" is "$(label /srv/cache/a/mounted/file) $(label /srv/cache/a/null)" \
    "$MOUNTED unconfined_u:object_r:var_t:s0"
umount /srv/cache/a/mounted
t "another container runs" runs a
t "the audit log has the label" sh -c 'tail -n 5 /var/log/gpuhelper/audit.jsonl | grep -q "\"path\":\"/srv/cache\".*\"relabel\":\"shared\""'
before=$(find /srv/cache -exec stat -c '%z %N' {} +)
t "one more container runs" runs a
t "if everything is labelled, nothing changes" is "$(find /srv/cache -exec stat -c '%z %N' {} +)" "$before"
asks a /srv/cache 'echo mine >/srv/cache/mine; mkdir /srv/cache/dir; echo ready; sleep 1000'
t "a container writes to it" start a
t "its files have its categories" like "$(level /srv/cache/mine)" 's0:c[0-9]*,c[0-9]*'
asks b /srv/cache "$SAY cat /srv/cache/mine"
t "another container starts while it runs" runs b
t "it can read those files, because they are relabelled" says b mine
stop a

echo "# what is refused, and changes nothing"
mkdir /srv/foreign
chcon -t usr_t /srv/foreign
gives 16-foreign /srv/foreign 'relabel = "shared";'
asks b /srv/foreign true
run b
t "a folder with a system label is refused" refused b 'folder /srv/foreign: gpuhelper may not relabel /srv/foreign, which is labelled [a-z_]*:object_r:usr_t:s0'
asks b /srv/cache "$SAY cat /srv/cache/mine"
tree /srv/cache
ln /srv/outside /srv/cache/a/b/outside
run b
t "a file with another name outside of the folder is refused by name" refused b 'folder /srv/cache: /srv/cache/a/b/outside has 2 names, and only 1'
t "nothing was changed" labelled $VAR /srv/cache
t "the user's name for it is in no suggested command" fails grep 'ch[a-z]* .*outside' "$OUT/b"
rm /srv/cache/a/b/outside
chcon -t etc_t /srv/cache/a/b/file
run b
t "a file with a system label" refused b 'may not relabel /srv/cache/a/[a-z/]*, which is labelled [a-z_]*:object_r:etc_t:s0'
t "is refused before anything changes" is "$(label /srv/cache | cut -d : -f 3) $(label /srv/cache/a/b/file | cut -d : -f 3)" "var_t etc_t"
restorecon -F /srv/cache/a/b/file
d=/srv/cache/a/b
i=0
while [ $i -lt 130 ]; do d=$d/d i=$((i + 1)); done
mkdir -p $d
restorecon -RF /srv/cache/a/b
run b
t "directories nested too deep are refused" refused b 'folder /srv/cache: directories in it are more than 128 deep'
t "nothing was changed" labelled $VAR /srv/cache
rm -rf /srv/cache/a/b/d
t "control: names of 30000 bytes" /job/deep /srv/cache/a/b 120 600
run b
t "too many files with several names are refused" refused b 'folder /srv/cache: too many files in it have several names'
rm -rf /srv/cache/a/b/dd*
t "nothing was changed" labelled $VAR /srv/cache
# two file systems in one mount, with separate inode numbers
mkdir -p /srv/low1 /srv/low2 /srv/up /srv/both
for d in low1 low2 up; do mount -t tmpfs tmpfs /srv/$d; done
mkdir /srv/up/upper /srv/up/work
for d in low1 low2; do
	mkdir /srv/$d/folder
	echo data >/srv/$d/folder/$d
	ln /srv/$d/folder/$d /srv/$d/outside
	chcon -R -t var_t /srv/$d
done
chcon -R -t var_t /srv/up
mount -t overlay -o lowerdir=/srv/low1:/srv/low2,upperdir=/srv/up/upper,workdir=/srv/up/work,xino=off overlay /srv/both
t "control: two files have the same inode number" is "$(stat -c %i /srv/both/folder/low1)" "$(stat -c %i /srv/both/folder/low2)"
gives 20-both /srv/both/folder 'relabel = "shared";'
asks c /srv/both/folder true
run c
t "a name of one does not count as a name of the other" refused c 'folder /srv/both/folder: /srv/both/folder/low[12] has 2 names, and only 1'
umount /srv/both /srv/low1 /srv/low2 /srv/up
rm /etc/gpuhelper/policy.d/20-both.conf
echo 0 >/proc/sys/fs/protected_hardlinks
t "gpuhelperctl check reports it" sh -c 'gpuhelperctl check | grep -q "/srv/cache.*sysctl fs.protected_hardlinks=1"'
run b
t "nor a folder into which anybody may link any file" refused b 'sysctl fs.protected_hardlinks=1'
echo 1 >/proc/sys/fs/protected_hardlinks
t "check reports that, too" labelled $VAR /srv/cache
mkdir -p /srv/context
mount -t tmpfs -o context=system_u:object_r:var_t:s0 tmpfs /srv/context
gives 20-context /srv/context 'relabel = "shared";'
asks b /srv/context true
run b
t "a file system mounted with one label for all files" refused b 'folder /srv/context: can.t be labelled' 'context='
umount /srv/context
rm /etc/gpuhelper/policy.d/20-context.conf
gives 20-etc /etc/ssl 'relabel = "shared";'
t "a policy that would relabel the system's own files is invalid" sh -c 'gpuhelperctl check 2>&1 | grep -q "20-etc.conf:2: relabel is not allowed at or beneath /etc"'
rm /etc/gpuhelper/policy.d/20-etc.conf

echo "# private"
gives 10-cache /srv/cache 'relabel = "private";'
asks a /srv/cache "$SAY echo mine >/srv/cache/mine; echo ready; until [ -e /out/go ]; do sleep 1; done; cat /srv/cache/a/b/file && echo still"
t "a container with the folder for itself" start a
A=$(own a)
t "everything in it has the container's categories" labelled "container_file_t:$A" /srv/cache
asks b /srv/cache "$SAY cat /srv/cache/mine"
run b
t "meanwhile another container is refused" refused b 'folder /srv/cache is in use by container a' 'only one container at a time'
gives 20-part /srv/cache/a
asks c /srv/cache/a true
create c
t "so is one with a part of it, by another policy" refused c 'folder /srv/cache/a is labelled for one container alone'
mkdir -p /srv/again
mount --bind /srv/cache /srv/again
gives 30-again /srv/again
asks d /srv/again true
run d
t "so is a second mount of it" refused d 'folder /srv/again is labelled for one container alone'
gives 30-again /srv/again 'relabel = "shared";'
run d
t "it is one folder, and is not relabelled through the second mount" refused d 'folder /srv/again is in use by container a'
rm /etc/gpuhelper/policy.d/30-again.conf
policy 05-both <<END
$USER
folders = ( { path = "/srv/cache"; access = "rw"; relabel = "private"; }, { path = "/srv/again"; access = "rw"; relabel = "shared"; } );
END
mkdir -p "$r/srv/again"
config e 0 '"GPUHELPER_FOLDERS=all"' '' '' '' true
run e
t "one container does not get it with two labels" refused e 'folders /srv/again and /srv/cache are the same'
rm /etc/gpuhelper/policy.d/05-both.conf
umount /srv/again
t "nothing was relabelled" labelled "container_file_t:$A" /srv/cache
touch "$OUT/go"
t "the first container still has access" soon says a still
wait "$pid_a"
rm -f "$OUT/go"
t "after its end the next container gets the folder" runs b
t "the folder has the first container's files" says b mine
B=$(own b)
t "the folder has the next container's categories" labelled "container_file_t:$B" /srv/cache
t "these categories are different" fails is "$A" "$B"
asks c /srv/cache/a "$SAY cat /srv/cache/a/b/file; echo ready; sleep 1000"
create c
t "SELinux denies a container that gets a part of it without relabel" refused c "folder /srv/cache/a is labelled for one container alone ($B)"
gives 20-part /srv/cache/a 'relabel = "shared";'
# read-only, so that the label is the only reason for a refusal, and «run» has none
policy 10-cache <<END
$USER
folders = ( { path = "/srv/cache"; relabel = "private"; } );
END
t "with relabel it gets access" start c
asks a /srv/cache "$SAY"
run a
t "a folder that others use cannot become private" refused a 'folder /srv/cache is in use by container c'
stop c
t "until they have ended" runs a
rm /etc/gpuhelper/policy.d/20-part.conf
# crun 1.8 does not pass the mounts beneath the folder on
settings runc
mount -t tmpfs tmpfs /srv/cache/a/mounted
chcon -R system_u:object_r:container_file_t:s0 /srv/cache
# read-only: a container of the host's root gets no other folder with the mounts beneath it
policy 10-cache <<END
$USER
folders = ( { path = "/srv/cache"; submounts = true; } );
END
gives 20-mounted /srv/cache/a/mounted 'relabel = "private";'
asks a /srv/cache 'echo ready; sleep 1000'
t "a container with a folder and the mounts in it" start a
asks c /srv/cache/a/mounted true
run c
t "keeps these: they cannot become private to another one" refused c 'folder /srv/cache/a/mounted is in use by container a'
t "they are not relabelled" is "$(level /srv/cache/a/mounted)" s0
stop a
t "until it has ended" runs c
umount /srv/cache/a/mounted
rm /etc/gpuhelper/policy.d/20-mounted.conf
settings crun
gives 10-cache /srv/cache 'relabel = "private";'

pod() { # pod ID LEVEL SCRIPT
	config "$1" 0 '"GPUHELPER_FOLDERS=/srv/cache"' "\"selinuxLabel\":\"system_u:system_r:container_t:$2\"," \
	    "\"mountLabel\":\"system_u:object_r:container_file_t:$2\"," '' "$3"
}
pod a s0:c7,c9 'echo pod >/srv/cache/pod; echo ready; sleep 1000'
pod b s0:c7,c9 'cat /srv/cache/pod'
pod c s0:c7,c8 'cat /srv/cache/pod'
t "two containers with the same categories from their engine" start a
t "share a private folder" runs b
t "each reads the other's files" says b pod
run c
t "one with other categories is refused" refused c 'folder /srv/cache is in use by container a'
stop a
policy 10-cache <<END
$USER
folders = ( { path = "/srv/cache"; access = "rw"; relabel = "private"; } );
selinux = { level = "s0"; };
END
asks a /srv/cache true
run a
t "a level without categories cannot have a private folder" refused a "folder /srv/cache can't be private" 'level = "auto"'
policy 10-cache <<END
$USER
folders = ( { path = "/srv/cache"; access = "rw"; relabel = "private"; }, { path = "/srv/cache/a"; } );
END
mkdir -p "$r/srv/cache/a"
config a 0 '"GPUHELPER_FOLDERS=all"' '' '' '' true
run a
t "nested folders of one container with different labels are refused" refused a '/srv/cache and /srv/cache/a are the same, or one is in the other'

echo "# rootless: nothing but its mounts tells that a container lives"
gives 10-cache /srv/cache 'relabel = "private";'
mkdir -p /home/worker/c/rootfs
cp -a $r/. /home/worker/c/rootfs/
config w 1000 '"GPUHELPER_FOLDERS=/srv/cache"' '' '' '' 'sleep 1000'
chmod 777 /srv/cache
sed 's|"path":"[^"]*"|"path":"rootfs"|; s|"resources":.*$|"x":0}}|' /var/lib/containers/ct/w/config.json >/home/worker/c/config.json
cp /home/worker/c/config.json "$T/worker.json"
chown -R worker:worker /home/worker/c
restorecon -RF /home/worker
chcon -R -t container_file_t -l s0 /home/worker/c/rootfs
worker() { (cd /home/worker/c && exec setpriv --reuid worker --regid worker --init-groups -- "$@" </dev/null) >"$T/out" 2>&1; }
unseen() {
	mv /home/worker/c/rootfs/srv /home/worker/c/rootfs/elsewhere
	ln -s elsewhere /home/worker/c/rootfs/srv
	! worker gpuhelper-runc --root /tmp/w create w && grep -q 'give the folder a target without symbolic links' "$T/out"
}
t "where links of the image have led is not shown to an unprivileged user, who is told so" unseen
rm /home/worker/c/rootfs/srv
mv /home/worker/c/rootfs/elsewhere /home/worker/c/rootfs/srv
cp "$T/worker.json" /home/worker/c/config.json
t "a user's container is created" worker gpuhelper-runc --root /tmp/w create w
W=$(level /srv/cache)
asks b /srv/cache true
sleep 1
run b
t "after its creator's end the folder is still its own" refused b "folder /srv/cache is in use by another user's container"
t "the folder has its categories" labelled "container_file_t:$W" /srv/cache
t "it is started, and killed" worker crun --root /tmp/w start w
worker crun --root /tmp/w kill w KILL
worker crun --root /tmp/w delete -f w
t "the next container gets the folder" soon runs b

echo "# stopped half-way"
gives 10-cache /srv/cache 'relabel = "shared";'
restorecon -RF /srv/cache
mkdir /srv/cache/many
(cd /srv/cache/many && for i in 0 1 2 3; do mkdir d$i; for k in 0 1 2 3 4 5 6 7 8 9; do for m in 0 1 2 3 4 5 6 7 8 9; do : >d$i/x$k$m; : >d$i/y$k$m; : >d$i/z$k$m; done; done; done)
asks a /srv/cache "$SAY"
# stop_while TYPE: stops the helper once the folder itself, which is labelled first, has this type
stop_while() {
	restorecon -RF /srv/cache
	prepare a
	/job/catch /srv/cache "$1" >"$T/caught" &
	catcher=$!
	(cd /var/lib/containers/ct/a && exec gpuhelper-runc --root /run/ct run a </dev/null >"$T/a.said" 2>&1) &
	running=$!
	wait $catcher && helper=$(cat "$T/caught") && ! labelled $SHARED /srv/cache
}
parent() { sed -n 's/^PPid:[^0-9]*//p' "/proc/$1/status"; }
t "gpuhelper-label is stopped while it labels" stop_while container_file_t
kill -KILL "$helper"
wait $running
ran a
t "after its kill no container starts" fails grep -q label= "$OUT/a"
t "the refusal says so" refused a 'gpuhelper-label ended without an answer'
t "the audit log says what it was doing" sh -c 'tail -n 3 /var/log/gpuhelper/audit.jsonl | grep -q "\"event\":\"grant\".*\"container\":\"a\".*\"path\":\"/srv/cache\".*\"relabel\":\"shared\""'
gpuhelperctl reap
t "no lease is left" is "$(ls /run/gpuhelper/leases)" ""
t "the next request completes the labelling" runs a
t "everything is labelled" labelled $SHARED /srv/cache
t "it is stopped again, while its helper waits for it" stop_while container_file_t
kill -KILL "$(parent "$helper")"
wait $running
t "after the helper's kill the stopped gpuhelper-label ends, too" soon fails kill -0 "$helper"
gpuhelperctl reap
t "no lease is left" is "$(ls /run/gpuhelper/leases)" ""
t "the next request completes that, too" runs a
t "it is stopped once more" stop_while container_file_t
kill -KILL "$(parent "$(parent "$helper")")"
kill -CONT "$helper"
wait $running
ran a
t "after the asker's kill it ends" soon fails kill -0 "$helper"
t "it has labelled nothing more" fails labelled $SHARED /srv/cache
gpuhelperctl reap
t "no lease is left" is "$(ls /run/gpuhelper/leases)" ""
t "it is stopped while it only looks" stop_while var_t
sleep 4
kill -CONT "$helper"
wait $running
ran a
t "it gives up if that takes too long" refused a 'there is too much in it to be labelled while a container waits'
t "nothing was changed" labelled $VAR /srv/cache
t "it is stopped while it labels" stop_while container_file_t
# longer than it may label, but not so long that it is killed (helper/root/node/askrelabel.c)
sleep 6.2
kill -CONT "$helper"
wait $running
ran a
t "it gives that up, too, and says that it had begun" refused a 'too much in it to be labelled while a container waits, and it is labelled in part by now'
tail -n 3 /var/log/gpuhelper/audit.jsonl >"$T/log"
t "the audit log has the grant and its undo" is "$(sed -n 's/.*"event":"\([a-z]*\)".*/\1/p' "$T/log" | tr '\n' ' ')" "grant undo refuse "
gpuhelperctl reap
t "no lease is left" is "$(ls /run/gpuhelper/leases)" ""
cp -a /home/worker/c /home/worker/c2
# worker_asks N: the same for a container of worker's
worker_asks() { cp "$T/worker.json" "/home/worker/c$1/config.json" && (cd "/home/worker/c$1" && exec setpriv --reuid worker --regid worker --init-groups -- gpuhelper-runc --root /tmp/w create "w$1" </dev/null) >"$T/said$1" 2>&1; }
restorecon -RF /srv/cache
/job/catch /srv/cache container_file_t >"$T/caught" &
catcher=$!
worker_asks '' &
running=$!
t "a user's gpuhelper-label is stopped while it labels" wait $catcher
t "meanwhile this user's next one does not begin" fails worker_asks 2
t "the refusal says so" grep -q 'is labelling folders for another container of uid 1000: try again' "$T/said2"
t "root's does" runs a
kill -KILL "$(cat "$T/caught")"
wait $running
t "this user's does after the first one's end" worker_asks 2
worker crun --root /tmp/w delete -f w2
rm -r /srv/cache/many

echo "# file systems of users"
tree /srv/cache
chown -R worker:worker /srv/cache
chmod 777 /srv/cache
# mounted DIR [OPTION]: mounts worker's file system that never answers on DIR; in the end it is always unmounted
mounted() {
	/job/fuse "$1" 1000 ${2-} &
	fuse=$!
	soon grep -q " $1 fuse " /proc/mounts
	(sleep 60; exec kill $fuse) 2>/dev/null &
	watch=$!
}
unmounted() {
	kill $watch $fuse
	wait $fuse
	soon umount -l "$1"
}
modprobe fuse
t "a user mounts a file system in the folder, without access for others" mounted /srv/cache/a/mounted
t "it is left out like any mount" runs a
t "its process is still there" kill -0 $fuse
unmounted /srv/cache/a/mounted
t "the folder is labelled" labelled $SHARED /srv/cache
restorecon -RF /srv/cache
t "the user mounts one that everybody may use, and that never answers" mounted /srv/cache/a/mounted allow_other
t "nobody waits for it" runs a
t "its process is still there" kill -0 $fuse
unmounted /srv/cache/a/mounted
t "the folder is labelled" labelled $SHARED /srv/cache
t "the user mounts such a file system on the folder itself" mounted /srv/cache allow_other
run a
t "no container waits for ever" kill -0 $fuse
t "nor does a helper" soon fails pidof gpuhelper
t "nor gpuhelper-label" soon fails pidof gpuhelper-label
unmounted /srv/cache

echo "# a user who changes the folder meanwhile"
tree /srv/cache
mkdir /srv/cache/here
ln -s /srv/outsiders /srv/cache/link
i=0
while [ $i -lt 200 ]; do : >"/srv/cache/here/f$i"; i=$((i + 1)); done
restorecon -RF /srv/cache
chown -R worker:worker /srv/cache
chmod 777 /srv/cache
setpriv --reuid worker --regid worker --clear-groups -- /job/swap /srv/cache /srv/outside 2>"$T/err" &
swapper=$!
i=0
while [ $i -lt 9 ]; do
	run a
	i=$((i + 1))
	[ $((i % 3)) != 0 ] || restorecon -RF /srv/cache 2>/dev/null
done
t "control: the user changed it all the time" kill $swapper
t "nothing outside of it was labelled" is "$(label /srv/outside) $(label /srv/outsiders) $(label /srv/outsiders/file)" \
    "unconfined_u:object_r:var_t:s0 unconfined_u:object_r:var_t:s0 unconfined_u:object_r:var_t:s0"
rm -f /srv/cache/name
t "after the user has stopped, it is labelled" runs a
t "everything is labelled" labelled $SHARED /srv/cache

echo "# the socket"
chmod u-s /usr/libexec/gpuhelper/gpuhelper
restorecon -RF /srv/cache
t "gpuhelper.socket starts" systemctl start gpuhelper.socket
t "a container with the folder, granted by the service" runs a
t "it is labelled" labelled $SHARED /srv/cache
tree /mnt/cache
chcon -R -t mnt_t /mnt/cache
gives 20-mnt /mnt/cache 'relabel = "shared";'
asks b /mnt/cache true
run b
t "a folder that the unit makes read-only is refused, with the line that the unit needs" refused b \
    'folder /mnt/cache: can.t be labelled: it is read-only' 'ReadWritePaths=/mnt/cache' 'systemctl edit gpuhelper@.service'
t "nothing was granted before" sh -c '! tail -n 2 /var/log/gpuhelper/audit.jsonl | grep -e undo -e "grant.*mnt"'
mkdir -p /run/systemd/system/gpuhelper@.service.d
printf '%s\n' '[Service]' ReadWritePaths=/mnt/cache >/run/systemd/system/gpuhelper@.service.d/test.conf
systemctl daemon-reload
t "with that line it is granted" runs b
t "it is labelled" labelled $SHARED /mnt/cache
t "a user mounts a file system that does not answer on a folder" mounted /srv/cache allow_other
run a
t "the service does not wait for it" kill -0 $fuse
t "the journal reports no failure" sh -c '! journalctl -q -b -u "gpuhelper@*.service" | grep -i -e fail -e alrm'
unmounted /srv/cache
systemctl stop gpuhelper.socket
chmod u+s /usr/libexec/gpuhelper/gpuhelper

echo "# permissive"
t "no denial of the helper so far" clean
setsebool gpuhelper_relabel_folders off
forget
restorecon -RF /srv/cache
run a
t "control: enforcing, without the boolean, it is refused" refused a 'may not relabel'
setenforce 0
ln /srv/outside /srv/cache/outside
t "permissive: a folder that cannot be relabelled is granted" runs a
rm /srv/cache/outside
t "permissive: other folders are relabelled" runs a
setenforce 1
t "nothing is wrong then" labelled $SHARED /srv/cache

none_failed() { systemctl --failed --no-legend --no-pager >"$T/out"; ! grep gpuhelper "$T/out"; }
t "no unit of ours has failed" none_failed
echo "1..$n"
[ $bad = 0 ]
