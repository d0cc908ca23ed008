"""Files that users write: their encoding, YAML without repeated keys, and texts with half a character."""

import codecs
import json
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import yaml

from evenlight.core.errors import InputError

# UTF-16 writes a character beyond the first 65,536 as two halves, of which neither is one.
_HALF = re.compile("[\ud800-\udfff]")
# In C where PyYAML was built with it.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# A file with fewer zero bytes than one of so many is not in two bytes a letter.
ONE_OF_ZEROS = 8
# A key that takes over what another mapping has; it may stand there several times.
_MERGE = "tag:yaml.org,2002:merge"


def read_text(path: str | Path, remedy: str) -> str:
    """The text of a file in UTF-8, with or without a byte order mark.

    Raises:
        InputError: it cannot be read, or is in another encoding, which the message guesses.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; {remedy}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); {remedy}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not in UTF-8 ({error.reason}); {other_encoding(path)}") from None
    refuse_zero_bytes(text, path)
    return text


def refuse_zero_bytes(text: str, path: str | Path) -> None:
    """Refuse a file of which a ``text`` has zero bytes, as English in UTF-16 without a mark has when read as UTF-8."""
    if "\0" in text and _of_whole_units(Path(path).read_bytes()):
        raise InputError(f"{path}: not in UTF-8 (zero bytes); {other_encoding(path)}")


def read_yaml(path: str | Path, remedy: str) -> object:
    """What a file in YAML, or JSON, holds.

    Raises:
        InputError: it cannot be read, is no YAML, or a key stands twice in one mapping, of which one would be lost.
    """
    text = read_text(path, remedy)
    with suppress(ValueError, RecursionError):
        # JSON may be indented by tabs, YAML may not.
        return json.loads(text, object_pairs_hook=lambda pairs: _without_repeated(pairs, path))
    try:
        loader = _LOADER(text)
        try:
            node = loader.get_single_node()
            if problems := [f"{path}, {problem}" for problem in _repeated(node, [], set())]:
                raise InputError(*problems)
            return None if node is None else loader.construct_document(node)
        finally:
            loader.dispose()
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: no YAML ({' '.join(str(error).split())}); {remedy}") from None


def _repeated(node: yaml.Node | None, keys: Sequence[str], seen: set[int]) -> Iterator[str]:
    """What is said of each key that stands twice in one mapping at or below a node; ``keys`` lead to it."""
    # By aliases a node may stand in many places.
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for number, part in enumerate(node.value):
            yield from _repeated(part, [*keys, str(number)], seen)
    elif isinstance(node, yaml.MappingNode):
        first: dict[tuple, int] = {}
        for key, value in node.value:
            path, line = [*keys, str(key.value)], key.start_mark.line + 1
            said = (key.tag, str(key.value))
            if said in first and key.tag != _MERGE:
                yield (
                    f"line {line}: {'.'.join(path)} stands there for the second time, the first is in line "
                    f"{first[said]}; give one of them another name, or delete it"
                )
            first.setdefault(said, line)
            yield from _repeated(value, path, seen)


def _without_repeated(pairs: list[tuple[str, object]], path: object) -> dict:
    """The object that has these keys and values."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{path}: key {twice!r} stands twice in one object; give one another name, or delete it")
    return found


def loaded_json(text: str, place: str) -> object:
    """What a text in JSON says.

    Raises:
        InputError: a key stands twice in one object, or a text has half a character; the message begins with ``place``.
        ValueError, RecursionError: it is no JSON.
    """
    value = json.loads(text, object_pairs_hook=lambda pairs: _without_repeated(pairs, place))
    # Only as an escape can half a character stand in UTF-8.
    if "\\u" in text:
        refuse_half_characters(value, place)
    return value


def json_lines(path: Path, remedy: str) -> Iterator[tuple[str, object]]:
    """(file and row, value) of each line of a file of JSON Lines that is not empty; rows count from 1.

    A line ends with a line feed and nowhere else: texts may have other separators of lines, such as U+2028, in them.

    Raises:
        InputError: the file cannot be read, or a line of it is no JSON; it ends with ``remedy``.
    """
    for number, line in enumerate(read_text(path, remedy).split("\n"), start=1):
        location = f"{path}, row {number}"
        try:
            if line.strip():
                yield location, loaded_json(line, location)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{location}: not JSON ({error}); {remedy}") from None


def refuse_half_characters(value: object, place: str) -> None:
    """Refuse a text, or one in lists and mappings, that has half a character, which no file can hold.

    Raises:
        InputError: it names the field of a mapping, and the half.
    """
    if isinstance(value, dict):
        for key, part in value.items():
            refuse_half_characters(key, place)
            refuse_half_characters(part, f"{place}, field {key!r}")
    elif isinstance(value, list | tuple):
        for part in value:
            refuse_half_characters(part, place)
    elif isinstance(value, str) and (half := _HALF.search(value)):
        beginning = value[max(0, half.start() - 20) : half.start()]
        raise InputError(
            f"{place}: has half a character ({half[0]!r} behind {beginning!r}), which is no text; write the whole one, "
            "such as by text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')"
        )


def _of_whole_units(content: bytes) -> str | None:
    """Which of the encodings in two or four bytes a file has, by its mark or by zero bytes; None where it has none."""
    if content.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "UTF-32"
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "UTF-16"
    # Letters of Latin scripts have a zero byte each; without a mark its place tells the order.
    even, odd = content[::2].count(0), content[1::2].count(0)
    if len(content) % 2 or max(even, odd) * ONE_OF_ZEROS < len(content):
        return None
    return "UTF-16LE" if odd > even else "UTF-16BE"


def other_encoding(path: str | Path) -> str:
    """How a file that is not in UTF-8 can be written so, with a line by which it is seen whether the guess is right."""
    content = Path(path).read_bytes()
    if encoding := _of_whole_units(content):
        text = content.decode(encoding, errors="replace")
    else:
        # What Windows writes in Western Europe and America; it has no letter for five bytes, Latin-1 for every one.
        for encoding in ("WINDOWS-1252", "ISO-8859-1"):
            with suppress(UnicodeDecodeError):
                text = content.decode(encoding)
                break
    there = re.search(r"\w*[^\x00-\x7f]\w*", text)
    example = f" (a word of it is then {there[0]!r})" if there else ""
    new = f"NEW{Path(path).suffix}"
    return (
        f"it may be {encoding}{example}: iconv -f {encoding} -t UTF-8 {shlex.quote(str(path))} > {new}, and name that"
    )
