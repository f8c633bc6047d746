#!/usr/bin/env python3
"""gpuhelperctl metrics: compares each number with what the test did; reads them with Prometheus's own client library.

usage: metrics.py    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

The GPUs are SIMULATED.
"""
import fcntl, grp, signal, socket

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
ok(at(m, 'gpuhelper_refusals_total', reason='internal') + at(m, 'gpuhelper_refusals_total', reason='other') == 0, 'a task cannot set a record\'s code')
ok(at(m, 'gpuhelper_audit_left_out_total') == 0, 'a task cannot set a record\'s count')
ok(at(m, 'gpuhelper_policies') == 2 and at(m, 'gpuhelper_policies_broken') == 1, 'one of two policies is broken')
ok(at(m, 'gpuhelper_keys_fetched_timestamp_seconds', issuer=ISSUER) == 1700000000, 'the time of the keys')

r = sh('gpuhelperctl', 'metrics', '--output', FILE)
ok(r.returncode == 0 and r.stdout == '' and os.listdir(os.path.dirname(FILE)) == ['gpuhelper.prom'],
   'written to a file, without temporary files', r.stdout)
ok(os.stat(FILE).st_mode & 0o7777 == 0o644 and 'gpuhelper_gpus{' in open(FILE).read(), 'the exporter can read the file')
r = sh('gpuhelperctl', 'metrics', '--output', W + '/none/x.prom')
ok(r.returncode == 74 and W + '/none: No such file' in r.stdout, 'a missing directory is named', r.stdout)
r = sh('sh', '-c', 'gpuhelperctl metrics >/dev/full')
ok(r.returncode == 74 and 'stdout: No space left' in r.stdout, 'a full disk at stdout is an error', r.stdout)

# the three steps of gpuhelper-metrics.service: a user without rights makes the page of what root gathers.  (vm/jobs/udev.sh
# has the real unit.)
STEPS = W + '/steps'
NOBODY = 65534
LOGS = grp.getgrnam('gpuhelper').gr_gid


def step_dir():
    shutil.rmtree(STEPS, ignore_errors=True)
    os.mkdir(STEPS, 0o700)
    os.chown(STEPS, NOBODY, NOBODY)


