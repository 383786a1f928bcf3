#!/usr/bin/env python3
"""usage: check_trace.py TRACE STEPS: what HTA (hta/common/trace_parser.py) and Perfetto ask of a trace."""
import gzip
import json
import re
import sys
from collections import Counter, defaultdict


def read(path):
    with (gzip.open if path.endswith('.gz') else open)(path, 'rt') as file:
        return file.read()


def is_gpu(event):
    return event.get('cat') in ('kernel', 'gpu_memcpy', 'gpu_memset')


def check_head(text, trace):
    assert isinstance(trace, dict) and isinstance(trace['traceEvents'], list)
    assert trace['schemaVersion'] == 1 and trace['baseTimeNanoseconds'] > 10**18
    # HTA looks for the rank line by line, with this expression
    assert any(re.search(r'"rank":\s+(\d+)', line) for line in text.splitlines()), 'no rank'


def check_keys(events):
    for e in events:
        assert e['ph'] in 'XMCsfi' and 'pid' in e and 'tid' in e and 'name' in e and 'ts' in e, e
        if e['ph'] != 'X':
            continue
        assert e['dur'] >= 0 and e['cat'] and isinstance(e['args'], dict), e
        assert ('stream' in e['args']) == is_gpu(e), e
        if is_gpu(e):
            assert e['args']['stream'] > 0 and 'correlation' in e['args'], e


def check_nesting(events):
    """Perfetto drops a slice that begins within another on its track and ends after it."""
    tracks = defaultdict(list)
    for e in events:
        if e['ph'] == 'X':
            ns = round(e['ts'] * 1000)
            tracks[e['pid'], e['tid']].append((ns, ns + round(e['dur'] * 1000), e['name']))
    for track, slices in tracks.items():
        begins = [s[0] for s in slices]
        if begins != sorted(begins):
            slices.sort(key=lambda s: (s[0], -s[1]))
        open_ends = []
        for begin, end, name in slices:
            while open_ends and open_ends[-1] <= begin:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1], (track, name, begin, end, open_ends[-1])
            open_ends.append(end)
    named = {(e['pid'], e['tid']) for e in events if e['ph'] == 'M' and e['name'] == 'thread_name'}
    assert tracks.keys() <= named, tracks.keys() - named


def check_correlations(events):
    calls = Counter(e['args']['correlation'] for e in events if e['ph'] == 'X' and e['cat'] in ('cuda_runtime', 'cuda_driver')
                    and e['args'].get('correlation'))
    assert all(n == 1 for n in calls.values()), calls.most_common(3)
    pairs = Counter((e['args']['correlation'], e['args'].get('graph node id')) for e in events if e['ph'] == 'X' and is_gpu(e))
    assert all(n == 1 for n in pairs.values()), pairs.most_common(3)
    assert all(correlation in calls for correlation, _ in pairs), 'a kernel that nobody launched'


def check_flows(events):
    """Each end of an arrow lies at the begin of a slice on its track."""
    begins = {(e['pid'], e['tid'], e['ts']) for e in events if e['ph'] == 'X'}
    starts = {e['id'] for e in events if e['ph'] == 's'}
    ends = [e['id'] for e in events if e['ph'] == 'f']
    for e in events:
        if e['ph'] in 'sf':
            assert (e['pid'], e['tid'], e['ts']) in begins, e
            assert e['ph'] == 's' or e['bp'] == 'e', e
    assert set(ends) <= starts and len(ends) == len(set(ends))
    return len(ends)


def check_steps(events, steps):
    found = [int(re.match(r'ProfilerStep\s*#\s*(\d+)', e['name']).group(1)) for e in events
             if e['ph'] == 'X' and e['name'].startswith('ProfilerStep')]
    assert sorted(found) == list(range(steps + 1)), found  # and one that HTA leaves out
    phases = Counter(e['name'] for e in events if e.get('cat') == 'user_annotation' and e['ph'] == 'X')
    assert phases['forward'] == steps, phases


def check_memory(events):
    counters = [e for e in events if e['ph'] == 'C']
    values = [e['args']['live bytes'] for e in counters]
    assert values and min(values) > 0 and len(set(values)) > 1, 'memory does not change'


def check_allocations(events):
    """With --source every op and allocation says where it is written, and the sums are right."""
    ops = [e for e in events if e['ph'] == 'X' and 'op' in e['args']]
    blocks = [e for e in events if e['ph'] == 'i']
    sourced = 'source' in ops[0]['args']
    assert bool(blocks) == sourced, 'allocations are told with --source'
    for e in ops + blocks if sourced else []:
        assert re.fullmatch(r'src/(ops|exec)(/\w+)+\.c', e['args']['source']) and e['args']['line'] > 0, e
    alive, total = {}, None
    for e in (e for e in events if e['ph'] in 'iC'):
        if e['ph'] == 'C':
            assert total is None or e['args']['live bytes'] == total, e
            continue
        args, size = e['args'], e['args']['Bytes']
        assert e['name'] == '[memory]' and (total is None or args['Total Allocated'] == total + size), e
        total = args['Total Allocated']
        if size < 0 and args['Addr'] in alive:
            assert alive.pop(args['Addr']) == (args['tensor'], -size), e
        elif size > 0:
            assert args['Addr'] not in alive, e
            alive[args['Addr']] = args['tensor'], size


def main(path, steps):
    text = read(path)
    trace = json.loads(text)
    events = trace['traceEvents']
    check_head(text, trace)
    check_keys(events)
    check_nesting(events)
    check_correlations(events)
    check_steps(events, int(steps))
    check_memory(events)
    check_allocations(events)
    flows = check_flows(events)
    print(f'{len(events)} events, {sum(map(is_gpu, events))} on a GPU, {flows} flows')


main(*sys.argv[1:])
