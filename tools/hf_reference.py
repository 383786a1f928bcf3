"""Weights that anyone can make again, digests of tensors, and the file of recorded references. Needs no PyTorch.

A digest of a tensor is its L2 norm, its sum and its product with a fixed pseudo-random vector of +1 and -1: two tensors
whose difference has the norm d have products that differ by about d."""
import array
import json
import math
import operator
import struct
import zlib

MASK = (1 << 64) - 1
SIGNS = []


def mix(x):
    """splitmix64"""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return x ^ x >> 31


def is_embedding(name):
    return name.endswith(("embed_tokens.weight", "wte.weight", "wpe.weight", "embed_in.weight"))


def name_in_file(model_type, name):
    """Version 5 of transformers calls NeoX's head lm_head in the model and embed_out in its files."""
    return "embed_out.weight" if model_type == "gpt_neox" and name == "lm_head.weight" else name


def make_weights(name, shape):
    """Values for the tensor `name` as an array of floats: norms about 1, biases about 0, nothing exactly so."""
    start = zlib.crc32(name.encode()) << 32
    amplitude, middle = 0.25, 1.0 if name.endswith("weight") else 0.0
    if len(shape) == 2:
        amplitude, middle = 0.4 if is_embedding(name) else math.sqrt(6 / sum(shape)), 0.0
    scale = amplitude / (1 << 63)
    return array.array("f", [middle + scale * (mix(start + i) - (1 << 63)) for i in range(math.prod(shape))])


def write_weights(path, shapes):
    """A safetensors file of made weights."""
    header, blobs, offset = {}, [], 0
    for name, shape in shapes.items():
        blob = make_weights(name, shape).tobytes()
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [offset, offset + len(blob)]}
        blobs.append(blob)
        offset += len(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def read_floats(path):
    """Metadata and every F32 tensor of an export, as (shape, array)."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    metadata, tensors = header.pop("__metadata__", {}), {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        if entry["dtype"] == "F32":
            tensors[name] = entry["shape"], array.array("f", data[8 + length + begin:8 + length + end])
    return metadata, tensors


def signs(n):
    while len(SIGNS) < n:
        bits = mix(len(SIGNS) + 1)
        SIGNS.extend(1.0 if bits >> i & 1 else -1.0 for i in range(64))
    return SIGNS[:n]


def digest(values):
    """Of a sequence of numbers."""
    return [math.sqrt(sum(map(operator.mul, values, values))), math.fsum(values),
            sum(map(operator.mul, values, signs(len(values))))]


def moved(before, after, free):
    """What an optimizer added to each element, 0 for those that may go either way."""
    difference = list(map(operator.sub, after, before))
    for i in free:
        difference[i] = 0.0
    return difference


def far(ours, recorded, elements, tolerance):
    """By how much more than allowed digests differ, as a factor; below 1 is near. The norm of a difference bounds that of
    the norms, times sqrt(n) that of the sums; the product with random signs is within 5 times it but once in a million."""
    room = tolerance * recorded[0]
    factors = (1, math.sqrt(elements), 5)
    worst = max(abs(a - b) / (factor * room) if room else float(a != b)
                for a, b, factor in zip(ours, recorded, factors))
    return worst if math.isfinite(worst) else math.inf


def read_references(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def write_reference(path, reference):
    """Replaces the reference of that name, or adds it; the file is sorted by name."""
    try:
        others = [other for other in read_references(path) if other["name"] != reference["name"]]
    except FileNotFoundError:
        others = []
    with open(path, "w", encoding="utf-8") as file:
        for one in sorted([*others, reference], key=lambda item: item["name"]):
            file.write(json.dumps(one, separators=(",", ":")) + "\n")
