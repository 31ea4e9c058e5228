//! Sets of fabric ports as bits. A lane is a port's place in the crossbar, counted from 0.

/// A set of lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaneSet(u128);

impl LaneSet {
    /// Lanes 0 to `count` - 1.
    pub fn first_lanes(count: usize) -> LaneSet {
        if count == 128 { LaneSet(u128::MAX) } else { LaneSet((1 << count) - 1) }
    }

    /// One lane.
    pub fn of(lane: usize) -> LaneSet {
        LaneSet(1 << lane)
    }

    pub fn insert(&mut self, lane: usize) {
        self.0 |= 1 << lane;
    }

    pub fn remove(&mut self, lane: usize) {
        self.0 &= !(1 << lane);
    }

    pub fn contains(self, lane: usize) -> bool {
        self.0 >> lane & 1 != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    pub fn intersection(self, other: LaneSet) -> LaneSet {
        LaneSet(self.0 & other.0)
    }

    /// Its members as bits.
    pub fn bits(self) -> u128 {
        self.0
    }

    /// The lowest member.
    #[inline]
    pub fn first(self) -> Option<usize> {
        (self.0 != 0).then_some(self.0.trailing_zeros() as usize)
    }

    /// The first member from `start` on, wrapping around: a round-robin pointer's choice.
    #[inline]
    pub fn first_from(self, start: usize) -> Option<usize> {
        LaneSet(self.0 >> start << start).first().or(self.first())
    }

    /// The member with `rank` lower members; `rank` is below [`LaneSet::count`].
    #[inline]
    pub fn nth(self, rank: usize) -> usize {
        let mut rest = self.0;
        for _ in 0..rank {
            rest &= rest - 1;
        }
        rest.trailing_zeros() as usize
    }

    /// The members from the lowest up.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let lane = rest.first()?;
            rest.0 &= rest.0 - 1;
            Some(lane)
        })
    }
}
