-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- Copyright (c) 2026 the libfabric authors.
--
-- libfabric.lua - a dissector for Wireshark and tshark.  What it takes apart:
--
--   ofi.tcp    the native format of provider tcp: handshakes, frames, striped lanes, records of what recovers or has rails
--   ofi.xnet   the published format of provider tcp (FI_PROTO_SOCK_TCP, FI_PROTO_XNET)
--   ofi.rxd    reliable datagrams (provider ofi_rxd over udp), native, and rails
--   ofi.udp    the framed datagrams of provider udp
--   ofi.rxm    messages of ofi_rxm, native and published, inside of the two formats over TCP
--   ofi.eng    the packets of the library's engine, inside of the native formats
--
-- Connections are recognised by their handshakes: a capture has to begin with them.
--
--   tshark -X lua_script:libfabric.lua -r FILE -O ofi.tcp,ofi.eng
--
-- The installed file is made of names.lua, engine.lua, tcp.lua and rxd.lua, in this order.

local FRAME = 8			-- bytes of a frame's own header
local HELLO = 88		-- of a handshake packet of tcp
local RECORD = 24		-- of a record's header, of a connection of tcp that recovers
local RECORD_MAX = 65536	-- no record carries more
local RECOVERS = 0x04		-- of the features that a handshake of tcp announces
local RAILS_MARK = 0x6c696172	-- begins a list of addresses in the handshake of ofi.rxd
local RAILS = 8			-- entries of a list of addresses
local STRIPED = 0x8000
local MAGIC = "fa62726963000d0a"
local HDR_MAX = 4096		-- no header of a packet is longer

local function names(...)
	local map = {}
	for i, name in ipairs({ ... }) do
		map[i] = name
	end
	return map
end

local ENG_OPS = names("EAGER", "RTS", "CTS", "DATA", "ACK", "NACK", "XOFF", "XON", "READ", "WRITE", "ATOMIC", "SHARE")
local RXD_TYPES = names("HELLO", "RETRY", "WELCOME", "REFUSE", "DATA", "PROBE", "RESET", "PATH_CHALLENGE",
			"PATH_RESPONSE", "SHAKE", "RAIL_ASK", "RAIL_ANSWER", "RAIL_PROOF")
local RXD_PROTECTED = 0x85	-- first byte of all datagrams of protected endpoints
local RXD_TAG = 16		-- bytes behind a sealed body
-- What stands in the clear there.
local RXD_CLEAR = { HELLO = true, RETRY = true, REFUSE = true, SHAKE = true, PROBE = true, RESET = true }
local TCP_TYPES = names("HELLO", "WELCOME", "REFUSE", "CHECK")
local TCP_CTLS = names("PARK", "PARK_ACK", "PARK_NACK")
local TCP_RECORDS = names("DATA", "END", "TAKEN", "RAILS", "DOWN", "PROOF")
local FAMILIES = { [0] = "none", [4] = "IPv4", [6] = "IPv6" }
local KINDS = names("RDM", "MSG")
local RXM_KINDS = names("EAGER", "RNDV", "RNDV_DONE")
local AMO_KINDS = { [0] = "base", "fetch", "compare" }
local XNET_OPS = { [0] = "message", "tagged message", "read request", "read response", "write", "announcement",
		   "clear to send", "announced data", "packet" }
local XNET_TYPES = { [0] = "request", [1] = "response", [6] = "refusal" }
local PKT_TYPES = { [0] = "eager", "segment", "rendezvous request", "read done", "atomic request",
		    "atomic response", "credit", "write offer", "write done" }
local PKT_OPS = { [0] = "message", "tagged", [6] = "atomic", [7] = "fetching atomic", [8] = "comparing atomic" }

-- ---- protocols and fields ------------------------------------------------------------------

local eng = Proto("ofi.eng", "libfabric engine packet")
local rxd = Proto("ofi.rxd", "libfabric reliable datagrams")
local tcp = Proto("ofi.tcp", "libfabric tcp provider, native format")
local udp = Proto("ofi.udp", "libfabric udp provider, framed datagrams")
local rxm = Proto("ofi.rxm", "libfabric rxm provider")
local xnet = Proto("ofi.xnet", "libfabric tcp provider, published format")

local f = {}

local function field(proto, name, kind, text, ...)
	local full = proto.name:lower() .. "." .. name
	f[full] = kind(full, text, ...)
end

