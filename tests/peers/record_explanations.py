"""Record what inseq 0.7.1 and ferret 0.4.2 write of tiny models, for the tests of their converters.

inseq runs in the project's environment, from the project's folder:

    pip install --no-deps --target results/inseq inseq==0.7.1 jaxtyping "typeguard<3" treescope wadler-lindig
    PYTHONPATH=workflow/scripts:tests/unit:results/inseq python tests/peers/record_explanations.py inseq \\
        --output tests/peers/inseq.json

ferret needs older libraries, those of ``envs/ferret.txt``:

    PYTHONPATH=tests/unit .venv-ferret/bin/python tests/peers/record_explanations.py ferret \\
        --output tests/peers/ferret_rows.jsonl
"""

import argparse
import json
import tempfile
from pathlib import Path

import torch
from hub_tokenizers import write_tokenizer
from transformers import (
    AutoTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    RobertaConfig,
    RobertaForSequenceClassification,
    T5Config,
    T5ForConditionalGeneration,
)

# With what may mislead: words of the template, quotation marks beside it, and letters that are several bytes.
TEXTS = [
    "Mara leaves the harbour before dawn .",
    '" The film is Review : " said Zoë',
    "is Nobody",
]
TEMPLATE = "Review: {text}\nThe film is {label}"
LABEL_WORDS = ["bad", "good"]
GENERATED = ["good", "bad", "good"]
SMALL = {"vocab_size": 500, "hidden_size": 8, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
T5_SIZES = {"d_model": 8, "d_kv": 4, "d_ff": 16, "num_layers": 1, "num_heads": 2, "decoder_start_token_id": 0}
# The kind of tokenizer, the model's class, and its configuration.
MODELS = {
    "gpt2": ("gpt2", GPT2LMHeadModel, GPT2Config(vocab_size=500, n_embd=8, n_layer=2, n_head=2)),
    "llama": ("llama2", LlamaForCausalLM, LlamaConfig(**SMALL)),
    "t5": ("t5", T5ForConditionalGeneration, T5Config(vocab_size=500, **T5_SIZES)),
    "roberta": ("roberta", RobertaForSequenceClassification, RobertaConfig(max_position_embeddings=66, **SMALL)),
}


def write_model(name: str, folder: Path) -> Path:
    """One of :data:`MODELS` with weights that do not depend on the version of Transformers."""
    kind, network_class, config = MODELS[name]
    network = network_class(config)
    generator = torch.Generator().manual_seed(0)
    for _, weight in sorted(network.named_parameters()):
        if weight.dim() > 1:
            weight.data = torch.randn(weight.shape, generator=generator) * 0.4
    network.save_pretrained(folder)
    return write_tokenizer(kind, folder, [[*text.split(), "Review:", *LABEL_WORDS] for text in TEXTS])


def place_of_text(tokenizer, prompt: str, text: str) -> dict[int, int]:
    """The tokens of a prompt that stand for something to see in the text, by their offsets; and the word of each."""
    start, words = prompt.index(text), {}
    for number, offset in enumerate(tokenizer(prompt, return_offsets_mapping=True)["offset_mapping"]):
        seen = [place for place in range(*offset) if start <= place < start + len(text) and prompt[place].strip()]
        if seen:
            words[number] = prompt[start : seen[0]].count(" ")
    return words


def of_inseq() -> str:
    """What inseq saves, and beside it the text's tokens and their scores as its own objects have them."""
    import inseq

    recorded = {}
    with tempfile.TemporaryDirectory() as root:
        for name in ("gpt2", "llama", "t5"):
            folder = write_model(name, Path(root) / name)
            tokenizer = AutoTokenizer.from_pretrained(folder)
            model = inseq.load_model(str(folder), "input_x_gradient")
            template = TEMPLATE if name != "t5" else "Review: {text}"
            prompts = [template.split(" {label}")[0].replace("{text}", text) for text in TEXTS]
            pairs = zip(prompts, GENERATED, strict=True)
            answers = [answer if name == "t5" else f"{prompt} {answer}" for prompt, answer in pairs]
            out = model.attribute(
                prompts, answers, attributed_fn="probability", logprob=True, show_progress=False, batch_size=1
            )
            expected = []
            for sequence, prompt, text in zip(out.sequence_attributions, prompts, TEXTS, strict=True):
                scores = sequence.target_attributions if name != "t5" else sequence.source_attributions
                word_of = place_of_text(tokenizer, prompt, text)
                place, ids = list(word_of), tokenizer(prompt)["input_ids"]
                row = {"text": text, "tokens": tokenizer.convert_ids_to_tokens([ids[number] for number in place])}
                # All of the label word, and neither its end nor the hidden dimensions.
                word = len(sequence.target) - sequence.attr_pos_start - (name == "t5")
                row |= {"scores": scores[place, :word].sum((1, 2)).tolist(), "words": list(word_of.values())}
                expected.append(row)
            forms = {f"{name} dimensions": out}
            if name == "gpt2":
                forms[f"{name} aggregated"] = out.aggregate("sum", normalize=False)
            for form, result in forms.items():
                path = Path(root) / "saved.json"
                result.save(path, overwrite=True)
                saved = json.loads(path.read_text(encoding="utf-8"))
                saved["attributes"]["info"]["model_name"] = name  # the folder is of this run
                recorded[form] = {"template": template, "expected": expected, "saved": saved}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in recorded.items())
    return f"{{\n{lines}\n}}\n"


def of_ferret() -> str:
    """What users write of ferret's explanations: a line for each text and explainer."""
    from ferret import Benchmark

    with tempfile.TemporaryDirectory() as root:
        folder = write_model("roberta", Path(root) / "roberta")
        tokenizer = AutoTokenizer.from_pretrained(folder)
        benchmark = Benchmark(RobertaForSequenceClassification.from_pretrained(folder).eval(), tokenizer)
        explanations = [
            explanation
            for number, text in enumerate(TEXTS)
            for explanation in benchmark.explain(text, target=number % 2, show_progress=False)
        ]
    return "".join(json.dumps(each.__dict__, default=lambda array: array.tolist()) + "\n" for each in explanations)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", choices=("inseq", "ferret"))
    parser.add_argument("--output", type=Path, required=True, help="what tests/peers/test_converters.py reads")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    recorded = of_inseq() if arguments.tool == "inseq" else of_ferret()
    arguments.output.write_text(recorded, encoding="utf-8")
