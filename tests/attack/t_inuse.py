"""A rootless container's lease lasts exactly as long as the caller's processes use the node, however they hide the use.

No user's processes, mounts or cgroups delay other users.  Also: leases that share ACL entries and nodes.
"""
import glob
import os
import pwd
import signal
import subprocess
import time

import client
from client import exchange, once
from harness import *
from t_acl import ALL, NODE, Closed, acl, entry, mapped, setfacl, uid
from t_lease import Openable, planted, v1_hierarchy

SHARED = 'identity = "caller"; callers = [ "%s" ];\ngpus = ( { vendor = "nvidia"; devices = [ "%s" ]; sharing = "shared"; share_limit = %d; } );'


def build(name, text, *options):
    write("%s/%s.c" % (TEMP, name), text)
    subprocess.run(["cc", "-w", "-O1", *options, "-o", program(name), "%s/%s.c" % (TEMP, name)], check=True)


def held_from(user="victim"):
    """The attacker's asker is gone: does the lease still keep the GPU from the victim?"""
    granted(once("attacker", exchange, gpus=GPU0))
    status, answer = once(user, exchange, gpus=GPU0)
    client.look()
    return status == 75


# Processes that keep a lease

@case("U1", "Ids that a request claims without being the caller's: another user's process does not keep the lease")
def u1():
    with Openable(), background("sh", "-c", "exec 3</dev/nvidia9; echo; exec sleep 60", user="victim") as p:
        p.stdout.readline()
        granted(once("attacker", exchange, gpus=GPU0, uids=[[0, 0, 4294967294]], uid=uid("attacker")))
        granted(once("victim", exchange, gpus=GPU0))


@case("U2", "A process with a subordinate id that the request did not name keeps the lease")
def u2():
    with Subids("attacker:300000:1000\n"), Openable():
        fd = os.open("/dev/nvidia9", os.O_RDONLY)
        with background("sh", "-c", "echo; exec sleep 60", user=300005, stdin=fd) as p:
            p.stdout.readline()
            os.close(fd)
            assert held_from()
        assert not held_from()


THREAD = r'''
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>
static char **av;
static void *t(void *x)
{
	if (strcmp(av[1], "own") == 0 && unshare(CLONE_FILES) == -1) exit(1);
	if (open(av[2], O_RDONLY) == -1) exit(2);
	write(1, "\n", 1);
	for (;;) pause();
}
int main(int c, char **v) { pthread_t p; av = v; pthread_create(&p, 0, t, 0);
	if (strcmp(v[1], "leader") == 0) syscall(SYS_exit, 0);
	for (;;) pause(); }
'''


@case("U3", "A thread with its own descriptor table, or one whose leader has exited, keeps the lease")
def u3():
    build("thread", THREAD, "-pthread")
    with Openable():
        for how in "own", "leader", "plain":
            with background(program("thread"), how, "/dev/nvidia9", user="attacker") as p:
                assert p.stdout.readline() == b"\n"
                time.sleep(0.1)
                assert held_from(), how
            assert not held_from(), how


CHROOTED = r'''
import os, sys, time, ctypes
libc = ctypes.CDLL(None, use_errno=True)
u, g = os.getuid(), os.getgid()
assert libc.unshare(0x10020000) == 0
open("/proc/self/setgroups", "w").write("deny")
open("/proc/self/uid_map", "w").write("0 %d 1" % u)
open("/proc/self/gid_map", "w").write("0 %d 1" % g)
assert libc.mount(b"/dev/nvidia9", sys.argv[1].encode(), None, 4096, None) == 0, ctypes.get_errno()
if "alone" not in sys.argv and os.fork() == 0:
    time.sleep(60); os._exit(0)
os.chroot("/proc" if "chrooted" in sys.argv else "/")
print(flush=True)
time.sleep(60)
'''