field(eng, "op", ProtoField.uint8, "Operation", base.DEC, ENG_OPS)
field(eng, "flags", ProtoField.uint8, "Flags", base.HEX)
field(eng, "ctx", ProtoField.uint16, "Receive context")
field(eng, "id", ProtoField.uint32, "Id", base.HEX)
field(eng, "len", ProtoField.uint64, "Length")
field(eng, "tag", ProtoField.uint64, "Tag", base.HEX)
field(eng, "data", ProtoField.uint64, "Completion data", base.HEX)
field(eng, "total", ProtoField.uint64, "Length of the whole operation")
field(eng, "rx_id", ProtoField.uint32, "Receiver's id", base.HEX)
field(eng, "off", ProtoField.uint64, "Offset")
field(eng, "err", ProtoField.uint32, "Error (FI_E*)")
field(eng, "addr", ProtoField.uint64, "Remote address", base.HEX)
field(eng, "rlen", ProtoField.uint64, "Remote length")
field(eng, "key", ProtoField.uint64, "Remote key", base.HEX)
field(eng, "amo_kind", ProtoField.uint8, "Kind of atomic", base.DEC, AMO_KINDS)
field(eng, "amo_op", ProtoField.uint8, "enum fi_op")
field(eng, "amo_type", ProtoField.uint8, "enum fi_datatype")
field(eng, "share", ProtoField.bytes, "Shared device memory")
field(eng, "payload", ProtoField.bytes, "Payload")
field(eng, "rest", ProtoField.bytes, "Other bytes")

field(tcp, "type", ProtoField.uint8, "Handshake", base.DEC, TCP_TYPES)
field(tcp, "version", ProtoField.uint8, "Newest version")
field(tcp, "oldest", ProtoField.uint8, "Oldest version")
field(tcp, "size", ProtoField.uint16, "Length of the handshake packet")
field(tcp, "kind", ProtoField.uint8, "Endpoint type", base.DEC, KINDS)
field(tcp, "data_len", ProtoField.uint16, "Private data or text, bytes")
field(tcp, "reason", ProtoField.uint32, "Reason of the refusal")
field(tcp, "features", ProtoField.uint8, "Features", base.HEX)
field(tcp, "lanes", ProtoField.uint8, "Lanes")
field(tcp, "lane", ProtoField.uint8, "Lane")
field(tcp, "engine", ProtoField.uint8, "Version of the engine's packets")
field(tcp, "engine_oldest", ProtoField.uint8, "Oldest version of the engine's packets")
field(tcp, "release", ProtoField.string, "Release")
field(tcp, "commit", ProtoField.uint32, "Commit", base.HEX)
field(tcp, "epoch", ProtoField.uint64, "Epoch", base.HEX)
field(tcp, "serial", ProtoField.uint64, "Serial")
field(tcp, "prev", ProtoField.uint64, "Serial before it")
field(tcp, "max_payload", ProtoField.uint64, "Longest payload of a frame")
field(tcp, "addr", ProtoField.bytes, "Address of the sender")
field(tcp, "rest", ProtoField.bytes, "Other bytes")
field(tcp, "private", ProtoField.bytes, "Private data")
field(tcp, "hdr_len", ProtoField.uint16, "Header length", base.HEX)
field(tcp, "len", ProtoField.uint64, "Payload length")
field(tcp, "ctl", ProtoField.uint64, "Control frame", base.DEC, TCP_CTLS)
field(tcp, "stripe", ProtoField.bytes, "Striped payload of this lane")
field(tcp, "nonce", ProtoField.uint64, "Number to be hashed", base.HEX)
field(tcp, "hash", ProtoField.uint64, "Hash of the receiver's number", base.HEX)
field(tcp, "record", ProtoField.uint32, "Record", base.DEC, TCP_RECORDS)
field(tcp, "record_len", ProtoField.uint32, "Bytes of the record")
field(tcp, "at", ProtoField.uint64, "Offset in the stream")
field(tcp, "taken", ProtoField.uint64, "Bytes of the other stream that were taken")
field(tcp, "down", ProtoField.uint64, "Entry of the sender's list that does not work")
field(tcp, "stream", ProtoField.bytes, "Bytes of the stream")
field(tcp, "rail_key", ProtoField.bytes, "Key of the hashes")
field(tcp, "rail_family", ProtoField.uint8, "Family of an offered address", base.DEC, FAMILIES)
field(tcp, "rail_port", ProtoField.uint16, "Port")
field(tcp, "rail_host", ProtoField.uint32, "Mark of the sender's host", base.HEX)
field(tcp, "rail_ip4", ProtoField.ipv4, "Address")
field(tcp, "rail_ip6", ProtoField.ipv6, "Address")

