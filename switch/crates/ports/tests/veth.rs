//! Two sockets at the ends of a veth pair: what goes in at one end comes out at the other, byte by
//! byte. Needs root, as every use of this crate does; without it the tests say so and pass.

use std::os::fd::AsRawFd;
use std::process::Command;
use std::time::{Duration, Instant};

use ports::{
    GsoKind, LinkWatch, Note, Offload, OpenError, Outgoing, PacketSocket, Piece, Poller,
    ReceiveBatch, SendBatch, SendOutcome, Tail, Waiting, segment,
};

/// A veth pair that goes when the test ends.
struct VethPair {
    ends: [String; 2],
}

impl VethPair {
    /// Both ends up and silent (no IPv6 neighbour discovery), or nothing without root.
    fn create(tag: &str) -> Option<VethPair> {
        // SAFETY: geteuid takes no argument and cannot fail.
        if unsafe { libc::geteuid() } != 0 {
            eprintln!("skipped: needs root to make a veth pair");
            return None;
        }
        let id = std::process::id();
        let ends = [format!("vt{tag}{id}a"), format!("vt{tag}{id}b")];
        ip(&["link", "add", &ends[0], "type", "veth", "peer", "name", &ends[1]]);
        let pair = VethPair { ends };
        for end in &pair.ends {
            ip(&["link", "set", end, "addrgenmode", "none"]);
            ip(&["link", "set", end, "up"]);
        }
        for end in &pair.ends {
            pair.wait_until_it_carries(end);
        }
        Some(pair)
    }

    /// The kernel notices in the background that the link has a carrier; until then it swallows
    /// what is sent and reports success.
    fn wait_until_it_carries(&self, end: &str) {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let shown = Command::new("ip").args(["link", "show", "dev", end]).output();
            let shown = String::from_utf8(shown.expect("ip is installed").stdout).expect("text");
            if shown.contains("qdisc noqueue") && shown.contains("state UP") {
                return;
            }
            assert!(Instant::now() < deadline, "{end} has no carrier after 20 s: {shown}");
            std::thread::yield_now();
        }
    }
}

impl Drop for VethPair {
    fn drop(&mut self) {
        ip(&["link", "del", &self.ends[0]]);
    }
}

fn ip(arguments: &[&str]) {
    let status = Command::new("ip").args(arguments).status().expect("ip is installed");
    assert!(status.success(), "ip {arguments:?} failed");
}

/// The packets of the next ten seconds, until there are `count`: frames without work left to do.
fn receive(socket: &mut PacketSocket, count: usize) -> Vec<Vec<u8>> {
    let (offloads, frames): (Vec<Offload>, _) = receive_packets(socket, count).into_iter().unzip();
    assert!(offloads.iter().all(|offload| *offload == Offload::default()), "{offloads:?}");
    frames
}

/// The packets of the next ten seconds, until there are `count`, with the work that is left.
fn receive_packets(socket: &mut PacketSocket, count: usize) -> Vec<(Offload, Vec<u8>)> {
    let mut poller = Poller::new().expect("eventfd");
    poller.watch(&[socket.as_raw_fd()]);
    let mut batch = ReceiveBatch::new();
    let mut packets = Vec::new();
    for _ in 0..100 {
        if packets.len() >= count {
            break;
        }
        poller.wait(Some(Duration::from_millis(100))).expect("polls");
        socket.receive(&mut batch).expect("receives");
        let known = |offload: Result<Offload, _>| offload.expect("a kind we know");
        packets.extend(batch.packets().map(|(offload, bytes)| (known(offload), bytes.to_vec())));
    }
    packets
}

fn frame(size: usize, tag: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    bytes.extend_from_slice(tag);
    bytes.extend([0x88, 0xb5]); // an EtherType for experiments
    bytes.extend((0u8..=255).cycle().take(size - bytes.len()));
    bytes
}

#[test]
fn frames_cross_a_veth_pair_unchanged_and_in_order() {
    let Some(pair) = VethPair::create("x") else { return };
    let [mut left, mut right] =
        pair.ends.each_ref().map(|end| PacketSocket::open(end).expect("opens"));
    // More than one batch in both directions, with and without a VLAN tag (TPID 0x8100, VLAN 7).
    let frames: Vec<Vec<u8>> = (0..100)
        .map(|n| frame(60 + n, if n % 2 == 0 { &[] } else { &[0x81, 0x00, 0x00, 0x07] }))
        .collect();
    let outcome = left.send(&frames, &mut SendBatch::new());
    assert_eq!(outcome.sent, 100, "{:?}", outcome.error);
    let received = receive(&mut right, 100);
    assert_eq!(received.len(), 100);
    for (number, (received, sent)) in received.iter().zip(&frames).enumerate() {
        assert_eq!(received, sent, "frame {number}");
    }
    assert_eq!(right.take_lost_count().expect("counts"), 0);
}

