#!/usr/bin/env python3
"""gpuhelperctl report: its sums, hostile names in its page, and the page in a real browser.

usage: report.py    (TAP; CTL=PROGRAM: another build of it)

The logs are made up.  For each minute of the period the test counts the leases that cover it, and compares the result
with the page.  The browser is headless Chromium, controlled over a pipe; its pictures go to build/report for a person
to see.  The part that needs root (this host's own log) runs in its own mount namespace.
"""
import base64, gzip, html.parser, json, os, random, re, resource, shutil, stat, struct, subprocess, sys, tempfile, time
import xml.etree.ElementTree as ET

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CTL = os.environ.get('CTL', HERE + '/build/gpuhelperctl')
W = tempfile.mkdtemp(prefix='gpuhelper-report-')
PICTURES = HERE + '/build/report'
os.makedirs(PICTURES, exist_ok=True)
# the days of the page are UTC's, wherever its reader is, and have 24 hours each
os.environ['TZ'] = 'America/New_York'
count = bad = 0


def ok(good, name, seen=None):
    global count, bad
    count += 1
    print('%sok %d - %s' % ('' if good else 'not ', count, name), flush=True)
    if not good:
        bad += 1
        for line in repr(seen)[:3000].splitlines() if seen is not None else []:
            print('# ' + line)


def skip(name, why):
    global count
    count += 1
    print('ok %d - %s # SKIP %s' % (count, name, why), flush=True)


def done():
    shutil.rmtree(W)
    print('1..%d' % count)
    sys.exit(bad > 0)


DAY = 86400
T0 = 1772323200     # 2026-03-01T00:00:00Z; New York's summer time begins a week later


def iso(t):
    return time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(t))


def write(name, data):
    path = os.path.join(W, name)
    with open(path, 'wb') as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    return path


class Log:
    def __init__(self):
        self.records, self.n = [], 0

    def add(self, t, event, container=None, **more):
        r = {'time': iso(t), 'event': event, 'uid': 0, 'user': 'root'}
        if container:
            r['container'] = container
        r.update(more)
        self.records.append((t, self.n, r))
        self.n += 1

    def grant(self, t, container, pipeline, gpus, **more):
        team, name = pipeline.split('/', 1)
        self.add(t, 'grant', container, identity='token', team=team, pipeline=name, job='fit', policy='10-x.conf', gpus=gpus, **more)

    def refuse(self, t, pipeline, code, **more):
        team, name = pipeline.split('/', 1)
        self.add(t, 'refuse', 'r%d' % self.n, **{'identity': 'claim', 'team': team, 'pipeline': name, 'code': code, 'reason': 'no', **more})

    def lines(self):
        return [json.dumps(dict([('n', i + 1), ('prev', '%064x' % i)] + list(r.items())), separators=(',', ':'))
                for i, (_, _, r) in enumerate(sorted(self.records, key=lambda x: x[:2]))]

    def text(self):
        return ''.join(l + '\n' for l in self.lines())


