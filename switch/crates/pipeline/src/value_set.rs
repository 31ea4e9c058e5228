//! Parser value sets: what a parser compares with and a controller may change.

/// A parser value set: members as written by the control plane, without padding.
#[derive(Clone, Debug)]
pub(crate) struct ValueSet {
    pub name: String,
    pub width: usize,
    pub members: Vec<Vec<u8>>,
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
