-- In-band telemetry in Wireshark: INT 2.1 inside TCP and UDP packets, and telemetry reports 2.0.
--
-- Two protocols:
--   int        what INT adds behind the L4 header, found in every packet that the domain's DSCP or
--              UDP port marks; also in the packets that reports carry.
--   telemetry  the report itself, on its UDP port.
-- Marker and port are preferences (Edit, Preferences, Protocols, INT / TELEMETRY).
-- `vitrine wireshark` puts this file where Wireshark and tshark find it.

local int = Proto("int", "In-band Network Telemetry")
local report = Proto("telemetry", "Telemetry Report")

int.prefs.dscp = Pref.uint("DSCP that marks INT packets", 0x17, "64 turns it off")
int.prefs.udp_port = Pref.uint("UDP port that marks INT packets", 0, "0 turns it off")
report.prefs.port = Pref.uint("UDP port of telemetry reports", 32766)

local WORD = 4
local SHIM_BYTES, HEADER_BYTES = 4, 12
local TYPE_MD, TYPE_MX = 1, 3
local PROTOCOL_TCP, PROTOCOL_UDP = 6, 17

-- ---- Fields ------------------------------------------------------------------------------------

local int_types = {[1] = "INT-MD", [2] = "destination", [3] = "INT-MX"}
local npt_names = {[0] = "DSCP", [1] = "UDP port", [2] = "IP protocol"}
local inner_names = {
    [0] = "none", [1] = "TLV", [2] = "domain extension", [3] = "Ethernet", [4] = "IPv4", [5] = "IPv6",
}
local report_names = {[0] = "inner packet only", [1] = "INT", [2] = "IOAM"}

local f = {
    type = ProtoField.uint8("int.type", "Type", base.DEC, int_types, 0xf0),
    npt = ProtoField.uint8("int.npt", "Next protocol type", base.DEC, npt_names, 0x0c),
    length = ProtoField.uint8("int.length", "Length behind the shim (words)"),
    original_dscp = ProtoField.uint16("int.original_dscp", "Original DSCP", base.DEC, nil, 0x00fc),
    original = ProtoField.uint16("int.original", "Original port or protocol"),
    version = ProtoField.uint8("int.version", "Version", base.DEC, nil, 0xf0),
    discard = ProtoField.bool("int.discard", "Discard at the sink", 8, nil, 0x08),
    hops_exceeded = ProtoField.bool("int.hops_exceeded", "Hop limit exceeded", 8, nil, 0x04),
    mtu_exceeded = ProtoField.bool("int.mtu_exceeded", "MTU exceeded", 8, nil, 0x02),
    hop_words = ProtoField.uint8("int.hop_words", "Words a hop", base.DEC, nil, 0x1f),
    remaining_hops = ProtoField.uint8("int.remaining_hops", "Remaining hops"),
    bitmap = ProtoField.uint16("int.bitmap", "Instructions", base.HEX),
    domain_id = ProtoField.uint16("int.domain_id", "Domain", base.HEX),
    domain_bitmap = ProtoField.uint16("int.domain_bitmap", "Domain instructions", base.HEX),
    domain_flags = ProtoField.uint16("int.domain_flags", "Domain flags", base.HEX),
    hop = ProtoField.none("int.hop", "Hop"),
    unavailable = ProtoField.none("int.unavailable", "Not available"),
    reserved = ProtoField.uint32("int.reserved", "Reserved instruction", base.HEX),
    node_id = ProtoField.uint32("int.node_id", "Node"),
    ingress_port = ProtoField.uint16("int.ingress_port", "Ingress port"),
    egress_port = ProtoField.uint16("int.egress_port", "Egress port"),
    hop_latency = ProtoField.uint32("int.hop_latency", "Hop latency"),
    queue_id = ProtoField.uint8("int.queue_id", "Queue"),
    queue_occupancy = ProtoField.uint24("int.queue_occupancy", "Queue occupancy"),
    ingress_time = ProtoField.uint64("int.ingress_time", "Ingress time"),
    egress_time = ProtoField.uint64("int.egress_time", "Egress time"),
    ingress_interface = ProtoField.uint32("int.ingress_interface", "Ingress interface"),
    egress_interface = ProtoField.uint32("int.egress_interface", "Egress interface"),
    egress_utilisation = ProtoField.uint32("int.egress_utilisation", "Egress utilisation"),
    buffer_id = ProtoField.uint8("int.buffer_id", "Buffer"),
    buffer_occupancy = ProtoField.uint24("int.buffer_occupancy", "Buffer occupancy"),
    checksum_complement = ProtoField.uint32("int.checksum_complement", "Checksum complement", base.HEX),
}
int.fields = f

