//! Packet scripts: one host, and a text that plays the other side and says what must come.
//!
//! ```text
//!   with congestion=reno timestamps=off      settings, on the first line that is no comment
//!   0      connect                           at 0 ms the host opens a connection
//!   0      > S   0:0    ack 0                it must send a SYN, now and nothing else
//!   100    < SA  0:0    ack 1 win 1000       the script answers, 100 ms after the start
//!   100    > A   1:1    ack 1
//!   100    send 1000                         the application wants 1000 bytes sent
//!   100    > PA  1:1001 ack 1
//!   150    = cwnd 10 recovery Open           what `ss` has to say
//! ```
//!
//! Sequence numbers count from each side's SYN, which is 0; `a:b` is the range that a segment
//! carries, b not included, with SYN and FIN counted. Times are milliseconds and exact; an
//! application's actions at an instant come before the segments of that instant. An expected line
//! that does not come, or comes at another instant, or an unexpected one, fails the script.

use std::collections::VecDeque;
use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr};

use frames::Frame;
use hosts::{
    App, AppIo, ConnectionId, EcnSetting, Endpoint, Happened, Host, HostConfig, Interface,
    NetdevConfig, NetdevId, Report, TcpSettings,
};
use units::{Bytes, Span, Time};
use wire::tcp::{Flags, Repr, Segment, SeqNumber};
use wire::tcp_options::{SackBlock, Settings as Options, Timestamps};
use wire::{Ecn, EtherType, MacAddress, Protocol, ethernet, ipv4};

const OURS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const THEIRS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const MAC: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
const PEER_MAC: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);
const PEER_ISN: u32 = 5_000;
const PORT: u16 = 80;
const LETTERS: [(char, Flags); 8] = [
    ('F', Flags::FIN),
    ('S', Flags::SYN),
    ('R', Flags::RST),
    ('P', Flags::PSH),
    ('A', Flags::ACK),
    ('E', Flags::ECE),
    ('W', Flags::CWR),
    ('N', Flags::AE),
];

/// Runs a script; reports the mistake, with the lines that were right before.
pub fn run(text: &str) -> Result<(), String> {
    let mut lines: Vec<&str> =
        text.lines().map(|line| line.split('#').next().unwrap_or("")).collect();
    lines.retain(|line| !line.trim().is_empty());
    let settings = match lines.first().and_then(|line| line.strip_prefix("with ")) {
        Some(words) => {
            lines.remove(0);
            settings(words)?
        }
        None => settings("")?,
    };
    let commands = lines.iter().map(|line| split(line)).collect::<Result<Vec<_>, _>>()?;
    let mut stage = Stage::new(settings, &commands);
    let mut told = String::new();
    for (at, what) in &commands {
        stage.play(*at, what).map_err(|wrong| format!("{told}--> {at} {what}\n    {wrong}"))?;
        let _ = writeln!(told, "    {at} {what}");
    }
    match stage.sent.front() {
        Some((at, line)) => Err(format!("{told}--> the end\n    unexpected: {at} > {line}")),
        None => Ok(()),
    }
}

fn split(line: &str) -> Result<(Time, String), String> {
    let (at, what) = line.trim().split_once(' ').ok_or(format!("`{line}` has no command"))?;
    let (ms, part) = at.split_once('.').unwrap_or((at, "0"));
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("`{at}` is no time"));
    let us = number(&format!("{part:0<3}"))?;
    let words: Vec<&str> = what.split_whitespace().collect();
    Ok((Time::ZERO + Span::from_ms(number(ms)?) + Span::from_us(us), words.join(" ")))
}

fn settings(words: &str) -> Result<TcpSettings, String> {
    let mut tcp = TcpSettings {
        congestion: "reno".parse().expect("it exists"),
        timestamps: false,
        tail_loss_probe: false,
        // One burst is what the window allows: easier to check by hand.
        tso_segments_max: 1,
        ..TcpSettings::default()
    };
    for word in words.split_whitespace() {
        let (key, value) = word.split_once('=').ok_or(format!("`{word}` is no setting"))?;
        let on = value == "on";
        match key {
            "congestion" => tcp.congestion = value.parse().expect("it exists"),
            "timestamps" => tcp.timestamps = on,
            "sack" => tcp.sack = on,
            "rack" => tcp.rack = on,
            "tlp" => tcp.tail_loss_probe = on,
            "frto" => tcp.frto = on,
            "nagle" => tcp.nagle = on,
            "pacing" => tcp.pacing = on,
            "tso" => tcp.tso_segments_max = value.parse().map_err(|_| word.to_owned())?,
            "ecn" => tcp.ecn = if on { EcnSetting::On } else { EcnSetting::Off },
            "iw" => tcp.initial_window = value.parse().map_err(|_| word.to_owned())?,
            "rmem" => {
                let bytes = Bytes(value.parse().map_err(|_| word.to_owned())?);
                (tcp.rmem.default, tcp.rmem.max) = (bytes, bytes);
            }
            _ => return Err(format!("`{key}` is no setting of scripts")),
        }
    }
    Ok(tcp)
}

