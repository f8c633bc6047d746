"""Attacks through files that root wrote, or seems to have written: policies, folders, device nodes."""
import contextlib
import ctypes
import fcntl
import glob
import json
import os
import shutil
import socket
import subprocess
import time

import client
from client import exchange, once
from harness import *
from t_process import hold, hold_ask

OWN = POLICIES + "/50-attacker.conf"


def denied(code, *words, **fields):
    refused(once("attacker", exchange, **fields), code, *words)


def chown(path, uid, gid):
    os.chown(path, uid, gid, follow_symlinks=False)


# Policies

@case("P1", "A policy, its directory or /etc/gpuhelper that others own or may write: everything is denied")
def p1():
    uid = client.pwd.getpwnam("attacker").pw_uid
    for path in OWN, POLICIES + "/50-victim.conf", POLICIES, ETC, ETC + "/gpuhelper.conf":
        plain = os.stat(path).st_mode & 0o777
        for mode in plain | 0o020, plain | 0o002:
            with etc():
                os.chmod(path, mode)
                denied(78, path, "may be written by others")
        with etc():
            chown(path, uid, uid)
            denied(78, path, "belongs to uid %d" % uid)
        with etc():
            subprocess.run(["setfacl", "-m", "u:attacker:rw", path], check=True)
            denied(78, path, "may be written by others")
    with etc():
        os.rename(ETC, ETC + ".real")
        os.symlink(ETC + ".real", ETC)
        try:
            denied(78, "symbolic link")
        finally:
            os.unlink(ETC)
            os.rename(ETC + ".real", ETC)
    granted(once("attacker", exchange))


@case("P2", "A symbolic link, hard link, FIFO, socket, directory or device named x.conf: everything is denied")
def p2():
    path = POLICIES + "/60-x.conf"

    def sock(p):
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(p)
    makers = {"link": lambda p: os.symlink(OWN, p), "dangling link": lambda p: os.symlink("/nowhere", p),
              "hard link": lambda p: os.link(OWN, p), "FIFO": os.mkfifo, "socket": sock, "directory": os.mkdir,
              "device": lambda p: os.mknod(p, 0o020644, os.makedev(1, 5))}
    for name, make in makers.items():
        with etc():
            make(path)
            status, answer = once("attacker", exchange)
            assert status in (78, 74) and answer["reply"] == "refused" and ".conf" in answer["text"], (name, status, answer)


@case("P3", "@include is an error at its line, and its file is not opened")
def p3():
    fifo = TEMP + "/included"
    os.mkfifo(fifo)
    for line in '@include "%s"' % fifo, '  @include "/etc/shadow"', '@include "."', '@include "50-attacker.conf"':
        with etc():
            write(OWN, 'identity = "caller";\n' + line + "\n" + read(OWN).replace('identity = "caller";', ""))
            denied(78, "50-attacker.conf:2:", "@include")
    os.unlink(fifo)


@case("P4", "An unterminated comment does not hide the rules after it")
def p4():
    with etc():
        write(OWN, read(OWN) + '/* callers = [ "victim" ];\n')
        denied(78, "comment")


@case("P5", "A file that does not parse stops the search; it is not skipped")
def p5():
    for text in 'identiy = "caller";', "gpus = 1;", 'callers = [ "0" ];', 'identity = "caller"; pipeline = "a/b";', "\0":
        with etc():
            write(POLICIES + "/40-broken.conf", text)
            denied(78, "40-broken.conf")
            write(POLICIES + "/40-broken.conf", "")
        with etc():
            # a request that an earlier policy covers is still granted
            write(POLICIES + "/90-broken.conf", text)
            granted(once("attacker", exchange))


@case("P9", "Leftover files of editors and packages are not policies")
def p9():
    wide = 'identity = "caller"; folders = ( { path = "/opt"; access = "rw"; } );'
    with etc():
        for n in "10-a.conf~", ".10-a.conf.swp", "10-a.conf.rpmnew", "10-a.conf.dpkg-old", ".10-hidden.conf", \
                "10-a.conf.bak", "conf", ".conf", "10-a.CONF", "10-a.conf ", "#10-a.conf#":
            write(POLICIES + "/" + n, wide)
        denied(77, gpus=None, folders="/opt")
        write(POLICIES + "/10-a.conf", wide)
        granted(once("attacker", exchange, gpus=None, folders="/opt:ro"))


@case("P10", "No directory, an empty directory, empty files: nothing is granted")
def p10():
    with etc():
        subprocess.run(["rm", "-r", POLICIES], check=True)
        denied(77, "no policy")
        os.mkdir(POLICIES)
        denied(77, "no policy")
        write(POLICIES + "/a.conf", "")
        denied(78, "a.conf")


@case("P11", "Files are read in byte order: 10- before 9-, A before a")
def p11():
    for first, second in ("10-x.conf", "9-x.conf"), ("A.conf", "a.conf"), ("a-.conf", "a.conf"), ("Z.conf", "\u00e9.conf"):
        with etc():
            for n in first, second:
                write(POLICIES + "/" + n, read(OWN))
            os.unlink(OWN)
            answer = once("attacker", exchange)
            assert granted(answer)["policy"] == first, (first, answer[1]["policy"])


@case("P13", "A later file may grant what an earlier one refuses; no request gets the sum of two files")
def p13():
    with etc():
        write(POLICIES + "/10-one.conf", 'identity = "caller"; callers = [ "attacker" ]; gpus = ( { vendor = "nvidia"; } );')
        write(OWN, 'identity = "caller"; callers = [ "attacker" ]; folders = ( { path = "/srv/ro"; access = "ro"; } );')
        assert granted(once("attacker", exchange))["policy"] == "10-one.conf"
        assert granted(once("attacker", exchange, gpus=None, folders="/srv/ro:ro"))["policy"] == "50-attacker.conf"
        denied(77, folders="/srv/ro")
        denied(77, gpus="2")


@case("P14", "A policy whose caller is no longer a user; a group member who is not among the callers")
def p14():
    with etc():
        write(OWN, read(OWN).replace('"attacker"', '"nosuchuser"'))
        denied(77)


