#!/usr/bin/env python3
"""Twenty creates wait for one GPU: how much processor time they take meanwhile, and how long the GPU is unused when its
container ends.

usage: waiting.py OUT.json    (in tests/lib/sandbox.sh --gpu nvidia-8gpu)

The runtime is runtime.c.  A hand-over begins with «delete» of the container that had the GPU, whose process has ended
by then, and ends when the next create is over.  The processor time is that of the wrappers and of the helpers that they
start: what twenty take in some seconds more, so without their start.
"""
import json, os, resource, statistics, subprocess, sys, time
import items
from stage import DEVICES, ENV, ROOT, ROOTFS, TEAM, W, WRAPPER, Stage, end_processes, load, remove_cgroup
from lib import write

WAITERS = 20
HAND_OVERS = 40
SHORT, LONG = 5, 165		# seconds; the two differ by two rounds of asking (base/times.h, ASK_MS_MAX)


class Create:
    """One «create», which may have to wait."""
    made = 0

    def __init__(self, text):
        Create.made += 1
        self.id = 'bench-%d' % Create.made
        self.cgroup = '%s/garden/%s' % (DEVICES, self.id)
        self.dir = '%s/w/%s' % (W, self.id)
        os.makedirs(self.cgroup)
        write(self.dir + '/config.json', text)
        self.p = subprocess.Popen([WRAPPER, '--root', ROOT, 'create', '--bundle', self.dir, self.id], cwd=self.dir, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=open(self.dir + '/err', 'w'),
                                  env=dict(ENV, BENCH_CGROUP=self.cgroup + '/cgroup.procs', BENCH_ROOT=ROOTFS))

    def end_process(self):
        """Ends what the runtime left in the container."""
        end_processes(self.cgroup)

    def delete(self):
        subprocess.run([WRAPPER, '--root', ROOT, 'delete', self.id], env=ENV, cwd=W, check=True, stdin=subprocess.DEVNULL)

    def give_up(self):
        self.p.kill()
        self.p.wait()
        self.end_process()
        remove_cgroup(self.cgroup)


def first_over(creates, seconds=30):
    """The first of these that is over; it must have succeeded."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for c in creates:
            if c.p.poll() is not None:
                assert c.p.returncode == 0, open(c.dir + '/err').read()
                return c
        time.sleep(0.0005)
    raise RuntimeError('no create has ended for %d s: %s' % (seconds, open(creates[0].dir + '/err').read()))


def holder_of(text):
    c = Create(text)
    return first_over([c])


def processor_time(text, seconds):
    """Milliseconds of processor time that the waiting creates take in so many seconds, and to start."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    crowd = [Create(text) for _ in range(WAITERS)]
    time.sleep(seconds)
    assert all(c.p.poll() is None for c in crowd), 'a create did not wait'
    for c in crowd:
        c.give_up()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1000


def hand_overs(text, holder):
    """Milliseconds of each hand-over, while as many wait."""
    took, crowd = [], [Create(text) for _ in range(WAITERS)]
    time.sleep(3)
    for _ in range(HAND_OVERS):
        holder.end_process()
        begin = time.monotonic()
        holder.delete()
        after = first_over(crowd)
        took.append((time.monotonic() - begin) * 1000)
        remove_cgroup(holder.cgroup)
        crowd.remove(after)
        holder = after
        crowd.append(Create(text))
        time.sleep(0.7)
    for c in crowd:
        c.give_up()
    return took, holder


def main():
    stage = Stage()
    os.makedirs(W + '/w')
    stage.host.policies(t10=items.CALLER + 'gpus = ( { vendor = "nvidia"; count = 1; devices = [ "0" ]; wait = 600; } );\n')
    text = open(stage.template(TEAM + ['GPUHELPER_GPUS=1'])).read()
    result = {'load': [load()], 'began': time.time()}
    took, holder = hand_overs(text, holder_of(text))
    short, long = processor_time(text, SHORT), processor_time(text, LONG)
    holder.end_process()
    holder.delete()
    result.update(waiters=WAITERS, rate=(long - short) / (LONG - SHORT), hand_over=took)
    result['load'].append(load())
    result['took'] = time.time() - result['began']
    print('%d waiters: %.1f ms of processor time a second; hand-over %.1f ms in the median (%.1f to %.1f)' % (
        WAITERS, result['rate'], statistics.median(took), min(took), max(took)))
    write(sys.argv[1], json.dumps(result, indent=1))


main()
