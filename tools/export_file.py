"""Reads and writes the safetensors files that verify_torch.py checks: 8-byte length, JSON header, raw data."""
import json
import math
import struct

import torch

DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16,
    "I64": torch.int64, "I32": torch.int32,
}


class Malformed(Exception):
    pass


def read_export(path):
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < 8:
        raise Malformed("shorter than its 8-byte length field")
    (length,) = struct.unpack("<Q", data[:8])
    if length > len(data) - 8:
        raise Malformed(f"header of {length} bytes in a file of {len(data)}")
    try:
        header = json.loads(data[8:8 + length])
    except ValueError as error:
        raise Malformed(f"header is not JSON: {error}") from None
    if not isinstance(header, dict) or not isinstance(header.get("__metadata__", {}), dict):
        raise Malformed("header is not a JSON object")
    metadata = header.pop("__metadata__", {})
    body = memoryview(data)[8 + length:]
    return metadata, {name: read_tensor(name, entry, body) for name, entry in header.items()}


def read_tensor(name, entry, body):
    try:
        dtype, shape, (begin, end) = DTYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
    except (KeyError, TypeError, ValueError):
        raise Malformed(f"tensor {name}: entry {entry}") from None
    size = torch.empty(0, dtype=dtype).element_size()
    if not 0 <= begin <= end <= len(body) or end - begin != size * math.prod(shape):
        raise Malformed(f"tensor {name}: {shape} of {entry['dtype']} does not fit bytes {begin} to {end}")
    return torch.frombuffer(bytearray(body[begin:end]), dtype=dtype).reshape(shape)


def write_export(path, metadata, tensors):
    names = {torch_type: name for name, torch_type in DTYPES.items()}
    header, blobs, offset = {"__metadata__": metadata}, [], 0
    for name, tensor in tensors.items():
        blob = bytes(tensor.detach().contiguous().flatten().view(torch.uint8).tolist())
        header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [offset, offset + len(blob)]}
        blobs.append(blob)
        offset += len(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))
