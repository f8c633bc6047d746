#!/bin/sh
# Privilege is a directory: the lists below say what the object files of helper/ROOM, and of the rooms beneath it, may
# call, and their symbols are checked against the lists; which rooms a room includes is checked against a table.  Also
# checks the shape of the programs and of the source.  TAP.
#
#   rooms.sh [BUILD]		BUILD: where make put its archives and programs (default: build)
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$here/build}
n=0 failed=0

ok() { # ok NAME STATUS [FILE with why]
	n=$((n + 1))
	if [ "$2" = 0 ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		[ -z "${3:-}" ] || sed 's/^/# /' "$3" | head -n 40
		failed=1
	fi
}

for f in libpure.a libhost.a liblook.a libengine.a libread.a libjudge.a libuser.a libroot.a liblabel.a libctl.a gpuhelper gpuhelper-look gpuhelper-engine gpuhelper-read gpuhelper-judge gpuhelper-judge-udev gpuhelper-label gpuhelper-runc gpuhelper-wait gpuhelperctl; do
	[ -e "$build/$f" ] || { echo "Bail out! $build/$f is not there: run make"; exit 1; }
done
tmp=$(mktemp -d "${TMPDIR:-/tmp}/gpuhelper-rooms.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT

# The pure rooms make no system call.  libpure.a has them, and nothing else.
pure='base json kernel gpu cdi lease policy ask vet'

# A pure room computes: memory, strings, text into memory, and functions of jansson, nettle and gmp that do no more.
# read/ may also use libconfig and libyaml, and judge/ hogweed; host/ finds explain's keys.  A symbol that is not listed
# fails.
# _FORTIFY_SOURCE's «__x_chk» counts as x.
# _GLOBAL_OFFSET_TABLE_ is no function: the compiler names it where the address of a function of another file is taken,
# and that function is named too.
pure_may='malloc calloc realloc reallocarray free qsort abort
memchr memcmp memcpy memmove memset memmem mempcpy explicit_bzero
strlen strnlen strcmp strncmp strcasecmp strncasecmp strchr strchrnul strrchr strstr strspn strcspn strpbrk strdup strndup
snprintf vsnprintf asprintf vasprintf __stack_chk_fail
_GLOBAL_OFFSET_TABLE_
json_[a-z_0-9]* nettle_[a-z_0-9]* __gmpz_[a-z_0-9]*'
read_may='config_init config_destroy config_read_string config_error_[a-z]* config_lookup config_root_setting config_setting_[a-z_]*
yaml_parser_(initialize|delete|parse|set_encoding|set_input_string) yaml_event_delete
settings_text cdi_registry_load'
judge_may='issuer_keys_find gpus_here'
pure_not='json_load_file json_loadf json_loadfd json_load_callback json_dump_file json_dumpf json_dumpfd json_dump_callback'

# host/ reads.  It changes nothing on the host, becomes no other user, starts no program.
changes='write pwrite writev pwritev p?write(v|v2)?(64)? fwrite fputs? fputc putc puts fprintf vfprintf dprintf vdprintf
ftruncate(64)? truncate(64)? fallocate(64)? posix_fallocate(64)? copy_file_range sendfile(64)? splice
creat(64)? mkstemp(64)? mkostemp(64)? mkdtemp tmpfile(64)? unlink unlinkat rename renameat renameat2 remove link linkat symlink
symlinkat mkdir mkdirat rmdir mknod mknodat __xmknod(at)? mkfifo mkfifoat
chmod fchmod fchmodat chown fchown lchown fchownat utime utimes utimensat futimens futimes lutimes
l?setxattr fsetxattr l?removexattr fremovexattr
flock lockf(64)? ioctl'
becomes='set(res|re|e)?[ug]id setfs[ug]id setgroups initgroups capset cap_set_[a-z]* prctl setsid setpgid setns unshare chroot
pivot_root mount umount umount2 setfilecon l?setfilecon fsetfilecon setcon setexeccon setfscreatecon ptrace reboot swapon
init_module finit_module'
starts='fork vfork _Fork clone clone3 exec[a-z]* fexecve posix_spawn[a-z_]* system popen wordexp pthread_create thrd_create
dlopen dlsym dlmopen'
# Name services load libraries and use the network, as /etc/nsswitch.conf says; root must not call them.
nss='getpw(nam|uid|ent)(_r)? getgr(nam|gid|ent)(_r)? setpwent setgrent getgrouplist initgroups getaddrinfo gethostby[a-z_0-9]*
getservby[a-z_0-9]* getspnam(_r)? getlogin(_r)? cuserid setlocale newlocale iconv_open gettext dcgettext bindtextdomain
getenv secure_getenv putenv setenv'
# The runtime and the engine inherit the rights of user/ and ctl/, which must never exceed the caller's.
never_more="$becomes"
user_may='prctl setsid'		# PR_SET_PDEATHSIG; setsid() keeps terminal signals from a process of ours

pattern() { # pattern WORD...: one extended regular expression for all words
	printf '%s' "$*" | tr -s ' \n\t' '|||' | sed 's/^|//; s/|$//'
}

# foreign ROOM ARCHIVE: prints the symbols that the room may not use, as «object: symbol»
foreign() {
	nm -A -u "$2" 2>/dev/null | awk '{ o = $1; sub(/:$/, "", o); sub(/.*:/, "", o); s = $NF; sub(/@.*/, "", s)
	    if (s ~ /^__.*_chk$/ && s != "__stack_chk_fail") { sub(/^__/, "", s); sub(/_chk$/, "", s) }
	    sub(/^__isoc(99|23)_/, "", s); print o ": " s }' | sort -u >"$tmp/symbols"
	case $1 in
	pure | read | judge)
		case $1 in
		pure) may=$pure_may ;;
		read) may="$pure_may $read_may" ;;
		judge) may="$pure_may $judge_may" ;;
		esac
		nm --defined-only "$build/libpure.a" "$2" 2>/dev/null | awk 'NF == 3 && $2 ~ /[TDBRVW]/ { print $3 }' | sort -u \
		    >"$tmp/own"
		awk -v may="^($(pattern "$may"))\$" -v not="^($(pattern "$pure_not"))\$" 'NR == FNR { own[$1] = 1; next }
		    ($2 in own) { next } $2 !~ may || $2 ~ not' "$tmp/own" "$tmp/symbols" ;;
	host)	grep -E ": ($(pattern "$changes $becomes $starts $nss"))\$" "$tmp/symbols" ;;
	# waiterfile.c labels a memfd of ours, which has no name; the kernel asks the caller's own label whether it may
	user)	grep -E ": ($(pattern "$never_more l?setxattr fsetxattr mknod mknodat $nss"))\$" \
		    "$tmp/symbols" | grep -vE ": ($(pattern "$user_may getenv setenv"))\$" |
		    grep -vx 'waiterfile\.o: fsetxattr' ;;
	# one file executes our other programs
	root)	grep -E ": ($(pattern "$starts $nss"))\$" "$tmp/symbols" | grep -vxE 'spawn\.o: (fork|fexecve)' ;;
	# main.c forks the process that looks, and copies.c copies of that; each ends with its parent
	look)	grep -E ": ($(pattern "$changes $becomes $starts $nss kill"))\$" "$tmp/symbols" |
		    grep -vxE '(main|copies)\.o: (fork|prctl)' ;;
	engine)	grep -E ": ($(pattern "$changes $becomes $starts $nss kill"))\$" "$tmp/symbols" ;;
	# relabel.c walks folders by their descriptors, and labels what they contain
	label)	grep -E ": ($(pattern "$changes $becomes $starts $nss open(64)?"))\$" "$tmp/symbols" |
		    grep -vx 'relabel\.o: setxattr' ;;
	# libcurl.c loads a library that few hosts need; a child of end.c gives its rights up for good
	ctl)	grep -E ": ($(pattern "$never_more l?setxattr fsetxattr mknod mknodat dlopen dlsym"))\$" \
		    "$tmp/symbols" | grep -vxE 'libcurl\.o: dl(open|sym)|end\.o: set(groups|resgid|resuid)' ;;
	esac
}

