#!/usr/bin/env python3
"""Translate lines of standard input with libattn_mt, through ctypes; print each with its log probability.

    echo "i'm home ." | python3 translate.py best.safetensors [libattn_mt.so.1]
"""
import ctypes
import sys


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("message", ctypes.c_char * 1024), ("hint", ctypes.c_char * 512)]


class Options(ctypes.Structure):
    __slots__ = ()  # a name that is none of these is an error
    _fields_ = [("memory_limit", ctypes.c_size_t), ("beam_size", ctypes.c_int), ("n_best", ctypes.c_int),
                ("batch_size", ctypes.c_int), ("split", ctypes.c_int), ("markup", ctypes.c_int),
                ("attention", ctypes.c_int), ("shortlist", ctypes.c_int), ("reserved", ctypes.c_int * 5),
                ("progress", ctypes.c_void_p), ("progress_context", ctypes.c_void_p)]


class Candidate(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char_p), ("log_p", ctypes.c_double), ("score", ctypes.c_double),
                ("tokens", ctypes.c_int), ("token_log_p", ctypes.POINTER(ctypes.c_float))]


Texts = ctypes.POINTER(ctypes.c_char_p)
Handle = ctypes.c_void_p


class Model:
    def __init__(self, path, library="libattn_mt.so.1"):
        self.library = ctypes.CDLL(library)
        self.library.attn_mt_open.argtypes = [ctypes.POINTER(Handle), Texts, ctypes.c_int, ctypes.c_int,
                                              ctypes.POINTER(Error)]
        self.library.attn_mt_translate.argtypes = [Handle, Texts, ctypes.c_int, ctypes.POINTER(Options),
                                                   ctypes.POINTER(Handle), ctypes.POINTER(Error)]
        self.library.attn_mt_candidate_at.argtypes = [Handle, ctypes.c_int, ctypes.c_int]
        self.library.attn_mt_candidate_at.restype = ctypes.POINTER(Candidate)
        self.library.attn_mt_release.argtypes = self.library.attn_mt_close.argtypes = [Handle]
        self.handle = Handle()
        error = Error()
        path = (ctypes.c_char_p * 1)(path.encode())
        if self.library.attn_mt_open(ctypes.byref(self.handle), path, 1, 0, ctypes.byref(error)):
            raise RuntimeError(error.message.decode())

    def translate(self, texts, **options):
        """[(translation, log p)] of the texts; options are those of attn_mt_options."""
        result, error = Handle(), Error()
        sources = (ctypes.c_char_p * len(texts))(*(text.encode() for text in texts))
        if self.library.attn_mt_translate(self.handle, sources, len(texts),
                                          ctypes.byref(Options(**options)), ctypes.byref(result),
                                          ctypes.byref(error)):
            raise RuntimeError(error.message.decode())
        found = [self.library.attn_mt_candidate_at(result, i, 0)[0] for i in range(len(texts))]
        answer = [(candidate.text.decode(), candidate.log_p) for candidate in found]
        self.library.attn_mt_release(result)
        return answer

    def close(self):
        self.library.attn_mt_close(self.handle)


if __name__ == "__main__":
    model = Model(*sys.argv[1:])
    for translation, log_p in model.translate([line.rstrip("\n") for line in sys.stdin]):
        print(f"{translation}\t{log_p:.4f}")
    model.close()