-- As in controller/telemetry/semantics.yaml, which a test holds this list against.
local drop_reasons = {
    [1] = "AQM", [2] = "BAD_CLASS", [3] = "INPUT_LIMIT", [4] = "PORT_LIMIT", [5] = "QUEUE_LIMIT",
    [6] = "QUEUE_REMOVED", [7] = "SHARED_BUFFER", [8] = "UNKNOWN_PORT", [9] = "VOQ_LIMIT",
}

local r = {
    version = ProtoField.uint8("telemetry.version", "Version", base.DEC, nil, 0xf0),
    hardware_id = ProtoField.uint32("telemetry.hardware_id", "Hardware", base.DEC, nil, 0x0fc00000),
    sequence = ProtoField.uint32("telemetry.sequence", "Sequence", base.DEC, nil, 0x003fffff),
    node_id = ProtoField.uint32("telemetry.node_id", "Node"),
    type = ProtoField.uint8("telemetry.type", "Report", base.DEC, report_names, 0xf0),
    inner_type = ProtoField.uint8("telemetry.inner_type", "Inner packet", base.DEC, inner_names, 0x0f),
    length = ProtoField.uint8("telemetry.length", "Length (words; 255: to the end)"),
    metadata_words = ProtoField.uint8("telemetry.metadata_words", "Words of metadata"),
    dropped = ProtoField.bool("telemetry.dropped", "Dropped", 8, nil, 0x80),
    congested = ProtoField.bool("telemetry.congested", "Congested queue", 8, nil, 0x40),
    tracked = ProtoField.bool("telemetry.tracked", "Tracked flow", 8, nil, 0x20),
    intermediate = ProtoField.bool("telemetry.intermediate", "Intermediate", 8, nil, 0x10),
    bitmap = ProtoField.uint16("telemetry.bitmap", "Metadata of the node", base.HEX),
    domain_id = ProtoField.uint16("telemetry.domain_id", "Domain", base.HEX),
    drop_queue = ProtoField.uint8("telemetry.drop_queue", "Queue of the drop"),
    drop_reason = ProtoField.uint8(
        "telemetry.drop_reason", "Reason of the drop", base.DEC, drop_reasons),
}
report.fields = r

local int_malformed = ProtoExpert.new(
    "int.malformed", "INT headers do not fit", expert.group.MALFORMED, expert.severity.ERROR)
int.experts = {int_malformed}
local report_malformed = ProtoExpert.new(
    "telemetry.malformed", "Report does not fit", expert.group.MALFORMED, expert.severity.ERROR)
report.experts = {report_malformed}

-- ---- Metadata ----------------------------------------------------------------------------------

-- For each instruction bit the fields it stands for, each with its bytes.
local common = {
    [1] = {{f.ingress_port, 2}, {f.egress_port, 2}},
    [2] = {{f.hop_latency, 4}},
    [3] = {{f.queue_id, 1}, {f.queue_occupancy, 3}},
    [4] = {{f.ingress_time, 8}},
    [5] = {{f.egress_time, 8}},
    [6] = {{f.ingress_interface, 4}, {f.egress_interface, 4}},
    [7] = {{f.egress_utilisation, 4}},
    [8] = {{f.buffer_id, 1}, {f.buffer_occupancy, 3}},
}
local in_packet = {[0] = {{f.node_id, 4}}, [15] = {{f.checksum_complement, 4}}}
local in_report = {[15] = {{r.drop_queue, 1}, {r.drop_reason, 1}, {nil, 2}}}
for bit, fields in pairs(common) do
    in_packet[bit], in_report[bit] = fields, fields
