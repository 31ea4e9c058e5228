//! The hash algorithms of v1model and of simple_switch, with simple_switch's results.
//!
//! Sources: `src/bm_sim/calculations.cpp` and `crc_map.cpp` of p4lang/behavioral-model say which
//! parameters each name stands for; the CRC model (polynomial, initial value, final XOR,
//! reflection) is that of Ross Williams, "A painless guide to CRC error detection algorithms".

use std::collections::BTreeMap;

use wire::Sum;

/// A CRC of 8, 16, 32 or 64 bits, by table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crc {
    parameters: CrcParameters,
    table: Box<[u64; 256]>,
}

/// The parameters of a CRC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrcParameters {
    /// 8, 16, 32 or 64.
    pub width_bits: u32,
    /// Without its highest term.
    pub polynomial: u64,
    /// The register before the first byte.
    pub initial: u64,
    /// Combined with the register at the end.
    pub final_xor: u64,
    /// Bytes enter with the lowest bit first.
    pub reflect_input: bool,
    /// The register is reversed at the end.
    pub reflect_output: bool,
}

/// An algorithm and its state, if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hash {
    /// Internet checksum (RFC 1071).
    Checksum16,
    Crc(Crc),
    /// The first eight bytes as a number.
    Identity,
    /// Counts its calls.
    RoundRobin {
        /// How many there were.
        calls: u64,
    },
    /// Counts the different inputs.
    RoundRobinConsistent {
        /// The number of each input.
        numbers: BTreeMap<Vec<u8>, u64>,
    },
    /// Toeplitz, as in receive-side scaling, with its key as 32-bit words.
    Toeplitz {
        key: Vec<u32>,
    },
    /// All words of 16 or 32 bits combined by XOR.
    Xor {
        /// Bytes of a word.
        word_bytes: usize,
    },
    /// xxHash of 64 bits with seed 0.
    Xxh64,
}

const fn crc(
    width_bits: u32,
    polynomial: u64,
    initial: u64,
    final_xor: u64,
    r: bool,
) -> CrcParameters {
    CrcParameters {
        width_bits,
        polynomial,
        initial,
        final_xor,
        reflect_input: r,
        reflect_output: r,
    }
}

/// The CRCs that have a name. Those of v1model come first.
const CRCS: [(&str, CrcParameters); 45] = [
    ("crc16", crc(16, 0x8005, 0, 0, true)),
    ("crc32", crc(32, 0x04c1_1db7, 0xffff_ffff, 0xffff_ffff, true)),
    ("crcCCITT", crc(16, 0x1021, 0xffff, 0, false)),
    ("crc8_custom", crc(8, 0x07, 0, 0, false)),
    ("crc16_custom", crc(16, 0x8005, 0, 0, true)),
    ("crc32_custom", crc(32, 0x04c1_1db7, 0xffff_ffff, 0xffff_ffff, true)),
    ("crc64_custom", crc(64, 0x1b, 0, 0, true)),
    ("crc_8", crc(8, 0x07, 0, 0, false)),
    ("crc_8_darc", crc(8, 0x39, 0, 0, true)),
    ("crc_8_i_code", crc(8, 0x1d, 0xfd, 0, false)),
    ("crc_8_itu", crc(8, 0x07, 0, 0x55, false)),
    ("crc_8_maxim", crc(8, 0x31, 0, 0, true)),
    ("crc_8_rohc", crc(8, 0x07, 0xff, 0, true)),
    ("crc_8_wcdma", crc(8, 0x9b, 0, 0, true)),
    ("crc_16", crc(16, 0x8005, 0, 0, true)),
    ("crc_16_buypass", crc(16, 0x8005, 0, 0, false)),
    ("crc_16_dds_110", crc(16, 0x8005, 0x800d, 0, false)),
    ("crc_16_dect", crc(16, 0x0589, 0, 1, false)),
    ("crc_16_dnp", crc(16, 0x3d65, 0, 0xffff, true)),
    ("crc_16_en_13757", crc(16, 0x3d65, 0, 0xffff, false)),
    ("crc_16_genibus", crc(16, 0x1021, 0xffff, 0xffff, false)),
    ("crc_16_maxim", crc(16, 0x8005, 0, 0xffff, true)),
    ("crc_16_mcrf4xx", crc(16, 0x1021, 0xffff, 0, true)),
    ("crc_16_riello", crc(16, 0x1021, 0xb2aa, 0, true)),
    ("crc_16_t10_dif", crc(16, 0x8bb7, 0, 0, false)),
    ("crc_16_teledisk", crc(16, 0xa097, 0, 0, false)),
    ("crc_16_usb", crc(16, 0x8005, 0xffff, 0xffff, true)),
    ("x_25", crc(16, 0x1021, 0xffff, 0xffff, true)),
    ("xmodem", crc(16, 0x1021, 0, 0, false)),
    ("modbus", crc(16, 0x8005, 0xffff, 0, true)),
    ("kermit", crc(16, 0x1021, 0, 0, true)),
    ("crc_ccitt_false", crc(16, 0x1021, 0xffff, 0, false)),
    ("crc_aug_ccitt", crc(16, 0x1021, 0x1d0f, 0, false)),
    ("crc_32", crc(32, 0x04c1_1db7, 0xffff_ffff, 0xffff_ffff, true)),
    ("crc_32_bzip2", crc(32, 0x04c1_1db7, 0xffff_ffff, 0xffff_ffff, false)),
    ("crc_32c", crc(32, 0x1edc_6f41, 0xffff_ffff, 0xffff_ffff, true)),
    ("crc_32d", crc(32, 0xa833_982b, 0xffff_ffff, 0xffff_ffff, true)),
    ("crc_32_mpeg", crc(32, 0x04c1_1db7, 0xffff_ffff, 0, false)),
    ("posix", crc(32, 0x04c1_1db7, 0, 0xffff_ffff, false)),
    ("crc_32q", crc(32, 0x8141_41ab, 0, 0, false)),
    ("jamcrc", crc(32, 0x04c1_1db7, 0xffff_ffff, 0, true)),
    ("xfer", crc(32, 0x0000_00af, 0, 0, false)),
    ("crc_64", crc(64, 0x1b, 0, 0, true)),
    ("crc_64_we", crc(64, 0x42f0_e1eb_a9ea_3693, u64::MAX, u64::MAX, false)),
    ("crc_64_jones", crc(64, 0xad93_d235_94c9_35a9, u64::MAX, 0, true)),
];

