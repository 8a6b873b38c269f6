# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""datagrams.py PROGRAM [GROUP] - a program with UDP sockets, and datagrams.c as its peer.

Every datagram that it sends comes back from the endpoint unchanged; with GROUP also by multicast,
in both directions.  Prints "ok WHAT" for each step, "skip WHY" where the host has no multicast on
its loopback interface; the first failure ends it with status 1.
"""

import os
import socket
import subprocess
import sys

TIMEOUT = 30
LO = socket.inet_aton("127.0.0.1")


def bound():
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    sock.settimeout(TIMEOUT)
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, LO)
    return sock


def member(group, port):
    """A socket that receives what is sent to the group, as any program would open it."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((group, port))
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group) + LO)
    sock.settimeout(TIMEOUT)
    return sock


def expect(sock, what, name):
    data, source = sock.recvfrom(4096)
    assert data == what, f"{len(data)} bytes instead of the {len(what)} that were sent"
    assert source == name, f"from {source} instead of {name}"


def unicast(sock, peer):
    for size in list(range(0, 70)) + [100, 255, 256, 257, 1000, 1471, 1472]:
        data = os.urandom(size)
        sock.sendto(data, peer)
        expect(sock, data, peer)
    print("ok datagrams of 0 to 1472 bytes, both ways")
    # what an earlier release of this library, and what ofi_rxd of any, begin their datagrams with
    for data in (bytes.fromhex("0f096772010000040000000000000000") + b"abcd", b"\x02\x09" + bytes(86)):
        sock.sendto(data, peer)
        expect(sock, data, peer)
    print("ok no datagram is interpreted")


def multicast(sock, group, port, peer):
    listener = member(group, port)
    sock.sendto(b"group for all", peer)
    expect(listener, b"for all", peer)
    expect(sock, b"for all", peer)      # the endpoint is a member, and returns what it receives
    print("ok the endpoint sends to the group, a socket receives")
    sock.sendto(b"from a socket", (group, port))
    expect(listener, b"from a socket", sock.getsockname())
    expect(sock, b"from a socket", peer)
    print("ok a socket sends to the group, the endpoint receives")
    listener.close()


def has_multicast(group):
    sock = bound()
    port = sock.getsockname()[1]
    try:
        listener = member(group, port)
        listener.settimeout(2)
        sock.sendto(b"x", (group, port))
        return listener.recv(10) == b"x"
    except OSError:
        return False


def main():
    program, group = sys.argv[1], (sys.argv[2:] or [None])[0]
    sock = bound()
    port = sock.getsockname()[1]
    if group and not has_multicast(group):
        print("skip the loopback interface has no multicast: try ip route add table local "
              "multicast 224.0.0.0/4 dev lo")
        return 0
    run = subprocess.Popen([program, str(port)] + ([group] if group else []),
                           stdout=subprocess.PIPE, text=True)
    try:
        line = run.stdout.readline()
        assert line.strip().isdigit(), line.strip()
        peer = ("127.0.0.1", int(line))
        unicast(sock, peer)
        if group:
            multicast(sock, group, port, peer)
        sock.sendto(b"end", peer)
        assert run.wait(TIMEOUT) == 0, run.stdout.read().strip()
    finally:
        run.kill()
        run.wait()
    return 0


try:
    sys.exit(main())
except (AssertionError, OSError, subprocess.TimeoutExpired) as why:
    print(f"failed: {why}")
    sys.exit(1)
