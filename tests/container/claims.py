#!/usr/bin/env python3
"""Jobs of other CIs than Concourse: their tokens, each in its variable, and tokens that take turns (reuse_by).

usage: claims.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu; needs openssl)

tests/claims.py tries what the tokens may say; here are real containers.
"""
import json, os, sys, tempfile, threading, time
from lib import *
sys.path.insert(0, TESTS + '/fixtures/jwt')
import citokens
import tasks
import mkvectors as jwt

host, tag = able_host()
tmp = tempfile.mkdtemp()
os.makedirs('/srv/datasets')
write('/srv/datasets/x', 'data\n')
GIVES = 'gpus = ( { vendor = "nvidia"; devices = [ "%s" ]; sharing = "shared"; } );\nfolders = ( { path = "/srv/datasets"; access = "ro"; } );\n' % GPU0
keys, entries = {}, []
for i, ci in enumerate(citokens.ALL):
    keys[ci.name] = jwt.Key(tmp, 'rsa2048', 'k-%d' % i)
    write('/etc/gpuhelper/keys/%d.json' % i, json.dumps({'keys': [keys[ci.name].jwk]}))
    entries.append(ci.settings('/etc/gpuhelper/keys/%d.json' % i))
host.settings('issuers = ( %s );' % ',\n'.join(entries))
host.policies(**{'t%d' % i: ci.policy + '\nissuer = "%s";\n' % ci.url + GIVES for i, ci in enumerate(citokens.ALL)})


def token(ci, key=None, **change):
    now = int(time.time())
    claims = {'iss': ci.url, 'iat': now - 5, 'exp': now + 600, **ci.claims, **change}
    key = key or keys[ci.name]
    return jwt.sign(key, jwt.header(key), {k: v for k, v in claims.items() if v is not ...})


VARIABLE = {'CircleCI': 'CIRCLE_OIDC_TOKEN_V2', 'Bitbucket': 'BITBUCKET_STEP_OIDC_TOKEN'}
SEE = 'ls /dev | grep nvidia; cat /srv/datasets/x; env'


def job(ci, tok, env=('GPUHELPER_GPUS=all', 'GPUHELPER_FOLDERS=all'), script=SEE):
    return Bundle(host, env=['%s=%s' % (VARIABLE.get(ci.name, 'GPUHELPER_TOKEN'), tok)] + list(env), args=['/bin/sh', '-c', script])


# each CI's token, as documented
for ci in citokens.ALL:
    tok = token(ci)
    b = job(ci, tok)
    r = b.run()
    ok(r.returncode == 0 and 'nvidia0' in r.stdout and 'data' in r.stdout.splitlines(), tag + ci.name + ': its token as documented gives the GPU and the folder',
       r.stdout[-600:] + str(b.errors()))
    ok(tok[-40:] not in r.stdout and 'TOKEN' not in r.stdout and tok[-40:] not in b.config(), tag + ci.name + ': the process and config.json have no token')
    rec = [a for a in audit() if a.get('container') == b.id and a['event'] == 'grant']
    ok(len(rec) == 1 and rec[0]['issuer'] == ci.url and ci.name != 'GitLab' or rec[0]['team'] == 'my-group' and rec[0]['pipeline'] == 'sub/my-project',
       tag + ci.name + ': the record has the issuer, team and pipeline', rec)

# the refusal names the claim
G, H, B = citokens.GITLAB, citokens.GITHUB, citokens.BITBUCKET
for ci, change, says in ((G, {'ref_protected': 'false'}, 'no policy covers these claims of pipeline my-group/sub/my-project (by token) for user root: t1.conf: claim "ref_protected" is "false", and the '
                          'policy is for "true"'),
                         (H, {'event_name': 'pull_request_target'}, 'claim "event_name" is "pull_request_target", and the policy is for "push" or another that it lists'),
                         (H, {'repository_owner_id': '666'}, '"repository_owner_id" is "666", and gpuhelper.conf requires "65" of this issuer'),
                         (G, {'job_id': None}, '"job_id" is null: reuse_by in gpuhelper.conf needs a claim that names the job')):
    b = job(ci, token(ci, **change))
    r = b.run()
    ok(r.returncode == 1 and says in r.stdout and leases() == [], tag + '%s with %s: refused in one line' % (ci.name, change), r.stdout)

