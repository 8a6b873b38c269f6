# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""Completion queues, and the transfers that complete in them."""
from __future__ import annotations

import asyncio
import select
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Deque, Dict, Generator, List, Optional, Set

from libfabric._lib import FabricError, check, ffi, lib, text
from libfabric.base import FabricObject
from libfabric.constants import (ADDR_UNSPEC, FI_CQ_FORMAT_TAGGED, FI_GETWAIT, Caps, Err,
                                 WaitObj)

if TYPE_CHECKING:
    from libfabric.domain import Domain
    from libfabric.endpoint import Endpoint

_BATCH = 64  # entries read at once

# Another thread may read the completion that a sleeping one waits for, and the
# descriptor does not tell it: the longest sleep, in seconds.
_SLEEP = 0.1


@dataclass(frozen=True)
class Completion:
    """The end of a transfer.

    flags   kind of transfer: Caps.SEND, RECV, TAGGED...
    length  bytes received
    tag     as sent, of tagged messages
    data    the sender's number, or None where it sent none
    source  the sender's number in the address vector, where caps have SOURCE, or None
    """

    flags: Caps
    length: int
    tag: int
    data: Optional[int]
    source: Optional[int]


class OperationError(FabricError):
    """A transfer failed; completion is what its error entry says, lost is the number of
    bytes that did not fit into the buffer."""

    def __init__(self, call: str, code: int, cause: Optional[str],
                 completion: Optional[Completion] = None, lost: int = 0) -> None:
        super().__init__(call, code, cause)
        self.completion = completion
        self.lost = lost


class Operation:
    """A transfer that was posted. Its buffer is kept, and must not be changed (of a
    receive or read: not be used), until it is done.

    It can be awaited; wait() is for programs without asyncio. Both give the Completion
    or raise OperationError.
    """

    __slots__ = ("call", "endpoint", "_cq", "_context", "_keep", "_completion", "_error",
                 "_futures")

    def __init__(self, call: str, endpoint: "Endpoint", keep: Any) -> None:
        self.call = call
        self.endpoint = endpoint
        self._cq = endpoint.cq
        self._context = ffi.new("struct fi_context2 *")
        self._keep = keep
        self._completion: Optional[Completion] = None
        self._error: Optional[FabricError] = None
        self._futures: List["asyncio.Future[None]"] = []

    @property
    def done(self) -> bool:
        return self._completion is not None or self._error is not None

    def result(self) -> Completion:
        if self._error is not None:
            raise self._error
        if self._completion is None:
            raise RuntimeError(f"{self.call} is in progress")
        return self._completion

    def wait(self, timeout: Optional[float] = None) -> Completion:
        """Blocks until the transfer is done; TimeoutError after timeout seconds, and the
        transfer goes on."""
        if not self._cq.wait_until(lambda: self.done, timeout):
            raise TimeoutError(f"{self.call} is in progress")
        return self.result()

    def cancel(self) -> None:
        """Asks for an end; the transfer is done when its completion says so
        (Err.CANCELED, or success where it was too late)."""
        if not self.done:
            fid = ffi.cast("struct fid *", self.endpoint.c)
            check("fi_cancel", lib.fi_cancel(fid, self._context))

    def __await__(self) -> Generator[Any, None, Completion]:
        future = self._cq._future(self)
        if future is not None:
            yield from future
        return self.result()

    def _end(self, completion: Optional[Completion], error: Optional[FabricError]) -> None:
        self._completion, self._error = completion, error
        keep, self._keep = self._keep, None
        if keep is not None:
            ffi.release(keep)
        for future in self._futures:
            self._cq._wake(future)
        self._futures = []


