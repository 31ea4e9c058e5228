//! Parser states of BMv2 JSON to states that run: every name resolved, keys packed, and the short
//! forms found.

use super::{
    ACCEPT, Ahead, Case, Cases, ErrorCodes, KeyPart, KeySource, Matches, Operation, Parser,
    PlainExtraction, State, Target,
};
use crate::action::{Names, Routine, load_routine};
use crate::error::{LoadError, unknown};
use crate::expression::HeaderRef;
use crate::expression::load::Scope;
use crate::layout::Layout;
use crate::place::{Gather, Place};
use crate::value_set::ValueSet;

impl Parser {
    fn new(
        names: &Names<'_>,
        program: &bmv2::Program,
        parser: &bmv2::Parser,
        sets: &[ValueSet],
    ) -> Result<Parser, LoadError> {
        let position = |name: &str| {
            let mut states = parser.parse_states.iter();
            let known = parser.parse_states.iter().map(|state| state.name.as_str());
            let found = states.position(|state| state.name == name).map(|at| at as u32);
            found.ok_or_else(|| unknown("parser state", name, known))
        };
        let next = |name: &Option<String>| name.as_deref().map_or(Ok(ACCEPT), position);
        let mut states = Vec::new();
        for (index, state) in parser.parse_states.iter().enumerate() {
            let loaded = load_state(names, state, sets, &next);
            let path = format!("/parse_states/{index}");
            states.push(loaded.map_err(|error| error.under(&path))?);
        }
        let start = next(&parser.init_state).map_err(|error| error.under("/init_state"))?;
        let errors = ErrorCodes::new(&program.errors);
        Ok(Parser { states, start, errors, error_names: program.errors.clone() })
    }
}

impl ErrorCodes {
    fn new(errors: &[(String, u32)]) -> ErrorCodes {
        // Errors without a number in the program get numbers of their own, as in simple_switch.
        let highest = errors.iter().map(|(_, code)| *code).max().unwrap_or(0);
        let mut next = highest;
        let mut code = |name: &str, otherwise: Option<u32>| {
            let declared = errors.iter().find(|(candidate, _)| candidate == name);
            declared.map(|(_, code)| *code).or(otherwise).unwrap_or_else(|| {
                next = next.wrapping_add(1);
                next
            })
        };
        ErrorCodes {
            no_error: code("NoError", Some(0)),
            packet_too_short: code("PacketTooShort", None),
            stack_out_of_bounds: code("StackOutOfBounds", None),
            header_too_short: code("HeaderTooShort", None),
            parser_timeout: code("ParserTimeout", None),
            parser_invalid_argument: code("ParserInvalidArgument", None),
        }
    }
}

impl Target {
    /// The type of the header it fills.
    fn kind(&self, names: &Names<'_>) -> usize {
        let layout = names.layout;
        let header = match self {
            Target::Header(header) => *header,
            Target::Stack(stack) => layout.stacks[*stack as usize].headers[0],
            Target::UnionStack { stack, member } => {
                let union = layout.union_stacks[*stack as usize].unions[0];
                layout.unions[union as usize].headers[*member as usize]
            }
        };
        layout.headers[header as usize].kind
    }
}

