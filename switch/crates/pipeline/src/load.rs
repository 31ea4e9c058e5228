//! BMv2 JSON to the loaded program: every name, width and offset resolved, every reference checked.

use std::collections::BTreeMap;

use bmv2::{FieldListElement, NextTables, TableKind};
use units::{PortId, Time};

use crate::action::{Action, Names, Routine, Step, compile, compile_primitives};
use crate::calculation::{NamedCalculation, Recipe, hash_named};
use crate::chance::Chance;
use crate::checksum::{Checksum, PlainChecksum};
use crate::deparser::{Emission, Emissions};
use crate::error::{LoadError, unknown};
use crate::expression::compile::Scope;
use crate::expression::{Condition, Next};
use crate::externs::Externs;
use crate::hash::Hash;
use crate::known::Known;
use crate::layout::Layout;
use crate::parser::{Parser, ValueSet};
use crate::pipeline::{Config, Pipeline};
use crate::place::Place;
use crate::profile::{ActionProfile, Selector};
use crate::state::{Counter, Meter, MeterArray, MeterUnit, RegisterArray};
use crate::table::{
    DirectMeter, END, Entry, EntryAction, KeyMatch, KeyPart, KeyShape, Table, TableAction,
    TableConfig, TableError, Target,
};

/// Cells of one counter, meter or register array.
const ARRAY_SIZE_MAX: u64 = 1 << 26;
/// BMv2's lowest number wins, P4Runtime's highest: one is this less the other.
pub(crate) const PRIORITY_SUM: i32 = i32::MAX;

/// A digest: its name and what it carries.
#[derive(Clone, Debug)]
pub(crate) struct DigestList {
    pub id: u32,
    pub name: String,
    pub fields: Vec<Place>,
}

/// The immutable part of a loaded program.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub layout: Layout,
    pub known: Known,
    pub drop_port: PortId,
    pub parser: Option<Parser>,
    pub actions: Vec<Action>,
    pub calculations: Vec<NamedCalculation>,
    /// All actions, then the nodes of all controls.
    pub code: Vec<Step>,
    pub condition_names: Vec<String>,
    pub ingress: u32,
    pub egress: u32,
    pub verified: Vec<Checksum>,
    pub updated: Vec<Checksum>,
    pub emitted: Emissions,
    pub deparser: Option<Routine>,
    /// Fields kept by clones, resubmitted and recirculated packets, by id.
    pub field_lists: BTreeMap<u32, Vec<Place>>,
    pub digests: Vec<DigestList>,
    pub counter_names: Vec<String>,
    pub meter_names: Vec<String>,
    pub register_names: Vec<(String, u32)>,
}

/// Checks and resolves a program.
pub(crate) fn load(source: &bmv2::Program, config: &Config) -> Result<Pipeline, LoadError> {
    let layout = Layout::new(source)?;
    let (calculations, hashes) = calculations(&layout, source)?;
    let counter_names = indirect_counter_names(source);
    let meter_names = names_of(&source.meter_arrays, |array| &array.name);
    let calculation_names = names_of(&calculations, |calculation| &calculation.name);
    let register_names: Vec<(String, u32)> =
        source.register_arrays.iter().map(|array| (array.name.clone(), array.width_bits)).collect();
    let names = Names {
        layout: &layout,
        registers: &register_names,
        counters: &counter_names,
        meters: &meter_names,
        calculations: &calculation_names,
    };
    let mut code = Vec::new();
    let actions = actions(&names, source, &mut code)?;
    let first_node = code.len();
    let value_sets = value_sets(source);
    let parser = parser(&names, source, &value_sets)?;
    let (emitted, deparser) = deparser(&names, source)?;
    let (verified, updated) = checksums(&names, &calculations, source)?;
    let mut controls = Controls {
        source,
        names: &names,
        actions: &actions,
        code,
        condition_names: Vec::new(),
        tables: Vec::new(),
        profiles: Vec::new(),
        hashes,
    };
    let ingress = controls.control("ingress")?;
    let egress = controls.control("egress")?;
    let Controls { code, condition_names, tables, profiles, hashes, .. } = controls;
    check_ends(&code, first_node, &tables)?;
    let externs = externs(source, hashes, value_sets, config)?;
    let field_lists = field_lists(&layout, source)?;
    let digests = digests(&layout, source)?;
    let program = Program {
        // Last, when everything that the program refers to has been looked up.
        known: Known::new(&layout)?,
        field_lists,
        digests,
        drop_port: config.drop_port,
        parser,
        actions,
        calculations,
        code,
        condition_names,
        ingress,
        egress,
        verified,
        updated,
        emitted,
        deparser,
        counter_names,
        meter_names,
        register_names,
        layout,
    };
    let mut pipeline = Pipeline::assemble(program, externs, tables, profiles);
    fill_tables(&mut pipeline, source)?;
    call_hidden_tables(&mut pipeline);
    spread_conditions(&mut pipeline.program.code);
    if let Some(compile) = config.compile {
        pipeline.compile(compile);
    }
    Ok(pipeline)
}

