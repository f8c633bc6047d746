#!/usr/bin/env python3
"""Compares gpuhelper with what people use today, in pairs, each relative to a bare exec of the same runtime.

usage: bench.py OUT.json [ITEM...]    (bench.sh runs it in tests/lib/sandbox.sh --gpu nvidia-8gpu)
"""
import json, sys, time
import items
from stage import Stage, count, load, pairs_of


def main():
    out, wanted = sys.argv[1], sys.argv[2:]
    stage = Stage()
    found, absent = items.peers()
    for name in absent:
        print('# SKIP %s: it is not installed here' % name, flush=True)
    result = {'items': {}, 'absent': absent, 'load': [load()], 'began': time.time()}
    for group in items.ALL:
        if wanted and group.__name__ not in wanted:
            continue
        for key, label, base, commands in group(stage, found):
            entry = {'label': label, 'over': {}, 'programs': {}}
            for name, c in commands.items():
                # each command alone with the base, because on a busy machine a long run slows the next ones down
                entry['over'][name] = o = pairs_of(base, c)
                try:
                    entry['programs'][name] = count(c)
                except RuntimeError as e:
                    # with 300,000 calls a look can be so slow that the helper's time is over
                    entry['programs'][name] = {}
                    print('# %s, %s: no counts: %s' % (label, name, e))
                print('%-44s %-24s %7.2f ms (%.2f to %.2f; by minima %.2f), user %.2f, system %.2f, %d calls' % (
                    label, name, o['wall'], o['least'], o['most'], o['minima'], o['user'], o['system'],
                    sum(p['calls'] for n, p in entry['programs'][name].items() if not n.startswith('runc'))), flush=True)
            result['items'][key] = entry
    result['load'].append(load())
    result['took'] = time.time() - result['began']
    with open(out, 'w') as f:
        json.dump(result, f, indent=1)


main()
