-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- Copyright (c) 2026 the libfabric authors.
--
-- tcp.lua - connections over TCP: ofi.tcp, ofi.xnet, and ofi.rxm in them.

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

