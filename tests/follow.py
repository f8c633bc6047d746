#!/usr/bin/env python3
"""gpuhelperctl audit follow: passes each record on once and loses none, whatever happens to the log or the follower.

usage: follow.py GPUHELPERCTL    (the journal and syslog parts need root)

The journal is a MOCK: a socket in a mount namespace that speaks its protocol (systemd's JOURNAL_NATIVE_PROTOCOL).
"""
import gzip, hashlib, json, os, re, shutil, signal, socket, struct, subprocess, sys, tempfile, time

CTL = os.path.abspath(sys.argv[1])
tests = bad = 0


def ok(cond, name, detail=''):
    global tests, bad
    tests += 1
    bad += not cond
    print('%sok %d - %s' % ('' if cond else 'not ', tests, name), flush=True)
    if not cond:
        print('# ' + str(detail).replace('\n', '\n# ')[-3000:], flush=True)


class Log:
    def __init__(self, top):
        self.path, self.n, self.hash = top + '/audit.jsonl', 0, '0' * 64

    def line(self, **members):
        self.n += 1
        r = '{"n":%d,"prev":"%s",%s' % (self.n, self.hash, json.dumps(members, separators=(',', ':'))[1:])
        self.hash = hashlib.sha256(r.encode()).hexdigest()
        return r

    def add(self, count=1, **members):
        lines = [self.line(**(members or {'time': '2026-01-01T00:00:00Z', 'event': 'grant', 'container': 'c%d' % (self.n + 1)}))
                 for _ in range(count)]
        with open(self.path, 'a') as f:
            f.write(''.join(l + '\n' for l in lines))
        return lines

    def rotate(self, day, compress=False):
        name = self.path + '-2026-01-%02d' % day
        os.rename(self.path, name)
        if compress:
            with open(name, 'rb') as f, gzip.open(name + '.gz', 'wb') as g:
                g.write(f.read())
            os.unlink(name)


class Follower:
    def __init__(self, top, log, state='/position'):
        self.out = top + '/out'
        self.p = subprocess.Popen([CTL, 'audit', 'follow', '--to', 'stdout', '--json', '--state', top + state, log.path],
                                  stdout=open(self.out, 'a'), stderr=subprocess.PIPE, text=True)

    def lines(self):
        return [l for l in open(self.out, errors='surrogateescape').read().split('\n') if l]

    def wait(self, count, seconds=20):
        end = time.time() + seconds
        while len(self.lines()) < count and time.time() < end and self.p.poll() is None:
            time.sleep(0.02)
        return self.lines()

    def stop(self, sig=signal.SIGTERM):
        self.p.send_signal(sig)
        self.p.wait(10)
        return self.p.returncode


def fresh():
    top = tempfile.mkdtemp(prefix='follow.')
    tops.append(top)
    return top, Log(top)


def faults(lines):
    return [json.loads(l)['message'] for l in lines if '"event":"fault"' in l]


tops = []


