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

-- ---- the engine's packets ----------------------------------------------------------------------

local has = function(flags, bit_) return bit.band(flags, bit_) ~= 0 end

local function add_ranges(buf, at, tree, text)
	while at + 24 <= buf:len() do
		tree:add_le(f["ofi.eng.addr"], buf(at, 8))
		tree:add_le(f["ofi.eng.rlen"], buf(at + 8, 8))
		tree:add_le(f["ofi.eng.key"], buf(at + 16, 8))
		at = at + 24
	end
	if at ~= buf:len() then
		malformed(eng, tree, text .. ": its list of ranges is incomplete")
	end
	return at
end

-- What stands behind the words of an operation: how many bytes, and how they are shown.
local fixed = {
	CTS = { 8, function(buf, tree)
		tree:add_le(f["ofi.eng.rx_id"], buf(0, 4))
		show_rest(eng, tree, buf, 4)
	end },
	DATA = { 8, function(buf, tree) tree:add_le(f["ofi.eng.off"], buf(0, 8)) end },
	NACK = { 8, function(buf, tree)
		tree:add_le(f["ofi.eng.err"], buf(0, 4))
		show_rest(eng, tree, buf, 4)
	end },
	SHARE = { 112, function(buf, tree) tree:add(f["ofi.eng.share"], buf(0, 112)) end },
	ATOMIC = { 8, function(buf, tree)
		tree:add_le(f["ofi.eng.amo_kind"], buf(0, 1))
		tree:add_le(f["ofi.eng.amo_op"], buf(1, 1))
		tree:add_le(f["ofi.eng.amo_type"], buf(2, 1))
		show_rest(eng, tree, buf, 3)
	end },
}
local ranged = { READ = true, WRITE = true, ATOMIC = true }

-- eng_words - tag, data, total.  Returns where the fixed part begins, or nil.
local function eng_words(buf, tree, name, flags, info)
	local at = 16
	local words = { { 0x01, "tag" }, { 0x02, "data" } }
	if name == "WRITE" then
		words[3] = { 0x20, "total" }
	end
	for _, word in ipairs(words) do
		if has(flags, word[1]) then
			if at + 8 > buf:len() then
				return nil
			end
			tree:add_le(f["ofi.eng." .. word[2]], buf(at, 8))
			table.insert(info, word[2] .. " 0x" .. buf(at, 8):le_uint64():tohex():gsub("^0+(.)", "%1"))
			at = at + 8
		end
	end
	return at
end

-- eng_header - one header.  Returns its line of text.
local function eng_header(buf, tree)
	local op = buf:len() >= 1 and buf(0, 1):uint() or 0
	local name = ENG_OPS[op]
	local top = tree:add(eng, buf(), "Engine packet: " .. (name or "unknown"))
	if buf:len() < 16 or not name then
		malformed(eng, top, name and "Header is incomplete" or "No such operation")
		return name or "malformed"
	end
	local flags = buf(1, 1):uint()
	local len = buf(8, 8):le_uint64()
	local info = { name, tostring(len) .. " bytes" }
	top:add_le(f["ofi.eng.op"], buf(0, 1))
	top:add_le(f["ofi.eng.flags"], buf(1, 1))
	top:add_le(f["ofi.eng.ctx"], buf(2, 2))
	top:add_le(f["ofi.eng.id"], buf(4, 4))
	top:add_le(f["ofi.eng.len"], buf(8, 8))
	local at = eng_words(buf, top, name, flags, info)
	local rest = fixed[name]
	if not at or (rest and at + rest[1] > buf:len()) then
		malformed(eng, top, "Header is incomplete")
		return table.concat(info, ", ")
	end
	if rest then
		rest[2](buf(at, rest[1]):tvb(), top)
		at = at + rest[1]
	end
	if ranged[name] then
		at = add_ranges(buf, at, top, name)
	end
	if at ~= buf:len() then
		malformed(eng, top, "Header is longer than its operation")
	end
	if len:higher() >= 0x80000000 then
		malformed(eng, top, "Length is impossible")
	end
	return table.concat(info, ", ")
end

-- What a packet without payload must not announce, and one with payload must.
local carries = { EAGER = true, DATA = true, WRITE = true, ATOMIC = true }

local function eng_packet(hdr, payload, tree)
	local text = eng_header(hdr, tree)
	local name = hdr:len() >= 16 and ENG_OPS[hdr(0, 1):uint()]
	if payload and payload:len() > 0 then
		tree:add(f["ofi.eng.payload"], payload(0))
		if name and not carries[name] then
			malformed(eng, tree, name .. " has a payload")
		end
	end
	return text
end

-- ---- streams of frames in pieces -------------------------------------------------------------------

-- Reliable datagrams, and connections over TCP that recover, carry a stream of frames in pieces, which name their place
-- in it and may come by several paths.  Of each stream is kept where its next frame begins, the bytes of a head that is in
-- two pieces, and the pieces that came before what is in front of them.  What was found is kept by packet, since packets
-- are visited again.
local streams, found = {}, {}
local AHEAD_MAX = 0x1000000	-- bytes of such pieces; a stream that needs more is not looked into any more: its begin is missing

local function stream_of(name)
	streams[name] = streams[name] or { next = 0, head = ByteArray.new(), ahead = {}, ahead_len = 0 }
	return streams[name]
end

-- stream_wants - the place of the byte that the next head needs.
local function stream_wants(stream)
	return stream.next + stream.head:len()
end

-- head_missing - bytes that the head in hand lacks.  A frame without header is 8 bytes.
local function head_missing(head)
	if head:len() < FRAME then
		return FRAME - head:len()
	end
	local hdr_len = head:get_index(0) + 256 * head:get_index(1)
	return hdr_len == 0 and 0 or FRAME + hdr_len - head:len()
end

-- head_done - the head in hand is complete: its frame is in @list, and the stream's next frame is behind its payload.
local function head_done(stream, list)
	local head, len = stream.head, 0
	for i = 7, 2, -1 do
		len = len * 256 + head:get_index(i)
	end
	table.insert(list, { head = head, len = len })
	stream.next = stream.next + head:len() + (head:len() > FRAME and len or 0)
	stream.head = ByteArray.new()
end

