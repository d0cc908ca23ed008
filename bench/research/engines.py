"""What other engines would do with the evaluator's rows: OpenVINO and ONNX Runtime beside the network in torch.

Rows are those that LIME, Kernel SHAP, occlusion and both AOPC metrics ask about test sentences. Batches are those that
the evaluator makes of them. Each engine has the whole network, exported with free numbers of rows and tokens, on one
thread. All take turns. The tables have the evaluator's processor time in float32 over the engine's, and how far
probabilities are apart. They also have what changes in the attributions and scores that are made of them.

Writes a page (Markdown). ``make bench-engines`` runs it, with OpenVINO and ONNX Runtime of
``bench/research/engines.txt``.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import torch
from scipy.stats import spearmanr
from transformers import AutoModelForSequenceClassification

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "workflow" / "scripts"))

from report import markdown
from texts import draw, parser_of_models, read_by, test_texts, write_page_of_models

from evenlight import explainers, metrics
from evenlight.configuration import completed_entry, family_of
from evenlight.engine.evaluator import Evaluator, Part
from evenlight.engine.sentences import Sentence
from evenlight.jobs import command_line
from evenlight.metrics import explanation_of
from evenlight.models.classifier import Classifier, load_saved
from evenlight.models.processor import use_processor
from evenlight.texts.rows import Rows

EXPLAINERS = {
    "lime": {"method": "lime", "maximum_samples": 300},
    "kernel_shap": {"method": "kernel_shap", "evaluations": 128},
    "occlusion": {"method": "occlusion"},
}
METRICS = {name: {"metric": name} for name in ("aopc_comprehensiveness", "aopc_sufficiency")}
# Token ids and mask, int64 (rows, tokens) each, to logits (rows, classes).
Engine = Callable[[np.ndarray, np.ndarray], np.ndarray]


class ByEngine(Evaluator):
    """An evaluator whose batches go through an engine."""

    def __init__(self, classifier: Classifier, engine: Engine, tokens_per_batch: int):
        super().__init__(classifier, tokens_per_batch)
        self.engine = engine

    def _answers(self, rows: Rows) -> Iterator[Part]:
        def compute(batch: np.ndarray) -> tuple[torch.Tensor]:
            token_id, mask = self.classifier.padded(rows.taken(batch))
            logits = torch.from_numpy(self.engine(token_id.numpy(), mask.numpy()))
            return (logits.float().softmax(-1),)

        return self._computed(rows.length, compute, rows=1)


class Recording(Evaluator):
    """An evaluator that keeps the rows of every call."""

    def __init__(self, classifier: Classifier):
        super().__init__(classifier)
        self.calls: list[Rows] = []

    def probabilities(self, rows: Rows) -> np.ndarray:
        """As the evaluator's."""
        self.calls.append(rows)
        return super().probabilities(rows)


