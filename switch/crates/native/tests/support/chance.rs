//! Reproducible random numbers, packets and keys.

use bits::Int;

/// SplitMix64.
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// One of some things.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// A number of this many bits: small, with all ones, or any.
    pub fn number(&mut self, width: u32) -> Int {
        let limbs: Vec<u64> = (0..width.div_ceil(64) + 1).map(|_| self.next()).collect();
        let number = match self.below(4) {
            0 => Int::from(self.next() % 4),
            1 => &Int::one().shift_left(width as usize) - &Int::one(),
            _ => Int::from_limbs(&limbs),
        };
        number.truncate(width as usize)
    }

    /// A number of this many bits that some packet may carry, or any.
    pub fn value_like(&mut self, packets: &[Vec<u8>], width: u32) -> Int {
        let packet = self.one(packets);
        let bytes = width.div_ceil(8) as usize;
        if packet.len() < bytes || self.below(4) == 0 {
            return self.number(width);
        }
        let start = self.below(packet.len() - bytes + 1);
        Int::from_be_bytes(&packet[start..start + bytes]).truncate(width as usize)
    }

    /// A packet like one of these: as it is, cut, or with some bytes changed.
    pub fn packet_like(&mut self, packets: &[Vec<u8>]) -> Vec<u8> {
        let mut packet = self.one(packets).clone();
        for _ in 0..self.below(4) {
            let at = self.below(packet.len().max(1));
            if let Some(byte) = packet.get_mut(at) {
                *byte = if self.below(2) == 0 { self.below(4) as u8 } else { self.next() as u8 };
            }
        }
        match self.below(8) {
            0 => packet.truncate(self.below(packet.len() + 1)),
            1 => packet.extend((0..self.below(40)).map(|_| self.0 as u8)),
            _ => {}
        }
        packet
    }
}
