"""The linear layers of a step in fp8 as verify_torch.py recomputes them: operands rounded to 8 bits with scales, products
in the dtype of the reference."""
import torch
import torch.nn.functional as F

# Bits of the mantissa, the smallest exponent of a normal number, the largest number.
FORMATS = {"e4m3": (3, -6, 448.0), "e5m2": (2, -14, 57344.0)}
GRADIENTS = {"current": "e5m2", "delayed": "e5m2", "rowwise": "e4m3", "block": "e4m3"}
BLOCK = 128


def round_to(x, name):
    """The nearest number of the format, of two as near the even one; what is larger than all becomes the largest."""
    mantissa, least, most = FORMATS[name]
    exponent = torch.frexp(x.abs().clamp(min=2.0 ** least))[1] - 1
    step = torch.ldexp(torch.ones_like(x), exponent - mantissa)
    return ((x / step).round() * step).clamp(-most, most)


def spread(scale, shape):
    """A scale for each element, of scales for all, for rows or columns, or for blocks of 128."""
    for d in range(2):
        size, n = shape[d], scale.shape[d]
        if n not in (1, size):
            scale = scale.repeat_interleave(BLOCK, d).narrow(d, 0, size)
    return scale.expand(shape)


def pooled(x, high, wide):
    """The largest size in each block of high x wide elements; 0: of all rows (columns)."""
    rows, cols = x.shape
    high, wide = high or rows, wide or cols
    padded = F.pad(x.abs(), (0, -cols % wide, 0, -rows % high))
    return padded.reshape(-(-rows // high), high, -(-cols // wide), wide).amax((1, 3))


class Linears:
    """What linear layers of blocks do: `recipe` None as they are, otherwise as that recipe of fp8. `scales` are those of an
    export, by name; None: every tensor's own. `stacked`: q, k and v are quantized as one matrix, and so are w1 and w3."""

    def __init__(self, recipe=None, scales=None, stacked=True, layers=None):
        self.recipe, self.scales, self.stacked, self.layers = recipe, scales, stacked, layers
        self.found = {}  # the scales of the first step, by name

    def is_fp8(self, x, weights, where):
        if self.recipe is None or (self.layers and where.split(".")[-1] not in self.layers):
            return False
        sizes = (x.shape[0], x.shape[1], sum(w.shape[0] for w in weights) if self.stacked else weights[0].shape[0])
        return all(size % 16 == 0 for size in sizes)

    def quantize(self, x, name, number, role, transposed):
        """x as it is after rounding; `x` has its rows along the sum."""
        key = f"scale.{name}.{role}{'.transposed' if transposed else ''}{number}"
        if self.scales is not None:
            scale = self.scales[key].to(x)
        else:
            block, row = self.recipe == "block", self.recipe == "rowwise"
            high = BLOCK if block and role == "weights" else 1 if block or row else 0
            amax = pooled(x, high, BLOCK if block else 0)
            scale = torch.where(amax > 0, amax / FORMATS[self.format(role)][2], torch.ones_like(amax))
            self.found.setdefault(key, scale.float())
        scale = spread(scale, x.shape)
        return round_to(x / scale, self.format(role)) * scale

    def format(self, role):
        return GRADIENTS[self.recipe] if role == "gradients" else "e4m3"

    def product(self, x, w, where, number):
        """x w^T; both gradients are products of 8-bit operands, too."""
        linears = self

        class Product(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, w):
                ctx.save_for_backward(x, w)
                return linears.quantize(x, where, "", "activations", False) @ linears.quantize(w, where, number, "weights", False).T

            @staticmethod
            def backward(ctx, dy):
                x, w = ctx.saved_tensors
                dx = linears.quantize(dy, where, number, "gradients", False) @ linears.quantize(w.T, where, number, "weights", True).T
                dw = linears.quantize(dy.T, where, number, "gradients", True) @ linears.quantize(x.T, where, "", "activations", True).T
                return dx, dw

        return Product.apply(x, w)

    def __call__(self, x, weights, where, stored):
        """stored(x w^T) of each of the weights. `where`: "layers.0.attn.qkv"."""
        rows = x.reshape(-1, x.shape[-1])
        weights = [stored(w) for w in weights]
        if not self.is_fp8(rows, weights, where):
            return [stored(F.linear(x, w)) for w in weights]
        if self.stacked:
            out = stored(self.product(rows, torch.cat(weights), where, "")).split([w.shape[0] for w in weights], -1)
        else:
            several = len(weights) > 1
            out = [stored(self.product(rows, w, where, f".{i}" if several else "")) for i, w in enumerate(weights)]
        return [y.reshape(*x.shape[:-1], -1) for y in out]
