//! The target as data: extern functions, extern objects and their methods, and their forms on the
//! switch.
//!
//! The programmer sees declarations, in `core.p4` and the architecture's file; those give the names
//! and types that the checker works with. This table gives them a meaning. A declaration is looked
//! up once, when it is checked, and carries the result (`tree::ExternFunction::known`,
//! `tree::Method::known`, `tree::Extern::known`): nothing after that compares names. A declaration
//! that is not found here is an extern of another switch.
//!
//! Another architecture is another table; the kinds of [`Meaning`] and [`Operand`] are those of
//! simple_switch, which runs them all.

mod core;
mod psa;
mod tofino;
mod v1model;
mod vitrine;

/// The blocks of an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// Writes checksums.
    ComputeChecksum,
    /// Emits headers, of a packet that leaves.
    Deparser,
    /// Behind the queues.
    Egress,
    /// Reads headers behind the queues, where the architecture does so twice.
    EgressParser,
    /// In front of the queues.
    Ingress,
    /// Emits headers in front of the queues, where the architecture does so twice.
    IngressDeparser,
    /// Reads headers, of a packet that comes in.
    Parser,
    /// Checks checksums.
    VerifyChecksum,
}

/// One of the blocks.
#[derive(Debug)]
pub struct Block {
    pub kind: BlockKind,
    /// Its name in BMv2 JSON, if it has one.
    pub name: &'static str,
    /// Where it stands among the arguments of the package, and of the packages in it.
    pub position: &'static [usize],
    /// The meaning of each of its parameters.
    pub parameters: &'static [Passed],
}

/// Data that the architecture passes to a block. The same data is the same storage in all blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// Headers, by which blocks share them. Those of one type are shared anyway.
    Headers(&'static str),
    /// Metadata that the switch itself reads and writes under this name.
    Intrinsic(&'static str),
    Packet,
    /// Metadata of the program, by which blocks share it.
    User(&'static str),
    /// Metadata of the program that a packet takes to its next stage.
    Way(&'static str),
}

/// An architecture.
#[derive(Debug)]
pub struct Architecture {
    /// As P4Info has it.
    pub name: &'static str,
    /// The package of which `main` is one.
    pub package: &'static str,
    /// The file that declares it.
    pub file: &'static str,
    /// Types that its file declares besides and no other architecture's does.
    pub marks: &'static [&'static str],
    /// The form of `main`, for messages.
    pub main: &'static str,
    /// The blocks in the order in which a packet meets them.
    pub blocks: &'static [Block],
    /// The struct in which a program says what becomes of a packet.
    pub metadata_type: &'static str,
    /// Fields of that struct that decide where a packet goes.
    pub deciding_fields: &'static [&'static str],
    /// How a program decides it, for people.
    pub deciding_hint: &'static str,
    functions: &'static [Function],
    objects: &'static [Object],
}

/// An extern function.
#[derive(Debug)]
pub struct Function {
    name: &'static str,
    pub meaning: Meaning,
}

/// A type of extern objects.
#[derive(Debug)]
pub struct Object {
    name: &'static str,
    pub form: Form,
    methods: &'static [Function],
}

/// The switch's form of an extern object. The numbers are positions among the arguments of the
/// constructor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    ActionProfile {
        size: usize,
    },
    ActionSelector {
        algorithm: usize,
        size: usize,
    },
    /// A register of one cell, whose initial value is this argument.
    Cell {
        initial: usize,
    },
    Counter {
        size: usize,
        unit: usize,
    },
    DirectCounter {
        unit: usize,
    },
    DirectMeter {
        unit: usize,
    },
    Meter {
        size: usize,
        unit: usize,
    },
    /// `packet_in` or `packet_out`: only the architecture can make it.
    Packet,
    Register {
        size: usize,
        /// The initial value of its cells, where the constructor can set it.
        initial: Option<usize>,
    },
    /// Messages of programs to controllers.
    Digest,
    /// An object that BMv2 JSON knows as an extern instance, with the constructor's arguments.
    Instance,
    /// A register with a cell for each entry of a table, whose initial value is this argument.
    DirectRegister {
        initial: usize,
    },
    /// A register whose cells are this struct of the architecture's file; without size one with a
    /// cell for each entry of a table.
    State {
        cell: &'static str,
        size: Option<usize>,
    },
    /// Nothing that a program can use.
    Nothing,
    /// An action selector of Tofino: the size is its profile's and the algorithm its hash's.
    TofinoSelector,
    /// An object of Tofino that exists only in what its methods become.
    Tofino,
}