/// Carries out what the script wants of the application.
#[derive(Debug)]
struct Actor {
    commands: Vec<(Time, String)>,
    connection: Option<ConnectionId>,
}

impl App for Actor {
    fn start(&mut self, io: &mut AppIo<'_>) {
        for (n, (at, _)) in self.commands.iter().enumerate() {
            io.alarm_after(at.since(Time::ZERO), n as u64);
        }
    }

    fn alarm(&mut self, io: &mut AppIo<'_>, token: u64) {
        let words: Vec<&str> = self.commands[token as usize].1.split(' ').collect();
        let number = || words.get(1).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
        match (words[0], self.connection) {
            ("listen", _) => io.listen(PORT, Happened::ESTABLISHED, None),
            ("connect", _) => {
                let to = Endpoint::new(IpAddr::V4(THEIRS), PORT);
                self.connection = io.connect(to, Happened::ESTABLISHED, None);
            }
            ("send", Some(id)) => io.send(id, number()),
            ("read", Some(id)) => io.read_up_to(id, number()),
            ("close", Some(id)) => io.close(id),
            ("abort", Some(id)) => io.abort(id),
            other => panic!("the script says {other:?}"),
        }
    }

    fn connection(&mut self, _: &mut AppIo<'_>, id: ConnectionId, _: Happened, _: u64, _: u64) {
        self.connection = Some(id);
    }

    fn report(&self) -> Report {
        Report::Bulk(hosts::BulkReport::default())
    }

    fn has_ended(&self) -> bool {
        false
    }
}

struct Stage {
    host: Host,
    sent: VecDeque<(Time, String)>,
    last_frame: Vec<u8>,
    our_isn: u32,
    our_port: u16,
    connection: Option<ConnectionId>,
}

impl Stage {
    fn new(tcp: TcpSettings, commands: &[(Time, String)]) -> Stage {
        let interface = Interface { address: IpAddr::V4(OURS), prefix_bits: 24 };
        let mut netdev = NetdevConfig::new("eth0", MAC, vec![interface]);
        netdev.neighbours = vec![(IpAddr::V4(THEIRS), PEER_MAC)];
        let (name, routes) = ("h1".to_owned(), Vec::new());
        let mut host = Host::new(HostConfig { name, netdevs: vec![netdev], routes, tcp, seed: 1 });
        let ours = |what: &str| !matches!(what.split(' ').next(), Some(">" | "<" | "=" | "icmp"));
        let commands = commands.iter().filter(|(_, what)| ours(what)).cloned().collect();
        host.start(Time::ZERO, Box::new(Actor { commands, connection: None }));
        let (our_isn, our_port) = (0, PORT);
        Stage {
            host,
            sent: VecDeque::new(),
            last_frame: Vec::new(),
            our_isn,
            our_port,
            connection: None,
        }
    }

    /// One line, at its time.
    fn play(&mut self, at: Time, what: &str) -> Result<(), String> {
        self.pass_time(at);
        let (command, rest) = what.split_once(' ').unwrap_or((what, ""));
        match command {
            ">" => return self.expect(at, rest),
            "<" => {
                let frame = Frame::new(&self.frame(rest)?);
                // The host's reaction shows in its segments.
                let _counted = self.host.handle_frame(at, NetdevId(0), &frame);
            }
            "icmp" => {
                let frame = Frame::new(&self.too_big(rest)?);
                let _counted = self.host.handle_frame(at, NetdevId(0), &frame);
            }
            "=" => return self.check(rest),
            _ => (),
        }
        self.collect(at);
        Ok(())
    }

    /// Lets the host do what is due up to and at `end`.
    fn pass_time(&mut self, end: Time) {
        self.connection = self.host.connections().next().or(self.connection);
        while let Some(due) = self.host.next_due().filter(|due| *due <= end) {
            self.host.handle_time(due);
            self.collect(due);
        }
    }

    fn collect(&mut self, now: Time) {
        let mut frame = Frame::default();
        while self.host.poll_transmit(now, &mut frame).is_some() {
            let line = self.describe(frame.bytes());
            if frame.bytes().len() > 60 {
                self.last_frame = frame.bytes().to_vec();
            }
            self.sent.push_back((now, line));
        }
    }

