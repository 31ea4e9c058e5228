//! P4Info as indexes: from the ids that controllers send to names, widths and rules.
//!
//! [`Index::new`] checks the P4Info once, so that everything behind it can rely on what it says:
//! every id is unique and refers to something that exists, every width is known. The index knows
//! nothing of the loaded pipeline; [`crate::binding`] ties the two together by name.
//!
//! ```text
//!   mod.rs    the index itself, and lookups that refuse with a sentence
//!   fit.rs    what only the loaded pipeline knows: widths of translated values
//!   names.rs  types that controllers write as strings
//!   table.rs  tables, match fields, action references
//!   shape.rs  P4 types of registers and digests, to and from `P4Data`
//! ```

mod fit;
pub mod names;
pub mod shape;
pub mod table;

use std::collections::BTreeMap;

use messages::p4::config::v1 as config;
use units::memory::Budget;

use crate::refusal::Refusal;
use names::{Names, Translation, Translations};
use shape::{Shape, Types};
pub use table::{ActionRef, Field, MatchKind, Scope, Table};

/// The common part of every object of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The id that controllers use.
    pub id: u32,
    /// The fully qualified name, which BMv2 JSON uses too.
    pub name: String,
    /// The one role besides the default role that may touch the object (annotation
    /// `@p4runtime_role("NAME")` in the program); `None`: any role.
    pub role: Option<String>,
}

/// A number with a name: an action's parameter, or a field of a controller header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// The id that controllers use, unique within its action or header.
    pub id: u32,
    /// Its name in the program.
    pub name: String,
    /// Its width in the data plane; 0 for a string until the pipeline is known.
    pub width_bits: usize,
    /// How controllers write it, if the program translates its type.
    pub translation: Option<Translation>,
}

/// An action and its parameters in the program's order.
#[derive(Clone, Debug)]
pub struct Action {
    /// Id, name, role.
    pub name: Name,
    /// In the order of the program's declaration.
    pub params: Vec<Param>,
}

/// An action profile, or an action selector if `selector` says how large its groups may be.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Id, name, role.
    pub name: Name,
    /// The tables that use it, all with the same actions.
    pub table_ids: Vec<u32>,
    /// How many members there may be (or weights: see the size semantics).
    pub size: u64,
    /// Set for an action selector: only that has groups.
    pub selector: Option<Selector>,
}

/// The kinds of groups of an action selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selector {
    /// Largest size of one group; 0: only the selector's size limits it.
    pub group_size_max: u64,
    /// The meaning of the sum "size".
    pub semantics: SizeSemantics,
}

/// The unit of a group's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeSemantics {
    /// Members, each weighing at most this (0: no limit).
    Members {
        /// Largest weight of one member.
        weight_max: u64,
    },
    /// The members' weights.
    Weights,
}

/// An indexed array: a counter, a meter.
#[derive(Clone, Debug)]
pub struct Array {
    /// Id, name, role.
    pub name: Name,
    /// How many cells it has.
    pub size: u64,
}

/// How a meter tells colours apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MeterType {
    /// Green or red.
    SingleRateTwoColor,
    /// RFC 2697.
    SingleRateThreeColor,
    /// RFC 2698.
    #[default]
    TwoRateThreeColor,
}

impl MeterType {
    fn new(spec: Option<&config::MeterSpec>) -> MeterType {
        use config::meter_spec::Type;
        match spec.map(|spec| spec.r#type()) {
            Some(Type::SingleRateThreeColor) => MeterType::SingleRateThreeColor,
            Some(Type::SingleRateTwoColor) => MeterType::SingleRateTwoColor,
            Some(Type::TwoRateThreeColor) | None => MeterType::TwoRateThreeColor,
        }
    }

    /// For messages.
    pub fn words(self) -> &'static str {
        match self {
            MeterType::SingleRateTwoColor => "one rate and two colours",
            MeterType::SingleRateThreeColor => "one rate and three colours",
            MeterType::TwoRateThreeColor => "two rates and three colours",
        }
    }
}

/// A direct counter or meter: one cell per entry of its table.
#[derive(Clone, Debug)]
pub struct Direct {
    /// Id, name, role.
    pub name: Name,
    /// The table whose entries have the cells.
    pub table_id: u32,
}

/// A register array.
#[derive(Clone, Debug)]
pub struct Register {
    /// Id, name, role.
    pub name: Name,
    /// How many cells it has.
    pub size: u64,
    /// The type of one cell.
    pub shape: Shape,
}