-- walk_piece - the heads that are complete by the end of the piece @bytes at @off.
local function walk_piece(stream, bytes, off, list)
	while true do
		local from = stream_wants(stream) - off
		if from < 0 or from >= bytes:len() then
			return		-- out of order, or within a payload
		end
		stream.head:append(bytes:subset(from, math.min(head_missing(stream.head), bytes:len() - from)))
		if stream.head:len() >= FRAME and head_missing(stream.head) == 0 then
			head_done(stream, list)
		end
	end
end

-- keep_ahead - a piece for later.
local function keep_ahead(stream, bytes, off)
	stream.ahead_len = stream.ahead_len + bytes:len()
	if stream.ahead_len > AHEAD_MAX then
		stream.ahead, stream.lost = {}, true
	else
		table.insert(stream.ahead, { bytes = bytes, off = off })
	end
end

-- take_ahead - walk the pieces that came early, as far as they belong here now.
local function take_ahead(stream, list)
	local again = #stream.ahead > 0
	while again do
		local rest = {}
		again = false
		for _, piece in ipairs(stream.ahead) do
			if piece.off > stream_wants(stream) then
				table.insert(rest, piece)
			else
				local before = stream_wants(stream)
				walk_piece(stream, piece.bytes, piece.off, list)
				stream.ahead_len = stream.ahead_len - piece.bytes:len()
				again = again or stream_wants(stream) ~= before
			end
		end
		stream.ahead = rest
	end
end

-- walk_frames - heads of frames that are complete now that the piece @bytes at @off has come.
local function walk_frames(stream, bytes, off)
	local list = {}
	if stream.lost then
		return list
	end
	if off > stream_wants(stream) then
		keep_ahead(stream, bytes, off)
		return list
	end
	walk_piece(stream, bytes, off, list)
	take_ahead(stream, list)
	return list
end

-- show_frames - of the stream @name, in the piece @bytes at @off: the heads of frames that this piece completes.
-- @key: names the piece in the capture
-- @bare: shows a head without header.  Returns a line of text for each.
local function show_frames(name, key, bytes, off, pinfo, top, bare)
	if not pinfo.visited and bytes:len() > 0 then
		found[key] = walk_frames(stream_of(name), bytes, off)
	end
	local texts = {}
	for _, frame in ipairs(found[key] or {}) do
		if frame.head:len() > FRAME then
			local header = frame.head:subset(FRAME, frame.head:len() - FRAME)
			table.insert(texts, eng_header(ByteArray.tvb(header, "Engine header"), top))
		else
			table.insert(texts, bare(ByteArray.tvb(frame.head, "Frame"), top))
		end
	end
	return texts
end

-- ---- state of connections -----------------------------------------------------------------------

local tcp_stream = Field.new("tcp.stream")
local conns = {}		-- by number of the stream: what the handshakes said

local function conn_of(pinfo)
	local id = tcp_stream()
	id = id and id.value or -1
	conns[id] = conns[id] or { dirs = {} }
	return conns[id]
end

local function dir_of(conn, pinfo)
	local name = tostring(pinfo.src) .. ":" .. pinfo.src_port
	conn.dirs[name] = conn.dirs[name] or {}
	return conn.dirs[name]
end

function tcp.init()
	conns, streams, found = {}, {}, {}
end

-- ---- rxm: messages inside of a connection ----------------------------------------------------------

-- rxm_native - a message: a head, and frames.
local function rxm_native(buf, tree)
	local top = tree:add(rxm, buf(), "rxm message, native")
	local texts = {}
	if buf:len() < 8 then
		malformed(rxm, top, "Head is incomplete")
		return "rxm"
	end
	top:add_le(f["ofi.rxm.flags"], buf(0, 2))
	top:add_le(f["ofi.rxm.credits"], buf(2, 2))
	show_rest(rxm, top, buf, 4, 4)
	local at = 8
	while at < buf:len() do
		if at + 16 > buf:len() then
			malformed(rxm, top, "Frame is incomplete")
			break
		end
		local kind, segs, hdr_len = buf(at, 1):uint(), buf(at + 1, 1):uint(), buf(at + 2, 2):le_uint()
		local len = buf(at + 8, 8):le_uint64()
		local frame = top:add(rxm, buf(at, 16), "Frame: " .. (RXM_KINDS[kind] or "unknown"))
		frame:add_le(f["ofi.rxm.kind"], buf(at, 1))
		frame:add_le(f["ofi.rxm.segs"], buf(at + 1, 1))
		frame:add_le(f["ofi.rxm.hdr_len"], buf(at + 2, 2))
		show_rest(rxm, frame, buf, at + 4, 4)
		frame:add_le(kind == 3 and f["ofi.rxm.id"] or f["ofi.rxm.len"], buf(at + 8, 8))
		local body = kind == 1 and len:tonumber() or kind == 2 and 8 + 24 * segs or 0
		if not RXM_KINDS[kind] or at + 16 + hdr_len + body > buf:len() or body < 0 then
			malformed(rxm, frame, "Frame is impossible, or incomplete")
			break
		end
		at = at + 16
		if hdr_len > 0 then
			local payload = kind == 1 and body > 0 and buf(at + hdr_len, body):tvb() or nil
			table.insert(texts, eng_packet(buf(at, hdr_len):tvb(), payload, frame))
		end
		if kind == 2 then
			frame:add_le(f["ofi.rxm.id"], buf(at + hdr_len, 8))
			frame:add(f["ofi.rxm.seg"], buf(at + hdr_len + 8, 24 * segs))
		end
		at = at + hdr_len + body
	end
	return "rxm " .. table.concat(texts, "; ")
end

-- rxm_published - a packet of the published format: 64 bytes, and a body.
local function rxm_published(buf, tree)
	local top = tree:add(rxm, buf(), "rxm packet, published")
	if buf:len() < 64 or buf(0, 1):uint() ~= 4 or not PKT_TYPES[buf(1, 1):uint()] then
		malformed(rxm, top, "No packet of this format")
		return "rxm malformed"
	end
	local kind = buf(1, 1):uint()
	local text = "rxm " .. PKT_TYPES[kind]
	top:add_le(f["ofi.rxm.pkt_type"], buf(1, 1))
	top:add_le(f["ofi.rxm.conn_id"], buf(8, 8))
	top:add_le(f["ofi.rxm.msg_id"], buf(16, 8))
	show_rest(rxm, top, buf, 2, 6)
	show_rest(rxm, top, buf, 24, 40)
	if kind <= 2 then
		top:add_le(f["ofi.rxm.op"], buf(34, 1))
		top:add_le(f["ofi.rxm.len"], buf(40, 8))
		if has(buf(36, 4):le_uint(), 0x20000) then
			top:add_le(f["ofi.rxm.data"], buf(48, 8))
		end
		if buf(34, 1):uint() == 1 then
			top:add_le(f["ofi.rxm.tag"], buf(56, 8))
			text = text .. ", tag 0x" .. buf(56, 8):le_uint64():tohex():gsub("^0+(.)", "%1")
		end
		if kind == 0 and buf(40, 8):le_uint64() ~= UInt64(buf:len() - 64) then
			malformed(rxm, top, "Length is not that of the payload")
		end
	end
	if buf:len() > 64 then
		top:add(f["ofi.rxm.payload"], buf(64))
	end
	return text
