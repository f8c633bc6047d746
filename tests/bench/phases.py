#!/usr/bin/env python3
"""Times the parts of one granted create: functions of the wrapper, the helper and its programs, by the kernel's
uprobes. Then tells what each of these processes is for, when it begins, and when it can be asked.

usage: phases.py OUT.json    (in tests/lib/sandbox.sh --gpu nvidia-8gpu; needs tracefs with CONFIG_UPROBE_EVENTS)

Each probe costs a few microseconds, so the sum exceeds bench.py's figure a little.  Rows are medians.  A function
that another row's function calls is part of that row.
"""
import json, os, re, statistics, subprocess, sys, time
import driver, items
from stage import BUILD, ENV, RUNTIME, TEAM, W, WRAPPER, Stage, asked, create, folder_rules, load, measure
from lib import sh, write

TRACE = W + '/trace'
GROUP = 'ghbench%d' % os.getpid()
LIBEXEC = '/usr/libexec/gpuhelper/'
# (program, its file, [(function, phase)])
PROGRAMS = (
    ('gpuhelper-runc', WRAPPER, [
        ('main', None),
        ('runtime_begin', 'wrapper: begins'),
        ('argv_parse', 'wrapper: command line'),
        ('settings_load', 'wrapper: settings'),
        ('runtime_find', 'wrapper: finds the runtime'),
        ('bundle_open', 'wrapper: reads config.json'),
        ('spec_parse', 'wrapper: parses config.json'),
        ('rootfs_open', 'wrapper: root directory'),
        ('sources_check', "wrapper: mounts' sources"),
        ('privilege_find', 'wrapper: privileged?'),
        ('cgroup_candidates', "wrapper: container's cgroups"),
        ('majors_read', 'wrapper: device numbers'),
        ('nodes_check_mounts', 'wrapper: mounts of nodes'),
        ('lease_ask', 'wrapper: asks, up to the reply'),
        ('reply_decode', 'wrapper: reads the reply'),
        ('vetting_check', "wrapper: compares the reply with root's files"),
        ('rootfs_check_conflicts', 'wrapper: targets in the image'),
        ('adapt_grant', 'wrapper: adapts the grant to the runtime'),
        ('compose', 'wrapper: merges'),
        ('bundle_stage', 'wrapper: writes config.json'),
        ('ask_final', 'wrapper: confirms, helper ends'),
        ('bundle_commit', 'wrapper: renames config.json'),
        ('create_container', None),
        ('runtime_fork', 'wrapper: runs the runtime, and waits for it'),
        ('folder_mounts_check', 'wrapper: mounted folders'),
        ('devcgroup_has_rules', 'wrapper: device rules'),
        ('lease_report_created', 'wrapper: has the helper look at the container'),
    ]),
    ('gpuhelper', LIBEXEC + 'gpuhelper', [
        ('main', 'helper: begins'),
        ('enter', 'helper: enters (the next ones, too)'),
        ('check_state_dirs', "helper: sees that its directories are the host's"),
        ('slot_take', "helper: one of its user's slots"),
        ('looker_start', 'helper: starts looker'),
        ('labeller_start', 'helper: starts label'),
        ('reader_start', 'helper: starts read'),
        ('judge_start', 'helper: starts judge'),
        ('engine_start', 'helper: starts engine'),
        ('capabilities_keep', 'helper: drops capabilities'),
        ('find_nodes', "helper: driver's numbers"),
        ('filter_install', 'helper: filter'),
        ('peer_of_starter', 'helper: who asks'),
        ('request_decode', 'helper: reads the request'),
        ('grant', 'helper: grants (the next ones, too)'),
        ('audit_open', 'helper: opens the audit log'),
        ('reader_ask_policies', 'helper: policies, by read'),
        ('engine_ask_authz', 'helper: authorization, by engine (the next ones, too)'),
        ('judge_receive', "helper: an answer of judge's, for engine"),
        ('authz_answer_accept', "helper: checks engine's answer"),
        ('label_choose', 'helper: label'),
        ('looker_ask_folders_and_cgroups', 'helper: folders and cgroups, by look'),
        ('pick_and_write_lease', 'helper: takes the lease (the next ones, too)'),
        ('leases_lock', 'helper: lock'),
        ('leases_for_request', 'helper: other leases'),
        ('engine_ask_picks', "helper: GPUs, and the driver's files, by engine"),
        ('plan_nodes', 'helper: plans ACLs, writes the lease'),
        ('check_exclusive', 'helper: has anyone the GPU open?'),
        ('audit_append', 'helper: writes the audit record'),
        ('give_access', 'helper: record for exec, ACLs'),
        ('send_reply', 'helper: replies'),
        ('verb_created', 'helper: looks at the container'),
        ('container_find_init', 'helper: its first process'),
        ('cgroup_own', 'helper: its cgroups'),
        ('spawned_end_all', 'helper: ends the other programs'),
        ('leave', 'helper: leaves'),
    ]),
    ('gpuhelper-read', LIBEXEC + 'gpuhelper-read', [
        ('main', 'read: begins'),
        ('confined_start', 'read: shuts itself in'),
        ('read_answer', 'read: parses'),
    ]),
    ('gpuhelper-judge', LIBEXEC + 'gpuhelper-judge', [
        ('main', 'judge: begins'),
        ('confined_start', 'judge: shuts itself in'),
        ('host_find_gpus', 'judge: sees the host'),
        ('filter_install_for', 'judge: filter'),
        ('decide_grant', 'judge: decides'),
    ]),
    ('gpuhelper-engine', LIBEXEC + 'gpuhelper-engine', [
        ('main', 'engine: begins'),
        ('confined_start', 'engine: shuts itself in'),
        ('authorize', 'engine: what may the request have?'),
        ('host_ask_gpus', 'engine: has the judge look'),
        ('answer_about_gpus', 'engine: picks GPUs, and what comes with them'),
    ]),
    ('gpuhelper-look', LIBEXEC + 'gpuhelper-look', [
        ('main', 'look: begins'),
        ('confined_start', 'look: shuts itself in'),
        ('paths_find', 'look: where paths lead'),
        ('openers_find', 'look: who has the nodes open'),
    ]),
)
# what each process is for, and why no other one does that
PURPOSES = (
    ('gpuhelper-runc 1', 'checks and changes config.json, runs the runtime', 'has the rights of its caller, and no more'),
    ('gpuhelper 1', 'finds out who asks, keeps leases and log, opens nodes', 'what takes root, and no more'),
    ('gpuhelper-judge 1', "sees the host's GPUs, parses a stranger's words, decides", 'opens nothing once it has heard the stranger'),
    ('gpuhelper-engine 1', "decides by policies, leases and queue, has the judge read a stranger's words; what CDI specs give", 'opens files to the end, so it reads none of these words'),
    ('gpuhelper-look 1', 'ends a look that takes too long, and starts another', 'is never blocked itself'),
    ('gpuhelper-look 2', "looks at other users' processes, and at folders", 'these can block it, for ever'),
    ('gpuhelper-read 1', "parses root's files", 'starts only if no answer to the same bytes is cached'),
    ('gpuhelper-label 1', "asks for SELinux's labels", 'starts only where SELinux is on'),
    ('gpuhelper-judge-udev 1', 'is gpuhelper-judge with libudev', 'starts in its place where DRM nodes are'),
)


