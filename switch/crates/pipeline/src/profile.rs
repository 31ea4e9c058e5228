//! Action profiles as a program uses them: what chooses a member of a group.

use tables::ActionProfile;

use crate::calculation::{Recipe, hash_named};
use crate::error::LoadError;
use crate::hash::Hash;
use crate::layout::Layout;

/// An action profile of the program.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub profile: ActionProfile,
    /// Without one there are no groups.
    pub selector: Option<Selector>,
}

/// How a member of a group is chosen.
#[derive(Clone, Debug)]
pub(crate) struct Selector {
    pub recipe: Recipe,
    /// Index of the hash in the mutable state.
    pub hash: usize,
}

impl Chosen {
    /// An action profile, without members; the hash of its selector is added to `hashes`.
    pub fn load(
        layout: &Layout,
        profile: &bmv2::ActionProfile,
        hashes: &mut Vec<Hash>,
    ) -> Result<Chosen, LoadError> {
        let selector = match &profile.selector {
            Some(selector) => {
                let under = |error: LoadError| error.under("/selector");
                hashes.push(hash_named(&selector.algorithm).map_err(under)?);
                let recipe = Recipe::of_fields(layout, &selector.input).map_err(under)?;
                Some(Selector { recipe, hash: hashes.len() - 1 })
            }
            None => None,
        };
        let (name, size) = (profile.name.clone(), profile.size_max as usize);
        Ok(Chosen { profile: ActionProfile::new(name, size, selector.is_some()), selector })
    }
}