impl Crc {
    /// A CRC of the given kind.
    pub fn new(parameters: CrcParameters) -> Crc {
        let mask = bits::mask64(parameters.width_bits as usize);
        let top = 1u64 << (parameters.width_bits - 1);
        let mut table = Box::new([0; 256]);
        for (byte, slot) in table.iter_mut().enumerate() {
            // The byte enters at the register's high end; eight steps of long division follow.
            let first = (byte as u64) << (parameters.width_bits - 8);
            *slot = (0..8).fold(first, |register, _| {
                let shifted = register << 1 & mask;
                if register & top == 0 { shifted } else { shifted ^ parameters.polynomial }
            });
        }
        Crc { parameters, table }
    }

    /// Its parameters.
    pub fn parameters(&self) -> CrcParameters {
        self.parameters
    }

    fn of(&self, input: &[u8]) -> u64 {
        let CrcParameters { width_bits, initial, final_xor, .. } = self.parameters;
        let mask = bits::mask64(width_bits as usize);
        let register = input.iter().fold(initial & mask, |register, byte| {
            let byte = if self.parameters.reflect_input { byte.reverse_bits() } else { *byte };
            let index = u64::from(byte) ^ register >> (width_bits - 8);
            self.table[index as usize & 0xff] ^ (register << 8 & mask)
        });
        let register = match self.parameters.reflect_output {
            true => register.reverse_bits() >> (64 - width_bits),
            false => register,
        };
        (register ^ final_xor) & mask
    }
}

impl Hash {
    /// The algorithm of a name, if there is one.
    pub fn named(name: &str) -> Option<Hash> {
        if let Some((_, parameters)) = CRCS.iter().find(|(candidate, _)| *candidate == name) {
            return Some(Hash::Crc(Crc::new(*parameters)));
        }
        match name {
            "cksum16" | "csum16" => Some(Hash::Checksum16),
            "identity" => Some(Hash::Identity),
            "round_robin" => Some(Hash::RoundRobin { calls: 0 }),
            "round_robin_consistent" => {
                Some(Hash::RoundRobinConsistent { numbers: BTreeMap::new() })
            }
            "toeplitz" => Some(Hash::Toeplitz { key: vec![0] }),
            "xor16" => Some(Hash::Xor { word_bytes: 2 }),
            "xor32" => Some(Hash::Xor { word_bytes: 4 }),
            "xxh64" => Some(Hash::Xxh64),
            _ => Hash::described(name),
        }
    }

