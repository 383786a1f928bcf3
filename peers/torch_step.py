"""What torch_bench.py measures: the step of the model, or attention alone, in PyTorch."""
import contextlib
import math

import torch
import torch.nn.functional as F
from torch import nn

from hf_model import HfModel
from torch_result import PHASES, Unsupported

MIB = 2.0**20


def written_out(q, k, v, future):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if future is not None:
        scores = scores.masked_fill(future, -math.inf)
    return scores.softmax(-1).to(v.dtype) @ v


class RMSNorm(nn.Module):
    def __init__(self, C):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(C))

    def forward(self, x):
        wide = x.float()
        return (self.weight * wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype)


def rotated(x, cos, sin):
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2).to(x.dtype)


class Block(nn.Module):
    def __init__(self, C, D_ff, H, sdpa):
        super().__init__()
        self.H, self.sdpa = H, sdpa
        self.ln1, self.ln2 = RMSNorm(C), RMSNorm(C)
        self.q, self.k, self.v, self.o = (nn.Linear(C, C, bias=False) for _ in range(4))
        self.w1, self.w3 = (nn.Linear(C, D_ff, bias=False) for _ in range(2))
        self.w2 = nn.Linear(D_ff, C, bias=False)

    def attention(self, x, cos, sin, future):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, self.H, C // self.H).transpose(1, 2) for w in (self.q, self.k, self.v))
        q, k = rotated(q, cos, sin), rotated(k, cos, sin)
        if self.sdpa:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            y = written_out(q, k, v, future)
        return self.o(y.transpose(1, 2).reshape(B, T, C))

    def forward(self, x, cos, sin, future):
        x = x + self.attention(self.ln1(x), cos, sin, future)
        h = self.ln2(x)
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))


class Model(nn.Module):
    def __init__(self, args, sdpa):
        super().__init__()
        C, D, T = args.d_model, args.d_model // args.num_heads, args.ctx
        self.embedding = nn.Embedding(args.vocab, C)
        self.blocks = nn.ModuleList(Block(C, args.d_ff, args.num_heads, sdpa) for _ in range(args.num_layers))
        self.ln, self.head = RMSNorm(C), nn.Linear(C, args.vocab, bias=False)
        angle = torch.outer(torch.arange(T).double(), 10000.0 ** (-torch.arange(0, D, 2).double() / D))
        self.register_buffer("cos", angle.cos().float())
        self.register_buffer("sin", angle.sin().float())
        self.register_buffer("future", None if sdpa else torch.ones(T, T, dtype=torch.bool).triu(1))
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                std = 1.0 if isinstance(module, nn.Embedding) else math.sqrt(2 / sum(module.weight.shape))
                nn.init.trunc_normal_(module.weight, 0, std, -3 * std, 3 * std)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, self.cos, self.sin, self.future)
        return self.head(self.ln(x))


