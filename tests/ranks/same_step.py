"""Are two exported steps the same within rounding? usage: same_step.py ONE OTHER BOUND [bits]

Loss, gradients and updated parameters by their relative error; tokens, targets and parameters to the bit. With "bits" everything is.
"""
import array, json, math, struct, sys


def tensors(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    return {name: (entry["dtype"], entry["shape"], data[8 + size + entry["data_offsets"][0]:8 + size + entry["data_offsets"][1]])
            for name, entry in header.items() if name != "__metadata__"}


def error(one, other):
    a, b = array.array("f", one), array.array("f", other)
    off = math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b)))
    return off / max(math.sqrt(sum(x * x for x in a)), 1e-30)


one, other, bound = tensors(sys.argv[1]), tensors(sys.argv[2]), float(sys.argv[3])
exact = "bits" in sys.argv[4:]
assert one.keys() == other.keys(), one.keys() ^ other.keys()
for name in one:
    assert one[name][:2] == other[name][:2], (name, one[name][:2], other[name][:2])
    if one[name][2] == other[name][2]:
        continue
    assert not exact and name.split(".")[0] not in ("tokens", "targets", "param"), f"{name}: other bits"
    if one[name][0] != "F32":
        continue  # logits of 16 bit: what they lead to is compared
    off = error(one[name][2], other[name][2])
    assert off <= bound, f"{name}: off by {off:.2e}"
