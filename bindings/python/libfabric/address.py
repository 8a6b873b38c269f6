# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""Address vectors: the peers that an endpoint can send to."""
from __future__ import annotations

from typing import TYPE_CHECKING

from libfabric._lib import FabricError, check, ffi, lib, text
from libfabric.base import FabricObject
from libfabric.constants import FI_AV_TABLE, Err

if TYPE_CHECKING:
    from libfabric.domain import Domain


class AddressVector(FabricObject):
    """Peers by number (fi_av(3)): insert() gives the number that transfers take."""

    def __init__(self, domain: "Domain", count: int) -> None:
        attr = ffi.new("struct fi_av_attr *", {"type": FI_AV_TABLE, "count": count})
        out = ffi.new("struct fid_av **")
        check("fi_av_open", lib.fi_av_open(domain.c, attr, out, ffi.NULL))
        super().__init__(out[0], domain)

    def insert(self, address: bytes) -> int:
        """A peer by the address that its Endpoint.address has."""
        peer = ffi.new("fi_addr_t *")
        done = check("fi_av_insert", lib.fi_av_insert(self.c, address, 1, peer, 0, ffi.NULL))
        return self._inserted("fi_av_insert", done, peer[0])

    def insert_service(self, node: str, service: str) -> int:
        """A peer by the name or address of its host, and its port."""
        peer = ffi.new("fi_addr_t *")
        done = check("fi_av_insertsvc", lib.fi_av_insertsvc(
            self.c, node.encode(), service.encode(), peer, 0, ffi.NULL))
        return self._inserted("fi_av_insertsvc", done, peer[0])

    @staticmethod
    def _inserted(call: str, done: int, peer: int) -> int:
        if done != 1:
            raise FabricError(call, Err.INVAL, "the provider does not take this address")
        return peer

    def remove(self, peer: int) -> None:
        check("fi_av_remove", lib.fi_av_remove(self.c, ffi.new("fi_addr_t *", peer), 1, 0))

    def lookup(self, peer: int) -> bytes:
        """The address of a peer."""
        size = ffi.new("size_t *", 256)
        room = ffi.new("uint8_t[]", 256)
        check("fi_av_lookup", lib.fi_av_lookup(self.c, peer, room, size))
        return bytes(ffi.buffer(room, size[0]))

    def text(self, address: bytes) -> str:
        """An address as text."""
        size = ffi.new("size_t *", 256)
        room = ffi.new("char[]", 256)
        return text(lib.fi_av_straddr(self.c, address, room, size)) or ""