@case("P14b", "A policy that is removed while a helper waits for its request grants nothing")
def p14b():
    with etc(), asker("attacker") as a:
        granted(once("attacker", exchange, gpus=None, folders="/srv/ro"))
        a.call(hold)
        time.sleep(0.3)
        os.unlink(OWN)
        refused(a.call(hold_ask, gpus=None, folders="/srv/ro"), 75, "changed", "try again")
        denied(77, gpus=None, folders="/srv/ro")


@case("P15", "5000 files are refused, without delay")
def p15():
    with etc():
        for n in range(5000):
            write(POLICIES + "/%d.conf" % n, "")
        denied(78, "more than")


@case("P16", "SELinux is enforcing, or its state is unknown: nothing is granted")
def p16():
    # everything in /sys/fs except the cgroups is new
    copy = TEMP + "/cgroups"
    os.mkdir(copy)
    subprocess.run(["mount", "--rbind", "/sys/fs/cgroup", copy], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "none", "/sys/fs"], check=True)
    try:
        os.mkdir("/sys/fs/cgroup")
        subprocess.run(["mount", "--move", copy, "/sys/fs/cgroup"], check=True)
        granted(once("attacker", exchange))
        os.makedirs("/sys/fs/selinux/enforce")
        status, answer = once("attacker", exchange)
        assert status == 74 and answer["reply"] == "refused", (status, answer)
        os.rmdir("/sys/fs/selinux/enforce")
        write("/sys/fs/selinux/enforce", "1")
        refused(once("attacker", exchange), 77, "SELinux")
        write("/sys/fs/selinux/enforce", "0")
        granted(once("attacker", exchange))
    finally:
        subprocess.run(["umount", "-l", "/sys/fs"], check=True)
        os.rmdir(copy)


@case("P17", "«run» gives no folder that lies in one that a policy gives for writing, nor any while a policy is broken")
def p17():
    above, other = "/srv/p17", POLICIES + "/60-other.conf"
    os.makedirs(above + "/in/deep")
    try:
        with etc():
            write(OWN, 'identity = "caller"; callers = [ "attacker" ]; folders = ( { path = "%s/in"; access = "ro"; } );' % above)
            wanted = dict(gpus=None, folders=above + "/in:ro")
            granted(once("attacker", exchange, is_run=True, **wanted))
            write(other, 'identity = "caller"; callers = [ "victim" ]; folders = ( { path = "%s"; access = "ro"; } );' % above)
            granted(once("attacker", exchange, is_run=True, **wanted))
            write(other, 'identity = "caller"; callers = [ "victim" ]; folders = ( { path = "%s"; access = "rw"; } );' % above)
            denied(77, above + "/in lies in " + above, "60-other.conf gives for writing", is_run=True, **wanted)
            granted(once("attacker", exchange, **wanted))
            write(other, "folders = (")
            denied(78, "60-other.conf is broken", is_run=True, **wanted)
            granted(once("attacker", exchange, **wanted))
    finally:
        shutil.rmtree(above)


@case("P18", "A request that asks for nothing gets nothing, unless gpuhelper.conf says grant_unasked")
def p18():
    with etc():
        write(OWN, 'identity = "caller"; callers = [ "attacker" ]; folders = ( { path = "/srv/ro"; access = "ro"; } );')
        denied(77, "asks for nothing", gpus=None)
        with open(ETC + "/gpuhelper.conf", "a") as f:
            f.write("\ngrant_unasked = true;\n")
        granted(once("attacker", exchange, gpus=None))


# Folders

def folder(path, code=None, *words, **fields):
    answer = once("attacker", exchange, gpus=None, folders=path, **fields)
    if code is not None:
        refused(answer, code, *words)
        return None
    return granted(answer)["containerEdits"]["mounts"]


@case("V0", "Folders of a policy, used as intended")
def v0():
    def flat(m):
        return [(x["hostPath"], x["containerPath"], set(x["options"])) for x in m]
    assert flat(folder("/srv/ro:ro")) == [("/srv/ro", "/srv/ro", {"bind", "rprivate", "ro", "nosuid", "nodev"})]
    assert flat(folder("/srv/rw:rw")) == [("/srv/rw", "/srv/rw", {"bind", "rprivate", "rw", "nosuid", "nodev"})]
    assert flat(folder("/srv/tree/mine:ro")) == [("/srv/tree/mine", "/srv/tree/mine",
                                                  {"bind", "rprivate", "ro", "nosuid", "nodev"})]


@case("V1", "/srv/../etc, /srv/./rw, //srv/rw and a trailing slash are no second names of a folder")
def v1():
    for p in "/srv/../etc", "/srv/./rw", "//srv/rw", "/srv//rw", "/srv/rw/", "/srv/rw/.", "/srv/rw/..", "srv/rw", "", \
            "/srv/tree/../../etc", "/proc/self/root/srv/rw", "..", "/":
        answer = once("attacker", exchange, gpus=None, folders=p)
        assert answer[0] in (65, 77) and answer[1]["reply"] == "refused", (p, answer)


@case("V2", "/srv/rwx is neither /srv/rw nor beneath it")
def v2():
    for p in "/srv/rwx", "/srv/treefrog", "/srv/r", "/srv/RW", "/srv":
        folder(p, 77, "does not give")


@case("V3", "A symbolic link as the folder, above it, dangling, or to a granted folder")
def v3():
    for p in "/srv/tree/link", "/srv/tree/link/x", "/srv/tree/dangling", "/srv/tree/inner", "/srv/tree/dir/up":
        answer = once("attacker", exchange, gpus=None, folders=p)
        assert answer[0] in (69, 77) and answer[1]["reply"] == "refused", (p, answer)
    # a link in the policy itself
    folder("/srv/alias", 77, "symbolic link")


@case("V4", "A folder beneath one that the caller can change")
def v4():
    folder("/srv/tree/mine/sub", 77, "/srv/tree/mine")
    folder("/srv/tree/open/sub", 77, "may be written by others")
    folder("/srv/tree/acl/sub", 77, "may be written by others")