/// Turns tables that can only ever run one action into calls of it.
///
/// Compilers put statements between the tables of a control into tables of their own, without
/// keys and with a constant default action. They stay visible to the control plane.
fn call_hidden_tables(pipeline: &mut Pipeline) {
    for node in &mut pipeline.program.code {
        let Step::Apply { table } = node else { continue };
        let table = &pipeline.tables[*table as usize];
        let plain = table.shape.parts.is_empty() && !table.with_counters && table.profile.is_none();
        let constant = table.const_default && table.const_default_action.is_some();
        if let Some(Target::Action(position)) = table.default.target
            && plain
            && constant
            && table.is_empty()
            && table.default.data.is_empty()
        {
            let action = table.actions[position as usize];
            *node = Step::Call { action: action.action as u32, next: action.next[1] };
        }
    }
}

/// Makes conditions that are lists of tests steps of their own, one a test: the first where the
/// condition stood, the others at the end of the code.
fn spread_conditions(code: &mut Vec<Step>) {
    for node in 0..code.len() {
        let Step::If { condition: Condition::Decision(decision), next: ways, name } = &code[node]
        else {
            continue;
        };
        let (ways, name, tests) = (*ways, *name, decision.tests());
        let others = code.len() - 1;
        let position = |test: usize| if test == 0 { node } else { others + test };
        let steps = tests.into_iter().map(|(subject, next)| Step::Test {
            subject,
            next: next.map(|next| match next {
                Next::Settled(holds) => ways[usize::from(holds)],
                Next::Test(test) => position(test) as u32,
            }),
            settles: next.map(|next| match next {
                Next::Settled(holds) => Some(holds),
                Next::Test(_) => None,
            }),
            name,
        });
        let mut steps = steps.collect::<Vec<_>>().into_iter();
        if let Some(first) = steps.next() {
            code[node] = first;
        }
        code.extend(steps);
    }
}

fn names_of<T>(objects: &[T], name: impl Fn(&T) -> &String) -> Vec<String> {
    objects.iter().map(|object| name(object).clone()).collect()
}

fn indirect_counter_names(source: &bmv2::Program) -> Vec<String> {
    let indirect = source.counter_arrays.iter().filter(|array| !array.is_direct);
    indirect.map(|array| array.name.clone()).collect()
}

fn externs(
    source: &bmv2::Program,
    hashes: Vec<Hash>,
    value_sets: Vec<ValueSet>,
    config: &Config,
) -> Result<Externs, LoadError> {
    Ok(Externs {
        counters: counter_arrays(source)?,
        meters: meter_arrays(source)?,
        registers: register_arrays(source)?,
        hashes,
        value_sets,
        chance: Chance::new(config.seed),
        hash_input: Vec::new(),
        before: Vec::new(),
    })
}

/// Calculations, and the hashes they use.
fn calculations(
    layout: &Layout,
    source: &bmv2::Program,
) -> Result<(Vec<NamedCalculation>, Vec<Hash>), LoadError> {
    let (mut calculations, mut hashes) = (Vec::new(), Vec::new());
    for (index, calculation) in source.calculations.iter().enumerate() {
        let path = format!("/calculations/{index}");
        let hash = hash_named(&calculation.algorithm).map_err(|error| error.under(&path))?;
        hashes.push(hash);
        let named = NamedCalculation::new(layout, calculation, hashes.len() - 1);
        calculations.push(named.map_err(|error| error.under(&path))?);
    }
    Ok((calculations, hashes))
}

