# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""The package over the provider that FABRIC_TEST_PROVIDER names."""
import asyncio
import gc
import os
import threading
import time
import unittest
import warnings
from unittest import mock

import libfabric as fi

try:
    import numpy as np
except ImportError:
    np = None

PROVIDER = os.environ.get("FABRIC_TEST_PROVIDER", "tcp")
CAPS = fi.Caps.MSG | fi.Caps.TAGGED | fi.Caps.RMA
LIMIT = 60  # seconds that only a hang meets


class Pair(unittest.TestCase):
    """Two endpoints of one domain, each in the address vector."""

    wait = fi.WaitObj.FD
    caps = CAPS
    delivered = False

    def setUp(self):
        self.info = fi.getinfo(provider=PROVIDER, caps=self.caps,
                               delivery_complete=self.delivered)[0]
        self.fabric = fi.Fabric(self.info)
        self.addCleanup(self.fabric.close)
        self.domain = self.fabric.domain(self.info)
        self.cq = self.domain.completion_queue(wait=self.wait)
        self.av = self.domain.address_vector()
        self.one = self.domain.endpoint(self.cq, self.av)
        self.two = self.domain.endpoint(self.cq, self.av)
        self.to_one = self.av.insert(self.one.address)
        self.to_two = self.av.insert(self.two.address)


class Discovery(unittest.TestCase):
    def test_info(self):
        info = fi.getinfo(provider=PROVIDER, caps=CAPS)[0]
        self.assertEqual(info.provider, PROVIDER)
        self.assertEqual(info.ep_type, fi.EpType.RDM)
        self.assertEqual(info.caps & CAPS, CAPS)
        self.assertGreater(info.max_msg_size, 65536)
        self.assertIn("prov_name: " + PROVIDER, str(info))

    def test_nothing_fits(self):
        with self.assertRaises(fi.FabricError) as caught:
            fi.getinfo(provider="nosuch")
        self.assertEqual(caught.exception.call, "fi_getinfo")
        self.assertEqual(caught.exception.code, fi.Err.NODATA)
        self.assertIn("fi_info --explain", str(caught.exception))
        self.assertEqual(caught.exception.errno, 61)

    def test_version(self):
        self.assertRegex(fi.version(), r"^\d+\.\d+$")


class Messages(Pair):
    def test_tagged(self):
        buffer = bytearray(100)
        receive = self.two.trecv(buffer, 7)
        sent = self.one.tsend(b"hello", self.to_two, 7)
        done = receive.wait(LIMIT)
        sent.wait(LIMIT)
        self.assertEqual(bytes(buffer[:done.length]), b"hello")
        self.assertEqual((done.tag, done.data), (7, None))
        self.assertIn(fi.Caps.TAGGED, done.flags)

    def test_tag_of_others_waits(self):
        first, second = bytearray(1), bytearray(1)
        self.one.tinject(b"a", self.to_two, 0x11)
        self.one.tinject(b"b", self.to_two, 0x12)
        self.two.trecv(second, 0x12).wait(LIMIT)
        self.two.trecv(first, 0x10, ignore=0xf).wait(LIMIT)
        self.assertEqual(first + second, b"ab")

    def test_plain_with_data(self):
        buffer = bytearray(3)
        receive = self.one.recv(buffer)
        self.two.send(memoryview(b"xyz"), self.to_one, data=99).wait(LIMIT)
        self.assertEqual(receive.wait(LIMIT).data, 99)
        self.assertEqual(buffer, b"xyz")

    def test_empty_and_inject(self):
        buffer = bytearray(4)
        self.one.inject(b"", self.to_two)
        self.assertEqual(self.two.recv(buffer).wait(LIMIT).length, 0)
        self.one.inject(b"four", self.to_two)
        self.two.recv(buffer).wait(LIMIT)
        self.assertEqual(buffer, b"four")

    def test_large(self):
        data = os.urandom(3 << 20)
        buffer = bytearray(len(data))
        receive = self.two.trecv(buffer, 1)
        sent = self.one.tsend(data, self.to_two, 1)
        receive.wait(LIMIT)
        sent.wait(LIMIT)
        self.assertEqual(buffer, data)

    def test_more_than_the_queue_holds(self):
        count = 3 * self.info.tx_size
        buffers = [bytearray(2) for _ in range(count)]
        receives, sends = [], []
        for i in range(count):
            receives.append(self.two.trecv(buffers[i], i))
            sends.append(self.one.tsend(i.to_bytes(2, "big"), self.to_two, i))
        for operation in receives + sends:
            operation.wait(LIMIT)
        self.assertEqual([int.from_bytes(b, "big") for b in buffers], list(range(count)))

    @unittest.skipIf(np is None, "numpy is not installed")
    def test_numpy_in_place(self):
        source = np.arange(1000, dtype=np.float64)
        target = np.zeros(1000)
        where = target.ctypes.data
        receive = self.two.trecv(target, 3)
        self.one.tsend(source, self.to_two, 3).wait(LIMIT)
        receive.wait(LIMIT)
        self.assertTrue((source == target).all())
        self.assertEqual(target.ctypes.data, where)
        with self.assertRaises((ValueError, BufferError)):
            self.one.tsend(source[::2], self.to_two, 3)

    def test_source(self):
        self.fabric.close()
        self.caps = CAPS | fi.Caps.SOURCE
        self.setUp()
        receive = self.two.recv(bytearray(1))
        self.one.send(b"s", self.to_two)
        self.assertEqual(receive.wait(LIMIT).source, self.to_one)