/// The effect of a call of an extern.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    /// One of several primitives: by the number of arguments.
    ByCount(&'static [(usize, Primitive)]),
    /// One of several primitives: by the name of the enumerator in the argument at this position,
    /// or else the last.
    ByEnumerator(usize, &'static [(&'static str, Primitive)]),
    /// A checksum over fields, tested or written as the block says.
    Checksum {
        with_payload: bool,
        place: Place,
    },
    /// The colour of a direct meter.
    DirectMeterColor,
    /// Names the field to which a direct meter's colour goes.
    DirectMeterRead,
    /// Whether a packet goes this way, by its metadata.
    Goes(Way),
    /// The packet is dropped at the end of the block.
    MarkToDrop,
    /// Nothing: the switch does it by itself.
    Nothing,
    Packet(PacketMethod),
    Primitive(Primitive),
    /// An extern of Tofino alone.
    Tofino(Tofino),
    /// Only the checker reads it.
    StaticAssert,
    /// A test that ends the parser with an error.
    Verify,
}

/// A packet's possible fates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A clone is made besides.
    Clone,
    /// On to egress.
    Normal,
    Recirculate,
    Resubmit,
}

/// Functions and methods of Tofino that are more than one primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tofino {
    /// `Checksum.update`: the checksum of the data.
    Checksum,
    /// `Checksum.verify`: whether the sum is that of valid data.
    ChecksumVerify,
    /// `DirectMeter.execute`.
    DirectMeter,
    DirectRead,
    DirectWrite,
    /// `RegisterAction.execute`: its body on one cell.
    Execute,
    /// `DirectRegisterAction.execute`: on the cell of the entry that the packet hits.
    ExecuteDirect,
    /// `Lpf.execute`: a moving average.
    Filter,
    /// `funnel_shift_right`.
    FunnelShift,
    /// `Hash.get`.
    Hash,
    /// `is_validated`: whether the header of a field is valid.
    IsValidated,
    /// `MathUnit.execute`: a function by table.
    Math,
    Maximum,
    /// `Meter.execute`.
    Meter,
    Minimum,
    /// `Mirror.emit`.
    Mirror,
    /// `RegisterParam.read`.
    Parameter,
    ParserCounter(ParserCounter),
    /// `port_metadata_unpack`: what lies between intrinsic metadata and the packet.
    PortMetadata,
    /// `RegisterAction.predicate`: which of two conditions hold.
    Predicate,
    /// `Random.get`.
    Random,
    RegisterRead,
    RegisterWrite,
    /// `Resubmit.emit`.
    Resubmit,
    SizeInBits,
    SizeInBytes,
    /// This switch does not have it yet.
    Unavailable,
    /// `Wred.execute`: whether a moving average drops.
    Wred,
}

/// Methods of `ParserCounter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParserCounter {
    Decrement,
    Increment,
    IsNegative,
    IsZero,
    Set,
}

/// Methods of `packet_in` and `packet_out`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketMethod {
    Advance,
    Emit,
    Extract,
    Length,
    Lookahead,
}

/// A call of one of the switch's primitives.
#[derive(Clone, Copy, Debug)]
pub struct Primitive {
    pub name: &'static str,
    /// The operands of the primitive, in its order.
    pub operands: &'static [Operand],
    /// Where it may be called; anywhere if `None`.
    pub place: Option<Place>,
}

/// Where a call is possible, and what is said elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub blocks: &'static [BlockKind],
    /// Where it is possible besides with `--emit-externs`.
    pub emitted: &'static [BlockKind],
    pub title: &'static str,
    pub hint: &'static str,
}

/// Something that a primitive is given. The numbers are positions among the arguments of the call,
/// which are evaluated from left to right, whatever the order of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A calculation by an algorithm over data.
    Calculation {
        algorithm: usize,
        data: usize,
    },
    /// This number.
    Constant(u64),
    /// A field that the primitive writes.
    Destination(usize),
    /// The fields that hold the numbers that data is made of.
    Fields(usize),
    /// The constructor's argument at this position.
    Given(usize),
    /// The list of fields that a copy of the packet keeps, named by a constant.
    FieldList(usize),
    /// The fields that data is made of, as the list that a copy of the packet keeps.
    Kept(usize),
    /// The list of fields that the controller is sent.
    LearnList(usize),
    /// A list of fields without any.
    NoFields,
    Number(usize),
    /// A field that the primitive writes: the call's own value.
    Result,
    /// The object whose method is called.
    This,
    /// A truth value, as a number.
    Truth(usize),
    /// A number, truth value or string.
    Value(usize),
    /// The numbers that data is made of, one after the other; none if there is no such argument.
    Vector(usize),
}

