#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""Remote memory, with asyncio: two endpoints of one process.

    rma.py [PROVIDER]

The owner registers an array and sends where it is; the other end reads a part of it,
and writes its squares back.
"""
import asyncio
import sys

import numpy as np

import libfabric as fi


async def owner(domain, endpoint, peer, values):
    with domain.register(values) as region:
        await endpoint.send(region.remote().pack(), peer)
        finished = bytearray(1)
        await endpoint.recv(finished)
    print("squares:", values)


async def worker(endpoint, peer):
    packed = bytearray(24)
    await endpoint.recv(packed)
    remote = fi.RemoteRegion.unpack(packed)
    values = np.zeros(remote.size // 8, dtype=np.int64)
    await endpoint.read(values, peer, remote)
    values *= values
    await endpoint.write(values, peer, remote)
    await endpoint.send(b"!", peer)


def main(provider="tcp"):
    info = fi.getinfo(provider=provider, caps=fi.Caps.MSG | fi.Caps.RMA)[0]
    with fi.Fabric(info) as fabric:
        domain = fabric.domain(info)
        cq, av = domain.completion_queue(), domain.address_vector()
        one, two = domain.endpoint(cq, av), domain.endpoint(cq, av)
        to_one, to_two = av.insert(one.address), av.insert(two.address)

        async def both():
            values = np.arange(10, dtype=np.int64)
            await asyncio.gather(owner(domain, one, to_two, values), worker(two, to_one))

        asyncio.run(both())


if __name__ == "__main__":
    main(*sys.argv[1:])