end

local RESERVED = {{f.reserved, 4}}

local function is_set(bitmap, bit)
    return bit32.band(bitmap, bit32.lshift(1, 15 - bit)) ~= 0
end

-- How many bytes the metadata of a bitmap take.
local function metadata_bytes(bitmap, meanings)
    local bytes = 0
    for bit = 0, 15 do
        if is_set(bitmap, bit) then
            for _, field in ipairs(meanings[bit] or RESERVED) do
                bytes = bytes + field[2]
            end
        end
    end
    return bytes
end

-- A value of ones at its whole width is one that the node does not know.
local function is_unavailable(range)
    return range:bytes():tohex() == string.rep("FF", range:len())
end

local function add_metadata(tvb, offset, bitmap, meanings, tree)
    for bit = 0, 15 do
        if is_set(bitmap, bit) then
            for _, field in ipairs(meanings[bit] or RESERVED) do
                local range = tvb(offset, field[2])
                if field[1] then
                    local item = tree:add(field[1], range)
                    if is_unavailable(range) then
                        item:append_text(" (not available)")
                        item:add(f.unavailable, range):set_generated()
                    end
                end
                offset = offset + field[2]
            end
        end
    end
end

-- ---- INT inside a packet -----------------------------------------------------------------------

-- Where the bytes behind TCP or UDP begin, if the packet that `tvb` holds from `offset` on is
-- marked as INT; nil otherwise. `ether_type` is given where there is no Ethernet header.
local function int_offset(tvb, ether_type)
    local offset = 0
    if not ether_type then
        if tvb:len() < 14 then return nil end
        offset, ether_type = 14, tvb(12, 2):uint()
        while (ether_type == 0x8100 or ether_type == 0x88a8) and tvb:len() >= offset + 4 do
            ether_type = tvb(offset + 2, 2):uint()
            offset = offset + 4
        end
    end
    local dscp, protocol
    if ether_type == 0x0800 and tvb:len() >= offset + 20 then
        if bit32.band(tvb(offset + 6, 2):uint(), 0x1fff) ~= 0 then return nil end
        dscp, protocol = bit32.rshift(tvb(offset + 1, 1):uint(), 2), tvb(offset + 9, 1):uint()
        offset = offset + 4 * bit32.band(tvb(offset, 1):uint(), 0xf)
    elseif ether_type == 0x86dd and tvb:len() >= offset + 40 then
        dscp = bit32.band(bit32.rshift(tvb(offset, 2):uint(), 6), 0x3f)
        protocol = tvb(offset + 6, 1):uint()
        offset = offset + 40
    else
        return nil
    end
    local marked = dscp == int.prefs.dscp
    local payload
    if protocol == PROTOCOL_UDP and tvb:len() >= offset + 8 then
        marked = marked or tvb(offset + 2, 2):uint() == int.prefs.udp_port
        payload = offset + 8
    elseif protocol == PROTOCOL_TCP and tvb:len() >= offset + 20 then
        payload = offset + 4 * bit32.rshift(tvb(offset + 12, 1):uint(), 4)
    end
    if not marked or not payload or tvb:len() <= payload then return nil end
    return payload
end

local function malformed(tree, expert_field, sentence)
    tree:add_proto_expert_info(expert_field, sentence)
end

local function add_shim(tvb, tree)
    tree:add(f.type, tvb(0, 1))
    tree:add(f.npt, tvb(0, 1))
    tree:add(f.length, tvb(1, 1))
    local npt = bit32.band(bit32.rshift(tvb(0, 1):uint(), 2), 3)
    tree:add(npt == 0 and f.original_dscp or f.original, tvb(2, 2))