impl Architecture {
    /// Tofino or Tofino 2.
    pub fn is_tofino(&self) -> bool {
        [tofino::TNA.name, tofino::T2NA.name].contains(&self.name)
    }

    /// Every architecture that is known.
    pub fn all() -> &'static [&'static Architecture] {
        &ARCHITECTURES
    }

    /// Where a block stands among the arguments of the package, and of the packages in it.
    pub fn position(&self, kind: BlockKind) -> Option<&'static [usize]> {
        let block = self.blocks.iter().find(|block| block.kind == kind)?;
        Some(block.position)
    }
}

impl BlockKind {
    /// Whether packets are read in it.
    pub fn is_parser(self) -> bool {
        matches!(self, BlockKind::EgressParser | BlockKind::Parser)
    }

    /// Whether it stands behind the queues.
    pub fn is_egress(self) -> bool {
        matches!(self, BlockKind::Deparser | BlockKind::Egress | BlockKind::EgressParser)
    }
}

impl Function {
    /// Whether a call changes nothing but its result, so that it may be left out.
    pub fn is_pure(&self) -> bool {
        matches!(self.meaning, Meaning::Packet(PacketMethod::Length | PacketMethod::Lookahead))
    }

    /// Whether another packet begins as a copy of this one.
    pub fn copies_packet(&self) -> bool {
        matches!(self.meaning, Meaning::ByEnumerator(_, kinds)
            if kinds.iter().any(|(_, primitive)| primitive.name.starts_with("clone_")))
    }

    /// The argument that is a list of fields to compute over, if there is one.
    pub fn summed_argument(&self) -> Option<usize> {
        match self.meaning {
            Meaning::Checksum { .. } => Some(CHECKSUM_DATA),
            Meaning::Primitive(primitive) => {
                primitive.operands.iter().find_map(|operand| match operand {
                    Operand::Calculation { data, .. } => Some(*data),
                    _ => None,
                })
            }
            _ => None,
        }
    }
}

impl Operand {
    /// The position of the argument that is evaluated for it.
    pub fn argument(self) -> Option<usize> {
        match self {
            Operand::Calculation { data: argument, .. }
            | Operand::Destination(argument)
            | Operand::FieldList(argument)
            | Operand::Fields(argument)
            | Operand::Kept(argument)
            | Operand::LearnList(argument)
            | Operand::Number(argument)
            | Operand::Truth(argument)
            | Operand::Value(argument)
            | Operand::Vector(argument) => Some(argument),
            Operand::Constant(_)
            | Operand::Given(_)
            | Operand::NoFields
            | Operand::Result
            | Operand::This => None,
        }
    }
}

impl Object {
    /// The meaning of the method of this name.
    pub fn method(&self, name: &str) -> Option<&'static Function> {
        self.methods.iter().find(|method| method.name == name)
    }
}

/// Position of the data among the arguments of the checksum functions.
pub const CHECKSUM_DATA: usize = 1;

/// The more particular first: all that declares Tofino 2 declares Tofino, too.
static ARCHITECTURES: [&Architecture; 4] =
    [&v1model::V1MODEL, &psa::PSA, &tofino::T2NA, &tofino::TNA];

/// The architecture whose file a program includes, by the names of its declarations.
pub fn of_declarations(declares: impl Fn(&str) -> bool) -> Option<&'static Architecture> {
    ARCHITECTURES
        .into_iter()
        .find(|one| declares(one.package) && one.marks.iter().all(|mark| declares(mark)))
}

/// The file that a program includes to have what this table knows by that name.
pub fn file_of(name: &str) -> Option<&'static str> {
    let declares = |functions: &[Function], objects: &[Object]| {
        functions.iter().any(|function| function.name == name)
            || objects.iter().any(|object| object.name == name)
    };
    if declares(core::FUNCTIONS, core::OBJECTS) {
        return Some(core::FILE);
    }
    if declares(vitrine::FUNCTIONS, &[]) {
        return Some(vitrine::FILE);
    }
    let found = ARCHITECTURES.into_iter().find(|architecture| {
        [architecture.package, architecture.metadata_type].contains(&name)
            || declares(architecture.functions, architecture.objects)
    });
    found.map(|architecture| architecture.file)
}