for room in pure read judge host user root look engine label ctl; do
	archive=$build/lib$room.a
	case $room in look | engine)
		# its main file, too, which no archive has
		archive=$tmp/$room.a
		cp "$build/lib$room.a" "$archive" && ar q "$archive" "$build/helper/$room/main.o" ;;
	esac
	foreign $room "$archive" >"$tmp/foreign"
	case $room in
	pure) room="{$(echo $pure | tr ' ' ',')}" says='compute, and call nothing that could reach the host' ;;
	read) says='computes, too, with the parsers; who has files read for himself is told them by host/' ;;
	judge) says='computes, too: whose a token is, and what a container gets; host/ reads for it' ;;
	host) says='reads, and changes nothing, becomes no one, starts nothing' ;;
	user) says='takes no more rights than the caller has' ;;
	root) says='runs no program but its own, loads no library, asks no name service' ;;
	look) says='reads, and changes nothing, becomes no one, starts nothing but copies of itself' ;;
	engine) says='reads, and changes nothing, becomes no one, starts nothing' ;;
	label) says='opens nothing by a path, changes nothing but labels, becomes no one, starts nothing' ;;
	ctl) says='takes no more rights than its user has' ;;
	esac
	[ -s "$tmp/symbols" ] && ! [ -s "$tmp/foreign" ]
	ok "helper/$room $says" $? "$tmp/foreign"
