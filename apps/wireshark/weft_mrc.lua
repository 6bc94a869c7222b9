-- SPDX-License-Identifier: Apache-2.0
-- Wireshark reads MRC: every header bit by bit, with filters (mrc.psn == 117) and expert infos. It judges frames, not
-- endpoints: what a sender should have done is not its business, and SRv6, IP and UDP are Wireshark's own. Layouts and
-- their sources: docs/wire.md; installation and filters: docs/howto/read-captures.md. Wireshark 4.0 and later.
--
-- MRC and RoCEv2 share UDP port 4791 and the BTH; the first three bits of the opcode, 110, tell MRC; opcode and length tell
-- weft's own credits. This script takes the ports over and hands everything else to the dissector that had them. With Wireshark's own preference
-- udp.try_heuristic_first it takes nothing over, but is asked before the ports are.

local mrc = Proto("weft_mrc", "Multipath Reliable Connection")

local EV_PORT_HIGH, EV_PORT_LOW = 1, 2
mrc.prefs.ports = Pref.range("UDP ports", "4791,4971", "Where MRC is looked for", 65535)
mrc.prefs.ev = Pref.enum("Entropy value", EV_PORT_HIGH,
  "Which half of it is the UDP source port; the IPv6 flow label has the other",
  {{1, "high half in the port", EV_PORT_HIGH}, {2, "low half in the port", EV_PORT_LOW}}, false)
local SE_IBTA, SE_SWAPPED = 1, 2
mrc.prefs.se = Pref.enum("Order of SE and M", SE_IBTA, "In the BTH: InfiniBand has SE first",
  {{1, "SE before M", SE_IBTA}, {2, "M before SE", SE_SWAPPED}}, false)
mrc.prefs.trimmable = Pref.uint("DSCP, trimmable", 4, "Class of data that a full queue may cut")
mrc.prefs.trimmable_retx = Pref.uint("DSCP, trimmable, again", 8, "The same, retransmitted; may be that of data")
mrc.prefs.control = Pref.uint("DSCP, control", 46, "Class of SACKs, NACKs, ACKs, endpoint requests and responses")
mrc.prefs.trimmed = Pref.uint("DSCP, trimmed", 12, "Class of packets that a switch has cut: no payload, no ICRC")
mrc.prefs.trimmed_last = Pref.uint("DSCP, trimmed at the last hop", 16, "The same, where the last switch has cut it")
mrc.prefs.gaps = Pref.bool("Tell PSN gaps", true,
  "Of a flow on one interface. Packets that take several planes leave gaps on each of them")
mrc.prefs.icrc = Pref.bool("Check the ICRC", false, "As RoCEv2 computes it. Slow: half a millisecond for a full packet")

-- Headers as tables. A row is one field: byte, ProtoField type, name behind "mrc.", label, and mask, display, values
-- where they are needed. `zero` marks bits that are reserved: they are told if they are not 0.

local SIZES = {uint8 = 1, uint16 = 2, int16 = 2, uint24 = 3, uint32 = 4, uint64 = 8}
local OPCODES = {
  [0xC6] = {"WRITE First", {"METH", "TSETH", "RETH"}, data = true},
  [0xC7] = {"WRITE Middle", {"METH", "TSETH", "RETH"}, data = true},
  [0xC8] = {"WRITE Last", {"METH", "TSETH", "RETH"}, data = true},
  [0xC9] = {"WRITE Last with Immediate", {"METH", "TSETH", "RETH", "ImmDt"}, data = true},
  [0xCA] = {"WRITE Only", {"METH", "TSETH", "RETH"}, data = true},
  [0xCB] = {"WRITE Only with Immediate", {"METH", "TSETH", "RETH", "ImmDt"}, data = true},
  [0xD1] = {"Transport ACK", {"AETH"}},
  [0xD8] = {"Endpoint Request", {"ERTH"}},
  [0xD9] = {"Endpoint Response", {"EETH"}},
  [0xDC] = {"SACK", {"SETH", "CC_STATE"}},
  [0xDD] = {"NACK", {"NETH"}},
  [0xDE] = {"Probe", {"PETH"}, data = true},
  [0xF0] = {"Credit (weft's extension, not MRC)", {"CREDIT"}},
  [0xF1] = {"Demand (weft's extension, not MRC)", {"DEMAND"}},
}
local OPCODE_NAMES = {}
for opcode, entry in pairs(OPCODES) do
  OPCODE_NAMES[opcode] = entry[1]
end
local REASONS = {
  [0x01] = "trimmed", [0x02] = "trimmed at the last hop", [0x06] = "no bitmap", [0x07] = "no packet buffer",
  [0x0A] = "no resource", [0x0B] = "PSN out of the window", [0x19] = "unexpected event",
}
local NAKS = {[0] = "PSN sequence", [1] = "invalid request", [2] = "remote access", [3] = "remote operation"}
local MARKS = {[0] = "none", [1] = "skip once", [2] = "skip always"}
local TICKS = {[0] = "128 ns", [1] = "implementation defined"}
local CC_TYPES = {[0] = "NSCC"}
local OPERATIONS = {[0] = "port status", [1] = "EV probe"}