@case("V5", "nosuid and nodev are always set, and each mount is either rw or ro")
def v5():
    for p in "/srv/rw:rw", "/srv/ro", "/srv/tree/mine:rw":
        for m in folder(p):
            o = m["options"]
            assert {"nosuid", "nodev", "bind", "rprivate"} <= set(o) and len(set(o)) == len(o), o
            assert ("rw" in o) != ("ro" in o), o


@case("V6", "rw where the policy says ro, in every spelling")
def v6():
    for p in "/srv/ro:rw", "/srv/ro:ro,/srv/ro:rw", "/srv/tree/ro:rw":
        folder(p, 77)
    for p in "/srv/ro:rw:ro", "/srv/ro:RW", "/srv/ro:rw,ro", "/srv/ro:", "/srv/ro:rw ", "/srv/ro:r\u200bw":
        answer = once("attacker", exchange, gpus=None, folders=p)
        assert answer[0] in (65, 77), (p, answer)
    for m in folder("/srv/ro"):
        assert "ro" in m["options"], m


@case("V7", "Unicode look-alikes are different bytes, and so different names")
def v7():
    for p in "/srv\u2215rw", "/srv/\uff52w", "/srv/rw\u200b", "/srv/%72w", "/srv/\u202erw", "/srv/rw%00":
        answer = once("attacker", exchange, gpus=None, folders=p)
        assert answer[0] in (65, 77) and answer[1]["reply"] == "refused", (p, answer)


@case("V8", "Long paths and long names")
def v8():
    for p in "/srv/" + "a" * 256, "/srv/tree" + "/a" * 600, "/" + "a" * 60000, "/srv/tree/" + "a" * 255:
        answer = once("attacker", exchange, gpus=None, folders=p)
        assert answer[0] in (65, 69, 77) and len(answer[1]["text"]) < 512, (p[:20], answer)
    folder(",".join(["/srv/rw"] * 1100), 65, "1024")
    folder("/srv/rw:" + "x" * 140000, 65, "longer than")


@case("V9", "A newline, comma, colon, backslash or space in a name adds no mount option")
def v9():
    for name in "a b", "a\\040b", "a:rw", "a\\nb":
        os.mkdir("/srv/tree/" + name)
    try:
        for p in "/srv/tree/a b", "/srv/tree/a\\040b", "/srv/tree/a\\nb":
            for m in folder(p + ":ro"):
                assert m["hostPath"] == p and set(m["options"]) == {"bind", "rprivate", "ro", "nosuid", "nodev"}, m
        for m in folder("/srv/tree/a:rw:ro"):
            assert m["hostPath"] == "/srv/tree/a:rw" and "ro" in m["options"], m
        for p in "/srv/tree/a\n", "/srv/tree/a\tb", "/srv/ro\\,rw", "/srv/tree/a\x7f":
            answer = once("attacker", exchange, gpus=None, folders=p)
            assert answer[0] in (65, 77, 69) and "\n" not in answer[1]["text"], (p, answer)
    finally:
        for name in "a b", "a\\040b", "a:rw", "a\\nb":
            os.rmdir("/srv/tree/" + name)


@case("V11", "The folder is a file, a FIFO, a socket, a device")
def v11():
    for p in "/srv/tree/file", "/srv/tree/fifo", "/srv/tree/null":
        folder(p, 77, "not a directory")


@case("V13", "A folder that the container's user cannot use is refused, and its mode stays")
def v13():
    before = os.stat("/srv/tree/closed")
    folder("/srv/tree/closed", 77, "setfacl")
    folder("/srv/tree/closed", 77, uids=[[0, 0, 1]], gids=[[0, 0, 1]], uid=1)
    assert os.stat("/srv/tree/closed") == before


# Devices

@case("D1", "/dev/nvidia0 is a file, a link, a block device, a FIFO, a directory")
def d1():
    for make in (lambda p: write(p, ""), lambda p: os.symlink("/dev/nvidia1", p), lambda p: os.symlink("nowhere", p),
                 lambda p: os.mknod(p, 0o060666, os.makedev(195, 0)), os.mkfifo, os.mkdir):
        with without("/dev/nvidia0"):
            make("/dev/nvidia0")
            denied(69, "/dev/nvidia0", gpus=GPU0)
    granted(once("attacker", exchange, gpus=GPU0))


@case("D2", "A character device with the right name and another device's numbers")
def d2():
    for major, minor in (1, 3), (195, 1), (195, 255), (1, 0):
        with without("/dev/nvidia0"):
            os.mknod("/dev/nvidia0", 0o020666, os.makedev(major, minor))
            denied(69, "should be 195:0", gpus=GPU0)
    with without("/dev/nvidiactl"):
        os.mknod("/dev/nvidiactl", 0o020666, os.makedev(1, 3))
        denied(69, "/dev/nvidiactl")


@case("D4", "Nodes elsewhere, paths and odd words do not name GPUs")
def d4():
    os.mknod("/dev/shm/nvidia0", 0o020666, os.makedev(195, 0))
    for word in "/dev/shm/nvidia0", "/dev/nvidia0", "0", "nvidia0", "../0", "-1", "0x0", "00", "4294967296", "", "1,", \
            "all,1", "1,all", "nvidia:", "nvidia:-1", ":1", "nvidia:1:1", "1 ", "0;rm", "65", "GPU-", "1e1", "amd:all":
        status, answer = once("attacker", exchange, gpus=word)
        assert status in (65, 69, 77) and answer["reply"] == "refused", (word, status, answer)
    os.unlink("/dev/shm/nvidia0")


@case("D5", "Counts and ids beyond the policy")
def d5():
    for word in "3", "64", "nvidia:2,nvidia:1", "%s,%s,1" % (GPU0, GPU1), "0000:99:00.0":
        status, answer = once("attacker", exchange, gpus=word)
        assert status in (69, 77) and answer["reply"] == "refused", (word, status, answer)
    denied(65, "twice", gpus=GPU0 + "," + GPU0)
    assert nodes(once("attacker", exchange, gpus=GPU1)) == ["/dev/nvidia1"]


