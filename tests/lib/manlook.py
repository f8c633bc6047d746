#!/usr/bin/env python3
"""Checks how the manual pages look on a terminal of 80 columns, with mandoc and with groff (what man(1) of Debian and
Fedora runs): no line is wider, no title is cut off, and no heading says that a page of gpuhelper is BSD's.

usage: manlook.py PAGE...    (TAP)
"""
import os
import re
import shutil
import subprocess
import sys

COLUMNS = 80
FORMATTERS = {'mandoc': ['mandoc', '-Tutf8', '-Owidth=%d' % COLUMNS],
              # man(1) leaves two columns free; rLT is the width of the heading
              'groff': ['groff', '-mandoc', '-Tutf8', '-P-c', '-rLL=%dn' % (COLUMNS - 2), '-rLT=%dn' % (COLUMNS - 2)]}


def look(formatter, page):
    """The lines of a page as a terminal shows them: without overstrikes."""
    out = subprocess.run(FORMATTERS[formatter] + [page], stdout=subprocess.PIPE, check=True).stdout.decode()
    return re.sub('.\b', '', out).rstrip('\n').split('\n')


def faults(lines, page):
    name, section = os.path.basename(page).rsplit('.', 1)
    heading = [line for line in lines if line][0]
    title = '%s(%s)' % (name.upper(), section)
    if not (heading.startswith(title + ' ') and heading.endswith(' ' + title)):
        yield 'the title is cut off: ' + heading
    for line in (heading, lines[-1]):
        if re.search(r'\bBSD\b|\bDebian\b', line):
            yield 'it is no page of that system: ' + line
    for line in lines:
        if len(line) > COLUMNS:
            yield '%d columns: %s' % (len(line), line.strip())


def main():
    failed = tests = 0
    for formatter in FORMATTERS:
        for page in sys.argv[1:]:
            tests += 1
            what = '%s in %d columns of %s' % (os.path.basename(page), COLUMNS, formatter)
            if not shutil.which(formatter):
                print('ok %d - %s # SKIP no %s' % (tests, what, formatter))
                continue
            wrong = list(faults(look(formatter, page), page))
            failed += bool(wrong)
            print('%sok %d - %s' % ('not ' if wrong else '', tests, what))
            for w in wrong:
                print('# ' + w)
    print('1..%d' % tests)
    return failed != 0


sys.exit(main())
