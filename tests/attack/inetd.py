#!/usr/bin/env python3
"""Accepts connections as systemd 256 would for helper/systemd/gpuhelper.socket.  A stand-in, for systemd's limits only.

usage: inetd.py UNIT PATH COMMAND...

systemd-socket-activate has no limits, and systemd counts the connections of one user only since version 256.  This
program reads MaxConnections= and MaxConnectionsPerSource= from the unit.  It closes connections beyond them at once.
"""
import collections
import os
import re
import select
import socket
import struct
import subprocess
import sys

unit = open(sys.argv[1]).read()
most, most_of_one = (int(re.search("(?m)^%s=([0-9]+)$" % k, unit).group(1)) for k in ("MaxConnections", "MaxConnectionsPerSource"))
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[2])
os.chown(sys.argv[2], 0, os.stat(os.path.dirname(sys.argv[2]) + "/gpuhelper.sock").st_gid)
os.chmod(sys.argv[2], 0o660)
s.listen(4096)
running = {}
while True:
    # a helper's end frees its place
    select.select([s], [], [], 0.02 if running else None)
    for p in [p for p in running if p.poll() is not None]:
        del running[p]
    s.setblocking(False)
    try:
        while True:
            c, _ = s.accept()
            c.setblocking(True)
            uid = struct.unpack("3i", c.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
            if len(running) < most and collections.Counter(running.values())[uid] < most_of_one:
                running[subprocess.Popen(sys.argv[3:], stdin=c, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)] = uid
            c.close()
    except BlockingIOError:
        pass