@case("D6", "Another /etc/gpuhelper in a mount namespace: denied")
def d6():
    fake = TEMP + "/fake"
    os.makedirs(fake + "/policy.d")
    write(fake + "/policy.d/a.conf", 'identity = "caller"; folders = ( { path = "/opt"; access = "rw"; } );')
    here = os.path.dirname(os.path.abspath(__file__))
    inner = 'mount --bind %s %s && exec python3 -I %s/client.py --user attacker' % (fake, ETC, here)
    out = subprocess.run(["unshare", "-m", "--propagation", "private", "sh", "-c", inner], capture_output=True, text=True)
    assert out.stdout.startswith("status=77") and "is not the host's" in out.stdout, out
    subprocess.run(["rm", "-r", fake], check=True)


@contextlib.contextmanager
def proc_devices(change):
    old = read("/proc/devices")
    with open("/proc/devices", "w") as f:
        f.write(change(old))
    try:
        yield
    finally:
        with open("/proc/devices", "w") as f:
            f.write(old)


@case("D10", "Names in /proc/devices match only as a whole")
def d10():
    with proc_devices(lambda t: t.replace("195 nvidia\n", "195 nvidia-frontender\n").replace("195 nvidia-modeset\n", "")):
        denied(69, "no character device nvidia")
    with proc_devices(lambda t: t.replace("510 nvidia-uvm", "510 nvidia-uvmx")):
        denied(69, "nvidia-uvm")
    with proc_devices(lambda t: t.replace("195 nvidia\n", "196 nvidia\n")):
        denied(69, "should be 196:0", gpus=GPU0)


@case("D11", "A node that is closed to a container's user, who has none of the caller's ids, is refused, and stays closed")
def d11():
    other = {"uids": [[0, client.pwd.getpwnam("victim").pw_uid, 1]]}
    with kept("/dev/nvidia0"):
        os.chmod("/dev/nvidia0", 0o600)
        denied(77, "setfacl", gpus=GPU0, **other)
        assert os.stat("/dev/nvidia0").st_mode & 0o777 == 0o600
    with kept("/dev/nvidia0"):
        os.chmod("/dev/nvidia0", 0o660)
        gid = client.pwd.getpwnam("victim").pw_gid
        os.chown("/dev/nvidia0", 0, gid)
        # a group that only the request names does not count
        answer = once("attacker", exchange, gpus=GPU0, **other)
        refused(answer, 77, "does not let")


@case("D12", "A missing node is made as the driver would make it, and nothing else is made")
def d12():
    with without("/dev/nvidia0", "/dev/nvidia1"):
        granted(once("attacker", exchange, gpus=GPU0))
        st = os.stat("/dev/nvidia0")
        assert (st.st_mode, st.st_rdev, st.st_uid, st.st_gid) == (0o020666, os.makedev(195, 0), 0, 0)
        assert not os.path.exists("/dev/nvidia1")


# The path to a folder, and who could redirect it

HOST_ROOT = {"uids": None, "gids": None, "uid": 0, "gpus": None}	# without a user namespace, root in the container is the host's root
IN_NAMESPACE = {"uids": [[0, 100000, 65536]], "gids": [[0, 100000, 65536]], "uid": 0, "gpus": None}


@case("V20", "A folder inside one that a container writes as the host's root is given to nobody meanwhile")
def v20():
    with asker("root") as a:
        granted(a.grant(id="a", folders="/srv/tree:rw", **HOST_ROOT))
        for path in "/srv/tree/dir", "/srv/tree/ro":
            refused(once("victim", exchange, gpus=None, folders=path + ":ro"), 75, path + " lies in /srv/tree", "of another user")
        refused(once("root", exchange, id="b", folders="/srv/tree/dir:ro", **IN_NAMESPACE), 75, "lies in /srv/tree", "container a")
        # a folder beside it, and the folder itself, are granted
        granted(once("victim", exchange, gpus=None, folders="/srv/ro:ro"))
        granted(once("root", exchange, id="b", folders="/srv/tree:rw", **HOST_ROOT))
    granted(once("victim", exchange, gpus=None, folders="/srv/tree/dir:ro"))


@case("V21", "A read-only folder, or one written in a user namespace, cannot redirect a path")
def v21():
    with asker("root") as a:
        granted(a.grant(id="a", folders="/srv/tree:ro", **HOST_ROOT))
        granted(once("victim", exchange, gpus=None, folders="/srv/tree/dir:ro"))
    subprocess.run(["setfacl", "-m", "u:100000:rwx", "/srv/tree/mine"], check=True)
    try:
        with asker("root") as a:
            granted(a.grant(id="a", folders="/srv/tree/mine:rw", **IN_NAMESPACE))
            granted(once("root", exchange, id="b", folders="/srv/tree/dir", **HOST_ROOT))
    finally:
        subprocess.run(["setfacl", "-b", "/srv/tree/mine"], check=True)


@case("V22", "During the mounting of a folder, nobody gets the folder above it for writing as the host's root")
def v22():
    with asker("victim") as v:
        granted(v.grant(id="v", gpus=None, folders="/srv/tree/dir:ro"))
        refused(once("root", exchange, id="a", folders="/srv/tree:rw", **HOST_ROOT), 75, "holds /srv/tree/dir", "is being given")
        granted(once("root", exchange, id="a", folders="/srv/tree:ro", **HOST_ROOT))
    granted(once("root", exchange, id="a", folders="/srv/tree:rw", **HOST_ROOT))


@case("V22b", "A grant whose container is never made blocks writing to the folder above it for two minutes")
def v22b():
    above = {"id": "a", "folders": "/srv/tree:rw", **HOST_ROOT}
    for user, later in ("victim", "grant"), ("root", "refused"):
        with asker(user) as v:
            granted(v.grant(id="v", gpus=None, folders="/srv/tree/dir:ro"))
            path, = glob.glob(RUN + "/leases/*")
            now, = leases()
            for ago, reply in (100, "refused"), (140, later):
                put_lease(path, now, since=int(time.time()) - ago)
                assert once("root", exchange, **above)[1]["reply"] == reply, (user, ago)
                client.look()
        client.look()


