//! Linking: the order in which a program's objects are loaded, each beside its type, and what is
//! rewritten when all of them are there.

use tables::Target;
use units::memory::Purpose;

use crate::action::{Names, Routine, Step, load_actions};
use crate::calculation::load_calculations;
use crate::checksum::load_checksums;
use crate::control::Controls;
use crate::deparser::{Emissions, load_deparser};
use crate::entries::fill_tables;
use crate::error::LoadError;
use crate::expression::{Condition, Next};
use crate::externs::load_externs;
use crate::instances::{Instance, InstanceKind, load_instances, with_arrays};
use crate::known::Known;
use crate::layout::Layout;
use crate::lists::{load_digests, load_field_lists};
use crate::memory::Memory;
use crate::nodes::END;
use crate::parser::{Parser, load_parser};
use crate::pipeline::{Config, Pipeline};
use crate::program::Program;
use crate::psa::Psa;
use crate::room::Room;
use crate::table::Applied;
use crate::tofino::Tofino;
use crate::value_set::{ValueSet, load_value_sets};

impl Pipeline {
    /// Loads BMv2 JSON text.
    pub fn load(json: &[u8], config: &Config) -> Result<Pipeline, LoadError> {
        Self::load_while(json, config, &|| true)
    }

    /// The same, but stops between two stages of loading when the program is no longer wanted.
    pub fn load_while(
        json: &[u8],
        config: &Config,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Pipeline, LoadError> {
        check_wanted(is_wanted)?;
        let mut memory = Memory::of(config.memory);
        let taken = memory.grow_program(json.len() as u64 * CODE_BYTES_PER_JSON_BYTE);
        taken.map_err(|error| LoadError::of_memory("", "the program", &error))?;
        // The text as a tree, and what is made of it, are there only while the program is loaded.
        let _loading = config
            .memory
            .take(Purpose::Programs, bmv2::reading_bytes(json))
            .map_err(|error| LoadError::of_memory("", "reading the program", &error))?;
        link(&bmv2::read(json)?, config, memory, is_wanted)
    }

    pub fn new(program: &bmv2::Program, config: &Config) -> Result<Pipeline, LoadError> {
        link(program, config, Memory::of(config.memory), &|| true)
    }
}

/// A client that has left does not keep others waiting for their programs.
fn check_wanted(is_wanted: &dyn Fn() -> bool) -> Result<(), LoadError> {
    match is_wanted() {
        true => Ok(()),
        false => Err(LoadError::new("", "loading was cancelled: the client has left")),
    }
}

/// A loaded program without its arrays and entries, machine code included, takes less than this for
/// each byte of its JSON.
const CODE_BYTES_PER_JSON_BYTE: u64 = 4;

/// Loads the objects of a program in the order in which they name each other, and links them.
fn link(
    source: &bmv2::Program,
    config: &Config,
    mut memory: Memory,
    is_wanted: &dyn Fn() -> bool,
) -> Result<Pipeline, LoadError> {
    let source = &with_arrays(source)?;
    let layout = Layout::new(source)?;
    check_wanted(is_wanted)?;
    let (calculations, hashes) = load_calculations(&layout, source)?;
    let counter_names = indirect_counter_names(source);
    let meter_names = names_of(&source.meter_arrays, |array| &array.name);
    let register_names = register_names(source);
    let (instance_names, instances) = named_instances(source)?;
    let names = Names {
        layout: &layout,
        registers: &register_names,
        counters: &counter_names,
        meters: &meter_names,
        calculations: &names_of(&calculations, |calculation| &calculation.name),
        instances: &instance_names,
    };
    let mut code = Vec::new();
    let actions = load_actions(&names, source, &mut code)?;
    check_wanted(is_wanted)?;
    let first_node = code.len();
    let value_sets = load_value_sets(source);
    let Ends { psa, tofino, parser, emitted, deparser } =
        load_ends(&names, source, &value_sets, config)?;
    let (verified, updated) = load_checksums(&names, &calculations, source)?;
    check_wanted(is_wanted)?;
    let mut parts = Controls::new(source, &names, &actions, code, hashes);
    let (ingress, egress) = (parts.control("ingress")?, parts.control("egress")?);
    let Controls { code, condition_names, condition_sources, tables, profiles, hashes, .. } = parts;
    check_wanted(is_wanted)?;
    check_ends(&code, first_node, &tables)?;
    let mut room = Room::of_arrays(memory.program);
    let externs = load_externs(source, hashes, instances, value_sets, config.seed, &mut room)?;
    memory.program = room.into_memory();
    let program = Program {
        field_lists: load_field_lists(&layout, source)?,
        digests: load_digests(&layout, source)?,
        known: known_of(&layout, psa.as_ref(), tofino.as_ref())?,
        drop_port: config.drop_port,
        parser,
        actions,
        calculations,
        reads_queues: code.iter().any(Step::reads_queues),
        code,
        condition_names,
        condition_sources,
        ingress,
        egress,
        verified,
        updated,
        emitted,
        deparser,
        is_v1model: psa.is_none() && tofino.is_none(),
        psa,
        tofino,
        counter_names,
        meter_names,
        direct_meters: tables.iter().map(|it| direct_meters_of(source, it.table.name())).collect(),
        register_names,
        layout,
    };
    let pipeline = Pipeline::assemble(program, externs, tables, profiles, memory);
    check_wanted(is_wanted)?;
    finish(pipeline, source, config)
}

/// The fields of the program's architecture, once everything that a program refers to is laid out.
fn known_of(
    layout: &Layout,
    psa: Option<&Psa>,
    tofino: Option<&Tofino>,
) -> Result<Known, LoadError> {
    match (psa, tofino) {
        (None, None) => Known::new(layout),
        (Some(_), _) => Known::of_psa(layout),
        (_, Some(tofino)) => Known::of_tofino(layout, tofino.architecture()),
    }
}

/// The names of the registers, with the width of their cells.
fn register_names(source: &bmv2::Program) -> Vec<(String, u32)> {
    source.register_arrays.iter().map(|array| (array.name.clone(), array.width_bits)).collect()
}

/// The name and kind of each extern instance, and the instances.
type NamedInstances = (Vec<(String, InstanceKind)>, Vec<Instance>);

fn named_instances(source: &bmv2::Program) -> Result<NamedInstances, LoadError> {
    let named = load_instances(source)?;
    let names = named.iter().map(|(name, instance)| (name.clone(), instance.kind())).collect();
    Ok((names, named.into_iter().map(|(_, instance)| instance).collect()))
}

/// The name of the direct meters of a table.
fn direct_meters_of(source: &bmv2::Program, table: &str) -> Option<String> {
    let mut tables = source.pipelines.iter().flat_map(|pipeline| &pipeline.tables);
    tables.find(|it| it.name == table)?.direct_meters.clone()
}

/// Puts in what the program says of its tables, makes short cuts, and machine code where it is wanted.
fn finish(
    mut pipeline: Pipeline,
    source: &bmv2::Program,
    config: &Config,
) -> Result<Pipeline, LoadError> {
    fill_tables(&mut pipeline, source)?;
    pipeline.settle_memory(0);
    let paid = pipeline.memory.check();
    paid.map_err(|error| LoadError::of_memory("", "the tables", &error))?;
    call_hidden_tables(&mut pipeline);
    spread_conditions(&mut pipeline.program.code);
    if let Some(compile) = config.compile {
        pipeline.compile(compile);
    }
    Ok(pipeline)
}

/// Where headers become fields and bytes again.
struct Ends {
    psa: Option<Psa>,
    tofino: Option<Tofino>,
    parser: Option<Parser>,
    emitted: Emissions,
    deparser: Option<Routine>,
}

fn load_ends(
    names: &Names<'_>,
    source: &bmv2::Program,
    sets: &[ValueSet],
    config: &Config,
) -> Result<Ends, LoadError> {
    let tofino = Tofino::load(names, source, sets, config.cpu_port)?;
    // Its parsers and deparsers have the names of PSA's.
    let psa = match tofino {
        Some(_) => None,
        None => Psa::load(names, source, sets, config.cpu_port)?,
    };
    let [first_parser, last_deparser] = match psa.is_some() || tofino.is_some() {
        true => ["ingress_parser", "egress_deparser"],
        false => ["parser", "deparser"],
    };
    let parser = load_parser(names, source, sets, first_parser)?;
    let (emitted, deparser) = load_deparser(names, source, last_deparser)?;
    Ok(Ends { psa, tofino, parser, emitted, deparser })
}

/// Turns tables that can only ever run one action into calls of it.
///
/// Compilers put statements between the tables of a control into tables of their own, without
/// keys and with a constant default action. They stay visible to the control plane.
fn call_hidden_tables(pipeline: &mut Pipeline) {
    for node in &mut pipeline.program.code {
        let Step::Apply { table } = node else { continue };
        let table = &pipeline.tables[*table as usize].table;
        let plain = table.shape().parts().is_empty()
            && table.default_counter().is_none()
            && table.profile().is_none();
        if let Some(Target::Action(position)) = table.default().target
            && plain
            && table.has_fixed_default()
            && table.is_empty()
            && table.default().data.is_empty()
        {
            let action = table.actions()[position as usize];
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

/// Refuses controls that go in circles: a packet must come to their end.
fn check_ends(code: &[Step], first_node: usize, tables: &[Applied]) -> Result<(), LoadError> {
    let successors = |node: u32| -> Vec<u32> {
        let next = match &code[node as usize] {
            Step::Call { next, .. } => vec![*next],
            Step::If { next, .. } => next.to_vec(),
            Step::Apply { table } => {
                let table = &tables[*table as usize].table;
                let actions = table.actions().iter().flat_map(|action| action.next);
                actions.chain([table.miss_next()]).collect()
            }
            // The steps of actions: an action comes back to its node. Conditions are spread later.
            Step::Assert { .. }
            | Step::Assign(_)
            | Step::Count { .. }
            | Step::Exit
            | Step::Extern(_)
            | Step::Finish { .. }
            | Step::Header(_)
            | Step::Jump { .. }
            | Step::JumpUnless { .. }
            | Step::Move(_)
            | Step::RegisterReadNarrow { .. }
            | Step::RegisterWriteNarrow { .. }
            | Step::Request(_)
            | Step::Return
            | Step::SetCell { .. }
            | Step::Test { .. } => Vec::new(),
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