def run(*args, **kw):
    return subprocess.run([CTL, 'report', *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw)


def report(*args):
    r = run('--output', '-', *args)
    return r.stdout.decode(), r.returncode, r.stderr.decode()


VOID = {'meta', 'br', 'hr', 'img', 'input', 'link', 'base', 'source', 'col'}
MAY = set('html head meta style title body main header nav a h1 h2 h3 p time dl div dt dd section figure svg desc g rect line text table '
          'caption thead tbody tr th td bdi small details summary ul li footer'.split())


class Page(html.parser.HTMLParser):
    """Tables by caption, tags that are not closed or not known, attributes that could load or run something."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.faults, self.tables, self.tiles, self.texts, self.links = [], [], {}, {}, [], []
        self.row = self.cell = self.caption = None
        self.feed(text)
        self.close()
        if self.open:
            self.faults.append(('open at the end', self.open))
        self.words = ' '.join(' '.join(self.texts).split())

    def handle_starttag(self, tag, attrs):
        if tag not in MAY:
            self.faults.append(('tag', tag))
        for k, v in attrs:
            if tag == 'a' and k == 'href' and v and v[0] == '#':
                self.links.append(v[1:])
            elif k.startswith('on') or k in ('src', 'href', 'style', 'srcdoc', 'action', 'xlink:href') or len([a for a, _ in attrs if a == k]) > 1:
                self.faults.append(('attribute', tag, k, v))
            if v and 'url(' in v:
                self.faults.append(('url', tag, k, v))
        if tag not in VOID:
            self.open.append(tag)
        if tag == 'table':
            self.rows = []
        elif tag == 'tr':
            self.rows.append([])
        elif tag in ('th', 'td'):
            self.rows[-1].append('')

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(('end', tag))
        if tag == 'table':
            self.tables[self.title] = self.rows

    def handle_data(self, data):
        inside = self.open[-8:]
        if 'style' in inside:
            return
        self.texts.append(data)
        if 'caption' in inside:
            self.title = data
        elif 'small' in inside and 'table' in self.open:
            self.rows[-1][-1] += '|' + data
        elif ('th' in inside or 'td' in inside) and 'table' in self.open:
            self.rows[-1][-1] += data
        elif inside[-1:] == ['dd'] and self.tile not in self.tiles:
            self.tiles[self.tile] = data
        elif inside[-1:] == ['dt']:
            self.tile = data

    def table(self, caption):
        return {r[0].split('|')[0]: r[1:] for r in self.tables[caption][1:]}


def svgs(text):
    """Each picture, by an XML parser; what is nested is in its own."""
    at, out = 0, []
    while (at := text.find('<svg', at)) != -1:
        depth, end = 0, at
        for m in re.finditer(r'<svg\b[^>]*>|</svg>', text[at:]):
            depth += -1 if m.group() == '</svg>' else 1
            if depth == 0:
                end = at + m.end()
                break
        out.append(ET.fromstring(text[at:end]))
        at = end
    return out


SVG = '{http://www.w3.org/2000/svg}'


def is_sound(text, name):
    p = Page(text)
    ok(p.faults == [], '%s: well-formed, no script, nothing to load' % name, p.faults)
    pictures = svgs(text)
    charts = [s for s in pictures if s.get('role') == 'img']
    ids = re.findall(r'\bid="([^"]+)"', text)
    ok(all(s[0].tag == SVG + 'title' and s[1].tag == SVG + 'desc' and s[0].text and s[1].text and
           s.get('aria-labelledby').split() == [s[0].get('id'), s[1].get('id')] for s in charts) and
       all(s.get('role') == 'img' or s.get('aria-hidden') == 'true' for s in pictures) and len(ids) == len(set(ids)),
       '%s: each of %d charts is XML with a title and a description' % (name, len(charts)), ids)
    sections = re.findall(r'<section id="([^"]+)"', text)
    ok(p.links == sections and len(sections) >= 4, '%s: the contents list each of the %d sections' % (name, len(sections)), (p.links, sections))
    style = re.search(r'<style>(.*?)</style>', text, re.S).group(1)
    digest = base64.b64encode(__import__('hashlib').sha256(style.encode()).digest()).decode()
    csp = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    ok("default-src 'none'; style-src 'sha256-%s'" % digest in csp and 'unsafe' not in csp and text.index('Content-Security') < text.index('<style') and
       text.startswith('<!DOCTYPE html>\n<html lang="en">') and 'url(' not in style and '@import' not in style,
       '%s: its content security policy allows only its own style' % name, (csp, digest))
    return p


def hours(minutes):
    tenths = (minutes * 60 + 180) // 360
    return '<0.1' if minutes and not tenths else '{:,}.{}'.format(tenths // 10, tenths % 10)


def percent(part, whole):
    share = 100 * part / whole if whole else 0
    return '<0.1 %' if part and share < 0.05 else '%.1f %%' % share


print('# known sums')
random.seed(17)
GPUS = ['nvidia 0000:3b:00.0 GPU-11111111-2222-3333-4444-555555555555', 'nvidia 0000:af:00.0 GPU-66666666-7777-8888-9999-000000000000',
        'nvidia 0000:d8:00.0 GPU-99999999-2222-3333-4444-555555555555 part 1g.5gb', 'amd 0000:0a:00.0']
PIPELINES = ['team%d/pipe-%d' % (i % 3, i) for i in range(40)]
SINCE, UNTIL = T0 + 5 * DAY + 3 * 3600, T0 + 40 * DAY + 7 * 3600
log, leases, waits, refused = Log(), [], [], []
free_at = [T0] * 4
grants = again = 0
for k in range(700):
    gpu = random.sample(range(4), random.choice((1, 1, 1, 2)))
    begin = max(free_at[g] for g in gpu) + 60 * random.randrange(0, 90)
    # whole minutes, or a count of minutes would be none
    end = begin + 60 * random.randrange(1, 400)
    p = random.choice(PIPELINES[:random.randrange(1, 41)])
    waited = random.choice((0, 0, 5, 45, 300, 1800, 7200))
    log.grant(begin, 'c%d' % k, p, [GPUS[g] for g in gpu], **({'waited': waited} if waited else {}))
    counts = SINCE <= begin <= UNTIL
    grants += counts
    if counts and waited:
        waits.append((p, waited))
    if k % 11 == 5:
        middle = begin + (end - begin) // 120 * 60
        log.add(middle, 'gave-back', 'c%d' % k)
        leases.append((begin, middle, p, gpu, 'c%d' % k))
        if k % 22 == 5 and middle + 600 < end:
            log.grant(middle + 600, 'c%d' % k, p, [GPUS[g] for g in gpu], again=True)
            leases.append((middle + 600, end, p, gpu, 'c%d' % k))
            again += SINCE <= middle + 600 <= UNTIL
        log.add(end, 'end', 'c%d' % k)
    else:
        log.add(end, 'undo' if k % 13 == 7 else 'end', 'c%d' % k)
        leases.append((begin, end, p, gpu, 'c%d' % k))
    for g in gpu:
        free_at[g] = end
# one GPU for three at once; one that drains after it was taken back; one that nobody ended; one that was granted twice
share = T0 + 20 * DAY
SHARED = 'intel 0000:03:00.0'
for i in range(3):
    log.grant(share + i * 3600, 'shared%d' % i, 'share/%d' % i, [SHARED])
    log.add(share + 5 * 3600, 'end', 'shared%d' % i)
    leases.append((share + i * 3600, share + 5 * 3600, 'share/%d' % i, [4], 'shared'))
log.grant(share, 'drains', 'share/drains', ['amd 0000:0b:00.0'])
log.add(share + 60, 'undo', 'drains', draining=True)
log.add(share + 7200, 'draining', 'drains')
log.add(share + 10800, 'end', 'drains')
leases.append((share, share + 10800, 'share/drains', [5], 'drains'))
log.grant(T0 + 38 * DAY, 'lost', 'share/lost', ['amd 0000:0c:00.0'])
leases.append((T0 + 38 * DAY, 10 ** 12, 'share/lost', [6], 'lost'))
log.grant(share, 'twice', 'share/twice', ['amd 0000:0d:00.0'])
log.grant(share + 6000, 'twice', 'share/twice', ['amd 0000:0d:00.0'])
log.add(share + 12000, 'end', 'twice')
leases.append((share, share + 12000, 'share/twice', [7], 'twice'))
log.add(share, 'end', 'nobody')
log.add(share, 'end', 'nobody-else', draining=True)
log.grant(share, 'folders', 'share/folders', [])
log.add(share + 60, 'end', 'folders')
grants += 8
ALL = GPUS + [SHARED, 'amd 0000:0b:00.0', 'amd 0000:0c:00.0', 'amd 0000:0d:00.0']
# code, reason, kind; the part between « and » must be in a source file of helper/, so that a changed text is noticed here
REASONS = [
    (64, 'create: wrong option', 'request'), (67, "«GPUHELPER_TOKEN: no key of gpuhelper.conf's issuers has signed it»", 'token'),
    (65, '«GPUHELPER_TOKEN: »«the token is longer than »8192 bytes', 'token'), (65, '«the token has no string »"sub"', 'token'),
    (77, '«GPUHELPER_TOKEN was used by another container before»', 'token'), (77, '«GPUHELPER_TOKEN: its issuer »x', 'token'),
    (77, '«no policy covers a container of user »root that proves no pipeline', 'token'),
    (77, '10-x.conf: «it requires identity »"token", and the container has none', 'token'), (77, '10-x.conf: «it requires a token, and a claim is not one»', 'token'),
    (77, '10-x.conf: «it accepts only tokens of issuer »https://ci.example', 'token'),
    (77, '«no policy covers »pipeline a/b (by token) for user root', 'policy'), (77, '10-x.conf: «it does not give folder »/srv', 'policy'),
    (77, '10-x.conf:7: «it gives folder »/srv read-only', 'policy'), (77, '«too few of the GPUs that this policy allows are in service»', 'policy'),
    (77, '«more than »3 GPUs for one container', 'policy'), (75, 'no GPU is free', 'busy'),
    (65, '«GPUHELPER_GPUS=»1,2: a bare number is a count', 'request'), (65, 'gpuhelper-runc: «config.json: »root.path is missing', 'request'),
    (65, 'gpuhelper-runc: the container mounts /x, «which would cover or lie in »/srv', 'request'), (77, '«the process that asked is gone»', 'request'),
    (77, "«folder »/srv: its mode and ACL give the container's user", 'folder'), (69, '«folder »/srv: No such file or directory', 'folder'),
    (65, 'gpuhelper-runc: «a granted folder »(/srv, by file system and path) is not what the runtime mounted', 'folder'),
    (65, 'gpuhelper-runc: «links in the image lead the granted »/srv to /x', 'folder'), (78, '«folders »/a and /b would both be at /c', 'folder'),
    (69, '10-x.conf:3: «no CDI spec has a device of kind »x', 'driver'), (69, 'nvidia: module x «is not loaded: run modprobe »nvidia', 'driver'),
    (78, '«CDI spec »/etc/cdi/x.yaml: was the driver changed since?', 'driver'), (78, '«no CDI spec has the nodes of »nvidia GPU x', 'driver'),
    (77, '/dev/nvidia0 «has an ACL entry for »user 7 that is not «rw»', 'driver'), (74, '/etc/gpuhelper/x: Input/output error', 'host'),
    (78, '10-x.conf:3: syntax error', 'configuration'), (70, '«out of memory»', 'internal'), (1, 'no', 'other'),
]
SOURCE = ''.join(open(os.path.join(d, f)).read() for d, _, fs in os.walk(HERE + '/helper') for f in fs if f.endswith('.c') and '/ctl' not in d)
SOURCE = re.sub(r'"\s+"', '', SOURCE)
gone = [f for _, text, _ in REASONS for f in re.findall('«([^«»]{4,})»', text.replace('«rw»', '')) if f.replace('"', '\\"') not in SOURCE]
ok(gone == [], 'the reasons that the report tells apart are those of the source', gone)
REASONS = [(code, re.sub('[«»]', '', text), kind) for code, text, kind in REASONS]
for k in range(400):
    t, p, (code, reason, kind) = T0 + 60 * random.randrange(60 * 24 * 45), random.choice(PIPELINES), random.choice(REASONS + REASONS[10:12] * 9)
    log.refuse(t, p, code, reason=reason, user=random.choice(('concourse', 'alice', 'bob')), **({'suppressed': 3} if k % 50 == 0 else {}))
    if SINCE <= t <= UNTIL:
        refused.append((p, kind, 3 * (k % 50 == 0), t, reason))
for code, reason, kind in REASONS:
    log.refuse(SINCE + 60, 'each/one', code, reason=reason, user='alice')
    refused.append(('each/one', kind, 0, SINCE + 60, reason))
log.add(T0 + 10 * DAY, 'left-out', suppressed=4)
lines = log.lines()
path = write('sums.jsonl', log.text())
text, status, err = report('--since', iso(SINCE), '--until', str(UNTIL), path)
ok(status == 0 and err == '', 'the exit status is 0', err)
page = is_sound(text, 'sums')

# minute by minute
by_pipeline, by_day, by_gpu, leased = {}, {}, {}, {}
minutes = (UNTIL - SINCE) // 60
cover = [[0] * 8 for _ in range(minutes)]
for begin, end, p, gpu, c in leases:
    for m in range(max(0, (begin - SINCE) // 60), min(minutes, (end - SINCE) // 60)):
        day = iso(SINCE + 60 * m)[:10]
        by_pipeline[p] = by_pipeline.get(p, 0) + len(gpu)
        by_day[day] = by_day.get(day, 0) + len(gpu)
        for g in gpu:
            cover[m][g] += 1
            leased[g] = leased.get(g, 0) + 1
for g in range(8):
    by_gpu[g] = sum(c[g] > 0 for c in cover)
total = sum(by_pipeline.values())
order = sorted(by_pipeline, key=lambda p: (-by_pipeline[p], p))
ok(page.tiles['GPU hours'] == hours(total), 'GPU hours: %s' % hours(total), page.tiles)
ok(page.tiles['Grants'] == '{:,}'.format(grants), 'grants: %d' % grants, page.tiles)
ok(page.tiles['Denials'] == '{:,}'.format(len(refused)), 'denials: %d' % len(refused), page.tiles)
ok(page.tiles['Held'] == percent(sum(by_gpu.values()), 8 * minutes), 'held, on average', page.tiles)
table = page.table('GPU time by pipeline')
seen = [(n, v[0], v[1]) for n, v in table.items() if not n.endswith(' more')]
want = [(p, hours(by_pipeline[p]), percent(by_pipeline[p], total)) for p in order[:25]]
ok(sorted(seen) == sorted(want) and [v[1] for v in seen] == [v[1] for v in want], 'GPU time by pipeline', [x for x in zip(seen, want) if x[0] != x[1]])
more = '%d more' % (len(order) - 25)
ok(table[more][0] == hours(sum(by_pipeline[p] for p in order[25:])), 'the sum of the pipelines that are cut off: ' + more, table)
team = lambda p: p.split('/')[0]
by_team = {t: sum(m for p, m in by_pipeline.items() if team(p) == t) for t in map(team, by_pipeline)}
table = page.table('GPU time by team')
ok({n: v[:2] for n, v in table.items()} == {t: [hours(m), percent(m, total)] for t, m in by_team.items()} and
   list(table) == sorted(by_team, key=lambda t: (-by_team[t], t)) and '--config-dir names the configuration' in page.words, 'GPU time by team; named files have no shares', table)
rows = page.table('GPU hours by day and pipeline')
ok({d: v[0] for d, v in rows.items()} == {iso(T0 + DAY * i)[:10]: hours(by_day.get(iso(T0 + DAY * i)[:10], 0)) for i in range(5, 41)},
   'GPU time by day, each of 24 hours', rows)
ok(len(page.tables['GPU hours by day and pipeline'][0]) == 11 and page.tables['GPU hours by day and pipeline'][0][-1] == 'others',
   'eight pipelines, and the rest together', page.tables['GPU hours by day and pipeline'][0])
table = page.table('GPUs')
short = [re.sub(' GPU-[-0-9a-f]+', '', g) for g in ALL]
ok({n: v[:3] for n, v in table.items()} == {short[g]: [percent(by_gpu[g], minutes), hours(by_gpu[g]), hours(leased[g])] for g in range(8)},
   'how busy each GPU was; a shared one counts once for that', table)
ok({r[0] for r in page.tables['GPUs'][1:]} == {short[g] + ''.join('|' + u for u in re.findall('GPU-[-0-9a-f]+', ALL[g])) for g in range(8)},
   'each UUID stands below its GPU', page.tables['GPUs'])
still = {p: str(sum(b <= UNTIL < e for b, e, q, _, _ in leases if q == p)) for p in order}
table = page.table('GPU time by pipeline')
ok(all(v[3] == still[n] for n, v in table.items() if n in still) and still['share/lost'] == table['share/lost'][3] == '1' and
   page.tables['GPU time by pipeline'][0][4] == 'Held at the end', 'leases that are still held are counted', table)
notes = page.words
ok('%d containers held GPUs at the end of the period' % sum(b <= UNTIL < e for b, e, _, _, _ in leases) in notes and '1 grant was of folders only' in notes and
   '2 ends have no record of their grant' in notes and '1 grant has no record of its end' in notes and
   '%d times a container regained GPUs' % again in notes, 'the notes name oddities', notes[-1200:])
left_out = 4 + sum(r[2] for r in refused)
ok('%d records were left out' % left_out in notes, 'the notes count the records that were left out: %d' % left_out, notes[-1200:])
names = {}
for p, kind, _, _, _ in refused:
    names.setdefault(kind, []).append(p)
table = page.table('Denials by reason')
ok({n: v[0] for n, v in table.items()} == {c: str(len(v)) for c, v in names.items()} and
   [int(v[0]) for v in table.values()] == sorted((len(v) for v in names.values()), reverse=True), 'denials by reason', table)
table = page.table('Denials by pipeline and reason')
denied = {p: [r[1] for r in refused if r[0] == p] for p in {r[0] for r in refused}}
top = sorted(denied, key=lambda p: (-len(denied[p]), p))
counted = {n: {w.split()[0]: int(w.split()[1]) for w in v[1].split(', ')} for n, v in table.items()}
ok([(n, v[0], counted[n]) for n, v in table.items() if not n.endswith(' more')] ==
   [(p, str(len(denied[p])), {c: denied[p].count(c) for c in set(denied[p])}) for p in top[:25]], 'denials by pipeline and reason', table)
ok(all(list(c.values()) == sorted(c.values(), reverse=True) for c in counted.values()), 'the most frequent reason comes first', counted)
latest = {p: max(r[3] for r in refused if r[0] == p) for p in denied}
ok(all(table[p][2] in [r[4] for r in refused if r[0] == p and r[3] == latest[p]] for p in top[:25]), 'with the last one in full', table)
ok(table['%d more' % (len(top) - 25)][0] == str(sum(len(denied[p]) for p in top[25:])), 'denials by pipeline are cut at 25, with the sum of the rest', table)
ok(sum(int(v[0]) for v in page.table('Users of the host by denials').values()) == len(refused), 'denials by user', page.tables)
table = page.table('Waits by pipeline, the longest total first')
by = {p: [w for q, w in waits if q == p] for p, _ in waits}
ok(all(int(table[p][0]) == len(by[p]) for p in table if p in by) and list(table)[0] == min(by, key=lambda p: (-sum(by[p]), p)) and
   page.tiles['Longest wait'] == '2 h 0 min', 'waits by pipeline', table)
pictures = {s.get('aria-labelledby').split('-title')[0]: s for s in svgs(text) if s.get('role') == 'img'}
values = [v[0] for v in page.table('Grants by how long they waited').values()]
bands = [sum(a <= w < b for _, w in waits) for a, b in ((1, 10), (10, 60), (60, 600), (600, 3600), (3600, 10 ** 9))]
ok(values == [str(b) for b in bands], 'waits by duration: %s' % bands, values)
bars = lambda part: [float(w) for w in re.findall('<svg class="bar"[^>]*><rect width="([0-9.]+)%"', text.split('<section id="%s"' % part)[1].split('</section>')[0])]
ok(len(bars('pipelines')) == 25 and all(abs(b - 100 * by_pipeline[p] / by_pipeline[order[0]]) < 0.02 for b, p in zip(bars('pipelines'), order)),
   'the bars have the lengths of their values', bars('pipelines'))
busy = sorted(by_gpu.values(), reverse=True)
ok(len(bars('gpus')) == 8 and all(abs(b - 100 * m / minutes) < 0.02 for b, m in zip(bars('gpus'), busy)), 'those of the GPUs, of the whole period', bars('gpus'))
ok(bars('waits') == [round(100 * b / max(bands), 2) for b in bands], 'those of the waits, which are in the order of their ranges', bars('waits'))
tall = [sum(float(r.get('height')) + (float(r.get('y')) % 1 > 2) for r in g.findall(SVG + 'rect') if r.get('class')) for g in pictures['by-day'].findall(SVG + 'g')]
wish = [by_day.get(iso(T0 + DAY * i)[:10], 0) for i in range(5, 41)]
scale = max(tall) / max(wish)
ok(len(tall) == 36 and all(abs(t - w * scale) < 11 for t, w in zip(tall, wish)), 'the columns of the days have the heights of their values', list(zip(tall, wish)))
tips = [g[0].text.split('\n') for g in pictures['by-day'].findall(SVG + 'g')]
ok([t[0] for t in tips] == ['%s: %s h' % (d, v[0]) for d, v in rows.items()] and
   [t[1:] for t in tips] == [['%s: %s h' % (n, h) for n, h in zip(page.tables['GPU hours by day and pipeline'][0][2:], v[1:]) if h != '0.0'] for v in rows.values()],
   "a column's tooltip has the day's hours, and those of each pipeline", tips[:3])

line = [float(l.get('y1')) for l in pictures['by-day'].findall(SVG + 'line') if l.get('class') == 'cap']
could = [8 * (min(T0 + DAY * (i + 1), UNTIL) - max(T0 + DAY * i, SINCE)) // 60 for i in range(5, 41)]
top = [min(float(r.get('y')) for r in g.findall(SVG + 'rect') if r.get('class')) for g in pictures['by-day'].findall(SVG + 'g')]
scale = max((212 - y) / w for y, w in zip(top, wish))
ok(len(line) == 36 and all(abs((212 - y) / scale - c) < c / 50 for y, c in zip(line, could)) and 'capacity of the 8 GPUs below' in page.words,
   'a line shows what the GPUs could have given, less on the first and the last day', [((212 - y) / scale, c) for y, c in zip(line, could)])

print('# files')
cut = len(lines) // 3
write('old.1.gz', gzip.compress(('\n'.join(lines[:cut]) + '\n').encode()))
write('new', '\n'.join(lines[2 * cut:]) + '\n')
write('mid', '\n'.join(lines[cut:2 * cut]) + '\n')
body = lambda t: re.sub(r'<p class="soft">Made .*?</p>', '', t)
three, status, err = report('--since', iso(SINCE), '--until', str(UNTIL), W + '/new', W + '/old.1.gz', W + '/mid')
ok(status == 0 and body(three) == body(text) and ' in 3 files' in three, 'three files, one compressed: the same page in any order', err)
torn = lines[:50] + ['{"n":51,"prev":"', '\0\0\0', '[]', '"x"', '{"event":"grant"}', '{"time":"2026-03-02T00:00:00Z"}',
                     '{"time":"0999-03-02T00:00:00Z","event":"end"}', '{"time":7,"event":"end"}', ''] + lines[50:]
other, status, err = report('--since', iso(SINCE), '--until', str(UNTIL), write('torn', '\n'.join(torn) + '\n'))
cleaned = re.sub(r'<li>8 lines of the log are no valid records.*?</li>\n', '', body(other))
ok(status == 0 and cleaned == body(text) and '8 lines that are no valid records' in other, 'torn lines are counted, and change nothing else', (err, Page(other).words[:400]))
whole = gzip.compress(log.text().encode())
other, status, err = report(write('cut.gz', whole[:len(whole) // 2]))
ok(status == 65 and "can't read the file to its end" in err and '1 file can&#39;t' not in other and "1 file can't be read to its end" in Page(other).words,
   'a truncated file is reported: 65', (status, err))
tail, status, err = report(write('tail', '\n'.join(lines[40:60]) + '\n'))
last = max(t for t, _, _ in sorted(log.records)[40:60])
ok(status == 0 and ' to %s ' % time.strftime('%Y-%m-%d %H:%M', time.gmtime(last)) in Page(tail).words, 'with named files the period ends with their last record', Page(tail).words[:200])
for name, args, what in (('no such file', (W + '/nowhere',), 'nowhere: No such file'), ('--since', ('--since', 'x', path), '--since must be'),
                         ('--until', ('--until', '2026-02-30T00:00:00Z', path), '--until must be'),
                         ('nothing between', ('--since', '1d', '--until', '2d', path), 'before --until')):
    out, status, err = report(*args)
    ok(status in (64, 74) and what in err and out == '' and err.count('\n') == 1, 'refused: ' + name, (status, err))
r = subprocess.run([CTL, 'report', path], stderr=subprocess.PIPE, text=True)
ok(r.returncode == 64 and 'report needs --output' in r.stderr, 'refused: no --output', r.stderr)

print('# the file')
target = W + '/report.html'
os.umask(0o077)
r = run('--output', target, path)
ok(r.returncode == 0 and r.stdout + r.stderr == b'' and stat.S_IMODE(os.stat(target).st_mode) == 0o640 and
   open(target).read().endswith('</html>\n'), 'mode 0640, whatever the umask', r.stderr)
os.umask(0o022)
inode = os.stat(target).st_ino
r = run('--output', 'report.html', path, cwd=W)
ok(r.returncode == 0 and os.stat(target).st_ino != inode and not [n for n in os.listdir(W) if n.startswith('.')], 'replaced by a rename, without leftovers', (r, inode, os.stat(target).st_ino, os.listdir(W)))
os.symlink(W + '/aimed', W + '/link')
r = run('--output', W + '/link', path)
ok(r.returncode == 74 and b'symbolic link' in r.stderr and os.path.islink(W + '/link') and not os.path.exists(W + '/aimed'), 'a link is not followed', r.stderr)
os.mkfifo(W + '/pipe')
for name, what in ((W + '/pipe', b'not a regular file'), (W, b'is a directory'), (W + '/', b'is a directory'), (W + '/no/x', b'No such file')):
    r = run('--output', name, path)
    ok(r.returncode in (64, 74) and what in r.stderr, 'refused: ' + os.path.basename(name or '/'), r.stderr)
r = subprocess.run(['sh', '-c', '"$0" report --output - "$1" >/dev/full', CTL, path], stderr=subprocess.PIPE)
ok(r.returncode == 74 and b'stdout' in r.stderr, 'a full disk at stdout is an error', r.stderr)

print('# instances')
inst = Log()
inst.grant(T0, 'a', 'ml/pr', ['nvidia 0000:3b:00.0'], instance_vars='{"pr":17}')
inst.add(T0 + 3600, 'end', 'a')
inst.grant(T0 + 3600, 'b', 'ml/pr', ['nvidia 0000:3b:00.0'], instance_vars='{"pr":18,"branch":"<b>x</b>"}')
inst.add(T0 + 5 * 3600, 'gave-back', 'b')
inst.grant(T0 + 6 * 3600, 'b', 'ml/pr', ['nvidia 0000:3b:00.0'], instance_vars='{"pr":18,"branch":"<b>x</b>"}', again=True)
inst.add(T0 + 7 * 3600, 'undo', 'b')
inst.grant(T0 + 7 * 3600, 'c', 'ml/train', ['nvidia 0000:3b:00.0'])
inst.add(T0 + 9 * 3600, 'end', 'c')
inst.refuse(T0 + 10, 'ml/pr', 77, identity='token', instance_vars='{"pr":17}', reason='no policy <i>')
inst.refuse(T0 + 20, 'ml/pr', 77, instance_vars='{"pr":17}', reason='says who')
inst.refuse(T0 + 30, 'ml/train', 75)
logs = write('instances', inst.text())
page = is_sound(report(logs)[0], 'instances')
rows = [[r[0]] + r[1:] for r in page.tables['Instances, the most GPU time first'][1:]]
ok(rows == [['ml/pr {"pr":18,"branch":"<b>x</b>"}', '5.0', '1', '0', ''], ['ml/pr {"pr":17}', '1.0', '1', '1', 'no policy <i>'],
            ['ml/pr {"pr":17} (a claim)', '0.0', '0', '1', 'says who']], 'each instance has its time, grants and denials', rows)
for filters, hours_, grants_, denials_, undone in ((['--pipeline', 'ml/pr'], '6.0', '2', '2', True), (['--instance-var', 'pr=17'], '1.0', '1', '2', False),
                                           (['--pipeline', 'ml/train'], '2.0', '1', '1', False), (['--instance-var', 'pr=99'], '0.0', '0', '0', False),
                                           (['--pipeline', 'ml/train', '--instance-var', 'pr=17'], '0.0', '0', '0', False)):
    text, status, err = report(*filters, logs)
    page = is_sound(text, 'filtered')
    got = [page.tiles[k] if k in page.tiles else page.tiles[k[:-1]] for k in ('GPU hours', 'Grants', 'Denials')]
    ok(status == 0 and got == [hours_, grants_, denials_] and ('Only <bdi>' in text) and ('was undone' in text) == undone and 'no record of' not in text,
       'only %s' % ' '.join(filters), (got, err))
ok('Only <bdi>' not in report(logs)[0], 'without a filter the page names none')

print('# promises')
log = Log()
GPU = ['nvidia 0000:3b:00.0']


def promise(t, container, pipeline, **more):
    log.grant(t, container, pipeline, GPU + ['nvidia 0000:af:00.0'], **more)
    log.records[-1][2]['event'] = 'promise'


def abandon(t, container, pipeline, **more):
    team, name = pipeline.split('/')
    log.add(t, 'abandon', container, team=team, pipeline=name, **more)


promise(T0, 'two-tasks', 'ml/train')
log.grant(T0 + 200, 'two-tasks', 'ml/train', GPU, waited=100)
log.add(T0 + 3800, 'gave-back', 'two-tasks')
log.grant(T0 + 7200, 'two-tasks', 'ml/train', GPU)
log.add(T0 + 10800, 'gave-back', 'two-tasks')
log.add(T0 + 20000, 'end', 'two-tasks')
promise(T0 + 10, 'in-vain', 'ml/train')
abandon(T0 + 400, 'in-vain', 'ml/train', waited=300)
abandon(T0 + 500, 'in-vain', 'ml/train')
log.add(T0 + 600, 'end', 'in-vain')
promise(T0 + 20, 'not-made', 'ml/train')
log.add(T0 + 30, 'undo', 'not-made')
promise(T0 + 40, 'pr', 'ml/pr', instance_vars='{"pr":17}')
abandon(T0 + 90, 'pr', 'ml/pr', waited=40)
log.add(T0 + 100, 'end', 'pr')
abandon(T0 + 120, 'promised-in-a-log-that-is-gone', 'web/site', waited=20)
logs = write('promises', log.text())
text = report(logs)[0]
page = is_sound(text, 'promises')
ok([page.tiles[k] for k in ('GPU hours', 'Grants', 'Longest wait')] == ['2.0', '2', '1 min 40 s'], 'a promise is no grant, and holds no GPU', page.tiles)
ok('was undone' not in text and 'no record of' not in text and 'regained' not in text, 'the end of a promise is nothing odd', page.words[-900:])
ok('4 waits were abandoned before their turn, after 1 min 30 s on average.' in page.words and '4 abandoned waits' in page.words,
   'abandoned waits are counted', page.words)
ok(page.table('Waits by pipeline, the longest total first') == {'ml/train': ['1', '1 min 40 s', '1 min 40 s', '1 min 40 s', '2'], 'ml/pr': ['0', '0 s', '0 s', '0 s', '1'],
                                                               'web/site': ['0', '0 s', '0 s', '0 s', '1']}, 'by pipeline, too', page.tables)
for filters, told, by in ((['--pipeline', 'ml/train'], '2 abandoned waits', ['ml/train']), (['--instance-var', 'pr=17'], '1 abandoned wait', ['ml/pr']),
                           (['--instance-var', 'pr=18'], '', [])):
    text = report(*filters, logs)[0]
    page = is_sound(text, 'filtered promises')
    ok((told or 'No grant in this period waited') in page.words and 'no record of' not in text and
       list(page.table('Waits by pipeline, the longest total first') if by else {}) == by, 'only %s' % ' '.join(filters), page.words)
page = Page(report('--since', iso(T0 + 450), logs)[0])
ok('1 abandoned wait ' in page.words + ' ', 'only those in the period count', page.words)

print('# teams and their shares')
log = Log()
for k, (name, gpus, lasts, more) in enumerate((('ml/train', 2, 3, {}), ('web/site', 1, 1, {'waited': 600}), ('ops/x', 1, 1, {}), ('a/b', 1, 1, {}))):
    log.grant(T0, 'c%d' % k, name, ALL[:gpus], **more)
    log.add(T0 + lasts * 3600, 'end', 'c%d' % k)
log.records[6][2].update(team='web/b', pipeline='c')    # the helper takes what is before the first slash for the team
log.add(T0, 'grant', 'd', identity='caller', gpus=ALL[:1])
log.add(T0 + 3600, 'end', 'd')
promise(T0, 'e', 'late/x')
abandon(T0 + 90, 'e', 'late/x', waited=50)
log.grant(T0, 'f', 'ml/folders', [], waited=5)
logs = write('teams', log.text())
os.mkdir(W + '/conf')
write('conf/gpuhelper.conf', 'team_shares = { ml = 3; web = 1; idle = 2; };\n')
teams, status, err = report('--config-dir', W + '/conf', logs)
page = is_sound(teams, 'teams')
want = [['Team', 'GPU hours', 'Held of all', 'Waited', 'Share', 'Points over share'], ['ml', '6.0', '60.0 %', '5 s', '33.3 %', '+26.7'],
        ['web', '2.0', '20.0 %', '10 min 0 s', '11.1 %', '+8.9'], ['idle', '0.0', '0.0 %', '0 s', '22.2 %', '-22.2'],
        ['(no team)', '1.0', '10.0 %', '0 s', '11.1 %', '-1.1'], ['ops', '1.0', '10.0 %', '0 s', '11.1 %', '-1.1'], ['late', '0.0', '0.0 %', '50 s', '11.1 %', '-11.1']]
ok(status == 0 and page.tables['GPU time by team'] == want, 'each team against its share, also one that held nothing; others have one part', page.tables.get('GPU time by team'))
ok('while nobody else waits, a team may hold more' in page.words and 'without an entry has 1 part' in page.words, '  with what a share means', page.words)
bare = report(logs)[0]
ok([r[:4] for r in Page(bare).tables['GPU time by team']] == [r[:4] for r in (want[0], want[1], want[2], want[4], want[5], want[6])] and
   {len(r) for r in Page(bare).tables['GPU time by team']} == {4}, 'without the configuration: what they held', Page(bare).tables['GPU time by team'])
ok('GPU time by team' not in report('--config-dir', W + '/conf', '--pipeline', 'ml/train', logs)[0], 'a report of one pipeline compares no teams')
write('conf/gpuhelper.conf', '')
page = Page(report('--config-dir', W + '/conf', logs)[0])
ok('gives the teams no shares' in page.words and len(page.tables['GPU time by team'][0]) == 4, 'without team_shares', page.words)
write('conf/gpuhelper.conf', 'team_shares = 7;')
for where, what in ((W + '/conf', 'team_shares must be'), (W + '/nowhere', 'nowhere')):
    out, status, err = report('--config-dir', where, logs)
    ok(status in (74, 78) and what in err and out == '' and err.count('\n') == 1, 'refused: --config-dir %s' % os.path.basename(where), (status, err))
for k in range(40):
    log.grant(T0, 'g%d' % k, 'team%02d/x' % k, ALL[:1])
    log.add(T0 + 3600 - 60 * k, 'end', 'g%d' % k)
write('conf/gpuhelper.conf', 'team_shares = { %s };\n' % ' '.join('s%d = 1;' % k for k in range(29)))
table = Page(report('--config-dir', W + '/conf', write('teams', log.text()))[0]).table('GPU time by team')
ok(len(table) == 30 and list(table)[-1] == '45 more' and table['45 more'][0] == hours(600 + sum(60 - k for k in range(40))), 'those with a share are all shown, the others together', table)

print('# hostile names')
EVIL = ['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "' onload='alert(1)", '&lt;b&gt; &amp;', '</title></svg><script>x</script>',
        ']]>--><!--', '\u202egnp.exe\u2066', '\x00\x07\x1b[31m\x7f\r\n', 'é' * 300, 'W' * 240, '\ufffe\uffff\ufdd0', '漢字' * 60, 'שלום/עולם',
        '</style><style>*{display:none}', '{{7*7}}${x}`', 'a\u0300\u0301' * 80, '\u200b\u200d\ufeff', 'javascript:alert(1)']
evil = Log()
for i, e in enumerate(EVIL):
    t = T0 + i * 3600
    evil.add(t, 'grant', e + str(i), identity='token', team=e, pipeline=e, job=e, policy=e, gpus=['nvidia ' + e + ' GPU-' + e, e], waited=i * 50)
    if i % 3:
        evil.add(t + 5000, 'end', e + str(i))
    evil.add(t, 'refuse', e, team=e, pipeline=e, code=77, reason=e, user=e, instance_vars=e, instance_vars_left_out=e)
    evil.add(t, 'refuse', e, team=e, pipeline=e, instance_vars=json.dumps({e: e}))
    evil.add(t, 'refuse', team={'a': e}, pipeline=[e], code=e, reason=7, uid=e, gpus=e)
hostile, status, err = report(write('evil', evil.text().replace('\\u0000', '') + '{"time":"%s","event":"end","container":"a\\u0000b"}\n' % iso(T0)))
ok(status == 0 and err == '', 'a page is made', err)
p = is_sound(hostile, 'hostile')
ok('alert(1)' in p.words and '<script' not in hostile and '<img' not in hostile and hostile.count('<style') == 1, 'names are escaped as text', None)
ok(not re.search('[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]', hostile), 'no control character, no direction mark',
   re.findall('.{20}[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]', hostile))
ok('"%s"' % (EVIL[0] + '/' + EVIL[0]).replace('\\', '\\\\').replace('"', '\\"') in p.table('GPU time by pipeline'), 'names are complete, and quoted', list(p.tables))

print('# little and much')
none, status, err = report(write('empty', ''))
empty = is_sound(none, 'empty')
ok(status == 0 and 'No records' in empty.words and 'No GPU was held' in empty.words and 'No request was denied' in empty.words and
   empty.tiles['GPU hours'] == '0.0' and not re.search('nan|inf', none), 'an empty log', (status, err, empty.words))
year = Log()
for d in range(3 * 365):
    year.grant(T0 + d * DAY, 'y%d' % d, 'a/b', ['amd 0000:0a:00.0'], waited=3540 + d % 60)
    year.add(T0 + d * DAY + 36000, 'end', 'y%d' % d)
long, status, err = report(write('years', year.text()))
rows = Page(long).table('GPU hours by day and pipeline')
ok(status == 0 and len(rows) <= 92 and 'Each column is 28 days' in long and list(rows.values())[1][0] == '280.0', 'three years are columns of 28 days', list(rows.items())[:3])
N = 200000
with open(W + '/many', 'w') as f:
    for i in range(N // 2):
        f.write('{"n":%d,"prev":"%064x","time":"%s","event":"%s","uid":0,"container":"c%d","team":"t","pipeline":"p%d","gpus":["amd %d"],"code":77,"reason":"no"}\n'
                % (i + 1, i, iso(T0 + i * 60), 'refuse' if i % 2 else 'grant', i, i, i % 8))
        f.write('{"n":%d,"prev":"%064x","time":"%s","event":"end","uid":0,"container":"c%d"}\n' % (i + 1, i, iso(T0 + i * 60), i))
begin = time.time()
child = subprocess.Popen([CTL, 'report', '--output', W + '/many.html', W + '/many'])
_, status, used = os.wait4(child.pid, 0)
print('# %d records of %d pipelines: %.1f s, %d KiB' % (N, N // 2, time.time() - begin, used.ru_maxrss))
ok(status == 0 and used.ru_maxrss < 60000, 'memory does not grow with records, nor with pipelines beyond 20,000', used.ru_maxrss)
ok('(further names)' in open(W + '/many.html').read(), 'the further pipelines are counted together', None)

print('# this host: its own log, and its restarts')


ABSENT = ('gpuhelperctl: /var/log/gpuhelper/audit.jsonl: No such file or directory: nothing has been recorded yet, or the log is '
          'elsewhere\n')


def own_log(prepare, *args):
    """The report of a host whose /var/log is empty but for what «prepare» writes; the page and its status."""
    sh = 'mount -t tmpfs none /var/log && mkdir /var/log/gpuhelper && ' + prepare + ' && exec "$0" report --output - "$@"'
    r = subprocess.run(['unshare', '-m', 'sh', '-c', sh, CTL, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return r.stdout.decode(), r.returncode, r.stderr.decode()


if os.getuid() or subprocess.run(['unshare', '-m', 'mount', '-t', 'tmpfs', 'none', '/var/log'], stderr=subprocess.DEVNULL).returncode:
    skip('the log of this host', 'no mount namespace can be made here')
else:
    now = int(time.time())
    boot = int(re.search(r'^btime (\d+)', open('/proc/stat').read(), re.M).group(1))
    own = Log()
    begin = (boot - 30 * DAY) // 60 * 60
    for i, (begins, ends) in enumerate(((0, None), (20 * DAY, None), (25 * DAY, 36 * 3600))):
        own.grant(begin + begins, 'o%d' % i, 'own/%d' % i, ['amd 0000:0%d:00.0' % i])
        if ends:
            own.add(begin + begins + ends, 'end', 'o%d' % i)
    # ends that a helper told of after the restart
    own.add(begin + 10 * DAY + 600, 'end', 'o0')
    own.add(begin + 5 * DAY, 'promise', 'promised', team='own', pipeline='none')
    own.add(begin + 10 * DAY + 600, 'end', 'promised')
    write('own', own.text())
    write('wtmp', b''.join(struct.pack('<h2xi32s4s32s256shhiii4i20s', kind, 0, b'~', b'~~', b'reboot', b'6.1', 0, 0, 0, t, 0, 0, 0, 0, 0, b'')
                           for kind, t in ((2, begin + 10 * DAY), (7, begin + 11 * DAY), (2, boot + 3))))
    put = 'cp %s/own /var/log/gpuhelper/audit.jsonl && cp %s/wtmp /var/log/wtmp' % (W, W)
    text, status, err = own_log(put)
    t = Page(text).table('GPU time by pipeline') if status == 0 else {}
    ok({n: v[0] for n, v in t.items()} == {'own/0': '240.0', 'own/1': hours((boot - begin - 20 * DAY) // 60), 'own/2': '36.0'},
       'a lease without an end counts until the host\'s restart', (t, err))
    words = Page(text).words
    ok('2 containers held GPUs when the host was rebooted' in words and 'no record of their grant' not in words and 'no record of its grant' not in words and
       'GPU use on ' in words and time.strftime(' to %Y-%m-%d', time.gmtime(now)) in words, 'the notes say so; the period ends now', words[:300])
    halves = own.lines()
    write('own.1.gz', gzip.compress((halves[0] + '\n').encode()))
    write('own', '\n'.join(halves[1:]) + '\n')
    rotated, status, err = own_log(put + ' && cp %s/own.1.gz /var/log/gpuhelper/audit.jsonl.1.gz' % W)
    ok(status == 0 and Page(rotated).table('GPU time by pipeline') == t and ' in 2 files' in rotated, 'the rotated files beside the log are read', err)
    at_home = put + " && mount -t tmpfs -o mode=755 none /etc && mkdir /etc/gpuhelper && echo '%s' >/etc/gpuhelper/gpuhelper.conf"
    page = Page(own_log(at_home % 'team_shares = { own = 1; x = 3; };')[0])
    ok([r[0] + ' ' + r[4] for r in page.tables['GPU time by team'][1:]] == ['own 25.0 %', 'x 75.0 %'], "the shares are those of the host's gpuhelper.conf", page.tables)
    text, status, err = own_log(at_home % 'team_shares = x')
    page = Page(text)
    ok(status == 0 and "gpuhelper.conf can't be read" in page.words and len(page.tables['GPU time by team'][0]) == 4, 'a broken gpuhelper.conf: a report without shares, which says so', (status, err))
    text, status, err = own_log('true')
    ok((status, text, err) == (74, '', ABSENT), 'without a log', (status, err))
    for words in 'audit show', 'audit verify':
        text, status, err = own_log('exec "$0" ' + words)
        ok((status, text, err) == (74, '', ABSENT), '  and %s says the same' % words, (status, err))
    text, status, err = own_log('rmdir /var/log/gpuhelper')
    ok((status, text, err) == (74, '', ABSENT), "  or without the log's directory", (status, err))
    text, status, err = own_log(put + ' && chmod 711 /var/log/gpuhelper && setpriv --reuid 65534 --clear-groups "$0" report --output - >/dev/null; exit $?')
    ok(status == 74 and 'group gpuhelper' in err, 'report reads the log with its caller\'s rights', (status, err))

print('# in a browser')


class Browser:
    """Chromium's DevTools protocol over two pipes: JSON with a NUL after each."""

    def __init__(self, program):
        out_r, out_w = os.pipe()
        in_r, in_w = os.pipe()

        def descriptors():
            os.dup2(in_r, 13), os.dup2(out_w, 14)
            os.dup2(13, 3), os.dup2(14, 4)
        self.p = subprocess.Popen([program, '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-dev-shm-usage',
                                   '--hide-scrollbars', '--user-data-dir=' + W + '/profile', '--remote-debugging-pipe', 'about:blank'],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  preexec_fn=descriptors, pass_fds=(3, 4), env={**os.environ, 'HOME': W, 'TZ': 'UTC'})
        os.close(in_r), os.close(out_w)
        self.out, self.input, self.n, self.events, self.rest = out_r, in_w, 0, [], b''
        target = self.ask('Target.createTarget', {'url': 'about:blank'})['targetId']
        self.session = None
        self.session = self.ask('Target.attachToTarget', {'targetId': target, 'flatten': True})['sessionId']
        for domain in ('Page', 'Network', 'Log', 'Runtime'):
            self.ask(domain + '.enable')

    session = None

    def read(self):
        while b'\0' not in self.rest:
            data = os.read(self.out, 1 << 20)
            assert data, 'the browser has ended'
            self.rest += data
        message, self.rest = self.rest.split(b'\0', 1)
        return json.loads(message)

    def ask(self, method, params=None):
        self.n += 1
        message = {'id': self.n, 'method': method, 'params': params or {}}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.input, json.dumps(message).encode() + b'\0')
        while True:
            m = self.read()
            if m.get('id') == self.n:
                assert 'error' not in m, m
                return m['result']
            self.events.append(m)

    def value(self, script):
        return self.ask('Runtime.evaluate', {'expression': script, 'returnByValue': True})['result'].get('value')

    def show(self, path, width, dark):
        self.ask('Emulation.setDeviceMetricsOverride', {'width': width, 'height': 900, 'deviceScaleFactor': 1, 'mobile': width < 600})
        self.ask('Emulation.setEmulatedMedia', {'media': 'screen', 'features': [{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}]})
        self.events = []
        self.ask('Page.navigate', {'url': 'file://' + path})
        while not any(m.get('method') == 'Page.loadEventFired' for m in self.events):
            self.events.append(self.read())
        self.value('0')     # the browser sends events before the answer

    def picture(self, path):
        data = self.ask('Page.captureScreenshot', {'captureBeyondViewport': True, 'clip': {'x': 0, 'y': 0, 'scale': 1, 'width':
                        self.value('innerWidth'), 'height': self.value('document.documentElement.scrollHeight')}})
        with open(path, 'wb') as f:
            f.write(base64.b64decode(data['data']))

    def end(self):
        try:
            self.ask('Browser.close')
        except (AssertionError, OSError):
            pass
        try:
            self.p.wait(10)
        except subprocess.TimeoutExpired:
            self.p.kill()
            self.p.wait()