done

# libpure.a has the pure rooms, and nothing else.
for r in $pure; do find "$here/helper/$r" -name '*.c' | sed 's|.*/||; s|c$|o|'; done | sort >"$tmp/wanted"
ar t "$build/libpure.a" | sort | diff "$tmp/wanted" - >"$tmp/found"
ok "libpure.a has each file of the pure rooms, and no other" $? "$tmp/found"

# A file that has one caller stands beside it.  These make no use of what their room may call, and must not begin to: they
# are held to the list of the pure rooms, or of host/.
tr -s ' ' >"$tmp/held" <<END
pure user/privilege/annotationkeys user/spec/devrules ctl/cdi/cdiapply ctl/cdi/cdimake ctl/cdi/elflib ctl/cdi/ldcache \
    ctl/gpus/healthlog
host user/cgroup/cgroupabove user/mount/writablemounts ctl/cdi/cdigroups ctl/cdi/cdihost
END
while read -r as files; do
	rm -f "$tmp/beside.a"
	for f in $files; do
		ar q "$tmp/beside.a" "$build/helper/$f.o" 2>/dev/null || echo "$f is not there"
	done >"$tmp/missing"
	foreign "$as" "$tmp/beside.a" >"$tmp/foreign"
	cat "$tmp/missing" >>"$tmp/foreign"
	[ -s "$tmp/symbols" ] && ! [ -s "$tmp/foreign" ]
	ok "held to the list of $as: $files" $? "$tmp/foreign"
done <"$tmp/held"

# syscall(2) bypasses the lists above, so its numbers are checked in the source
while read -r room allowed; do
	for r in $(case $room in pure) echo $pure ;; *) echo "$room" ;; esac); do find "$here/helper/$r" -name '*.c'; done |
	    xargs cat | grep -o '\<syscall([^,)]*' | sed 's/syscall(//' | sort -u | while read -r s; do
		case " 2 $allowed " in *" $s "*) ;; *) echo "helper/$room: syscall($s, ...)" ;; esac
	done
