#!/usr/bin/env python3
"""Identity by token: what proves a pipeline, what does not, and that a task's code never sees the token.

usage: tokens.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu; needs openssl)
"""
import json, os, sys, tempfile, time
from lib import *
sys.path.insert(0, TESTS + '/fixtures/jwt')
import mkvectors as jwt

host, tag = able_host()
URL = 'https://ci.example.org'
tmp = tempfile.mkdtemp()
es, rs, ed, other = (jwt.Key(tmp, k, i) for k, i in (('ec', 'es-1'), ('rsa2048', 'rs-1'), ('ed', 'ed-1'), ('ec', 'es-1')))
KEYS = '/etc/gpuhelper/keys/ci.json'
write(KEYS, json.dumps({'keys': [es.jwk, rs.jwk, ed.jwk]}))
ISSUERS = 'issuers = ( { url = "%s"; audience = "gpuhelper"; keys = "%s"; %%s } );' % (URL, KEYS)
host.settings(ISSUERS % '')
os.makedirs('/srv/datasets')
write('/srv/datasets/x', 'data\n')
POLICY = '''
pipeline = "ml/train";
gpus = ( { vendor = "nvidia"; devices = [ "%s" ]; } );
folders = ( { path = "/srv/datasets"; access = "ro"; } );
env = { FROM_POLICY = "yes"; };
''' % GPU0
host.policies(t10=POLICY)


def token(key=es, **more):
    now = int(time.time())
    body = {'iss': URL, 'iat': now - 5, 'exp': now + 600}
    body.update(more)
    return jwt.sign(key, jwt.header(key), jwt.claims(**body))


SEE = 'ls /dev | grep nvidia; cat /srv/datasets/x; env; tr "\\0" "\\n" < /proc/1/environ'


def task(tok, env=(), script=SEE, **kw):
    b = Bundle(host, env=['GPUHELPER_TOKEN=' + tok] + list(env), args=['/bin/sh', '-c', script], **kw)
    return b, b.run()


def pieces(tok):
    """Parts of a token that must appear nowhere: not the header, which tokens share."""
    head, body, sig = tok.split('.')
    return [body[:40], body[-40:], sig[:40], sig[-40:]]


def traces(text, tok):
    return [p for p in pieces(tok) if p and p in text]


# a good token
tok = token()
b, r = task(tok)
ok(r.returncode == 0 and 'nvidia0' in r.stdout and 'nvidia1' not in r.stdout and 'data' in r.stdout.splitlines(),
   tag + 'a valid token without a request: everything in the policy', r.stdout[-600:] + str(b.errors()))
ok('GPUHELPER_TOKEN' not in r.stdout and not traces(r.stdout, tok), tag + 'the process sees no token, neither in env nor in /proc/1/environ')
ok('GPUHELPER_TOKEN' not in b.config() and not traces(b.config(), tok), tag + 'config.json has no token any more')
rec = [a for a in audit() if a.get('container') == b.id and a['event'] == 'grant']
import hashlib
ok(len(rec) == 1 and rec[0]['identity'] == 'token' and rec[0]['issuer'] == URL and rec[0]['pipeline'] == 'train' and rec[0]['job'] == 'fit' and
   rec[0]['token_sha256'] == hashlib.sha256(tok.encode()).hexdigest() and rec[0]['token_exp'] > time.time(),
   tag + 'the audit log has issuer, team, pipeline, job, exp and a hash', rec)
for key, name in ((rs, 'RS256'), (ed, 'EdDSA')):
    b, r = task(token(key))
    ok(r.returncode == 0 and 'nvidia0' in r.stdout, tag + '%s is valid, too' % name, r.stdout[-300:] + str(b.errors()))
b, r = task(token(), ['GPUHELPER_FOLDERS=/srv/datasets'])
ok(r.returncode == 0 and 'nvidia0' not in r.stdout and 'data' in r.stdout.splitlines(), tag + 'a request can ask for less: only a folder', r.stdout[-300:])