    fn expect(&mut self, at: Time, wanted: &str) -> Result<(), String> {
        let Some((sent_at, line)) = self.sent.pop_front() else {
            return Err(format!("nothing was sent; next due {:?}", self.host.next_due()));
        };
        // A line may say less than there is to say: what it says has to be there, in order.
        let mut there = line.split(' ');
        let all_there = wanted.split(' ').all(|word| there.by_ref().any(|other| other == word));
        if sent_at == at && all_there {
            return Ok(());
        }
        Err(format!("sent instead: {sent_at} > {line}"))
    }

    fn check(&mut self, wanted: &str) -> Result<(), String> {
        let id = self.host.connections().next().ok_or("there is no connection any more")?;
        let (.., told) = self.host.snapshot(id).ok_or("there is no connection any more")?;
        let words: Vec<&str> = wanted.split(' ').collect();
        for pair in words.chunks(2) {
            let is = match pair[0] {
                "cwnd" => told.cwnd.to_string(),
                "ssthresh" => told.ssthresh.map_or("none".to_owned(), |s| s.to_string()),
                "recovery" => format!("{:?}", told.recovery),
                "state" => format!("{:?}", told.state),
                "rto" => (told.rto.whole_us() / 1000).to_string(),
                "srtt" => told.rtt.map_or(0, |(srtt, _)| srtt.whole_us() / 1000).to_string(),
                "lost" => told.lost.to_string(),
                "undone" => told.undone.to_string(),
                "dsacks" => told.dsacks.to_string(),
                "unacked" => told.unacked.to_string(),
                "received" => told.bytes_received.to_string(),
                "reordering" => told.reordering.to_string(),
                other => return Err(format!("`{other}` is nothing to check")),
            };
            if pair.get(1) != Some(&is.as_str()) {
                return Err(format!("{} is {is}", pair[0]));
            }
        }
        Ok(())
    }

    /// A frame of the host's as the scripts write it.
    fn describe(&mut self, frame: &[u8]) -> String {
        let ip = ipv4::Packet::new_checked(&frame[14..]).expect("hosts send whole packets");
        if ip.protocol() != Protocol::TCP {
            return format!("protocol {}", ip.protocol().0);
        }
        let segment = Segment::new_checked(ip.payload()).expect("a whole segment");
        let pseudo = ip.pseudo_header(Protocol::TCP, ip.payload().len());
        assert!(ip.is_checksum_right() && segment.is_checksum_right(pseudo), "checksums");
        let header = Repr::parse(&segment);
        let flags = header.flags;
        if flags.contains(Flags::SYN) {
            (self.our_isn, self.our_port) = (header.seq_number.0, header.src_port);
        }
        let ours = |number: u32| number.wrapping_sub(self.our_isn);
        let theirs = |number: u32| number.wrapping_sub(PEER_ISN);
        let letters = LETTERS.iter().filter(|(_, flag)| flags.contains(*flag));
        let mut line: String = letters.map(|(letter, _)| *letter).collect();
        let seq = ours(header.seq_number.0);
        let counted = u32::from(flags.contains(Flags::SYN)) + u32::from(flags.contains(Flags::FIN));
        let _ = write!(line, " {seq}:{}", seq + segment.payload().len() as u32 + counted);
        if flags.contains(Flags::ACK) {
            let _ = write!(line, " ack {}", theirs(header.ack_number.0));
        }
        let _ = write!(line, " win {}", header.window);
        if let Some(mss) = header.options.max_segment_size {
            let _ = write!(line, " mss {mss}");
        }
        if let Some(scale) = header.options.window_scale {
            let _ = write!(line, " wscale {scale}");
        }
        if header.options.sack_permitted {
            line += " sackok";
        }
        if let Some(stamps) = header.options.timestamps {
            let _ = write!(line, " ts {}/{}", stamps.value, stamps.echo_reply);
        }
        for block in header.options.sack.as_slice() {
            let _ = write!(line, " sack {}-{}", theirs(block.left.0), theirs(block.right.0));
        }
        match ip.ecn() {
            Ecn::NotEct => (),
            Ecn::Ect0 => line += " ect0",
            Ecn::Ect1 => line += " ect1",
            Ecn::Ce => line += " ce",
        }
        line
    }

