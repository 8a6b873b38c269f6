# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
#
# captures.py make CAPTURE OUT COUNT SEED - write a capture that has CAPTURE COUNT times and two times more, each between
# other addresses, and each but the first two with one change: a byte of a payload, or the end of a datagram cut off.
#
# captures.py judge CAPTURE OUT - PDML of OUT on the standard input: each copy that has a change is shown otherwise than
# the first one, as malformed or in the value of a field of ours or of plain data.  Others are listed: the packet of the
# copy, and the place in its payload.
#
# captures.py count JSON - PDML of a capture on the standard input: the bytes that the dissector took apart are those that
# the library has counted, by what fi_top --json said of all processes before they ended.
import json
import random
import re
import struct
import sys

HEAD = 200		# bytes of a payload in which changes are made


def packets_of(name):
    data = open(name, "rb").read()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at, found = 24, []
    while at + 16 <= len(data):
        have = struct.unpack_from(order + "I", data, at + 8)[0]
        found.append(bytearray(data[at + 16:at + 16 + have]))
        at += 16 + have
    return found


def payload_at(packet):
    """Behind Ethernet, IPv4, and UDP or TCP; None if there is none."""
    if len(packet) < 34 or packet[12:14] != b"\x08\x00":
        return None
    ip_len, = struct.unpack_from(">H", packet, 16)
    at = 14 + 4 * (packet[14] & 15)
    at += 8 if packet[23] == 17 else 4 * (packet[at + 12] >> 4)
    return at if at < 14 + ip_len else None


MAGIC = b"\xfabric\x00\r\n"
IDS = {1: (24, 32), 3: (24, 32), 6: (24,), 7: (24,), 10: (24,), 11: (24,), 12: (24,), 13: (24,)}


def number_with(packet, at, copy):
    """Another connection id, or epoch, in each copy."""
    if len(packet) >= at + 8:
        packet[at] ^= copy & 0xff
        packet[at + 1] ^= copy >> 8


def datagrams_of(packet, at):
    """Where each begins: the kernel may cut a packet into several later, each with a frame of 16 bytes."""
    while packet[at:at + 4] == b"\x0f\x09\x67\x72" and len(packet) >= at + 16:
        yield at + 16
        at += 16 + struct.unpack_from(">H", packet, at + 6)[0]
    if at < len(packet):
        yield at


def number_datagram(packet, at, copy):
    if len(packet) < at + 16 or packet[at] < 0x80 or packet[at + 1] != 9:
        return
    number_with(packet, at + 8, copy)
    if packet[at] != 0x85 or not packet[at + 3] & 0x40:
        for place in IDS.get(packet[at + 2], ()):
            number_with(packet, at + place, copy)


def moved(packet, copy):
    """The same between other addresses, with other ids of connections: another conversation."""
    packet = bytearray(packet)
    if packet[12:14] == b"\x08\x00":
        packet[27:29] = packet[31:33] = struct.pack(">H", copy)
    at = payload_at(packet)
    if at and packet[23] == 17:
        for place in datagrams_of(packet, at):
            number_datagram(packet, place, copy)
    elif at and (hello := packet.find(MAGIC, at)) >= 0:
        number_with(packet, hello + 32, copy)
    return packet


def change(packet, rand):
    """One change of a packet with a payload.  Returns its place in the payload."""
    at = payload_at(packet)
    where = rand.randrange(at, min(len(packet), at + HEAD))
    if packet[23] == 17 and rand.randrange(4) == 0:
        del packet[where:]
        struct.pack_into(">H", packet, 16, len(packet) - 14)
        struct.pack_into(">H", packet, 38, len(packet) - 34)
    else:
        packet[where] ^= rand.randrange(1, 256)
    return where - at


def changes_of(packets, count, seed):
    """The packet of each copy that is changed, and where its random numbers begin."""
    rand = random.Random(seed)
    full = [i for i, packet in enumerate(packets) if payload_at(packet)]
    return [(rand.choice(full), rand.randrange(1 << 32)) for _ in range(count)]