local HEADERS = {
  BTH = {12, "Base Transport Header", {
    {0, "uint8", "opcode", "Opcode", display = base.HEX, values = OPCODE_NAMES},
    {1, "uint8", "bth.se", "Solicited event, in InfiniBand's order", mask = 0x80},
    {1, "uint8", "bth.m", "Migration request, in InfiniBand's order", mask = 0x40},
    {1, "uint8", "bth.pad", "Bytes of padding", mask = 0x30},
    {1, "uint8", "bth.tver", "Transport header version", mask = 0x0F, zero = true},
    {2, "uint16", "bth.pkey", "Partition key", display = base.HEX},
    {4, "uint8", "bth.variant", "Variant or reserved", display = base.HEX, zero = true},
    {5, "uint24", "dqp", "Destination QP"},
    {8, "uint8", "ar", "Asks for a SACK (AR)", mask = 0x80},
    {8, "uint8", "bth.reserved", "Reserved", mask = 0x40, zero = true},
    {8, "uint8", "rtx", "Retransmission", mask = 0x20},
    {8, "uint8", "ts", "A TSETH follows", mask = 0x10},
    {8, "uint8", "bth.reserved2", "Reserved", mask = 0x0F, zero = true},
    {9, "uint24", "psn", "PSN"},
  }},
  METH = {4, "Message header", {
    {0, "uint16", "rqmsn", "Receive queue message number"},
    {2, "uint16", "msn", "Message number"},
  }},
  TSETH = {4, "Time stamp header", {
    {0, "uint16", "timestamp", "Time stamp (ticks)"},
    {2, "uint16", "timestamp.tick", "Tick", mask = 0x8000, values = TICKS},
    {2, "uint16", "timestamp.reserved", "Reserved", mask = 0x7FF0, zero = true},
    {2, "uint16", "timestamp.type", "Type", mask = 0x000F},
  }},
  RETH = {16, "RDMA header", {
    {0, "uint64", "va", "Virtual address", display = base.HEX},
    {8, "uint32", "rkey", "Remote key", display = base.HEX},
    {12, "uint32", "dmalen", "Bytes of the message"},
  }},
  ImmDt = {4, "Immediate data", {
    {0, "uint32", "imm", "Immediate data", display = base.HEX},
  }},
  AETH = {4, "Transport ACK header", {
    {0, "uint8", "ack.syndrome", "Syndrome", display = base.HEX},
    {0, "uint8", "ack.reserved", "Reserved", mask = 0x80, zero = true},
    {0, "uint8", "ack.kind", "Kind", mask = 0x60, values = {[0] = "ACK", [1] = "RNR NAK", [3] = "NAK"}},
    {0, "uint8", "ack.code", "Credits (31: not used), or code of the NAK", mask = 0x1F},
    {1, "uint24", "ack.msn", "Message number"},
  }},
  SETH = {28, "SACK header", {
    {0, "uint16", "sack.type", "Type", mask = 0xF000},
    {0, "uint16", "sack.next", "Next header", mask = 0x0F80},
    {0, "uint16", "sack.mark", "Mark of the packet that caused this", mask = 0x0060, values = MARKS},
    {0, "uint16", "sack.reserved", "Reserved", mask = 0x001C, zero = true},
    {0, "uint16", "sack.probe", "Answers a probe", mask = 0x0002},
    {0, "uint16", "sack.reserved2", "Reserved", mask = 0x0001, zero = true},
    {2, "int16", "sack.trigger_offset", "PSN that caused this, from the cumulative one; or the probe's number"},
    {4, "uint32", "sack.ev", "Entropy value of the packet that caused this", display = base.HEX},
    {8, "uint16", "sack.source_context", "Source context", display = base.HEX},
    {10, "uint16", "sack.target_context", "Target context", display = base.HEX},
    {12, "uint8", "sack.reserved3", "Reserved", display = base.HEX, zero = true},
    {13, "uint24", "sack.cumulative", "Cumulative PSN"},
    {16, "uint8", "sack.cc_type", "Congestion control", mask = 0xF0, values = CC_TYPES},
    {16, "uint8", "sack.cc_flags", "Congestion control flags", mask = 0x0F},
    {17, "uint8", "sack.mpr", "Largest PSN range (units of 128)"},
    {18, "int16", "sack.offset", "Offset of the bitmap"},
    {20, "uint64", "sack.bitmap", "Bitmap", display = base.HEX},
  }},
  CC_STATE = {8, "Congestion control state", {
    {0, "uint16", "sack.timestamp", "Time stamp, echoed (ticks)"},
    {2, "uint16", "sack.reserved4", "Reserved", mask = 0x8000, zero = true},
    {2, "uint16", "sack.ooo", "Packets received out of order", mask = 0x7FFF},
    {4, "uint8", "sack.restore", "Restore the window", mask = 0x80},
    {4, "uint8", "sack.penalty", "Penalty on the window", mask = 0x7F},
    {5, "uint24", "sack.rcvd_bytes", "Bytes received (units of 256)"},
  }},
  NETH = {20, "NACK header", {
    {0, "uint16", "nack.type", "Type", mask = 0xF000},
    {0, "uint16", "nack.next", "Next header", mask = 0x0F80},
    {0, "uint16", "nack.reserved", "Reserved", mask = 0x007F, zero = true},
    {2, "uint8", "nack.reason", "Reason", display = base.HEX, values = REASONS},
    {3, "uint8", "nack.vendor", "Vendor's information", display = base.HEX},
    {4, "uint32", "nack.ev", "Entropy value of the packet", display = base.HEX},
    {8, "uint16", "nack.source_context", "Source context", display = base.HEX},
    {10, "uint16", "nack.target_context", "Target context", display = base.HEX},
    {12, "uint8", "nack.reserved2", "Reserved", display = base.HEX, zero = true},
    {13, "uint24", "nack.psn", "PSN"},
    {16, "uint8", "nack.cc_type", "Congestion control", mask = 0xF0},
    {16, "uint8", "nack.cc_flags", "Congestion control flags", mask = 0x0F},
    {17, "uint8", "nack.reserved3", "Reserved", display = base.HEX, zero = true},
    {18, "uint16", "nack.timestamp", "Time stamp, echoed (ticks)"},
  }},
  PETH = {16, "Probe header", {
    {0, "uint16", "probe.type", "Type", mask = 0xF000},
    {0, "uint16", "probe.next", "Next header", mask = 0x0F80},
    {0, "uint16", "probe.reserved", "Reserved", mask = 0x007F, zero = true},
    {2, "uint8", "probe.reserved2", "Reserved", display = base.HEX, zero = true},
    {3, "uint8", "probe.vendor", "Vendor's information", display = base.HEX},
    {4, "uint16", "probe.id", "Number of the probe"},
    {6, "uint16", "probe.reserved3", "Reserved", display = base.HEX, zero = true},
    {8, "uint16", "probe.source_context", "Source context", display = base.HEX},
    {10, "uint16", "probe.target_context", "Target context", display = base.HEX},
    {12, "uint16", "probe.timestamp", "Time stamp (ticks)"},
    {14, "uint16", "probe.tick", "Tick", mask = 0x8000, values = TICKS},
    {14, "uint16", "probe.reserved4", "Reserved", mask = 0x7FF0, zero = true},
    {14, "uint16", "probe.stamp_type", "Type of the time stamp", mask = 0x000F},
  }},
  CREDIT = {4, "Credit header (weft's extension, not MRC)", {
    {0, "uint32", "credit.granted", "Bytes granted since the QP began"},
  }},
  DEMAND = {8, "Demand header (weft's extension, not MRC)", {
    {0, "uint32", "demand.asked", "Bytes asked for since the QP began"},
    {4, "uint32", "demand.unpaid", "Bytes sent without credit"},
  }},
  ERTH = {16, "Endpoint request header", {
    {0, "uint16", "request.type", "Type", mask = 0xF000},
    {0, "uint16", "request.next", "Next header", mask = 0x0F80},
    {0, "uint16", "request.reserved", "Reserved", mask = 0x007C, zero = true},
    {0, "uint16", "request.op", "Operation", mask = 0x0003, values = OPERATIONS},
    {2, "uint8", "request.reserved2", "Reserved", display = base.HEX, zero = true},
    {3, "uint8", "request.vendor", "Vendor's information", display = base.HEX},
    {4, "uint32", "request.ports", "Port status mask", display = base.HEX},
    {8, "uint32", "request.reserved3", "Reserved", display = base.HEX, zero = true},
    {12, "uint16", "request.timestamp", "Time stamp (ticks)"},
    {14, "uint16", "request.tick", "Tick", mask = 0x8000, values = TICKS},
    {14, "uint16", "request.reserved4", "Reserved", mask = 0x7FF0, zero = true},
    {14, "uint16", "request.stamp_type", "Type of the time stamp", mask = 0x000F},
  }},
  -- Where its operation stands is disputed: both readings are shown, and neither counts as reserved.
  EETH = {36, "Endpoint response header", {
    {0, "uint16", "response.reserved", "Reserved", mask = 0xFFC0, zero = true},
    {0, "uint16", "response.op", "Operation", mask = 0x0030, values = OPERATIONS},
    {0, "uint16", "response.op_low", "Operation, in the other reading", mask = 0x000C, values = OPERATIONS},
    {0, "uint16", "response.reserved2", "Reserved", mask = 0x0003, zero = true},
    {2, "bytes", "response.reserved3", "Reserved", size = 26, zero = true},
    {28, "uint16", "response.timestamp", "Time stamp, echoed (ticks)"},
    {30, "bytes", "response.reserved4", "Reserved", size = 6, zero = true},
  }},
}