    /// The frame that a line describes, from the other side.
    fn frame(&self, line: &str) -> Result<Vec<u8>, String> {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |text: &str| text.parse::<u32>().map_err(|_| format!("`{text}` is no number"));
        let pair = |text: &str, by: char| -> Result<(u32, u32), String> {
            let (a, b) = text.split_once(by).ok_or(format!("`{text}` is no pair"))?;
            Ok((number(a)?, number(b)?))
        };
        let flag = |letter| LETTERS.iter().find(|(l, _)| *l == letter).map(|(_, flag)| *flag);
        let flags = words[0].chars().filter_map(flag).fold(Flags::NONE, |all, flag| all | flag);
        let (from, to) = pair(words.get(1).unwrap_or(&""), ':')?;
        let mut header = Repr {
            src_port: PORT,
            dst_port: self.our_port,
            seq_number: SeqNumber(PEER_ISN.wrapping_add(from)),
            flags,
            window: 65_535,
            ..Repr::default()
        };
        if self.our_port == PORT {
            header.src_port = 4000;
        }
        let opens = flags.contains(Flags::SYN);
        if opens {
            header.options = Options {
                max_segment_size: Some(1460),
                sack_permitted: true,
                ..Options::default()
            };
        }
        let mut ecn = Ecn::NotEct;
        let mut rest = words[2..].iter();
        while let Some(word) = rest.next() {
            let mut value = || rest.next().copied().unwrap_or("");
            match *word {
                "ack" => header.ack_number = SeqNumber(self.our_isn.wrapping_add(number(value())?)),
                "win" => header.window = number(value())? as u16,
                "mss" => header.options.max_segment_size = Some(number(value())? as u16),
                "wscale" => header.options.window_scale = Some(number(value())? as u8),
                "nosack" => header.options.sack_permitted = false,
                "ts" => {
                    let (value, echo_reply) = pair(value(), '/')?;
                    header.options.timestamps = Some(Timestamps { value, echo_reply });
                }
                "sack" => {
                    let (left, right) = pair(value(), '-')?;
                    let place = |n: u32| SeqNumber(self.our_isn.wrapping_add(n));
                    header.options.sack.push(SackBlock { left: place(left), right: place(right) });
                }
                "ce" => ecn = Ecn::Ce,
                "ect0" => ecn = Ecn::Ect0,
                other => return Err(format!("`{other}` is nothing a segment has")),
            }
        }
        let counted = u32::from(opens) + u32::from(flags.contains(Flags::FIN));
        // A SYN is written 0:0 or 0:1; its number counts either way.
        let payload = (to - from).saturating_sub(if opens { 1 } else { counted });
        Ok(build(&header, payload as usize, ecn))
    }

    /// "Fragmentation needed" about the last long frame of the host's: `icmp mtu N`.
    fn too_big(&self, line: &str) -> Result<Vec<u8>, String> {
        let mtu = line.strip_prefix("mtu ").and_then(|mtu| mtu.parse::<u16>().ok());
        let mtu = mtu.ok_or(format!("`{line}`: `icmp mtu N`"))?;
        let quote = &self.last_frame[14..14 + 28];
        let mut message = vec![0; 8 + quote.len()];
        wire::icmpv4::TYPE.set(&mut message, wire::icmpv4::DESTINATION_UNREACHABLE);
        wire::icmpv4::CODE.set(&mut message, wire::icmpv4::FRAGMENTATION_NEEDED);
        wire::icmpv4::NEXT_HOP_MTU.set(&mut message, mtu);
        message[8..].copy_from_slice(quote);
        wire::icmpv4::Message::new_unchecked(&mut message[..]).fill_checksum();
        let mut frame = head(Protocol::ICMPV4, message.len(), Ecn::NotEct);
        frame.extend_from_slice(&message);
        Ok(frame)
    }
}

/// Ethernet and IPv4 header of a packet from the other side.
fn head(protocol: Protocol, payload_size: usize, ecn: Ecn) -> Vec<u8> {
    let mut frame = vec![0; 34];
    ethernet::DST_ADDR.set(&mut frame, MAC);
    ethernet::SRC_ADDR.set(&mut frame, PEER_MAC);
    ethernet::ETHER_TYPE.set(&mut frame, EtherType::IPV4);
    let (src_addr, dst_addr) = (THEIRS, OURS);
    let (ttl, identification, dscp, dont_fragment) = (64, 0, 0, true);
    let ip = ipv4::Repr {
        src_addr,
        dst_addr,
        protocol,
        dscp,
        ecn,
        ttl,
        identification,
        dont_fragment,
        payload_size,
    };
    ip.emit(&mut frame[14..]);
    frame
}

fn build(header: &Repr, payload: usize, ecn: Ecn) -> Vec<u8> {
    let size = header.header_size().expect("options that fit");
    let mut segment = vec![0; size + payload];
    header.emit(&mut segment).expect("options that fit");
    let mut frame = head(Protocol::TCP, segment.len(), ecn);
    let pseudo =
        wire::checksum::pseudo_header(&frame[14..][ipv4::ADDRESSES], Protocol::TCP, segment.len());
    Segment::new_unchecked(&mut segment[..]).fill_checksum(pseudo);
    frame.extend_from_slice(&segment);
    frame
}
