#!/usr/bin/env python3
"""Writes figures into RESULTS.md, between its marks, and draws the curves.

usage: report.py quick|growth|phases|waiting FIGURES.json
       report.py whole FIGURES.json...
"""
import json, os, re, statistics, subprocess, sys, time
import plot

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = HERE + '/RESULTS.md'


def machine():
    kind = re.search(r'model name\s*:\s*(.*)', open('/proc/cpuinfo').read() + 'model name: unknown').group(1)
    kernel, cores = os.uname().release.split('-')[0], os.cpu_count()
    memory = int(re.search(r'MemTotal:\s*(\d+)', open('/proc/meminfo').read()).group(1)) >> 20
    virtual = ', a virtual machine' if 'hypervisor' in open('/proc/cpuinfo').read() else ''
    return '%s, %d cores, %d GiB, Linux %s%s' % (kind, cores, memory, kernel, virtual)


def version(*words):
    try:
        return subprocess.run(words, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL).stdout.split('\n')[0]
    except OSError:
        return 'none'


def heading(r):
    before, after = (' '.join('%.1f' % n for n in load) for load in r['load'])
    return 'Commit %s, %s; %s. %s, %s. Load of the machine before and after: %s and %s; the run took %d s.' % (
        version('git', '-C', HERE, 'rev-parse', '--short', 'HEAD') or 'unknown', time.strftime('%Y-%m-%d', time.gmtime(r['began'])),
        machine(), os.confstr('CS_GNU_LIBC_VERSION'), version('jq', '--version').replace('jq-', 'jq '), before, after, r['took'])


def table(head, rows):
    line = lambda cells: '| ' + ' | '.join(str(c) for c in cells) + ' |'
    return '\n'.join([line(head), '|' + '---|' * len(head)] + [line(r) for r in rows])


def ours(programs):
    """The programs of one run, without the runtime's own."""
    return {n: p for n, p in programs.items() if not n.startswith('runc')}


def comparison(items):
    rows = []
    for e in items.values():
        for name, o in e['over'].items():
            p = ours(e['programs'][name])
            counts = ['%.1f' % (max(v['peak'] for v in p.values()) / 1024), sum(v['calls'] for v in p.values()),
                      format(sum(v['bytes'] for v in p.values()), ',')] if p else ['-'] * 3
            rows.append([e['label'], name, '%.2f' % o['wall'], '%.2f to %.2f' % (o['least'], o['most']), '%.2f' % o['minima'],
                         '%.2f' % o['user'], '%.2f' % o['system'], *counts, '%d' % o['faults'], o['n']])
    return table(['work', 'by', 'ms', 'least to most', 'by minima', 'user', 'system', 'peak MiB', 'calls', 'bytes read', 'faults',
                  'pairs'], rows)


def programs(items):
    rows = []
    for key in 'plain', 'gpu-2-folders', 'cdi-json', 'exec-idle':
        if key in items:
            for name, p in sorted(ours(items[key]['programs']['gpuhelper']).items()):
                rows.append([items[key]['label'], name, p['processes'], p['calls'], format(p['bytes'], ','), p['peak'],
                             p['faults']])
    return table(['work', 'program', 'processes', 'calls', 'bytes read', 'peak KiB', 'faults'], rows)


def verdict(measured, most, least=None):
    if measured <= most:
        return 'met'
    return 'met by minima alone' if least is not None and least <= most else 'not met'


def targets(items):
    at = lambda key, by='gpuhelper', how='wall': items[key]['over'][by][how]
    rows = []

    def row(label, measured, most, unit, least=None):
        show = lambda v: '-' if v is None else '%.2f' % v
        rows.append([label, show(measured), show(least), 'at most %g %s' % (most, unit), verdict(measured, most, least)])

    def times(label, key, most):
        row(label, at(key), most, 'ms', at(key, how='minima'))
    for v in 'state', 'start', 'kill':
        times('`%s`, passed through' % v, v, 0.4)
    times('plain container, `create`, root.path is an overlay', 'plain-overlay', 0.7)
    times('the same where root.path is a directory', 'plain', 0.85)
    times('the same beside 400 processes', 'plain-processes', 1)
    times('1 GPU, 2 folders, `caller`', 'gpu-2-folders', 4.2)
    row('the same by token, more', at('token') - at('gpu-2-folders'), 0.4, 'ms',
        at('token', how='minima') - at('gpu-2-folders', how='minima'))
    times('1 GPU, 40 driver files, JSON', 'cdi-json', 4.8)
    times('1 GPU, 40 driver files, YAML', 'cdi-yaml', 5)
    times('1 GPU, beside 400 processes', 'gpu-processes', 5)
    times('32 folders', '32-folders', 4.5)
    times('1,000 folders', '1000-folders', 15)
    times('`exec` of a granted container', 'exec', 1.2)
    times('the same where process 1 only pauses', 'exec-idle', 1.2)
    p = items['gpu-2-folders']['programs']['gpuhelper']
    row("helper's peak memory", p['gpuhelper']['peak'] / 1024, 4, 'MiB')
    empty = items['gpu-2-folders']['programs']['floor, and one program']['libraries']
    row("judge's peak memory, beside an empty program with its libraries", p['gpuhelper-judge']['peak'] / empty['peak'],
        1.5, 'times')
    return table(['work', 'measured', 'by minima', 'target', ''], rows)


def quick(r):
    text = heading(r) + '\n\n'
    text += ''.join('%s: skipped, it is not installed here.\n' % n for n in r['absent'])
    text += '\n### What it must show\n\n' + targets(r['items']) + '\n\n### Beside what people use\n\n' + comparison(r['items'])
    return text + '\n\n### By program, one run\n\n' + programs(r['items']) + '\n'


