"""Running a network with other backward passes for some of its operations."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

# An operation's stand-in is called as (original function, *arguments, **keywords).
StandIn = Callable[..., torch.Tensor]

# Operations that pass on a change of their arguments, of whatever size, exactly as their gradient says.
# fmt: off
LINEAR = {
    "__add__", "__radd__", "__iadd__", "__sub__", "__rsub__", "__isub__", "__neg__",
    "add", "add_", "sub", "sub_", "rsub", "neg", "linear", "addmm", "conv1d", "mean", "sum", "cumsum",
    "view", "view_as", "reshape", "flatten", "unflatten", "permute", "transpose", "t", "contiguous", "expand",
    "expand_as", "squeeze", "unsqueeze", "repeat", "repeat_interleave", "movedim", "swapaxes", "roll", "flip", "pad",
    "cat", "stack", "chunk", "split", "unbind", "select", "narrow", "gather", "index_select", "where", "masked_fill",
    "__get__", "__getitem__", "to", "type", "type_as", "float", "double", "half", "bfloat16", "clone", "dropout",
    "avg_pool1d", "avg_pool2d",
}
# fmt: on
# These are linear as long as only one factor depends on the embeddings.
PRODUCTS = {"mul", "multiply", "__mul__", "__rmul__", "__imul__", "matmul", "__matmul__", "mm", "bmm", "einsum"}
# And these as long as the divisor does not.
QUOTIENTS = {"div", "divide", "true_divide", "__truediv__", "__itruediv__"}
# They change a value that others may hold, so that no stand-in can take their place.
IN_PLACE = {"mul_", "div_"}


class Operations(TorchFunctionMode):
    """While entered, calls of named torch functions on values that depend on the embeddings go to stand-ins.

    It sees every call, whether a module of the network makes it or plain code does.

    Args:
        stand_ins: by the function's name.

    Attributes:
        replaced: names of the functions that were replaced.
        unhandled: names of those that are neither linear nor replaced, and so pass on their plain gradient.
    """

    def __init__(self, stand_ins: dict[str, StandIn]):
        super().__init__()
        self.stand_ins = stand_ins
        self.replaced: set[str] = set()
        self.unhandled: set[str] = set()

    def __torch_function__(self, function, types, arguments=(), keywords=None):
        """Call the stand-in, or the function itself."""
        keywords = keywords or {}
        name = function.__name__
        # Without gradients nothing is passed on: a stand-in computes its own value.
        if not torch.is_grad_enabled() or _is_linear(name, arguments):
            return function(*arguments, **keywords)
        if name in self.stand_ins and any(map(depends, (*arguments, *keywords.values()))):
            self.replaced.add(name)
            return self.stand_ins[name](function, *arguments, **keywords)
        result = function(*arguments, **keywords)
        if depends(result):
            self.unhandled.add(name.strip("_"))
        return result


def depends(value: object) -> bool:
    """Whether a value depends on the embeddings; the weights of an explained network ask for no gradient."""
    return isinstance(value, torch.Tensor) and value.requires_grad


def _is_linear(name: str, arguments: tuple) -> bool:
    if name in PRODUCTS or name in IN_PLACE:
        return sum(map(depends, arguments)) < 2 and not (name == "div_" and depends(arguments[1]))
    return name in LINEAR or (name in QUOTIENTS and not depends(arguments[1]))


@contextmanager
def modules_replaced(modules: Iterable[nn.Module], stand_in: StandIn) -> Iterator[None]:
    """While entered, the forward passes of ``modules`` go to ``stand_in``, called as for functions."""
    with ExitStack() as undo:
        for module in modules:
            forward = module.forward
            module.forward = lambda *arguments, forward=forward, **keywords: stand_in(forward, *arguments, **keywords)
            undo.callback(delattr, module, "forward")
        yield
