#!/usr/bin/env python3
"""usage: check_profile.py PROFILE.json [gpu]: children add up to their parents, in every result."""
import json
import sys


def close(a, b, what):
    assert abs(a - b) <= 1e-3 * abs(b) + 1, (what, a, b)


def total(tally):
    return tally['total'] if tally else 0


MOST_SAMPLES = 256  # that a tally keeps (src/prof/running_stats.h)


def check(result, gpu):
    p = result['profile']
    time = 'device' if gpu else 'host'
    assert (p['gpu'] is not None) == gpu, 'kernels were not traced' if gpu else 'a GPU on a CPU'
    steps = p['steps']
    for phase in p['phases']:
        name = phase['phase']
        ops = [op for op in p['ops'] if op['phase'] == name]
        assert ops, name
        parent = phase['gpu']['work'] if gpu else phase['nodes']
        close(sum(total(op[time]) for op in ops), parent, f'ops of {name}')
        assert parent <= phase['wall']['total'] * (1.001 if not gpu else 1.2), name
        kernels = [k for k in p['kernels'] if k['row'] is not None and p['ops'][k['row']]['phase'] == name]
        close(sum(total(k['time']) for k in kernels), parent, f'kernels of {name}')
        assert phase['wall']['n'] == steps and len(phase['samples']) == min(steps, MOST_SAMPLES)
        if steps <= MOST_SAMPLES:
            close(sum(phase['samples']), phase['wall']['total'], f'samples of {name}')
        for names in 'phase_kernels', 'phase_ops':
            close(sum(total(k['time']) for k in p[names] if k['phase'] == name), parent, f'{names} of {name}')
        nodes = sum(op[time]['n'] for op in ops if op[time])
        assert sum(o['time']['n'] for o in p['phase_ops'] if o['phase'] == name) == nodes, name
        for op in ops:
            assert op['source'].startswith('src/ops/') and op['line'] > 0, op
            if not gpu:
                assert op['host']['n'] == op['nodes'] * steps, op
        check_ranges([r for r in p['ranges'] if r['phase'] == name], gpu, parent, phase['wall']['total'], name)
    assert sum(total(ph['wall']) for ph in p['phases']) <= total(p['step']) * 1.001
    close(sum(total(k['time']) for k in p['kernel_names']), sum(total(k['time']) for k in p['kernels']), 'names')
    ops_of_step = {o['name']: o['time']['n'] for o in p['phase_ops'] if o['phase'] == 'step'}
    for o in p['phase_ops']:
        if o['phase'] != 'step':
            ops_of_step[o['name']] -= o['time']['n']
    assert not any(ops_of_step.values()), ops_of_step
    assert all(len(set(k['name'] for k in p['phase_kernels'] if k['phase'] == f)) == sum(k['phase'] == f for k in p['phase_kernels'])
               for f in ('forward', 'backward', 'optimizer')), 'a name twice in a phase'
    if not gpu:
        names = sum(k['time']['n'] for k in p['phase_kernels'])
        assert p['host_gaps']['n'] == names - steps * len(p['phases']), (p['host_gaps'], names)
        assert all('(auto)' not in k['name'] for k in p['kernel_names'])
        assert total(p['host_gaps']) < sum(total(ph['wall']) - ph['nodes'] for ph in p['phases'])
    if gpu:
        g = p['gpu']
        assert p['host_gaps']['n'] > 0 and p['host_gaps']['longest_after'], p['host_gaps']
        assert g['dropped'] == 0, g['dropped']
        assert g['unattributed_time'] < 0.005 * (g['compute'] + g['copies']), g
        busy = sum(ph['gpu']['busy'] for ph in p['phases'])
        span = sum(total(ph['gpu']['span']) for ph in p['phases'])
        close(span - busy, total(g['gaps']), 'gaps')
    forward = [op for op in p['ops'] if op['phase'] == 'forward']
    launched = sum(k['time']['n'] for k in p['kernels'] if k['row'] is not None and p['ops'][k['row']]['phase'] == 'forward')
    attention = sum(total(op[time]) for op in forward if op['part'])
    assert 0 < attention < sum(total(op[time]) for op in forward)
    print(f"{result['exec']} {result['precision']}: {launched / steps:.0f} kernels in forward, attention "
          f"{100 * attention / sum(total(op[time]) for op in forward):.1f} %, step {result['step']['mean_ms']:.3f} ms, "
          f"profiled {p['step']['avg'] * 1e-6:.3f} ms")


def check_ranges(ranges, gpu, work, wall, name):
    def own(r):
        return r['device'] if gpu else total(r['host'])
    outer = sum(own(r) for r in ranges if r['level'] == 0)
    if gpu:
        close(outer, work, f'ranges of {name}')
    else:
        assert work * 0.999 <= outer <= wall * 1.001, (name, work, outer, wall)
    for parent in ranges:
        inner = [r for r in ranges if r['level'] == parent['level'] + 1 and r['name'].startswith(parent['name'] + '/')]
        if inner:
            assert sum(own(r) for r in inner) <= own(parent) * 1.001 + 1, (parent['name'], name)


def main(path, device='cpu'):
    with open(path) as file:
        results = json.load(file)['results']
    assert results
    for result in results:
        if result['status'] == 'unsupported':
            continue
        assert result['status'] == 'ok', result.get('message')
        check(result, device == 'gpu')


main(*sys.argv[1:])