fn actions(
    names: &Names<'_>,
    source: &bmv2::Program,
    code: &mut Vec<Step>,
) -> Result<Vec<Action>, LoadError> {
    let compiled = source.actions.iter().enumerate().map(|(index, action)| {
        compile(names, action, code).map_err(|error| error.under(&format!("/actions/{index}")))
    });
    compiled.collect()
}

fn parser(
    names: &Names<'_>,
    source: &bmv2::Program,
    sets: &[ValueSet],
) -> Result<Option<Parser>, LoadError> {
    let Some(parser) = source.parsers.first() else { return Ok(None) };
    let parser = Parser::new(names, source, parser, sets);
    parser.map(Some).map_err(|error| error.under("/parsers/0"))
}

fn array_size(path: &str, size: u32) -> Result<usize, LoadError> {
    match u64::from(size) <= ARRAY_SIZE_MAX {
        true => Ok(size as usize),
        false => {
            let message = format!("an array has at most {ARRAY_SIZE_MAX} cells, not {size}");
            Err(LoadError::new(path, message))
        }
    }
}

fn counter_arrays(source: &bmv2::Program) -> Result<Vec<Vec<Counter>>, LoadError> {
    let arrays = source.counter_arrays.iter().enumerate().filter(|(_, array)| !array.is_direct);
    arrays
        .map(|(index, array)| {
            let path = format!("/counter_arrays/{index}/size");
            Ok(vec![Counter::default(); array_size(&path, array.size.unwrap_or(0))?])
        })
        .collect()
}

fn unit(unit: bmv2::MeterUnit) -> MeterUnit {
    match unit {
        bmv2::MeterUnit::Bytes => MeterUnit::Bytes,
        bmv2::MeterUnit::Packets => MeterUnit::Packets,
    }
}

fn meter_arrays(source: &bmv2::Program) -> Result<Vec<MeterArray>, LoadError> {
    let arrays = source.meter_arrays.iter().enumerate();
    arrays
        .map(|(index, array)| {
            let path = format!("/meter_arrays/{index}");
            if array.rate_count != 2 {
                let message = format!("a meter of v1model has 2 rates, not {}", array.rate_count);
                return Err(LoadError::new(format!("{path}/rate_count"), message));
            }
            // A direct meter lives in its table.
            let size = if array.is_direct { 0 } else { array.size };
            let size = array_size(&format!("{path}/size"), size)?;
            Ok(MeterArray { unit: unit(array.unit), meters: vec![Meter::default(); size] })
        })
        .collect()
}

fn register_arrays(source: &bmv2::Program) -> Result<Vec<RegisterArray>, LoadError> {
    let arrays = source.register_arrays.iter().enumerate();
    arrays
        .map(|(index, array)| {
            let limbs = u64::from(array.width_bits.div_ceil(64).max(1));
            let total = u64::from(array.size).saturating_mul(limbs);
            let size = u32::try_from(total).unwrap_or(u32::MAX);
            let _ = array_size(&format!("/register_arrays/{index}/size"), size)?;
            Ok(RegisterArray::new(array.size as usize, array.width_bits))
        })
        .collect()
}

fn value_sets(source: &bmv2::Program) -> Vec<ValueSet> {
    let sets = source.parse_vsets.iter();
    sets.map(|set| ValueSet {
        name: set.name.clone(),
        width: set.width_bits as usize,
        members: Vec::new(),
    })
    .collect()
}

fn deparser(
    names: &Names<'_>,
    source: &bmv2::Program,
) -> Result<(Emissions, Option<Routine>), LoadError> {
    let Some(deparser) = source.deparsers.first() else { return Ok((Emissions::default(), None)) };
    let order = deparser.order.iter().enumerate().map(|(index, name)| {
        let header = names.layout.header(name).map(|header| Emission::new(names.layout, header));
        header.map_err(|error| error.under(&format!("/deparsers/0/order/{index}")))
    });
    let order = Emissions::new(names.layout, order.collect::<Result<_, _>>()?);
    if deparser.primitives.is_empty() {
        return Ok((order, None));
    }
    let routine = compile_primitives(names, &deparser.primitives);
    Ok((order, Some(routine.map_err(|error| error.under("/deparsers/0"))?)))
}