class Exported(torch.nn.Module):
    """The network as engines take it: ids and mask in, logits out."""

    def __init__(self, network: torch.nn.Module):
        super().__init__()
        self.network = network

    def forward(self, token_id: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Logits (rows, classes) of ids and mask (rows, tokens)."""
        return self.network(input_ids=token_id, attention_mask=mask).logits


def engines(folder: Path) -> dict[str, Engine]:
    """The network in ``folder``, that of Transformers and none of ours, in every engine on one thread."""
    # Here, since all else runs without them.
    import onnxruntime
    import openvino

    network = Exported(AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32)).eval()
    # Padding in it, so that the mask is not left out.
    token_id, mask = torch.full((3, 9), 7), torch.ones(3, 9, dtype=torch.long)
    mask[1, 5:] = 0
    found: dict[str, Engine] = {}
    with TemporaryDirectory() as name:
        path = Path(name) / "network.onnx"
        axes = {0: torch.export.Dim("rows", min=1), 1: torch.export.Dim("tokens", min=2)}
        torch.onnx.export(network, (token_id, mask), dynamo=True, dynamic_shapes=(axes, axes), verbose=False).save(path)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_inputs()]
    found["ONNX Runtime, float32"] = lambda *given: session.run(None, dict(zip(names, given, strict=True)))[0]
    with torch.inference_mode():
        converted = openvino.convert_model(network, example_input=(token_id, mask))
    for precision in ("f32", "bf16"):
        options = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": precision}
        compiled = openvino.Core().compile_model(converted, "CPU", options)
        name = {"f32": "OpenVINO, float32", "bf16": "OpenVINO, bfloat16"}[precision]
        found[name] = lambda *given, compiled=compiled: compiled(given)[0]
    return found


def work(evaluator: Evaluator, sentences: list[Sentence]) -> tuple[dict[str, list], dict[str, np.ndarray]]:
    """Attributions by explainer, a list of (tokens,), and their scores by explainer and metric, (sentences,)."""
    attributions, scores = {}, {}
    settings = {name: completed_entry("metrics", name, given) for name, given in METRICS.items()}
    for name, given in EXPLAINERS.items():
        family = family_of("explainers", given["method"])
        methods = {name: completed_entry("explainers", name, given)}
        found = explainers.explain(family, sentences, methods, explainers.Context(evaluator, 0, None))[
            name
        ].attributions
        attributions[name] = [one.token_score for one in found]
        explanations = [
            explanation_of(sentence, score, None) for sentence, score in zip(sentences, attributions[name], strict=True)
        ]
        for metric, values in metrics.score("faithfulness", explanations, settings, evaluator).items():
            scores[f"{name} {metric}"] = values
    return attributions, scores


def timed(evaluator: Evaluator, calls: list[Rows]) -> tuple[float, np.ndarray]:
    """Processor time of all calls, and their probabilities (rows, classes)."""
    started = time.process_time()
    answers = [evaluator.probabilities(rows) for rows in calls]
    return time.process_time() - started, np.concatenate(answers)


def spread(ratios: list[float]) -> str:
    """Median and range."""
    return f"{np.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"


def measured(folder: Path, texts: pd.DataFrame, repeats: int, sizes: list[int]) -> list[str]:
    """A sentence about a model's rows, and a table with a line for each way to answer them."""
    classifiers = {name: load_saved(folder, 128, precision=name) for name in ("float32", "bfloat16")}
    classifier = classifiers["float32"]
    sentences = read_by(classifier, texts)
    recording = Recording(classifier)
    truth, expected_scores = work(recording, sentences)
    rows = [row for call in recording.calls for row in call]
    known = engines(folder)
    ways: dict[tuple[str, int], Evaluator] = {}
    for size in (size or Evaluator(classifier).tokens_per_batch for size in sizes):
        ways |= {(f"evaluator, {name}", size): Evaluator(one, size) for name, one in classifiers.items()}
        ways |= {(name, size): ByEngine(classifier, engine, size) for name, engine in known.items()}
    first = next(iter(ways))
    found = {name: work(way, sentences) for name, way in ways.items()}
    # What they have just answered has warmed them up: engines prepare each shape of a batch once.
    runs = [{name: timed(way, recording.calls) for name, way in ways.items()} for _ in range(repeats)]
    expected = runs[0][first][1]
    lines = []
    for name, (attributions, scores) in found.items():
        ranks = [
            spearmanr(one, other).statistic
            for explainer in EXPLAINERS
            for one, other in zip(truth[explainer], attributions[explainer], strict=True)
        ]
        apart = np.concatenate([np.abs(scores[key] - expected_scores[key]) for key in scores])
        lines.append(
            {
                "by": name[0],
                "tokens in a batch": f"{name[1]:,}",
                "times as fast": spread([each[first][0] / each[name][0] for each in runs]),
                "probabilities, largest difference": f"{np.abs(runs[0][name][1] - expected).max():.0e}",
                "rank correlation of attributions, least": f"{np.nanmin(ranks):.4f}",
                "AOPC, median difference": f"{np.median(apart):.0e}",
                "largest": f"{apart.max():.0e}",
            }
        )
    lengths = [len(row) for row in rows]
    about = (
        f"{len(rows):,} rows of {min(lengths)} to {max(lengths)} tokens (median {np.median(lengths):.0f}) from "
        f"{len(sentences)} sentences, {len(recording.calls)} calls of the evaluator."
    )
    return [about, markdown(pd.DataFrame(lines))]


def main(arguments: argparse.Namespace) -> None:
    """Measure, and write the page."""
    use_processor(1)
    texts = draw(test_texts(arguments.items), arguments.sentences, "engines")
    libraries = ("torch", "transformers", "openvino", "onnxruntime", "onnx")
    about = f"{arguments.repeats} times in turn, median and range."
    write_page_of_models(
        "Other engines for the evaluator's rows",
        __doc__,
        about,
        libraries,
        lambda folder: measured(folder, texts, arguments.repeats, arguments.tokens),
        arguments,
    )


if __name__ == "__main__":
    parser = parser_of_models(__doc__)
    parser.add_argument("--sentences", type=int, default=8, help="how many are explained")
    parser.add_argument(
        "--tokens", type=int, nargs="+", default=[0, 8192], help="tokens in the engines' batches; 0 the evaluator's"
    )
    parser.add_argument("--repeats", type=int, default=5, help="how often each way is timed")
    command_line.run(main, parser)