end

-- ---- tcp, native -------------------------------------------------------------------------------------

local function private_says_rxm(buf)
	return buf:len() >= 2 and buf(0, 2):le_uint() == 0x7872
end

-- rail_address - an address of a list.  @at: of its IP address; @proto: whose fields show it.
local function rail_address(proto, buf, at, family, top)
	local name = proto.name:lower()
	local used = family == 4 and 4 or family == 6 and 16 or 0
	if used > 0 then
		top:add(f[name .. (family == 4 and ".rail_ip4" or ".rail_ip6")], buf(at, used))
	end
	show_rest(proto, top, buf, at + used, 16 - used)
end

-- tcp_private - what is behind a handshake.  Of a rail: each side asks the other to hash a number.
local function tcp_private(buf, top, conn, kind, lane)
	if buf:len() == 16 and (kind == 1 and lane or kind == 2 and conn.lane or 0) > 0 then
		top:add_le(f["ofi.tcp.nonce"], buf(0, 8))
		top:add_le(f["ofi.tcp.hash"], buf(8, 8))
		return
	end
	top:add(f["ofi.tcp.private"], buf())
	if kind == 2 and private_says_rxm(buf) then
		conn.rxm = "native"
	end
end

local function tcp_handshake(buf, pinfo, tree, conn, dir)
	local top = tree:add(tcp, buf())
	local kind = buf(12, 1):uint()
	top:append_text(": " .. (TCP_TYPES[kind] or "unknown handshake"))
	top:add(f["ofi.tcp.oldest"], buf(8, 1))
	top:add(f["ofi.tcp.version"], buf(9, 1))
	top:add(f["ofi.tcp.size"], buf(10, 2))
	top:add(f["ofi.tcp.type"], buf(12, 1))
	top:add(f["ofi.tcp.kind"], buf(13, 1))
	top:add(f["ofi.tcp.data_len"], buf(14, 2))
	top:add(f["ofi.tcp.reason"], buf(16, 4))
	top:add(f["ofi.tcp.features"], buf(20, 1))
	top:add(f["ofi.tcp.lanes"], buf(21, 1))
	top:add(f["ofi.tcp.lane"], buf(22, 1))
	top:add(f["ofi.tcp.engine"], buf(23, 1))
	top:add(f["ofi.tcp.engine_oldest"], buf(24, 1))
	top:add(f["ofi.tcp.commit"], buf(28, 4))
	top:add(f["ofi.tcp.release"], buf(25, 3), string.format("%u.%u.%u", buf(25, 1):uint(), buf(26, 1):uint(),
							       buf(27, 1):uint()))
	local size = buf(10, 2):uint()
	if not TCP_TYPES[kind] or size < 32 or size > buf:len() then
		malformed(tcp, top, "No such handshake")
		return "malformed handshake"
	end
	if size >= 48 then
		top:add(f["ofi.tcp.epoch"], buf(32, 8))
		top:add(f["ofi.tcp.serial"], buf(40, 8))
	end
	if size >= HELLO then
		top:add(f["ofi.tcp.prev"], buf(48, 8))
		top:add(f["ofi.tcp.max_payload"], buf(56, 8))
		top:add(f["ofi.tcp.addr"], buf(64, 24))
	end
	local known = size >= HELLO and HELLO or size >= 48 and 48 or 32
	show_rest(tcp, top, buf, known, size - known)
	if buf:len() > size then
		tcp_private(buf(size):tvb(), top, conn, kind, buf(22, 1):uint())
	end
	if not pinfo.visited then
		conn.native = conn.native or kind ~= 1
		dir.shaken = true
		dir.lanes = buf(21, 1):uint()
		dir.recovers = has(buf(20, 1):uint(), RECOVERS)
		dir.epoch = size >= 48 and buf(32, 8):bytes():tohex() or ""
		conn.serial = size >= 48 and buf(40, 8):bytes():tohex() or ""
		conn.lane = conn.lane or (kind == 1 and buf(22, 1):uint() or nil)
	end
	return TCP_TYPES[kind]
end

local function lanes_of(conn)
	local least = 255
	for _, dir in pairs(conn.dirs) do
		least = math.min(least, math.max(dir.lanes or 1, 1))
	end
	return least
end

-- striped_part - the bytes of a striped payload that the first lane has.
local function striped_part(len, lanes)
	if lanes <= 1 then
		return len
	end
	return math.floor(math.floor(len / lanes) / 64) * 64
end

local function is_hello(buf)
	return buf:len() >= 8 and buf(0, 8):bytes():tohex():lower() == MAGIC
end

-- ---- tcp, records of a connection that recovers ------------------------------------------------------

-- stream_name - of the stream that @dir sends, where both sides have said that they recover: the same over each of their
-- connections.  nil: the connection has frames.
local function stream_name(conn, dir)
	local epochs = {}
	for _, one in pairs(conn.dirs) do
		if not one.recovers then
			return nil
		end
		table.insert(epochs, one.epoch)
	end
	table.sort(epochs)
	return conn.native and #epochs == 2 and table.concat(epochs, ":") .. ":" .. conn.serial .. ":" .. dir.epoch or nil
end

-- tcp_ctl - a control frame.
local function tcp_ctl(head, top)
	local ctl = head(2, 6):le_uint64()
	top:add_le(f["ofi.tcp.hdr_len"], head(0, 2))
	top:add_le(f["ofi.tcp.ctl"], head(2, 6), ctl)
	if not TCP_CTLS[ctl:tonumber()] then
		malformed(tcp, top, "No such control frame")
	end
	return TCP_CTLS[ctl:tonumber()] or "malformed"
end