def run():
    # the main path: existing and new records, a restart, and a rotation
    top, log = fresh()
    sent = log.add(3)
    f = Follower(top, log)
    ok(f.wait(3) == sent, 'existing records are sent', f.lines())
    began = time.time()
    sent += log.add()
    ok(f.wait(4) == sent and time.time() - began < 3, 'a record is sent when it is written', f.lines())
    with open(log.path, 'a') as g:
        text = log.line(event='grant')
        g.write(text[:20])
        g.flush()
        time.sleep(0.3)
        ok(f.lines() == sent, 'a line without its newline is not sent', f.lines())
        g.write(text[20:] + '\n')
    sent.append(text)
    ok(f.wait(5) == sent, 'the line is sent when it has its newline', f.lines())
    ok(f.stop() == 0, 'SIGTERM ends the follower with status 0')
    sent += log.add(2)
    f = Follower(top, log)
    ok(f.wait(7) == sent, 'records that were written while no follower ran are sent later, and none twice', f.lines())
    sent += log.add(2)
    log.rotate(1)
    sent += log.add(2)
    ok(f.wait(11) == sent, 'a rotation loses nothing', f.lines())
    f.stop()
    sent += log.add(2)
    log.rotate(2)
    sent += log.add(2)
    f = Follower(top, log)
    ok(f.wait(15) == sent, 'a rotation while no follower runs loses nothing', f.lines())
    f.stop()
    sent += log.add(2)
    log.rotate(3, compress=True)
    sent += log.add(2)
    log.rotate(4)
    sent += log.add(2)
    f = Follower(top, log)
    ok(f.wait(21) == sent, 'two rotations, one of them with compression, lose nothing', f.lines())
    f.stop()
    # behind the last record of a rotated file, and no new log yet
    log.rotate(5)
    f = Follower(top, log)
    time.sleep(0.3)
    sent += log.add(1)
    ok(f.wait(22) == sent and not faults(f.lines()), 'the follower waits for a missing log', f.lines())
    f.stop()

    # gzip has not finished
    top, log = fresh()
    sent = log.add(5)
    f = Follower(top, log)
    f.wait(5)
    f.stop()
    sent += log.add(2)
    log.rotate(1)
    rotated = log.path + '-2026-01-01'
    with open(rotated, 'rb') as g, open(rotated + '.gz', 'wb') as z:
        z.write(gzip.compress(g.read())[:-9])
    sent += log.add(2)
    f = Follower(top, log)
    ok(f.wait(9) == sent and not faults(f.lines()), 'a rotated file is read only once during its compression', f.lines())
    f.stop()

    # killed at any time: no record is lost, and one that is sent twice is complete
    top, log = fresh()
    sent = []
    for _ in range(8):
        sent += log.add(3000)
        f = Follower(top, log)
        time.sleep(0.02)
        f.stop(signal.SIGKILL)
    f = Follower(top, log)
    while sent[-1] not in f.lines():
        time.sleep(0.05)
    f.stop()
    got = f.lines()
    ok(set(got) >= set(sent) and not faults(got), 'the follower is killed eight times: none of %d records is lost (%d are sent twice)' % (len(sent), len(got) - len(set(got))))

    # a log that was changed
    top, log = fresh()
    log.add(2)
    f = Follower(top, log)
    f.wait(2)
    log.line(event='grant')
    log.add(1)
    got = f.wait(4)
    ok(len(got) == 4 and faults(got) == ['the audit log is not intact: records 3 to 3 are missing, or were never sent'],
       'a missing record is reported, and the next one is sent', got)
    log.hash = 'f' * 64
    log.add(2)
    got = f.wait(7)
    ok(len(got) == 7 and len(faults(got)) == 2 and 'record 5 does not match record 4' in faults(got)[1], 'a record that breaks the chain is reported once', got)
    with open(log.path, 'r+') as g:
        g.truncate(100)
    got = f.wait(8)
    ok(len(faults(got)) == 3 and 'was cut off' in faults(got)[2], 'a log that was cut short is reported', got)
    with open(log.path, 'w') as g:
        pass
    before = len(f.wait(9, 2))
    sent = log.add(2)
    got = f.wait(before + 2)
    ok(got[-2:] == sent and got.count(sent[0]) == 1, 'later records are sent', got)
    f.stop()
    f = Follower(top, log)
    time.sleep(0.3)
    ok(f.lines() == got, 'another start does not repeat these reports', f.lines()[len(got):])
    f.stop()

    # a rotated file that is not there any more
    top, log = fresh()
    log.add(2)
    f = Follower(top, log)
    f.wait(2)
    f.stop()
    log.add(2)
    log.rotate(1)
    os.unlink(log.path + '-2026-01-01')
    sent = log.add(1)
    f = Follower(top, log)
    got = f.wait(4)
    ok(got[-1] == sent[0] and faults(got) == ['the audit log is not intact: records 3 to 4 are missing, or were never sent'],
       'a removed rotated file is reported', got)
    f.stop()

    # a rotated file whose last line never got its newline
    top, log = fresh()
    log.add(1)
    f = Follower(top, log)
    f.wait(1)
    f.stop()
    log.add(1)
    log.rotate(1, compress=True)
    sent = log.add(1)
    half, n, h = log.line(event='grant'), log.n, log.hash
    with open(log.path, 'a') as g:
        g.write(half)
    log.rotate(2)
    log.n, log.hash = 3, hashlib.sha256(sent[0].encode()).hexdigest()
    sent = log.add(1)
    f = Follower(top, log)
    got = f.wait(4)
    ok(len(got) == 4 and got[-1] == sent[0] and not faults(got), 'a line that never got its newline is no record', got)
    f.stop()

    # what is no record
    top, log = fresh()
    log.add(1)
    with open(log.path, 'ab') as g:
        g.write(b'\n{"event":"gra\n\0\0\n\xff\xfe\n{"event":"refuse","reason":"not in the chain"}\n')
    sent = log.add(1)
    f = Follower(top, log)
    got = f.wait(6)
    ok(got[-1] == sent[0] and len(got) == 6 and not faults(got), 'lines that are no records are passed on', got)
    f.stop()
    long = log.line(event='refuse', reason='x' * 3000000)
    with open(log.path, 'a') as g:
        g.write(long + '\n')
    f = Follower(top, log)
    ok(f.wait(7)[-1] == long, 'a long line is sent, too', len(f.lines()))
    f.stop()

    # a position that can't be read or written
    write = open(top + '/position', 'w')
    write.write('nonsense')
    write.close()
    r = subprocess.run([CTL, 'audit', 'follow', '--to', 'stdout', '--state', top + '/position', log.path], capture_output=True, text=True, timeout=20)
    ok(r.returncode == 65 and 'remove the file to begin' in r.stderr and r.stdout == '', 'an invalid position is an error: the follower does not start from the beginning', r.stderr)
    r = subprocess.run([CTL, 'audit', 'follow', '--to', 'stdout', '--state', top + '/no/position', log.path], capture_output=True, text=True, timeout=20)
    ok(r.returncode == 74 and r.stdout == '', 'a missing directory', r.stderr)
    r = subprocess.run([CTL, 'audit', 'follow', '--to', 'stdout', '/dev/null'], capture_output=True, text=True, timeout=20)
    ok(r.returncode == 74 and 'is not a regular file' in r.stderr, 'a log that is no file', r.stderr)
    r = subprocess.run([CTL, 'audit', 'follow', '--to', 'nowhere'], capture_output=True, text=True, timeout=20)
    ok(r.returncode == 64, 'an invalid destination', r.stderr)
    r = subprocess.run('"%s" audit follow --to stdout "%s" | head -c 10' % (CTL, log.path), shell=True, capture_output=True, text=True, timeout=20)
    ok(r.stdout == '2026-01-01', 'the follower ends if the reader of its output ends', r.stderr + r.stdout)

    # SIGTERM while many records are unsent: the follower ends soon, and the next one continues there
    top, log = fresh()
    sent = log.add(200000)
    p = subprocess.Popen([CTL, 'audit', 'follow', '--to', 'stdout', '--json', '--state', top + '/position', log.path], stdout=subprocess.PIPE)
    first = p.stdout.readline()
    p.terminate()
    rest = p.stdout.read().decode().splitlines()
    ok(p.wait() == 0 and len(rest) < 150000, 'SIGTERM ends the follower in the middle of many records', len(rest))
    f = Follower(top, log)
    ok(f.wait(200000 - 1 - len(rest), 60) == sent[1 + len(rest):], 'the next follower continues after the last record that was sent', len(f.lines()))
    other = subprocess.run(['timeout', '5', CTL, 'audit', 'follow', '--to', 'stdout', '--state', top + '/position', log.path],
                           capture_output=True, text=True)
    ok(other.returncode == 75 and 'another «audit follow»' in other.stderr and other.stdout == '', 'two followers do not share a position', other.stderr)
    f.stop()

    # the position can't be written: its directory is gone, which to the follower is as a full disk
    top, log = fresh()
    os.mkdir(top + '/state')
    sent = log.add(3)
    f = Follower(top, log, state='/state/position')
    f.wait(3)
    shutil.rmtree(top + '/state')
    for n in (6, 9):
        sent += log.add(3)
        f.wait(n)
    time.sleep(0.2)
    ok(f.lines() == sent and f.p.poll() is None, 'records are sent even if the position can\'t be written', f.lines())
    os.mkdir(top + '/state')
    sent += log.add(1)
    f.wait(10)
    f.stop()
    err = f.p.stderr.read()
    ok(err.count('\n') == 1 and 'No such file' in err, 'a position that can\'t be written is reported once', err)
    f = Follower(top, log, state='/state/position')
    time.sleep(0.4)
    ok(f.lines() == sent, 'no record is sent twice once the position can be written again', f.lines()[10:])
    f.stop()

    # cut off, and longer than before when it is looked at again
    top, log = fresh()
    log.add(3)
    f = Follower(top, log)
    f.wait(3)
    f.stop()
    open(log.path, 'w').close()
    sent = log.add(30)
    f = Follower(top, log)
    got = f.wait(34)
    ok(got[-30:] == sent and len(got) == 34 and len(faults(got)) == 1 and 'was cut off' in faults(got)[0], 'a log that was cut short and has grown since is reported',
       got[3:6])
    os.truncate(log.path, 0)
    sent = log.add(60, time='t', event='grant', container='x' * 50)
    got = f.wait(95)
    ok(got[-60:] == sent and len(got) == 95 and len(faults(got)) == 2, 'such a log is also reported while the follower runs', got[34:36])
    f.stop()

    # what the helper never writes
    top, log = fresh()
    log.add(2)
    with open(log.path, 'a') as g:
        g.write('{"time":"t","event":"grant","uid":0}\n{"time":"t","event":"plain","uid":0}\n')
    sent = log.add(1)
    f = Follower(top, log)
    got = f.wait(6)
    ok(len(got) == 6 and faults(got) == ['the audit log is not intact: a record is not in the chain, and the helper writes no such record outside it'] and got[-1] == sent[0],
       'a record outside the chain is reported, unless it is of a kind that the helper writes there', got)
    f.stop()

    # text: nothing of a task controls the terminal
    top, log = fresh()
    log.add(time='2026-01-01T00:00:00Z', event='refuse', team='a\nb\033[2J', pipeline='p', reason='x; record 7 ' + 'a' * 64, code=77)
    p = subprocess.Popen([CTL, 'audit', 'follow', '--to', 'stdout', log.path], stdout=subprocess.PIPE, text=True)
    line = p.stdout.readline()
    p.terminate()
    rest = p.stdout.read()
    p.wait()
    ok(rest == '' and '\033' not in line and 'a?b?[2J/p' in line and line.endswith('; record 1 %s\n' % log.hash),
       'as text: one printable line, with number and hash at its end', repr(line + rest))


