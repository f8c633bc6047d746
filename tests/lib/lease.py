"""
Reads and writes a lease's file (helper/lease/leasefile.c) as a dictionary, for tests that look at a lease or plant one.

This is a second implementation.  The tests that plant leases show that the helper uses the same format.
"""
import hashlib
import os
import re

PLAIN = set(range(0x21, 0x7f)) - {ord("%")}


def spell(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    data = str(value).encode(errors="surrogateescape")
    if data in (b"", b"-"):
        return "-" if data == b"" else "%2D"
    return "".join(chr(c) if c in PLAIN else "%%%02X" % c for c in data)


def unspell(word):
    if word == "-":
        return ""
    out, at = bytearray(), 0
    while at < len(word):
        out.append(int(word[at + 1:at + 3], 16) if word[at] == "%" else ord(word[at]))
        at += 3 if word[at] == "%" else 1
    return out.decode(errors="surrogateescape")


def yes(word):
    return {"yes": True, "no": False}[word]


# the name of a line: its members, and the function that reads each
ONE = {
    "lease": [("version", int)],
    "container": [("id", unspell), ("root", unspell), ("uid", int)],
    "granted": [("policy", unspell), ("pipeline", unspell), ("since", int)],
    "state": [("state", unspell), ("planned", yes)],
    "boot": [("boot", unspell)],
    "asker": [("pid", int), ("start", int)],
    "init": [("init", int), ("init_start", int)],
    "namespaces": [("pids", int), ("own_pids", yes), ("mounts", int)],
    "rights": [("privileged", yes), ("hooked", yes), ("host_root", yes)],
    "label": [("label", unspell)],
}
MANY = {
    "cgroup": ("cgroups", [("cgroup", unspell)]),
    "gpu": ("gpus", [("vendor", unspell), ("pci", unspell), ("part", unspell), ("exclusive", yes), ("limit", int)]),
    "node": ("nodes", [("path", unspell), ("major", int), ("minor", int), ("mode", int), ("uid", int), ("gid", int)]),
    "user": ("users", [("first", int), ("size", int)]),
    "folder": ("folders", [("path", unspell), ("fs", unspell), ("place", unspell), ("relabel", unspell)]),
    "way": ("ways", [("path", unspell), ("writable", yes), ("at", None)]),
}
PAUSING = [("major", int), ("minor", int), ("inode", int), ("gate", unspell), ("idle", unspell), ("left_behind", int),
           ("asked", unspell), ("task", int), ("task_start", int), ("left_since", int), ("giver", int),
           ("giver_start", int), ("giving_since", int), ("waited", int), ("uid", int), ("gid", int), ("who", unspell)]
PROMISED = {
    "may": ("may", [("vendor", unspell), ("pci", unspell), ("part", unspell), ("exclusive", yes), ("limit", int)]),
    "promised": ("nodes", [("major", int), ("minor", int), ("open", yes)]),
}
# a lease that holds nothing
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../helper/lease/leasefile.h")) as f:
    VERSION = int(re.search(r"#define LEASE_VERSION (\d+)", f.read()).group(1))
NOTHING = {"version": VERSION, "id": "p", "root": "", "uid": 0, "policy": "p", "pipeline": "", "since": 0, "state": "held",
           "planned": False, "boot": "", "pid": 1, "start": 0, "init": 0, "init_start": 0, "pids": 0, "own_pids": False,
           "mounts": 0, "privileged": False, "hooked": False, "host_root": False, "label": "",
           **{key: [] for key, _ in MANY.values()}}


def members(form, words):
    return {name: [unspell(w) for w in words[n:]] if read is None else read(words[n]) for n, (name, read) in enumerate(form)}


def read(text):
    lease = {key: [] for key, _ in MANY.values()}
    lines = text.split("\n")
    assert lines[-2:] == ["end", ""], lines[-2:]
    for line in lines[:-2]:
        name, *words = line.split(" ")
        if name in ONE:
            lease.update(members(ONE[name], words))
        elif name in MANY:
            key, form = MANY[name]
            one = members(form, words)
            lease[key].append(one["cgroup"] if name == "cgroup" else one)
        elif name == "pausing":
            lease["pausing"] = dict(members(PAUSING, words), may=[], nodes=[])
        elif name in PROMISED:
            key, form = PROMISED[name]
            lease["pausing"][key].append(members(form, words))
        elif name == "unscanned":
            lease[name] = yes(*words)
        else:
            assert name == "tasks", line
    return lease


def line(name, form, value):
    words = [name]
    for key, how in form:
        words += [spell(w) for w in value[key]] if how is None else [spell(value[key])]
    return " ".join(words) + "\n"


def write(lease):
    lease = {**NOTHING, **lease}
    out = [line(name, form, lease) for name, form in ONE.items()]
    for name, (key, form) in MANY.items():
        out += [line(name, form, {"cgroup": one} if name == "cgroup" else one) for one in lease[key]]
    out.append("tasks %s\n" % spell("pausing" in lease))
    if "pausing" in lease:
        out.append(line("pausing", PAUSING, lease["pausing"]))
        for name, (key, form) in PROMISED.items():
            out += [line(name, form, one) for one in lease["pausing"][key]]
    return "".join(out) + "end\n"


# a node's file in the ledger (helper/lease/ledgerfile.c)
LEDGER = {
    "ledger": [("version", int)],
    "node": [("path", unspell), ("major", int), ("minor", int)],
    "before": [("boot", unspell), ("inode", int), ("mask", unspell)],
}
ENTRY = [("key", unspell), ("uid", int), ("kind", unspell), ("id", int), ("label", unspell), ("was", unspell)]
UNUSED = {"version": 1, "boot": "", "inode": 0, "mask": "none", "entries": []}


def read_ledger(text):
    node = {"entries": []}
    lines = text.split("\n")
    assert lines[-2:] == ["end", ""], lines[-2:]
    for line in lines[:-2]:
        name, *words = line.split(" ")
        if name == "entry":
            node["entries"].append(members(ENTRY, words))
        else:
            node.update(members(LEDGER[name], words))
    return node


def write_ledger(node):
    node = {**UNUSED, **node}
    return "".join([line(name, form, node) for name, form in LEDGER.items()] +
                   [line("entry", ENTRY, {"label": "", "was": "", **e}) for e in node["entries"]]) + "end\n"


def key(lease):
    return hashlib.sha256("\0".join((str(lease["uid"]), lease["root"], lease["id"])).encode()).hexdigest()


def name(lease):
    """The file name of a lease that may concern everyone (helper/lease/leasename.h)."""
    return "%s-%d-7-%s" % (key(lease), lease["uid"], "f" * 16)
