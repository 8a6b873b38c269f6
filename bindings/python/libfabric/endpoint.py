# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""Endpoints without connections (RDM and DGRAM): messages and remote memory."""
from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Callable, Optional

from libfabric._lib import FabricError, WouldBlock, check, ffi, lib
from libfabric.address import AddressVector
from libfabric.base import FabricObject
from libfabric.completion import CompletionQueue, Operation
from libfabric.constants import ADDR_UNSPEC, Caps, EpType, Err, MrMode
from libfabric.info import Info
from libfabric.memory import Buffer, MemoryRegion, RemoteRegion, Slice, local

if TYPE_CHECKING:
    from libfabric.domain import Domain


class Endpoint(FabricObject):
    """Sends to and receives from peers of an address vector (fi_endpoint(3)).

    Buffers are whatever has the buffer protocol and is contiguous (bytes, bytearray,
    memoryview, numpy arrays), or registered memory; none is copied. Each transfer is an
    Operation. A provider that has no room for one now gets it again, with completions
    read between, for post_timeout seconds; then WouldBlock is raised.
    """

    def __init__(self, domain: "Domain", info: Info, cq: CompletionQueue, av: AddressVector,
                 post_timeout: float) -> None:
        if info.ep_type == EpType.MSG:
            raise ValueError("endpoints with connections (MSG) are not offered")
        out = ffi.new("struct fid_ep **")
        check("fi_endpoint", lib.fi_endpoint(domain.c, info._c, out, ffi.NULL))
        super().__init__(out[0], domain)
        self.info, self.cq, self.av, self.post_timeout = info, cq, av, post_timeout
        self._needs_region = bool(info.mr_mode & MrMode.LOCAL)
        try:
            check("fi_ep_bind", lib.fi_ep_bind(self.c, av.fid, 0))
            check("fi_ep_bind", lib.fi_ep_bind(self.c, cq.fid, int(Caps.SEND | Caps.RECV)))
            check("fi_enable", lib.fi_enable(self.c))
        except FabricError:
            self.close()
            raise

    @property
    def address(self) -> bytes:
        """What a peer gives to AddressVector.insert()."""
        size = ffi.new("size_t *", 256)
        room = ffi.new("uint8_t[]", 256)
        check("fi_getname", lib.fi_getname(self.fid, room, size))
        return bytes(ffi.buffer(room, size[0]))

    # ---- messages -----------------------------------------------------------

    def send(self, buffer: Buffer, dest: int, *, data: Optional[int] = None) -> Operation:
        if data is None:
            return self._post("fi_send", buffer, False,
                              lambda p, n, d, c: lib.fi_send(self.c, p, n, d, dest, c))
        return self._post("fi_senddata", buffer, False,
                          lambda p, n, d, c: lib.fi_senddata(self.c, p, n, d, data, dest, c))

    def recv(self, buffer: Buffer, source: int = ADDR_UNSPEC) -> Operation:
        return self._post("fi_recv", buffer, True,
                          lambda p, n, d, c: lib.fi_recv(self.c, p, n, d, source, c))

    def tsend(self, buffer: Buffer, dest: int, tag: int, *,
              data: Optional[int] = None) -> Operation:
        if data is None:
            return self._post("fi_tsend", buffer, False,
                              lambda p, n, d, c: lib.fi_tsend(self.c, p, n, d, dest, tag, c))
        return self._post("fi_tsenddata", buffer, False, lambda p, n, d, c: lib.fi_tsenddata(
            self.c, p, n, d, data, dest, tag, c))

    def trecv(self, buffer: Buffer, tag: int, ignore: int = 0,
              source: int = ADDR_UNSPEC) -> Operation:
        """The next message with this tag; bits of ignore need not match."""
        return self._post("fi_trecv", buffer, True, lambda p, n, d, c: lib.fi_trecv(
            self.c, p, n, d, source, tag, ignore, c))

    def inject(self, buffer: Any, dest: int) -> None:
        """Sends up to info.inject_size bytes, which are taken at once; no completion."""
        memory = ffi.from_buffer(buffer)
        self._retry("fi_inject", lambda: lib.fi_inject(self.c, memory, len(memory), dest))

    def tinject(self, buffer: Any, dest: int, tag: int) -> None:
        """inject() with a tag."""
        memory = ffi.from_buffer(buffer)
        self._retry("fi_tinject",
                    lambda: lib.fi_tinject(self.c, memory, len(memory), dest, tag))

    # ---- remote memory ------------------------------------------------------

    def write(self, buffer: Buffer, dest: int, remote: RemoteRegion, offset: int = 0, *,
              data: Optional[int] = None) -> Operation:
        """Writes to a peer's region; with data, the peer's completion queue has an event
        (CompletionQueue.next_event())."""
        address, key = remote.address + offset, remote.key
        if data is None:
            return self._post("fi_write", buffer, False, lambda p, n, d, c: lib.fi_write(
                self.c, p, n, d, dest, address, key, c))
        return self._post("fi_writedata", buffer, False, lambda p, n, d, c: lib.fi_writedata(
            self.c, p, n, d, data, dest, address, key, c))

    def read(self, buffer: Buffer, dest: int, remote: RemoteRegion, offset: int = 0) -> Operation:
        """Fills the buffer from a peer's region."""
        address, key = remote.address + offset, remote.key
        return self._post("fi_read", buffer, True, lambda p, n, d, c: lib.fi_read(
            self.c, p, n, d, dest, address, key, c))

    # ---- posting ------------------------------------------------------------

    def _post(self, call: str, buffer: Buffer, writable: bool,
              post: Callable[[Any, int, Any, Any], Any]) -> Operation:
        if self._needs_region and not isinstance(buffer, (MemoryRegion, Slice)):
            raise FabricError(call, Err.INVAL,
                              "mr_mode has LOCAL: the buffer has to be registered memory")
        pointer, size, desc, keep = local(buffer, writable)
        operation = Operation(call, self, keep)
        self.cq._add(operation)
        try:
            self._retry(call, lambda: post(pointer, size, desc, operation._context))
        except BaseException:
            self.cq._drop(operation)
            raise
        return operation

    def _retry(self, call: str, post: Callable[[], Any]) -> None:
        end = None
        while True:
            result = post()
            if result != -Err.AGAIN:
                check(call, result)
                return
            end = end or time.monotonic() + self.post_timeout
            if time.monotonic() >= end:
                raise WouldBlock(call, Err.AGAIN)
            self.cq.poll()

    def _closed(self) -> None:
        self.cq._end_of(self)