def parse(data):
    """The journal's native protocol: NAME=VALUE\\n, or NAME\\n, length, value, \\n."""
    fields = []
    while data:
        name, rest = data.split(b'\n', 1)
        if b'=' in name:
            k, v = name.split(b'=', 1)
        else:
            k, n = name, struct.unpack('<Q', rest[:8])[0]
            v, rest = rest[8:8 + n], rest[8 + n + 1:]
        fields.append((k.decode(), v.decode(errors='surrogateescape')))
        data = rest
    return fields


def receive(log, count):
    """In a mount namespace with a /run of its own: prints the fields of the entries."""
    p = subprocess.Popen([CTL, 'audit', 'follow', '--to', 'journal', '--state', os.path.dirname(log) + '/position', log],
                         stderr=subprocess.PIPE, text=True)
    time.sleep(0.7)
    early = p.poll()
    os.makedirs('/run/systemd/journal')
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    s.bind('/run/systemd/journal/socket')
    s.settimeout(15)
    entries = []
    try:
        while len(entries) < count:
            data, fds, _, _ = socket.recv_fds(s, 1 << 23, 1)
            if fds:
                data = os.pread(fds[0], 1 << 24, 0)
                os.close(fds[0])
            entries.append(parse(data))
    finally:
        p.terminate()
    print(json.dumps({'early': early, 'entries': entries, 'status': p.wait(), 'stderr': p.stderr.read()}))