-- tcp_list - the addresses that an endpoint with rails offers.
local function tcp_list(buf, top)
	if buf:len() < 16 or buf:len() > 16 + 24 * RAILS or (buf:len() - 16) % 24 ~= 0 then
		malformed(tcp, top, "List has another length")
		show_rest(tcp, top, buf, 0)
		return
	end
	top:add(f["ofi.tcp.rail_key"], buf(0, 16))
	for at = 16, buf:len() - 24, 24 do
		local family = buf(at, 1):uint()
		local entry = top:add(tcp, buf(at, 24), "Entry " .. (at - 16) / 24)
		entry:add(f["ofi.tcp.rail_family"], buf(at, 1))
		show_rest(tcp, entry, buf, at + 1, 1)
		entry:add(f["ofi.tcp.rail_port"], buf(at + 2, 2))
		entry:add(f["ofi.tcp.rail_host"], buf(at + 4, 4))
		rail_address(tcp, buf, at + 8, family, entry)
		if not FAMILIES[family] then
			malformed(tcp, entry, "No address")
		end
	end
end

-- What the third word of a record is; of others the offset.
local record_word = { DOWN = "down", PROOF = "hash" }

local function tcp_record(buf, pinfo, tree, name)
	local top = tree:add(tcp, buf())
	local kind = buf:len() >= RECORD and TCP_RECORDS[buf(4, 4):le_uint()]
	if not kind then
		malformed(tcp, top, "No such record, or incomplete")
		show_rest(tcp, top, buf, 0)
		return "malformed"
	end
	local len = buf(0, 4):le_uint()
	top:append_text(", record " .. kind)
	top:add_le(f["ofi.tcp.record_len"], buf(0, 4))
	top:add_le(f["ofi.tcp.record"], buf(4, 4))
	top:add_le(f["ofi.tcp." .. (record_word[kind] or "at")], buf(8, 8))
	top:add_le(f["ofi.tcp.taken"], buf(16, 8))
	if kind == "DATA" then
		top:add(f["ofi.tcp.stream"], buf(RECORD))
	end
	if len ~= buf:len() - RECORD or len > RECORD_MAX or buf(8, 8):le_uint64():higher() >= 0x40000000 and kind == "DATA" or
		(len > 0) ~= (kind == "DATA" or kind == "RAILS") then
		malformed(tcp, top, "Length or offset is impossible")
		return kind
	end
	if kind == "RAILS" then
		tcp_list(buf(RECORD):tvb(), top)
	elseif kind == "DATA" then
		local at = buf(8, 8):le_uint64():tonumber()
		local key = name .. ":" .. pinfo.number .. ":" .. at
		local texts = show_frames(name, key, buf(RECORD):bytes(), at, pinfo, top, tcp_ctl)
		return #texts > 0 and table.concat(texts, "; ") or kind
	end
	return kind
end

-- ---- tcp, frames ---------------------------------------------------------------------------------------

local function tcp_frame(buf, pinfo, tree, conn)
	local top = tree:add(tcp, buf())
	local word, len = buf(0, 2):le_uint(), buf(2, 6):le_uint64():tonumber()
	top:add_le(f["ofi.tcp.hdr_len"], buf(0, 2))
	if word == 0 then
		top:add_le(f["ofi.tcp.ctl"], buf(2, 6), buf(2, 6):le_uint64())
		if not TCP_CTLS[len] then
			malformed(tcp, top, "No such control frame")
		end
		return TCP_CTLS[len] or "malformed"
	end
	top:add_le(f["ofi.tcp.len"], buf(2, 6), buf(2, 6):le_uint64())
	local hdr_len = bit.band(word, STRIPED - 1)
	if FRAME + hdr_len > buf:len() or hdr_len > HDR_MAX or len > 0x40000000 then
		malformed(tcp, top, "Frame is impossible")
		return "malformed"
	end
	local at = FRAME + hdr_len
	local hdr = buf(FRAME, hdr_len):tvb()
	local payload = buf:len() > at and buf(at):tvb() or nil
	if conn.rxm == "native" and payload and hdr:len() >= 16 and hdr(0, 1):uint() == 1 then
		return eng_header(hdr, top) .. ": " .. rxm_native(payload, top)
	end
	return eng_packet(hdr, payload, top)
end

-- ---- tcp, published -------------------------------------------------------------------------------------

-- is_connection_message - this library says in fields that others ignore that it speaks the native format, too.
local function is_connection_message(buf)
	if buf:len() < 32 or buf(0, 1):uint() ~= 3 or not XNET_TYPES[buf(1, 1):uint()] or buf(2, 2):uint() > 256 then
		return false
	end
	local order = buf(24, 8):bytes():tohex()
	local mark = buf(4, 4):uint()
	return (mark == 0xfa627269 or mark == 0xfa627270 or mark == 0) and
	       (order == "0100000000000000" or order == "0000000000000001" or order == "0000000000000000")
end

local function xnet_message(buf, pinfo, tree, conn, dir)
	local top = tree:add(xnet, buf())
	local kind = buf(1, 1):uint()
	top:add(f["ofi.xnet.type"], buf(1, 1))
	top:add(f["ofi.xnet.data_len"], buf(2, 2))
	top:add(f["ofi.xnet.mark"], buf(4, 20))
	top:add(f["ofi.xnet.order"], buf(24, 8))
	local offers = buf:len() >= 40 + HELLO and is_hello(buf(40))
	if buf:len() > 32 then
		top:add(f["ofi.xnet.private"], offers and buf(32, 8) or buf(32))
	end
	if offers then
		tcp_handshake(buf(40):tvb(), pinfo, top, conn, dir)
	end
	if buf:len() >= 36 and kind == 0 and buf(32, 4):bytes():tohex() == "01020403" then
		conn.rxm = conn.rxm or "published"
	end
	if not pinfo.visited then
		dir.shaken = pinfo.number
		dir.big = buf(24, 1):uint() == 0 and kind ~= 6
	end
	return XNET_TYPES[kind]
end

-- A frame is in big endian where the two sides differ in byte order.
local function xnet_big(conn)
	local first, second
	for _, dir in pairs(conn.dirs) do
		if first == nil then
			first = dir.big
		else
			second = dir.big
		end
	end
	return second ~= nil and (first ~= second or first == true)
end

local function xnet_is_message(buf, pinfo, dir)
	return is_connection_message(buf) and (not dir.shaken or dir.shaken == pinfo.number)
