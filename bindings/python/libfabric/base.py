# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""What every object has: a parent, children, and an end."""
from __future__ import annotations

import warnings
from types import TracebackType
from typing import Any, List, Optional, Type, TypeVar

from libfabric._lib import check, ffi, lib

Self = TypeVar("Self", bound="FabricObject")


class FabricObject:
    """An open object; a context manager that closes it at the end of the block.

    close() first closes what was opened from the object, last opened first, so closing
    the fabric closes everything. A second close() does nothing.
    """

    def __init__(self, c: Any, parent: Optional["FabricObject"]) -> None:
        self._c = c
        self._parent = parent
        self._children: List[FabricObject] = []
        if parent is not None:
            parent._children.append(self)

    @property
    def closed(self) -> bool:
        return self._c is None

    @property
    def c(self) -> Any:
        """The C object; ValueError once it is closed."""
        if self._c is None:
            raise ValueError(f"{type(self).__name__} is closed")
        return self._c

    @property
    def fid(self) -> Any:
        return ffi.cast("struct fid *", self.c)

    def close(self) -> None:
        if self._c is None:
            return
        for child in reversed(self._children[:]):
            child.close()
        check("fi_close", lib.fi_close(self.fid))
        self._c = None
        if self._parent is not None:
            self._parent._children.remove(self)
        self._closed()

    def _closed(self) -> None:
        """What remains to be done after the C object is gone."""

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_c", None) is not None:
            warnings.warn(f"{type(self).__name__} was not closed", ResourceWarning, source=self)
            self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}{' closed' if self.closed else ''}>"