done >"$tmp/foreign" <<END
pure
host SYS_openat2 SYS_kcmp
user SYS_openat2 SYS_mount_setattr SYS_bpf SYS_close_range SYS_pidfd_open SYS_pidfd_send_signal
root SYS_ioprio_set SYS_close_range SYS_pidfd_open SYS_capget SYS_capset SYS_fsopen SYS_fsconfig SYS_fsmount
look
engine
read
judge
label
ctl
END
[ ! -s "$tmp/foreign" ]
ok "syscall() is used for a few calls that not every C library has a name for" $? "$tmp/foreign"

# only root of the host is root to helper/root, never root of a user namespace
grep -rn 'trust_in_namespace' "$here/helper/root" >"$tmp/foreign"
[ ! -s "$tmp/foreign" ]
ok "root is uid 0 to helper/root, and nobody else" $? "$tmp/foreign"

# This test's own test: it detects each forbidden symbol.
see() { # see ROOM C-TEXT SYMBOL
	printf '%s\n' "$2" >"$tmp/bad.c"
	rm -f "$tmp/bad.a"
	if ! ${CC:-gcc} -w -O0 -D_GNU_SOURCE -c -o "$tmp/bad.o" "$tmp/bad.c" 2>"$tmp/why" || ! ar rc "$tmp/bad.a" "$tmp/bad.o"; then
		ok "a bad object for $1 compiles" 1 "$tmp/why"
		return
	fi
	foreign "$1" "$tmp/bad.a" >"$tmp/found"
	grep -q ": $3\$" "$tmp/found"
	ok "this test sees $3() in an object of $1" $? "$tmp/found"
}
see pure '#include <fcntl.h>
int f(void); int f(void) { return open("/", 0); }' open
see pure '#include <stdlib.h>
char *f(void); char *f(void) { return getenv("HOME"); }' getenv
see pure '#include <time.h>
long f(void); long f(void) { return time(0); }' time
see read '#include <fcntl.h>
int f(void); int f(void) { return open("/etc/passwd", O_RDONLY); }' open
see pure 'int json_load_file(const char *); int f(void); int f(void) { return json_load_file("/etc/passwd"); }' json_load_file
see pure 'int config_read_file(void); int f(void); int f(void) { return config_read_file(); }' config_read_file
see pure 'int yaml_parser_set_input_file(void); int f(void); int f(void) { return yaml_parser_set_input_file(); }' yaml_parser_set_input_file
see pure '#include <locale.h>
char *f(void); char *f(void) { return setlocale(LC_ALL, ""); }' setlocale
see host '#include <unistd.h>
int f(void); int f(void) { return write(1, "", 1); }' write
see host '#include <sys/stat.h>
int f(void); int f(void) { return fchmodat(1, "", 1, 0); }' fchmodat
see host '#include <unistd.h>
int f(void); int f(void) { return execl("/bin/sh", "sh", (char *)0); }' execl
see host '#include <unistd.h>
int f(void); int f(void) { return setresuid(0, 0, 0); }' setresuid
see host '#include <sys/xattr.h>
int f(void); int f(void) { return setxattr("", "", "", 0, 0); }' setxattr
see user '#include <unistd.h>
int f(void); int f(void) { return setuid(0); }' setuid
see user '#include <sys/mount.h>
int f(void); int f(void) { return mount("", "", "", 0, 0); }' mount
see root '#include <stdlib.h>
int f(void); int f(void) { return system("x"); }' system
see root '#include <pwd.h>
void *f(void); void *f(void) { return getpwnam("x"); }' getpwnam
see root '#include <unistd.h>
int f(char **v); int f(char **v) { return execve(v[0], v, v); }' execve
see root '#include <dlfcn.h>
void *f(void); void *f(void) { return dlopen("x", 1); }' dlopen
see look '#include <unistd.h>
int f(void); int f(void) { return write(1, "", 1); }' write
see look '#include <unistd.h>
int f(char **v); int f(char **v) { return execve(v[0], v, v); }' execve
see look '#include <signal.h>
int f(void); int f(void) { return kill(1, 9); }' kill
see engine '#include <unistd.h>
int f(void); int f(void) { return write(1, "", 1); }' write
see label '#include <fcntl.h>
int f(void); int f(void) { return open("/etc/passwd", O_RDONLY); }' open
see label '#include <sys/stat.h>
int f(void); int f(void) { return fchmod(3, 0777); }' fchmod
see ctl '#include <unistd.h>
int f(void); int f(void) { return setgid(0); }' setgid
printf 'int f(char *); int f(char *s) { return s[0]; }\n' >"$tmp/good.c"
${CC:-gcc} -w -c -o "$tmp/good.o" "$tmp/good.c" && ar rc "$tmp/good.a" "$tmp/good.o"
foreign pure "$tmp/good.a" >"$tmp/found"
[ ! -s "$tmp/found" ]
ok "and nothing in an object that does nothing" $? "$tmp/found"

