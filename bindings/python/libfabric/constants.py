# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""Numbers of the interface, as enums: NAME here is FI_NAME (or the prefix in
the class's text and NAME) in C."""
from __future__ import annotations

import enum


class Caps(enum.IntFlag):
    """FI_: capabilities, directions, access rights, and kinds of completion."""

    MSG = 1 << 1
    RMA = 1 << 2
    TAGGED = 1 << 3
    ATOMIC = 1 << 4
    MULTICAST = 1 << 5
    COLLECTIVE = 1 << 6
    READ = 1 << 8
    WRITE = 1 << 9
    RECV = 1 << 10
    SEND = 1 << 11
    REMOTE_READ = 1 << 12
    REMOTE_WRITE = 1 << 13
    MULTI_RECV = 1 << 16
    REMOTE_CQ_DATA = 1 << 17
    TRIGGER = 1 << 20
    FENCE = 1 << 21
    XPU = 1 << 44
    HMEM = 1 << 47
    RMA_PMEM = 1 << 49
    SOURCE_ERR = 1 << 50
    LOCAL_COMM = 1 << 51
    REMOTE_COMM = 1 << 52
    SHARED_AV = 1 << 53
    RMA_EVENT = 1 << 56
    SOURCE = 1 << 57
    NAMED_RX_CTX = 1 << 58
    DIRECTED_RECV = 1 << 59


class Mode(enum.IntFlag):
    """FI_: what a provider asks of the program; the package does what these two ask."""

    CONTEXT = 1 << 59
    CONTEXT2 = 1 << 52


class MrMode(enum.IntFlag):
    """FI_MR_: what the program takes care of when memory is registered."""

    LOCAL = 1 << 2
    VIRT_ADDR = 1 << 4
    ALLOCATED = 1 << 5
    PROV_KEY = 1 << 6
    ENDPOINT = 1 << 9


class EpType(enum.IntEnum):
    """FI_EP_: kinds of endpoint."""

    UNSPEC = 0
    MSG = 1
    DGRAM = 2
    RDM = 3


class Progress(enum.IntEnum):
    """FI_PROGRESS_: whose thread makes progress."""

    UNSPEC = 0
    AUTO = 1
    MANUAL = 2
    CONTROL_UNIFIED = 3


class Threading(enum.IntEnum):
    """FI_THREAD_: which calls the program does not make concurrently."""

    UNSPEC = 0
    SAFE = 1
    FID = 2
    DOMAIN = 3
    COMPLETION = 4
    ENDPOINT = 5


class WaitObj(enum.IntEnum):
    """FI_WAIT_: how a completion queue is waited for."""

    NONE = 0
    FD = 3


class Err(enum.IntEnum):
    """FI_E: the errors that programs tell apart; others are plain integers."""

    NOENT = 2
    INTR = 4
    IO = 5
    AGAIN = 11
    NOMEM = 12
    ACCES = 13
    BUSY = 16
    NODEV = 19
    INVAL = 22
    MFILE = 24
    NOSYS = 38
    NOMSG = 42
    NODATA = 61
    MSGSIZE = 90
    OPNOTSUPP = 95
    ADDRNOTAVAIL = 99
    CONNABORTED = 103
    CONNRESET = 104
    ISCONN = 106
    NOTCONN = 107
    SHUTDOWN = 108
    TIMEDOUT = 110
    CONNREFUSED = 111
    HOSTDOWN = 112
    HOSTUNREACH = 113
    CANCELED = 125
    KEYREJECTED = 129
    AVAIL = 259
    TRUNC = 265
    NOKEY = 266
    OVERRUN = 268


API_VERSION = 2 << 16 | 7
ADDR_UNSPEC = 2**64 - 1

# FI_ names of other groups, for the package itself.
FI_SOURCE = 1 << 57
FI_NUMERICHOST = 1 << 55
FI_DELIVERY_COMPLETE = 1 << 28
FI_GETWAIT = 5
FI_CQ_FORMAT_TAGGED = 4
FI_AV_TABLE = 2
FI_TYPE_INFO = 0
