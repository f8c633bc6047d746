"""Sends the requests on its standard input, one a line, from its own namespaces.  «!COMMAND» starts a process, «-»
ends it.
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import client

other = None
print("ready", flush=True)
for line in sys.stdin:
    line = line.rstrip("\n")
    if line.startswith("!"):
        other = subprocess.Popen(line[1:].split(), stdout=subprocess.DEVNULL, preexec_fn=lambda: client.become("attacker"))
        print("started", flush=True)
    elif line == "-":
        other.kill()
        other.wait()
        print("ended", flush=True)
    else:
        print(json.dumps(client.exchange(**json.loads(line))), flush=True)