@case("U4", "A container's first process sees only a part of its mounts (chroot): its other processes keep the lease")
def u4():
    target, script = TEMP + "/scratch/node", TEMP + "/scratch/chrooted.py"
    write(script, CHROOTED)
    with Openable():
        # alone, it may still have a descriptor that leads to the rest
        for how in [], ["chrooted"], ["chrooted", "alone"]:
            write(target, "", 0o666)
            with background("python3", script, target, *how, user="attacker") as p:
                assert p.stdout.readline() == b"\n"
                assert held_from(), how
            subprocess.run(["pkill", "-KILL", "-u", "attacker", "python3"])
            for _ in range(50):
                if subprocess.run(["pgrep", "-u", "attacker", "python3"], capture_output=True).returncode:
                    break
                time.sleep(0.05)
            os.unlink(target)
            assert not held_from()
    os.unlink(script)


MAPPER = r'''
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] + [ctypes.c_long]
fd = os.open(sys.argv[1], os.O_RDONLY)
assert libc.mmap(None, 4096, 1, 2, fd, 0) != ctypes.c_void_p(-1).value
os.close(fd)
print(flush=True)
time.sleep(60)
'''


@case("U13", "A process that has mapped the node, and closed it, keeps the lease")
def u13():
    script = TEMP + "/scratch/mapper.py"
    write(script, MAPPER)
    with Openable(5):
        with background("python3", script, "/dev/nvidia5", user="attacker") as p:
            assert p.stdout.readline() == b"\n"
            assert held_from()
        assert not held_from()
    os.unlink(script)


@case("U14", "A container that shares the host's PIDs is over once nobody is in its mount namespace, and not before")
def u14():
    with background("unshare", "-m", "sh", "-c", "echo; exec sleep 60") as p:
        assert p.stdout.readline() == b"\n"
        planted("shares", "root", gpus=[{"vendor": "nvidia", "pci": GPU0, "part": "", "exclusive": True, "limit": 0}],
                mounts=os.stat("/proc/%d/ns/mnt" % p.pid).st_ino)
        refused(once("victim", exchange, gpus=GPU0), 75, "free")
    granted(once("victim", exchange, gpus=GPU0))


OWN_ROOT = """
set -e
mount -t tmpfs none "$1"
mkdir "$1/rw" "$1/old"
mount --bind /srv/rw "$1/rw"
cd "$1"
pivot_root . old
echo
exec /old/bin/busybox sleep 60
"""


@case("U15", "A process with a root directory of its own that has mounted a granted folder keeps the lease")
def u15():
    target = TEMP + "/scratch/root"
    os.makedirs(target)
    with background("unshare", "-Urm", "sh", "-c", OWN_ROOT, "-", target, user="attacker") as p:
        assert p.stdout.readline() == b"\n"
        # with SELinux, a lease has its folders
        of = next(l.split() for l in reversed(read("/proc/self/mountinfo").splitlines()) if l.split()[4] == "/srv")
        planted("f", "attacker", users=[{"first": uid("attacker"), "size": 1}],
                folders=[{"path": "/srv/rw", "fs": of[2], "place": of[3].rstrip("/") + "/rw", "relabel": "shared"}])
        client.look()
        assert len(leases()) == 1, leases()
    client.look()
    assert leases() == [], leases()
    os.rmdir(target)


GROUPS = r'''
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int c, char **v)
{
	gid_t g[10000];
	int i, go;
	if (unshare(CLONE_NEWUSER) == -1) { perror("unshare"); return 1; }
	/* newuidmap and newgidmap come from outside */
	dprintf(1, "%d\n", getpid());
	char b; read(0, &b, 1);
	for (i = 0; i < 10000; i++) g[i] = i;
	if (setgroups(10000, g) == -1) { perror("setgroups"); return 1; }
	if (open(v[1], O_RDONLY) == -1) { perror("open"); return 1; }
	prctl(PR_SET_DUMPABLE, 0);
	dprintf(1, "ready\n");
	for (;;) pause();
}
'''