field(rxd, "version", ProtoField.uint8, "Version and mark", base.HEX)
field(rxd, "type", ProtoField.uint8, "Type", base.DEC, RXD_TYPES)
field(rxd, "flags", ProtoField.uint8, "Flags", base.HEX)
field(rxd, "crc", ProtoField.uint32, "Checksum", base.HEX)
field(rxd, "conn", ProtoField.uint64, "Receiver's connection id", base.HEX)
field(rxd, "pn", ProtoField.uint64, "Packet number")
field(rxd, "cid", ProtoField.uint64, "Sender's connection id", base.HEX)
field(rxd, "peer_cid", ProtoField.uint64, "Connection id of the request", base.HEX)
field(rxd, "epoch", ProtoField.uint64, "Epoch", base.HEX)
field(rxd, "window", ProtoField.uint64, "Window")
field(rxd, "dgram_max", ProtoField.uint32, "Longest datagram")
field(rxd, "cookie", ProtoField.bytes, "Cookie")
field(rxd, "reason", ProtoField.uint16, "Reason of the refusal")
field(rxd, "serial", ProtoField.uint64, "Serial")
field(rxd, "engine", ProtoField.uint8, "Version of the engine's packets")
field(rxd, "engine_oldest", ProtoField.uint8, "Oldest version of the engine's packets")
field(rxd, "kind", ProtoField.uint8, "Endpoint type", base.DEC, KINDS)
field(rxd, "delay", ProtoField.uint32, "Delay of the acknowledgement, us")
field(rxd, "ect", ProtoField.uint16, "Packets with ECT(0)")
field(rxd, "ce", ProtoField.uint16, "Packets with CE")
field(rxd, "ranges", ProtoField.uint8, "Further ranges")
field(rxd, "number", ProtoField.uint32, "Number of the sealed datagram, low 32 bits")
field(rxd, "sealed", ProtoField.bytes, "Sealed bytes")
field(rxd, "tag", ProtoField.bytes, "Tag of the seal")
field(rxd, "shake_off", ProtoField.uint32, "Offset in the stream of TLS")
field(rxd, "shake_ack", ProtoField.uint32, "Bytes received of the other stream of TLS")
field(rxd, "shake", ProtoField.bytes, "Bytes of TLS 1.3")
field(rxd, "nonce", ProtoField.uint64, "Number to be hashed", base.HEX)
field(rxd, "hash", ProtoField.uint64, "Hash of the receiver's number", base.HEX)
field(rxd, "from", ProtoField.uint8, "Entry of the sender's list")
field(rxd, "to", ProtoField.uint8, "Entry of the receiver's list")
field(rxd, "rest", ProtoField.bytes, "Other bytes")
field(rxd, "largest", ProtoField.uint64, "Highest number received")
field(rxd, "limit", ProtoField.uint64, "End of the stream that is accepted")
field(rxd, "first", ProtoField.uint32, "Numbers below it")
field(rxd, "gap", ProtoField.uint32, "Missing")
field(rxd, "there", ProtoField.uint32, "Received")
field(rxd, "off", ProtoField.uint64, "Offset in the stream")
field(rxd, "stream", ProtoField.bytes, "Bytes of the stream")
field(rxd, "private", ProtoField.bytes, "Private data")
field(rxd, "addr_len", ProtoField.uint8, "Length of the sender's address")
field(rxd, "addr", ProtoField.bytes, "Address of the sender")
field(rxd, "oldest", ProtoField.uint8, "Oldest version")
field(rxd, "data_len", ProtoField.uint16, "Private data, bytes")
field(rxd, "release", ProtoField.string, "Release")
field(rxd, "commit", ProtoField.uint32, "Commit", base.HEX)
field(rxd, "token", ProtoField.bytes, "Token")
field(rxd, "padding", ProtoField.bytes, "Padding")
field(rxd, "end", ProtoField.uint64, "End of the stream; bytes received of the other one")
field(rxd, "main", ProtoField.uint64, "By a rail; receiver's id of the connection", base.HEX)
field(rxd, "rail", ProtoField.string, "Rail")
field(rxd, "list_version", ProtoField.uint8, "Newest version of the list of addresses")
field(rxd, "list_oldest", ProtoField.uint8, "Oldest version of the list of addresses")
field(rxd, "list_cnt", ProtoField.uint8, "Addresses")
field(rxd, "list_mark", ProtoField.uint32, "Mark of the list of addresses", base.HEX)
field(rxd, "rail_key", ProtoField.bytes, "Key of the hashes")
field(rxd, "rail_family", ProtoField.uint8, "Family of an offered address", base.DEC, FAMILIES)
field(rxd, "rail_port", ProtoField.uint16, "Port")
field(rxd, "rail_ip4", ProtoField.ipv4, "Address")
field(rxd, "rail_ip6", ProtoField.ipv6, "Address")