# invalid tokens: refused with one clear line, and no other identity is tried
host.policies(t10=POLICY, t90=POLICY.replace('pipeline = "ml/train";', 'identity = "caller";').replace('FROM', 'CALLER'))
FORGED = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train', 'GPUHELPER_GPUS=1']
now = int(time.time())
bad = (('expired', token(iat=now - 3000, exp=now - 120), 'expired'),
       ('for another audience', token(aud=['elsewhere']), 'aud'),
       ('of another issuer', token(iss='https://evil.example.org'), 'is not one of gpuhelper.conf'),
       ('signed by another key of that name', token(other), 'has signed it'),
       ('older than max_age', token(iat=now - 4000), 'max_age'),
       ('from the future', token(iat=now + 300), 'in the future'),
       ('without a pipeline', token(pipeline=...), 'pipeline'),
       ('of alg none', jwt.b64(b'{"alg":"none","kid":"es-1"}') + '.' + token().split('.')[1] + '.', 'has signed it'),
       ('whose header is no JSON, and unsigned', jwt.b64(b'{{') + '.' + token().split('.', 1)[1], 'has signed it'),
       ('whose payload is no JSON, and signed', jwt.sign(rs, jwt.header(rs), b'{{'), "the token's payload"),
       ('that is no token', 'hello', 'GPUHELPER_TOKEN'))
for name, t, want in bad:
    b, r = task(t, FORGED)
    rec = [a for a in audit() if a.get('container') == b.id]
    line = r.stdout.strip()
    ok(r.returncode == 1 and len(line.splitlines()) == 1 and want in line and [a['event'] for a in rec] == ['refuse'] and leases() == [],
       tag + 'refused: a token ' + name, (line, rec))
    ok(len(t) < 50 or not traces(line + json.dumps(rec) + str(b.errors()), t), tag + 'no part of the token is shown')
host.policies(t10=POLICY)
b = Bundle(host, env=FORGED, args=['/bin/sh', '-c', SEE])
r = b.run()
ok(r.returncode == 1 and 'no policy covers pipeline ml/train (by claim)' in r.stdout, tag + 'a pull request that only claims to be ml/train is refused', r.stdout)
b, r = task(token(pipeline='pull-requests'), FORGED)
ok(r.returncode == 1 and 'pipeline ml/pull-requests (by token)' in r.stdout, tag + "a token of its own pipeline with forged BUILD_ variables is refused", r.stdout)
for team, pipeline in (('ml', 'train/x'), ('ml/train', ''), ('ml%2Ftrain', 'train'), ('ml', 'train '), ('ML', 'train'), ('ml', 'tra\u0131n')):
    b, r = task(token(team=team, pipeline=pipeline or 'x'))
    ok(r.returncode == 1, tag + 'team %r and pipeline %r are not ml/train' % (team, pipeline or 'x'), r.stdout)
b, r = task('x' * 9000)
ok(r.returncode == 1, tag + 'an oversized token is refused', r.stdout[:200])
b = Bundle(host, env=['GPUHELPER_TOKEN=' + token(), 'GPUHELPER_TOKEN=' + token()])
r = b.run()
ok(r.returncode == 1 and 'given 2 times' in r.stdout, tag + 'two tokens are refused', r.stdout)

# jobs and instance variables
host.policies(t10=POLICY + 'jobs = [ "fit", "eval-*" ];\ninstance_vars = { branch = "main"; };\n')
for job, iv, good in (('fit', {'branch': 'main'}, True), ('eval-7', {'branch': 'main', 'more': 1}, True), ('pr', {'branch': 'main'}, False),
                      ('fit', {'branch': 'pr-1'}, False), ('fit', ..., False), (..., {'branch': 'main'}, False)):
    b, r = task(token(job=job, instance_vars=iv))
    ok((r.returncode == 0) == good, tag + 'job %s, instance_vars %s: %s' % (job, iv, 'granted' if good else 'refused'), r.stdout[-200:])
    told = [e for e in audit() if e.get('container') == b.id and e['event'] in ('grant', 'refuse')][-1:]
    ok(told and json.loads(told[0].get('instance_vars', 'null')) == (None if iv is ... else iv), tag + 'the record has them', told)
host.policies(t10=POLICY + 'issuer = "https://other.example.org";\n')
b, r = task(token())
ok(r.returncode == 1, tag + 'a policy for another issuer does not accept it', r.stdout)
host.policies(t10=POLICY)

# one token, one container
tok = token()
b, r = task(tok)
b2, r2 = task(tok)
ok(r.returncode == 0 and r2.returncode == 1 and 'used by another container' in r2.stdout and 'ES256' in r2.stdout, tag + 'a second container with the same token is refused', r2.stdout)
shutil.rmtree(b.dir)
os.makedirs(b.dir)
write(b.dir + '/config.json', b.text)
r = b.run()
ok(r.returncode == 0, tag + 'the same container may ask again', r.stdout)
head, body, sig = tok.split('.')
raw = jwt.unb64(sig)
s = int.from_bytes(raw[32:], 'big')
twin = '.'.join((head, body, jwt.b64(raw[:32] + (jwt.P256_N - s).to_bytes(32, 'big'))))
b2, r2 = task(twin)
ok(r2.returncode == 1 and 'used by another container' in r2.stdout, tag + 'its other valid signature (r, n - s) is the same token', r2.stdout)
tok = token()
b = Bundle(host, env=['GPUHELPER_TOKEN=' + tok, 'GPUHELPER_GPUS=2'], args=['/bin/true'])
b.run()
b2, r2 = task(tok)
ok(r2.returncode == 0, tag + 'a refused request does not bind its token', r2.stdout[-300:])
files = os.listdir('/var/lib/gpuhelper/tokens')
for f in files:
    os.utime('/var/lib/gpuhelper/tokens/' + f, (now - 1000, now - 1000))
