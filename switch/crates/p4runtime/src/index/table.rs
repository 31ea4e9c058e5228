//! Tables of P4Info: their keys, their actions, and the rules that follow from both.

use messages::p4::config::v1 as config;

use super::names::{Translation, Translations};
use super::{Index, Name, count, name_of, translation, width_of};
use crate::refusal::Refusal;

/// How one field of a key matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchKind {
    Exact,
    /// Equal in the first bits.
    Lpm,
    /// Equal, or anything.
    Optional,
    /// Between two bounds, both included.
    Range,
    /// Equal where the mask has ones.
    Ternary,
}

/// One field of a table's or a value set's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The id that controllers use, unique within its table.
    pub id: u32,
    /// Its name in the program.
    pub name: String,
    /// Its width in the data plane; 0 for a string until the pipeline is known.
    pub width_bits: usize,
    /// How controllers write it, if the program translates its type.
    pub translation: Option<Translation>,
    /// How it matches.
    pub kind: MatchKind,
}

/// Where an action of a table may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Any,
    /// Only as the default action.
    DefaultOnly,
    /// Only in entries.
    EntriesOnly,
}

/// One of the actions that a table may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionRef {
    /// Its id in P4Info.
    pub id: u32,
    /// Where it may be used.
    pub scope: Scope,
}

#[derive(Clone, Debug)]
pub struct Table {
    /// Id, name, role.
    pub name: Name,
    /// The key, in the program's order.
    pub fields: Vec<Field>,
    /// The actions that entries or the default entry may have.
    pub actions: Vec<ActionRef>,
    /// The declared number of entries.
    pub size: u64,
    /// The action profile or selector behind it, for an indirect table.
    pub profile_id: Option<u32>,
    /// Its direct counter, if it has one.
    pub direct_counter_id: Option<u32>,
    /// Its direct meter, if it has one.
    pub direct_meter_id: Option<u32>,
    /// Whether the program declared the default action `const`.
    pub default_is_const: bool,
    /// Whether the program declared the entries `const`.
    pub is_const: bool,
    /// Whether entries may have an idle timeout.
    pub has_idle_timeout: bool,
}

impl Table {
    pub(super) fn new(
        table: &config::Table,
        index: &Index,
        translations: &Translations,
    ) -> Result<Self, Refusal> {
        use config::table::IdleTimeoutBehavior;
        let name = name_of("table", table.preamble.as_ref())?;
        let place = format!("P4Info, table {}", name.name);
        let fields = table.match_fields.iter().map(|field| Field::new(field, translations));
        let fields = fields.collect::<Result<Vec<_>, _>>().map(|mut fields| {
            fields.retain(|field| !field.is_empty());
            fields
        });
        let fields = fields.map_err(|refusal| refusal.within(&place))?;
        let actions = table.action_refs.iter().map(|reference| {
            index.action(reference.id).map_err(|refusal| refusal.within(&place))?;
            Ok(ActionRef { id: reference.id, scope: Scope::new(reference.scope()) })
        });
        let actions = actions.collect::<Result<Vec<_>, Refusal>>()?;
        let profile_id = (table.implementation_id != 0).then_some(table.implementation_id);
        if let Some(id) = profile_id {
            index.profile(id).map_err(|refusal| refusal.within(&place))?;
        }
        let direct = |known: &dyn Fn(u32) -> bool| {
            table.direct_resource_ids.iter().copied().find(|id| known(*id))
        };
        Ok(Self {
            fields,
            actions,
            size: count("table", &name, table.size)?,
            profile_id,
            direct_counter_id: direct(&|id| index.direct_counters.contains_key(&id)),
            direct_meter_id: direct(&|id| index.direct_meters.contains_key(&id)),
            default_is_const: table.const_default_action_id != 0,
            is_const: table.is_const_table,
            has_idle_timeout: table.idle_timeout_behavior() == IdleTimeoutBehavior::NotifyControl,
            name,
        })
    }

    /// Priorities distinguish entries if some field can match a packet in more than one way that is
    /// not ordered by itself (LPM is).
    pub fn needs_priority(&self) -> bool {
        self.fields.iter().any(|field| {
            matches!(field.kind, MatchKind::Optional | MatchKind::Range | MatchKind::Ternary)
        })
    }

    /// The reference to an action of this table.
    pub fn action_ref(&self, id: u32) -> Option<&ActionRef> {
        self.actions.iter().find(|reference| reference.id == id)
    }
}

impl Field {
    pub(super) fn new(
        field: &config::MatchField,
        translations: &Translations,
    ) -> Result<Self, Refusal> {
        use config::match_field::{Match, MatchType};
        let match_type = match field.r#match {
            Some(Match::MatchType(number)) => MatchType::try_from(number).ok(),
            Some(Match::OtherMatchType(_)) | None => None,
        };
        let known = match match_type {
            Some(MatchType::Exact) => Some(MatchKind::Exact),
            Some(MatchType::Lpm) => Some(MatchKind::Lpm),
            Some(MatchType::Ternary) => Some(MatchKind::Ternary),
            Some(MatchType::Range) => Some(MatchKind::Range),
            Some(MatchType::Optional) => Some(MatchKind::Optional),
            Some(MatchType::Unspecified) | None => None,
        };
        let kind = known.ok_or_else(|| {
            Refusal::invalid(format!(
                "field {} matches in a way this switch does not know; it knows exact, lpm, \
                 optional, range and ternary",
                field.name
            ))
        })?;
        let width_bits = width_of(field.bitwidth, &field.name)?;
        let translation = translation(translations, field.type_name.as_ref());
        Ok(Self { id: field.id, name: field.name.clone(), width_bits, translation, kind })
    }

    /// A `bit<0>`, of which the data plane knows nothing.
    fn is_empty(&self) -> bool {
        self.width_bits == 0 && self.translation.is_none()
    }
}

impl Scope {
    fn new(scope: config::action_ref::Scope) -> Self {
        use config::action_ref::Scope as Given;
        match scope {
            Given::TableAndDefault => Self::Any,
            Given::TableOnly => Self::EntriesOnly,
            Given::DefaultOnly => Self::DefaultOnly,
        }
    }
}