# the length of a token
groups = ['my-group/department-%03d/a-rather-long-name' % i for i in range(200)]
tok = token(G, groups_direct=groups)
r = job(G, tok).run()
ok(len(tok) > 8192 and r.returncode == 0 and 'nvidia0' in r.stdout, tag + 'a token of %d bytes, where token_bytes allows it' % len(tok), r.stdout[-300:])
tok = token(H, enterprise='x' * 9000)
r = job(H, tok).run()
ok(r.returncode == 1 and 'longer than 8192 bytes' in r.stdout and tok[-40:] not in r.stdout, tag + 'a token of %d bytes, where it does not' % len(tok), r.stdout)

# the CI's own variable
b = job(B, token(B), env=['BITBUCKET_BUILD_NUMBER=1'])
r = b.run()
ok(r.returncode == 0 and 'nvidia0' not in r.stdout and 'BITBUCKET_STEP_OIDC_TOKEN=' in r.stdout, tag + "the CI's own variable alone is no request, and stays", r.stdout[-300:])
b = Bundle(host, env=['GPUHELPER_TOKEN=' + token(G), 'BITBUCKET_STEP_OIDC_TOKEN=' + token(B)], args=['/bin/sh', '-c', SEE])
r = b.run()
ok(r.returncode == 0 and 'nvidia0' in r.stdout and 'TOKEN' not in r.stdout, tag + 'beside a token for gpuhelper it is taken out', r.stdout[-300:])
tok = token(B)
b = job(B, tok, script='sleep 100')
b.start()
r = b.call('exec', '--env', 'BITBUCKET_STEP_OIDC_TOKEN=' + tok, '--env', 'X=1', b.id, '/bin/env')
ok(r.returncode == 0 and 'X=1' in r.stdout and 'TOKEN' not in r.stdout, tag + 'exec: it is taken out, too', r.stdout)
b.delete()

# turns: GitLab's helper container and then its build container have one token
def asleep(ci, tok):
    b = job(ci, tok, script='sleep 100')
    r = b.create()
    if r.returncode == 0:
        b.begin()
    return b, r


tok = token(G, job_id='1001')
helper = job(G, tok)
r = helper.run()
ok(r.returncode == 0 and 'nvidia0' in r.stdout, tag + 'reuse_by: the helper container', r.stdout[-300:])
r = job(G, tok).run()
ok(r.returncode == 0 and 'nvidia0' in r.stdout, tag + 'then the build container, with the same token', r.stdout[-300:])
r = job(G, token(G, job_id='1001')).run()
ok(r.returncode == 0 and 'nvidia0' in r.stdout, tag + 'then another token of that job', r.stdout[-300:])
build, r = asleep(G, tok)
ok(r.returncode == 0 and len(leases()) == 1 and 'turn ' in open('/run/gpuhelper/leases/' + leases()[0]).read(), tag + 'a build runs, and its lease has the turn', build.errors())
ONE = 'serves one at a time'
for what, t in ('the same token', tok), ('another token of that job', token(G, job_id='1001', sha='other')):
    b, r = asleep(G, t)
    ok(r.returncode == 1 and ONE in str(b.errors()) and len(leases()) == 1, tag + 'meanwhile, with %s: refused' % what, b.errors())
b = job(G, tok, env=['GPUHELPER_FOLDERS=/srv/datasets'], script='sleep 100')
r = b.create()
ok(r.returncode == 1 and ONE in str(b.errors()), tag + 'meanwhile, for a folder alone: refused', b.errors())
b, r = asleep(G, token(G, job_id='1002'))
ok(r.returncode == 0, tag + "another job's token does not care", b.errors())
b.delete()
b, r = asleep(citokens.BUILDKITE, token(citokens.BUILDKITE, job_id='1001'))
ok(r.returncode == 0, tag + "nor does another issuer's job of that id", b.errors())
b.delete()
b, r = asleep(G, token(G, job_id=1001))
ok(r.returncode == 0, tag + 'nor a job whose id is the number', b.errors())
b.delete()
b, r = asleep(G, tok)
ok(r.returncode == 1 and ONE in str(b.errors()), tag + 'the first is still alone after all that', b.errors())
os.kill(int(open(build.dir + '/pid').read()), 9)
for _ in range(100):
    b, r = asleep(G, tok)
    if r.returncode == 0:
        break
    time.sleep(0.05)