@case("U5", "Another user's process keeps no lease by having very many groups")
def u5():
    build("groups", GROUPS)
    # a shared GPU, because nobody gets an exclusive one that a process in a user namespace has open
    with Subids("attacker:300000:65536\n"), Openable(), etc(), \
            background(program("groups"), "/dev/nvidia9", user="attacker", stdin=subprocess.PIPE) as p:
        pid, me = int(p.stdout.readline()), pwd.getpwnam("attacker")
        # the maps that newuidmap and newgidmap would write
        for name, ident in ("uid_map", me.pw_uid), ("gid_map", me.pw_gid):
            with open("/proc/%d/%s" % (pid, name), "w") as f:
                f.write("0 %d 1\n1 300000 65535\n" % ident)
        p.stdin.write(b"x")
        p.stdin.flush()
        assert p.stdout.readline() == b"ready\n"
        write(POLICIES + "/10-shared.conf", SHARED % ("victim", GPU0, 2))
        granted(once("victim", exchange, gpus=GPU0))
        client.look()
        assert leases() == []


# Delays for others

MANY = r'''
/* many COUNT BIG LINES: COUNT little mount namespaces, then BIG processes in one with LINES mounts */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
static void put(const char *f, const char *t) { int fd = open(f, O_WRONLY); if (fd == -1 || write(fd, t, strlen(t)) < 0) { perror(f); } close(fd); }
int main(int c, char **v)
{
	int n = atoi(v[1]), big = atoi(v[2]), lines = atoi(v[3]), i;
	char t[64], dir[4096] = "/tmp/";
	uid_t u = getuid(); gid_t g = getgid();
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) == -1) { perror("unshare"); return 1; }
	put("/proc/self/setgroups", "deny");
	snprintf(t, 64, "0 %d 1", u); put("/proc/self/uid_map", t);
	snprintf(t, 64, "0 %d 1", g); put("/proc/self/gid_map", t);
	for (i = 0; i < n; i++)
		if (fork() == 0) { if (unshare(CLONE_NEWNS) == -1) perror("unshare2"); prctl(PR_SET_PDEATHSIG, SIGKILL); for (;;) pause(); }
	usleep(300000);
	if (fork()) for (;;) pause();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWNS) == -1) perror("unshare3");
	if (mount("none", "/tmp", "tmpfs", 0, "size=1m") == -1) perror("tmpfs");
	mkdir("/tmp/d", 0777);
	for (i = 0; i < lines; i++) if (mount("/tmp/d", "/tmp/d", NULL, MS_BIND, NULL) == -1) { perror("bind"); break; }
	fprintf(stderr, "%d lines\n", i);
	for (i = 0; i < big; i++)
		if (fork() == 0) { prctl(PR_SET_PDEATHSIG, SIGKILL); for (;;) pause(); }
	write(1, "\n", 1);
	for (;;) pause();
}
'''


@case("U6", "Very long mount tables in very many processes delay nobody", 60)
def u6():
    build("many", MANY)
    with Openable():
        worst = 0
        for small, big, lines in (0, 1, 100), (70, 330, 100), (70, 330, 3000):
            with background(program("many"), str(small), str(big), str(lines), user="attacker") as p:
                p.stdout.readline()
                time.sleep(0.3)
                granted(once("attacker", exchange, gpus=GPU0))
                for _ in range(2):
                    began = time.monotonic()
                    granted(once("victim", exchange, gpus=None, folders="/srv/ro"))
                    worst = max(worst, time.monotonic() - began)
            time.sleep(0.5)
            client.look()
        print("# 400 processes, 71 mount namespaces, up to 3000 mounts each: another user waited for %.3f s at most" % worst)
        assert worst < 2, worst