# the text with the least contrast to what is behind it, and that contrast
CONTRAST = r"""(() => {
const rgb = c => c.match(/[\d.]+/g).slice(0, 3).map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
const lum = c => { const [r, g, b] = rgb(c); return .2126 * r + .7152 * g + .0722 * b; };
const paper = lum(getComputedStyle(document.body).backgroundColor);
let worst = [99, ''];
for (const e of document.querySelectorAll('body *')) {
	if (![...e.childNodes].some(n => n.nodeType == 3 && n.data.trim()) || e.closest('title, desc')) continue;
	const s = getComputedStyle(e), l = lum(e instanceof SVGElement ? s.fill : s.color);
	const c = (Math.max(l, paper) + .05) / (Math.min(l, paper) + .05);
	if (c < worst[0]) worst = [c, e.tagName + ' ' + e.textContent.slice(0, 40)];
}
return worst; })()"""
# what sticks out to the right, but for what is in a box that scrolls
WIDE = r"""[...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll > *') && !e.closest('svg svg, g, caption') &&
	e.getBoundingClientRect().right > innerWidth + 0.5).map(e => e.tagName + '.' + (e.getAttribute('class') || '') + ' ' + e.textContent.slice(0, 30))"""
# what a box of the summary or a table does not show without scrolling
HIDDEN = r"""[...document.querySelectorAll('dl.sum div, .scroll')].filter(e => e.offsetParent && e.scrollWidth > e.clientWidth + 1).map(e => e.textContent.slice(0, 40))"""
# a row's name in more than three lines
LONG = r"""[...document.querySelectorAll('tbody th bdi')].filter(e => e.textContent.length < 60 && e.getClientRects().length > 3).map(e => e.textContent)"""
# texts of a chart that lie upon each other
CLASH = r"""[...document.querySelectorAll('svg[role=img]')].flatMap(s => {
	const t = [...s.querySelectorAll('text')].map(e => { const r = e.getBoundingClientRect(), v = e.closest('svg'),
		left = s.getBoundingClientRect().left, right = left + v.width.baseVal.value;	// what is beyond is cut off
		return [e.textContent, Math.max(r.left, left), Math.min(r.right, right), r.top + 2, r.bottom - 2]; });
	return t.flatMap((a, i) => t.slice(i + 1).filter(b => a[1] < b[2] && b[1] < a[2] && a[3] < b[4] && b[3] < a[4]).map(b => a[0] + ' | ' + b[0])); })"""