/// Checksums to verify, and checksums to update.
fn checksums(
    names: &Names<'_>,
    calculations: &[NamedCalculation],
    source: &bmv2::Program,
) -> Result<(Vec<Checksum>, Vec<Checksum>), LoadError> {
    let (mut verified, mut updated) = (Vec::new(), Vec::new());
    let scope = Scope { layout: names.layout, params: &[], registers: names.registers };
    for (index, checksum) in source.checksums.iter().enumerate() {
        let path = format!("/checksums/{index}");
        let at = |member: &'static str| {
            let path = format!("{path}/{member}");
            move |error: LoadError| error.under(&path)
        };
        let field = names.layout.field(&checksum.target).map_err(at("target"))?;
        let Place::Cell(target) = field.place else {
            let message = "a checksum has at most 64 bits";
            return Err(LoadError::new(format!("{path}/target"), message));
        };
        let name = &checksum.calculation;
        let calculation = names.calculations.iter().position(|candidate| candidate == name);
        let known = names.calculations.iter().map(String::as_str);
        let calculation = calculation
            .ok_or_else(|| unknown("calculation", name, known))
            .map_err(at("calculation"))?;
        let condition = checksum.condition.as_ref().map(|condition| scope.condition(condition));
        let condition = condition.transpose().map_err(at("if_cond"))?;
        let valid = names.layout.headers[field.header as usize].valid;
        let recipe = &calculations[calculation].recipe;
        let compiled = Checksum {
            name: checksum.name.clone(),
            valid,
            target,
            calculation: calculation as u32,
            plain: PlainChecksum::new(condition.as_ref(), recipe, valid),
            condition,
        };
        if checksum.verify {
            verified.push(compiled.clone());
        }
        if checksum.update {
            updated.push(compiled);
        }
    }
    Ok((verified, updated))
}

fn field_lists(
    layout: &Layout,
    source: &bmv2::Program,
) -> Result<BTreeMap<u32, Vec<Place>>, LoadError> {
    let lists = source.field_lists.iter().enumerate();
    lists
        .map(|(index, list)| Ok((list.id, places(layout, list, &format!("/field_lists/{index}"))?)))
        .collect()
}

fn digests(layout: &Layout, source: &bmv2::Program) -> Result<Vec<DigestList>, LoadError> {
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

/// Controls being loaded.
struct Controls<'a> {
    source: &'a bmv2::Program,
    names: &'a Names<'a>,
    actions: &'a [Action],
    code: Vec<Step>,
    condition_names: Vec<String>,
    tables: Vec<Table>,
    profiles: Vec<ActionProfile>,
    hashes: Vec<Hash>,
}

/// The nodes of one control by name.
struct NodeNames {
    numbers: BTreeMap<String, u32>,
}

impl NodeNames {
    fn next(&self, name: &Option<String>) -> Result<u32, LoadError> {
        let Some(name) = name else { return Ok(END) };
        let known = self.numbers.keys().map(String::as_str);
        self.numbers.get(name).copied().ok_or_else(|| unknown("node", name, known))
    }
}