end

local function xnet_words(buf, top, add, number, op, flags, ranges)
	local at, text = 16, ""
	local function word(name)
		if at + 8 > buf:len() then
			malformed(xnet, top, "Header is incomplete")
			return nil
		end
		add(top, f["ofi.xnet." .. name], buf(at, 8))
		at = at + 8
		return number(buf(at - 8, 8))
	end
	if has(flags, 0x01) and op ~= 3 then
		word("data")
	end
	if op == 1 or op == 5 or (op == 0 and has(flags, 0x80)) then
		local tag = word("tag")
		text = tag and ", tag 0x" .. tag:tohex():gsub("^0+(.)", "%1") or ""
	end
	if op == 5 then
		word("announced")
	end
	for _ = 1, (op == 2 or op == 4) and ranges or 0 do
		word("addr")
		word("rlen")
		word("key")
	end
	return at, text
end

local function xnet_frame(buf, pinfo, tree, conn)
	local top = tree:add(xnet, buf())
	local big = xnet_big(conn)
	local add = function(to, ...) return big and to:add(...) or to:add_le(...) end
	local number = function(range) return big and range:uint64() or range:le_uint64() end
	if buf:len() < 16 or buf(0, 1):uint() ~= 3 or not XNET_OPS[buf(1, 1):uint()] then
		malformed(xnet, top, "No frame of this format")
		return "malformed"
	end
	local op, op_data, ranges, hdr_len = buf(1, 1):uint(), buf(4, 1):uint(), buf(5, 1):uint(), buf(6, 1):uint()
	local flags = big and buf(2, 2):uint() or buf(2, 2):le_uint()
	top:add(f["ofi.xnet.op"], buf(1, 1))
	add(top, f["ofi.xnet.flags"], buf(2, 2))
	top:add(f["ofi.xnet.op_data"], buf(4, 1))
	top:add(f["ofi.xnet.ranges"], buf(5, 1))
	top:add(f["ofi.xnet.hdr_len"], buf(6, 1))
	top:add(f["ofi.xnet.count"], buf(7, 1))
	add(top, f["ofi.xnet.len"], buf(8, 8))
	if op == 0 and op_data == 2 then
		show_rest(xnet, top, buf, 16)
		return "acknowledgement"
	end
	local packet = op == 8
	local at, text = hdr_len, ""
	if not packet then
		at, text = xnet_words(buf, top, add, number, op, flags, ranges)
	end
	if number(buf(8, 8)) ~= UInt64(buf:len()) or at ~= hdr_len or hdr_len > (packet and 248 or 120) or
		packet and hdr_len < 32 or ranges > 4 and (op == 2 or op == 4) then
		malformed(xnet, top, "Lengths do not agree")
		return "malformed"
	end
	if packet then
		local payload = buf:len() > hdr_len and buf(hdr_len):tvb() or nil
		return "packet: " .. eng_packet(buf(16, hdr_len - 16):tvb(), payload, top)
	end
	if buf:len() > hdr_len then
		if conn.rxm == "published" and op == 0 and not has(flags, 0x80) then
			return rxm_published(buf(hdr_len):tvb(), top)
		end
		top:add(f["ofi.xnet.payload"], buf(hdr_len))
	end
	return XNET_OPS[op] .. text .. ", " .. (buf:len() - hdr_len) .. " bytes"
end

-- ---- connections over TCP ------------------------------------------------------------------------------

-- A connection begins with the published message; if it is answered by a native handshake, it is native.

local LEN_MAX = 0x40000000	-- a longer frame is not waited for; it is shown as malformed

local function native_len(rest, conn)
	local word, len = rest(0, 2):le_uint(), rest(2, 6):le_uint64():tonumber()
	if word == 0 then
		return FRAME
	end
	if has(word, STRIPED) then
		len = striped_part(len, lanes_of(conn))
	end
	word = bit.band(word, STRIPED - 1)
	return (word > HDR_MAX or len > LEN_MAX) and rest:len() or FRAME + word + len
end

local function record_len(rest)
	if rest:len() < RECORD then
		return DESEGMENT_ONE_MORE_SEGMENT
	end
	local len = rest(0, 4):le_uint()
	return len > RECORD_MAX and rest:len() or RECORD + len
end

local function hello_len(rest)
	if rest:len() < 16 then
		return DESEGMENT_ONE_MORE_SEGMENT
	end
	return math.max(rest(10, 2):uint(), 32) + rest(14, 2):uint()
end

local function published_len(rest, pinfo, conn)
	if rest:len() < 16 then
		return DESEGMENT_ONE_MORE_SEGMENT
	end
	if xnet_is_message(rest, pinfo, dir_of(conn, pinfo)) then
		return 32 + rest(2, 2):uint()
	end
	local len = (xnet_big(conn) and rest(8, 8):uint64() or rest(8, 8):le_uint64()):tonumber()
	return (rest(0, 1):uint() ~= 3 or len < 16 or len > LEN_MAX) and rest:len() or len
end

local function pdu_len(buf, pinfo, off)
	local conn, rest = conn_of(pinfo), buf(off)
	if is_hello(rest) then
		return hello_len(rest)
	elseif stream_name(conn, dir_of(conn, pinfo)) and not xnet_is_message(rest, pinfo, dir_of(conn, pinfo)) then
		return record_len(rest)
	elseif (conn.lane or 0) > 0 and not xnet_is_message(rest, pinfo, dir_of(conn, pinfo)) then
		return rest:len()
	elseif conn.native and not xnet_is_message(rest, pinfo, dir_of(conn, pinfo)) then
		return native_len(rest, conn)
	end
	return published_len(rest, pinfo, conn)
end

local function pdu(buf, pinfo, tree)
	local conn = conn_of(pinfo)
	local dir = dir_of(conn, pinfo)
	local text
	pinfo.cols.protocol = "OFI-TCP"
	if is_hello(buf) then
		text = buf:len() >= 32 and tcp_handshake(buf, pinfo, tree, conn, dir) or "incomplete"
	elseif xnet_is_message(buf, pinfo, dir) then
		text = xnet_message(buf, pinfo, tree, conn, dir)
	elseif stream_name(conn, dir) then
		text = tcp_record(buf, pinfo, tree, stream_name(conn, dir))
	elseif (conn.lane or 0) > 0 then
		tree:add(tcp, buf()):add(f["ofi.tcp.stripe"], buf(0))
		text = "striped payload of lane " .. conn.lane
	elseif conn.native then
		text = tcp_frame(buf, pinfo, tree, conn)
	else
		pinfo.cols.protocol = "OFI-XNET"
		text = xnet_frame(buf, pinfo, tree, conn)
	end
	pinfo.cols.info:append(" [" .. text .. "]")
	return buf:len()
