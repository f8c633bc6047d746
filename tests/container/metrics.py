#!/usr/bin/env python3
"""gpuhelperctl metrics: compares each number with what the test did; reads them with Prometheus's own client library.

usage: metrics.py    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

The GPUs are SIMULATED.
"""
from lib import *

FILE = W + '/metrics/gpuhelper.prom'
# Debian's Python, which finds Debian's package of the client library
READ = """
import sys, json
from prometheus_client.parser import text_string_to_metric_families as families
print(json.dumps([[s.name, s.labels, s.value] for f in families(sys.stdin.read()) for s in f.samples]))
"""
host = Host('runc', 'v1')
host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { vendor = "nvidia"; count = 2; } );\n')
host.settings('issuers = ( { url = "https://ci.example.com/\\"x\\\\y"; audience = "gpuhelper"; keys = '
              '"/etc/gpuhelper/keys/ci.json"; } );')
os.makedirs(os.path.dirname(FILE), exist_ok=True)
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train']


def metrics():
    """A dictionary of name and labels to value, and the exit status."""
    r = subprocess.run(['gpuhelperctl', 'metrics'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    p = subprocess.run(['/usr/bin/python3', '-c', READ], input=r.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if p.returncode:
        ok(False, 'the page parses', p.stderr + r.stdout)
        done()
    return {(n, tuple(sorted(l.items()))): v for n, l, v in json.loads(p.stdout)}, r.returncode, r.stderr


def at(m, name, **labels):
    return m.get((name, tuple(sorted(labels.items()))))


def run(*env, hold=False):
    b = Bundle(host, env=TRAIN + list(env), args=['/bin/sleep', '1000' if hold else '0'])
    sh('sh', '-c', 'exec "$@" >/dev/null 2>&1', '-', WRAPPER, '--root', W + '/root', 'run', *(['-d'] if hold else []),
       '--bundle', b.dir, b.id, cwd=b.dir)
    return b


before, status, err = metrics()
ok(status == 0 and err == '', 'on a quiet host the exit status is 0', err)
ok(at(before, 'gpuhelper_gpus', vendor='nvidia', state='free') == 2, 'both GPUs are free', before)
ok(at(before, 'gpuhelper_policies') == 1 and at(before, 'gpuhelper_policies_broken') == 0, 'one valid policy')
ok(at(before, 'gpuhelper_audit_records_total', event='grant') == 0, 'without a log there are no records')
ISSUER = 'https://ci.example.com/"x\\y'
keys = [k for k in before if k[0] == 'gpuhelper_keys_fetched_timestamp_seconds']
ok(keys == [('gpuhelper_keys_fetched_timestamp_seconds', (('issuer', ISSUER),))] and before[keys[0]] == 0,
   'an issuer without keys, with its exact name', keys)

write('/etc/gpuhelper/keys/ci.json', '{"keys": []}')
os.utime('/etc/gpuhelper/keys/ci.json', (1700000000, 1700000000))
held = run('GPUHELPER_GPUS=1', hold=True)
forged = run('GPUHELPER_GPUS=x","event":"grant","code":64,"suppressed":1000,"a":"')
forged.delete()
for _ in range(2):
    run('GPUHELPER_GPUS=2').delete()
write('/etc/gpuhelper/policy.d/90-broken.conf', 'pipelin = "x";\n')
m, status, err = metrics()
ok(at(m, 'gpuhelper_gpus', vendor='nvidia', state='free') == 1 and
   at(m, 'gpuhelper_gpus', vendor='nvidia', state='held') == 1, 'one GPU is held', m)
ok(sum(v for k, v in m.items() if k[0] == 'gpuhelper_gpu_leases') == 1, 'the GPU has one lease')
ok(at(m, 'gpuhelper_leases', state='held') == 1, 'the lease is in state «held»', m)
ok(at(m, 'gpuhelper_waiters') == 0 and at(m, 'gpuhelper_waiting_tasks') == 0 and at(m, 'gpuhelper_longest_wait_seconds') == 0, 'nobody waits')
records = audit()
ok(at(m, 'gpuhelper_audit_records_total', event='grant') == 1 == sum(r['event'] == 'grant' for r in records),
   'one grant; a task\'s own text is not counted', records)
refused = [r for r in records if r['event'] == 'refuse']
ok(at(m, 'gpuhelper_audit_records_total', event='refuse') == 3 == len(refused), 'three refusals', refused)
ok(at(m, 'gpuhelper_refusals_total', reason='busy') == 2 == sum(r['code'] == 75 for r in refused), 'two of them because the GPU was busy', refused)
ok(at(m, 'gpuhelper_refusals_total', reason='usage') == 0, 'a task cannot set a record\'s code')
ok(at(m, 'gpuhelper_audit_left_out_total') == 0, 'a task cannot set a record\'s count')
ok(at(m, 'gpuhelper_policies') == 2 and at(m, 'gpuhelper_policies_broken') == 1, 'one of two policies is broken')
ok(at(m, 'gpuhelper_keys_fetched_timestamp_seconds', issuer=ISSUER) == 1700000000, 'the time of the keys')

r = sh('gpuhelperctl', 'metrics', '--output', FILE)
ok(r.returncode == 0 and r.stdout == '' and os.listdir(os.path.dirname(FILE)) == ['gpuhelper.prom'],
   'written to a file, without temporary files', r.stdout)
ok(os.stat(FILE).st_mode & 0o7777 == 0o644 and 'gpuhelper_gpus{' in open(FILE).read(), 'the exporter can read the file')
r = sh('gpuhelperctl', 'metrics', '--output', W + '/none/x.prom')
ok(r.returncode == 74 and W + '/none: No such file' in r.stdout, 'a missing directory is named', r.stdout)

os.rename('/etc/gpuhelper/policy.d', '/etc/gpuhelper/policy.away')
os.symlink('policy.away', '/etc/gpuhelper/policy.d')
m, status, err = metrics()
ok(status != 0 and at(m, 'gpuhelper_up', part='configuration') == 0 and at(m, 'gpuhelper_up', part='helper') == 1 and
   at(m, 'gpuhelper_policies') is None, 'an unavailable part has status 0, and no numbers', err)
os.unlink('/etc/gpuhelper/policy.d')
os.rename('/etc/gpuhelper/policy.away', '/etc/gpuhelper/policy.d')
held.delete()

# waits, and specs
with open('/var/log/gpuhelper/audit.jsonl', 'a') as f:
    f.write('{"event":"grant","reason":"\\"waited\\":7000","waited":90}\n{"event":"grant","waited":4000}\n{"event":"refuse","waited":5}\n'
            '{"event":"promise","waited":3}\n{"event":"abandon","container":"\\"waited\\":7000","waited":38}\n{"event":"abandon"}\n'
            '{"event":"refuse","reason":"\\"event\\":\\"abandon\\""}\n')
os.makedirs('/etc/cdi', exist_ok=True)
write('/etc/cdi/x.yaml', 'cdiVersion: 0.5.0\n')
os.utime('/etc/cdi/x.yaml', (1700000000, 1700000000))
m, _, _ = metrics()
b = [at(m, 'gpuhelper_wait_seconds_bucket', le=le) for le in ('0', '10', '60', '300', '1800', '3600', '+Inf')]
ok(b == [1, 1, 1, 2, 2, 2, 3] and at(m, 'gpuhelper_wait_seconds_sum') == 4090 and at(m, 'gpuhelper_wait_seconds_count') == 3,
   'waits; a task\'s own text is not counted', [b, m])
ok(at(m, 'gpuhelper_abandoned_waits_total') == 2 == at(m, 'gpuhelper_audit_records_total', event='abandon') and
   at(m, 'gpuhelper_abandoned_wait_seconds_total') == 38 and at(m, 'gpuhelper_audit_records_total', event='promise') == 1, 'abandoned waits', m)
ok(at(m, 'gpuhelper_cdi_spec_timestamp_seconds', file='/etc/cdi/x.yaml') == 1700000000, 'the time of a CDI spec', m)
os.unlink('/etc/cdi/x.yaml')

many = 200000
line = open('/var/log/gpuhelper/audit.jsonl').readlines()[0]
with open('/var/log/gpuhelper/audit.jsonl', 'a') as f:
    for _ in range(many):
        f.write(line)
began = time.time()
m, _, _ = metrics()
print('# a log of %d records: %.2f s, the reading of the page included' % (many, time.time() - began))
ok(at(m, 'gpuhelper_audit_records_total', event=json.loads(line)['event']) > many, 'a long log is counted completely')
done()
