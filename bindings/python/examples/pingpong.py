#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""A ping-pong between two processes of one or two hosts.

    pingpong.py                  server
    pingpong.py HOST             client

Messages are numpy arrays. The first message brings the client's address, by which the
server answers.
"""
import sys
import time

import numpy as np

import libfabric as fi

PORT, TAG, ROUNDS, SIZE = "7471", 1, 1000, 64


def run(host=None, provider="tcp", port=PORT):
    caps = fi.Caps.MSG | fi.Caps.TAGGED
    if host:
        info = fi.getinfo(host, port, provider=provider, caps=caps)[0]
    else:
        info = fi.getinfo(service=port, source=True, provider=provider, caps=caps)[0]
    with fi.Fabric(info) as fabric:
        domain = fabric.domain(info)
        cq, av = domain.completion_queue(), domain.address_vector()
        endpoint = domain.endpoint(cq, av)
        if host:
            client(endpoint, av.insert(info.dest_addr))
        else:
            server(endpoint, av)


def client(endpoint, peer):
    endpoint.send(endpoint.address, peer).wait()
    ping, pong = np.arange(SIZE, dtype=np.uint8), np.zeros(SIZE, dtype=np.uint8)
    start = time.perf_counter()
    for _ in range(ROUNDS):
        answer = endpoint.trecv(pong, TAG)
        endpoint.tsend(ping, peer, TAG)
        answer.wait()
    took = time.perf_counter() - start
    assert (ping == pong).all()
    print(f"{SIZE} bytes: {took / ROUNDS / 2 * 1e6:.1f} us half a round trip")


def server(endpoint, av):
    address = bytearray(256)
    length = endpoint.recv(address).wait().length
    peer = av.insert(bytes(address[:length]))
    buffer = np.zeros(SIZE, dtype=np.uint8)
    for _ in range(ROUNDS):
        endpoint.trecv(buffer, TAG).wait()
        sent = endpoint.tsend(buffer, peer, TAG)
        sent.wait()


if __name__ == "__main__":
    run(*sys.argv[1:])
