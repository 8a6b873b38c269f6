# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""Buffers and registered memory."""
from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Tuple, Union

from libfabric._lib import FabricError, check, ffi, lib
from libfabric.base import FabricObject
from libfabric.constants import Caps, Err, MrMode

if TYPE_CHECKING:
    from libfabric.domain import Domain
    from libfabric.endpoint import Endpoint


@dataclass(frozen=True)
class RemoteRegion:
    """What a peer needs to access a region: send pack() to it, and unpack() there."""

    address: int
    key: int
    size: int

    def pack(self) -> bytes:
        return struct.pack("!QQQ", self.address, self.key, self.size)

    @classmethod
    def unpack(cls, data: Any) -> "RemoteRegion":
        return cls(*struct.unpack("!QQQ", bytes(data)))


@dataclass(frozen=True)
class Slice:
    """A part of a registered region, as the local buffer of a transfer."""

    region: "MemoryRegion"
    offset: int
    size: int


class MemoryRegion(FabricObject):
    """Registered memory (fi_mr(3)); the buffer is kept, and stays where it is, until
    close() has returned. A region, or region[first:end] in bytes, is the buffer of a
    transfer."""

    def __init__(self, domain: "Domain", buffer: Any, access: Caps,
                 endpoint: Optional["Endpoint"]) -> None:
        access = access or self._all(domain.info.caps)
        write = bool(access & (Caps.RECV | Caps.READ | Caps.REMOTE_WRITE))
        self._memory = ffi.from_buffer(buffer, require_writable=write)
        self.buffer = buffer
        self.size = len(self._memory)
        self._virtual = bool(domain.info.mr_mode & MrMode.VIRT_ADDR)
        out = ffi.new("struct fid_mr **")
        check("fi_mr_reg", lib.fi_mr_reg(domain.c, self._memory, self.size, int(access), 0,
                                         domain._new_key(), 0, out, ffi.NULL))
        super().__init__(out[0], domain)
        if domain.info.mr_mode & MrMode.ENDPOINT:
            self._bind(endpoint)

    @staticmethod
    def _all(caps: Caps) -> Caps:
        access = Caps(0)
        if caps & (Caps.MSG | Caps.TAGGED):
            access |= Caps.SEND | Caps.RECV
        if caps & Caps.RMA:
            access |= Caps.READ | Caps.WRITE | Caps.REMOTE_READ | Caps.REMOTE_WRITE
        return access

    def _bind(self, endpoint: Optional["Endpoint"]) -> None:
        try:
            if endpoint is None:
                raise FabricError("fi_mr_bind", Err.INVAL, "mr_mode has ENDPOINT: name one")
            check("fi_mr_bind", lib.fi_mr_bind(self.c, endpoint.fid, 0))
            check("fi_mr_enable", lib.fi_mr_enable(self.c))
        except FabricError:
            self.close()
            raise

    @property
    def desc(self) -> Any:
        return lib.fi_mr_desc(self.c)

    @property
    def key(self) -> int:
        return int(lib.fi_mr_key(self.c))

    def remote(self) -> RemoteRegion:
        address = int(ffi.cast("uintptr_t", self._memory)) if self._virtual else 0
        return RemoteRegion(address, self.key, self.size)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, part: slice) -> Slice:
        first, end, step = part.indices(self.size)
        if step != 1:
            raise ValueError("a part of a region is contiguous")
        return Slice(self, first, max(0, end - first))

    def _closed(self) -> None:
        ffi.release(self._memory)


Buffer = Union[MemoryRegion, Slice, Any]


def local(buffer: Buffer, writable: bool) -> Tuple[Any, int, Any, Any]:
    """A buffer as a transfer takes it: pointer, bytes, descriptor, and what has to be
    kept until the transfer ends. Nothing is copied."""
    if isinstance(buffer, MemoryRegion):
        buffer = buffer[:]
    if isinstance(buffer, Slice):
        region = buffer.region
        return region._memory + buffer.offset, buffer.size, region.desc, None
    memory = ffi.from_buffer(buffer, require_writable=writable)
    return memory, len(memory), ffi.NULL, memory
