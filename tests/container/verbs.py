#!/usr/bin/env python3
"""Compares the table of verbs and options (helper/user/command/verbs.c) with all releases' sources and with the installed
runtimes.

usage: verbs.py    (in tests/lib/sandbox.sh; the wrapper prints the table)
"""
import glob, shutil
from lib import *

# Annotations that a runtime calls unsafe, but that affect nobody else: how it runs a WebAssembly program, and whether a
# container is a pod's own.
HARMLESS = {'module.wasm.image/variant', 'io.kubernetes.cri.container-type'}


def read_table():
    """{(runtime, verb, option as «--name,-n»): takes}; «-» as in the table."""
    out = {}
    for line in sh(WRAPPER, '--gpuhelper-options').stdout.splitlines():
        verb, option, rest = line.split(' ', 2)
        takes, runtimes = rest.split(' ')[:2] if option != '-' else ('-', rest.split(' ')[1])
        for runtime in runtimes.split(','):
            out[runtime, verb, option] = takes
    return out


def read_releases():
    """The verbs and options of each release, from its sources."""
    out = {}
    for path in sorted(glob.glob(TESTS + '/fixtures/runtimes/*.options')):
        runtime = os.path.basename(path).split('.')[0]
        for line in open(path):
            if not line.startswith('#'):
                verb, option, takes, releases = line.strip().split(' ', 3)
                out[runtime, verb, option] = (takes, releases)
    return out


def names(options):
    """Each spelling by itself, because urfave/cli may print the letter first."""
    return {(verb, word) for verb, option in options for word in option.split(',')}


def said_by(runtime, *words):
    return sh(runtime, *words, '--help').stdout


def verbs_of(text):
    part = re.search(r'\nCOMMANDS:\n(.*?)\n\n', text, re.S)
    return {w for l in part.group(1).splitlines() for w in re.match(r'\s+([\w, -]+?)(?:\s{2,}|\s+- )', l).group(1).split(', ')}


def options_of(text):
    """«(spelling, takes a value)» of urfave/cli's «--bundle value, -b value» and argp's «-b, --bundle=DIR»."""
    for line in text.splitlines():
        if re.match(r'\s+-', line):
            # the description begins two columns later; argp puts it on the next line if the option is long
            for one in re.split(r'\s{2,}', line.strip())[0].split(', '):
                m = re.match(r'(--?[\w?-]+)(.*)', one)
                yield m.group(1), 'optional' if m.group(2).startswith('[') else 'value' if m.group(2) else 'none'


# crun's table gives it no argument, but its parser takes the next word (argp_mandatory_argument() in crun.c)
HELP_IS_WRONG = {'--network-lock'}
table, releases = read_table(), read_releases()
ok(len(table) > 300, 'the wrapper prints its table', len(table))
for runtime in 'runc', 'crun':
    want = {k: v for k, v in releases.items() if k[0] == runtime}
    lacks = ['%s %s %s: %s has it' % (k[1:] + v) for k, v in want.items() if table.get(k) != v[0]]
    ok(len(want) > 100 and not lacks, 'each verb and option of each release of %s is in the table, with what it takes' % runtime, '\n'.join(lacks))
    more = ['%s %s' % k[1:] for k in table if k[0] == runtime and k not in want]
    ok(not more, 'the table has nothing that %s never had' % runtime, '\n'.join(more))

for runtime in 'runc', 'crun':
    if not shutil.which(runtime):
        skip('%s, installed' % runtime, 'there is no %s' % runtime)
        continue
    version = sh(runtime, '--version').stdout.split('\n')[0]
    known = names(k[1:] for k in table if k[0] == runtime)
    verbs = verbs_of(said_by(runtime))
    ok(len(verbs) > 10 and {(v, '-') for v in verbs} <= known, '%s: every verb in its help is in the table' % version, verbs)
    new, bad, n = [], [], 0
    for verb in ['-'] + sorted(verbs - {'help', 'h'}):
        for word, takes in options_of(said_by(runtime, *([verb] if verb != '-' else []))):
            n += 1
            if (verb, word) not in known:
                new.append('%s %s' % (verb, word))
            # argp shows an argument only at the long name
            elif (runtime == 'runc' or word.startswith('--')) and word not in HELP_IS_WRONG:
                bad += ['%s %s: %s' % (verb, word, takes) for k, t in table.items()
                        if k[:2] == (runtime, verb) and word in k[2].split(',') and t != takes]
    ok(n > 60 and not new, '%s: every option in its help texts is in the table (%d)' % (version, n), '\n'.join(new))
    ok(not bad, '%s: each takes the value that the table says' % version, '\n'.join(bad))
    r = sh(runtime, 'features')
    unsafe = json.loads(r.stdout).get('potentiallyUnsafeConfigAnnotations') if r.returncode == 0 else None
    if unsafe is None:
        skip('%s: the annotations that «features» calls unsafe' % version, 'it names none')
        continue
    host = Host(runtime)
    for name in sorted(set(unsafe) - HARMLESS):
        b = Bundle(host, edit=lambda s: s.setdefault('annotations', {}).update({name + ('x' if name.endswith('.') else ''): 'y'}))
        r = b.run()
        ok(r.returncode == 1 and 'annotation ' + name in r.stdout, '%s: annotation %s, which «features» calls unsafe, is refused' % (version, name), r.stdout)
done()