b, r = task(token())
ok(len(os.listdir('/var/lib/gpuhelper/tokens')) == 1, tag + 'bindings of expired tokens are forgotten', (len(files), os.listdir('/var/lib/gpuhelper/tokens')))
host.settings(ISSUERS % 'token_reuse = "allow";')
tok = token(rs)
ok(all(task(tok)[1].returncode == 0 for _ in range(2)), tag + 'token_reuse = "allow": two containers may use one token')
host.settings(ISSUERS % '')

# keys
os.utime(KEYS, (now - 49 * 3600, now - 49 * 3600))
b, r = task(token())
ok(r.returncode == 1 and 'keys' in r.stdout, tag + 'keys older than keys_max_age are not accepted', r.stdout)
host.settings(ISSUERS % 'keys_max_age = 0;')
b, r = task(token())
ok(r.returncode == 0, tag + 'keys_max_age = 0: keys imported by hand stay valid', r.stdout[-200:])
os.utime(KEYS)
host.settings(ISSUERS % '')
os.chmod(KEYS, 0o666)
b, r = task(token())
ok(r.returncode == 1 and 'may be written by others' in r.stdout, tag + 'a key file that others can write is not accepted', r.stdout)
os.chmod(KEYS, 0o644)
for mode in 0o775, 0o757:
    os.chmod(os.path.dirname(KEYS), mode)
    b, r = task(token())
    ok(r.returncode == 1 and 'may be written by others' in r.stdout, tag + 'keys in a directory of mode %o are not accepted' % mode, r.stdout)
os.chmod(os.path.dirname(KEYS), 0o711)
os.rename(KEYS, KEYS + '.away')
b, r = task(token())
ok(r.returncode == 1 and 'gpuhelperctl keys fetch' in r.stdout, tag + 'no keys yet: the refusal names the command', r.stdout)
os.rename(KEYS + '.away', KEYS)
# a second issuer signs for the first one's pipeline
SECOND = 'https://other.example.org'
write('/etc/gpuhelper/keys/other.json', json.dumps({'keys': [other.jwk]}))
host.settings('issuers = ( { url = "%s"; audience = "gpuhelper"; keys = "%s"; }, { url = "%s"; audience = "gpuhelper"; '
              'keys = "/etc/gpuhelper/keys/other.json"; } );' % (URL, KEYS, SECOND))
for who, iss, key in ('second', SECOND, other), ('first', URL, es):
    b, r = task(token(key, iss=iss))
    ok(r.returncode == 1 and 'no policy covers pipeline ml/train' in r.stdout,
       tag + 'two issuers, and a policy that names none: a token of the %s gives nothing' % who, r.stdout)
host.policies(t10=POLICY + 'issuer = "%s";\n' % URL)
b, r = task(token(other, iss=SECOND))
ok(r.returncode == 1 and 'no policy covers' in r.stdout, tag + 'a policy of the first issuer: a token of the second gives nothing', r.stdout)
b, r = task(token())
ok(r.returncode == 0 and 'nvidia0' in r.stdout, tag + 'a token of the first gives the GPU', r.stdout[-300:])
host.policies(t10=POLICY)
host.settings()
b, r = task(token())
ok(r.returncode == 1 and 'lists no token issuers' in r.stdout, tag + 'no issuers: refused', r.stdout)
host.settings(ISSUERS % '')

# exec with an engine's own process.json, which has the token but not the grant's environment
tok = token()
b = Bundle(host, env=['GPUHELPER_TOKEN=' + tok, 'GPUHELPER_GPUS=1'])
b.start()
proc = json.load(open(TESTS + '/fixtures/oci/exec-task.process.json'))
proc.update(terminal=False, cwd='/', args=['/bin/sh', '-c', 'env; tr "\\0" "\\n" < /proc/1/environ; ls /dev | grep nvidia; id'])
proc.pop('consoleSize', None)
bounding = int(re.search(r'CapBnd:\s*(\w+)', open('/proc/self/status').read()).group(1), 16)
proc['env'] += ['GPUHELPER_TOKEN=' + tok, 'AFTER=1']
path = write(b.dir + '/process.json', json.dumps(proc), 0o600)
was = open(path).read()
for words in (['--process', path], ['--process=' + path], ['-p', path]):
    r = b.call('exec', *words, b.id)
    ok(r.returncode == 0 and 'AFTER=1' in r.stdout and 'nvidia0' in r.stdout and 'GPUHELPER_TOKEN' not in r.stdout and not traces(r.stdout, tok),
       tag + 'exec %s: the token is removed' % words[0].split('=')[0], r.stdout[-500:] + str(b.errors()))
    ok('FROM_POLICY=yes' in r.stdout, tag + "the policy's environment is there")
