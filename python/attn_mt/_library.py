"""The functions of libattn_mt (src/library/attn_mt.h) by ctypes, which releases the interpreter's lock."""

from __future__ import annotations

import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, c_char, c_char_p, c_double, c_float, c_int, c_size_t, c_void_p
from pathlib import Path
from typing import Any

PROGRESS = CFUNCTYPE(None, c_void_p, c_double)
STRINGS = POINTER(c_char_p)


def struct(name: str, **fields: Any) -> Any:
    """attn_mt_NAME of the header."""
    return type(name, (ctypes.Structure,), {"_fields_": list(fields.items())})


CError = struct("error", status=c_int, message=c_char * 1024, hint=c_char * 512)
CGuide = struct("guide", size=c_size_t, glossary=c_void_p, memory=c_void_p, memory_threshold=c_double,
                target_language=c_char_p, confidence=c_int, tags=c_int, wrapped=c_int,
                tags_aside=c_int)
COptions = struct("options", memory_limit=c_size_t, beam_size=c_int, n_best=c_int, batch_size=c_int,
                  split=c_int, markup=c_int, attention=c_int, shortlist=c_int, accelerator=c_int,
                  guide=POINTER(CGuide), reserved=c_int * 2, progress=PROGRESS, progress_context=c_void_p)
CCandidate = struct("candidate", text=c_char_p, log_p=c_double, score=c_double, tokens=c_int,
                    token_log_p=POINTER(c_float), problems=c_int)
CMatrix = struct("matrix", rows=c_int, columns=c_int, weights=POINTER(c_float), row_labels=STRINGS,
                 column_labels=STRINGS)
CConfidence = struct("confidence", confidence=c_double, calibrated=c_int, words=c_int, labels=STRINGS,
                     word_confidences=POINTER(c_double))
CDetection = struct("detection", language=c_char_p, confidence=c_double)
CMatch = struct("match", similarity=c_double, source=c_char_p, target=c_char_p, used=c_int)


class Error(Exception):
    """A call failed. `hint` is a remedy, or empty."""

    hint = ""


class UsageError(Error, ValueError):
    """Invalid arguments, or an invalid combination."""


class FileError(Error, OSError):
    """For example, a file cannot be read."""


class OutOfMemory(Error, MemoryError):
    """There is not enough memory, or `memory_limit` is too low."""


ERRORS = {1: FileError, 2: UsageError, 6: OutOfMemory}  # the status of others, such as 3, is Error's
CALL = [c_int, POINTER(COptions), POINTER(c_void_p), POINTER(CError)]
SIGNATURES = {
    "version": (c_char_p, []),
    "open": (c_int, [POINTER(c_void_p), STRINGS, c_int, c_int, POINTER(CError)]),
    "open_name": (c_int, [POINTER(c_void_p), c_char_p, c_int, POINTER(CError)]),
    "glossary_open": (c_int, [POINTER(c_void_p), c_void_p, STRINGS, c_int, POINTER(CError)]),
    "glossary_close": (None, [c_void_p]),
    "memory_open": (c_int, [POINTER(c_void_p), c_void_p, STRINGS, c_int, c_int, POINTER(CError)]),
    "memory_close": (None, [c_void_p]),
    "source_language": (c_char_p, [c_void_p]),
    "target_language": (c_char_p, [c_void_p]),
    "close": (None, [c_void_p]),
    "translate": (c_int, [c_void_p, STRINGS, *CALL]),
    "score": (c_int, [c_void_p, STRINGS, STRINGS, *CALL]),
    "candidate_at": (POINTER(CCandidate), [c_void_p, c_int, c_int]),
    "attention": (POINTER(CMatrix), [c_void_p, c_int, c_int]),
    "tokens_at": (STRINGS, [c_void_p, c_int, c_int]),
    "confidence_at": (POINTER(CConfidence), [c_void_p, c_int, c_int]),
    "match_at": (POINTER(CMatch), [c_void_p, c_int]),
    "pivot_at": (c_char_p, [c_void_p, c_int]),
    "explore": (c_int, [c_void_p, STRINGS, c_int, POINTER(c_void_p), POINTER(CError)]),
    "page": (c_char_p, [c_void_p]),
    "release": (None, [c_void_p]),
    "detector_open": (c_int, [POINTER(c_void_p), STRINGS, c_int, POINTER(CError)]),
    "detect": (c_int, [c_void_p, c_char_p, POINTER(CDetection), POINTER(CError)]),
    "detector_close": (None, [c_void_p]),
}
beside = Path(__file__).with_name("libattn_mt.so.1")
library = ctypes.CDLL(os.environ.get("ATTN_MT_LIBRARY") or (str(beside) if beside.exists() else beside.name))
for name, (result, arguments) in SIGNATURES.items():
    function = getattr(library, "attn_mt_" + name)
    function.restype, function.argtypes = result, arguments


def call(name: str, *arguments: object) -> None:
    """Calls a function whose last argument is an attn_mt_error; raises the error that it returns."""
    error = CError()
    status = getattr(library, "attn_mt_" + name)(*arguments, ctypes.byref(error))
    if status:
        raised = ERRORS.get(status, Error)(error.message.decode())
        raised.hint = error.hint.decode()
        raise raised


def strings(texts: list[str]) -> ctypes.Array[c_char_p]:
    for text in texts:
        if "\0" in text:
            raise UsageError(f"a NUL character in {text[:40]!r}")
    return (c_char_p * len(texts))(*(text.encode("utf-8", "replace") for text in texts))
