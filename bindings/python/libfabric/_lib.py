# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""The loaded library, and errors of its calls."""
from __future__ import annotations

from typing import Any, Optional

from libfabric._abi import ffi as _ffi
from libfabric.constants import Err

ffi: Any = _ffi

try:
    lib: Any = ffi.dlopen("libfabric-ffi.so.1")
except OSError as error:
    raise ImportError(
        f"libfabric-ffi.so.1 cannot be loaded ({error}); it comes with libfabric "
        "(Debian package libfabric-ffi1), and LD_LIBRARY_PATH may name its directory"
    ) from error


def text(pointer: Any) -> Optional[str]:
    """A C string, or None for NULL."""
    return None if pointer == ffi.NULL else ffi.string(pointer).decode(errors="replace")


class FabricError(OSError):
    """A call failed.

    call   name of the C function, or of the transfer whose completion is an error
    code   the positive FI_E number: an Err where it is one that this package names
    cause  what is known besides the code, or None
    """

    def __init__(self, call: str, code: int, cause: Optional[str] = None) -> None:
        message = text(lib.fi_strerror(code)) or "unknown error"
        super().__init__(code, f"{call}: {message}" + (f" ({cause})" if cause else ""))
        self.call = call
        self.code: int = Err(code) if code in Err.__members__.values() else code
        self.cause = cause

    def __str__(self) -> str:
        return str(self.strerror)


class WouldBlock(FabricError):
    """The provider takes no further transfer now (FI_EAGAIN); nothing was posted."""


def check(call: str, result: int, cause: Optional[str] = None) -> int:
    """The result of a C function, unless it is a negative error: then an exception."""
    if result >= 0:
        return result
    raise (WouldBlock if -result == Err.AGAIN else FabricError)(call, -result, cause)
