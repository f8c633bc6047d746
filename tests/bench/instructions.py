#!/usr/bin/env python3
"""Compares the instruction counts of our own code and its static libraries with recorded counts, by callgrind.  TAP.

usage: instructions.py [--record]    (in tests/lib/sandbox.sh --gpu nvidia-8gpu)

Only functions of helper/ and of the static libraries count (libconfig, jansson, libyaml, nettle, gmp).  The C
library's do not: it chooses its memcpy() by the processor (ifunc), and asks the processor for its caches at the
start.  So the counts are the same on every processor and kernel.  They depend on the compiler and on valgrind (3.19
lacks openat2(2), so that file.c opens a path name by name).  The recorded file names both versions; with other
versions the test is skipped.

The wrapper's count ends where it executes the runtime.  gpuhelper-read, gpuhelper-judge and the helper cannot run under
valgrind; work.c makes the same computations.
"""
import os, re, shutil, subprocess, sys
from stage import BIN, BUILD, HERE, ROOT, TEAM, W, Stage, sh
from lib import done, ok, skip

FILE = HERE + '/instructions'
MORE = 0.05
LIBC = ('libc.a', 'libm.a', 'libgcc.a', 'libgcc_eh.a')


def tools():
    first = lambda *words: subprocess.run(words, stdout=subprocess.PIPE, text=True).stdout.split('\n')[0]
    return '%s; %s; %s; %s' % (first('gcc', '--version'), first('valgrind', '--version'), os.confstr('CS_GNU_LIBC_VERSION'),
                               os.uname().machine)


def of_libc():
    """Names of the functions of the C library and the compiler, including an archive's local ones."""
    names = set()
    for archive in LIBC:
        path = sh('gcc', '-print-file-name=' + archive).stdout.strip()
        names |= {l.split()[-1] for l in sh('nm', path).stdout.splitlines() if re.match(r'[0-9a-f]+ [tTwWiI] ', l)}
    return names


def count(out, libc):
    """The instructions in callgrind's figures, without the C library's."""
    total, ours, names, files = 0, False, {}, {}
    compressed = re.compile(r'\((\d+)\)(?: (.*))?$')

    def name_of(table, text):
        number, name = compressed.match(text).groups()
        if name is not None:
            table[number] = name
        return table[number]
    objects, skip_next, file, objekt = {}, False, '', ''
    for line in open(out):
        line = line.rstrip('\n')
        key, eq, value = line.partition('=')
        if eq and key in ('fl', 'fi', 'fe'):
            file = name_of(files, value)
        elif eq and key in ('cfi', 'cfl'):
            name_of(files, value)
        elif eq and key == 'ob':
            objekt = name_of(objects, value)
        elif eq and key == 'cob':
            name_of(objects, value)
        elif eq and key == 'fn':
            name = name_of(names, value)
            plain = re.sub(r"('\d+|\.(isra|part|constprop|cold)\.?\d*)+$", '', name)
            ours = (objekt.startswith(BUILD + '/') and plain[:1] != '(' and
                    ('helper/' in file or 'tests/bench/' in file or plain not in libc))
        elif eq and key == 'cfn':
            name_of(names, value)
        elif line.startswith('calls='):
            skip_next = True
        elif re.match(r'[+*-]?\d* ?\d+$|[+*-]\d* \d+$|\* \d+$', line):
            if skip_next:
                skip_next = False
            elif ours:
                total += int(line.split()[-1])
    return total


def callgrind(words, cwd='/', dump=None, collect=None):
    out = W + '/callgrind'
    for f in os.listdir(W):
        if f.startswith('callgrind'):
            os.unlink(W + '/' + f)
    options = ['--dump-before=' + dump] if dump else ['--toggle-collect=' + collect]
    r = sh('valgrind', '--tool=callgrind', '--callgrind-out-file=' + out, *options, *words, cwd=cwd, env={'PATH': '/usr/bin:/bin'})
    figures = out + '.1' if dump else out
    assert os.path.exists(figures), r.stdout
    return figures


def measured(stage):
    libc = of_libc()
    stage.host.promises = True      # neither run asks for a GPU: the settings are a user's, without a line for the tests
    stage.host.settings()
    bundle = W + '/b/counted'
    os.makedirs(bundle)
    shutil.copy(stage.template(TEAM), bundle + '/config.json')
    wrapper = BUILD + '/gpuhelper-runc'
    words = [wrapper, '--root', ROOT]
    yield 'wrapper-state', count(callgrind(words + ['state', 'counted'], dump='runtime_exec'), libc)
    figures = callgrind(words + ['create', '--bundle', bundle, 'counted'], bundle, dump='runtime_exec')
    yield 'wrapper-create-plain', count(figures, libc)
    for part in 'read', 'judge', 'helper':
        yield part, count(callgrind([BIN + '/work', part], collect='work_' + part), libc)


def recorded():
    if not os.path.exists(FILE):
        return '', {}
    lines = open(FILE).read().splitlines()
    return lines[0][2:], {k: int(n) for k, n in (l.split() for l in lines if not l.startswith('#'))}


def main():
    with_tools, numbers = recorded()
    if not shutil.which('valgrind'):
        skip('instructions', 'valgrind is not installed: sh tests/deps.sh check')
        done()
    if sys.argv[1:] != ['--record'] and with_tools != tools():
        skip('instructions', 'they were recorded with %s, and here is %s' % (with_tools, tools()))
        done()
    now = dict(measured(Stage()))
    if sys.argv[1:] == ['--record']:
        with open(FILE, 'w') as f:
            f.write('# %s\n# one run each; see instructions.py.  «sh tests/bench/bench.sh instructions --record» writes them '
                    'anew\n' % tools())
            f.writelines('%s %d\n' % kn for kn in now.items())
    for key, n in now.items():
        was = numbers.get(key, n if sys.argv[1:] else 0)
        ok(n <= was * (1 + MORE) or sys.argv[1:] == ['--record'], '%s: %d instructions, recorded %d' % (key, n, was),
           'more than 5 % above: make it cheaper, or record the new number with the change (bench.sh instructions --record)')
        if n < was * (1 - MORE):
            print('# %s: %d %% fewer than recorded: record the new number' % (key, 100 - 100 * n // was))
    done()


main()