ok(open(path).read() == was, tag + "the engine's own process.json is unchanged")
if host.name == 'runc':
    with open(path) as f:
        r = subprocess.run([WRAPPER, '--root', W + '/root', 'exec', '-p', '/proc/%d/fd/%d' % (os.getpid(), f.fileno()), b.id], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL, timeout=60)
    ok(r.returncode == 0 and 'FROM_POLICY=yes' in r.stdout and 'GPUHELPER_TOKEN' not in r.stdout, tag + 'exec -p /proc/PID/fd/N likewise', r.stdout[-300:])
rd, wr = os.pipe()
os.write(wr, was.encode())
os.close(wr)
r = subprocess.run([WRAPPER, '--root', W + '/root', 'exec', '-p', '/proc/self/fd/%d' % rd, b.id], pass_fds=(rd,), stdout=subprocess.PIPE,
                   stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL, timeout=60)
ok(r.returncode == 0 and 'FROM_POLICY=yes' in r.stdout and 'GPUHELPER_TOKEN' not in r.stdout, tag + 'a process.json from a pipe works, too', r.stdout[-300:])
for words in (['--env', 'GPUHELPER_TOKEN=' + tok, '--env', 'B=2'], ['-e', 'GPUHELPER_TOKEN=' + tok, '-e', 'B=2'], ['--env=GPUHELPER_TOKEN=' + tok, '--env=B=2']):
    r = b.call('exec', *words, b.id, '/bin/env')
    ok(r.returncode == 0 and 'B=2' in r.stdout and 'GPUHELPER_TOKEN' not in r.stdout and 'FROM_POLICY=yes' in r.stdout, tag + 'exec %s: likewise' % words[0][:5], r.stdout + str(b.errors()))
r = b.call('exec', b.id, '/bin/sh', '-c', 'echo $1', 'sh', '--env=GPUHELPER_TOKEN=mine')
ok('--env=GPUHELPER_TOKEN=mine' in r.stdout, tag + "the command's own words are unchanged", r.stdout)
r = b.call('exec', '--process', '/nonexistent', b.id)
direct = sh(host.runtime, '--root', W + '/root', 'exec', '--process', '/nonexistent', b.id)
ok(r.returncode == direct.returncode and not [l for l in without_warning(r.stdout).splitlines() if l.startswith('gpuhelper') and 'gpuhelper: GPU ' not in l], tag + 'a missing process.json: the runtime reports it', r.stdout)
write(path, was.replace('"args"', '"env":[],"args"'))
r = b.call('exec', '--process', path, b.id)
ok(r.returncode == 1 and 'appears twice' in r.stdout, tag + 'a process.json with duplicate keys is refused', r.stdout)
gone = '\n'.join(open('/proc/%s/environ' % p, errors='replace').read() for p in os.listdir('/proc') if p.isdigit() and p != str(os.getpid()) and os.path.exists('/proc/%s/environ' % p))
ok(not traces(gone, tok), tag + "no process's environment holds the token")
held = []
for top in ('/run/gpuhelper', '/var/log/gpuhelper', '/var/lib/gpuhelper', host.rootfs, b.dir):
    for d, _, files in os.walk(top):
        for f in files:
            p = os.path.join(d, f)
            if os.path.isfile(p) and not os.path.islink(p) and p != path and traces(open(p, errors='replace').read(), tok):
                held.append(p)
ok(held == [], tag + "no file of the container, the helper or the image holds it", held)
b.delete()
ok(os.listdir('/run/gpuhelper/exec/0') == [], tag + 'the exec record ends with the lease')

# a plain container's exec
b = Bundle(host)
b.start()
write(path, was)
r = b.call('exec', '--process', path, b.id)
ok(r.returncode == 0 and 'AFTER=1' in r.stdout and 'GPUHELPER_TOKEN' not in r.stdout and 'FROM_POLICY' not in r.stdout, tag + 'exec into a plain container: the token is removed, too', r.stdout[-300:])
b.delete()
done()