class Step:
    """Model, optimizer and one batch; run(phase) is one phase of a step."""

    def __init__(self, args, ranks=None):
        self.args, self.cuda, self.ranks = args, args.device.startswith("cuda"), ranks
        strong = args.variant in ("best", "graphs")
        torch.manual_seed(args.seed)
        with torch.device(args.device) if hasattr(torch.device, "__enter__") else contextlib.nullcontext():
            self.model = HfModel(args, strong) if args.model_config else Model(args, strong)
        self.model.to(args.device)
        if ranks:
            self.model = ranks.model(self.model, args.bucket)
        shape = (args.accumulate * args.batch, args.ctx)
        tokens, targets = (torch.randint(args.vocab, shape, device=args.device) for _ in range(2))
        self.micro_batches = list(zip(tokens.split(args.batch), targets.split(args.batch)))
        self.micro_batch = 0  # the next one
        self.optimizer = self.make_optimizer(strong) if args.mode == "train" else None
        scaled = args.precision == "fp16" and args.mode == "train" and args.loss_scale != "none"
        self.scaler = self.make_scaler() if scaled else None
        self.loss_of = self.compiled(self.make_loss())
        self.loss = self.loss_sum = None
        # A graph replays into the memory of its results: gradients that are summed need memory of their own.
        self.own_gradients = args.accumulate > 1 and args.variant == "graphs"
        if self.own_gradients:
            for parameter in self.model.parameters():
                parameter.grad = torch.zeros_like(parameter)

    def make_optimizer(self, strong):
        how = dict(lr=self.args.lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
        if self.ranks and self.args.parallel == "zero1":
            return self.ranks.optimizer(self.model.parameters(), **how)
        if strong:
            with contextlib.suppress(RuntimeError, TypeError):  # on a CPU only newer versions have it
                return torch.optim.AdamW(self.model.parameters(), fused=True, **how)
        return torch.optim.AdamW(self.model.parameters(), **how)

    def make_scaler(self):
        fixed = self.args.loss_scale != "dynamic"
        how = {"init_scale": float(self.args.loss_scale), "growth_interval": 2**30} if fixed else {}
        home = getattr(torch, "amp", None)
        return home.GradScaler("cuda", **how) if hasattr(home, "GradScaler") else torch.cuda.amp.GradScaler(**how)

    def compiled(self, function):
        if self.args.variant == "eager":
            return function
        return torch.compile(function, mode="reduce-overhead" if self.args.variant == "graphs" else None)

    def make_loss(self):
        """A plain function of plain names, which torch.compile takes whole."""
        dtype = torch.float16 if self.args.precision == "fp16" else torch.bfloat16
        autocast = torch.autocast("cuda" if self.cuda else "cpu", dtype=dtype,
                                  enabled=self.args.precision in ("bf16", "fp16"))
        model = self.model

        def loss_of(tokens, targets):
            with autocast:
                logits = model(tokens)
            return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())

        return loss_of

    def forward(self):
        if self.args.variant == "graphs" and hasattr(getattr(torch, "compiler", None), "cudagraph_mark_step_begin"):
            torch.compiler.cudagraph_mark_step_begin()
        if self.ranks:  # as no_sync() does: the gradients of the last micro-batch travel, and those before with them
            self.model.require_backward_grad_sync = self.micro_batch == self.args.accumulate - 1
        with torch.no_grad() if self.args.mode == "fwd" else contextlib.nullcontext():
            self.loss = self.loss_of(*self.micro_batches[self.micro_batch])
        if self.args.accumulate > 1:
            self.loss = self.loss / self.args.accumulate
            before = 0 if self.micro_batch == 0 else self.loss_sum
            self.loss_sum = before + self.loss.detach()
        self.micro_batch = (self.micro_batch + 1) % self.args.accumulate

    def backward(self):
        if self.args.mode == "fwd_bwd":  # the optimizer does it otherwise
            self.model.zero_grad(set_to_none=True)
        (self.scaler.scale(self.loss) if self.scaler else self.loss).backward()

    def optimize(self):
        if self.scaler and self.args.clip > 0:
            self.scaler.unscale_(self.optimizer)
        if self.args.clip > 0:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.args.clip)
        if self.scaler:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=not self.own_gradients)

    def parts(self):
        """Forward and backward of every micro-batch, then the optimizer."""
        count = {"fwd": 1, "fwd_grad": 1, "fwd_bwd": 2, "train": 3}[self.args.mode]
        phases = list(zip(PHASES, (self.forward, self.backward, self.optimize)))[:count]
        return phases[:2] * self.args.accumulate + phases[2:]

    def whole(self):
        for _, part in self.parts():
            part()

    def facts(self):
        loss = (self.loss if self.args.accumulate == 1 else self.loss_sum).item()
        return {"loss": loss if math.isfinite(loss) else None,
                "parameters": sum(p.numel() for p in self.model.parameters())}


class AttentionAlone:
    """q, k, v and the gradient of the result, drawn at random."""

    def __init__(self, args):
        self.args, self.cuda = args, args.device.startswith("cuda")
        dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(args.precision, torch.float32)
        shape = (args.batch, args.heads, args.ctx, args.d_head)
        torch.manual_seed(args.seed)
        self.q, self.k, self.v, self.dout = (torch.randn(shape, device=args.device, dtype=dtype) for _ in range(4))
        for operand in (self.q, self.k, self.v):
            operand.requires_grad_(args.mode != "fwd")
        self.attend = self.make_attention()
        self.out = self.saved_mib = None

    def make_attention(self):
        causal, variant = self.args.mask == "causal", self.args.variant
        if variant in ("eager", "compile"):
            T = self.args.ctx
            future = torch.ones(T, T, dtype=torch.bool, device=self.args.device).triu(1) if causal else None
            attend = torch.compile(written_out, dynamic=False) if variant == "compile" else written_out
            return lambda q, k, v: attend(q, k, v, future)
        try:
            from torch.nn.attention import SDPBackend, sdpa_kernel
        except ImportError:
            raise Unsupported(f"variant {variant} needs PyTorch 2.3, this is {torch.__version__}") from None
        backend = {"efficient": SDPBackend.EFFICIENT_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION,
                   "cudnn": SDPBackend.CUDNN_ATTENTION}[variant]

        def attend(q, k, v):
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

        return attend

    def forward(self):
        with torch.no_grad() if self.args.mode == "fwd" else contextlib.nullcontext():
            self.out = self.attend(self.q, self.k, self.v)

    def backward(self):
        if self.cuda and self.saved_mib is None:
            self.saved_mib = torch.cuda.memory_allocated() / MIB
        for operand in (self.q, self.k, self.v):
            operand.grad = None
        self.out.backward(self.dout)

    def parts(self):
        return list(zip(PHASES, (self.forward, self.backward)))[:1 if self.args.mode in ("fwd", "fwd_grad") else 2]

    def whole(self):
        for _, part in self.parts():
            part()

    def facts(self):
        return {"mem_before_bwd_mib": self.saved_mib} if self.saved_mib else {}
