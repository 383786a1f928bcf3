#!/usr/bin/env python3
"""usage: check_csv.py FOLDER PREFIX: reads the CSV files as a script written for nsys does."""
import csv
import sys

SUM = ['Avg (ns)', 'Med (ns)', 'Min (ns)', 'Max (ns)', 'StdDev (ns)']
HEADERS = {
    'cuda_gpu_kern_sum': ['Time (%)', 'Total Time (ns)', 'Instances', *SUM, 'Name'],
    'cuda_gpu_kern_sum_base': ['Time (%)', 'Total Time (ns)', 'Instances', *SUM, 'Name'],
    'cuda_api_sum': ['Time (%)', 'Total Time (ns)', 'Num Calls', *SUM, 'Name'],
    'cuda_gpu_mem_time_sum': ['Time (%)', 'Total Time (ns)', 'Count', *SUM, 'Operation'],
    'cuda_gpu_mem_size_sum': ['Total (MB)', 'Count', 'Avg (MB)', 'Med (MB)', 'Min (MB)', 'Max (MB)', 'StdDev (MB)', 'Operation'],
    'nvtx_pushpop_sum': ['Time (%)', 'Total Time (ns)', 'Instances', *SUM, 'Range'],
    'nvtx_gpu_proj_sum': ['Range', 'Style', 'Total Proj Time (ns)', 'Total Range Time (ns)', 'Range Instances', 'Proj Avg (ns)',
                          'Proj Med (ns)', 'Proj Min (ns)', 'Proj Max (ns)', 'Proj StdDev (ns)', 'Total GPU Ops', 'Avg GPU Ops',
                          'Avg Range Lvl', 'Avg Num Child'],
    'osrt_sum': ['Time (%)', 'Total Time (ns)', 'Num Calls', *SUM, 'Name'],
    'cuda_gpu_trace': ['Start (ns)', 'Duration (ns)', 'CorrId', 'GrdX', 'GrdY', 'GrdZ', 'BlkX', 'BlkY', 'BlkZ', 'Reg/Trd',
                       'StcSMem (MB)', 'DymSMem (MB)', 'Bytes (MB)', 'Throughput (MBps)', 'SrcMemKd', 'DstMemKd', 'Device', 'Ctx',
                       'Strm', 'Name'],
}


def read(folder, prefix, report):
    path = f'{folder}/{prefix}_{report}.csv'
    with open(path, 'rb') as file:
        raw = file.read()
    assert raw.endswith(b'\n') and b'\r' not in raw, path
    assert raw.split(b'\n')[0].decode() == ','.join(HEADERS[report]), (path, raw.split(b'\n')[0])
    with open(path, newline='') as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        assert None not in row and None not in row.values(), (path, row)
    return rows


def check_sum(rows, count, report):
    times = [float(row['Total Time (ns)']) for row in rows]
    assert times == sorted(times, reverse=True), f'{report} is not sorted'
    if rows:
        share = sum(float(row['Time (%)']) for row in rows)
        assert abs(share - 100) < 0.06 * len(rows) + 0.01, (report, share)
    for row in rows:
        n, low, high = int(row[count]), float(row['Min (ns)']), float(row['Max (ns)'])
        mean, middle = float(row['Avg (ns)']), float(row['Med (ns)'])
        assert n > 0 and low <= mean <= high + 0.1 and low <= middle <= high + 0.1, (report, row)
        assert abs(mean * n - float(row['Total Time (ns)'])) <= 0.06 * n + 1, (report, row)
        assert float(row['StdDev (ns)']) <= high - low + 0.1, (report, row)


def main(folder, prefix):
    table = {report: read(folder, prefix, report) for report in HEADERS}
    for report, count in [('cuda_gpu_kern_sum', 'Instances'), ('cuda_gpu_kern_sum_base', 'Instances'), ('cuda_api_sum', 'Num Calls'),
                          ('cuda_gpu_mem_time_sum', 'Count'), ('nvtx_pushpop_sum', 'Instances'), ('osrt_sum', 'Num Calls')]:
        check_sum(table[report], count, report)
    kernels = table['cuda_gpu_kern_sum']
    bases = table['cuda_gpu_kern_sum_base']
    assert kernels and len(bases) <= len(kernels)
    total = sum(int(row['Total Time (ns)']) for row in kernels)
    assert abs(sum(int(row['Total Time (ns)']) for row in bases) - total) <= len(kernels) + len(bases)
    assert sum(int(row['Instances']) for row in bases) == sum(int(row['Instances']) for row in kernels)
    ranges = {row['Range'].lstrip(':'): row for row in table['nvtx_pushpop_sum']}
    assert all(row['Range'].startswith(':') for row in table['nvtx_pushpop_sum'])
    assert {'measure_loop', 'step', 'FORWARD'} <= ranges.keys(), ranges.keys()
    projected = {row['Range'].lstrip(':'): row for row in table['nvtx_gpu_proj_sum']}
    assert 'FORWARD' in projected
    for name, row in projected.items():
        assert row['Style'] == 'PushPop' and float(row['Total GPU Ops']) > 0, row
        assert abs(float(row['Avg GPU Ops']) * int(row['Range Instances']) - float(row['Total GPU Ops'])) < 1, row
    assert table['cuda_gpu_trace'] and all(int(row['Duration (ns)']) >= 0 and row['Name'] for row in table['cuda_gpu_trace'])
    print(f'{len(kernels)} kernels, {len(ranges)} ranges, {len(table["cuda_gpu_trace"])} rows of trace')


main(*sys.argv[1:])
