"""Engines in their own PID namespaces that share /run/gpuhelper; processes and cgroups that are hard to see."""
import contextlib
import glob
import json
import os
import signal
import subprocess
import time

import client
from client import exchange, once
from harness import *
from t_inuse import build
from t_lease import Openable
from t_twice import CONTAINER

NEST = r'''
mount --make-rprivate /
mount -t proc proc /proc
for f in driver devices; do mount --rbind /run/own-proc/$f /proc/$f; done
exec python3 -B "$1"
'''


class Nest:
    """A host of its own as far as its PID namespace goes, but with the shared /run/gpuhelper, like an engine in a container."""

    def __init__(self):
        os.makedirs("/run/own-proc/driver", exist_ok=True)
        write("/run/own-proc/devices", read("/proc/devices"))
        if not os.listdir("/run/own-proc/driver"):
            subprocess.run(["mount", "--rbind", "/proc/driver", "/run/own-proc/driver"], check=True)
        self.p = subprocess.Popen(["unshare", "--pid", "--fork", "--kill-child", "--mount", "sh", "-c", NEST, "sh",
                                   os.path.dirname(os.path.abspath(__file__)) + "/nest.py"], text=True, bufsize=1,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.p.stdout.readline() == "ready\n"

    def say(self, line):
        self.p.stdin.write(line + "\n")
        return self.p.stdout.readline().strip()

    def ask(self, **fields):
        return json.loads(self.say(json.dumps(fields)))

    def __enter__(self):
        return self

    def __exit__(self, *e):
        self.p.stdin.close()
        self.p.kill()
        self.p.wait()


CHURN = r'''
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static time_t left;
static void *next(void *x)
{
	pthread_t t; pthread_attr_t a; struct timespec now; static int n;
	if ((++n & 255) == 0 && (clock_gettime(CLOCK_MONOTONIC, &now), now.tv_sec >= left)) _exit(0);
	pthread_attr_init(&a); pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED); pthread_attr_setstacksize(&a, 16384);
	usleep(300);
	while (pthread_create(&t, &a, next, NULL) != 0) sched_yield();
	return NULL;
}
int main(int n, char **v)
{
	struct timespec now; pthread_t t; int i;
	clock_gettime(CLOCK_MONOTONIC, &now); left = now.tv_sec + 25;
	for (i = 0; i < atoi(v[1]); i++) pthread_create(&t, NULL, next, NULL);
	puts("ready"); fflush(stdout); pause();
}
'''


@contextlib.contextmanager
def leases_of_nobody():
    """Afterwards ends the leases of engines that are gone: only root can see that they are over."""
    try:
        yield
    finally:
        for f in glob.glob(RUN + "/leases/*") + glob.glob(RUN + "/exec/0/*"):
            os.unlink(f)


@case("W38", "Two engines in sibling PID namespaces: short-lived threads in one end no lease of the other", 60)
def w38():
    build("churn", CHURN, "-pthread")
    with leases_of_nobody(), Nest() as a, Nest() as b:
        granted(b.ask(id="b", gpus=GPU0))
        refused(a.ask(id="before", gpus=GPU0), 75)
        a.say("!%s 60" % program("churn"))
        time.sleep(0.3)
        a.ask(verb="look", gpus=None)
        assert [l["id"] for l in leases()] == ["b"], leases()
        refused(a.ask(id="during", gpus=GPU0), 75)
        a.say("-")
        refused(a.ask(id="after", gpus=GPU0), 75)


@case("W38b", "An engine in a nested PID namespace: short-lived threads outside it end none of its leases", 60)
def w38b():
    build("churn", CHURN, "-pthread")
    with leases_of_nobody(), background(program("churn"), "60", user="attacker") as c:
        assert c.stdout.readline() == b"ready\n"
        with Nest() as b:
            granted(b.ask(id="b", gpus=GPU0))
            refused(once("root", exchange, id="during", gpus=GPU0), 75)
            assert [l["id"] for l in leases()] == ["b"], leases()


@case("L36", "Short-lived threads do not keep an ended lease of a container without its own PID namespace")
def l36():
    build("churn", CHURN, "-pthread")
    with asker("root") as a:
        granted(a.grant(id="pod", gpus=GPU0))
        path, = glob.glob(RUN + "/leases/*")
        put_lease(path, leases()[0], mounts=4026530000)
    with background(program("churn"), "60", user="nobody") as c:
        assert c.stdout.readline() == b"ready\n"
        time.sleep(0.2)
        client.look()
        assert leases() == [], leases()


COLLIDE = r'''
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int c, char **v)
{
	char line[512]; FILE *m; int f = open(v[1], O_RDONLY), g = open(v[2], O_RDWR);
	if (f == -1 || g == -1) { perror("open"); return 1; }
	if (c > 3 && mmap((void *)0x10000000, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, f, 0) == MAP_FAILED) { perror("mmap"); return 1; }
	if (mmap((void *)0x20000000, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, g, 0) == MAP_FAILED) { perror("mmap"); return 1; }
	close(f); close(g);
	m = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof(line), m)) if (strstr(line, v[1]) || strstr(line, v[2])) printf("# %s", line);
	puts("ready"); fflush(stdout);
	for (;;) pause();
}
'''


@case("W39", "A mapped node is noticed, even if another file has the same inode number", 60)
def w39():
    build("collide", COLLIDE)
    for d in "/mnt/a", "/mnt/b", "/mnt/o":
        os.makedirs(d, exist_ok=True)
    for d in "/mnt/a", "/mnt/b":
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "x", d], check=True)
    try:
        write("/mnt/a/f", "x" * 4096)
        os.mknod("/mnt/b/g", 0o020666, os.makedev(1, 5))
        os.chmod("/mnt/b/g", 0o666)
        subprocess.run(["mount", "-t", "overlay", "-o", "lowerdir=/mnt/a:/mnt/b,xino=off", "x", "/mnt/o"], check=True)
        try:
            with Openable(5):
                for more in (), ("both",):
                    with background(*CONTAINER, program("collide"), "/mnt/o/f", "/mnt/o/g", *more) as p:
                        line = p.stdout.readline().decode()
                        while line.startswith("#"):
                            line = p.stdout.readline().decode()
                        assert line == "ready\n", line
                        answer = once("victim", exchange, gpus=GPU0)
                    client.look()
                assert answer[0] == 75, answer
        finally:
            subprocess.run(["umount", "-l", "/mnt/o"])
    finally:
        for d in "/mnt/a", "/mnt/b":
            subprocess.run(["umount", "-l", d])


@case("L37", "A process in a cgroup whose name begins with a dot keeps the lease of the cgroup above")
def l37():
    top = next((d for d in ("/sys/fs/cgroup/pids", "/sys/fs/cgroup/devices") if os.path.exists(d + "/cgroup.procs")), None)
    if top is None:
        raise Skip("v1's cgroups are not here: v2's own count of those beneath is believed")
    name = "/" + CGROUP + "-dot"
    for below in "hidden", ".hidden":
        with asker("root") as a:
            granted(a.grant(id="dot", gpus=GPU0, cgroups_path=name))
            os.makedirs("%s%s/%s" % (top, name, below))
            try:
                with background("sleep", "60") as p:
                    write("%s%s/%s/cgroup.procs" % (top, name, below), str(p.pid), 0o644)
                    a.end()
                    client.look()
                    assert [l["id"] for l in leases()] == ["dot"], (below, leases())
                time.sleep(0.2)
            finally:
                os.rmdir("%s%s/%s" % (top, name, below))
                os.rmdir(top + name)
        client.look()
        assert leases() == [], leases()
