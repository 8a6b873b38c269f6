-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- Copyright (c) 2026 the libfabric authors.
--
-- rxd.lua - datagrams: ofi.rxd and ofi.udp.

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
