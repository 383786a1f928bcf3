#!/usr/bin/env python3
"""usage: weights_file.py EXPORT OUT [CHANGE...]: the parameters of an export as a model's file of weights, changed.

    add:NAME:2x3    a tensor of zeros      copy:NEW:OLD     a tensor once more     del:NAME    without it
    bare:PREFIX     names without it       cut:N            the last N bytes are missing
    tail:N          N bytes too many       gap:N            N bytes of no tensor before the last one
    overlap         the last tensor begins where the one before it begins
"""
import json
import math
import struct
import sys


def read_parameters(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header, tensors = json.loads(data[8:8 + length]), {}
    for name, entry in header.items():
        begin, end = entry.get("data_offsets", (0, 0))
        if name.startswith("param."):
            tensors[name[len("param."):]] = entry["shape"], data[8 + length + begin:8 + length + end]
    return tensors


def change(tensors, kind, *words):
    if kind == "add":
        shape = [int(n) for n in words[1].split("x")]
        tensors[words[0]] = shape, bytes(4 * math.prod(shape))
    elif kind == "copy":
        tensors[words[0]] = tensors[words[1]]
    elif kind == "del":
        del tensors[words[0]]
    elif kind == "bare":
        changed = {name.removeprefix(words[0]): tensor for name, tensor in tensors.items()}
        tensors.clear()
        tensors.update(changed)


def lay_out(tensors):
    header, blobs, offset = {}, [], 0
    for name, (shape, blob) in tensors.items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + len(blob)]}
        blobs.append(blob)
        offset += len(blob)
    return header, b"".join(blobs)


def spoil(header, data, kind, *words):
    last, before = list(header.values())[-1]["data_offsets"], list(header.values())[-2]["data_offsets"]
    n = int(words[0]) if words and words[0].isdigit() else 0
    if kind == "cut":
        return data[:-n]
    if kind == "tail":
        return data + bytes(n)
    if kind == "gap":
        last[:] = [last[0] + n, last[1] + n]
        return data + bytes(n)
    if kind == "overlap":
        size = last[1] - last[0]
        last[:] = [before[0], before[0] + size]
    return data


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    changes = [text.split(":") for text in sys.argv[3:]]
    tensors = read_parameters(sys.argv[1])
    for words in changes:
        change(tensors, *words)
    header, data = lay_out(tensors)
    for words in changes:
        data = spoil(header, data, *words)
    text = json.dumps(header).encode()
    with open(sys.argv[2], "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


main()