@case("V23", "A bind mount of the folder above, or of a directory on the path, counts like the folder itself")
def v23():
    os.mkdir("/srv/bound")
    subprocess.run(["mount", "--bind", "/srv/tree/dir", "/srv/bound"], check=True)
    try:
        with etc(), asker("root") as a:
            write(POLICIES + "/60-bound.conf", 'identity = "caller";\ncallers = [ "victim" ];\n'
                  'folders = ( { path = "/srv/bound"; access = "ro"; subfolders = true; } );')
            os.rename(POLICIES + "/50-victim.conf", POLICIES + "/70-victim.conf")
            os.mkdir("/srv/tree/dir/in")
            granted(a.grant(id="a", folders="/srv/tree:rw", **HOST_ROOT))
            refused(once("victim", exchange, gpus=None, folders="/srv/bound/in:ro"), 75, "/srv/bound/in lies in /srv/tree")
            granted(once("victim", exchange, gpus=None, folders="/srv/bound:ro"))
    finally:
        os.rmdir("/srv/tree/dir/in")
        subprocess.run(["umount", "/srv/bound"], check=True)
        os.rmdir("/srv/bound")


EXCHANGE = r"""
import ctypes, os, sys
libc = ctypes.CDLL(None)
os.symlink("/root", "/srv/tree/elsewhere")
print("ready", flush=True)
while True:
    libc.renameat2(-100, b"/srv/tree/dir", -100, b"/srv/tree/elsewhere", 2)
"""


@case("V24", "Root in a container swaps a folder and a link as fast as it can: that folder is never granted", 60)
def v24():
    try:
        with asker("root") as a:
            granted(a.grant(id="a", folders="/srv/tree:rw", **HOST_ROOT))
            with background("python3", "-c", EXCHANGE) as p:
                p.stdout.readline()
                for n in range(100):
                    status, answer = once("victim", exchange, id="v%d" % n, gpus=None, folders="/srv/tree/dir:ro")
                    assert status != 0, answer
    finally:
        if os.path.islink("/srv/tree/dir"):
            os.unlink("/srv/tree/dir")
            os.rename("/srv/tree/elsewhere", "/srv/tree/dir")
        else:
            os.unlink("/srv/tree/elsewhere")


def remove_cgroup(place):
    """Removes the cgroup once its processes are gone."""
    for _ in range(200):
        try:
            return os.rmdir(place)
        except OSError:
            time.sleep(0.01)
    os.rmdir(place)


def make_container(name, cgroup=None, ask=exchange):
    """In the asker: makes what a runtime leaves behind, a process in its own cgroup, and reports it to the helper."""
    p = subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    place = "/sys/fs/cgroup/devices/" + (cgroup or "gpuhelper-attack-%d" % p.pid)
    os.mkdir(place)
    write(place + "/devices.deny", "a")
    write(place + "/cgroup.procs", str(p.pid))
    return ask(verb="created", id=name, gpus=None)[0], p.pid, place


@case("V25", "The host's root gets no folder above another container's writable folder: it could move that folder away")
def v25():
    with asker("root") as a:
        granted(a.grant(id="a", folders="/srv/tree/dir:rw", **HOST_ROOT))
        status, init, place = a.call(make_container, "a")
        try:
            assert status == 0
            refused(once("root", exchange, id="b", folders="/srv/tree:rw", **HOST_ROOT), 75, "holds /srv/tree/dir", "has, as the host's root")
            granted(once("root", exchange, id="b", folders="/srv/tree:ro", **HOST_ROOT))
        finally:
            os.kill(init, 9)
            remove_cgroup(place)


@case("V26", "The host's root cannot write mounts beneath a folder along with the folder")
def v26():
    os.makedirs("/srv/tree/dir/m")
    subprocess.run(["mount", "--bind", "/srv/rw", "/srv/tree/dir/m"], check=True)
    try:
        with etc():
            write(POLICIES + "/10-deep.conf", 'identity = "caller";\ncallers = [ "root" ];\n'
                  'folders = ( { path = "/srv/tree/dir"; access = "rw"; submounts = true; } );')
            os.rename(POLICIES + "/50-root.conf", POLICIES + "/70-root.conf")
            refused(once("root", exchange, id="a", folders="/srv/tree/dir:rw", **HOST_ROOT), 77, "mount beneath it (/srv/tree/dir/m)")
            granted(once("root", exchange, id="a", folders="/srv/tree/dir:ro", **HOST_ROOT))
    finally:
        subprocess.run(["umount", "/srv/tree/dir/m"], check=True)
        os.rmdir("/srv/tree/dir/m")


@case("V27", "The folder becomes a link before the lease is written: refused, and no lease is left")
def v27():
    lock = os.open(RUN + "/lock", os.O_RDWR)
    with asker("victim") as v:
        fcntl.flock(lock, fcntl.LOCK_EX)
        v.tell(exchange, id="v", gpus=None, folders="/srv/tree/dir:ro")
        # the helper has looked at the folder, and waits for the lock
        time.sleep(0.5)
        os.rename("/srv/tree/dir", "/srv/tree/away")
        os.symlink("/root", "/srv/tree/dir")
        try:
            fcntl.flock(lock, fcntl.LOCK_UN)
            refused(v.hear(), 77, "folder /srv/tree/dir", "symbolic link")
        finally:
            os.unlink("/srv/tree/dir")
            os.rename("/srv/tree/away", "/srv/tree/dir")
        assert leases() == [], leases()
        granted(v.call(exchange, id="v", gpus=None, folders="/srv/tree/dir:ro"))
    os.close(lock)


# In a PID namespace, and so a container's process: opens a folder through a mount of its first mount namespace, and leaves that.
PASSED = "exec 7</srv/tree; echo ready; read x; exec unshare -m sh -c 'echo ready; read x; cd /proc/self/fd/7; exec 7<&-; echo ready; read x'"