fn load_state(
    names: &Names<'_>,
    state: &bmv2::ParseState,
    sets: &[ValueSet],
    next: &impl Fn(&Option<String>) -> Result<u32, LoadError>,
) -> Result<State, LoadError> {
    let mut operations = Vec::new();
    for (index, operation) in state.operations.iter().enumerate() {
        let loaded = load_operation(names, operation);
        let path = format!("/parser_ops/{index}");
        operations.push(loaded.map_err(|error| error.under(&path))?);
    }
    let mut key = Vec::new();
    for (index, part) in state.transition_key.iter().enumerate() {
        let path = format!("/transition_key/{index}");
        key.push(load_key(names, part).map_err(|error| error.under(&path))?);
    }
    let key_bytes = key.iter().map(|part: &KeyPart| part.bytes).sum();
    // The plain extractions at its start.
    let mut extractions = Vec::new();
    while let Some(Operation::Extract(target)) = operations.get(extractions.len())
        && let Some(extraction) = plain(names.layout, target)
    {
        extractions.push(extraction);
    }
    let _ = operations.drain(..extractions.len());
    let mut loaded = State {
        name: state.name.clone(),
        extractions,
        operations,
        plain: None,
        key,
        key_bytes,
        transitions: Vec::new(),
        default: ACCEPT,
    };
    for (index, transition) in state.transitions.iter().enumerate() {
        let path = format!("/transitions/{index}");
        let under = |error: LoadError| error.under(&path);
        let next =
            next(&transition.next_state).map_err(|error| under(error.under("/next_state")))?;
        match &transition.matches {
            bmv2::TransitionMatch::Default => loaded.default = next,
            matches => {
                let matches = load_match(matches, key_bytes, sets).map_err(under)?;
                loaded.transitions.push((matches, next));
            }
        }
    }
    if loaded.operations.is_empty() {
        loaded.plain = loaded.short();
    }
    Ok(loaded)
}

impl State {
    /// The transitions in their short form, if they have one.
    pub(super) fn short(&self) -> Option<Cases> {
        let mut bits_below = 8 * u8::try_from(self.key_bytes).ok().filter(|bytes| *bytes <= 8)?;
        let key = self.key.iter().map(|part| {
            bits_below -= 8 * part.bytes as u8;
            match part.source {
                KeySource::Cell(cell) => Some(Gather::new(cell, bits_below)),
                _ => None,
            }
        });
        let key = key.collect::<Option<_>>()?;
        let cases = self.transitions.iter().map(|(matches, next)| match matches {
            Matches::Narrow { value, mask } => {
                Some(Case { value: *value, mask: *mask, next: *next })
            }
            _ => None,
        });
        Some(Cases { key, cases: cases.collect::<Option<_>>()? })
    }
}

fn load_match(
    matches: &bmv2::TransitionMatch,
    key_bytes: usize,
    sets: &[ValueSet],
) -> Result<Matches, LoadError> {
    let check = |bytes: &[u8], member: &str| match bytes.len() {
        length if length == key_bytes => Ok(()),
        length => {
            let message = format!("the key has {key_bytes} bytes, this has {length}");
            Err(LoadError::new(member, message))
        }
    };
    match matches {
        bmv2::TransitionMatch::Default => Ok(Matches::Wide { value: Vec::new(), mask: Vec::new() }),
        bmv2::TransitionMatch::Value { value, mask } => {
            let mask = mask.clone().unwrap_or_else(|| vec![0xff; key_bytes]);
            check(value, "/value")?;
            check(&mask, "/mask")?;
            let value: Vec<u8> =
                value.iter().zip(&mask).map(|(value, mask)| value & mask).collect();
            let number = |bytes: &[u8]| {
                bytes.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte))
            };
            Ok(match key_bytes {
                0..=8 => Matches::Narrow { value: number(&value), mask: number(&mask) },
                _ => Matches::Wide { value, mask },
            })
        }
        bmv2::TransitionMatch::ValueSet { name, mask } => {
            let position = sets.iter().position(|set| set.name == *name);
            let known = sets.iter().map(|set| set.name.as_str());
            let set =
                position.ok_or_else(|| unknown("parser value set", name, known).under("/value"))?;
            if let Some(mask) = mask {
                check(mask, "/mask")?;
            }
            Ok(Matches::ValueSet { set, mask: mask.clone() })
        }
    }
}