/// A digest and the type of its messages.
#[derive(Clone, Debug)]
pub struct Digest {
    /// Id, name, role.
    pub name: Name,
    /// The type of one message.
    pub shape: Shape,
}

/// A parser value set.
#[derive(Clone, Debug)]
pub struct ValueSet {
    /// Id, name, role.
    pub name: Name,
    /// The fields of a member, like a table's key.
    pub fields: Vec<Field>,
    /// How many members it holds.
    pub size: u64,
}

/// Everything P4Info says that a request can refer to.
#[derive(Debug, Default)]
pub struct Index {
    tables: BTreeMap<u32, Table>,
    actions: BTreeMap<u32, Action>,
    profiles: BTreeMap<u32, Profile>,
    counters: BTreeMap<u32, Array>,
    direct_counters: BTreeMap<u32, Direct>,
    meters: BTreeMap<u32, Array>,
    direct_meters: BTreeMap<u32, Direct>,
    /// Of both kinds of meters, by their ids.
    meter_types: BTreeMap<u32, MeterType>,
    registers: BTreeMap<u32, Register>,
    value_sets: BTreeMap<u32, ValueSet>,
    digests: BTreeMap<u32, Digest>,
    packet_in: Option<Vec<Param>>,
    packet_out: Option<Vec<Param>>,
    translations: Translations,
}

/// Defines, per kind of object, `KIND(id)` which refuses an unknown id by name of the kind, and
/// `KINDs()` which lists all in the order of their ids.
macro_rules! lookups {
    ($($one:ident, $all:ident, $type:ty, $word:literal;)*) => {
        impl Index {
            $(
                #[doc = concat!("The ", $word, " with this id.")]
                pub fn $one(&self, id: u32) -> Result<&$type, Refusal> {
                    self.$all.get(&id).ok_or_else(|| unknown($word, id, self.$all.keys()))
                }

                #[doc = concat!("Every ", $word, ", in the order of ids.")]
                pub fn $all(&self) -> impl ExactSizeIterator<Item = &$type> {
                    self.$all.values()
                }
            )*
        }
    };
}

lookups! {
    table, tables, Table, "table";
    action, actions, Action, "action";
    profile, profiles, Profile, "action profile";
    counter, counters, Array, "counter";
    direct_counter, direct_counters, Direct, "direct counter";
    meter, meters, Array, "meter";
    direct_meter, direct_meters, Direct, "direct meter";
    register, registers, Register, "register";
    value_set, value_sets, ValueSet, "value set";
    digest, digests, Digest, "digest";
}

/// An id that is not in P4Info is INVALID_ARGUMENT; the message tells a wrong P4Info (other ids
/// exist) from a program without such objects.
fn unknown<'a>(word: &str, id: u32, known: impl ExactSizeIterator<Item = &'a u32>) -> Refusal {
    let count = known.len();
    Refusal::invalid(match count {
        0 => format!("the program has no {word}, so none with id {id} ({id:#010x})"),
        _ => format!(
            "no {word} has id {id} ({id:#010x}); the program's P4Info has {count}: {}",
            known.take(5).map(u32::to_string).collect::<Vec<_>>().join(", ")
                + if count > 5 { ", ..." } else { "" }
        ),
    })
}

