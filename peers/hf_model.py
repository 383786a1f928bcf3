"""A model of `transformers`, built from the text of its config.json with random weights."""
import json

from torch import nn

from torch_result import Unsupported


def read_config(text, num_layers):
    try:
        from transformers import AutoConfig
    except ImportError:
        raise Unsupported("a model from a configuration file needs the package transformers (pip install transformers)") from None
    fields = json.loads(text)
    fields["n_layer" if "n_layer" in fields else "num_hidden_layers"] = num_layers
    return AutoConfig.for_model(fields.pop("model_type"), **fields)


class HfModel(nn.Module):
    """Takes tokens, gives logits, as the project's own model does."""

    def __init__(self, args, sdpa):
        super().__init__()
        config = read_config(args.model_config, args.num_layers)
        config.use_cache = False
        from transformers import AutoModelForCausalLM

        self.inner = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa" if sdpa else "eager").float()
        self.inner.train()  # dropouts are 0

    def forward(self, tokens):
        return self.inner(input_ids=tokens, use_cache=False).logits