end

local function add_header(tvb, tree)
    for _, field in ipairs({f.version, f.discard, f.hops_exceeded, f.mtu_exceeded}) do
        tree:add(field, tvb(0, 1))
    end
    tree:add(f.hop_words, tvb(2, 1))
    tree:add(f.remaining_hops, tvb(3, 1))
    tree:add(f.bitmap, tvb(4, 2))
    tree:add(f.domain_id, tvb(6, 2))
    tree:add(f.domain_bitmap, tvb(8, 2))
    tree:add(f.domain_flags, tvb(10, 2))
end

-- The hops of the stack, newest first; `tvb` holds the stack and nothing else.
local function add_hops(tvb, hop_bytes, bitmap, tree)
    local count = tvb:len() / hop_bytes
    for position = 0, count - 1 do
        local range = tvb(position * hop_bytes, hop_bytes)
        local hop = tree:add(f.hop, range)
        hop:set_text(string.format("Hop %d of %d", count - position, count))
        add_metadata(range:tvb(), 0, bitmap, in_packet, hop)
    end
end

-- The INT headers that `tvb` begins with; it may hold the host's own bytes behind them.
local function add_int(tvb, tree)
    local subtree = tree:add(int, tvb())
    if tvb:len() < SHIM_BYTES + HEADER_BYTES then
        return malformed(subtree, int_malformed, "too short for shim and INT header")
    end
    add_shim(tvb, subtree)
    local int_type = bit32.rshift(tvb(0, 1):uint(), 4)
    local total = SHIM_BYTES + WORD * tvb(1, 1):uint()
    if int_type ~= TYPE_MD and int_type ~= TYPE_MX then
        return malformed(subtree, int_malformed, "the shim's type is neither MD nor MX")
    end
    if total > tvb:len() or total < SHIM_BYTES + HEADER_BYTES then
        return malformed(subtree, int_malformed, "the shim's length does not fit the packet")
    end
    subtree:set_len(total)
    add_header(tvb(SHIM_BYTES, HEADER_BYTES):tvb(), subtree)
    local stack_bytes = total - SHIM_BYTES - HEADER_BYTES
    if int_type ~= TYPE_MD or stack_bytes == 0 then return end
    local hop_bytes = WORD * bit32.band(tvb(SHIM_BYTES + 2, 1):uint(), 0x1f)
    local bitmap = tvb(SHIM_BYTES + 4, 2):uint()
    if hop_bytes < metadata_bytes(bitmap, in_packet) or hop_bytes == 0
        or stack_bytes % hop_bytes ~= 0 then
        return malformed(subtree, int_malformed, "the stack is no whole number of hops")
    end
    add_hops(tvb(SHIM_BYTES + HEADER_BYTES, stack_bytes):tvb(), hop_bytes, bitmap, subtree)
end

-- Runs behind Wireshark's own dissectors, on the whole frame.
function int.dissector(tvb, pinfo, tree)
    local offset = int_offset(tvb)
    if offset then
        add_int(tvb(offset):tvb(), tree)
    end
end
register_postdissector(int)

-- ---- Reports -----------------------------------------------------------------------------------

local ETHERNET, IPV4, IPV6 = 3, 4, 5
local inner_dissectors = {
    [ETHERNET] = Dissector.get("eth_withoutfcs"),
    [IPV4] = Dissector.get("ip"),
    [IPV6] = Dissector.get("ipv6"),
}
local inner_ether_types = {[IPV4] = 0x0800, [IPV6] = 0x86dd}