@case("V28", "A process that received a directory from a container writing as the host's root blocks the folder until it ends")
def v28():
    def folder(name):
        return once("victim", exchange, id=name, gpus=None, folders="/srv/tree/dir:ro")

    with asker("root") as a:
        granted(a.grant(id="a", folders="/srv/tree:rw", **HOST_ROOT))
        p = subprocess.Popen(["unshare", "-mp", "--fork", "--propagation", "private", "sh", "-c", PASSED], text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert p.stdout.readline() == "ready\n"
    try:
        # through a mount of its own, which anybody can make
        granted(folder("v1"))
        with asker("root") as a:
            granted(a.grant(id="a", folders="/srv/tree:rw", **HOST_ROOT))
        for how in "as a descriptor", "as its working directory":
            p.stdin.write("\n")
            p.stdin.flush()
            assert p.stdout.readline() == "ready\n"
            refused(folder("v2"), 75, "/srv/tree/dir lies in /srv/tree")
            assert len(leases()) == 1, (how, leases())
    finally:
        p.stdin.close()
        p.wait()
    granted(folder("v3"))


HOST_FOLDERS = dict(HOST_ROOT, folders="/srv/tree:rw")


def beneath(name):
    return once("victim", exchange, id=name, gpus=None, folders="/srv/tree/dir:ro")


def states():
    return sorted(l["state"] for l in leases())


@contextlib.contextmanager
def passing(program, *options):
    """A container of the host's root, with its own mounts and processes, gets a folder and a GPU, passes something on, and ends.

    The program runs in the container.  It prints «ready» after passing the object on, and ends at the end of its input.
    """
    with asker("root") as a:
        granted(a.grant(id="a", **dict(HOST_FOLDERS, gpus="2")))
        p = pass_on(program, *options)
        said = p.stdout.readline()
    try:
        assert said == "ready\n", said
        yield p
    finally:
        p.stdin.close()
        p.wait()


def pass_on(program, *options):
    return subprocess.Popen(["unshare", "-mp", "--fork", "--propagation", "private", *options, "python3", "-I", "-c", program], text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


IN_RING = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open("/srv/tree", os.O_RDONLY)
ring = libc.syscall(425, 4, (ctypes.c_char * 120)())
assert ring >= 0 and libc.syscall(427, ring, 2, (ctypes.c_int * 1)(fd), 1) == 0, ctypes.get_errno()
os.close(fd)
print("ready", flush=True)
sys.stdin.read()
"""
IN_FLIGHT = """
import os, socket, sys
mine, theirs = socket.socketpair()
fd = os.open("/srv/tree", os.O_RDONLY)
socket.send_fds(mine, [b"x"], [fd])
os.close(fd)
print("ready", flush=True)
sys.stdin.read()
"""
# the mount is in user and mount namespaces beneath the container's, which then ends
IN_MOUNTS = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
assert libc.unshare(0x10020000) == 0, ctypes.get_errno()
assert libc.mount(b"/srv/tree", b"/mnt", None, 4096, None) == 0, ctypes.get_errno()
print("ready", flush=True)
sys.stdin.read()
"""


def ask_only(**fields):
    """In the asker: gets a grant without confirming it."""
    global kept_helper
    kept_helper = client.Helper().ask(**fields)
    return kept_helper.kind()


def hang_up():
    kept_helper.close()
    return kept_helper.wait()


def released(ask):
    """The folders are free.  On a busy machine a look may not finish in its time, so this tries again."""
    for n in range(20):
        answer = ask("w%d" % n)
        if answer[0] == 0:
            break
        time.sleep(0.2)
    granted(answer)
    assert "passed-on" not in states(), states()


def passed_on(program, may_be_a_gpu=False):
    """The passed object keeps the folders, and nothing once it is gone.  The lease keeps no GPU; what a socket hides may be one."""
    with passing(program):
        refused(beneath("v"), 75, "/srv/tree/dir lies in /srv/tree")
        assert states() == ["passed-on"], states()
        answer = once("victim", exchange, id="g", gpus="2")
        if may_be_a_gpu:
            refused(answer, 75, "may be open in process", "in flight through a socket")
        else:
            granted(answer)
    released(beneath)


# the same, without a process in the namespace: a descriptor keeps it
LEFT_EMPTY = """
import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
mine, theirs = socket.socketpair()
if os.fork() == 0:
    assert libc.unshare(0x10020000) == 0, ctypes.get_errno()
    assert libc.mount(b"/srv/tree", b"/mnt", None, 4096, None) == 0, ctypes.get_errno()
    socket.send_fds(theirs, [b"x"], [os.open("/proc/self/ns/mnt", os.O_RDONLY)])
    os._exit(0)
_, kept, *_ = socket.recv_fds(mine, 1, 1)
os.wait()
print("ready", flush=True)
sys.stdin.read()
"""


@case("V33", "A descriptor in flight through a socket keeps the folders in use, and, as it may be a GPU's, exclusive GPUs")
def v33():
    passed_on(IN_FLIGHT, may_be_a_gpu=True)


@case("V34", "A descriptor in io_uring keeps the folders in use, but not the GPUs")
def v34():
    # the kernel may lack io_uring (ENOSYS), or forbid it (kernel.io_uring_disabled)
    ring = ctypes.CDLL(None, use_errno=True).syscall(425, 4, (ctypes.c_char * 120)())
    if ring < 0:
        raise Skip("no io_uring here: %s" % os.strerror(ctypes.get_errno()))
    os.close(ring)
    passed_on(IN_RING)


@case("V35", "A mount that the container made in its own user namespace keeps the folders in use while the mount exists")
def v35():
    passed_on(IN_MOUNTS)
    passed_on(LEFT_EMPTY)


@case("V36", "Of several leases whose folder was passed on, one stays for all")
def v36():
    with passing(IN_FLIGHT):
        for n in range(5):
            granted(once("root", exchange, id="b%d" % n, **HOST_FOLDERS))
        refused(beneath("v"), 75, "/srv/tree/dir lies in /srv/tree")
        assert states() == ["passed-on"], states()
    granted(beneath("w"))


# a mount in its own user namespace that is read-only while root looks
READ_ONLY = IN_MOUNTS.replace("print(", "assert libc.mount(None, b'/mnt', None, 4096|32|1, None) == 0\nprint(")
# the namespace's process does not see the mount now, but can return to it
CHROOTED = IN_MOUNTS.replace("print(", """os.makedirs("/mnt/../media", exist_ok=True)
ns = os.open("/proc/self/ns/mnt", os.O_RDONLY)
assert libc.mount(b"none", b"/media", b"tmpfs", 0, None) == 0, ctypes.get_errno()
os.chroot("/media")
os.chdir("/")
print(""")
# the ring is registered with itself, and its descriptor is closed: only the mapped memory is left
HIDDEN_RING = IN_RING.replace("os.close(fd)\n", """os.close(fd)
libc.mmap.restype = ctypes.c_void_p
assert libc.mmap(None, ctypes.c_size_t(4096), 3, 1, ring, ctypes.c_long(0)) != 2 ** 64 - 1
entry = ctypes.create_string_buffer(struct.pack("IIQ", 0xffffffff, 0, ring))
assert libc.syscall(427, ring, 20, entry, 1) == 1, ctypes.get_errno()
os.close(ring)
""").replace("import ctypes, os, sys", "import ctypes, os, struct, sys")


@case("V37", "A mount that is read-only just now, one hidden from its namespace's only process, and a ring without a descriptor all count")
def v37():
    passed_on(READ_ONLY)
    passed_on(CHROOTED)
    ring = ctypes.CDLL(None).syscall(425, 4, (ctypes.c_char * 120)())
    if ring >= 0:
        os.close(ring)
        passed_on(HIDDEN_RING)


@case("V38", "No lease that may still be undone stays for one whose folder was passed on")
def v38():
    with passing(IN_FLIGHT):
        refused(beneath("v"), 75, "/srv/tree/dir lies in /srv/tree")
        with asker("root") as a:
            kind = a.call(ask_only, id="b", **HOST_FOLDERS)
            assert kind == "grant", kind
            client.look()
            a.call(hang_up)
        refused(beneath("v"), 75, "/srv/tree/dir lies in /srv/tree")
    granted(beneath("w"))


@contextlib.contextmanager
def container_of_root(name):
    """A container with the folder and a first process."""
    with asker("root") as a:
        granted(a.grant(id=name, **HOST_FOLDERS))
        status, init, place = a.call(make_container, name)
        try:
            assert status == 0, name
            yield
        finally:
            os.kill(init, 9)
            remove_cgroup(place)


@case("V41", "Of two ended leases whose folder was passed on, one stays")
def v41():
    with contextlib.ExitStack() as stack:
        with container_of_root("a"), container_of_root("b"):
            p = pass_on(IN_FLIGHT)
            stack.callback(p.wait)
            stack.callback(p.stdin.close)
            assert p.stdout.readline() == "ready\n"
        # status ends no lease, so the first lease is still there when the helper judges the second one
        told = once("root", exchange, verb="status", gpus=None)[1]["status"]["leases"]
        assert sorted(l["state"] for l in told) == ["held", "over"], told
        client.look()
        assert states() == ["passed-on"], states()
    granted(beneath("w"))
    client.look()
    assert states() == [], states()


@case("V39", "A directory kept in a user's setuid program counts as that user's")
def v39():
    mine, theirs = socket.socketpair()
    with asker("root") as a:
        granted(a.grant(id="a", **HOST_FOLDERS))
        code = "import os, socket; s = socket.socket(fileno=%d); socket.send_fds(s, [b'x'], [os.open('/srv/tree', os.O_RDONLY)])" % theirs.fileno()
        subprocess.run(["unshare", "-mp", "--fork", "--propagation", "private", "sh", "-c", "mount --bind /srv/tree /srv/tree && exec python3 -I -c \"$0\"", code],
                       pass_fds=[theirs.fileno()], check=True)
    _, (fd,), *_ = socket.recv_fds(mine, 1, 1)
    # su waits for a password
    p = subprocess.Popen(["su", "attacker"], pass_fds=[fd], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                         preexec_fn=lambda: client.become("attacker"))
    os.close(fd)
    mine.close()
    theirs.close()
    time.sleep(0.5)
    try:
        refused(beneath("v"), 75, "/srv/tree/dir lies in /srv/tree")
    finally:
        p.stdin.close()
        p.wait()
    granted(beneath("w"))


@case("V40", "Root may run a CDI hook later: while its container exists, no container can change the hook, its own included")
def v40():
    with etc(), driver_in_tree():
        conf = "/etc/gpuhelper/gpuhelper.conf"
        write(conf, (read(conf) if os.path.exists(conf) else "") + '\ncdi_hooks = "allow";\n')
        spec = json.loads(read("/etc/cdi/tree.json"))
        write("/srv/tree/dir/gpu/hook", "#!/bin/true\n", 0o755)
        spec["containerEdits"] = {"hooks": [{"hookName": "poststop", "path": "/srv/tree/dir/gpu/hook", "args": ["hook"], "env": ["A=1"]}]}
        write("/etc/cdi/tree.json", json.dumps(spec))
        refused(once("root", exchange, id="a", folders="/srv/tree:rw", **dict(HOST_ROOT, gpus="1")), 77, "/srv/tree/dir/gpu/hook", "what root runs")
        with asker("root") as a:
            granted(a.grant(id="a", **dict(IN_NAMESPACE, gpus="1")))
            status, init, place = a.call(make_container, "a")
            try:
                assert status == 0
                refused(once("root", exchange, id="b", folders="/srv/tree:rw", **HOST_ROOT), 75, "holds /srv/tree/dir/gpu/hook")
            finally:
                os.kill(init, 9)
                remove_cgroup(place)
        granted(once("root", exchange, id="b", folders="/srv/tree:rw", **HOST_ROOT))


@case("V29", "Of two folders for the host's root, one inside the other through a bind mount, only one is given at a time")
def v29():
    os.mkdir("/srv/bound")
    subprocess.run(["mount", "--bind", "/srv/tree/dir", "/srv/bound"], check=True)
    try:
        with etc():
            write(POLICIES + "/10-bound.conf", 'identity = "caller";\ncallers = [ "root" ];\n'
                  'folders = ( { path = "/srv/bound"; access = "rw"; }, { path = "/srv/tree"; access = "rw"; } );')
            for first, second in ("/srv/bound", "/srv/tree"), ("/srv/tree", "/srv/bound"):
                with asker("root") as x:
                    granted(x.grant(id="x", folders=first + ":rw", **HOST_ROOT))
                    refused(once("root", exchange, id="a", folders=second + ":rw", **HOST_ROOT), 75, second)
                    granted(once("root", exchange, id="a", folders=first + ":rw", **HOST_ROOT))
    finally:
        subprocess.run(["umount", "/srv/bound"], check=True)
        os.rmdir("/srv/bound")


@case("V30", "A directory kept by a process of the host, or a file of the same mount, counts, too")
def v30():
    def folder(name):
        return once("victim", exchange, id=name, gpus=None, folders="/srv/tree/dir:ro")
    # a file counts if its file system has a device number of its own
    numbered = os.major(os.stat("/srv/tree").st_dev) != 0
    for what, runs_as in (("/srv/tree", 65534), *([("/srv/tree/dir/data", 65534), ("/srv/tree/dir/data", None)] if numbered else [])):
        write("/srv/tree/dir/data", "x")
        mine, theirs = socket.socketpair()
        with asker("root") as a:
            granted(a.grant(id="a", folders="/srv/tree:rw", **HOST_ROOT))
            # opens it in its own mount namespace, sends it, and ends
            code = ("import os, socket, sys; s = socket.socket(fileno=%d); socket.send_fds(s, [b'x'], [os.open(%r, os.O_RDONLY)])"
                    % (theirs.fileno(), what))
            subprocess.run(["unshare", "-m", "--propagation", "private", "sh", "-c", "mount --bind /srv/tree /srv/tree && exec python3 -I -c \"$0\"", code],
                           pass_fds=[theirs.fileno()], check=True)
        _, (fd,), *_ = socket.recv_fds(mine, 1, 1)
        p = subprocess.Popen(([] if runs_as else ["unshare", "-mp", "--fork", "--propagation", "private"]) + ["sleep", "60"], pass_fds=[fd],
                             **({"user": runs_as} if runs_as else {}))
        os.close(fd)
        time.sleep(0.3)
        try:
            refused(folder("v"), 75, "/srv/tree/dir lies in /srv/tree")
        finally:
            subprocess.run(["pkill", "-9", "-P", str(p.pid)])
            p.kill()
            p.wait()
            mine.close()
            theirs.close()
        granted(folder("v"))
    os.unlink("/srv/tree/dir/data")


@contextlib.contextmanager
def driver_in_tree():
    """A CDI spec whose driver files are beneath a folder that policies give."""
    os.makedirs("/etc/cdi", exist_ok=True)
    os.makedirs("/srv/tree/dir/gpu")
    for name in "libcuda.so.1", "libother.so.1":
        write("/srv/tree/dir/gpu/" + name, "x")
    mounts = ", ".join('{"hostPath": "/srv/tree/dir/gpu/%s", "containerPath": "/usr/lib64/%s", "options": ["ro", "nosuid", "nodev", "bind"]}' % (n, n)
                       for n in ("libcuda.so.1", "libother.so.1"))
    write("/etc/cdi/tree.json", '{"cdiVersion": "0.6.0", "kind": "nvidia.com/gpu", "devices": [%s], "containerEdits": {"mounts": [%s]}}' % (", ".join(
        '{"name": "%d", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia%d"}]}}' % (n, n) for n in (0, 1)), mounts))
    try:
        yield
    finally:
        os.unlink("/etc/cdi/tree.json")
        shutil.rmtree("/srv/tree/dir/gpu")


@case("V31", "The driver's files of a CDI spec are not given from a folder that a container writes as the host's root")
def v31():
    with driver_in_tree():
        answer = granted(once("victim", exchange, gpus="1", folders="none"))
        assert any(m["hostPath"] == "/srv/tree/dir/gpu/libcuda.so.1" for m in answer["containerEdits"]["mounts"]), answer
        with asker("root") as a:
            granted(a.grant(id="a", folders="/srv/tree:rw", **HOST_ROOT))
            refused(once("victim", exchange, gpus="1", folders="none"), 75, "/srv/tree/dir/gpu/libcuda.so.1 lies in /srv/tree", "of another user")
            assert len(leases()) == 1, leases()
            refused(once("root", exchange, id="b", **dict(IN_NAMESPACE, gpus="1")), 75, "lies in /srv/tree", "container a")
        with asker("root") as a:
            granted(a.grant(id="a", folders="/srv/tree:ro", **HOST_ROOT))
            granted(once("victim", exchange, gpus="1", folders="none"))
        granted(once("victim", exchange, gpus="1", folders="none"))
        # a container's own folder does not affect its own driver files
        granted(once("root", exchange, id="c", folders="/srv/tree:rw", **dict(HOST_ROOT, gpus="1")))


@case("V32", "During their mounting, nobody gets the folder above them for writing as the host's root")
def v32():
    with driver_in_tree():
        with asker("victim") as v:
            granted(v.grant(id="v", gpus="1", folders="none"))
            refused(once("root", exchange, id="a", folders="/srv/tree:rw", **HOST_ROOT), 75, "holds /srv/tree/dir/gpu/libcuda.so.1", "is being given")
            granted(once("root", exchange, id="a", folders="/srv/tree:ro", **HOST_ROOT))
        granted(once("root", exchange, id="a", folders="/srv/tree:rw", **HOST_ROOT))
