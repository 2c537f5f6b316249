"""Translate with models of attn-mt.

    import attn_mt
    translator = attn_mt.Translator("best.safetensors")
    print(translator.translate(["i'm home ."])[0].text)
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Callable, Iterable, List, Optional, Sequence, Tuple, TypedDict, Union

from ._library import (PROGRESS, CDetection, CGuide, COptions, Error, FileError, OutOfMemory, UsageError,
                       call, library, strings)

try:
    import numpy
except ImportError:  # lists take the place of arrays
    numpy = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Detector", "Error", "Explorer", "FileError", "Options", "OutOfMemory", "Translation",
           "Translator", "UsageError"]
__version__: str = library.attn_mt_version().decode()

CHOICES = {"precision": {"float32": 0, "bf16": 1, "int8": 2},
           "attention": {None: 0, "words": 1, "subwords": 2},
           "accelerator": {None: 0, "&": 1, "_": 2, "auto": 3}}
PROBLEMS = {1: "empty", 2: "repetition", 4: "length limit"}
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
Path = Union[str, "os.PathLike[str]"]


class Options(TypedDict, total=False):
    """Options of a call. Without them, it translates as `attn-mt translate` does."""

    beam_size: int  # hypotheses kept, 1 to 1000
    n_best: int  # different candidates of each text, at most
    batch_size: int  # sentences searched together
    split: bool  # texts are paragraphs, translated sentence by sentence
    markup: bool  # texts are HTML
    attention: Optional[str]  # the units of attention weights: "words" or "subwords"; None: no weights
    shortlist: int  # consider only the N most frequent tokens, and N translations of each source token
    accelerator: Optional[str]  # the mark of "&File": "&", "_" or "auto"
    glossary: Union[Path, Sequence[Path]]  # files of required translations: lines of SOURCE TAB TARGET
    memory: Union[Path, Sequence[Path]]  # files of a translation memory, in any format of pairs
    memory_threshold: float  # least similarity of `match`, 0.3 to 1
    target_language: Optional[str]  # of a model with several
    confidence: bool  # with the confidence of translations and words
    tags: bool  # tags and placeholders come out as they are
    memory_limit: int  # bytes, for each thread; 0: no limit
    threads: int  # at most; 0, the default: one for each processor
    progress: Optional[Callable[[float], None]]  # called with the fraction that is done


@dataclass
class Translation:
    """A translation. Units of `score` and `log_p`: natural logarithms of probabilities."""

    text: str
    score: float  # log_p with length normalization, by which the search ranks
    log_p: float  # of all tokens, including </s>
    token_log_p: Any  # [tokens]
    tokens: List[str]  # including </s>
    problems: List[str]  # what is probably wrong: "empty", "repetition", "length limit"
    attention: Any = None  # [rows, columns] weights of each unit of the translation to those of the source
    rows: List[str] = field(default_factory=list)  # units of the translation, including </s>
    columns: List[str] = field(default_factory=list)  # units of the source, including </s>
    confidence: Optional[float] = None  # 0 to 1: the expected fraction of right words
    word_confidences: List[Tuple[str, float]] = field(default_factory=list)
    match: Optional[Tuple[float, str, str]] = None  # similarity, source, target of the memory's nearest pair
    from_memory: bool = False
    pivot: Optional[str] = None  # the text in the language in between, if no model has both languages
    alternatives: List[Translation] = field(default_factory=list)  # with n_best: other candidates

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """For notebooks: the text, and the attention as a table."""
        cells = [[f'<td title="{w:.3f}" style="background:rgba(31,90,180,{max(0, w):.3f})">' for w in weights]
                 for weights in ([] if self.attention is None else self.attention)]
        head = "".join(f"<th>{escape(label)}" for label in self.columns)
        rows = "".join(f"<tr><th>{escape(label)}{''.join(row)}" for label, row in zip(self.rows, cells))
        return f"<table><caption>{escape(self.text)}</caption><tr><td>{head}{rows}</table>"


class _Model:
    """An open model. Calls hold a reference, so that it is closed after the last call."""

    def __init__(self, model: Union[Path, Sequence[Path]], precision: str):
        self.pointer, self.lock = ctypes.c_void_p(), threading.Lock()
        self.files: dict = {}
        number = _number("precision", precision)
        if isinstance(model, (str, os.PathLike)):
            call("open_name", ctypes.byref(self.pointer), os.fsencode(model), number)
        else:
            call("open", ctypes.byref(self.pointer), *_paths(model), number)

    def file(self, kind: str, paths: Union[Path, Sequence[Path]], *arguments: int) -> ctypes.c_void_p:
        """A glossary or a memory, opened once."""
        key = kind, str(paths), arguments
        with self.lock:
            if key not in self.files:
                file = ctypes.c_void_p()
                call(kind + "_open", ctypes.byref(file), self.pointer, *_paths(paths), *arguments)
                self.files[key] = file
        return self.files[key]

    def __del__(self, library: Any = library) -> None:
        for (kind, *_), file in self.files.items():
            getattr(library, f"attn_mt_{kind}_close")(file)
        library.attn_mt_close(self.pointer)


class Translator:
    """Translates with a model, or with several that form an ensemble.

    `options` are the defaults of all calls. Any number of Python threads can use a translator. A call works
    without the interpreter's lock, on several threads, whose number changes no result. A translator can be a
    step of a scikit-learn pipeline. A copy and an unpickled translator load the model again.
    """

    def __init__(self, model: Union[Path, Sequence[Path]], *, precision: str = "float32",
                 **options: Unpack[Options]):
        self._params: dict = {}
        self.set_params(model=model, precision=precision, **options)

    def translate(self, texts: Union[str, Iterable[str]], **options: Unpack[Options]) -> List[Translation]:
        """The translations of texts, in their order. One text gives a list of one translation."""
        return self._run("translate", [[texts] if isinstance(texts, str) else list(texts)], options)

    def score(self, pairs: Iterable[Tuple[str, str]], **options: Unpack[Options]) -> List[Translation]:
        """Scores pairs of a text and its translation."""
        listed = list(pairs)
        return self._run("score", [[pair[0] for pair in listed], [pair[1] for pair in listed]], options)

    def explore(self, texts: Union[str, Iterable[str]]) -> Explorer:
        """What the model does with texts: the page of `attn-mt heatmap --format html`."""
        arrays, result = strings([texts] if isinstance(texts, str) else list(texts)), ctypes.c_void_p()
        model = self._model  # not closed before the call ends
        call("explore", model and model.pointer, arrays, len(arrays), ctypes.byref(result))
        page = library.attn_mt_page(result).decode()
        library.attn_mt_release(result)
        return Explorer(page)

    def close(self) -> None:
        """Closes the model, after calls that are running."""
        self._model = None

    def _run(self, name: str, columns: List[List[str]], options: Any) -> List[Translation]:
        model = self._model
        if not model:
            raise UsageError("the translator is closed")
        chosen = {**self._params, **_checked(options)}
        count, progress = len(columns[0]), chosen.get("progress")
        parts = max(1, min(chosen.get("threads") or PROCESSORS, count))
        done = [0.0] * parts

        def report(part: int, fraction: float) -> None:
            done[part] = fraction
            progress(sum(done) / parts)

        def run(part: int) -> List[Translation]:
            arrays = [strings(column[part::parts]) for column in columns]
            settings = _settings(model, chosen)
            if progress:
                settings.progress = PROGRESS(lambda _, fraction: report(part, fraction))
            result, size = ctypes.c_void_p(), len(arrays[0])
            call(name, model.pointer, *arrays, size, ctypes.byref(settings), ctypes.byref(result))
            try:
                return [_translation(result, text, 0) for text in range(size)]
            finally:
                library.attn_mt_release(result)

        if parts == 1:
            return run(0)
        translations: List[Any] = [None] * count
        with ThreadPoolExecutor(parts) as pool:
            for part, found in enumerate(pool.map(run, range(parts))):
                translations[part::parts] = found
        return translations

    def __enter__(self) -> Translator:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Translator({', '.join(f'{name}={value!r}' for name, value in self._params.items())})"

    def __reduce__(self) -> Tuple[Any, ...]:
        return functools.partial(Translator, **self._params), ()

    def fit(self, X: Any = None, y: Any = None) -> Translator:
        """Does nothing; `attn-mt train` trains models."""
        return self

    def transform(self, X: Iterable[str]) -> List[str]:
        """The best translation of each text."""
        return [translation.text for translation in self.translate(X)]

    predict = transform

    def get_params(self, deep: bool = True) -> dict:
        return dict(self._params)

    def set_params(self, **params: Any) -> Translator:
        merged = {**self._params, **_checked(params)}
        if "model" in params or "precision" in params:
            self._model: Optional[_Model] = _Model(merged["model"], merged["precision"])
            self.source_language: Optional[str] = _text(library.attn_mt_source_language(self._model.pointer))
            self.target_language: Optional[str] = _text(library.attn_mt_target_language(self._model.pointer))
        self._params = merged
        return self


class Explorer(str):
    """A page of HTML, which a notebook shows."""

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self)}" style="width: 100%; height: 45em; border: 0"></iframe>'


class Detector:
    """Tells in which of its languages a text is. Their names can have any spelling: "de", "deu", "German"."""

    def __init__(self, languages: Sequence[str]):
        self._pointer, self._count = ctypes.c_void_p(), len(languages)
        call("detector_open", ctypes.byref(self._pointer), strings(list(languages)), self._count)

    def detect(self, text: str) -> List[Tuple[str, float]]:
        """All languages with their probabilities, the most probable first."""
        ranked = (CDetection * self._count)()
        call("detect", self._pointer, strings([text])[0], ranked)
        return [(found.language.decode(), found.confidence) for found in ranked]

    def __del__(self, library: Any = library) -> None:
        library.attn_mt_detector_close(self._pointer)


def _checked(options: Any) -> dict:
    for name in options.keys() - Options.__annotations__.keys() - {"model", "precision"}:
        raise TypeError(f"there is no option {name!r}, but {', '.join(Options.__annotations__)}")
    return options


def _paths(paths: Any) -> Tuple[Any, int]:
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    return (ctypes.c_char_p * len(listed))(*map(os.fsencode, listed)), len(listed)


def _settings(model: _Model, options: dict) -> COptions:
    guide = CGuide(ctypes.sizeof(CGuide))
    settings = COptions(guide=ctypes.pointer(guide))
    for option in options.keys() - {"model", "precision", "threads", "progress"}:
        value = _number(option, options[option])
        if option == "glossary":
            value = model.file(option, value)
        elif option == "memory":
            value = model.file(option, value, _number("accelerator", options.get("accelerator")))
        elif isinstance(value, str):
            value = value.encode()
        setattr(guide if hasattr(guide, option) else settings, option, value)
    return settings


def _number(option: str, value: Any) -> int:
    """The value of an option in C."""
    choices = CHOICES.get(option)
    if choices and value not in choices:
        raise UsageError(f"{option} is {value!r}, not {', '.join(map(repr, choices))}")
    return choices[value] if choices else value


def _text(value: Optional[bytes]) -> Optional[str]:
    return value.decode() if value is not None else None


def _floats(pointer: Any, *shape: int) -> Any:
    """A copy of floats [rows] or [rows, columns], as an array or as lists."""
    if numpy is not None:
        return numpy.array(pointer[:math.prod(shape)], numpy.float32).reshape(shape)
    if len(shape) == 1:
        return pointer[:shape[0]]
    return [pointer[row * shape[1]:(row + 1) * shape[1]] for row in range(shape[0])]


def _labels(pointer: Any, count: int) -> List[str]:
    return [label.decode() for label in pointer[:count]]


def _translation(result: ctypes.c_void_p, text: int, rank: int) -> Translation:
    candidate = library.attn_mt_candidate_at(result, text, rank)[0]
    translation = Translation(candidate.text.decode(), candidate.score, candidate.log_p,
                              _floats(candidate.token_log_p, candidate.tokens),
                              _labels(library.attn_mt_tokens_at(result, text, rank), candidate.tokens),
                              [name for bit, name in PROBLEMS.items() if candidate.problems & bit])
    matrix = library.attn_mt_attention(result, text, rank)
    if matrix:
        rows, columns = matrix[0].rows, matrix[0].columns
        translation.attention = _floats(matrix[0].weights, rows, columns)
        translation.rows = _labels(matrix[0].row_labels, rows)
        translation.columns = _labels(matrix[0].column_labels, columns)
    sure, match = library.attn_mt_confidence_at(result, text, rank), library.attn_mt_match_at(result, text)
    if sure:
        words = _labels(sure[0].labels, sure[0].words)
        translation.confidence = sure[0].confidence
        translation.word_confidences = list(zip(words, sure[0].word_confidences[:sure[0].words]))
    if match:
        translation.match = match[0].similarity, match[0].source.decode(), match[0].target.decode()
        translation.from_memory = bool(match[0].used)
    translation.pivot = _text(library.attn_mt_pivot_at(result, text))
    while rank == 0 and library.attn_mt_candidate_at(result, text, len(translation.alternatives) + 1):
        translation.alternatives.append(_translation(result, text, len(translation.alternatives) + 1))
    return translation