# The programs
needed() { readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }
libraries='json_[a-z_]* config_[a-z_]* yaml_[a-z_]* udev_[a-z_]* nettle_[a-z0-9_]* __gmp[a-z_0-9]*'
nm "$build/gpuhelper" | awk '{ s = $NF; sub(/@.*/, "", s); print "gpuhelper: " s }' >"$tmp/symbols"
grep -E ": ($(pattern "$libraries (strictjson|token|jwks?|policy|settings|cdi)_(parse|verify|object|read)[a-z_]*"))\$" "$tmp/symbols" >"$tmp/found"
grep -q ': reply_encode$' "$tmp/symbols" && ! [ -s "$tmp/found" ]
ok "gpuhelper has no library but the C library, and no parser of JSON, YAML, libconfig or keys" $? "$tmp/found"
for p in read=config_init judge=token_verify; do
	nm "$build/gpuhelper-${p%=*}" | awk '{ s = $NF; sub(/@.*/, "", s); print "it: " s }' |
	    grep -E ": ($(pattern "$libraries token_verify"))\$" | grep -q ": ${p#*=}\$"
	ok "this test sees ${p#*=}() in gpuhelper-${p%=*}" $?
done
# An engine that was taken over chooses every byte of these texts, and root's wrapper reads them.
nm -u "$build/helper/ask/drivereditsread.o" | awk '{ print "it: " $NF }' >"$tmp/symbols"
grep -E ": ($(pattern "$libraries strictjson_[a-z]*"))\$" "$tmp/symbols" >"$tmp/found"
grep -q ': doc_parse$' "$tmp/symbols" && ! [ -s "$tmp/found" ]
ok "what gpuhelper-engine writes for a driver is read by json/doc.c, and by no library" $? "$tmp/found"
needed "$build/gpuhelper-label" | grep -vxE 'lib(selinux|c)\.so\.[0-9]+' >"$tmp/found"
[ ! -s "$tmp/found" ]
ok "gpuhelper-label needs libselinux, and no other" $? "$tmp/found"
needed "$build/gpuhelper-judge-udev" | grep -vxE 'lib(udev|c)\.so\.[0-9]+' >"$tmp/found"
[ ! -s "$tmp/found" ]
ok "gpuhelper-judge-udev needs libudev, and no other" $? "$tmp/found"
for p in gpuhelper-label gpuhelper-judge-udev; do
	readelf -dW "$build/$p" | grep -q 'NODLOPEN\|NOOPEN' || readelf -dW "$build/$p" | grep -q 'FLAGS_1.*NOW'
	ok "$p is bound at its start" $?