fn load_key(names: &Names<'_>, part: &bmv2::TransitionKey) -> Result<KeyPart, LoadError> {
    let layout = names.layout;
    let scope = Scope { layout, params: &[], registers: names.registers };
    let (source, width) = match part {
        bmv2::TransitionKey::Field(field) => match layout.field(field)?.place {
            Place::Cell(cell) => (KeySource::Cell(cell), u32::from(cell.width)),
            place => (KeySource::Place(place), place.width()),
        },
        bmv2::TransitionKey::Lookahead(bits) => {
            (KeySource::Lookahead(ahead(*bits)?), bits.width_bits)
        }
        bmv2::TransitionKey::StackField { stack, field } => {
            let stack = layout.stack(stack)?;
            let field = layout.kinds[layout.stacks[stack as usize].kind].field(field)?;
            let (header, place, _) = scope.found_field(HeaderRef::Last(stack), field)?;
            (KeySource::Found { header, place }, place.width())
        }
        bmv2::TransitionKey::UnionStackField { stack, member, field } => {
            let stack = layout.union_stack(stack)?;
            let member = member_of(names, stack, member)?;
            let found = HeaderRef::LastInUnionStack { stack, member };
            let union = layout.union_stacks[stack as usize].unions[0];
            let header = layout.unions[union as usize].headers[member as usize];
            let field = layout.kinds[layout.headers[header as usize].kind].field(field)?;
            let (header, place, _) = scope.found_field(found, field)?;
            (KeySource::Found { header, place }, place.width())
        }
    };
    if width > 512 {
        return Err(LoadError::new("", "a component of a transition key has at most 512 bits"));
    }
    Ok(KeyPart { source, bytes: width.div_ceil(8) as usize, width: width as usize })
}

fn member_of(names: &Names<'_>, stack: u32, member: &str) -> Result<u32, LoadError> {
    let stack = &names.layout.union_stacks[stack as usize];
    let position = stack.members.iter().position(|candidate| candidate == member);
    let union = stack.unions[0];
    let count = names.layout.unions[union as usize].headers.len();
    let found = position.filter(|position| *position < count).map(|position| position as u32);
    found.ok_or_else(|| {
        unknown("member of the union", member, stack.members.iter().map(String::as_str))
    })
}

fn ahead(bits: bmv2::Lookahead) -> Result<Ahead, LoadError> {
    let (offset, width) = (bits.offset_bits as usize, bits.width_bits as usize);
    match offset + width > 8 * crate::packet::FRAME_LENGTH_MAX {
        true => Err(LoadError::new("", "a lookahead beyond every packet")),
        false => Ok(Ahead { offset, width }),
    }
}

fn load_target(names: &Names<'_>, target: &bmv2::ExtractTarget) -> Result<Target, LoadError> {
    Ok(match target {
        bmv2::ExtractTarget::Header(name) => Target::Header(names.layout.header(name)?),
        bmv2::ExtractTarget::Stack(name) => Target::Stack(names.layout.stack(name)?),
        bmv2::ExtractTarget::UnionStack { stack, member } => {
            let stack = names.layout.union_stack(stack)?;
            Target::UnionStack { stack, member: member_of(names, stack, member)? }
        }
    })
}

/// The short form of an extraction, if it has one.
pub(super) fn plain(layout: &Layout, target: &Target) -> Option<PlainExtraction> {
    let Target::Header(header) = *target else { return None };
    let found = &layout.headers[header as usize];
    let length = layout.kinds[found.kind].fixed_length() as u32;
    let (base, valid) = (found.base, found.valid);
    let alone = layout.siblings(header).next().is_none();
    alone.then_some(PlainExtraction { header, base, length, valid })
}

fn load_operation(
    names: &Names<'_>,
    operation: &bmv2::ParserOperation,
) -> Result<Operation, LoadError> {
    let scope = Scope { layout: names.layout, params: &[], registers: names.registers };
    let under = |error: LoadError| error.under("/parameters");
    Ok(match operation {
        bmv2::ParserOperation::Advance { width_bits } => {
            Operation::Advance(scope.index(width_bits).map_err(under)?)
        }
        bmv2::ParserOperation::Extract(target) => {
            let target = load_target(names, target).map_err(under)?;
            if names.layout.kinds[target.kind(names)].variable.is_some() {
                return self_sized(names, &target);
            }
            Operation::Extract(target)
        }
        bmv2::ParserOperation::ExtractVariable { target, width_bits } => {
            Operation::ExtractVariable {
                target: load_target(names, target).map_err(under)?,
                width: scope.index(width_bits).map_err(under)?,
            }
        }
        bmv2::ParserOperation::Primitive(call) => {
            Operation::Steps(load_routine(names, std::slice::from_ref(call))?)
        }
        bmv2::ParserOperation::Set { target, source } => match source {
            bmv2::SetSource::Lookahead(bits) => Operation::Lookahead {
                to: names.layout.field(target).map_err(under)?.place,
                ahead: ahead(*bits).map_err(under)?,
            },
            bmv2::SetSource::Expression(value) => Operation::Steps(set(names, target, value)?),
        },
        bmv2::ParserOperation::Verify { condition, error } => Operation::Verify {
            condition: scope.condition(condition).map_err(under)?,
            error: scope.index(error).map_err(under)?,
        },
    })
}