def hear(s, count):
    return [s.recv(1 << 16).decode() for _ in range(count)]


def receive_lines(log, count):
    """In a mount namespace with a /dev of its own: what a syslog daemon gets that ends and comes again."""
    def daemon():
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        s.bind('/dev/log')
        s.settimeout(15)
        return s
    p = subprocess.Popen([CTL, 'audit', 'follow', '--to', 'syslog', '--state', os.path.dirname(log) + '/position', log],
                         stderr=subprocess.PIPE, text=True)
    s = daemon()
    lines = hear(s, count)
    s.close()
    with open(log, 'a') as f:
        f.write(open(log + '.more').read())
    time.sleep(0.7)
    os.unlink('/dev/log')
    s = daemon()
    lines += hear(s, count)
    p.terminate()
    print(json.dumps({'lines': lines, 'status': p.wait(), 'stderr': p.stderr.read()}))


def syslog():
    top, log = fresh()
    log.add(1)
    log.add(1, time='t', event='refuse', reason='x\n<80>forged', code=77)
    heads = [log.hash]
    with open(log.path + '.more', 'w') as f:
        for n in (3, 4):
            f.write(log.line(time='t', event='grant') + '\n')
    make = 'd=$(mktemp -d) && mount -t tmpfs none $d && cp -a /dev/null /dev/urandom $d && mount --bind $d /dev && exec "$@"'
    r = subprocess.run(['unshare', '-m', 'sh', '-c', make, '-', sys.executable, os.path.abspath(__file__), CTL, '--receive-lines', log.path, '2'],
                       capture_output=True, text=True, timeout=60)
    if r.returncode:
        return ok(False, 'records reach syslog', r.stdout[-300:] + r.stderr[-900:])
    j = json.loads(r.stdout)
    lines = j['lines']
    ok(re.match(r'<86>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d gpuhelper\[\d+\]: 2026-01-01T00:00:00Z  grant ', lines[0]) and
       lines[1].startswith('<84>') and '\n' not in lines[1] and lines[1].endswith('; record 2 ' + heads[0]), 'lines of authpriv', lines[:2])
    ok(['; record %d ' % n in l for n, l in zip((3, 4), lines[2:])] == [True, True] and 'does not take records' in j['stderr'],
       'a daemon that was gone gets the missed records later', lines[2:] + [j['stderr']])


