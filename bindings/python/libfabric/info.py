# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""fi_getinfo(3): the endpoints that can be opened, as objects."""
from __future__ import annotations

from typing import Any, List, Optional

from libfabric._lib import check, ffi, lib, text
from libfabric.constants import (API_VERSION, FI_DELIVERY_COMPLETE, FI_NUMERICHOST,
                                 FI_SOURCE, FI_TYPE_INFO, Caps, EpType, Mode, MrMode, Progress,
                                 Threading)

# What the package takes care of where a provider asks for it.
_MODES = Mode.CONTEXT | Mode.CONTEXT2
_MR_MODES = (MrMode.LOCAL | MrMode.VIRT_ADDR | MrMode.ALLOCATED | MrMode.PROV_KEY
             | MrMode.ENDPOINT)


class Info:
    """One endpoint that can be opened, as fi_getinfo(3) describes it."""

    def __init__(self, c: Any) -> None:
        self._c = c

    @property
    def provider(self) -> str:
        return text(self._c.fabric_attr.prov_name) or ""

    @property
    def fabric(self) -> str:
        return text(self._c.fabric_attr.name) or ""

    @property
    def domain(self) -> str:
        return text(self._c.domain_attr.name) or ""

    @property
    def ep_type(self) -> EpType:
        return EpType(self._c.ep_attr.type)

    @property
    def caps(self) -> Caps:
        return Caps(self._c.caps)

    @property
    def mode(self) -> Mode:
        return Mode(self._c.mode)

    @property
    def mr_mode(self) -> MrMode:
        return MrMode(self._c.domain_attr.mr_mode)

    @property
    def threading(self) -> Threading:
        return Threading(self._c.domain_attr.threading)

    @property
    def progress(self) -> Progress:
        return Progress(self._c.domain_attr.data_progress)

    @property
    def protocol(self) -> int:
        return int(self._c.ep_attr.protocol)

    @property
    def addr_format(self) -> int:
        return int(self._c.addr_format)

    @property
    def src_addr(self) -> Optional[bytes]:
        """The address of the endpoint, in addr_format."""
        return self._address(self._c.src_addr, self._c.src_addrlen)

    @property
    def dest_addr(self) -> Optional[bytes]:
        """The address of the peer that node and service named."""
        return self._address(self._c.dest_addr, self._c.dest_addrlen)

    @property
    def max_msg_size(self) -> int:
        return int(self._c.ep_attr.max_msg_size)

    @property
    def inject_size(self) -> int:
        return int(self._c.tx_attr.inject_size)

    @property
    def tx_size(self) -> int:
        return int(self._c.tx_attr.size)

    @property
    def rx_size(self) -> int:
        return int(self._c.rx_attr.size)

    @property
    def cq_data_size(self) -> int:
        return int(self._c.domain_attr.cq_data_size)

    @staticmethod
    def _address(pointer: Any, size: int) -> Optional[bytes]:
        return None if pointer == ffi.NULL else bytes(ffi.buffer(pointer, size))

    def __str__(self) -> str:
        """All attributes, as fi_info -v prints them."""
        room = ffi.new("char[]", 16384)
        return text(lib.fi_tostr_r(room, len(room), self._c, FI_TYPE_INFO)) or ""

    def __repr__(self) -> str:
        return f"<Info {self.provider} {self.ep_type.name} {self.domain}>"


def _copy(c: Any) -> Info:
    copy = lib.fi_dupinfo(c)
    if copy == ffi.NULL:
        raise MemoryError("fi_dupinfo")
    return Info(ffi.gc(copy, lib.fi_freeinfo))


def _name(value: Optional[str], keep: List[Any]) -> Any:
    """A C string for an attribute of hints, kept alive by @keep."""
    if value is None:
        return ffi.NULL
    keep.append(ffi.new("char[]", value.encode()))
    return keep[-1]


def getinfo(node: Optional[str] = None, service: Optional[str] = None, *,
            provider: Optional[str] = None, fabric: Optional[str] = None,
            domain: Optional[str] = None, ep_type: EpType = EpType.RDM,
            caps: Caps = Caps(0), threading: Threading = Threading.SAFE,
            progress: Progress = Progress.UNSPEC, mr_mode: MrMode = _MR_MODES,
            delivery_complete: bool = False, source: bool = False,
            numeric: bool = False) -> List[Info]:
    """The endpoints that can be opened and have what is asked for, best first.

    node and service name a peer or, with source=True, this end. With delivery_complete
    sends and writes are done when the peer's memory has them, and so tell that a peer
    refused them; else when the buffer is free. An empty list is
    never returned: where nothing fits, FabricError has code Err.NODATA.
    """
    keep: List[Any] = []
    hints = ffi.gc(lib.fi_dupinfo(ffi.NULL), lib.fi_freeinfo)
    if hints == ffi.NULL:
        raise MemoryError("fi_dupinfo")
    hints.caps, hints.mode = int(caps), int(_MODES)
    hints.ep_attr.type = int(ep_type)
    hints.tx_attr.op_flags = FI_DELIVERY_COMPLETE if delivery_complete else 0
    hints.domain_attr.mr_mode = int(mr_mode)
    hints.domain_attr.threading = int(threading)
    hints.domain_attr.data_progress = int(progress)
    names = ((hints.fabric_attr, "prov_name", provider), (hints.fabric_attr, "name", fabric),
             (hints.domain_attr, "name", domain))
    for attr, field, value in names:
        setattr(attr, field, _name(value, keep))
    flags = (FI_SOURCE if source else 0) | (FI_NUMERICHOST if numeric else 0)
    found = ffi.new("struct fi_info **")
    try:
        result = lib.fi_getinfo(API_VERSION, _name(node, keep), _name(service, keep), flags,
                                hints, found)
    finally:
        # these strings are not fi_freeinfo()'s to free
        for attr, field, _value in names:
            setattr(attr, field, ffi.NULL)
    check("fi_getinfo", result, "'fi_info --explain' tells why nothing fits")
    return _list(found[0])


def _list(first: Any) -> List[Info]:
    """The entries of a list of C, which is freed."""
    infos = []
    try:
        entry = first
        while entry != ffi.NULL:
            infos.append(_copy(entry))
            entry = entry.next
    finally:
        lib.fi_freeinfo(first)
    return infos