    /// A CRC spelled out: `poly_0x18005_init_0x0_xout_0x0_not_rev`, its highest term included.
    fn described(name: &str) -> Option<Hash> {
        let number = |text: &str| u128::from_str_radix(text.trim_start_matches("0x"), 16).ok();
        let mut words = name.split('_').filter(|word| !word.is_empty());
        let (mut polynomial, mut initial, mut final_xor, mut reflected) = (None, 0, 0, true);
        while let Some(word) = words.next() {
            match word {
                "poly" => polynomial = number(words.next()?),
                "init" => initial = number(words.next()?)?,
                "xout" => final_xor = number(words.next()?)?,
                "not" if words.next()? == "rev" => reflected = false,
                _ => return None,
            }
        }
        let polynomial = polynomial.filter(|polynomial| *polynomial > 0)?;
        let width_bits = 127 - polynomial.leading_zeros();
        let known = matches!(width_bits, 8 | 16 | 32 | 64);
        known.then(|| {
            let low = (polynomial ^ 1 << width_bits) as u64;
            Hash::Crc(Crc::new(crc(width_bits, low, initial as u64, final_xor as u64, reflected)))
        })
    }

    /// The hash of `input`.
    pub fn of(&mut self, input: &[u8]) -> u64 {
        match self {
            Hash::Checksum16 => Sum::of(input).checksum().into(),
            Hash::Crc(crc) => crc.of(input),
            Hash::Identity => {
                input.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
            }
            Hash::RoundRobin { calls } => {
                *calls += 1;
                *calls - 1
            }
            Hash::RoundRobinConsistent { numbers } => {
                let next = numbers.len() as u64;
                *numbers.entry(input.to_vec()).or_insert(next)
            }
            Hash::Toeplitz { key } => toeplitz(input, key),
            Hash::Xor { word_bytes } => {
                input.chunks(*word_bytes).fold(0, |value, chunk| value ^ word(chunk, *word_bytes))
            }
            Hash::Xxh64 => xxh64(input),
        }
    }
}

/// A big-endian word, zeros appended where the input ends early.
fn word(chunk: &[u8], word_bytes: usize) -> u64 {
    let value = chunk.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
    value << (8 * (word_bytes - chunk.len()))
}

/// Every set bit of the input selects 32 bits of the key, which starts over when it ends.
fn toeplitz(input: &[u8], key: &[u32]) -> u64 {
    let words = input.chunks(4).map(|chunk| word(chunk, 4) as u32).enumerate();
    let selected = words.flat_map(|(index, word)| {
        let [left, right] = [index, index + 1].map(|at| key[at % key.len()]);
        let pair = u64::from(left) << 32 | u64::from(right);
        let bits = (0..32).filter(move |bit| word >> (31 - bit) & 1 == 1);
        bits.map(move |bit| (pair << bit >> 32) as u32)
    });
    selected.fold(0, |value, part| value ^ part).into()
}