impl Index {
    /// Checks and indexes a P4Info.
    pub fn new(info: &config::P4Info) -> Result<Self, Refusal> {
        let types = info.type_info.clone().unwrap_or_default();
        let translations = names::translations(&types)?;
        let types = Types { info: &types, translations: &translations };
        let mut index = Self::default();
        for action in &info.actions {
            insert(&mut index.actions, "action", action_of(action, &translations)?, |action| {
                &action.name
            })?;
        }
        for profile in &info.action_profiles {
            insert(&mut index.profiles, "action profile", profile_of(profile)?, |it| &it.name)?;
        }
        for counter in &info.counters {
            let array = array_of("counter", counter.preamble.as_ref(), counter.size)?;
            insert(&mut index.counters, "counter", array, |it| &it.name)?;
        }
        for meter in &info.meters {
            let array = array_of("meter", meter.preamble.as_ref(), meter.size)?;
            index.meter_types.insert(array.name.id, MeterType::new(meter.spec.as_ref()));
            insert(&mut index.meters, "meter", array, |it| &it.name)?;
        }
        for counter in &info.direct_counters {
            let name = name_of("direct counter", counter.preamble.as_ref())?;
            let direct = Direct { name, table_id: counter.direct_table_id };
            insert(&mut index.direct_counters, "direct counter", direct, |it| &it.name)?;
        }
        for meter in &info.direct_meters {
            let name = name_of("direct meter", meter.preamble.as_ref())?;
            index.meter_types.insert(name.id, MeterType::new(meter.spec.as_ref()));
            let direct = Direct { name, table_id: meter.direct_table_id };
            insert(&mut index.direct_meters, "direct meter", direct, |it| &it.name)?;
        }
        for register in &info.registers {
            let name = name_of("register", register.preamble.as_ref())?;
            let shape = Shape::new(register.type_spec.as_ref(), types)
                .map_err(|refusal| refusal.within(format!("P4Info, register {}", name.name)))?;
            let size = count("register", &name, i64::from(register.size))?;
            let register = Register { name, size, shape };
            insert(&mut index.registers, "register", register, |it| &it.name)?;
        }
        for digest in &info.digests {
            let name = name_of("digest", digest.preamble.as_ref())?;
            let shape = Shape::new(digest.type_spec.as_ref(), types)
                .map_err(|refusal| refusal.within(format!("P4Info, digest {}", name.name)))?;
            insert(&mut index.digests, "digest", Digest { name, shape }, |it| &it.name)?;
        }
        for set in &info.value_sets {
            let name = name_of("value set", set.preamble.as_ref())?;
            let fields = set
                .r#match
                .iter()
                .map(|field| Field::new(field, &translations))
                .collect::<Result<_, _>>()?;
            let size = count("value set", &name, i64::from(set.size))?;
            let set = ValueSet { name, fields, size };
            insert(&mut index.value_sets, "value set", set, |it| &it.name)?;
        }
        for table in &info.tables {
            let table = Table::new(table, &index, &translations)?;
            insert(&mut index.tables, "table", table, |it| &it.name)?;
        }
        index.translations = translations;
        index.add_controller_headers(info)?;
        index.check_table_references()?;
        Ok(index)
    }

    /// How a meter of either kind tells colours apart.
    pub fn meter_type(&self, id: u32) -> MeterType {
        self.meter_types.get(&id).copied().unwrap_or_default()
    }

    /// The fields of the header that goes before a packet to the controller; empty without one.
    pub fn packet_in(&self) -> &[Param] {
        self.packet_in.as_deref().unwrap_or_default()
    }

    /// The fields of the header that comes before a packet from the controller; empty without one.
    pub fn packet_out(&self) -> &[Param] {
        self.packet_out.as_deref().unwrap_or_default()
    }

    /// The strings of ports, if the program translates them: the type of a controller header's
    /// field whose name ends in `port`. P4Info says in no other place what a port is.
    pub fn port_names(&self) -> Option<&Names> {
        let mut fields = self.packet_in().iter().chain(self.packet_out());
        fields.find_map(|field| {
            let names = Translation::names(field.translation.as_ref())?;
            field.name.ends_with("port").then_some(names)
        })
    }

    /// The strings of translated types come out of this memory.
    pub fn bound_names(&self, memory: Budget) {
        names::bound(&self.translations, memory);
    }

    /// Takes over the strings of the program before, whose entries this one takes over.
    pub fn adopt_names(&self, before: &Index) -> Result<(), Refusal> {
        names::adopt(&self.translations, &before.translations)
    }

    fn add_controller_headers(&mut self, info: &config::P4Info) -> Result<(), Refusal> {
        for header in &info.controller_packet_metadata {
            let name = name_of("controller header", header.preamble.as_ref())?;
            let slot = match name.name.as_str() {
                "packet_in" => &mut self.packet_in,
                "packet_out" => &mut self.packet_out,
                // A header the protocol has no message for: its bytes stay in the payload.
                _ => continue,
            };
            let fields = header.metadata.iter().map(|field| {
                let width = width_of(field.bitwidth, &field.name)?;
                let translation = translation(&self.translations, field.type_name.as_ref());
                Ok(Param { id: field.id, name: field.name.clone(), width_bits: width, translation })
            });
            *slot = Some(fields.collect::<Result<_, Refusal>>()?);
        }
        Ok(())
    }

    /// Profiles and direct resources name tables; tables are indexed after them.
    fn check_table_references(&self) -> Result<(), Refusal> {
        let of_profiles =
            self.profiles().flat_map(|it| it.table_ids.iter().map(|id| (&it.name, *id)));
        let directs = self.direct_counters().chain(self.direct_meters());
        let of_directs = directs.map(|it| (&it.name, it.table_id));
        for (owner, table_id) in of_profiles.chain(of_directs) {
            self.table(table_id)
                .map_err(|refusal| refusal.within(format!("P4Info, {}", owner.name)))?;
        }
        Ok(())
    }
}