/// The extern function of this name in an architecture, or in any if it is not known.
pub fn function(of: Option<&Architecture>, name: &str) -> Option<&'static Function> {
    let of_architectures = all_or(of).flat_map(|architecture| architecture.functions);
    let of_all = core::FUNCTIONS.iter().chain(vitrine::FUNCTIONS);
    of_all.chain(of_architectures).find(|function| function.name == name)
}

/// The extern objects of this type, likewise.
pub fn object(of: Option<&Architecture>, name: &str) -> Option<&'static Object> {
    let of_architectures = all_or(of).flat_map(|architecture| architecture.objects);
    core::OBJECTS.iter().chain(of_architectures).find(|object| object.name == name)
}

fn all_or(of: Option<&Architecture>) -> impl Iterator<Item = &'static &'static Architecture> {
    let name = of.map(|architecture| architecture.name);
    ARCHITECTURES.iter().filter(move |one| name.is_none_or(|name| one.name == name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use syntax::tree::{Declaration, MethodKind};

    /// A declaration of our includes without a meaning in this table: an object that v1model has
    /// given up.
    const DEPRECATED: [&str; 1] = ["Checksum16.get"];

    /// Functions, and methods with their objects, as the files declare them.
    fn declared(file: &str) -> BTreeSet<String> {
        let read = |path: &str| match path {
            "include/v1model.p4" => {
                Ok(include_str!("../../../../../p4src/include/v1model.p4").to_owned())
            }
            "include/psa.p4" => Ok(include_str!("../../../../../p4src/include/psa.p4").to_owned()),
            "include/vitrine.p4" => {
                Ok(include_str!("../../../../../p4src/include/vitrine.p4").to_owned())
            }
            "include/tna.p4" => Ok(include_str!("../../../../../p4src/include/tna.p4").to_owned()),
            "include/t2na.p4" => {
                Ok(include_str!("../../../../../p4src/include/t2na.p4").to_owned())
            }
            "include/core.p4" => {
                Ok(include_str!("../../../../../p4src/include/core.p4").to_owned())
            }
            _ => Err(syntax::SourceError::NotFound),
        };
        let mut sources = syntax::SourceMap::default();
        let mut diagnostics = syntax::Diagnostics::default();
        let tokens = syntax::preprocessor::preprocess(
            &read,
            file,
            &syntax::preprocessor::PreprocessorOptions::default(),
            &mut sources,
            &mut diagnostics,
        );
        let program = syntax::parser::parse(&tokens, &mut diagnostics);
        assert_eq!(diagnostics.error_count(), 0);
        let mut names = BTreeSet::new();
        for declaration in &program.declarations {
            match declaration {
                Declaration::Extern(object) => {
                    let methods = object.methods.iter();
                    let methods = methods.filter(|method| method.kind != MethodKind::Constructor);
                    names.extend(methods.map(|method| {
                        format!("{}.{}", object.name.text, method.prototype.name.text)
                    }));
                }
                Declaration::ExternFunction { prototype, .. } => {
                    names.insert(prototype.name.text.to_string());
                }
                _ => {}
            }
        }
        names
    }

    #[test]
    fn what_the_includes_declare_has_a_meaning_and_nothing_else_has() {
        for architecture in ARCHITECTURES {
            let functions = core::FUNCTIONS.iter().chain(architecture.functions);
            let objects = core::OBJECTS.iter().chain(architecture.objects);
            let methods = objects.flat_map(|object| {
                object.methods.iter().map(|method| format!("{}.{}", object.name, method.name))
            });
            let known = functions.map(|function| function.name.to_owned()).chain(methods);
            let mut expected: BTreeSet<String> = known.collect();
            if architecture.name == v1model::V1MODEL.name {
                expected.extend(DEPRECATED.map(str::to_owned));
            }
            let found = declared(&format!("include/{}", architecture.file));
            assert_eq!(found, expected, "{}", architecture.name);
        }
        let of_vitrine = vitrine::FUNCTIONS.iter().map(|function| function.name.to_owned());
        assert_eq!(declared("include/vitrine.p4"), of_vitrine.collect());
    }
}