done
{ readelf -dW "$build/gpuhelper" "$build/gpuhelper-look" "$build/gpuhelper-engine" "$build/gpuhelper-read" "$build/gpuhelper-judge" "$build/gpuhelper-judge-udev" "$build/gpuhelper-label" "$build/gpuhelper-runc" "$build/gpuhelperctl" | grep -E 'R(UN)?PATH|TEXTREL'
readelf -lW "$build/gpuhelper" "$build/gpuhelper-look" "$build/gpuhelper-engine" "$build/gpuhelper-read" "$build/gpuhelper-judge" "$build/gpuhelper-judge-udev" "$build/gpuhelper-label" "$build/gpuhelper-runc" "$build/gpuhelperctl" | grep -E 'GNU_STACK.* RWE'; } >"$tmp/found"
[ ! -s "$tmp/found" ]
ok "no program has a library path of its own, text relocations or an executable stack" $? "$tmp/found"
for p in gpuhelper gpuhelper-look gpuhelper-engine gpuhelper-runc gpuhelper-read gpuhelper-judge; do
	{ readelf -lW "$build/$p" | grep INTERP; needed "$build/$p"; } >"$tmp/found"
	[ ! -s "$tmp/found" ]
	ok "$p is static: no loader, no library" $? "$tmp/found"
done

