#!/usr/bin/env python3
"""usage: check_snapshot.py FILE: a memory snapshot is whole: its events replayed give its segments."""
import json
import pickle
import sys

path = sys.argv[1]
with open(path, "rb") as file:
    snapshot = json.load(file) if path.endswith(".json") else pickle.load(file)
events = snapshot["device_traces"][0]
live, segments, requested, peak = {}, {}, None, 0
for event in events:
    address, size = event["addr"], event["size"]
    if requested is not None:
        assert event["action"] == "free_completed" and address == requested, event
    requested = address if event["action"] == "free_requested" else None
    if event["action"] == "segment_alloc":
        segments[address] = size
    elif event["action"] == "alloc":
        assert any(a <= address and address + size <= a + n for a, n in segments.items()), event
        assert address not in live, event
        live[address] = size
        peak = max(peak, sum(live.values())) if len(events) < 20000 else 0
        assert event["category"] and all(f["name"] and f["filename"] for f in event["frames"])
        assert not any("_start" in f["name"] or f["filename"].startswith("/") for f in event["frames"])
    elif event["action"] == "free_completed":
        assert live.pop(address) == size, event
ordered = sorted(live.items())
assert all(a + n <= b for (a, n), (b, _) in zip(ordered, ordered[1:])), "blocks overlap"
times = [event["time_us"] for event in events]
assert times == sorted(times), "time goes back"
assert any(event.get("category") == "unknown" for event in events)
assert 0 < max(segments) < 2**53

final = {}
for segment in snapshot["segments"]:
    at = segment["address"]
    assert segments[at] == segment["total_size"]
    for block in segment["blocks"]:
        assert block["address"] == at
        at += block["size"]
        if block["state"] == "active_allocated":
            final[block["address"]] = block["size"]
    assert at == segment["address"] + segment["total_size"], "blocks do not tile their segment"
assert final == live, "segments are not what the events leave"
print(f"{len(events)} events, {len(live)} blocks at the end, peak {peak}")