#[test]
fn a_frame_above_the_mtu_is_refused_by_name_and_the_rest_can_go_on() {
    let Some(pair) = VethPair::create("m") else { return };
    let [mut left, mut right] =
        pair.ends.each_ref().map(|end| PacketSocket::open(end).expect("opens"));
    let (small, giant) = (frame(100, &[]), frame(3000, &[]));
    let outcome = left.send(&[&small, &giant, &small], &mut SendBatch::new());
    assert_eq!((outcome.sent, outcome.refused.total(), outcome.refused.too_long), (2, 1, 1));
    let error = outcome.error.expect("1500 bytes of MTU do not take 3000");
    assert_eq!(error.raw_os_error(), Some(libc::EMSGSIZE));
    assert_eq!(receive(&mut right, 2), [small.clone(), small]);
}

/// Waits until the condition holds.
fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "{what} within 20 s");
        std::thread::yield_now();
    }
}

#[test]
fn what_waits_in_the_kernel_is_read_until_it_is_taken() {
    let Some(pair) = VethPair::create("w") else { return };
    let [mut left, mut right] =
        pair.ends.each_ref().map(|end| PacketSocket::open(end).expect("opens"));
    assert_eq!(right.waiting().expect("asks"), Waiting::default());
    let frames = vec![frame(1000, &[]); 50];
    assert_eq!(left.send(&frames, &mut SendBatch::new()).sent, 50);
    until("50 frames on the other side", || {
        right.waiting().expect("asks").arrived_bytes >= 50 * 1000
    });
    assert_eq!(receive(&mut right, 50).len(), 50);
    assert_eq!(right.waiting().expect("asks"), Waiting::default());
}

#[test]
fn what_a_slow_device_has_not_taken_is_read_at_the_sender() {
    let Some(pair) = VethPair::create("s") else { return };
    let [mut left, mut right] =
        pair.ends.each_ref().map(|end| PacketSocket::open(end).expect("opens"));
    // 50 frames of 1000 bytes take half a second.
    let shaper = ["tbf", "rate", "800kbit", "burst", "2000", "latency", "10s"];
    let status = Command::new("tc")
        .args(["qdisc", "add", "dev", &pair.ends[0], "root"])
        .args(shaper)
        .status()
        .expect("tc is installed");
    assert!(status.success());
    assert_eq!(left.send(&vec![frame(1000, &[]); 50], &mut SendBatch::new()).sent, 50);
    assert!(left.waiting().expect("asks").leaving_bytes > 30 * 1000);
    assert_eq!(receive(&mut right, 50).len(), 50);
    until("all gone", || left.waiting().expect("asks").leaving_bytes == 0);
}

#[test]
fn what_others_send_at_this_end_is_heard_where_that_is_asked_for() {
    let Some(pair) = VethPair::create("h") else { return };
    let [this, far] = &pair.ends;
    let [mut asked, mut other, mut neighbour] =
        [this, this, far].map(|end| PacketSocket::open(end).expect("opens"));
    asked.hear_this_end().expect("asks");
    let [own, others, far] = [60, 61, 62].map(|size| frame(size, &[]));
    for (socket, frame) in [(&mut asked, &own), (&mut other, &others), (&mut neighbour, &far)] {
        assert_eq!(socket.send(&[frame], &mut SendBatch::new()).sent, 1);
    }
    // Nobody hears what he sends himself.
    assert_eq!(receive(&mut asked, 2), [others, far.clone()]);
    assert_eq!(receive(&mut other, 1), [far]);
}

#[test]
fn of_a_device_that_changes_is_told_and_its_state_is_there_to_ask_for() {
    let Some(pair) = VethPair::create("l") else { return };
    let watch = LinkWatch::new().expect("netlink");
    let carries = |end: &str| watch.state(end).is_some_and(|state| state.carries);
    assert!(carries(&pair.ends[0]) && carries(&pair.ends[1]));
    let mut poller = Poller::new().expect("eventfd");
    poller.watch(&[watch.as_raw_fd()]);
    // The end of a cable that is pulled at the other end carries nothing.
    for (change, carried) in [("down", false), ("up", true)] {
        ip(&["link", "set", &pair.ends[0], change]);
        until("both ends tell of it", || {
            poller.wait(Some(Duration::from_millis(10))).expect("polls");
            watch.take_changes();
            pair.ends.iter().all(|end| carries(end) == carried)
        });
    }
    assert!(watch.state("nobody-has-it").is_none());
    assert!(watch.state("a name that is much too long").is_none());
}

#[test]
fn a_missing_device_is_named() {
    let error = PacketSocket::open("vitrine-none").err().expect("there is none");
    assert!(matches!(&error, OpenError::Missing(name) if name == "vitrine-none"), "{error}");
    assert!(error.to_string().contains("ip link"), "{error}");
}

