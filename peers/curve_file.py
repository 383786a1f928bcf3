"""Reads the file that `roofstep precision --curve N --peer torch` writes (docs/formats.md): a start, and the batches."""
import json
import math
import struct

SIZES = ("d_model", "d_ff", "num_layers", "num_heads", "vocab", "ctx", "batch", "steps", "seed")
BYTES = {"F32": 4, "I32": 4}


class Malformed(Exception):
    pass


class CurveFile:
    """Its sizes as `args` has them, over how many steps the learning rate rises, the text, and its tensors."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            length = struct.unpack("<Q", file.read(8))[0] if size >= 8 else size
            if length > size - 8:
                raise Malformed(f"{path}: not a safetensors file")
            self.read_header(file.read(length))
        self.first, self.size = 8 + length, size

    def read_header(self, text):
        try:
            self.tensors = json.loads(text)
            about = self.tensors.pop("__metadata__")
            self.sizes = {name: int(about[name]) for name in SIZES}
            self.sizes.update(lr=float(about["lr"]), clip=float(about["clip"]), size=str(about["size"]))
            self.warmup, self.last = int(about["lr_warmup"]), int(about["last"])
            self.text = json.loads(about["text"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise Malformed(f"{self.path}: not the start of a curve: {type(error).__name__} {error}") from None
        if min(self.sizes[name] for name in SIZES[:-1]) < 1 or self.warmup < 1 or not 1 <= self.last <= self.sizes["steps"]:
            raise Malformed(f"{self.path}: not the start of a curve: {self.sizes}")

    def names(self):
        """Of the parameters."""
        return [name[len("param."):] for name in self.tensors if name.startswith("param.")]

    def read(self, name, kind):
        """Bytes and shape of a tensor of this dtype."""
        try:
            entry = self.tensors[name]
            shape, (begin, end), dtype = [int(n) for n in entry["shape"]], entry["data_offsets"], entry["dtype"]
        except (KeyError, TypeError, ValueError):
            raise Malformed(f"{self.path}: no tensor {name}") from None
        if dtype != kind or end - begin != BYTES[kind] * math.prod(shape) or not 0 <= begin <= end <= self.size - self.first:
            raise Malformed(f"{self.path}: tensor {name} is {dtype} {shape} in bytes {begin} to {end}")
        with open(self.path, "rb") as file:
            file.seek(self.first + begin)
            return bytearray(file.read(end - begin)), shape