impl Controls<'_> {
    /// Loads a control; returns its first node.
    fn control(&mut self, name: &str) -> Result<u32, LoadError> {
        let position = self.source.pipelines.iter().position(|control| control.name == name);
        let Some(position) = position else {
            let known = self.source.pipelines.iter().map(|control| control.name.as_str());
            return Err(unknown("control", name, known).under("/pipelines"));
        };
        let path = format!("/pipelines/{position}");
        let loaded = self.control_at(&self.source.pipelines[position]);
        loaded.map_err(|error| error.under(&path))
    }

    fn control_at(&mut self, control: &bmv2::Pipeline) -> Result<u32, LoadError> {
        let profiles_before = self.profiles.len();
        for (index, profile) in control.action_profiles.iter().enumerate() {
            let profile = self.profile(profile);
            self.profiles
                .push(profile.map_err(|error| error.under(&format!("/action_profiles/{index}")))?);
        }
        let names = self.number_nodes(control)?;
        for (index, table) in control.tables.iter().enumerate() {
            let loaded = self.table(table, &names, profiles_before);
            let loaded = loaded.map_err(|error| error.under(&format!("/tables/{index}")))?;
            self.code.push(Step::Apply { table: self.tables.len() as u32 });
            self.tables.push(loaded);
        }
        let scope =
            Scope { layout: self.names.layout, params: &[], registers: self.names.registers };
        for (index, conditional) in control.conditionals.iter().enumerate() {
            let path = format!("/conditionals/{index}");
            let under = |error: LoadError| error.under(&path);
            let condition = scope.condition(&conditional.expression);
            let if_true = names.next(&conditional.true_next).map_err(under)?;
            let if_false = names.next(&conditional.false_next).map_err(under)?;
            self.code.push(Step::If {
                condition: condition.map_err(|error| under(error.under("/expression")))?,
                next: [if_false, if_true],
                name: self.condition_names.len() as u32,
            });
            self.condition_names.push(conditional.name.clone());
        }
        for (index, call) in control.action_calls.iter().enumerate() {
            let path = format!("/action_calls/{index}");
            let under = |error: LoadError| error.under(&path);
            let action = self.action(call.action_id).map_err(under)?;
            let next = names.next(&call.next_node).map_err(under)?;
            if self.actions[action].limbs > 0 {
                return Err(under(LoadError::new("/action_id", "the action has parameters")));
            }
            self.code.push(Step::Call { action: action as u32, next });
        }
        names.next(&control.init_table).map_err(|error| error.under("/init_table"))
    }

    /// Gives tables, conditionals and calls their numbers, in the order they are loaded.
    fn number_nodes(&self, control: &bmv2::Pipeline) -> Result<NodeNames, LoadError> {
        let tables = control.tables.iter().map(|table| &table.name);
        let conditionals = control.conditionals.iter().map(|conditional| &conditional.name);
        let calls = control.action_calls.iter().map(|call| &call.name);
        let mut numbers = BTreeMap::new();
        for (offset, name) in tables.chain(conditionals).chain(calls).enumerate() {
            let number = (self.code.len() + offset) as u32;
            if numbers.insert(name.clone(), number).is_some() {
                return Err(LoadError::new("", format!("two nodes are called \"{name}\"")));
            }
        }
        Ok(NodeNames { numbers })
    }

    fn action(&self, id: u32) -> Result<usize, LoadError> {
        let position = self.source.actions.iter().position(|action| action.id == id);
        position.ok_or_else(|| LoadError::new("/action_id", format!("no action has the id {id}")))
    }

    fn profile(&mut self, profile: &bmv2::ActionProfile) -> Result<ActionProfile, LoadError> {
        let selector = match &profile.selector {
            Some(selector) => {
                let under = |error: LoadError| error.under("/selector");
                self.hashes.push(hash_named(&selector.algorithm).map_err(under)?);
                let recipe =
                    Recipe::of_fields(self.names.layout, &selector.input).map_err(under)?;
                Some(Selector { recipe, hash: self.hashes.len() - 1 })
            }
            None => None,
        };
        Ok(ActionProfile::new(profile.name.clone(), profile.size_max as usize, selector))
    }

    fn table(
        &mut self,
        table: &bmv2::Table,
        names: &NodeNames,
        profiles_before: usize,
    ) -> Result<Table, LoadError> {
        let mut actions = Vec::new();
        for (index, name) in self.table_actions(table)?.into_iter().enumerate() {
            let path = format!("/actions/{index}");
            let next = match &table.next_tables {
                NextTables::HitMiss { hit, miss } => [names.next(hit)?, names.next(miss)?],
                NextTables::ByAction(nexts) => {
                    let action = &self.actions[name].name;
                    let next = nexts.iter().find(|(candidate, _)| candidate == action);
                    let next = next.ok_or_else(|| {
                        let message = format!("next_tables has no member \"{action}\"");
                        LoadError::new(path, message)
                    })?;
                    [names.next(&next.1)?; 2]
                }
            };
            actions.push(TableAction { action: name, start: self.actions[name].start, next });
        }
        let miss_next = match &table.next_tables {
            NextTables::HitMiss { miss, .. } => names.next(miss)?,
            NextTables::ByAction(_) => names.next(&table.base_default_next)?,
        };
        let profile = match &table.kind {
            TableKind::Simple => None,
            TableKind::Indirect { action_profile }
            | TableKind::IndirectWithSelector { action_profile } => {
                let candidates = self.profiles.iter().skip(profiles_before);
                let known = candidates.clone().map(|profile| profile.name.as_str());
                let mut candidates = candidates;
                let found = candidates.position(|profile| profile.name == *action_profile);
                let found = found.ok_or_else(|| unknown("action profile", action_profile, known));
                let profile = profiles_before + found?;
                let listed = actions.iter().map(|action| action.action);
                self.profiles[profile].actions.extend(listed);
                Some(profile)
            }
        };
        let data_limbs = actions.iter().map(|action| self.actions[action.action].limbs).max();
        Ok(Table::new(TableConfig {
            name: table.name.clone(),
            shape: self.key_shape(table)?,
            size: (table.size_max as usize).max(table.entries.as_ref().map_or(0, Vec::len)),
            actions,
            miss_next,
            profile,
            with_counters: table.with_counters,
            meter: self.direct_meter(table)?,
            with_timeouts: table.support_timeout,
            data_limbs: data_limbs.unwrap_or(0),
        }))
    }

    /// Indexes of a table's actions: by id where the JSON has ids, else by name.
    fn table_actions(&self, table: &bmv2::Table) -> Result<Vec<usize>, LoadError> {
        if !table.action_ids.is_empty() {
            return table.action_ids.iter().map(|id| self.action(*id)).collect();
        }
        let by_name = |name: &String| {
            let position = self.actions.iter().position(|action| action.name == *name);
            let known = self.actions.iter().map(|action| action.name.as_str());
            position.ok_or_else(|| unknown("action", name, known).under("/actions"))
        };
        table.actions.iter().map(by_name).collect()
    }

    fn key_shape(&self, table: &bmv2::Table) -> Result<KeyShape, LoadError> {
        let mut parts = Vec::new();
        for (index, key) in table.key.iter().enumerate() {
            let refuse = |message: &str| LoadError::new(format!("/key/{index}"), message);
            let target = key.target.as_ref().ok_or_else(|| refuse("expected a target"))?;
            let field = self.names.layout.field(target);
            let place = field.map_err(|error| error.under(&format!("/key/{index}/target")))?.place;
            let width = place.width();
            if width == 0 {
                return Err(refuse("a key has at least one bit"));
            }
            if key.match_type == bmv2::MatchType::Range && width > 64 {
                return Err(refuse("a range key has at most 64 bits"));
            }
            let all = &bits::Int::one().shift_left(width as usize) - &bits::Int::one();
            let name = format!("{}.{}", target.header, target.field);
            parts.push(KeyPart {
                name: key.name.clone().unwrap_or(name),
                match_type: key.match_type,
                width,
                place,
                mask: key.mask.as_deref().map_or(all, bits::Int::from_be_bytes),
                limb: 0,
                shift: 0,
                is_prefix: false,
            });
        }
        let with = |kind| parts.iter().any(|part| part.match_type == kind);
        let kinds = [bmv2::MatchType::Ternary, bmv2::MatchType::Range];
        let is_ternary = kinds.into_iter().any(|kind| with(kind) || table.match_type == kind);
        let prefixes = parts.iter().filter(|part| part.match_type == bmv2::MatchType::Lpm).count();
        if prefixes > 1 && !is_ternary {
            return Err(LoadError::new("/key", "a table has at most one lpm key"));
        }
        Ok(KeyShape::new(parts, is_ternary))
    }

    fn direct_meter(&self, table: &bmv2::Table) -> Result<Option<DirectMeter>, LoadError> {
        let Some(name) = &table.direct_meters else { return Ok(None) };
        let array = self.source.meter_arrays.iter().find(|array| array.name == *name);
        let known = self.names.meters.iter().map(String::as_str);
        let array =
            array.ok_or_else(|| unknown("meter array", name, known).under("/direct_meters"))?;
        let result = array.result_target.as_ref().map(|target| self.names.layout.field(target));
        match result.transpose()?.map(|field| field.place) {
            Some(Place::Cell(result)) => Ok(Some(DirectMeter { unit: unit(array.unit), result })),
            _ => Err(LoadError::new("/direct_meters", "the meter has no result_target")),
        }
    }
}