def look(b, name, path):
    for width in (390, 1280):
        for dark in (False, True):
            b.show(path, width, dark)
            said = [m for m in b.events if m.get('method') in ('Log.entryAdded', 'Runtime.consoleAPICalled', 'Runtime.exceptionThrown',
                                                               'Page.javascriptDialogOpening')]
            asked = [m['params']['request']['url'] for m in b.events if m.get('method') == 'Network.requestWillBeSent']
            least, where = b.value(CONTRAST)
            wide = b.value('document.documentElement.scrollWidth')
            what = '%s, %d px, %s' % (name, width, 'dark' if dark else 'light')
            ok(said == [] and asked == ['file://' + path], what + ': nothing is loaded, and there is no complaint', (said, asked))
            ok(wide <= width and b.value(WIDE) == [], what + ': nothing is wider than the window', (wide, b.value(WIDE)))
            ok(b.value(HIDDEN) == [] and b.value(LONG) == [], what + ': boxes and tables show their whole text, names in at most three lines',
               (b.value(HIDDEN), b.value(LONG)))
            ok(b.value(CLASH) == [], what + ': no text of a chart covers another', b.value(CLASH))
            ok(least >= 4.5, what + ': the contrast of text is at least %.1f' % least, (least, where))
            b.picture('%s/%s-%d-%s.png' % (PICTURES, name, width, 'dark' if dark else 'light'))