-- The reported packet, and the INT headers it carries.
local function add_inner(tvb, inner_type, pinfo, tree)
    local dissector = inner_dissectors[inner_type]
    if not dissector or tvb:len() == 0 then return end
    -- Protocol and info go on telling of the report; the addresses become those of the packet
    -- inside, which is what one looks for.
    local info, protocol = tostring(pinfo.cols.info), tostring(pinfo.cols.protocol)
    -- A packet cut inside its headers makes Wireshark's own dissectors give up.
    if not pcall(dissector.call, dissector, tvb, pinfo, tree) then
        malformed(tree, report_malformed, "the reported packet is cut inside its headers")
    end
    -- TCP's analysis takes the packet inside for one that was sent again, and says so in front.
    pinfo.cols.info:clear_fence()
    pinfo.cols.info, pinfo.cols.protocol = info, protocol
    local offset = int_offset(tvb, inner_ether_types[inner_type])
    if offset then
        add_int(tvb(offset):tvb(), tree)
    end
end

-- One individual report at the start of `tvb`; returns its length, nil if it does not fit.
local function add_report(tvb, pinfo, tree)
    local words = tvb(1, 1):uint()
    local length = words == 0xff and tvb:len() or WORD + WORD * words
    local subtree = tree:add(report, tvb(0, math.min(length, tvb:len())), "Individual report")
    for _, field in ipairs({r.type, r.inner_type}) do subtree:add(field, tvb(0, 1)) end
    subtree:add(r.length, tvb(1, 1))
    subtree:add(r.metadata_words, tvb(2, 1))
    for _, field in ipairs({r.dropped, r.congested, r.tracked, r.intermediate}) do
        subtree:add(field, tvb(3, 1))
    end
    if length > tvb:len() then
        return malformed(subtree, report_malformed, "the report is longer than the datagram")
    end
    local body = WORD
    local report_type = bit32.rshift(tvb(0, 1):uint(), 4)
    if report_type == 1 then
        local metadata = WORD * tvb(2, 1):uint()
        body = 3 * WORD + metadata
        if body > length then
            return malformed(subtree, report_malformed, "the metadata are longer than the report")
        end
        local bitmap = tvb(4, 2):uint()
        subtree:add(r.bitmap, tvb(4, 2))
        subtree:add(r.domain_id, tvb(6, 2))
        if metadata_bytes(bitmap, in_report) > metadata then
            return malformed(subtree, report_malformed, "the bitmap asks for more metadata")
        end
        add_metadata(tvb, 3 * WORD, bitmap, in_report, subtree)
    end
    local inner_type = bit32.band(tvb(0, 1):uint(), 0xf)
    if body < length then
        add_inner(tvb(body, length - body):tvb(), inner_type, pinfo, tree)
    end
    return length
end

function report.dissector(tvb, pinfo, tree)
    if tvb:len() < 2 * WORD or bit32.rshift(tvb(0, 1):uint(), 4) ~= 2 then return 0 end
    pinfo.cols.protocol = "TELEMETRY"
    local group = tree:add(report, tvb(0, 2 * WORD))
    group:add(r.version, tvb(0, 1))
    group:add(r.hardware_id, tvb(0, 4))
    group:add(r.sequence, tvb(0, 4))
    group:add(r.node_id, tvb(4, 4))
    pinfo.cols.info = string.format(
        "Report %d of node %d", bit32.band(tvb(0, 4):uint(), 0x3fffff), tvb(4, 4):uint())
    local offset = 2 * WORD
    while offset < tvb:len() do
        if tvb:len() - offset < WORD then
            malformed(group, report_malformed, "stray bytes behind the last report")
            break
        end
        local length = add_report(tvb(offset):tvb(), pinfo, tree)
        if not length then break end
        offset = offset + length
    end
    return tvb:len()
end

-- The table's entry follows the preference.
local bound_port = report.prefs.port
DissectorTable.get("udp.port"):add(bound_port, report)
function report.prefs_changed()
    DissectorTable.get("udp.port"):remove(bound_port, report)
    bound_port = report.prefs.port
    DissectorTable.get("udp.port"):add(bound_port, report)
end