ok(r.returncode == 0 and len(leases()) == 1, tag + 'a build that was killed: the next container has the turn, without a delete', (b.errors(), leases()))
b.delete()
build.delete()
b, r = asleep(G, tok)
ok(r.returncode == 0, tag + 'and after both', b.errors())
b.delete()

# an aborted create gives the turn back
b = job(G, tok, script='sleep 100')
spec = json.loads(b.config())
spec['process']['args'] = ['/nonexistent']
write(b.dir + '/config.json', json.dumps(spec))
r = b.run()
ok(r.returncode != 0 and leases() == [], tag + 'a container that the runtime could not start has no lease', (r.stdout, leases()))
r = job(G, tok).run()
ok(r.returncode == 0, tag + 'and no turn', r.stdout[-300:])

# many at once: never two
for rnd in range(3):
    made = [job(G, tok, script='sleep 100') for _ in range(8)]
    results = [None] * len(made)

    def create(i):
        results[i] = made[i].create().returncode

    threads = [threading.Thread(target=create, args=(i,)) for i in range(len(made))]
    [t.start() for t in threads]
    [t.join() for t in threads]
    ok(results.count(0) == 1 and len(leases()) == 1, tag + 'eight containers of one job at once: one has it', (results, leases()))
    for b in made:
        b.delete()
ok(leases() == [], tag + 'no lease is left')

# a container that is promised its GPUs: its task is judged by the claims that the lease has
tasks.prepare(host)
host.settings('issuers = ( %s );' % ',\n'.join(entries))
POLICY = G.policy.replace('runner_id = 1;', '') + '\nissuer = "%s";\ngpus = ( { vendor = "nvidia"; devices = [ "0" ]; wait = 5; } );\n' % G.url
host.policies(t0=POLICY)
b = Bundle(host, env=['GPUHELPER_TOKEN=' + tok])
b.start()
ok(tasks.state(b) == 'promised' and 'turn ' in open('/run/gpuhelper/leases/' + leases()[0]).read(), tag + 'a container that only pauses is promised GPUs, and has the turn',
   tasks.status())
ok(tasks.show(b, 'task')[0] == 'has', tag + 'its task takes them')
c = Bundle(host, env=['GPUHELPER_TOKEN=' + tok])
ok(c.create().returncode == 1 and ONE in str(c.errors()), tag + 'another container of the job gets no promise', c.errors())
for name, change, says in (('asks for another value', ('ref_protected = "true"', 'ref_protected = "false"'), 'claim "ref_protected" is "true", and the policy is for "false"'),
                           ('asks for a claim that it did not when the token came', ('ref_protected = "true"', 'ref_protected = "true"; sha = "x"'), 'claim "sha" is not known')):
    host.policies(t0=POLICY.replace(*change))
    has, said, status = tasks.show(b, 'task')
    ok(has != 'has' and says in said, tag + 'the policy now %s: the next task gets none' % name, (has, said, status))
host.policies(t0='pipeline = "my-group/sub/my-project"; issuer = "%s"; claims = ( { claim = "tag"; absent = true; } );\n'
              'gpus = ( { vendor = "nvidia"; devices = [ "0" ]; } );\n' % G.url)
has, said, status = tasks.show(b, 'task')
ok(has != 'has' and 'claim "tag" is not known' in said, tag + 'nor where it must not be there', (has, said, status))
host.policies(t0=POLICY)
ok(tasks.show(b, 'task')[0] == 'has', tag + 'with the first policy it does again')
tasks.clean(b)

done()
