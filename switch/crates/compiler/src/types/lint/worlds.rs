//! Which headers can be valid together at one point of a program.
//!
//! A world is one possibility: a set of valid headers, a bit each. Keeping whole sets, and not one
//! answer a header, knows what programs rely on: where TCP is valid, IPv4 is too, because the parser
//! has no other way to TCP.
//!
//! ```text
//! after a parser of Ethernet, then IPv4 or nothing, then TCP or nothing:
//!     { ethernet }   { ethernet, ipv4 }   { ethernet, ipv4, tcp }
//! where tcp.isValid():                    { ethernet, ipv4, tcp }
//! ```
//!
//! A header without any knowledge is outside of all that (`unknown`); no worlds at all means that
//! the point is not reached, or that the packet is dropped and its headers no longer matter.

use std::collections::BTreeSet;

/// More possibilities than this are not followed: the lint then knows nothing any more.
const WORLD_COUNT_MAX: usize = 1024;

/// A header by number. Headers from number 128 on are never known.
pub(super) type HeaderIndex = usize;

/// The knowledge about one header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Validity {
    /// In all worlds.
    Valid,
    /// In none.
    Invalid,
    /// In some.
    Maybe,
    /// Nothing.
    Unknown,
}

/// The possibilities at one point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Worlds {
    /// Bits of unknown headers are 0.
    sets: BTreeSet<u128>,
    unknown: u128,
}

impl Worlds {
    /// Nothing is known about any header.
    pub fn unknown() -> Worlds {
        Worlds { sets: BTreeSet::from([0]), unknown: u128::MAX }
    }

    /// A point that no packet reaches.
    pub fn unreached() -> Worlds {
        Worlds { sets: BTreeSet::new(), unknown: 0 }
    }

    pub fn is_reached(&self) -> bool {
        !self.sets.is_empty()
    }

    /// How many possibilities there are.
    pub fn count(&self) -> usize {
        self.sets.len()
    }

    /// The knowledge about a header. In a point not reached, nothing.
    pub fn validity(&self, header: HeaderIndex) -> Validity {
        let bit = bit(header);
        if bit == 0 || self.unknown & bit != 0 || self.sets.is_empty() {
            return Validity::Unknown;
        }
        let count = self.sets.iter().filter(|set| *set & bit != 0).count();
        match count {
            0 => Validity::Invalid,
            count if count == self.sets.len() => Validity::Valid,
            _ => Validity::Maybe,
        }
    }

    /// From here on the header is valid, or not, whatever it was.
    pub fn set(&mut self, header: HeaderIndex, is_valid: bool) {
        let bit = bit(header);
        self.unknown &= !bit;
        self.map(|set| if is_valid { set | bit } else { set & !bit });
    }

    /// Only what agrees with the header being valid, or not, remains.
    pub fn assume(&mut self, header: HeaderIndex, is_valid: bool) {
        let bit = bit(header);
        if bit == 0 {
            return;
        }
        if self.unknown & bit != 0 {
            return self.set(header, is_valid);
        }
        self.sets.retain(|set| (set & bit != 0) == is_valid);
    }

    /// Nothing is known about the header any more.
    pub fn forget(&mut self, header: HeaderIndex) {
        self.unknown |= bit(header);
        self.normalise();
    }

    /// Either this or `other`. Of what `before` knew nothing about, only that remains on which both
    /// agree: that a program looks at a header in one place does not say what is in another.
    pub fn join(&mut self, other: &Worlds, before: &Worlds) {
        if !other.is_reached() {
            return;
        }
        if !self.is_reached() {
            *self = other.clone();
            return;
        }
        self.unknown |= other.unknown;
        let mut open = before.unknown & !self.unknown;
        while open != 0 {
            let header = open.trailing_zeros() as usize;
            open &= open - 1;
            let (left, right) = (self.validity(header), other.validity(header));
            if left != right || left == Validity::Maybe {
                self.unknown |= bit(header);
            }
        }
        self.sets.extend(&other.sets);
        self.normalise();
    }

    fn normalise(&mut self) {
        let unknown = self.unknown;
        self.map(|set| set & !unknown);
        if self.sets.len() > WORLD_COUNT_MAX {
            *self = Worlds::unknown();
        }
    }

    fn map(&mut self, change: impl Fn(u128) -> u128) {
        self.sets = self.sets.iter().map(|set| change(*set)).collect();
    }
}

fn bit(header: HeaderIndex) -> u128 {
    u32::try_from(header).ok().and_then(|header| 1u128.checked_shl(header)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ETHERNET: HeaderIndex = 0;
    const IPV4: HeaderIndex = 1;
    const TCP: HeaderIndex = 2;

    /// Ethernet; Ethernet and IPv4; all three.
    fn parsed() -> Worlds {
        let mut worlds = Worlds::unknown();
        [ETHERNET, IPV4, TCP].into_iter().for_each(|header| worlds.set(header, false));
        worlds.set(ETHERNET, true);
        let (mut ip, before) = (worlds.clone(), worlds.clone());
        ip.set(IPV4, true);
        let mut tcp = ip.clone();
        tcp.set(TCP, true);
        worlds.join(&ip, &before);
        worlds.join(&tcp, &before);
        worlds
    }

    #[test]
    fn a_header_that_implies_another_is_known_to() {
        let mut worlds = parsed();
        assert_eq!(worlds.validity(IPV4), Validity::Maybe);
        worlds.assume(TCP, true);
        assert_eq!(worlds.validity(IPV4), Validity::Valid);
    }

    #[test]
    fn what_cannot_be_is_not_reached() {
        let mut worlds = parsed();
        worlds.assume(IPV4, false);
        worlds.assume(TCP, true);
        assert!(!worlds.is_reached());
        assert_eq!(worlds.validity(ETHERNET), Validity::Unknown);
    }

    #[test]
    fn a_test_of_an_unknown_header_leaves_it_unknown_behind() {
        let before = Worlds::unknown();
        let (mut then, mut otherwise) = (before.clone(), before.clone());
        then.assume(TCP, true);
        otherwise.assume(TCP, false);
        then.join(&otherwise, &before);
        assert_eq!(then.validity(TCP), Validity::Unknown);
    }

    #[test]
    fn more_headers_than_bits_are_never_known() {
        let mut worlds = parsed();
        worlds.set(128, true);
        worlds.assume(1_000, false);
        assert_eq!(worlds.validity(128), Validity::Unknown);
        assert_eq!(worlds.validity(ETHERNET), Validity::Valid);
    }
}