/// Refuses controls that go in circles: a packet must come to their end.
fn check_ends(code: &[Step], first_node: usize, tables: &[Table]) -> Result<(), LoadError> {
    let successors = |node: u32| -> Vec<u32> {
        let next = match &code[node as usize] {
            Step::Call { next, .. } => vec![*next],
            Step::If { next, .. } => next.to_vec(),
            Step::Apply { table } => {
                let table = &tables[*table as usize];
                let actions = table.actions.iter().flat_map(|action| action.next);
                actions.chain([table.miss_next]).collect()
            }
            _ => Vec::new(),
        };
        next.into_iter().filter(|node| *node != END).collect()
    };
    // Depth first, without recursion: a node is unseen, on the path, or done.
    let mut state = vec![0u8; code.len()];
    for root in first_node as u32..code.len() as u32 {
        let mut path = vec![(root, successors(root))];
        if state[root as usize] != 0 {
            continue;
        }
        state[root as usize] = 1;
        while let Some((node, rest)) = path.last_mut() {
            match rest.pop() {
                Some(next) if state[next as usize] == 0 => {
                    state[next as usize] = 1;
                    path.push((next, successors(next)));
                }
                Some(next) if state[next as usize] == 1 => {
                    return Err(LoadError::new(
                        "/pipelines",
                        "the nodes of a control form a circle",
                    ));
                }
                Some(_) => {}
                None => {
                    state[*node as usize] = 2;
                    let _ = path.pop();
                }
            }
        }
    }
    Ok(())
}