CROWD = r'''
/* crowd COUNT: so many processes that do nothing */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int c, char **v)
{
	int n = atoi(v[1]), i, done = 0;
	for (i = 0; i < n; i++) {
		int p = fork();
		if (p == 0) { prctl(PR_SET_PDEATHSIG, SIGKILL); for (;;) pause(); }
		done += p > 0;
	}
	fprintf(stderr, "%d\n", done);
	write(1, "\n", 1);
	for (;;) pause();
}
'''


@case("U7", "A crowd of another user's processes does not keep an ended lease for long", 60)
def u7():
    build("crowd", CROWD, "-static")
    with Openable(), etc():
        write(POLICIES + "/10-shared.conf", SHARED % ("victim", GPU0, 100))
        with background(program("crowd"), "6000", user="attacker") as p:
            p.stdout.readline()
            for n in range(4):
                granted(once("victim", exchange, id="v%d" % n, gpus=GPU0))
            began = time.monotonic()
            client.look()
            took = time.monotonic() - began
            # on a busy machine one look may not have the time for all leases
            while leases() != [] and time.monotonic() - began < 15:
                time.sleep(0.2)
                client.look()
            print("# 6000 processes: a look took %.3f s, and the leases ended after %.3f s" % (took, time.monotonic() - began))
            assert leases() == [] and took < 2, (len(leases()), took)
        for _ in range(200):
            if len(glob.glob("/proc/[0-9]*")) < 1000:
                break
            time.sleep(0.05)


def folder_leases(count, cgroup):
    for n in range(count):
        granted(exchange(id="g%d" % n, gpus=None, folders="/srv/ro", cgroups_path=cgroup))


def directories(top):
    os.mkdir(top)
    for i in range(16):
        os.mkdir("%s/%d" % (top, i))
        for k in range(254):
            os.mkdir("%s/%d/%d" % (top, i, k))


@case("U8", "On cgroup v1, leases that name a very wide cgroup tree of their user's delay nobody", 120)
def u8():
    top = os.path.dirname(v1_hierarchy()) + "/systemd"
    if not os.path.isdir(top):
        raise Skip("there is no hierarchy of systemd's in /sys/fs/cgroup")
    own = "/u-" + CGROUP
    top += own
    os.mkdir(top)
    os.chown(top, uid("attacker"), -1)
    try:
        with asker("attacker") as a:
            a.call(folder_leases, 100, own + "/x")
            a.call(directories, top + "/x")
        began = time.monotonic()
        granted(once("victim", exchange, gpus=None, folders="/srv/ro"))
        took = time.monotonic() - began
        print("# 100 leases, 4080 cgroups beneath each one's: another user waited for %.3f s" % took)
        assert took < 2, took
    finally:
        subprocess.run(["find", top, "-depth", "-type", "d", "-exec", "rmdir", "{}", "+"])
        client.look()


# Leases that share ACL entries and nodes

@case("U9", "An ACL entry that an administrator adds during a lease still works after it")
def u9():
    with Closed():
        setfacl("-m", "u:bin:r,m::r", NODE)
        with asker("attacker") as a:
            granted(a.grant(gpus=GPU0))
            setfacl("-m", "u:games:rw", NODE)
        client.look()
        assert "mask::rw-" in acl() and entry("attacker") == [], acl()
        setfacl("-b", NODE)
        os.chmod(NODE, 0o600)


@case("U10", "A node that was made for a lease, removed, and made again for a second lease goes with the last lease")
def u10():
    for order in "av", "va":
        with Closed(), without("/dev/nvidiactl"), asker("attacker") as a, asker("victim") as v:
            granted(a.grant(gpus=GPU0))
            os.unlink("/dev/nvidiactl")
            granted(v.grant(gpus=GPU1))
            for who in order:
                {"a": a, "v": v}[who].end()
                client.look()
            assert not os.path.exists("/dev/nvidiactl"), order


