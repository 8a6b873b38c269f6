# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""Messages and remote memory over the OpenFabrics Interfaces: see fi_python(7)."""
from __future__ import annotations

from libfabric._lib import FabricError, WouldBlock, lib as _lib
from libfabric.address import AddressVector
from libfabric.completion import Completion, CompletionQueue, Operation, OperationError
from libfabric.constants import (ADDR_UNSPEC, Caps, EpType, Err, Mode, MrMode, Progress,
                                 Threading, WaitObj)
from libfabric.domain import Domain, Fabric
from libfabric.endpoint import Endpoint
from libfabric.info import Info, getinfo
from libfabric.memory import MemoryRegion, RemoteRegion, Slice

__all__ = [
    "ADDR_UNSPEC", "AddressVector", "Caps", "Completion", "CompletionQueue", "Domain",
    "Endpoint", "EpType", "Err", "Fabric", "FabricError", "Info", "MemoryRegion", "Mode",
    "MrMode", "Operation", "OperationError", "Progress", "RemoteRegion", "Slice", "Threading",
    "WaitObj", "WouldBlock", "getinfo", "version",
]


def version() -> str:
    """The interface that the loaded library implements."""
    number = _lib.fi_version()
    return f"{number >> 16}.{number & 0xffff}"