/// The extraction of a header whose type says how long its variable field is.
fn self_sized(names: &Names<'_>, target: &Target) -> Result<Operation, LoadError> {
    let layout = names.layout;
    let kind = &layout.kinds[target.kind(names)];
    let Some(length) = &kind.length_expression else {
        let message = "a header of variable length is extracted with extract_VL, or its type has \
                       a length_exp";
        return Err(LoadError::new("/op", message));
    };
    let Target::Header(header) = *target else {
        let message = "a header sized by its length_exp is no element of a stack; use extract_VL";
        return Err(LoadError::new("/parameters/0", message));
    };
    let own = |field: u32| {
        let field = kind.fields.get(field as usize)?;
        Some(bmv2::FieldRef::new(&layout.headers[header as usize].name, &field.name))
    };
    let length = in_header(length, &own).ok_or_else(|| {
        let message = format!(
            "the length_exp of {} is not made of its fields, constants and operators",
            kind.name
        );
        LoadError::new("/parameters/0", message)
    })?;
    let scope = Scope { layout, params: &[], registers: names.registers };
    Ok(Operation::ExtractSelfSized { header, width: scope.index(&length)? })
}

/// An expression of a header type for one header: its locals are the header's fields.
fn in_header(
    expression: &bmv2::Expression,
    own: &impl Fn(u32) -> Option<bmv2::FieldRef>,
) -> Option<bmv2::Expression> {
    use bmv2::Expression;
    let within = |operand: &Expression| in_header(operand, own).map(Box::new);
    Some(match expression {
        Expression::Local(field) => Expression::Field(own(*field)?),
        Expression::Bool(_) | Expression::Hex(_) => expression.clone(),
        Expression::Unary { operator, operand } => {
            Expression::Unary { operator: *operator, operand: within(operand)? }
        }
        Expression::Binary { operator, left, right } => {
            Expression::Binary { operator: *operator, left: within(left)?, right: within(right)? }
        }
        Expression::Conditional { condition, if_true, if_false } => Expression::Conditional {
            condition: within(condition)?,
            if_true: within(if_true)?,
            if_false: within(if_false)?,
        },
        _ => return None,
    })
}

/// An assignment, through the primitive of that name.
fn set(
    names: &Names<'_>,
    target: &bmv2::FieldRef,
    value: &bmv2::Expression,
) -> Result<Routine, LoadError> {
    let is_variable = matches!(names.layout.field(target)?.place, Place::Variable(_));
    let call = bmv2::PrimitiveCall {
        operation: if is_variable { "assign_VL" } else { "assign" }.to_owned(),
        parameters: vec![
            bmv2::Parameter::Expression(bmv2::Expression::Field(target.clone())),
            bmv2::Parameter::Expression(value.clone()),
        ],
        source_info: None,
    };
    load_routine(names, &[call])
}

/// The program's parser of this name, or its only one; `None` if it has no parser.
pub(crate) fn load_parser(
    names: &Names<'_>,
    source: &bmv2::Program,
    sets: &[ValueSet],
    name: &str,
) -> Result<Option<Parser>, LoadError> {
    let position = source.parsers.iter().position(|parser| parser.name == name).unwrap_or(0);
    let Some(parser) = source.parsers.get(position) else { return Ok(None) };
    let parser = Parser::new(names, source, parser, sets);
    parser.map(Some).map_err(|error| error.under(&format!("/parsers/{position}")))
}
