# Runs the golden cases of fixtures/cdi for cdi.sh: «cdigolden.py CTL FIXTURES».  Prints «NAME ok» or «NAME differs:
# ...» for each case.  The reference library (pkg/cdi of container-device-interface; cdi.sh names the version) wrote
# the expected results in a /dev like devnodes.sh's; all members must be equal.
#
# Deliberate differences: none.  (A grant of the helper's differs, and is not tested here: the helper appends its
# mounts last instead of sorting all of them, and adds no idmap to read-only libraries.)
import json
import os
import shutil
import subprocess
import sys
import tempfile

ctl, fixtures = sys.argv[1:3]
golden = os.path.join(fixtures, 'golden')


def difference(got, want, at=''):
    if type(got) is not type(want):
        return '%s is %r, not %r' % (at, got, want)
    if isinstance(want, dict):
        for k in sorted(set(got) | set(want)):
            if k not in got or k not in want:
                return '%s.%s is %s' % (at, k, 'missing' if k not in got else 'too much')
            d = difference(got[k], want[k], at + '.' + k)
            if d:
                return d
    elif isinstance(want, list):
        for i, (g, w) in enumerate(zip(got, want)):
            d = difference(g, w, '%s[%d]' % (at, i))
            if d:
                return d
        if len(got) != len(want):
            return '%s has %d elements, not %d' % (at, len(got), len(want))
    elif got != want:
        return '%s is %r, not %r' % (at, got, want)
    return None


for case in json.load(open(os.path.join(golden, 'manifest.json'))):
    files = tempfile.mkdtemp()
    dirs = []
    for s in case['specs']:
        path = os.path.join(fixtures, s)
        if os.path.isfile(path):
            shutil.copy(path, files)
            dirs += [files] if files not in dirs else []
        else:
            dirs.append(path)
    args = [ctl, 'cdi', 'inject', '--spec-dirs', ':'.join(dirs)]
    for d in case['devices']:
        args += ['--device', d]
    p = subprocess.run(args + [os.path.join(golden, case['oci'])], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       universal_newlines=True)
    shutil.rmtree(files)
    if 'error' in case:
        # only the part of the library's message with the unresolved names is ours, too
        names = case['error'].split('err=')[0].split('[')[1].split(']')[0]
        good = p.returncode == 69 and p.stdout == '' and 'no such CDI devices: ' + names in p.stderr
        print(case['name'], 'ok' if good else 'differs: %d %s%s' % (p.returncode, p.stdout, p.stderr.strip()))
        continue
    if p.returncode != 0:
        print(case['name'], 'differs:', p.returncode, p.stderr.strip().replace('\n', ' '))
        continue
    d = difference(json.loads(p.stdout), json.load(open(os.path.join(golden, case['expect']))))
    print(case['name'], 'differs: ' + d if d else 'ok')
