-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- Copyright (c) 2026 the libfabric authors.
--
-- engine.lua - packets of the engine, and streams of frames in pieces.

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

