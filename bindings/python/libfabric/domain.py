# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""Fabrics and domains, from which everything else is opened."""
from __future__ import annotations

import secrets
from typing import Any, Optional

from libfabric._lib import check, ffi, lib
from libfabric.address import AddressVector
from libfabric.base import FabricObject
from libfabric.completion import CompletionQueue
from libfabric.constants import Caps, MrMode, WaitObj
from libfabric.endpoint import Endpoint
from libfabric.info import Info
from libfabric.memory import MemoryRegion


class Fabric(FabricObject):
    """A network and its provider (fi_fabric(3))."""

    def __init__(self, info: Info) -> None:
        out = ffi.new("struct fid_fabric **")
        check("fi_fabric", lib.fi_fabric(info._c.fabric_attr, out, ffi.NULL))
        super().__init__(out[0], None)

    def domain(self, info: Info) -> "Domain":
        return Domain(self, info)


class Domain(FabricObject):
    """An interface or device, with its limits and rules (fi_domain(3))."""

    def __init__(self, fabric: Fabric, info: Info) -> None:
        out = ffi.new("struct fid_domain **")
        check("fi_domain", lib.fi_domain(fabric.c, info._c, out, ffi.NULL))
        super().__init__(out[0], fabric)
        self.fabric = fabric
        self.info = info

    def completion_queue(self, size: int = 0, wait: WaitObj = WaitObj.FD) -> CompletionQueue:
        """With WaitObj.NONE the queue has no descriptor: waits spin, and asyncio cannot
        be used."""
        return CompletionQueue(self, size, wait)

    def address_vector(self, count: int = 0) -> AddressVector:
        return AddressVector(self, count)

    def endpoint(self, cq: CompletionQueue, av: AddressVector, *, info: Optional[Info] = None,
                 post_timeout: float = 10.0) -> Endpoint:
        """An endpoint, bound and enabled."""
        return Endpoint(self, info or self.info, cq, av, post_timeout)

    def register(self, buffer: Any, access: Caps = Caps(0), *,
                 endpoint: Optional[Endpoint] = None) -> MemoryRegion:
        """Registers a buffer, without a copy. access of 0 is everything that the
        capabilities of the domain permit. Where mr_mode has ENDPOINT, the region
        belongs to that endpoint."""
        return MemoryRegion(self, buffer, access, endpoint)

    def _new_key(self) -> int:
        """A key that peers cannot guess, for a domain whose program chooses them."""
        if self.info.mr_mode & MrMode.PROV_KEY:
            return 0
        size = min(8, self.info._c.domain_attr.mr_key_size)
        return secrets.randbits(8 * size - 1)  # all ones is FI_KEY_NOTAVAIL
