//! How much work one received frame may cause, shared by everything that it becomes.
//!
//! A program may send a packet back into ingress (resubmit, recirculate) and may make copies of it
//! (clone, multicast), and the copies may do the same, all at one instant where ports have no rate.
//! simple_switch goes on for ever then. Here each frame comes with [`STEPS_MAX`] steps; a pass
//! through ingress takes one, a copy takes one, and original and copies take theirs from the same
//! purse. So a frame ends after a bounded amount of work, and nobody else waits for it longer.
//!
//! Most packets are never copied and carry their purse with them. The first copy puts it into a
//! table of purses, where it stays until the last of its holders is gone.

/// What one received frame and all that comes of it may take: passes and copies together. A
/// multicast to every port with seven copies each fits; a program without end stops after some
/// milliseconds.
pub(crate) const STEPS_MAX: u32 = 4096;

/// A packet's access to its steps. Whoever holds one gives it back with [`Purses::release`].
#[derive(Debug)]
pub(crate) enum Purse {
    /// The packet has no copies; this is what is left.
    Own(u32),
    /// Place in the table.
    Shared(u32),
}

impl Purse {
    /// That of a frame that comes in.
    pub const NEW: Purse = Purse::Own(STEPS_MAX);
}

/// The purses that several packets share.
#[derive(Debug, Default)]
pub(crate) struct Purses {
    slots: Vec<Slot>,
    /// Places without holder, to be used again.
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot {
    left: u32,
    holders: u32,
}

impl Purses {
    /// Takes one step. `false`: none is left.
    #[inline]
    pub fn take(&mut self, purse: &mut Purse) -> bool {
        let left = match purse {
            Purse::Own(left) => left,
            Purse::Shared(place) => &mut self.slots[*place as usize].left,
        };
        match left.checked_sub(1) {
            Some(rest) => {
                *left = rest;
                true
            }
            None => false,
        }
    }

    /// The same purse for a copy.
    pub fn share(&mut self, purse: &mut Purse) -> Purse {
        let place = match *purse {
            Purse::Shared(place) => place,
            Purse::Own(left) => {
                let place = self.place(Slot { left, holders: 1 });
                *purse = Purse::Shared(place);
                place
            }
        };
        self.slots[place as usize].holders += 1;
        Purse::Shared(place)
    }

    /// A holder is gone.
    #[inline]
    pub fn release(&mut self, purse: Purse) {
        let Purse::Shared(place) = purse else { return };
        let slot = &mut self.slots[place as usize];
        slot.holders -= 1;
        if slot.holders == 0 {
            self.free.push(place);
        }
    }

    fn place(&mut self, slot: Slot) -> u32 {
        if let Some(place) = self.free.pop() {
            self.slots[place as usize] = slot;
            return place;
        }
        self.slots.push(slot);
        // There are never more purses than packets, and those do not reach 2^32.
        (self.slots.len() - 1) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_take_from_the_purse_of_their_original_and_its_place_is_used_again() {
        let mut purses = Purses::default();
        let mut original = Purse::Own(3);
        assert!(purses.take(&mut original));
        let mut copy = purses.share(&mut original);
        // Two of three are left, for both together.
        assert!(purses.take(&mut copy) && purses.take(&mut original));
        assert!(!purses.take(&mut copy) && !purses.take(&mut original));
        purses.release(original);
        let mut second = Purse::Own(1);
        assert!(matches!(purses.share(&mut second), Purse::Shared(1)), "0 is still held");
        purses.release(copy);
        let mut third = Purse::Own(1);
        assert!(matches!(purses.share(&mut third), Purse::Shared(0)), "nobody holds 0 any more");
    }
}
