#!/usr/bin/env python3
"""Checks that gpuhelperctl accepts the examples in gpuhelper-policy(5), gpuhelper.conf(5) and gpuhelper-ci(7), and that
the first two describe every key.

usage: manexamples.py GPUHELPERCTL    (TAP; from the top of the tree)
Literal blocks are whole files, except YAML pipelines and commands.  An «Example:» shows one key; the test puts it
where it belongs.
"""
import os
import re
import subprocess
import sys
import tempfile

CTL = os.path.abspath(sys.argv[1])
GPU = 'devices count sharing share_limit wait capabilities mig mps nodes'.split()
FOLDER = 'path access target subfolders submounts relabel'.split()
failed = tests = 0


def plain(text):
    """Text as a reader sees it: without mdoc's escapes, and without the space before punctuation."""
    return text.replace('\\(dq', '"').replace('\\&', '').replace('\\e', '\\')


def blocks(page):
    return [b for b in re.findall(r'^\.Bd -literal.*?\n(.*?)^\.Ed', page, re.M | re.S)
            if 'var_sources' not in b and not re.search(r'^[#$] \w', b, re.M) and ' = ' in b]


def keys(page):
    return [plain(k).rstrip(' .') for k in re.findall(r'^Example:\n\.Ql (.*)$', page, re.M)]


def as_policy(setting):
    """A complete policy with this one key in it."""
    key = setting.split(' ')[0]
    if key in GPU:
        vendor = 'nvidia.com/gpu' if key == 'nodes' else 'nvidia'
        shared = ' sharing = "shared";' if key == 'share_limit' else ''
        return 'pipeline = "a/b"; gpus = ( { vendor = "%s";%s %s } );' % (vendor, shared, setting)
    if key in FOLDER:
        path = '' if key == 'path' else 'path = "/srv/x";'
        return 'pipeline = "a/b"; folders = ( { %s %s } );' % (path, setting)
    if key in ('max_gpus', 'max_waiting', 'priority'):
        return 'pipeline = "a/b"; gpus = ( { vendor = "nvidia"; wait = 9; } ); ' + setting
    return setting if key == 'pipeline' else 'pipeline = "a/b"; ' + setting


def ok(good, what, why=''):
    global failed, tests
    tests += 1
    failed += not good
    print('%sok %d - %s' % ('' if good else 'not ', tests, what))
    if not good:
        print('# ' + why.replace('\n', '\n# '))


def check(name, text, what):
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, name)
        with open(path, 'w') as f:
            f.write(text + '\n')
        r = subprocess.run([CTL, 'check', path], capture_output=True, text=True, timeout=60)
    ok(r.returncode == 0, what, text + '\n' + r.stdout + r.stderr)


for page, name, wrap, sources in (
        ('helper/man/gpuhelper-policy.5', '10-example.conf', as_policy, ('policyread', 'folderread')),
        ('helper/man/gpuhelper.conf.5', 'gpuhelper.conf', str, ('settingsread',))):
    text = open(page).read()
    found = [(plain(b), 'a whole file') for b in blocks(text)] + [(wrap(k), k) for k in keys(text)]
    assert len(found) > 5, page
    for body, what in found:
        check(name, body, '%s: %s' % (page.split('/')[-1], what))
    known = {k for f in sources for k in re.findall(r'{ "(\w+)", read_', open('helper/read/conf/%s.c' % f).read())}
    named = set(re.findall(r'(?:^\.It|{)[^"\n]*? ?Ic (\w+) No =', text, re.M)) | set(re.findall(r'; Ic (\w+) No =', text))
    ok(len(known) > 5 and known == named, page.split('/')[-1] + ': has every key and no other', ' '.join(sorted(known ^ named)))
# gpuhelper-ci(7): the settings and the policy of each CI fit together, and check warns of nothing that the policy leaves open
for section in re.split(r'^\.Sh ', open('helper/man/gpuhelper-ci.7').read(), flags=re.M):
    name, body = section.split('\n', 1)
    found = [plain(b).replace('"URL"', '"https://api.bitbucket.org/x"') for b in blocks(section)]
    settings, policies = ([b for b in found if b.startswith(w)] for w in ('issuers =', 'pipeline ='))
    if not settings:
        continue
    with tempfile.TemporaryDirectory() as d:
        os.mkdir(d + '/policy.d')
        for path, text in ('gpuhelper.conf', settings[0]), ('policy.d/10-a.conf', policies[0]):
            with open(os.path.join(d, path), 'w') as f:
                f.write(text + '\n')
        r = subprocess.run([CTL, 'check', '--config-dir', d], capture_output=True, text=True, timeout=60)
        left = [l for l in r.stdout.splitlines() if re.search(r'without|job_workflow_ref|pull_request_target|build_tag|reuse_by|no issuer|slash', l)]
    ok(len(settings) == len(policies) == 1 and r.returncode == 0 and left == [], 'gpuhelper-ci.7: ' + name, r.stdout + r.stderr)
print('1..%d' % tests)
sys.exit(failed > 0)
