//! TCP's header, its options as Linux lays them out, and numbers that come round.

use proptest::collection::vec;
use proptest::prelude::*;
use wire::Sum;
use wire::tcp::{Flags, Repr, Segment, SeqNumber};
use wire::tcp_options::{OptionsError, SackBlock, Settings, TcpOption, Timestamps};

fn block(left: u32, right: u32) -> SackBlock {
    SackBlock { left: SeqNumber(left), right: SeqNumber(right) }
}

fn emitted(options: Settings) -> Vec<u8> {
    let mut bytes = vec![0; options.size().expect("fits")];
    options.emit(&mut bytes);
    bytes
}

#[test]
fn a_syn_has_the_options_of_linux_in_their_places() {
    let options = Settings {
        max_segment_size: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 0x0102_0304, echo_reply: 0 }),
        ..Settings::default()
    };
    let expected = [2, 4, 5, 180, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7];
    assert_eq!(emitted(options), expected);
    let without = Settings { timestamps: None, ..options };
    assert_eq!(emitted(without), [2, 4, 5, 180, 1, 1, 4, 2, 1, 3, 3, 7]);
}

#[test]
fn three_blocks_fit_beside_timestamps_and_four_do_not() {
    let blocks = |count| (0..count).map(|number| block(number * 10, number * 10 + 5)).collect();
    let timestamps = Some(Timestamps { value: 1, echo_reply: 2 });
    // 12 bytes of timestamps, 4 of the option and its padding, 8 each block.
    let three = Settings { timestamps, sack: blocks(3), ..Settings::default() };
    assert_eq!(three.size(), Ok(40));
    let four = Settings { timestamps, sack: blocks(4), ..Settings::default() };
    assert_eq!(four.size(), Err(OptionsError { size_bytes: 48 }));
    assert_eq!(Settings { sack: four.sack.truncated(3), ..four }, three);
    assert_eq!(Repr { options: four, ..Repr::default() }.emit(&mut [0; 80]).ok(), None);
}

#[test]
fn an_option_of_a_known_kind_and_another_length_is_unknown() {
    // A maximum segment size of three bytes, then one of two, then a length that cannot be.
    let mut bytes = vec![0; 20];
    bytes.extend([2, 5, 1, 2, 3, 2, 4, 1, 0, 8, 1, 0]);
    let mut segment = Segment::new_unchecked(bytes);
    segment.set_header_size_and_flags(32, Flags::SYN);
    let options: Vec<TcpOption<'_>> = segment.options().collect();
    let odd = TcpOption::Unknown { kind: 2, data: &[1, 2, 3] };
    assert_eq!(options, [odd, TcpOption::MaxSegmentSize(256)]);
}

#[test]
fn all_nine_flags_have_their_bits() {
    let accurate = Flags::SYN | Flags::ECE | Flags::CWR | Flags::AE;
    let mut segment = Segment::new_unchecked([0u8; 20]);
    segment.set_header_size_and_flags(20, accurate);
    assert_eq!(segment.as_bytes()[12..14], [0x51, 0xc2]);
    assert_eq!(segment.flags(), accurate);
    assert!(accurate.contains(Flags::AE) && !accurate.contains(Flags::AE | Flags::ACK));
    assert_eq!(accurate.without(Flags::AE).to_bits(), 0xc2);
}

fn settings() -> impl Strategy<Value = Settings> {
    let timestamps =
        any::<(u32, u32)>().prop_map(|(value, echo_reply)| Timestamps { value, echo_reply });
    let blocks = vec(any::<(u32, u32)>().prop_map(|(left, right)| block(left, right)), 0..=4);
    let sizes = (any::<Option<u16>>(), any::<Option<u8>>(), any::<bool>());
    (sizes, blocks, proptest::option::of(timestamps)).prop_map(
        |((max_segment_size, window_scale, sack_permitted), blocks, timestamps)| Settings {
            max_segment_size,
            window_scale,
            sack_permitted,
            sack: blocks.into_iter().collect(),
            timestamps,
        },
    )
}

proptest! {
    #[test]
    fn a_header_comes_back(
        (src_port, dst_port, seq, ack) in any::<(u16, u16, u32, u32)>(),
        (flags, window, urgent_pointer) in any::<(u16, u16, u16)>(),
        options in settings(),
        payload in vec(any::<u8>(), 0..40),
        pseudo_header in any::<u16>(),
    ) {
        prop_assume!(options.size().is_ok());
        let repr = Repr {
            src_port,
            dst_port,
            seq_number: SeqNumber(seq),
            ack_number: SeqNumber(ack),
            flags: Flags::from_bits(flags),
            window,
            urgent_pointer,
            options,
        };
        let size = repr.header_size().expect("the options fit");
        let mut bytes = [&vec![0xff; size][..], &payload].concat();
        prop_assert_eq!(repr.emit(&mut bytes), Ok(size));
        let pseudo_header = Sum::from_word(pseudo_header);
        Segment::new_unchecked(&mut bytes[..]).fill_checksum(pseudo_header);
        let segment = Segment::new_checked(&bytes[..]).expect("whole");
        prop_assert_eq!(Repr::parse(&segment), repr);
        prop_assert_eq!(segment.payload(), &payload[..]);
        prop_assert!(segment.is_checksum_right(pseudo_header));
    }

    #[test]
    fn numbers_are_ordered_across_the_end(start in any::<u32>(), ahead in 1u32..1 << 31) {
        let (start, end) = (SeqNumber(start), SeqNumber(start) + ahead);
        prop_assert!(start < end && start <= start);
        prop_assert_eq!(end.since(start), ahead);
        prop_assert_eq!(end - ahead, start);
        prop_assert_eq!((start.max(end), end.min(start)), (end, start));
    }

    #[test]
    fn any_bytes_are_some_options(bytes in vec(any::<u8>(), 0..40)) {
        let size = (bytes.len() / 4) * 4;
        let mut segment = Segment::new_unchecked([&[0; 20][..], &bytes[..size]].concat());
        segment.set_header_size_and_flags(20 + size, Flags::NONE);
        prop_assert!(segment.options().count() <= size);
    }
}