def journal():
    top, log = fresh()
    a = log.add(time='2026-01-01T00:00:00Z', event='grant', team='ml', pipeline='train', policy='10-train.conf', uid=0, container='c1',
                gpus=['nvidia 0000:3b:00.0 GPU-a', 'nvidia 0000:86:00.0 GPU-b'])
    evil = 'x\nMESSAGE_ID=b6b1f1d5e1a64b6f9b0b6c0a2f0d7c11\nPRIORITY=0\n'
    b = log.add(time='2026-01-01T00:00:01Z', event='refuse', team=evil, pipeline='p', reason=evil, code=77)
    c = log.add(time='2026-01-01T00:00:02Z', event='refuse', reason='y' * 400000, code=65)
    third = log.hash
    mild = [(e, log.add(event=e, container='t1', waited=38)[0]) for e in ('promise', 'abandon', 'gave-back')]
    r = subprocess.run(['unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /run && exec "$@"', '-', sys.executable, os.path.abspath(__file__), CTL,
                        '--receive', log.path, '6'], capture_output=True, text=True, timeout=60)
    if r.returncode:
        return ok(False, "records reach the journal", r.stdout[-300:] + r.stderr[:600] + r.stderr[-300:])
    j = json.loads(r.stdout)
    ok(j['early'] is None and 'does not take records' in j['stderr'] and j['status'] == 0, 'the follower waits for a missing journal', j['stderr'])
    one, two, three, *more = [dict(e) for e in j['entries']]
    ok(one['MESSAGE_ID'] == 'b6b1f1d5e1a64b6f9b0b6c0a2f0d7c11' and one['PRIORITY'] == '6' and one['GPUHELPER_PIPELINE'] == 'train' and
       one['GPUHELPER_RECORD'] == a[0] and one['GPUHELPER_N'] == '1' and one['SYSLOG_IDENTIFIER'] == 'gpuhelper', 'a grant', one)
    ok([v for k, v in j['entries'][0] if k == 'GPUHELPER_GPU'] == ['nvidia 0000:3b:00.0 GPU-a', 'nvidia 0000:86:00.0 GPU-b'], 'each GPU has a field')
    ok([k for k, v in j['entries'][1]].count('MESSAGE_ID') == 1 and two['MESSAGE_ID'] == '0f6c2a4f9a0a4b0c8f4e5d1c7b3a9e22' and
       two['PRIORITY'] == '4' and two['GPUHELPER_TEAM'] == evil and '\n' not in two['MESSAGE'] and two['GPUHELPER_RECORD'] == b[0],
       'no text forges a field', j['entries'][1])
    ok(three['GPUHELPER_RECORD'] == c[0] and three['GPUHELPER_HASH'] == third, 'a long record is complete')
    known = {f for f in open(os.path.dirname(os.path.abspath(__file__)) + '/../helper/man/gpuhelperctl-audit.8').read().split()}
    ok([(m['GPUHELPER_EVENT'], m['GPUHELPER_RECORD'], m['PRIORITY']) for m in more] == [(e, line, '6') for e, line in mild] and
       len({m['MESSAGE_ID'] for m in more}) == 3, 'a promise, an abandoned wait and a returned GPU are no warnings, and have ids of their own', more)
    ok({m['MESSAGE_ID'] for m in (one, two, *more)} <= known, 'the manual names the kinds of records')


if sys.argv[2:3] == ['--receive-lines']:
    receive_lines(sys.argv[3], int(sys.argv[4]))
    sys.exit()
if sys.argv[2:3] == ['--receive']:
    receive(sys.argv[3], int(sys.argv[4]))
    sys.exit()
try:
    run()
    syslog()
    journal()
finally:
    for t in tops:
        shutil.rmtree(t, ignore_errors=True)
print('1..%d' % tests)
sys.exit(bad != 0)
