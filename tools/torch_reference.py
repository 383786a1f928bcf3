"""The project's model and its training steps in PyTorch, in any dtype: what verify_torch.py holds an export to."""
import math

import torch
import torch.nn.functional as F

from fp8_reference import Linears


def shapes(dim):
    C, D_ff, V = dim["d_model"], dim["d_ff"], dim["vocab"]
    out = {"token_embedding": (V, C)}
    for i in range(dim["num_layers"]):
        out[f"layers.{i}.ln1"] = (C,)
        for name in ("q_proj", "k_proj", "v_proj", "output_proj"):
            out[f"layers.{i}.attn.{name}"] = (C, C)
        out[f"layers.{i}.ln2"] = (C,)
        out[f"layers.{i}.ffn.w1"] = (D_ff, C)
        out[f"layers.{i}.ffn.w2"] = (C, D_ff)
        out[f"layers.{i}.ffn.w3"] = (D_ff, C)
    out["ln_final"] = (C,)
    out["lm_head"] = (V, C)
    return out


def rmsnorm(x, w):
    return w * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)


def rope(x):
    """Turns the pair (2i, 2i+1) of token t by t * 10000^(-2i/D). x is [B, H, T, D]."""
    T, D = x.shape[-2:]
    angle = torch.outer(torch.arange(T, dtype=torch.float64, device=x.device),
                        10000.0 ** (-torch.arange(0, D, 2, dtype=torch.float64, device=x.device) / D))
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)


def exact(x):
    return x


def linear(x, w, stored):
    return stored(F.linear(x, stored(w)))


def attention(x, p, prefix, H, stored, materialised, linears):
    """`materialised`: scores are a tensor of their own, as in all but the flash kinds."""
    B, T, C = x.shape
    qkv = linears(x, [p[f"{prefix}.{name}_proj"] for name in "qkv"], f"{prefix}.qkv", stored)
    q, k, v = (y.view(B, T, H, C // H).transpose(1, 2) for y in qkv)
    scores = (stored if materialised else exact)(stored(rope(q)) @ stored(rope(k)).transpose(-2, -1)) / math.sqrt(C // H)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
    out = stored(stored(scores.masked_fill(future, -math.inf).softmax(-1)) @ v)
    return linears(out.transpose(1, 2).reshape(B, T, C), [p[f"{prefix}.output_proj"]], f"{prefix}.output", stored)[0]


def forward(p, tokens, dim, stored=exact, materialised=False, linears=Linears()):
    """The logits. `stored` is applied to whatever mixed precision keeps in 16 bit, `linears` computes the linear layers of
    the blocks."""
    x = p["token_embedding"][tokens]
    for i in range(dim["num_layers"]):
        h = stored(rmsnorm(x, p[f"layers.{i}.ln1"]))
        x = x + attention(h, p, f"layers.{i}.attn", dim["num_heads"], stored, materialised, linears)
        h = stored(rmsnorm(x, p[f"layers.{i}.ln2"]))
        w1, w2, w3 = (p[f"layers.{i}.ffn.w{n}"] for n in (1, 2, 3))
        h1, h3 = linears(h, [w1, w3], f"layers.{i}.ffn.w13", stored)
        gate = stored(F.silu(h1) * h3)
        x = x + linears(gate, [w2], f"layers.{i}.ffn.w2", stored)[0]
    return linear(stored(rmsnorm(x, p["ln_final"])), p["lm_head"], stored)


def run_model(initial, tokens, targets, dim, how, stored=exact):
    """What an export holds, computed by PyTorch from the parameters `initial`, in their dtype."""
    params = {name: value.clone().requires_grad_(how["mode"] not in ("fwd", "fwd_grad")) for name, value in initial.items()}
    linears = how.get("linears", Linears())
    return run_steps(params, lambda: forward(params, tokens, dim, stored, how.get("materialised", False), linears), targets, how)


def run_steps(params, logits_of, targets, how):
    """The steps that an export describes, on the parameters `params`, whose logits are `logits_of()`."""
    out = {}
    steps = how["steps"] if how["mode"] == "train" else 1
    if how["mode"] == "train":
        optimizer = torch.optim.AdamW(params.values(), lr=how["lr"], betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
    for step in range(steps):
        logits = logits_of()
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        if step == 0:
            out["logits"], out["loss"] = logits.detach(), loss.detach()
        if how["mode"] in ("fwd", "fwd_grad"):
            return out
        for value in params.values():
            value.grad = None
        loss.backward()
        if step == 0:
            out.update({f"grad.{name}": value.grad.clone() for name, value in params.items()})
        if how["mode"] == "train":
            if how["clip"] > 0:
                torch.nn.utils.clip_grad_norm_(params.values(), how["clip"])
            optimizer.step()
    if how["mode"] == "train":
        out.update({f"updated.{name}": value.detach().clone() for name, value in params.items()})
    return out