end

function tcp.dissector(buf, pinfo, tree)
	dissect_tcp_pdus(buf, tree, FRAME, pdu_len, pdu)
	return buf:len()
end

function xnet.dissector(buf, pinfo, tree)
	return tcp.dissector(buf, pinfo, tree)
end

tcp:register_heuristic("tcp", function(buf, pinfo, tree)
	if not (is_connection_message(buf) and buf(1, 1):uint() == 0) and not is_hello(buf) then
		return false
	end
	pinfo.conversation = tcp
	tcp.dissector(buf, pinfo, tree)
	return true
end)

-- ---- reliable datagrams ------------------------------------------------------------------------------------

-- Rails are further paths of a connection, with ids and packet numbers of their own.  That a datagram came by one is not
-- in its bytes: RAIL_ASK names the connection, by the receiver's id, and each side's id of the path is in what it sends
-- then.  By such an id: the receiver's id of the connection, and the entries of the two lists.
local rails = {}
local peers = {}		-- the other side's id of a connection, by the receiver's

function rxd.init()
	rails, peers = {}, {}
end

local function id_at(buf, at)
	return { key = buf(at, 8):bytes():tohex(), value = buf(at, 8):le_uint64() }
end

local function rxd_ack(buf, at, top)
	if at + 32 > buf:len() then
		malformed(rxd, top, "Acknowledgement is incomplete")
		return nil
	end
	local cnt = buf(at + 28, 1):uint()
	top:add_le(f["ofi.rxd.largest"], buf(at, 8))
	top:add_le(f["ofi.rxd.limit"], buf(at + 8, 8))
	top:add_le(f["ofi.rxd.delay"], buf(at + 16, 4))
	top:add_le(f["ofi.rxd.first"], buf(at + 20, 4))
	top:add_le(f["ofi.rxd.ect"], buf(at + 24, 2))
	top:add_le(f["ofi.rxd.ce"], buf(at + 26, 2))
	top:add_le(f["ofi.rxd.ranges"], buf(at + 28, 1))
	show_rest(rxd, top, buf, at + 29, 3)
	at = at + 32
	if at + 8 * cnt > buf:len() then
		malformed(rxd, top, "Ranges are incomplete")
		return nil
	end
	for _ = 1, cnt do
		top:add_le(f["ofi.rxd.gap"], buf(at, 4))
		top:add_le(f["ofi.rxd.there"], buf(at + 4, 4))
		at = at + 8
	end
	return at
end

-- rxd_end - the end of a stream: a frame without header.
local function rxd_end(head, top)
	top:add_le(f["ofi.rxd.end"], head(2, 6), head(2, 6):le_uint64())
	return "END"
end

-- rxd_by_rail - the id by which the stream of a datagram is named: of a rail that of its connection.  nil: not known.
local function rxd_by_rail(buf, top)
	local conn = id_at(buf, 8)
	local rail = rails[conn.key]
	if not rail then
		return conn.key
	end
	top:add(f["ofi.rxd.rail"], string.format("from entry %d to entry %d", rail.from, rail.to)):set_generated()
	if not rail.main then
		return nil
	end
	top:add(f["ofi.rxd.main"], rail.main.value):set_generated()
	return rail.main.key
end

local function rxd_stream(buf, at, pinfo, top, main)
	if at + 8 >= buf:len() then
		malformed(rxd, top, "Offset or bytes are missing")
		show_rest(rxd, top, buf, at)
		return {}
	end
	local off = buf(at, 8):le_uint64()
	top:add_le(f["ofi.rxd.off"], buf(at, 8))
	top:add(f["ofi.rxd.stream"], buf(at + 8))
	if off:higher() >= 0x40000000 then
		malformed(rxd, top, "Offset is impossible")
		return {}
	end
	if not main then
		return {}
	end
	local key = pinfo.number .. ":" .. buf(8, 16):bytes():tohex()
	return show_frames(main, key, buf(at + 8):bytes(), off:tonumber(), pinfo, top, rxd_end)
end

local function rxd_data(buf, pinfo, top, flags)
	local main, at = rxd_by_rail(buf, top), 24
	if has(flags, 0x02) then
		at = rxd_ack(buf, at, top)
	end
	if not at then
		return {}
	elseif has(flags, 0x10) then
		if at < buf:len() then
			top:add(f["ofi.rxd.padding"], buf(at))
		end
		return {}
	elseif has(flags, 0x01) then
		return rxd_stream(buf, at, pinfo, top, main)
	elseif at == 24 or at < buf:len() then
		malformed(rxd, top, "Data without a number")
		show_rest(rxd, top, buf, at)
	end
	return {}
end

-- rxd_release - 8 bytes.
local function rxd_release(buf, at, top)
	top:add(f["ofi.rxd.release"], buf(at, 3), string.format("%u.%u.%u", buf(at, 1):uint(), buf(at + 1, 1):uint(),
								  buf(at + 2, 1):uint()))
	show_rest(rxd, top, buf, at + 3, 1)
	top:add_le(f["ofi.rxd.commit"], buf(at + 4, 4))
end

-- rxd_list - the addresses that an endpoint with rails offers.
local function rxd_list(buf, top)
	local cnt = buf(6, 1):uint()
	local tree = top:add(rxd, buf(0, 24 + 20 * RAILS), "Addresses for rails: " .. cnt)
	tree:add_le(f["ofi.rxd.list_mark"], buf(0, 4))
	tree:add(f["ofi.rxd.list_version"], buf(4, 1))
	tree:add(f["ofi.rxd.list_oldest"], buf(5, 1))
	tree:add(f["ofi.rxd.list_cnt"], buf(6, 1))
	show_rest(rxd, tree, buf, 7, 1)
	tree:add(f["ofi.rxd.rail_key"], buf(8, 16))
	for i = 0, RAILS - 1 do
		local at = 24 + 20 * i
		local family = buf(at, 1):uint()
		local entry = tree:add(rxd, buf(at, 20), "Entry " .. i)
		entry:add(f["ofi.rxd.rail_family"], buf(at, 1))
		show_rest(rxd, entry, buf, at + 1, 1)
		entry:add_le(f["ofi.rxd.rail_port"], buf(at + 2, 2))
		rail_address(rxd, buf, at + 4, family, entry)
		if not FAMILIES[family] or i >= cnt and buf(at, 20):bytes():tohex():find("[^0]") then
			malformed(rxd, entry, "No address")
		end
	end
	if cnt > RAILS then
		malformed(rxd, tree, "More addresses than a list has")
	end
	show_rest(rxd, tree, buf, 24 + 20 * RAILS)