field(udp, "version", ProtoField.uint8, "Version")
field(udp, "flags", ProtoField.uint8, "Flags", base.HEX)
field(udp, "len", ProtoField.uint16, "Length")
field(udp, "data", ProtoField.uint64, "Completion data", base.HEX)
field(udp, "payload", ProtoField.bytes, "Payload")

field(xnet, "type", ProtoField.uint8, "Connection message", base.DEC, XNET_TYPES)
field(xnet, "data_len", ProtoField.uint16, "Private data, bytes")
field(xnet, "mark", ProtoField.bytes, "Mark of the sender")
field(xnet, "order", ProtoField.bytes, "1 in the sender's byte order")
field(xnet, "count", ProtoField.uint8, "Counter of frames")
field(xnet, "rest", ProtoField.bytes, "Other bytes")
field(xnet, "private", ProtoField.bytes, "Private data")
field(xnet, "op", ProtoField.uint8, "Operation", base.DEC, XNET_OPS)
field(xnet, "flags", ProtoField.uint16, "Flags", base.HEX)
field(xnet, "op_data", ProtoField.uint8, "Operation data")
field(xnet, "ranges", ProtoField.uint8, "Remote ranges")
field(xnet, "hdr_len", ProtoField.uint8, "Header length")
field(xnet, "len", ProtoField.uint64, "Frame length")
field(xnet, "data", ProtoField.uint64, "Completion data", base.HEX)
field(xnet, "tag", ProtoField.uint64, "Tag", base.HEX)
field(xnet, "addr", ProtoField.uint64, "Remote address", base.HEX)
field(xnet, "rlen", ProtoField.uint64, "Remote length")
field(xnet, "key", ProtoField.uint64, "Remote key", base.HEX)
field(xnet, "announced", ProtoField.uint64, "Length of the announced message")
field(xnet, "payload", ProtoField.bytes, "Payload")

field(rxm, "flags", ProtoField.uint16, "Flags", base.HEX)
field(rxm, "credits", ProtoField.uint16, "Credits")
field(rxm, "kind", ProtoField.uint8, "Frame", base.DEC, RXM_KINDS)
field(rxm, "segs", ProtoField.uint8, "Segments")
field(rxm, "len", ProtoField.uint64, "Length")
field(rxm, "hdr_len", ProtoField.uint16, "Header length")
field(rxm, "rest", ProtoField.bytes, "Other bytes")
field(rxm, "id", ProtoField.uint64, "Rendezvous id", base.HEX)
field(rxm, "seg", ProtoField.bytes, "Segment")
field(rxm, "pkt_type", ProtoField.uint8, "Packet", base.DEC, PKT_TYPES)
field(rxm, "op", ProtoField.uint8, "Operation", base.DEC, PKT_OPS)
field(rxm, "conn_id", ProtoField.uint64, "Connection id", base.HEX)
field(rxm, "msg_id", ProtoField.uint64, "Message id", base.HEX)
field(rxm, "data", ProtoField.uint64, "Completion data", base.HEX)
field(rxm, "tag", ProtoField.uint64, "Tag", base.HEX)
field(rxm, "payload", ProtoField.bytes, "Payload")

local bad = {}
for _, proto in ipairs({ eng, tcp, rxd, udp, rxm, xnet }) do
	local list = {}
	for name, object in pairs(f) do
		if name:sub(1, #proto.name + 1) == proto.name:lower() .. "." then
			table.insert(list, object)
		end
	end
	proto.fields = list
	bad[proto.name] = ProtoExpert.new(proto.name:lower() .. ".malformed", "Malformed", expert.group.MALFORMED,
					  expert.severity.ERROR)
	proto.experts = { bad[proto.name] }
end

local function malformed(proto, tree, text)
	tree:add_proto_expert_info(bad[proto.name], text)
end

-- show_rest - bytes that have no field of their own, @len or all to the end: a change in them is seen, too.
local function show_rest(proto, tree, buf, at, len)
	len = math.min(len or buf:len(), buf:len() - at)
	if len > 0 then
		tree:add(f[proto.name:lower() .. ".rest"], buf(at, len))
	end
end