impl Name {
    /// PERMISSION_DENIED if the object belongs to another role.
    pub fn check_role(&self, role: &str) -> Result<(), Refusal> {
        match &self.role {
            Some(owner) if !role.is_empty() && role != owner => Err(Refusal::denied(format!(
                "{} belongs to role {owner:?}; role {role:?} may not change it",
                self.name
            ))),
            _ => Ok(()),
        }
    }

    /// Whether a read with this role as its filter reports the object.
    pub fn is_visible_to(&self, role: &str) -> bool {
        self.check_role(role).is_ok()
    }
}

fn insert<T>(
    map: &mut BTreeMap<u32, T>,
    word: &str,
    value: T,
    name: impl Fn(&T) -> &Name,
) -> Result<(), Refusal> {
    let Name { id, name: text, .. } = name(&value).clone();
    match map.insert(id, value) {
        None => Ok(()),
        Some(other) => Err(Refusal::invalid(format!(
            "P4Info: {word}s {} and {text} share the id {id}; compile the program again",
            name(&other).name
        ))),
    }
}

fn name_of(word: &str, preamble: Option<&config::Preamble>) -> Result<Name, Refusal> {
    let preamble = preamble.ok_or_else(|| {
        Refusal::invalid(format!("P4Info: a {word} has no preamble, so neither id nor name"))
    })?;
    if preamble.id == 0 {
        return Err(Refusal::invalid(format!("P4Info: {word} {} has id 0", preamble.name)));
    }
    let role = preamble.annotations.iter().find_map(|text| role_of(text));
    Ok(Name { id: preamble.id, name: preamble.name.clone(), role })
}

/// `NAME` of an annotation `@p4runtime_role("NAME")`.
fn role_of(annotation: &str) -> Option<String> {
    let body = annotation.strip_prefix("@p4runtime_role(")?.strip_suffix(')')?;
    Some(body.trim().trim_matches('"').to_owned())
}

/// How the type of this name is translated.
fn translation(
    translations: &Translations,
    name: Option<&config::P4NamedType>,
) -> Option<Translation> {
    translations.get(&name?.name).cloned()
}

/// A width must be positive; 0 stays for a value that the program translates to a string.
fn width_of(bitwidth: i32, name: &str) -> Result<usize, Refusal> {
    usize::try_from(bitwidth)
        .map_err(|_| Refusal::invalid(format!("P4Info: {name} has width {bitwidth}")))
}

fn count(word: &str, name: &Name, size: i64) -> Result<u64, Refusal> {
    u64::try_from(size).map_err(|_| {
        Refusal::invalid(format!("P4Info: {word} {} has the negative size {size}", name.name))
    })
}

fn array_of(word: &str, preamble: Option<&config::Preamble>, size: i64) -> Result<Array, Refusal> {
    let name = name_of(word, preamble)?;
    let size = count(word, &name, size)?;
    Ok(Array { name, size })
}

fn action_of(action: &config::Action, translations: &Translations) -> Result<Action, Refusal> {
    let name = name_of("action", action.preamble.as_ref())?;
    let params = action.params.iter().map(|param| {
        let width_bits = width_of(param.bitwidth, &param.name)?;
        let translation = translation(translations, param.type_name.as_ref());
        Ok(Param { id: param.id, name: param.name.clone(), width_bits, translation })
    });
    Ok(Action { params: params.collect::<Result<_, Refusal>>()?, name })
}

fn profile_of(profile: &config::ActionProfile) -> Result<Profile, Refusal> {
    use config::action_profile::SelectorSizeSemantics as Given;
    let name = name_of("action profile", profile.preamble.as_ref())?;
    let size = count("action profile", &name, profile.size)?;
    let group_size_max = count("action profile", &name, i64::from(profile.max_group_size))?;
    let semantics = match profile.selector_size_semantics {
        Some(Given::SumOfMembers(members)) => SizeSemantics::Members {
            weight_max: count("action profile", &name, i64::from(members.max_member_weight))?,
        },
        // The specification: sum of weights unless it says otherwise.
        Some(Given::SumOfWeights(_)) | None => SizeSemantics::Weights,
    };
    let selector = profile.with_selector.then_some(Selector { group_size_max, semantics });
    Ok(Profile { name, table_ids: profile.table_ids.clone(), size, selector })
}