end

local function rxd_private(buf, top)
	if buf:len() >= 24 + 20 * RAILS and buf(0, 4):le_uint() == RAILS_MARK then
		rxd_list(buf, top)
	else
		top:add(f["ofi.rxd.private"], buf())
	end
end

-- rxd_meet - WELCOME: the ids of both sides belong together.
local function rxd_meet(buf, pinfo)
	if pinfo.visited or buf(2, 1):uint() ~= 3 then
		return
	end
	local ours, theirs = id_at(buf, 24), id_at(buf, 32)
	peers[ours.key], peers[theirs.key] = theirs, ours
end

local function rxd_hello(buf, pinfo, top)
	if buf:len() < 24 + 144 then
		malformed(rxd, top, "Handshake is incomplete")
		return {}
	end
	top:add_le(f["ofi.rxd.cid"], buf(24, 8))
	top:add_le(f["ofi.rxd.peer_cid"], buf(32, 8))
	top:add_le(f["ofi.rxd.epoch"], buf(40, 8))
	top:add_le(f["ofi.rxd.serial"], buf(48, 8))
	top:add(f["ofi.rxd.cookie"], buf(56, 16))
	top:add_le(f["ofi.rxd.window"], buf(72, 8))
	top:add_le(f["ofi.rxd.dgram_max"], buf(80, 4))
	top:add(f["ofi.rxd.engine"], buf(84, 1))
	top:add(f["ofi.rxd.engine_oldest"], buf(85, 1))
	top:add_le(f["ofi.rxd.data_len"], buf(86, 2))
	top:add(f["ofi.rxd.kind"], buf(88, 1))
	top:add(f["ofi.rxd.addr_len"], buf(89, 1))
	top:add(f["ofi.rxd.oldest"], buf(90, 1))
	show_rest(rxd, top, buf, 91, 5)
	top:add(f["ofi.rxd.addr"], buf(96, 64))
	rxd_release(buf, 160, top)
	local len = buf(86, 2):le_uint()
	if 24 + 144 + len > buf:len() then
		malformed(rxd, top, "Private data is incomplete")
	elseif len > 0 then
		rxd_private(buf(168, len):tvb(), top)
	end
	show_rest(rxd, top, buf, math.min(168 + len, buf:len()))
	rxd_meet(buf, pinfo)
	return {}
end

local function rxd_refuse(buf, _, top)
	if buf:len() < 24 + 16 then
		malformed(rxd, top, "Datagram is incomplete")
		show_rest(rxd, top, buf, 24)
		return {}
	end
	local len = buf(26, 2):le_uint()
	top:add_le(f["ofi.rxd.reason"], buf(24, 2))
	top:add_le(f["ofi.rxd.data_len"], buf(26, 2))
	top:add(f["ofi.rxd.engine"], buf(28, 1))
	top:add(f["ofi.rxd.engine_oldest"], buf(29, 1))
	top:add(f["ofi.rxd.oldest"], buf(30, 1))
	show_rest(rxd, top, buf, 31, 1)
	rxd_release(buf, 32, top)
	if buf:len() > 40 then
		top:add(f["ofi.rxd.private"], buf(40))
	end
	if len ~= buf:len() - 40 then
		malformed(rxd, top, "Private data has another length")
	end
	return {}
end

local function rxd_probe(buf, _, top)
	if buf:len() ~= 24 + 80 then
		malformed(rxd, top, "Datagram has another length")
		show_rest(rxd, top, buf, 24)
		return {}
	end
	top:add_le(f["ofi.rxd.cid"], buf(24, 8))
	top:add(f["ofi.rxd.addr_len"], buf(32, 1))
	show_rest(rxd, top, buf, 33, 7)
	top:add(f["ofi.rxd.addr"], buf(40, 64))
	return {}
end

-- rxd_reset - where endpoints are protected, with what proves its sender.
local function rxd_reset(buf, _, top)
	local protected = buf(0, 1):uint() == RXD_PROTECTED
	if buf:len() ~= (protected and 48 or 32) then
		malformed(rxd, top, "Datagram has another length")
		show_rest(rxd, top, buf, 24)
		return {}
	end
	top:add_le(f["ofi.rxd.cid"], buf(24, 8))
	if protected then
		top:add(f["ofi.rxd.token"], buf(32, 16))
	end
	return {}
end

local function rxd_retry(buf, _, top)
	if buf:len() ~= 24 + 16 then
		malformed(rxd, top, "Datagram has another length")
		show_rest(rxd, top, buf, 24)
		return {}
	end
	top:add(f["ofi.rxd.cookie"], buf(24, 16))
	return {}
end

-- rxd_bare - nothing but the header.
local function rxd_bare(buf, _, top)
	show_rest(rxd, top, buf, 24)
	return {}
end

local function rxd_shake(buf, _, top)
	if buf:len() < 40 then
		malformed(rxd, top, "Datagram is incomplete")
		return {}
	end
	top:add_le(f["ofi.rxd.cid"], buf(24, 8))
	top:add_le(f["ofi.rxd.shake_off"], buf(32, 4))
	top:add_le(f["ofi.rxd.shake_ack"], buf(36, 4))
	if buf:len() > 40 then
		top:add(f["ofi.rxd.shake"], buf(40))
	end
	return {}
end

-- rxd_join - what is said of the ids of a rail.  ASK names the receiver's id of the connection, the others that of the rail.
local function rxd_join(buf, name)
	local conn, cid = id_at(buf, 8), id_at(buf, 24)
	local from, to = buf(48, 1):uint(), buf(49, 1):uint()
	if name == "RAIL_ASK" then
		rails[cid.key] = { main = peers[conn.key], other = conn, from = to, to = from }
	elseif name == "RAIL_ANSWER" and rails[conn.key] then
		rails[cid.key] = { main = rails[conn.key].other, other = rails[conn.key].main, from = to, to = from }
	end