-- Fields that are no row of a header.
local ICRC_ABSENT, ICRC_UNCHECKED, ICRC_GOOD, ICRC_BAD, ICRC_NOT_CAPTURED = 0, 1, 2, 3, 4
local ICRC_STATES = {[0] = "absent: trimmed", [1] = "not checked", [2] = "good", [3] = "bad", [4] = "not captured"}
local TRIMMED, TRIMMED_LAST = 1, 2
local TRIMS = {[1] = "on the way", [2] = "at the last hop"}
local NO_TRIM, TRIMMABLE, TRIMMABLE_RETX, CLASS_TRIMMED, CLASS_TRIMMED_LAST, CONTROL = 0, 1, 2, 3, 4, 5
local CLASSES = {
  [0] = "no trim", [1] = "trimmable", [2] = "trimmable, again", [3] = "trimmed", [4] = "trimmed at the last hop", [5] = "control",
}
local extra = {
  any = ProtoField.none("mrc", "MRC"),
  ev = ProtoField.uint32("mrc.ev", "Entropy value", base.HEX),
  class = ProtoField.uint8("mrc.class", "Class, by the outermost DSCP", base.DEC, CLASSES),
  solicited = ProtoField.uint8("mrc.solicited", "Solicited event, by the preferred order of SE and M"),
  trimmed = ProtoField.uint8("mrc.trimmed", "Trimmed", base.DEC, TRIMS),
  psns = ProtoField.string("mrc.sack.psns", "PSNs in the bitmap"),
  covered = ProtoField.uint24("mrc.sack.psn", "PSN received"),
  trigger = ProtoField.uint24("mrc.sack.trigger", "PSN that caused this"),
  probe_id = ProtoField.uint16("mrc.sack.probe_id", "Number of the probe that caused this"),
  payload = ProtoField.uint32("mrc.payload.len", "Bytes of payload"),
  rest = ProtoField.bytes("mrc.unknown", "Of an unknown opcode, or kept by the trim"),
  cut = ProtoField.bytes("mrc.incomplete", "Incomplete header"),
  padding = ProtoField.bytes("mrc.padding", "Padding"),
  icrc = ProtoField.uint32("mrc.icrc", "ICRC", base.HEX),
  icrc_status = ProtoField.uint8("mrc.icrc.status", "ICRC status", base.DEC, ICRC_STATES),
  gap = ProtoField.int32("mrc.gap", "PSNs passed over; below 0: so many older than expected"),
}