def offsets(path):
    """The functions' offsets in the file."""
    loads = re.findall(r'LOAD\s+0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)', sh('readelf', '-lW', path).stdout)
    segments = [tuple(int(x, 16) for x in m) for m in loads]
    out = {}
    for line in sh('nm', path).stdout.splitlines():
        m = re.match(r'(\w+) [tT] ([a-z_0-9]+)(\.[a-z0-9.]*)?$', line)
        if m and '.cold' not in line:
            at = int(m.group(1), 16)
            for offset, virtual, size in segments:
                if virtual <= at < virtual + size:
                    out[m.group(2)] = at - virtual + offset
    return out


def put(path, text):
    fd = os.open(TRACE + '/' + path, os.O_WRONLY | os.O_APPEND)
    os.write(fd, text.encode())
    os.close(fd)


def set_probes():
    missing = []
    for k, (program, path, functions) in enumerate(PROGRAMS):
        at = offsets(BUILD + '/' + program)
        for name, _ in functions:
            if name not in at:
                missing.append('%s: %s' % (program, name))
                continue
            for kind in 'pr':
                put('uprobe_events', '%s:%s/%s%d_%s %s:0x%x\n' % (kind, GROUP, kind, k, name, path, at[name]))
    return missing


def remove_probes():
    if os.path.isdir(TRACE + '/instances/' + GROUP):
        put('instances/%s/events/%s/enable' % (GROUP, GROUP), '0')
        os.rmdir(TRACE + '/instances/' + GROUP)
    for line in open(TRACE + '/uprobe_events').read().splitlines():
        name = line.split()[0].split(':')[1]
        if name.startswith(GROUP + '/'):
            put('uprobe_events', '-:%s\n' % name)


LINE = re.compile(r'-(\d+)\s+\[\d+\]\s+\S+\s+([\d.]+): ([pr])(\d)_(\w+):')