def make(name, out, count, seed):
    packets, number = packets_of(name), 0
    with open(out, "wb") as file, open(out + ".changes", "w") as list_:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 1 << 18, 1))
        for copy, (which, start) in enumerate([(None, 0)] * 2 + changes_of(packets, count, seed)):
            for i, packet in enumerate(packets):
                packet = moved(packet, copy)
                if i == which:
                    print(i + 1, change(packet, random.Random(start)), file=list_)
                file.write(struct.pack("<IIII", number // 1000, number % 1000 * 1000, len(packet), len(packet)))
                file.write(packet)
                number += 1


FIELD = re.compile(r'<(?:field|proto) name="((?:ofi|_ws\.malformed|data|tcp\.segment_data)[^"]*)"(?:.*? show="([^"]*)")?(?:.*? value="([^"]*)")?')


NUMBERED = ("ofi.rxd.conn", "ofi.rxd.main", "ofi.rxd.cid", "ofi.rxd.peer_cid", "ofi.tcp.epoch")


def as_first(name, show, copy):
    """What moved() has made another number of."""
    if name == "ofi.tcp.epoch":
        copy = (copy & 0xff) << 56 | copy >> 8 << 48
    return int(show, 16) ^ copy


def field_of(match, copy):
    """Name, text and value of a field, as they would be in the first copy."""
    name, show, value = match.groups()
    return (name, as_first(name, show, copy)) if name in NUMBERED else (name, show, value)


def shown(lines, size):
    """For each copy of @size packets what is shown of each."""
    copies, packets = [], 0
    for line in lines:
        if "<packet>" in line:
            if packets % size == 0:
                copies.append([])
            packets += 1
            copies[-1].append([])
        elif match := FIELD.search(line):
            copies[-1][-1].append(field_of(match, len(copies) - 1))
    return copies


def first_difference(one, other):
    """Of two copies, as shown: the packet, and what one of them has alone."""
    for number, (here, there) in enumerate(zip(one, other), 1):
        if here != there:
            return "packet %d, %s" % (number, [field for field in here + there if (field in here) != (field in there)][:4])
    return "packets are missing"


def judge(name, out):
    size, bad = len(packets_of(name)), 0
    copies = shown(sys.stdin, size)
    changes = [line.split() for line in open(out + ".changes")]
    assert len(copies) == len(changes) + 2 and len(copies[-1]) == size, "packets are missing"
    assert copies[0] == copies[1], "copies without a change differ: " + first_difference(*copies[:2])
    for (packet, where), copy in zip(changes, copies[2:]):
        if copy == copies[0]:
            print("not noticed: packet %s, byte %s of its payload" % (packet, where))
            bad += 1
    marked = sum(any("malformed" in field[0] for fields in copy for field in fields) for copy in copies[2:])
    print("%d changed, %d of them malformed, %d not noticed" % (len(changes), marked, bad))
    return bad


PDU = re.compile(r'^  <proto name="ofi\.(?:tcp|xnet)".*? size="(\d+)"')
PLACE = re.compile(r'<field name="ofi\.rxd\.(conn|main|off)".*? show="([^"]*)"')
STREAM = re.compile(r'<field name="ofi\.rxd\.stream".*? size="(\d+)"')


def union_of(pieces):
    """How many bytes, each once, wherever it came."""
    seen = end = 0
    for at, size in sorted(pieces):
        seen += max(0, at + size - max(at, end))
        end = max(end, at + size)
    return seen


def count(name):
    place, streams, seen = {}, {}, 0
    for line in sys.stdin:
        if "<packet>" in line:
            place = {}
        elif match := PDU.search(line):
            seen += int(match[1])
        elif match := PLACE.search(line):
            if match[1] == "conn":
                place = {}	# another datagram of the packet
            place[match[1]] = int(match[2], 0)
        elif match := STREAM.search(line):
            streams.setdefault(place.get("main", place["conn"]), []).append((place["off"], int(match[1])))
    seen += sum(union_of(pieces) for pieces in streams.values())
    items = [item for process in json.load(open(name))["processes"] for ep in process["endpoints"] for item in ep["items"]]
    counted = sum(item.get("received_bytes", 0) for item in items)
    print("%d bytes are seen, %d are counted" % (seen, counted))
    return seen != counted or not seen


if sys.argv[1] == "make":
    make(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
elif sys.argv[1] == "count":
    sys.exit(1 if count(sys.argv[2]) else 0)
else:
    sys.exit(1 if judge(sys.argv[2], sys.argv[3]) else 0)