def slope(points):
    """The cost of each further one, between the first and the last point."""
    good = [p for p in points if len(p) > 2]
    return (good[-1][1] - good[0][1]) / (good[-1][0] - good[0][0]) if len(good) > 1 else 0


def growth_rows(points):
    for p in points:
        yield [format(p[0], ','), '%.2f' % p[1], '%.2f to %.2f' % (p[2], p[3]), '%.2f' % p[4], '%.2f' % p[5]] if len(p) > 2 else \
            [format(p[0], ','), 'refused: ' + p[1], '', '', '']


def growth_targets(curves):
    def at(key, n):
        return next((p for p in curves.get(key, {}).get('points', ()) if p[0] == n and len(p) > 2), None)

    def row(label, key, few, many, most, target, of=1, how=lambda a, b: b - a):
        a, b = at(key, few), at(key, many)
        if a is None or b is None:
            return [label, 'refused', target, 'not met']
        v = how(a[of], b[of])
        return [label, '%.2f' % v, target, verdict(v, most)]
    return table(['growth', 'measured', 'target', ''], [
        row('100 policy files, more than 1', 'policies', 1, 100, 1, 'at most 1 ms'),
        row('10,000 policy files, more than 1', 'policies', 1, 10000, 50, 'at most 50 ms'),
        row('1,000 folders', 'folders', 1000, 1000, 15, 'at most 15 ms', how=lambda a, b: b),
        row('10^6 audit records, more than 1', 'audit', 1, 1000000, 0.3, 'nothing (0.3 ms is what pairs scatter by)'),
        row('32 creates at once: processor time, of 32 one by one', 'at-once', 1, 32, 1.2, 'at most 1.2 times', of=5,
            how=lambda a, b: b / a),
        row('32 creates at once: milliseconds for each (300 a second)', 'at-once', 32, 32, 1000 / 300, 'at most %.2f ms' % (1000 / 300),
            how=lambda a, b: b),
        row('10,000 leases of others, more than 1', 'leases', 1, 10000, 50, 'linear, with a small slope')])


def growth(r):
    text = heading(r) + '\n\n' + growth_targets(r['curves']) + '\n'
    for key, c in r['curves'].items():
        with open('%s/%s.svg' % (HERE, key), 'w') as f:
            f.write(plot.curve(c['points'], c['label']))
        text += '\n### %s\n\n![%s](%s.svg)\n\n' % (c['label'][0].upper() + c['label'][1:], c['label'], key)
        text += table(['number', 'ms', 'least to most', 'by minima', 'user + system'], growth_rows(c['points'])) + '\n'
        text += '\nEach one more: %.4f ms, between the first and the last.\n' % slope(c['points'])
    return text


def phases(r):
    rows = [['%.2f' % p['at'], '%.2f' % p['took'], '%.2f' % p['least'], p['process'], p['phase']] for p in r['phases']]
    at = lambda ms: '-' if ms is None else '%.2f' % ms
    who = [[at(p['at']), at(p['ready']), p['process'], p['for'], p['apart']] for p in r['processes']]
    return heading(r) + '\n\n' + table(['begins at, ms', 'takes', 'least', 'process', 'phase'], rows) + \
        '\n\nWhat each process is for. «Ready»: its filter of system calls is installed. «-»: it does not start here.\n\n' + \
        table(['begins at, ms', 'ready at', 'process', 'what it is for', 'why by itself'], who) + '\n'


def waiting(r):
    took = r['hand_over']
    row = lambda label, v, most: [label, '%.1f' % v, 'at most %d ms' % most, verdict(v, most)]
    return heading(r) + '\n\n' + table(['%d waiters' % r['waiters'], 'measured', 'target', ''], [
        row('processor time, ms a second', r['rate'], 10), row('hand-over, ms, median of %d' % len(took), statistics.median(took), 20),
        row('hand-over, ms, the worst', max(took), 60)]) + '\n'


def whole_rows(e):
    for name, o in e['by'].items():
        over = '-' if name == e['base'] else '%.1f' % o['more']
        yield [e['label'], name, *('%.1f' % s for s in o['steps']), '%.1f' % o['whole'], over,
               '%.1f to %.1f' % (o['least'], o['most']), '%.1f' % o['minima'], o['pairs']]


def whole(*runs):
    text = ''
    for r in runs:
        rows = [row for e in r['items'].values() for row in whole_rows(e)]
        u = r['unused']
        text += '### With %s\n\n%s\n\n' % (r['runtime'], heading(r))
        text += ''.join('%s: skipped, %s.\n' % (n, w) for n, w in r['absent'].items()) + '\n'
        text += table(['work', 'by', 'create', 'start', 'first byte', 'delete', 'whole', 'over the first', 'least to most', 'by minima',
                       'pairs'], rows)
        text += '\n\nA GPU is unused between two tasks for %.1f ms in the median (%.1f to %.1f; %d times).\n\n' % (
            u['median'], u['least'], u['most'], u['pairs'])
    return text


def main():
    what, *figures = sys.argv[1:]
    made = {'quick': quick, 'growth': growth, 'phases': phases, 'waiting': waiting, 'whole': whole}[what]
    body = made(*(json.load(open(f)) for f in figures))
    text = open(RESULTS).read()
    begin, end = '<!-- %s -->\n' % what, '<!-- end of %s -->\n' % what
    head, rest = text.split(begin)
    text = head + begin + '\n' + body + '\n' + end + rest.split(end)[1]
    with open(RESULTS, 'w') as f:
        f.write(text)


main()