local function infos()
  local group, severity = expert.group, expert.severity
  return {
    retransmission = ProtoExpert.new("mrc.expert.retransmission", "Retransmission", group.SEQUENCE, severity.NOTE),
    ce = ProtoExpert.new("mrc.expert.ce", "Marked: congestion experienced", group.SEQUENCE, severity.NOTE),
    trimmed = ProtoExpert.new("mrc.expert.trimmed", "Trimmed by a switch", group.SEQUENCE, severity.WARN),
    trimmed_last = ProtoExpert.new("mrc.expert.trimmed_last", "Trimmed at the last hop", group.SEQUENCE, severity.NOTE),
    gap = ProtoExpert.new("mrc.expert.gap", "PSN gap", group.SEQUENCE, severity.CHAT),
    reordered = ProtoExpert.new("mrc.expert.reordered", "PSN older than expected", group.SEQUENCE, severity.CHAT),
    nak = ProtoExpert.new("mrc.expert.nak", "NAK", group.RESPONSE_CODE, severity.WARN),
    nack = ProtoExpert.new("mrc.expert.nack", "NACK", group.RESPONSE_CODE, severity.WARN),
    icrc = ProtoExpert.new("mrc.expert.icrc", "Bad ICRC", group.CHECKSUM, severity.ERROR),
    reserved = ProtoExpert.new("mrc.expert.reserved", "Reserved bits are not 0", group.PROTOCOL, severity.NOTE),
    opcode = ProtoExpert.new("mrc.expert.opcode", "Unknown opcode", group.UNDECODED, severity.NOTE),
    truncated = ProtoExpert.new("mrc.expert.truncated", "The packet ends inside a header", group.MALFORMED, severity.ERROR),
  }
end
local info = infos()