def ask_as_group(gid):
    """In root's asker: takes the ids that newgrp(1) or sg(1) give the attacker."""
    p = pwd.getpwnam("attacker")
    os.initgroups("attacker", p.pw_gid)
    os.setresgid(gid, gid, gid)
    os.setresuid(p.pw_uid, p.pw_uid, p.pw_uid)
    return exchange(gpus=GPU0, gids=[[0, gid, 1]], gid=0)


@case("U11", "newgrp: a group that is not the caller's primary group gets no entry, even if the caller is its only member")
def u11():
    if not os.path.exists("/sys/dev/char/1:9"):
        raise Skip("this machine's sysfs does not know device 1:9")
    subprocess.run(["groupadd", "--system", "service"], check=True)
    subprocess.run(["usermod", "-a", "-G", "service", "attacker"], check=True)
    os.makedirs("/run/udev/data", exist_ok=True)
    write("/run/udev/data/c1:9", "I:1\nG:uaccess\nQ:uaccess\nV:1\n")
    try:
        with Openable():
            os.chmod("/dev/nvidia9", 0o600)
            gid = int(subprocess.run(["getent", "group", "service"], capture_output=True, text=True).stdout.split(":")[2])
            refused(once("root", ask_as_group, gid), 77, "group", "/etc/subgid")
    finally:
        subprocess.run(["rm", "-r", "/run/udev"])
        subprocess.run(["groupdel", "service"])


RACE = r'''
/* race HELPER REQUEST SECONDS: askers that die at some moment of their grants, while others look */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static char look[4096], req[4096]; static int looklen, len;
static int load(const char *path, char *out)
{
	int fd = open(path, O_RDONLY), n = read(fd, out, 4096);
	close(fd); return n;
}
static int start(const char *h, int s) { int p = vfork(); if (p == 0) { dup2(s, 0); execl(h, "gpuhelper", NULL); _exit(1); } return p; }
int main(int c, char **v)
{
	time_t end = time(0) + atoi(v[3]);
	char buf[4096], id[8], *at; int i, sv[2], n = 0;
	looklen = load(v[4], look); len = load(v[5], req);
	at = memmem(req, len, "r000000", 7);
	for (i = 0; i < 4; i++) if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (time(0) < end) {
			socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv);
			int p = start(v[1], sv[1]); close(sv[1]);
			send(sv[0], look, looklen, MSG_NOSIGNAL);
			while (read(sv[0], buf, sizeof buf) > 0) ;
			close(sv[0]); waitpid(p, 0, 0);
		}
		_exit(0);
	}
	srand(getpid());
	while (time(0) < end) {
		n++;
		int p = fork();
		if (p == 0) {
			struct timespec t = { 0, (3000 + rand() % 30000) * 1000 };
			snprintf(id, sizeof id, "r%06d", n); memcpy(at, id, 7);
			socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv);
			start(v[1], sv[1]); close(sv[1]);
			send(sv[0], req, len, MSG_NOSIGNAL);
			nanosleep(&t, 0);
			_exit(0);
		}
		rand(); waitpid(p, 0, 0);
	}
	while (wait(0) > 0) ;
	printf("%d\n", n);
	return 0;
}
'''


@case("U12", "Askers die at any point of their grants while others look: no exec record is left", 60)
def u12():
    build("race", RACE)
    files = TEMP + "/race.look", TEMP + "/race.grant"
    for path, fields in zip(files, ({"verb": "look", "id": "x", "gpus": None},
                                    {"id": "r000000", "gpus": "none", "folders": "/srv/ro"})):
        with open(path, "wb") as f:
            f.write(client.frame(client.request(uids=None, gids=None, **fields)))
    with background(program("race"), client.HELPER, "x", "8", *files, user="attacker") as p:
        grants = int(p.stdout.readline())
    time.sleep(1)
    client.look()
    left = os.listdir(RUN + "/exec/%d" % uid("attacker"))
    print("# %d grants: %d records left" % (grants, len(left)))
    assert left == [] and grants > 50, (grants, left)