def runs_of(text):
    """For each run, [(program, process, function, begin, end)], from the wrapper's main() on."""
    runs, pending = [], {}
    for pid, at, kind, k, name in LINE.findall(text):
        pid, at, k = int(pid), float(at) * 1000, int(k)
        if (kind, k, name) == ('p', 0, 'main'):
            runs.append([])
            pending = {}
        if not runs:
            continue
        if kind == 'p':
            pending[pid, k, name] = len(runs[-1])
            runs[-1].append([k, pid, name, at, None])
        elif (pid, k, name) in pending:
            runs[-1][pending.pop((pid, k, name))][4] = at
    return runs


def numbered(run):
    """The events, from the run's begin on, with the number of their process among those of its program."""
    zero, order = run[0][3], {}
    for k, pid, name, begin, end in run:
        process = order.setdefault((k, pid), len([1 for o in order if o[0] == k]))
        yield k, process, name, begin - zero, None if end is None else end - zero


def summary(runs):
    phases = {(k, name): label for k, (_, _, functions) in enumerate(PROGRAMS) for name, label in functions}
    seen = {}
    for run in runs:
        count = {}
        for k, process, name, begin, end in numbered(run):
            n = count[process, k, name] = count.get((process, k, name), 0) + 1
            if end is not None and phases[k, name]:
                seen.setdefault((k, process, name, n), []).append((begin, end - begin))
    out = []
    for (k, process, name, n), times in seen.items():
        if len(times) * 2 >= len(runs):
            out.append({'phase': phases[k, name] + (' (%d)' % n if n > 1 else ''),
                        'process': '%s %d' % (PROGRAMS[k][0], process + 1),
                        'at': statistics.median(t[0] for t in times), 'took': statistics.median(t[1] for t in times),
                        'least': min(t[1] for t in times)})
    return sorted(out, key=lambda p: p['at'])


def processes(runs):
    """What each process is for, when it begins, and when it has shut itself in, so that it can be asked."""
    begins, ready = {}, {}
    for run in runs:
        first = {}
        for k, process, name, begin, end in numbered(run):
            first.setdefault('%s %d' % (PROGRAMS[k][0], process + 1), begin)
            if name in ('confined_start', 'filter_install') and end is not None:
                ready.setdefault('%s %d' % (PROGRAMS[k][0], process + 1), []).append(end)
        for key, at in first.items():
            begins.setdefault(key, []).append(at)
    middle = lambda of, key: statistics.median(of[key]) if len(of.get(key, ())) * 2 >= len(runs) else None
    out = [{'process': p, 'for': what, 'apart': why, 'at': middle(begins, p), 'ready': middle(ready, p)} for p, what, why in PURPOSES]
    return sorted(out, key=lambda p: (p['at'] is None, p['at'] or 0))


def main():
    stage = Stage()
    os.makedirs(TRACE)
    r = sh('mount', '-t', 'tracefs', 'tracefs', TRACE)
    if r.returncode != 0 or not os.path.exists(TRACE + '/uprobe_events'):
        print('# SKIP phases: the kernel has no uprobe events here: ' + r.stdout.strip())
        return
    driver.install(None)
    paths, space = stage.folders(2)
    stage.host.policies(t10=items.CALLER + items.GPUS + folder_rules(paths))
    t = stage.template(TEAM + ['GPUHELPER_GPUS=1', asked(paths)])
    c = create(WRAPPER, t, granted=True, space=space)
    result = {'load': [load()], 'began': time.time()}
    try:
        missing = set_probes()
        if missing:
            sys.exit('phases.py: the programs have no function of these names any more: ' + ', '.join(missing))
        os.mkdir(TRACE + '/instances/' + GROUP)
        put('instances/%s/buffer_size_kb' % GROUP, '16384')
        put('instances/%s/trace_clock' % GROUP, 'mono')
        put('instances/%s/events/%s/enable' % (GROUP, GROUP), '1')
        # the trace also has what ran after each run: these have no grant
        measure({'c': c}, 30, 20)
        seen = open('%s/instances/%s/trace' % (TRACE, GROUP)).read()
        runs = [r for r in runs_of(seen) if any(e[2] == 'grant' for e in r)]
    finally:
        remove_probes()
    result['phases'] = summary(runs[3:])
    result['processes'] = processes(runs[3:])
    result['load'].append(load())
    result['took'] = time.time() - result['began']
    for p in result['phases']:
        print('%7.2f %7.2f %7.2f  %-18s %s' % (p['at'], p['took'], p['least'], p['process'], p['phase']))
    for p in result['processes']:
        print('%7s %7s  %-22s %s; %s' % (*('-' if p[k] is None else '%.2f' % p[k] for k in ('at', 'ready')), p['process'], p['for'], p['apart']))
    with open(sys.argv[1], 'w') as f:
        json.dump(result, f, indent=1)


main()