chromium = shutil.which('chromium')
if chromium is None:
    skip('the page in a browser', 'chromium is not installed')
else:
    browser = Browser(chromium)
    try:
        shots = {'sums': report('--since', iso(SINCE), '--until', str(UNTIL), path)[0], 'teams': teams, 'hostile': hostile, 'empty': none, 'years': long}
        for name, text in shots.items():
            look(browser, name, write(name + '.html', text))
        # the tests themselves: they detect what they forbid
        broken = shots['sums'].replace('<h2>', '<p><img src="http://127.0.0.1:9/x.png"><script>document.title = "ran"</script></p>'
                                       '<div class="wide">' + 'w' * 400 + '</div><h2>', 1)
        browser.show(write('broken.html', broken), 390, False)
        ok([m for m in browser.events if m.get('method') == 'Log.entryAdded'] and browser.value('document.title') != 'ran' and
           browser.value('document.documentElement.scrollWidth') > 390, "the page's policy blocks a script and a picture; this test detects both", browser.events)
        browser.show(W + '/sums.html', 1280, True)
        pdf = base64.b64decode(browser.ask('Page.printToPDF', {'paperWidth': 8.27, 'paperHeight': 11.69, 'printBackground': True})['data'])
        with open(PICTURES + '/sums.pdf', 'wb') as f:
            f.write(pdf)
        pages = len(re.findall(rb'/Type\s*/Page\b', pdf))
        browser.ask('Emulation.setEmulatedMedia', {'media': 'print', 'features': [{'name': 'prefers-color-scheme', 'value': 'dark'}]})
        ok(pdf.startswith(b'%PDF') and 2 <= pages <= 12 and browser.value('getComputedStyle(document.body).backgroundColor') == 'rgb(255, 255, 255)',
           'it prints on %d sheets, dark on white' % pages, pages)
    finally:
        browser.end()
done()