class Spinning(Pair):
    wait = fi.WaitObj.NONE

    def test_without_descriptor(self):
        buffer = bytearray(2)
        receive = self.two.recv(buffer)
        self.one.send(b"ok", self.to_two).wait(LIMIT)
        receive.wait(LIMIT)
        self.assertEqual(buffer, b"ok")
        with self.assertRaises(ValueError):
            self.cq.fileno()


class Errors(Pair):
    def test_truncated(self):
        receive = self.two.trecv(bytearray(3), 1)
        self.one.tsend(b"hello", self.to_two, 1)
        with self.assertRaises(fi.OperationError) as caught:
            receive.wait(LIMIT)
        error = caught.exception
        self.assertEqual((error.call, error.code, error.lost), ("fi_trecv", fi.Err.TRUNC, 2))
        self.assertEqual(error.completion.tag, 1)

    def test_cancel(self):
        receive = self.two.trecv(bytearray(3), 1)
        receive.cancel()
        with self.assertRaises(fi.OperationError) as caught:
            receive.wait(LIMIT)
        self.assertEqual(caught.exception.code, fi.Err.CANCELED)

    def test_timeout(self):
        receive = self.two.recv(bytearray(1))
        with self.assertRaises(TimeoutError):
            receive.wait(0.01)
        with self.assertRaises(RuntimeError):
            receive.result()
        self.assertFalse(receive.done)

    def test_no_room(self):
        """A provider that takes nothing for a while, and one that takes nothing at all."""
        refusals = [-fi.Err.AGAIN] * 3
        real = fi.endpoint.lib

        class Full:
            def __getattr__(self, name):
                return getattr(real, name)

            def fi_tsend(self, *args):
                return refusals.pop() if refusals else real.fi_tsend(*args)

        with mock.patch.object(fi.endpoint, "lib", Full()):
            receive = self.two.trecv(bytearray(1), 1)
            self.one.tsend(b"x", self.to_two, 1).wait(LIMIT)
            receive.wait(LIMIT)
            self.one.post_timeout = 0
            refusals.append(-fi.Err.AGAIN)
            with self.assertRaises(fi.WouldBlock) as caught:
                self.one.tsend(bytearray(1), self.to_two, 1)
        self.assertEqual((caught.exception.call, caught.exception.code),
                         ("fi_tsend", fi.Err.AGAIN))

    def test_read_only_memory(self):
        with self.assertRaises((BufferError, TypeError)):
            self.two.recv(b"constant")

    @unittest.skipIf(PROVIDER in ("shm", "loop"), "any text may be an address of it")
    def test_address_that_is_none(self):
        with self.assertRaises(fi.FabricError) as caught:
            self.av.insert(b"\xff" * 64)
        self.assertEqual(caught.exception.call, "fi_av_insert")

    def test_address(self):
        self.assertEqual(self.av.lookup(self.to_one), self.one.address)
        self.assertIn("://", self.av.text(self.one.address))
        self.av.remove(self.to_one)
        with self.assertRaises(fi.FabricError):
            self.av.lookup(self.to_one)


class RemoteMemory(Pair):
    delivered = True

    def test_write_and_read(self):
        memory = bytearray(range(200))
        with self.domain.register(memory) as region:
            remote = fi.RemoteRegion.unpack(region.remote().pack())
            self.one.write(b"written", self.to_two, remote, 10).wait(LIMIT)
            back = bytearray(9)
            self.one.read(back, self.to_two, remote, 9).wait(LIMIT)
        self.assertEqual(back, b"\x09written\x11")
        self.assertEqual(memory[9:18], back)

    def test_write_with_data(self):
        with self.domain.register(bytearray(8)) as region:
            self.one.write(b"12345678", self.to_two, region.remote(), data=77).wait(LIMIT)
            self.assertEqual(self.cq.next_event(LIMIT).data, 77)

    def test_region_as_buffer(self):
        with self.domain.register(bytearray(b"0123456789")) as region:
            receive = self.two.recv(region[0:3])
            self.one.send(region[5:8], self.to_two).wait(LIMIT)
            receive.wait(LIMIT)
            self.assertEqual(region.buffer, b"5673456789")
            self.assertEqual(len(region), 10)

    def test_refused(self):
        with self.domain.register(bytearray(8)) as region:
            remote = region.remote()
            for bad in (fi.RemoteRegion(remote.address, remote.key ^ 1, 8),
                        fi.RemoteRegion(remote.address + 4, remote.key, 8)):
                with self.assertRaises(fi.OperationError) as caught:
                    self.one.read(bytearray(8), self.to_two, bad).wait(LIMIT)
                self.assertEqual(caught.exception.call, "fi_read")

    def test_read_only_region(self):
        with self.domain.register(b"constant", fi.Caps.REMOTE_READ) as region:
            back = bytearray(8)
            self.one.read(back, self.to_two, region.remote()).wait(LIMIT)
            self.assertEqual(back, b"constant")
            with self.assertRaises(fi.OperationError) as caught:
                self.one.write(b"x", self.to_two, region.remote()).wait(LIMIT)
            self.assertEqual(caught.exception.call, "fi_write")
            self.assertEqual(region.buffer, b"constant")

    def test_memory_is_held(self):
        memory = bytearray(8)
        region = self.domain.register(memory)
        with self.assertRaises(BufferError):
            memory.extend(b"more")
        region.close()
        memory.extend(b"more")