def as_nobody(*argv):
    return subprocess.run(['setpriv', '--reuid', str(NOBODY), '--regid', str(NOBODY), '--groups', str(LOGS), '--bounding-set', '-all',
                           '--no-new-privs', *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)


def gather(**kw):
    step_dir()
    return sh('gpuhelperctl', 'metrics', 'gather', '--output-dir', STEPS, **kw)


def without_time(page):
    return re.sub(r'(?m)^gpuhelper_metrics_timestamp_seconds .*$', '', page)


os.chmod('/etc/gpuhelper/policy.d', 0o711)
r = gather()
st = os.stat(STEPS + '/gathered')
ok(r.returncode == 0 and r.stdout == '' and (st.st_uid, st.st_mode & 0o7777) == (NOBODY, 0o400) and os.listdir(STEPS) == ['gathered'],
   'what root gathers is for the directory\'s owner alone', r.stdout)
sh('gpuhelperctl', 'drain', '1')
drained = sh('gpuhelperctl', 'metrics').stdout
gather()
p = as_nobody('gpuhelperctl', 'metrics', '--from', STEPS, '--output', STEPS + '/gpuhelper.prom')
page = open(STEPS + '/gpuhelper.prom').read()
ok(p.returncode == 0 and p.stderr == '' and without_time(page) == without_time(drained) and 'state="out-of-service"} 1' in page and
   'gpuhelper_policies 2\n' in page, 'a user without rights makes the page that root would make', p.stderr + page)
sh('gpuhelperctl', 'undrain', '--all')
p = as_nobody('gpuhelperctl', 'metrics')
ok('gpuhelper_up{part="helper"} 0' in p.stdout and 'gpuhelper_up{part="configuration"} 0' in p.stdout, 'which that user can\'t make alone', p.stdout)
ok(as_nobody('gpuhelperctl', 'metrics', 'gather', '--output-dir', STEPS).returncode == 64, 'only root can gather')
write('/etc/gpuhelper/gpuhelper.conf', 'issuers = (\n')
gather()
p = as_nobody('gpuhelperctl', 'metrics', '--from', STEPS)
ok(p.returncode == 78 and '/etc/gpuhelper/gpuhelper.conf:' in p.stderr and 'gpuhelper_up{part="configuration"} 0' in p.stdout and
   'gpuhelper_up{part="gpus"} 1' in p.stdout, 'root gathers a file that it does not understand; the user reports its fault', p.stderr)
host.settings('')
step_dir()
p = as_nobody('gpuhelperctl', 'metrics', '--from', STEPS)
ok(p.returncode == 74 and 'gpuhelper_up{part="helper"} 0' in p.stdout and 'gpuhelper_up{part="audit-log"} 1' in p.stdout,
   'without what root gathers, the page has the rest', p.stderr)
for text in (b'', b'x' * 100000, b'0.1.0'.ljust(16, b'\0') + b'\0\0\0\0\xff\xff\xff\xff'):
    with open(STEPS + '/gathered', 'wb') as f:
        f.write(text)
    p = as_nobody('gpuhelperctl', 'metrics', '--from', STEPS)
    ok(STEPS + '/gathered is damaged' in p.stderr and 'gpuhelper_up{part="helper"} 0' in p.stdout, 'a damaged file is reported (%d bytes)' % len(text), p.stderr)

# a program that calls a parser of a library ends with status 99 here
PRELOAD = W + '/noparser.so'
sh('cc', '-shared', '-fPIC', '-o', PRELOAD, TESTS + '/container/noparser.c', check=True)
watched = dict(os.environ, LD_PRELOAD=PRELOAD)
r = sh('gpuhelperctl', 'metrics', env=watched)
ok(r.returncode == 99 and 'parser: ' in r.stdout, 'control: the step of the user without rights parses', r.stdout)
r = gather(env=watched)
ok(r.returncode == 0 and r.stdout == '' and os.listdir(STEPS) == ['gathered'], 'root gathers without a parser', r.stdout)
write(STEPS + '/gpuhelper.prom', '{\n')
os.chown(STEPS + '/gpuhelper.prom', NOBODY, NOBODY)
r = sh('gpuhelperctl', 'metrics', 'place', '--from', STEPS, '--output', W + '/metrics/gpuhelper.prom', env=watched)
ok(r.returncode == 0 and r.stdout == '', 'root copies without a parser', r.stdout)

# root's last step: what stands there may be anything.  SECRET is a file of root's in a place where the user can make links.
OUT = W + '/metrics/gpuhelper.prom'
SECRET = W + '/secret'
write(SECRET, 'root only\n', 0o600)
write(OUT, 'old\n')


def place(to=OUT):
    began = time.time()
    r = sh('timeout', '20', 'gpuhelperctl', 'metrics', 'place', '--from', STEPS, '--output', to)
    return r, time.time() - began


def refused(name, *words):
    r, took = place()
    ok(r.returncode not in (0, 124) and took < 10 and open(OUT).read() == 'old\n' and os.listdir(os.path.dirname(OUT)) == ['gpuhelper.prom'] and
       all(w in r.stdout for w in words), name + ' is not copied', [r.returncode, took, r.stdout])


PAGE = STEPS + '/gpuhelper.prom'
step_dir()
refused('no page', PAGE, 'No such file')
for name, target in (('a link to a file of root\'s', SECRET), ('a link to a public file', '/etc/passwd'), ('a link to nothing', '/none')):
    step_dir()
    os.symlink(target, PAGE)
    refused(name, PAGE)
step_dir()
os.link(SECRET, PAGE)
refused('another name of a file of root\'s', PAGE, 'uid 0')
write(SECRET + '2', 'another user\'s\n', 0o600)
os.chown(SECRET + '2', 1234, 1234)
step_dir()
os.rename(SECRET + '2', PAGE)
refused('a file of another user\'s', PAGE, 'uid 1234')
step_dir()
write(PAGE, 'own\n')
os.chown(PAGE, NOBODY, NOBODY)
os.link(PAGE, STEPS + '/second')
refused('a file with two names', PAGE, '2 links')
step_dir()
os.mkfifo(PAGE)
os.chown(PAGE, NOBODY, NOBODY)
refused('a pipe', PAGE, 'not a regular file')
step_dir()
os.mkdir(PAGE)
refused('a directory', PAGE, 'not a regular file')
step_dir()
s = socket.socket(socket.AF_UNIX)
s.bind(PAGE)
refused('a socket', PAGE)
s.close()
step_dir()
os.mknod(PAGE, 0o666 | stat.S_IFCHR, os.makedev(1, 5))
refused('a device', PAGE, 'not a regular file')
for size, what in ((1 << 20) + 1, 'a byte too large'), (1 << 40, 'a terabyte'):
    step_dir()
    with open(PAGE, 'w') as f:
        f.truncate(size)
    os.chown(PAGE, NOBODY, NOBODY)
    refused(what, PAGE, '1048576')
# a lease on a file makes open(2) wait for its holder, unless it must not wait
step_dir()
write(PAGE, 'own\n')
os.chown(PAGE, NOBODY, NOBODY)
fd = os.open(PAGE, os.O_RDWR)
signal.signal(signal.SIGIO, signal.SIG_IGN)
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
refused('a file that makes its reader wait', PAGE)
os.close(fd)
# the directory itself
shutil.rmtree(STEPS)
os.mkdir(W + '/elsewhere')
write(W + '/elsewhere/gpuhelper.prom', 'own\n')
os.symlink('elsewhere', STEPS)
refused('a page in a directory behind a link', STEPS)
r = sh('gpuhelperctl', 'metrics', 'gather', '--output-dir', STEPS)
ok(r.returncode == 74 and os.listdir(W + '/elsewhere') == ['gpuhelper.prom'], 'nor does root write there', r.stdout)
os.unlink(STEPS)
# the exporter's directory is the exporter's
step_dir()
write(PAGE, 'own\n')
os.chown(PAGE, NOBODY, NOBODY)
os.makedirs(W + '/theirs/real')
for path, how in ((W + '/theirs/link', lambda p: os.symlink(W + '/metrics', p)), (W + '/theirs/real/gpuhelper.prom', lambda p: os.symlink(SECRET, p))):
    how(path)
    r, _ = place(path if path.endswith('.prom') else path + '/gpuhelper.prom')
    ok(r.returncode in (74, 78) and path in r.stdout and open(OUT).read() == 'old\n' and open(SECRET).read() == 'root only\n',
       'root follows no link to its target either', r.stdout)
r, _ = place()
st = os.stat(OUT)
ok(r.returncode == 0 and r.stdout == '' and open(OUT).read() == 'own\n' and (st.st_mode & 0o7777, st.st_uid, st.st_gid) == (0o644, 0, 0) and
   os.listdir(os.path.dirname(OUT)) == ['gpuhelper.prom'], 'a page of the user\'s own is copied, and is root\'s', r.stdout)

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