/// Sets default entries and const entries.
fn fill_tables(pipeline: &mut Pipeline, source: &bmv2::Program) -> Result<(), LoadError> {
    let mut number = 0;
    for name in ["ingress", "egress"] {
        let position = source.pipelines.iter().position(|control| control.name == name);
        let Some(position) = position else { continue };
        for (index, table) in source.pipelines[position].tables.iter().enumerate() {
            let path = format!("/pipelines/{position}/tables/{index}");
            fill_table(pipeline, number, source, table).map_err(|error| error.under(&path))?;
            number += 1;
        }
    }
    Ok(())
}

fn fill_table(
    pipeline: &mut Pipeline,
    number: usize,
    source: &bmv2::Program,
    table: &bmv2::Table,
) -> Result<(), LoadError> {
    let action = |id: u32| {
        let position = source.actions.iter().position(|action| action.id == id);
        position.ok_or_else(|| LoadError::new("/action_id", format!("no action has the id {id}")))
    };
    let refused = |error: TableError| LoadError::new("", error.to_string());
    if let Some(default) = &table.default_entry {
        let under = |error: LoadError| error.under("/default_entry");
        let action = action(default.action_id).map_err(under)?;
        let entry = EntryAction::Action { action, data: default.action_data.clone() };
        pipeline.set_initial_default(number, entry).map_err(|error| under(refused(error)))?;
        let loaded = &mut pipeline.tables[number];
        loaded.const_default_action = default.action_const.then_some(action);
        loaded.const_default = default.action_entry_const;
    }
    for (index, entry) in table.entries.iter().flatten().enumerate() {
        let path = format!("/entries/{index}");
        let under = |error: LoadError| error.under(&path);
        let action = action(entry.action_id).map_err(under)?;
        let is_ternary = pipeline.tables[number].shape.is_ternary;
        let key = entry.match_key.iter().map(|key| match key {
            bmv2::MatchKey::Exact { key } => KeyMatch::Exact(key.clone()),
            bmv2::MatchKey::Lpm { key, prefix_length } => {
                KeyMatch::Lpm { value: key.clone(), length_bits: *prefix_length }
            }
            bmv2::MatchKey::Range { start, end } => {
                KeyMatch::Range { low: start.clone(), high: end.clone() }
            }
            bmv2::MatchKey::Ternary { key, mask } => {
                KeyMatch::Ternary { value: key.clone(), mask: mask.clone() }
            }
            bmv2::MatchKey::Valid { key } => KeyMatch::Exact(u64::from(*key).into()),
        });
        let entry = Entry {
            key: key.collect(),
            priority: if is_ternary { PRIORITY_SUM.saturating_sub(entry.priority) } else { 0 },
            action: EntryAction::Action { action, data: entry.action_data.clone() },
            idle_timeout: None,
        };
        let inserted = pipeline.insert_entry(number, entry, Time::ZERO);
        let _ = inserted.map_err(|error| under(refused(error)))?;
    }
    pipeline.tables[number].const_entries = table.entries.is_some();
    Ok(())
}