/// xxHash64 (specification: Cyan4973/xxHash, `doc/xxhash_spec.md`) with seed 0.
fn xxh64(input: &[u8]) -> u64 {
    const P1: u64 = 0x9E37_79B1_85EB_CA87;
    const P2: u64 = 0xC2B2_AE3D_27D4_EB4F;
    const P3: u64 = 0x1656_67B1_9E37_79F9;
    const P4: u64 = 0x85EB_CA77_C2B2_AE63;
    const P5: u64 = 0x27D4_EB2F_1656_67C5;
    let lane = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    let round = |accumulator: u64, lane: u64| {
        accumulator.wrapping_add(lane.wrapping_mul(P2)).rotate_left(31).wrapping_mul(P1)
    };
    let mut stripes = input.chunks_exact(32);
    let mut hash = if input.len() >= 32 {
        let mut lanes = [P1.wrapping_add(P2), P2, 0, 0u64.wrapping_sub(P1)];
        for stripe in stripes.by_ref() {
            for (accumulator, bytes) in lanes.iter_mut().zip(stripe.chunks_exact(8)) {
                *accumulator = round(*accumulator, lane(bytes));
            }
        }
        let mixed = lanes
            .iter()
            .zip([1, 7, 12, 18])
            .fold(0u64, |sum, (lane, turn)| sum.wrapping_add(lane.rotate_left(turn)));
        lanes
            .iter()
            .fold(mixed, |hash, lane| (hash ^ round(0, *lane)).wrapping_mul(P1).wrapping_add(P4))
    } else {
        P5
    };
    hash = hash.wrapping_add(input.len() as u64);
    let mut eights = stripes.remainder().chunks_exact(8);
    for bytes in eights.by_ref() {
        hash = (hash ^ round(0, lane(bytes))).rotate_left(27).wrapping_mul(P1).wrapping_add(P4);
    }
    let mut fours = eights.remainder().chunks_exact(4);
    for bytes in fours.by_ref() {
        let value = u64::from(u32::from_le_bytes(bytes.try_into().expect("four bytes")));
        hash = (hash ^ value.wrapping_mul(P1)).rotate_left(23).wrapping_mul(P2).wrapping_add(P3);
    }
    for byte in fours.remainder() {
        hash = (hash ^ u64::from(*byte).wrapping_mul(P5)).rotate_left(11).wrapping_mul(P1);
    }
    hash = (hash ^ hash >> 33).wrapping_mul(P2);
    hash = (hash ^ hash >> 29).wrapping_mul(P3);
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(name: &str, input: &[u8]) -> u64 {
        Hash::named(name).unwrap_or_else(|| panic!("{name}")).of(input)
    }

    #[test]
    fn crcs_have_their_published_check_values() {
        // "Check" in the catalogues of CRCs: the value for these nine digits.
        let check = b"123456789";
        assert_eq!(hash("crc16", check), 0xbb3d);
        assert_eq!(hash("crc32", check), 0xcbf4_3926);
        assert_eq!(hash("crcCCITT", check), 0x29b1);
        assert_eq!(hash("crc_8", check), 0xf4);
        assert_eq!(hash("xmodem", check), 0x31c3);
        assert_eq!(hash("x_25", check), 0x906e);
        assert_eq!(hash("crc_32c", check), 0xe306_9283);
        assert_eq!(hash("poly_0x104c11db7_init_0xffffffff_xout_0xffffffff", check), 0xcbf4_3926);
        assert_eq!(hash("poly_0x18005_not_rev", check), hash("crc_16_buypass", check));
    }

    #[test]
    fn the_internet_checksum_is_that_of_rfc_1071() {
        // Section 3: the words sum to ddf2, the checksum is its complement.
        let example = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(hash("csum16", &example), 0x220d);
        assert_eq!(hash("csum16", &[]), 0xffff);
    }

    #[test]
    fn the_other_algorithms_follow_their_definitions() {
        assert_eq!(hash("xor16", &[1, 2, 4, 8, 0x10]), 0x0102 ^ 0x0408 ^ 0x1000);
        assert_eq!(hash("identity", &[1, 2, 3]), 0x01_0203);
        // The test vectors of the xxHash specification: empty input, and "abc".
        assert_eq!(hash("xxh64", b""), 0xef46_db37_51d8_e999);
        assert_eq!(hash("xxh64", b"abc"), 0x44bc_2cf5_ad77_0999);
        let mut turns = Hash::named("round_robin").unwrap();
        assert_eq!([turns.of(b"a"), turns.of(b"a"), turns.of(b"b")], [0, 1, 2]);
        let mut turns = Hash::named("round_robin_consistent").unwrap();
        assert_eq!([turns.of(b"a"), turns.of(b"a"), turns.of(b"b")], [0, 0, 1]);
        assert!(Hash::named("crc17").is_none());
    }

    #[test]
    fn toeplitz_gives_microsofts_verification_value() {
        // "Verifying the RSS hash calculation": IPv4 66.9.149.187 -> 161.142.100.80.
        let key = [
            0x6d5a_56da,
            0x255b_0ec2,
            0x4167_253d,
            0x43a3_8fb0,
            0xd0ca_2bcb,
            0xae7b_30b4,
            0x77cb_2da3,
            0x8030_f20c,
            0x6a42_b73b,
            0xbeac_01fa,
        ];
        let input = [66, 9, 149, 187, 161, 142, 100, 80];
        assert_eq!(Hash::Toeplitz { key: key.to_vec() }.of(&input), 0x323e_8fc2);
    }
}
