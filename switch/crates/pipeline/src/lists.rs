//! Lists of fields: those that a packet keeps when it starts over, and those of digests.

use std::collections::BTreeMap;

use bmv2::FieldListElement;

use crate::error::LoadError;
use crate::layout::Layout;
use crate::place::Place;

/// A digest: its name and what it carries.
#[derive(Clone, Debug)]
pub(crate) struct DigestList {
    pub id: u32,
    pub name: String,
    pub fields: Vec<Place>,
}

/// Fields kept by clones, resubmitted and recirculated packets, by the list's id.
pub(crate) fn load_field_lists(
    layout: &Layout,
    source: &bmv2::Program,
) -> Result<BTreeMap<u32, Vec<Place>>, LoadError> {
    let lists = source.field_lists.iter().enumerate();
    lists
        .map(|(index, list)| Ok((list.id, places(layout, list, &format!("/field_lists/{index}"))?)))
        .collect()
}

pub(crate) fn load_digests(
    layout: &Layout,
    source: &bmv2::Program,
) -> Result<Vec<DigestList>, LoadError> {
    let lists = source.learn_lists.iter().enumerate();
    lists
        .map(|(index, list)| {
            let fields = places(layout, list, &format!("/learn_lists/{index}"))?;
            Ok(DigestList { id: list.id, name: list.name.clone(), fields })
        })
        .collect()
}

/// Places of the fields of a list; constants in it have no meaning for the packet.
fn places(layout: &Layout, list: &bmv2::FieldList, path: &str) -> Result<Vec<Place>, LoadError> {
    let fields = list.elements.iter().enumerate().filter_map(|(index, element)| match element {
        FieldListElement::Field(field) => Some((index, field)),
        FieldListElement::Constant { .. } => None,
    });
    fields
        .map(|(index, field)| {
            let found = layout.field(field).map(|field| field.place);
            found.map_err(|error| error.under(&format!("{path}/elements/{index}")))
        })
        .collect()
}
