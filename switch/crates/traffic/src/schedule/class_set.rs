//! Sets of a port's classes.

/// A set of classes as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClassSet(u8);

impl ClassSet {
    pub fn insert(&mut self, class: usize) {
        self.0 |= 1 << class;
    }

    pub fn remove(&mut self, class: usize) {
        self.0 &= !(1 << class);
    }

    #[inline]
    pub fn contains(self, class: usize) -> bool {
        self.0 & (1 << class) != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The highest member.
    #[inline]
    pub fn highest(self) -> Option<usize> {
        7usize.checked_sub(self.0.leading_zeros() as usize)
    }

    pub fn intersection(self, other: ClassSet) -> ClassSet {
        ClassSet(self.0 & other.0)
    }

    /// The members from the highest class down.
    #[inline]
    pub fn iter_down(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let class = ClassSet(rest).highest()?;
            rest &= !(1 << class);
            Some(class)
        })
    }

    /// The members from the lowest class up.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let class = rest.trailing_zeros() as usize;
            rest &= rest.wrapping_sub(1);
            (class < 8).then_some(class)
        })
    }
}
