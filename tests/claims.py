#!/usr/bin/env python3
"""What tokens of eight CIs give: each as documented is granted, and none of its abuses is.

usage: claims.py GPUHELPERCTL    (needs openssl)

«gpuhelperctl explain» decides with the helper's own code.  All eight issuers are in one gpuhelper.conf, and all eight
policies beside each other, so that an abuse of one CI's token could also be granted by the policy of another.
"""
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [TESTS + '/lib', TESTS + '/fixtures/jwt']
import citokens
import mkvectors as jwt

LEAST = 30
ctl = os.path.abspath(sys.argv[1])
top = tempfile.TemporaryDirectory()
T = top.name
n = bad = 0


def ok(cond, name, detail=''):
    global n, bad
    n += 1
    print('ok' if cond else 'not ok', n, '-', name, flush=True)
    if not cond:
        bad += 1
        for line in str(detail)[:3000].splitlines():
            print('#  ', line)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.write(text)
    return path


keys = {c.name: jwt.Key(T, 'ec', 'k-' + c.name) for c in citokens.ALL}
files = {c.name: write('%s/keys/%d.json' % (T, i), json.dumps({'keys': [keys[c.name].jwk]})) for i, c in enumerate(citokens.ALL)}
write(T + '/conf/gpuhelper.conf', 'issuers = (\n%s );\n' % ',\n'.join(c.settings(files[c.name]) for c in citokens.ALL))
for i, c in enumerate(citokens.ALL):
    write('%s/conf/policy.d/%d.conf' % (T, i), c.policy + '\nissuer = "%s";\n' % c.url + citokens.FOLDER % '/usr')


def token(ci, claims):
    now = int(time.time())
    dates = {'iss': ci.url, 'iat': now - 5, 'nbf': now - 5, 'exp': now + 600}
    if isinstance(claims, str):
        return jwt.sign(keys[ci.name], jwt.header(keys[ci.name]), json.dumps(dates)[:-1] + ', ' + claims[1:])
    return jwt.sign(keys[ci.name], jwt.header(keys[ci.name]), {**dates, **claims})


def explain(job):
    ci, name, claims = job
    r = subprocess.run([ctl, 'explain', '--json', '--config-dir', T + '/conf', '--user', 'root', '--folders', '/usr:ro', '--token-file', '-'],
                       input=token(ci, claims), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    try:
        return name, json.loads(r.stdout)
    except ValueError:
        return name, {'outcome': 'no answer: %s %s' % (r.stdout, r.stderr)}


def signed(answer):
    """Whether the signature held, so that what the token says is the reason.  Without a known issuer, or as no JSON, a token gets no further."""
    made = {c['check']: c['result'] for c in answer.get('token', [])}
    return made.get('signature') == 'ok' or made.get('form') == 'fails' or made == {'iss': 'fails'}


total = wrong = 0
r = subprocess.run([ctl, 'check', '--config-dir', T + '/conf'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
ok(r.returncode == 0, 'gpuhelperctl check: no error in the eight issuers and policies', r.stdout)
with ThreadPoolExecutor(2) as pool:
    for ci in citokens.ALL:
        for name, a in pool.map(explain, [(ci, name, claims) for name, claims in ci.good()]):
            ok(a['outcome'] == 'granted', '%s: a token %s is granted' % (ci.name, name), a)
        abuses = list(ci.abuses())
        ok(len(abuses) >= LEAST and len({name for name, _ in abuses}) == len(abuses), '%s: there are %d abuses, at least %d' % (ci.name, len(abuses), LEAST))
        answers = list(pool.map(explain, [(ci, name, claims) for name, claims in abuses]))
        granted = [name for name, a in answers if a['outcome'] != 'refused']
        vague = [(name, a.get('reason')) for name, a in answers if a['outcome'] == 'refused' and not (a.get('reason') and signed(a))]
        total += len(abuses)
        wrong += len(granted)
        ok(granted == [], '%s: %d abuses, %d wrong grants' % (ci.name, len(abuses), len(granted)), granted)
        ok(vague == [], '%s: each is refused for what the token says' % ci.name, vague)
    # one CI's claims, signed by another CI
    mixed = [(b, '%s by %s' % (a.name, b.name), {**a.claims, 'aud': b.audience}) for a in citokens.ALL for b in citokens.ALL if a is not b]
    granted = [name for name, a in pool.map(explain, mixed) if a['outcome'] != 'refused']
    total += len(mixed)
    wrong += len(granted)
    ok(granted == [], "%d tokens with one CI's claims, signed by another: %d wrong grants" % (len(mixed), len(granted)), granted)
print('# %d abuses of %d issuers, %d wrong grants' % (total, len(citokens.ALL), wrong))
print('1..%d' % n)
sys.exit(1 if bad else 0)
