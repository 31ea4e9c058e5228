//! How much work one received frame may cause, shared by everything that it becomes.
//!
//! A program may send a packet back into ingress (resubmit, recirculate) and may make copies of it
//! (clone, multicast), and the copies may do the same, all at one instant where ports have no rate.
//! simple_switch then loops for ever. Here each frame comes with [`STEPS_MAX`] steps; a pass
//! through ingress takes one, a copy takes one, and original and copies take theirs from the same
//! budget. So a frame ends after a bounded amount of work, and no other packet waits for it longer.
//!
//! Most packets are never copied and carry their budget with them. The first copy moves it into a
//! table, where it stays until the last of its holders is gone.

/// The passes and copies that one received frame may cause in total. A multicast to every port with
/// seven copies each fits; a program without end stops after some milliseconds.
pub(crate) const STEPS_MAX: u32 = 4096;

/// A packet's access to its steps. Give it back with [`Budgets::release`].
#[derive(Debug)]
pub(crate) enum Budget {
    /// The packet has no copies; this is what is left.
    Own(u32),
    /// Place in the table.
    Shared(u32),
}

impl Budget {
    /// The budget of a new frame.
    pub const NEW: Budget = Budget::Own(STEPS_MAX);
}

/// The budgets that several packets share.
#[derive(Debug, Default)]
pub(crate) struct Budgets {
    slots: Vec<Slot>,
    /// Places without holder, to be used again.
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot {
    left: u32,
    holders: u32,
}

impl Budgets {
    /// Takes one step. `false`: none is left.
    #[inline]
    pub fn take(&mut self, budget: &mut Budget) -> bool {
        let left = match budget {
            Budget::Own(left) => left,
            Budget::Shared(place) => &mut self.slots[*place as usize].left,
        };
        match left.checked_sub(1) {
            Some(rest) => {
                *left = rest;
                true
            }
            None => false,
        }
    }

    /// The same budget for a copy.
    pub fn share(&mut self, budget: &mut Budget) -> Budget {
        let place = match *budget {
            Budget::Shared(place) => place,
            Budget::Own(left) => {
                let place = self.place(Slot { left, holders: 1 });
                *budget = Budget::Shared(place);
                place
            }
        };
        self.slots[place as usize].holders += 1;
        Budget::Shared(place)
    }

    /// A holder is gone.
    #[inline]
    pub fn release(&mut self, budget: Budget) {
        let Budget::Shared(place) = budget else { return };
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
        // There are never more budgets than packets, and those do not reach 2^32.
        (self.slots.len() - 1) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_take_from_the_budget_of_their_original_and_its_place_is_used_again() {
        let mut budgets = Budgets::default();
        let mut original = Budget::Own(3);
        assert!(budgets.take(&mut original));
        let mut copy = budgets.share(&mut original);
        // Two of three are left, for both together.
        assert!(budgets.take(&mut copy) && budgets.take(&mut original));
        assert!(!budgets.take(&mut copy) && !budgets.take(&mut original));
        budgets.release(original);
        let mut second = Budget::Own(1);
        assert!(matches!(budgets.share(&mut second), Budget::Shared(1)), "0 is still held");
        budgets.release(copy);
        let mut third = Budget::Own(1);
        assert!(matches!(budgets.share(&mut third), Budget::Shared(0)), "nobody holds 0 any more");
    }
}