class CompletionQueue(FabricObject):
    """Tells which transfers are done (fi_cq(3)). Programs wait for an Operation, and
    rarely need the queue; poll() makes progress and completes operations."""

    def __init__(self, domain: "Domain", size: int, wait: WaitObj) -> None:
        attr = ffi.new("struct fi_cq_attr *", {
            "size": size, "format": FI_CQ_FORMAT_TAGGED, "wait_obj": int(wait)})
        out = ffi.new("struct fid_cq **")
        check("fi_cq_open", lib.fi_cq_open(domain.c, attr, out, ffi.NULL))
        super().__init__(out[0], domain)
        self._fabric = domain.fabric
        self._fids = ffi.new("struct fid *[1]", [self.fid])
        self._lock = threading.RLock()
        self._entries = ffi.new("struct fi_cq_tagged_entry[]", _BATCH)
        self._sources = ffi.new("fi_addr_t[]", [ADDR_UNSPEC] * _BATCH)
        self._with_source = bool(domain.info.caps & Caps.SOURCE)
        self._operations: Dict[int, Operation] = {}
        self._events: Deque[Completion] = deque()
        self._futures: Set["asyncio.Future[None]"] = set()
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._scheduled = False
        self._fd = self._descriptor() if wait == WaitObj.FD else -1

    def _descriptor(self) -> int:
        fd = ffi.new("int *")
        check("fi_control(FI_GETWAIT)", lib.fi_control(self.fid, FI_GETWAIT, fd))
        return int(fd[0])

    def fileno(self) -> int:
        """The descriptor; before a program sleeps on it itself, ready_to_sleep() must say
        True."""
        if self._fd < 0:
            raise ValueError("the queue was opened without a descriptor")
        return self._fd

    # ---- reading ------------------------------------------------------------

    def poll(self) -> int:
        """Makes progress, and completes operations; returns how many."""
        total = 0
        with self._lock:
            while True:
                count = self._read()
                if count == -Err.AGAIN:
                    return total
                if count == -Err.AVAIL:
                    total += self._read_error()
                    continue
                for i in range(check("fi_cq_read", count)):
                    self._complete(self._entries[i], self._sources[i])
                total += count
                if count < _BATCH:
                    return total

    def _read(self) -> int:
        if self._with_source:
            return int(lib.fi_cq_readfrom(self.c, self._entries, _BATCH, self._sources))
        return int(lib.fi_cq_read(self.c, self._entries, _BATCH))

    @staticmethod
    def _completion(entry: Any, source: int) -> Completion:
        flags = Caps(entry.flags)
        return Completion(flags, entry.len, entry.tag,
                          entry.data if flags & Caps.REMOTE_CQ_DATA else None,
                          source if source != ADDR_UNSPEC else None)

    def _take(self, entry: Any) -> Optional[Operation]:
        return self._operations.pop(int(ffi.cast("uintptr_t", entry.op_context)), None)

    def _complete(self, entry: Any, source: int) -> None:
        completion = self._completion(entry, source)
        operation = self._take(entry)
        if operation is not None:
            operation._end(completion, None)
        else:
            self._events.append(completion)

    def _read_error(self) -> int:
        entry = ffi.new("struct fi_cq_err_entry *")
        count = lib.fi_cq_readerr(self.c, entry, 0)
        if count == -Err.AGAIN:
            return 0
        check("fi_cq_readerr", count)
        operation = self._take(entry)
        error = OperationError(operation.call if operation else "remote access", entry.err,
                               self._cause(entry), self._completion(entry, ADDR_UNSPEC),
                               entry.olen)
        if operation is None:
            raise error
        operation._end(None, error)
        return 1

    def _cause(self, entry: Any) -> Optional[str]:
        """What the provider says, unless that repeats the text of the code."""
        said = text(lib.fi_cq_strerror(self.c, entry.prov_errno, entry.err_data, ffi.NULL, 0))
        if not said or said == text(lib.fi_strerror(entry.err)):
            return None
        return said

    # ---- waiting ------------------------------------------------------------

    def ready_to_sleep(self) -> bool:
        """False where poll() has something to do first (fi_trywait(3))."""
        result = lib.fi_trywait(self._fabric.c, self._fids, 1)
        if result == -Err.AGAIN:
            return False
        check("fi_trywait", result)
        return True

    def wait_until(self, condition: Callable[[], bool], timeout: Optional[float] = None) -> bool:
        """Reads until the condition holds; False after timeout seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            if condition():
                return True
            self.poll()
            if condition():
                return True
            left = _SLEEP if end is None else min(_SLEEP, end - time.monotonic())
            if left <= 0:
                return False
            if self._fd >= 0 and self.ready_to_sleep():
                poller = select.poll()
                poller.register(self._fd, select.POLLIN)
                poller.poll(left * 1000)

    def next_event(self, timeout: Optional[float] = None) -> Completion:
        """The next completion of no operation of ours: a peer's write() with data."""
        if not self.wait_until(lambda: bool(self._events), timeout):
            raise TimeoutError("no remote write with data")
        return self._events.popleft()

    # ---- asyncio --------------------------------------------------------------

    def _future(self, operation: Operation) -> Optional["asyncio.Future[None]"]:
        """What a task waits for; None where the operation is done."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if operation.done:
                return None
            self._watch(loop)
            future: "asyncio.Future[None]" = loop.create_future()
            operation._futures.append(future)
            self._futures.add(future)
            future.add_done_callback(self._futures.discard)
            return future

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._loop is not loop:
            if self._loop is not None and self._futures and not self._loop.is_closed():
                raise RuntimeError("another event loop waits for this completion queue")
            self._unwatch()
            loop.add_reader(self.fileno(), self._ready)
            self._loop = loop
        if not self._scheduled:
            self._scheduled = True
            loop.call_soon(self._look)

    def _unwatch(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(self._fd)
        self._loop = None
        self._scheduled = False

    def _look(self) -> None:
        self._scheduled = False
        if self._loop is not None:
            self._ready()

    def _ready(self) -> None:
        """The descriptor is readable, or it may be slept on only after a look."""
        try:
            self.poll()
        except FabricError as error:
            self._fail_all(error)
        if not self._futures:
            self._unwatch()
        elif not self._scheduled and self._loop is not None and not self.ready_to_sleep():
            self._scheduled = True
            self._loop.call_soon(self._look)

    def _wake(self, future: "asyncio.Future[None]") -> None:
        self._futures.discard(future)
        loop = future.get_loop()
        if loop.is_closed():
            return
        try:
            here = asyncio.get_running_loop() is loop
        except RuntimeError:
            here = False
        if here:
            _set(future)
        else:
            loop.call_soon_threadsafe(_set, future)

    # ---- operations -----------------------------------------------------------

    def _add(self, operation: Operation) -> None:
        with self._lock:
            self._operations[int(ffi.cast("uintptr_t", operation._context))] = operation

    def _drop(self, operation: Operation) -> None:
        """An operation that was not posted."""
        with self._lock:
            self._operations.pop(int(ffi.cast("uintptr_t", operation._context)), None)
        operation._end(None, FabricError(operation.call, Err.CANCELED))

    def _end_of(self, endpoint: "Endpoint") -> None:
        """The endpoint is closed: its transfers have no other end than this."""
        with self._lock:
            if not self.closed:
                self.poll()
            for operation in [o for o in self._operations.values() if o.endpoint is endpoint]:
                self._drop(operation)

    def _fail_all(self, error: FabricError) -> None:
        with self._lock:
            operations = list(self._operations.values())
            self._operations.clear()
        for operation in operations:
            operation._end(None, error)

    def close(self) -> None:
        if not self.closed:
            self._unwatch()
        super().close()


def _set(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