class Lifetimes(Pair):
    def test_buffer_lives_until_done(self):
        receive = self.two.recv(bytearray(8))
        gc.collect()
        self.one.send(os.urandom(8), self.to_two).wait(LIMIT)
        receive.wait(LIMIT)

    def test_buffer_cannot_move(self):
        memory = bytearray(8)
        receive = self.two.recv(memory)
        with self.assertRaises(BufferError):
            memory.extend(b"more")
        self.one.send(b"12345678", self.to_two)
        receive.wait(LIMIT)
        memory.extend(b"more")

    def test_order_of_close(self):
        region = self.domain.register(bytearray(1))
        self.fabric.close()
        for thing in (region, self.one, self.two, self.av, self.cq, self.domain):
            self.assertTrue(thing.closed)
        with self.assertRaises(ValueError):
            self.one.send(b"x", self.to_two)
        self.fabric.close()

    def test_busy(self):
        with self.assertRaises(fi.FabricError) as caught:
            self.av.close()
        self.assertEqual((caught.exception.call, caught.exception.code),
                         ("fi_close", fi.Err.BUSY))
        self.assertFalse(self.av.closed)

    def test_close_ends_operations(self):
        memory = bytearray(8)
        receive = self.two.recv(memory)
        self.two.close()
        with self.assertRaises(fi.FabricError) as caught:
            receive.wait(LIMIT)
        self.assertEqual(caught.exception.code, fi.Err.CANCELED)
        memory.extend(b"more")

    def test_dropped_without_close(self):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            fi.Fabric(self.info).domain(self.info)
            gc.collect()
        self.assertIn(ResourceWarning, [w.category for w in seen])


class Asyncio(Pair):
    def test_gather(self):
        async def exchange():
            buffers = [bytearray(4) for _ in range(50)]
            receives = [self.two.trecv(b, i) for i, b in enumerate(buffers)]
            sends = [self.one.tsend(i.to_bytes(4, "big"), self.to_two, i) for i in range(50)]
            done = await asyncio.wait_for(asyncio.gather(*receives, *sends), LIMIT)
            self.assertEqual([c.tag for c in done[:50]], list(range(50)))
            return [int.from_bytes(b, "big") for b in buffers]

        self.assertEqual(asyncio.run(exchange()), list(range(50)))
        # another loop, after the first one has ended
        self.assertEqual(asyncio.run(exchange()), list(range(50)))

    def test_sleeps(self):
        """A task that waits for a peer takes no processor time."""
        async def wait_for_peer():
            receive = self.two.recv(bytearray(1))
            asyncio.get_running_loop().call_later(
                1.0, lambda: self.one.send(b"x", self.to_two))
            start = time.thread_time()
            await asyncio.wait_for(receive, LIMIT)
            return time.thread_time() - start

        self.assertLess(asyncio.run(wait_for_peer()), 0.5)

    def test_error(self):
        async def truncated():
            receive = self.two.recv(bytearray(1))
            await self.one.send(b"long", self.to_two)
            await receive

        with self.assertRaises(fi.OperationError) as caught:
            asyncio.run(truncated())
        self.assertEqual(caught.exception.code, fi.Err.TRUNC)

    def test_task_that_is_cancelled(self):
        async def give_up():
            receive = self.two.recv(bytearray(1))
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(receive, 0.05)
            self.one.send(b"x", self.to_two)
            await asyncio.wait_for(receive, LIMIT)

        asyncio.run(give_up())

    def test_beside_a_thread(self):
        """A thread that reads the queue wakes the task whose transfer it completes."""
        stop = threading.Event()

        def reader():
            while not stop.is_set():
                self.cq.poll()

        thread = threading.Thread(target=reader)
        thread.start()
        try:
            async def exchange():
                for i in range(20):
                    receive = self.two.trecv(bytearray(1), i)
                    self.one.tsend(b"x", self.to_two, i)
                    await asyncio.wait_for(receive, LIMIT)

            asyncio.run(exchange())
        finally:
            stop.set()
            thread.join()


if __name__ == "__main__":
    unittest.main()
