#!/usr/bin/env python3
"""Checks that CASES lists every case of the attacks.  cases.py --write updates the list.

The text above the line of dashes in CASES is written by hand.  Every case that this text names must exist.
"""
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LINE = "-" * 60 + "\n"


def cases():
    """Yields (file, id, text) of each case, in the order of the files."""
    for path in sorted(glob.glob(HERE + "/t_*.py")):
        with open(path) as f:
            text = f.read()
        for name, what in re.findall(r'^@case\(\s*"([A-Z]+[0-9]+[a-z]?)",\s*"((?:[^"\\]|\\.)*)"', text, re.M):
            yield os.path.basename(path), name, what.replace('\\"', '"')


def main():
    with open(HERE + "/CASES") as f:
        above, _, below = f.read().partition(LINE)
    rest, last = "", None
    for path, name, what in cases():
        rest += ("" if path == last else "\n%s\n" % path) + "    %-5s %s\n" % (name, what)
        last = path
    if "--write" in sys.argv:
        with open(HERE + "/CASES", "w") as f:
            f.write(above + LINE + rest)
        return 0
    known = {name for _, name, _ in cases()}
    missing = sorted({n for n in re.findall(r"\b[A-Z][0-9]+[a-z]?\b", above) if n not in known})
    print("%sok 1 - tests/attack/CASES lists every case (cases.py --write)" % ("" if below == rest else "not "))
    print("%sok 2 - every case named in its first part exists%s" % ("not " if missing else "", ": %s" % missing if missing else ""))
    print("1..2")
    return int(below != rest or bool(missing))


sys.exit(main())
