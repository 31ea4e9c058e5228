//! Parser value sets: what a parser compares with and a controller may change.

use bits::Int;

/// A parser value set.
#[derive(Clone, Debug)]
pub(crate) struct ValueSet {
    pub name: String,
    pub width: usize,
    pub members: Vec<ValueSetMember>,
}

/// A member of a value set: all fields as one number, the first in the highest bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSetMember {
    pub value: Int,
    /// The bits that count; all of them where there is none.
    pub mask: Option<Int>,
}

/// The approximate memory of members.
pub(crate) fn size_bytes_of(members: &[ValueSetMember]) -> u64 {
    const HEAP_BYTES: usize = 32;
    (members.len() * (size_of::<ValueSetMember>() + HEAP_BYTES)) as u64
}

impl ValueSet {
    /// The approximate memory of its members.
    pub fn size_bytes(&self) -> u64 {
        size_bytes_of(&self.members)
    }
}

impl From<Int> for ValueSetMember {
    fn from(value: Int) -> ValueSetMember {
        ValueSetMember { value, mask: None }
    }
}

/// The value sets of a program, without members.
pub(crate) fn load_value_sets(source: &bmv2::Program) -> Vec<ValueSet> {
    let sets = source.parse_vsets.iter();
    sets.map(|set| ValueSet {
        name: set.name.clone(),
        width: set.width_bits as usize,
        members: Vec::new(),
    })
    .collect()
}