local function make_fields()
  local all, experts = {}, {}
  for _, header in pairs(HEADERS) do
    for _, row in ipairs(header[3]) do
      local kind, name = row[2], "mrc." .. row[3]
      if kind == "bytes" then
        row.field = ProtoField.bytes(name, row[4])
      else
        row.size = SIZES[kind]
        row.field = ProtoField[kind](name, row[4], row.display or base.DEC, row.values, row.mask)
      end
      all[#all + 1] = row.field
    end
  end
  for _, field in pairs(extra) do
    all[#all + 1] = field
  end
  for _, one in pairs(info) do
    experts[#experts + 1] = one
  end
  mrc.fields, mrc.experts = all, experts
end
make_fields()

local outside = {
  ip = Field.new("ip.src"), ip_dscp = Field.new("ip.dsfield.dscp"), ip_ecn = Field.new("ip.dsfield.ecn"),
  ipv6 = Field.new("ipv6.src"), ipv6_dscp = Field.new("ipv6.tclass.dscp"), ipv6_ecn = Field.new("ipv6.tclass.ecn"),
  flow_label = Field.new("ipv6.flow"), interface = Field.new("frame.interface_id"),
}

-- Bits

local bits = bit or bit32 -- Wireshark's own library, or Lua 5.2's
local PSN_RANGE = 0x1000000

local function masked(value, mask)
  if not mask then
    return value
  end
  local low = 1
  while mask % (low * 2) == 0 do
    low = low * 2
  end
  return math.floor(bits.band(value, mask) / low)
end

local function psn_distance(from, to)
  local distance = (to - from) % PSN_RANGE
  return distance < PSN_RANGE / 2 and distance or distance - PSN_RANGE
end

local function is_zero(range)
  for i = 0, range:len() - 1 do
    if range(i, 1):uint() ~= 0 then
      return false
    end
  end
  return true
end

-- ICRC: CRC-32 over the packet from its IP header, with ones where switches write

local crc_table

local function crc_fill()
  crc_table = {}
  for i = 0, 255 do
    local crc = i
    for _ = 1, 8 do
      local half = bits.rshift(crc, 1)
      crc = crc % 2 == 1 and bits.bxor(half, 0xEDB88320) or half
    end
    crc_table[i] = crc
  end
end

local function crc_add(crc, bytes, ones)
  for i = 0, bytes:len() - 1 do
    local byte = ones[i] and 0xFF or bytes:get_index(i)
    crc = bits.bxor(bits.rshift(crc, 8), crc_table[bits.band(bits.bxor(crc, byte), 0xFF)])
  end
  return crc
end

local MASKED_IP = {
  [4] = {[1] = true, [8] = true, [10] = true, [11] = true}, -- DSCP and ECN, TTL, checksum
  [6] = {[1] = true, [2] = true, [3] = true, [7] = true},   -- class, flow label, hop limit
}
local MASKED_UDP = {[6] = true, [7] = true} -- checksum
local MASKED_BTH = {[4] = true}

local function icrc_of(network, tvb, icrc_at)
  if not crc_table then
    crc_fill()
  end
  local frame, ip_at, version = network.source, network.ip_at, network.version
  local ip_bytes = version == 6 and 40 or masked(frame(ip_at, 1):uint(), 0x0F) * 4
  local ip = frame(ip_at, ip_bytes):bytes()
  local ones = MASKED_IP[version]
  local crc = crc_add(0xFFFFFFFF, ByteArray.new("FFFFFFFFFFFFFFFF"), {})
  if version == 6 then -- the high half of the class shares a byte with the version
    ip:set_index(0, 0x6F)
  end
  crc = crc_add(crc, ip, ones)
  crc = crc_add(crc, frame(tvb:offset() - 8, 8):bytes(), MASKED_UDP)
  crc = crc_add(crc, tvb(0, icrc_at):bytes(), MASKED_BTH)
  return bits.bnot(crc) % 0x100000000
end

-- What the headers before ours say

local function each(field)
  return ipairs({field()})
end

local function innermost()
  local found = {}
  for version, field in pairs({[4] = outside.ip, [6] = outside.ipv6}) do
    for _, source in each(field) do
      if source.offset >= (found.at or 0) then
        found.at, found.version, found.source = source.offset, version, source.source
      end
    end
  end
  if found.at then
    found.ip_at = found.at - (found.version == 6 and 8 or 12)
  end
  return found
end

-- A switch on an SRv6 path writes the outer header only.
local function any_is(fields, wanted)
  for _, field in ipairs(fields) do
    for _, one in each(field) do
      if one.value == wanted then
        return true
      end
    end
  end
  return false
end

-- Of the outermost IP header: which class a DSCP stands for is the operator's choice.
local function class_of(fields)
  local found, dscp
  for _, field in ipairs(fields) do
    for _, one in each(field) do
      if not found or one.offset < found then
        found, dscp = one.offset, one.value
      end
    end
  end
  local prefs = mrc.prefs
  local order = {
    {prefs.trimmed, CLASS_TRIMMED}, {prefs.trimmed_last, CLASS_TRIMMED_LAST}, {prefs.control, CONTROL},
    {prefs.trimmable, TRIMMABLE}, {prefs.trimmable_retx, TRIMMABLE_RETX},
  }
  for _, one in ipairs(order) do
    if one[1] == dscp then
      return one[2]
    end
  end
  return NO_TRIM
end

local function entropy(network, pinfo)
  local port = pinfo.src_port
  if network.version ~= 6 then
    return port
  end
  local label = 0
  for _, one in each(outside.flow_label) do
    label = one.value % 0x10000
  end
  if mrc.prefs.ev == EV_PORT_LOW then
    return label * 0x10000 + port
  end
  return port * 0x10000 + label
end

-- Flows: which PSN comes next, by source, target, QP and interface. Judged on the first pass, kept by frame.

local flows, judged = {}, {}

local function gap_of(pinfo, dqp, psn)
  if not pinfo.visited then
    local interface = outside.interface()
    local key = table.concat({tostring(pinfo.src), tostring(pinfo.dst), dqp, interface and interface.value or 0}, " ")
    local expected = flows[key]
    local distance = expected and psn_distance(expected, psn) or 0
    if distance >= 0 then
      flows[key] = (psn + 1) % PSN_RANGE
    end
    judged[pinfo.number] = distance
  end
  return judged[pinfo.number] or 0
end

-- One packet: `at` is where the next header begins, `seen` what the headers said so far, by name.

local function add_header(packet, name)
  local size, title, rows = HEADERS[name][1], HEADERS[name][2], HEADERS[name][3]
  local range = packet.tvb(packet.at, size)
  local tree = packet.tree:add(mrc, range, name .. ": " .. title)
  for _, row in ipairs(rows) do
    local part = range(row[1], row.size)
    local item = tree:add(row.field, part)
    if row[2] == "bytes" or row[2] == "uint64" then
      packet.seen[row[3]] = part
    else
      packet.seen[row[3]] = row[2] == "int16" and part:int() or masked(part:uint(), row.mask)
    end
    packet.items[row[3]] = item
    if row.zero and not (row[2] == "bytes" and is_zero(part) or packet.seen[row[3]] == 0) then
      item:add_proto_expert_info(info.reserved)
    end
  end
  packet.at = packet.at + size
  packet.trees[name] = tree
end

-- False where the header is not all there: cut by a switch, by the capture, or by an error.
local function add_next(packet, name)
  local size, tvb = HEADERS[name][1], packet.tvb
  if packet.at + size <= tvb:len() then
    add_header(packet, name)
    return true
  end
  local left = tvb:len() - packet.at
  local item = left > 0 and packet.tree:add(extra.cut, tvb(packet.at, left)) or packet.tree
  if packet.at + size > tvb:reported_len() and not packet.trimmed then
    item:add_proto_expert_info(info.truncated, "The packet ends inside the " .. name)
  elseif left > 0 then
    item:append_text(packet.trimmed and " (" .. name .. ", cut by a trim)" or " (" .. name .. ", cut by the capture)")
  end
  return false
end

local function add_headers(packet)
  if not add_next(packet, "BTH") then
    return false
  end
  local kind = OPCODES[packet.seen.opcode]
  for _, name in ipairs(kind and kind[2] or {}) do
    if (name ~= "TSETH" or packet.seen.ts == 1) and not add_next(packet, name) then
      return false
    end
  end
  return true
end

local function add_sack(packet)
  local seen, tree = packet.seen, packet.trees.SETH
  if not tree then
    return
  end
  local first = seen["sack.cumulative"] + seen["sack.offset"]
  local bitmap, list, texts = seen["sack.bitmap"], {}, {}
  for i = 0, 63 do
    local byte = bitmap(7 - math.floor(i / 8), 1):uint()
    if math.floor(byte / 2 ^ (i % 8)) % 2 == 1 then
      list[#list + 1] = (first + i) % PSN_RANGE
    end
  end
  local i = 1
  while i <= #list do
    local last = i
    while list[last + 1] and list[last + 1] == (list[last] + 1) % PSN_RANGE do
      last = last + 1
    end
    texts[#texts + 1] = last == i and tostring(list[i]) or string.format("%d-%d", list[i], list[last])
    i = last + 1
  end
  packet.covered = #list
  local all = tree:add(extra.psns, bitmap, #list > 0 and table.concat(texts, ", ") or "none"):set_generated()
  for _, psn in ipairs(list) do
    all:add(extra.covered, bitmap, psn):set_generated()
  end
  packet.items["sack.mpr"]:append_text(string.format(" = %d PSNs", seen["sack.mpr"] * 128))
  if seen["sack.probe"] == 1 then
    tree:add(extra.probe_id, bitmap, seen["sack.trigger_offset"] % 0x10000):set_generated()
  else
    local trigger = (seen["sack.cumulative"] + seen["sack.trigger_offset"]) % PSN_RANGE
    tree:add(extra.trigger, bitmap, trigger):set_generated()
  end
  if packet.trees.CC_STATE then
    packet.items["sack.rcvd_bytes"]:append_text(string.format(" = %d B", seen["sack.rcvd_bytes"] * 256))
  end
end

local TIMES = {
  "timestamp", "sack.timestamp", "nack.timestamp", "probe.timestamp", "request.timestamp", "response.timestamp",
}

local function add_times(packet)
  for _, name in ipairs(TIMES) do
    local ticks = packet.seen[name]
    if ticks then
      packet.items[name]:append_text(string.format(" = %.3f us in ticks of 128 ns", ticks * 0.128))
    end
  end
end

local function add_icrc(packet, icrc_at)
  local tvb, tree, status = packet.tvb, packet.tree, ICRC_UNCHECKED
  if packet.trimmed or icrc_at + 4 > tvb:len() then
    tree:add(extra.icrc_status, packet.trimmed and ICRC_ABSENT or ICRC_NOT_CAPTURED):set_generated()
    return
  end
  local item = tree:add_le(extra.icrc, tvb(icrc_at, 4))
  if mrc.prefs.icrc and packet.network.ip_at then
    local right = icrc_of(packet.network, tvb, icrc_at)
    status = right == tvb(icrc_at, 4):le_uint() and ICRC_GOOD or ICRC_BAD
    if status == ICRC_BAD then
      item:add_proto_expert_info(info.icrc, string.format("Bad ICRC: should be 0x%08x", right))
    end
  end
  tree:add(extra.icrc_status, status):set_generated()
end

-- Behind the headers: payload, padding and ICRC, by the packet's length on the line, of which the capture may hold less.
local function add_rest(packet, pinfo, root)
  local tvb, at = packet.tvb, packet.at
  local kind = OPCODES[packet.seen.opcode]
  local icrc_at = tvb:reported_len() - 4
  local pad = kind and packet.seen["bth.pad"] or 0
  local payload_end = icrc_at - pad
  if not packet.whole then
    packet.payload = 0
    return
  end
  if packet.trimmed then
    packet.payload = 0
    if at < tvb:len() then
      packet.tree:add(extra.rest, tvb(at))
    end
    add_icrc(packet, icrc_at)
    return
  end
  if payload_end < at then
    packet.payload = 0
    packet.tree:add_proto_expert_info(info.truncated, "No room for padding and ICRC")
    return
  end
  packet.payload = payload_end - at
  if pad > 0 and icrc_at <= tvb:len() then
    packet.tree:add(extra.padding, tvb(payload_end, pad))
  end
  add_icrc(packet, icrc_at)
  local held = math.min(payload_end, tvb:len()) - at
  if held > 0 and kind then
    Dissector.get("data"):call(tvb(at, held):tvb(), pinfo, root)
  elseif held > 0 then
    packet.tree:add(extra.rest, tvb(at, held))
  end
end

local function judge(packet, pinfo)
  local seen, tree = packet.seen, packet.tree
  local function tell(item, what, ...)
    (item or tree):add_proto_expert_info(what, ...)
  end
  if not OPCODES[seen.opcode] then
    tell(packet.items.opcode, info.opcode)
  end
  if seen.rtx == 1 then
    tell(packet.items.rtx, info.retransmission)
  end
  if packet.ce then
    tell(nil, info.ce)
  end
  if packet.trimmed then
    tell(nil, packet.trimmed == TRIMMED_LAST and info.trimmed_last or info.trimmed)
  end
  local reason = seen["nack.reason"]
  if reason then
    tell(packet.items["nack.reason"], info.nack, "NACK: " .. (REASONS[reason] or string.format("reason 0x%02x", reason)))
  end
  if seen["ack.kind"] == 1 or seen["ack.kind"] == 3 then
    local code = seen["ack.code"]
    packet.nak = "NAK: " .. (seen["ack.kind"] == 1 and "receiver not ready" or NAKS[code] or "code " .. code)
    tell(packet.items["ack.code"], info.nak, packet.nak)
  end
  local is_write = seen.opcode >= 0xC6 and seen.opcode <= 0xCB
  if is_write and mrc.prefs.gaps then
    local gap = gap_of(pinfo, seen.dqp, seen.psn)
    if gap ~= 0 then
      packet.trees.BTH:add(extra.gap, gap):set_generated()
    end
    if gap > 0 then
      tell(packet.items.psn, info.gap, string.format("PSN gap: %d not seen before this one", gap))
    elseif gap < 0 and seen.rtx == 0 then
      tell(packet.items.psn, info.reordered, string.format("PSN older than expected, by %d", -gap))
    end
  end
end

local function describe(packet)
  local seen = packet.seen
  local words = {OPCODE_NAMES[seen.opcode] or string.format("opcode 0x%02x", seen.opcode), "QP " .. seen.dqp}
  local function say(...)
    words[#words + 1] = string.format(...)
  end
  if packet.trees.SETH then
    local is_probed, trigger = seen["sack.probe"] == 1, seen["sack.trigger_offset"]
    say("cum %d", seen["sack.cumulative"])
    say(is_probed and "probe %d" or "%+d", is_probed and trigger % 0x10000 or trigger)
    say("bits %d", packet.covered)
  elseif seen["nack.psn"] then
    say("PSN %d %s", seen["nack.psn"], REASONS[seen["nack.reason"]] or string.format("reason 0x%02x", seen["nack.reason"]))
  elseif seen["credit.granted"] then
    say("granted %d B", seen["credit.granted"])
  elseif seen["demand.asked"] then
    say("asked %d B", seen["demand.asked"])
  elseif seen["probe.id"] then
    say("probe %d", seen["probe.id"])
  elseif seen["ack.msn"] then
    say("PSN %d MSN %d", seen.psn, seen["ack.msn"])
  elseif seen["request.op"] then
    say("request %d %s", seen.psn % 0x10000, OPERATIONS[seen["request.op"]] or "operation " .. seen["request.op"])
    if seen["request.op"] == 0 then
      say("up 0x%x", seen["request.ports"])
    end
  elseif packet.trees.EETH then
    local op = math.max(seen["response.op"], seen["response.op_low"])
    say("request %d %s", seen.psn % 0x10000, OPERATIONS[op] or "operation " .. op)
  else
    say("PSN %d", seen.psn)
  end
  if packet.trees.CC_STATE then
    say("ooo %d", seen["sack.ooo"])
  end
  if seen.va then
    say("va 0x%s %d B", (tostring(seen.va:bytes()):lower():gsub("^0+(%x)", "%1")), packet.payload)
  end
  if seen.imm then
    say("imm 0x%x", seen.imm)
  end
  local flags = {
    {seen["sack.mark"] == 1 or seen["sack.mark"] == 2, MARKS[seen["sack.mark"] or 0]},
    {seen.ar == 1, "AR"}, {seen.rtx == 1, "RTX"},
    {packet.ce, "CE"}, {packet.nak, packet.nak}, {packet.trimmed, "trimmed " .. (TRIMS[packet.trimmed] or "")},
  }
  for _, flag in ipairs(flags) do
    if flag[1] then
      say("[%s]", flag[2])
    end
  end
  return table.concat(words, " ")
end

local function dissect(tvb, pinfo, root)
  pinfo.cols.protocol = "MRC"
  local tree = root:add(mrc, tvb())
  local packet = {tvb = tvb, tree = tree, at = 0, seen = {}, items = {}, trees = {}, network = innermost()}
  local kind = OPCODES[tvb(0, 1):uint()]
  tree:add(extra.any, tvb()):set_hidden()
  local dscp = {outside.ip_dscp, outside.ipv6_dscp}
  packet.ce = any_is({outside.ip_ecn, outside.ipv6_ecn}, 3)
  if kind and kind.data then
    packet.trimmed = any_is(dscp, mrc.prefs.trimmed_last) and TRIMMED_LAST or any_is(dscp, mrc.prefs.trimmed) and TRIMMED or nil
  end
  packet.whole = add_headers(packet)
  if not packet.trees.BTH then
    pinfo.cols.info = "MRC, incomplete"
    return tvb:len()
  end
  tree:add(extra.ev, entropy(packet.network, pinfo)):set_generated()
  local is_swapped = mrc.prefs.se == SE_SWAPPED
  tree:add(extra.solicited, is_swapped and packet.seen["bth.m"] or packet.seen["bth.se"]):set_generated()
  tree:add(extra.class, class_of(dscp)):set_generated()
  if packet.trimmed then
    tree:add(extra.trimmed, packet.trimmed):set_generated()
  end
  add_sack(packet)
  add_times(packet)
  add_rest(packet, pinfo, root)
  if packet.trees.RETH and packet.whole then
    tree:add(extra.payload, packet.payload):set_generated()
  end
  judge(packet, pinfo)
  local text = describe(packet)
  tree:append_text(", " .. text)
  pinfo.cols.info = text
  return tvb:len()
end

-- Ports

local udp_ports = DissectorTable.get("udp.port")
local wanted, before = {}, {} -- ports, and the dissectors that had them
local lent

-- A number that InfiniBand leaves to makers is a credit or a demand only in its length: BTH, its header and the ICRC.
local MAKERS = {[0xF0] = 12 + 4 + 4, [0xF1] = 12 + 8 + 4}

local function is_mrc(tvb)
  local opcode = tvb:len() > 0 and tvb(0, 1):uint() or 0
  return opcode >= 0xC0 and opcode <= 0xDF or MAKERS[opcode] == tvb:reported_len()
end

-- The dissector that had the port is not called from here: it would be a layer below ours, and what it throws at a short
-- frame would become an error of Lua. UDP asks the lower port first, then the higher one: that is lent to it for the rest
-- of this frame, and a look at the frame is all that we had.
local function lend(port, dissector)
  lent = {port = port, dissector = dissector, before = udp_ports:get_dissector(port)}
  udp_ports:add(port, dissector)
end

local function take_back()
  if lent then
    udp_ports:remove(lent.port, lent.dissector)
    if lent.before then
      udp_ports:add(lent.port, lent.before)
    end
    lent = nil
  end
end

local after = Proto("weft_mrc_after", "MRC, behind each frame")
function after.dissector()
  take_back()
end
register_postdissector(after)

function mrc.dissector(tvb, pinfo, tree)
  take_back()
  if wanted[pinfo.dst_port] and is_mrc(tvb) then
    return dissect(tvb, pinfo, tree)
  end
  local port, other = pinfo.dst_port, pinfo.src_port
  if not before[port] then
    port, other = other, port
  end
  if not before[port] then
    return 0
  end
  if other > port then
    lend(other, before[port])
    return 0
  end
  return before[port]:call(tvb, pinfo, tree)
end

local function heuristic(tvb, pinfo, tree)
  if not (wanted[pinfo.dst_port] and is_mrc(tvb)) then
    return false
  end
  dissect(tvb, pinfo, tree)
  return true
end
mrc:register_heuristic("udp", heuristic)

local function give_back()
  take_back()
  for port in pairs(wanted) do
    udp_ports:remove(port, mrc)
    if before[port] then
      udp_ports:add(port, before[port])
    end
  end
  wanted, before = {}, {}
end

local function take_over()
  local is_asked_first = get_preference and get_preference("udp.try_heuristic_first")
  for first, last in mrc.prefs.ports:gmatch("(%d+)%-?(%d*)") do
    for port = tonumber(first), tonumber(last) or tonumber(first) do
      wanted[port] = true
      if not is_asked_first then
        before[port] = udp_ports:get_dissector(port)
        udp_ports:add(port, mrc)
      end
    end
  end
end

-- Called for each file that is opened, when the preferences have been read.
function mrc.init()
  give_back()
  take_over()
  flows, judged = {}, {}
end

function mrc.prefs_changed()
  give_back()
  take_over()
end