/// A super-packet that was received and could not be split.
struct Whole(Vec<u8>, Tail);

impl Outgoing for Whole {
    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn tail(&self) -> Option<Tail> {
        Some(self.1)
    }
}

/// A TCP super-packet of 5000 bytes of payload in pieces of 1000, behind these headers, and where
/// TCP begins.
fn super_packet(outer: &[u8]) -> Whole {
    let mut packet = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    packet.extend(outer);
    packet
        .extend([0x45, 0, 0x13, 0xb0, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    packet
        .extend([0x30, 0x39, 0x14, 0x51, 0, 0, 0, 1, 0, 0, 0, 9, 0x50, 0x10, 1, 0xf6, 0, 0, 0, 0]);
    packet.extend((0u8..=255).cycle().take(5000));
    let note = Note::Unsplit { kind: GsoKind::Tcp4, piece_size: 1000, checksum_offset: 16 };
    Whole(packet, Tail { length_bytes: 5020, note })
}

/// Sends a super-packet with such headers between Ethernet addresses and inner IPv4 over a cable.
/// If the kernel takes it, it arrives as it is, and the next switch would pass it in the same way.
fn pass_whole(letter: &str, outer: &[u8]) -> Option<SendOutcome> {
    let pair = VethPair::create(letter)?;
    let [mut left, mut right] =
        pair.ends.each_ref().map(|end| PacketSocket::open(end).expect("opens"));
    let Whole(mut packet, tail) = super_packet(outer);
    let outcome = left.send(&[Whole(packet.clone(), tail)], &mut SendBatch::new());
    if outcome.sent == 0 {
        return Some(outcome);
    }
    let [(offload, received)] = &receive_packets(&mut right, 1)[..] else { panic!("one packet") };
    assert_eq!(offload.gso, Some((GsoKind::Tcp4, 1000)));
    assert_eq!(*received, packet);
    let mut tails = Vec::new();
    let emit = |piece: &Piece<'_>| tails.push(piece.tail());
    segment::split(&mut packet, *offload, emit).expect("nothing is wrong with it");
    assert_eq!(tails, [Some(tail)]);
    Some(outcome)
}

#[test]
fn a_super_packet_behind_unknown_headers_passes_as_it_is() {
    // Three VLAN tags: one more than is looked behind.
    let tags = [0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 0x81, 0, 0, 7, 0x08, 0];
    let Some(outcome) = pass_whole("u", &tags) else { return };
    assert_eq!(outcome.sent, 1, "{:?}", outcome.error);
}

#[test]
fn a_super_packet_in_gre_with_sequence_numbers_passes_as_it_is_or_is_refused_by_name() {
    // IPv4 of 20 + 8 + 5040 = 5068 (0x13cc) bytes that carries GRE (47), with its checksum; the
    // addresses add 0x0a00 twice, 1 and 2. Behind it GRE with a sequence number (bit 3), and IPv4
    // inside (0x0800).
    let ip = [0x45, 0, 0x13, 0xcc, 0x43, 0x21, 0x40, 0, 64, 47];
    let sum: u32 = ip.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    let sum = sum + 2 * 0x0a00 + 1 + 2;
    let checksum = !(((sum >> 16) + (sum & 0xffff)) as u16);
    let gre = [0x10, 0, 0x08, 0, 0, 0, 0, 7];
    let addresses = [10, 0, 0, 1, 10, 0, 0, 2];
    let parts = [&[0x08, 0][..], &ip, &checksum.to_be_bytes(), &addresses, &gre];
    let Some(outcome) = pass_whole("g", &parts.concat()) else { return };
    // A kernel that wants to look behind GRE and cannot says that it has no memory.
    let counts = (outcome.sent, outcome.refused.unsplit, outcome.refused.total());
    assert!(counts == (1, 0, 0) || counts == (0, 1, 1), "{outcome:?}");
}

#[test]
fn a_super_packet_that_the_kernel_itself_does_not_understand_is_refused_by_name() {
    let Some(pair) = VethPair::create("k") else { return };
    let [mut left, mut right] =
        pair.ends.each_ref().map(|end| PacketSocket::open(end).expect("opens"));
    // An EtherType for experiments in front of IPv4.
    let whole = super_packet(&[0x88, 0xb5, 1, 2, 3, 4]);
    let frame = Whole(frame(100, &[]), Tail { length_bytes: 10, note: Note::Sum(wire::Sum::ZERO) });
    let small = frame.0.clone();
    let outcome = left.send(&[whole, frame], &mut SendBatch::new());
    assert_eq!((outcome.sent, outcome.refused.total(), outcome.refused.unsplit), (1, 1, 1));
    assert_eq!(receive(&mut right, 1), [small]);
}