{ readelf -lW "$build/gpuhelper-wait" | grep -E 'INTERP|GNU_STACK.* RWE| RWE '; needed "$build/gpuhelper-wait"; nm -u "$build/gpuhelper-wait" 2>&1 | grep -v 'no symbols'
grep -nE '^#include "' "$here"/helper/wait/*.[ch] | grep -vE '"(\.\./ask/waiting\.h|system\.h)"$'; } >"$tmp/found"
[ ! -s "$tmp/found" ] && [ "$(stat -c %s "$build/gpuhelper-wait")" -le 16384 ]
ok "gpuhelper-wait has no library, no part of ours but ask/waiting.h, and at most 16 KiB" $? "$tmp/found"

# The source
for f in $(cd "$here" && find helper -name '*.[ch]'); do
	LC_ALL=C tr -d '\200-\277' <"$here/$f" | LC_ALL=C awk -v f="$f" 'length > 120 { print f ":" FNR ": " length " characters" }'
done >"$tmp/found"
[ ! -s "$tmp/found" ]
ok "no line of helper/ is longer than 120 characters" $? "$tmp/found"
for f in $(cd "$here" && find helper -name '*.[ch]'); do
	awk -v f="$f" '/^\{/ { from = FNR } /^\}/ { if (from && FNR - from - 1 > 60) print f ":" from ": " FNR - from - 1 " lines"; from = 0 }
	    END { if (FNR > 700) print f ": " FNR " lines" }' "$here/$f"
done >"$tmp/found"
[ ! -s "$tmp/found" ]
ok "no function of helper/ is longer than 60 lines, no file than 700" $? "$tmp/found"

# The rooms, from the ground up, and which others each includes.  A room includes only rooms of rows above its own: so no
# two include each other, by whatever way, and none includes one with more rights.
table=$(cat <<END
base:
json: base
kernel: base
gpu: base json kernel
cdi: base gpu
lease: base json kernel gpu
policy: base json kernel gpu cdi lease
ask: base json kernel gpu cdi lease policy
vet: base kernel gpu cdi lease policy ask
host: base kernel ask
host/process: base kernel lease host
host/cgroup: base kernel gpu lease host host/process
host/folder: base lease policy host host/process
host/gpu: base gpu cdi host
host/driver: base gpu cdi lease policy host host/folder host/gpu
host/own: base json lease policy ask host host/driver
root/self: base host host/process host/own
root/enter: base kernel policy ask host host/process host/cgroup host/gpu host/own root/self
root/child: base kernel gpu lease policy ask host host/process host/gpu host/driver host/own root/self
root/log: base lease host host/own root/self root/enter
root/lease: base lease policy ask host host/process root/self root/enter root/log
root/node: base gpu lease policy ask host host/folder root/self root/enter root/child root/lease
root/end: base lease host host/process host/cgroup root/self root/enter root/child root/log root/lease \
    root/node
root/grant: base lease policy ask host host/process host/gpu host/own root/self root/enter \
    root/child root/log root/lease root/node root/end
root/verb: base json lease ask host host/process host/cgroup host/gpu host/own root/self root/enter root/child root/log \
    root/lease root/node root/end root/grant
root: base ask host/own root/self root/enter root/child root/grant root/verb
read/cdi: base json gpu cdi
read/conf: base kernel gpu cdi policy
read: base policy ask host/driver host/own root/self read/cdi read/conf
judge: base json gpu cdi policy ask host/gpu host/own root/self
look: base kernel lease policy ask host host/process host/cgroup host/folder host/own root/self
engine: base gpu lease policy ask host/gpu host/driver host/own root/self
label: base kernel ask host host/folder host/own root/self
wait: ask
user/command: base json kernel policy host
user/spec: base json gpu lease policy ask host
user/mount: base gpu lease policy host host/folder user/command user/spec
user/privilege: base json policy ask host host/folder user/spec
user/compose: base json gpu cdi lease policy user/command user/spec user/mount
user/cgroup: base kernel gpu lease host host/process host/cgroup
user/vet: base gpu lease policy ask vet host host/folder host/gpu host/driver host/own user/command
user/record: base json kernel lease ask host host/process host/cgroup host/gpu user/command
user/ask: base lease policy ask host host/process host/own user/command user/cgroup user/record
user/task: base json kernel policy ask vet host host/process user/command user/ask
user: base json kernel lease policy ask host host/cgroup host/gpu read/conf read user/command user/spec \
    user/mount user/privilege user/compose user/cgroup user/vet user/record user/ask user/task
ctl: base gpu policy host host/own read/conf read judge user/command
ctl/worker: base json kernel lease policy host host/process user/command user/spec user/task ctl
ctl/keys: base json policy host read judge ctl
ctl/cdi: base json gpu cdi host host/gpu host/driver read/cdi read ctl
ctl/audit: base json lease host ctl
ctl/gpus: base json gpu lease policy ask host host/process host/gpu host/driver read user/command user/cgroup \
    user/record user/ask ctl ctl/worker
ctl/explain: base json gpu cdi lease policy ask host host/folder host/gpu host/driver host/own read/conf read \
    judge user/command user/spec user/mount user/privilege user/compose ctl ctl/worker ctl/gpus
ctl/metrics: base policy ask host host/gpu host/own read/conf read ctl ctl/audit ctl/gpus
ctl/check: base json gpu policy host host/folder host/gpu host/driver host/own read/conf read judge label \
    user/command ctl ctl/worker ctl/gpus ctl/explain
ctl/doctor: base gpu cdi policy host host/gpu host/driver host/own read user/command user/mount user/cgroup \
    user/ask ctl ctl/worker ctl/keys ctl/cdi ctl/gpus
ctl/setup: base kernel policy host host/own read user/command user/mount ctl ctl/worker ctl/gpus
ctl/report: base json policy ctl ctl/audit
END
)

. "$here/tests/lib/arrows.sh"
# not_listed ROWS: prints the arrows on standard input that ROWS does not list
not_listed() {
	printf '%s\n' "$1" | awk '{ sub(/:/, "", $1); for (i = 2; i <= NF; i++) print $1, $i }' | sort >"$tmp/listed"
	comm -13 "$tmp/listed" -
}
(cd "$here" && arrows $(find helper -name '*.[ch]' | sort)) >"$tmp/files"
of_rooms helper <"$tmp/files" >"$tmp/rooms"
not_listed "$table" <"$tmp/rooms" >"$tmp/found"
[ -s "$tmp/rooms" ] && ! [ -s "$tmp/found" ]
ok "each room includes only the rooms that the table lists for it" $? "$tmp/found"
comm -23 "$tmp/listed" "$tmp/rooms" >"$tmp/found"
[ ! -s "$tmp/found" ]
ok "the table lists no room that is not included" $? "$tmp/found"
printf '%s\n' "$table" | awk '{ sub(/:/, "", $1); for (i = 2; i <= NF; i++) if (!($i in above)) print $1 ": " $i
	above[$1] = 1 }' >"$tmp/found"
[ ! -s "$tmp/found" ]
ok "no two rooms include each other: the table has each room below those that it includes" $? "$tmp/found"
printf '%s\n' "$table" | awk -v pure=" $pure " '{ sub(/:/, "", $1) } index(pure, " " $1 " ") {
	for (i = 2; i <= NF; i++) if (!index(pure, " " $i " ")) print $1 ": " $i }' >"$tmp/found"
[ ! -s "$tmp/found" ]
ok "a pure room includes only pure rooms" $? "$tmp/found"
tsort <"$tmp/files" >/dev/null 2>"$tmp/found"
[ ! -s "$tmp/found" ]
ok "no two files of helper/ include each other, by whatever way" $? "$tmp/found"
mkdir -p "$tmp/h/a" "$tmp/h/b/c"
printf '#include "../b/c/y.h"\n' >"$tmp/h/a/x.c"
printf '#include "../../a/x.h"\n' >"$tmp/h/b/c/y.h"
(cd "$tmp" && arrows h/a/x.c h/b/c/y.h) >"$tmp/two"
! tsort <"$tmp/two" >/dev/null 2>&1 && [ "$(of_rooms h <"$tmp/two" | not_listed 'a: b/c')" = 'b/c a' ]
ok "two that do are seen, and so is a room that the table does not list" $? "$tmp/two"

# A call is an arrow, too.  Only gpuhelperctl's table of subcommands is asked by what it lists: help, and completion.
calls() { # calls FILE...: prints which object calls which, in tsort(1)'s form
	nm -A -g "$@" | awk '{ o = $1; sub(/:$/, "", o); sub(/:[0-9a-f]+$/, "", o) }
	    NF == 2 { next } $(NF - 1) ~ /^[TDBR]$/ && $NF != "main" { by[$NF] = o }
	    $(NF - 1) == "U" { from[++n] = o; to[n] = $NF }
	    END { for (i = 1; i <= n; i++) if (to[i] in by && by[to[i]] != from[i]) print from[i], by[to[i]] }'
}
objects=$(cd "$here" && find helper -name '*.c' ! -path helper/wait/main.c | sed 's/c$/o/' | sort)
(cd "$build" && calls $objects) | grep -v '^helper/ctl/commands\.o ' >"$tmp/calls"
tsort <"$tmp/calls" >/dev/null 2>"$tmp/found"
[ -s "$tmp/calls" ] && ! [ -s "$tmp/found" ]
ok "no two files of helper/ call each other, by whatever way" $? "$tmp/found"
of_rooms helper <"$tmp/calls" >"$tmp/rooms"
printf '%s\n' "$table" | awk 'NR == FNR { sub(/:/, "", $1); row[$1] = NR; next } !(row[$2] < row[$1])' - "$tmp/rooms" >"$tmp/found"
[ -s "$tmp/rooms" ] && ! [ -s "$tmp/found" ]
ok "each room calls only rooms of rows above its own" $? "$tmp/found"
printf 'int b(void); int a(void); int a(void) { return b(); }\n' >"$tmp/a.c"
printf 'int a(void); int b(void); int b(void) { return a(); }\n' >"$tmp/b.c"
(cd "$tmp" && ${CC:-gcc} -w -O0 -c a.c b.c && calls a.o b.o) >"$tmp/two" && ! tsort <"$tmp/two" >/dev/null 2>&1
ok "two that do are seen" $? "$tmp/two"

(cd "$here" && find helper -name '*.[ch]' ! -name main.c) | sed 's|.*/||' | sort | uniq -d >"$tmp/found"
[ ! -s "$tmp/found" ]
ok "no two files of helper/ have one name, except each program's main.c" $? "$tmp/found"

echo "1..$n"
exit $failed