end

-- rxd_rail - a rail is asked for, answered, and proven.
local function rxd_rail(buf, pinfo, top)
	if buf:len() ~= 24 + 32 then
		malformed(rxd, top, "Datagram has another length")
		show_rest(rxd, top, buf, 24)
		return {}
	end
	top:add_le(f["ofi.rxd.cid"], buf(24, 8))
	top:add_le(f["ofi.rxd.nonce"], buf(32, 8))
	top:add_le(f["ofi.rxd.hash"], buf(40, 8))
	top:add(f["ofi.rxd.from"], buf(48, 1))
	top:add(f["ofi.rxd.to"], buf(49, 1))
	show_rest(rxd, top, buf, 50)
	local from, to = buf(48, 1):uint(), buf(49, 1):uint()
	if from >= RAILS or to >= RAILS or buf(50, 6):bytes():tohex():find("[^0]") or buf(24, 8):le_uint64() == UInt64(0) then
		malformed(rxd, top, "Id or entry is impossible")
	elseif not pinfo.visited then
		rxd_join(buf, RXD_TYPES[buf(2, 1):uint()])
	end
	return { string.format("from entry %d to entry %d", from, to) }
end

-- rxd_sealed - a body that the two ends alone can read, or change.
local function rxd_sealed(buf, _, top)
	local len = buf:len() - 24 - RXD_TAG
	if len < 0 then
		malformed(rxd, top, "Seal is incomplete")
		return {}
	end
	if len > 0 then
		top:add(f["ofi.rxd.sealed"], buf(24, len))
	end
	top:add(f["ofi.rxd.tag"], buf(24 + len, RXD_TAG))
	return { "sealed" }
end

local rxd_bodies = {
	HELLO = rxd_hello,
	WELCOME = rxd_hello,
	DATA = rxd_data,
	RETRY = rxd_retry,
	REFUSE = rxd_refuse,
	PROBE = rxd_probe,
	RESET = rxd_reset,
	PATH_CHALLENGE = rxd_bare,
	PATH_RESPONSE = rxd_bare,
	SHAKE = rxd_shake,
	RAIL_ASK = rxd_rail,
	RAIL_ANSWER = rxd_rail,
	RAIL_PROOF = rxd_rail,
}

function rxd.dissector(buf, pinfo, tree)
	local top = tree:add(rxd, buf())
	local name = buf:len() >= 24 and RXD_TYPES[buf(2, 1):uint()]
	pinfo.cols.protocol = "OFI-RXD"
	if not name then
		malformed(rxd, top, "No such datagram")
		return buf:len()
	end
	local flags = buf(3, 1):uint()
	local protected = buf(0, 1):uint() == RXD_PROTECTED
	local sealed = protected and has(flags, 0x40)
	top:append_text(": " .. name .. (sealed and ", sealed" or ""))
	top:add_le(f["ofi.rxd.version"], buf(0, 1))
	top:add_le(f["ofi.rxd.type"], buf(2, 1))
	top:add_le(f["ofi.rxd.flags"], buf(3, 1))
	top:add_le(sealed and f["ofi.rxd.number"] or f["ofi.rxd.crc"], buf(4, 4))
	top:add_le(f["ofi.rxd.conn"], buf(8, 8))
	top:add_le(f["ofi.rxd.pn"], buf(16, 8))
	if bit.band(flags, bit.bnot(sealed and 0x7f or 0x1f)) ~= 0 then
		malformed(rxd, top, "Unknown flags")
	end
	local clear = protected and RXD_CLEAR[name] or not protected and name ~= "SHAKE"
	if not (sealed or clear) then
		malformed(rxd, top, name .. " in the clear")
	end
	local texts = (sealed and rxd_sealed or rxd_bodies[name])(buf, pinfo, top, flags)
	pinfo.cols.info = name .. (#texts > 0 and ": " .. table.concat(texts, "; ") or "")
	return buf:len()
end

local function is_rxd(buf)
	return buf:len() >= 24 and buf(0, 1):uint() >= 0x80 and buf(1, 1):uint() == 9 and RXD_TYPES[buf(2, 1):uint()]
end

rxd:register_heuristic("udp", function(buf, pinfo, tree)
	if not is_rxd(buf) then
		return false
	end
	rxd.dissector(buf, pinfo, tree)
	return true
end)

-- ---- framed datagrams --------------------------------------------------------------------------------------

local function udp_one(buf, pinfo, tree)
	local top = tree:add(udp, buf())
	pinfo.cols.protocol = "OFI-UDP"
	pinfo.cols.info = "datagram of " .. (buf:len() - 16) .. " bytes"
	top:add(f["ofi.udp.version"], buf(4, 1))
	top:add(f["ofi.udp.flags"], buf(5, 1))
	top:add(f["ofi.udp.len"], buf(6, 2))
	top:add(f["ofi.udp.data"], buf(8, 8))
	if buf(6, 2):uint() ~= buf:len() - 16 or buf(4, 1):uint() ~= 1 or buf(5, 1):uint() > 1 then
		malformed(udp, top, "Length, version or flags are impossible")
	end
	if buf(5, 1):uint() == 0 and buf(8, 8):uint64() ~= UInt64(0) then
		malformed(udp, top, "Completion data without its flag")
	end
	if buf:len() > 16 and is_rxd(buf(16)) then
		rxd.dissector(buf(16):tvb(), pinfo, tree)
	elseif buf:len() > 16 then
		top:add(f["ofi.udp.payload"], buf(16))
	end
end

-- Where the kernel cuts a long buffer into datagrams (UDP_SEGMENT), a capture at the sender has it whole.
function udp.dissector(buf, pinfo, tree)
	local at = 0
	while at < buf:len() do
		local rest = buf:len() - at
		local one = rest >= 32 and 16 + buf(at + 6, 2):uint() or rest
		if one + 16 > rest or buf(at + one, 4):uint() ~= 0x0f096772 then
			one = rest
		end
		udp_one(buf(at, one):tvb(), pinfo, tree)
		at = at + one
	end
	return buf:len()
end

udp:register_heuristic("udp", function(buf, pinfo, tree)
	if buf:len() < 16 or buf(0, 4):uint() ~= 0x0f096772 then
		return false
	end
	udp.dissector(buf, pinfo, tree)
	return true
end)
