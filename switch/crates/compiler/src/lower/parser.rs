//! Parsers: states with steps and transitions; sub-parsers are written in the place of their call.
//!
//! Before: a parser of the typed tree. After: `Flat::parser`, one state for each state of each
//! parser applied, and one more after each call of a sub-parser, where parsing goes on.

use bits::Int;
use bmv2::{Expression, ParseValueSet, ParserOperation, TransitionKey, TransitionMatch};

use super::flat::{Case, Goal, Next, State, ValueSet};
use super::local::Frame;
use super::lowering::Lowering;
use super::names;
use super::number::{Range, ones};
use super::step::Step;
use super::storage::{Leaf, leaf};
use super::value::{HeaderRef, ObjectRef, UnionRef, Value, hex, number_of};
use crate::types::tree::{
    self, Argument, Id, KeysetElement, LocalDeclaration, Select, SelectCase, StateTarget,
    Transition, Type,
};
use syntax::Span;

/// More states than this are not made: sub-parsers that call sub-parsers multiply.
const STATE_COUNT_MAX: usize = 10_000;
/// A range in a `select` becomes at most this many prefixes.
const PREFIX_COUNT_MAX: usize = 2_000;

/// A key of a `select`: a leaf of a subject.
struct Subject {
    key: TransitionKey,
    range: Range,
    /// The leaf is a truth value.
    is_bool: bool,
}

/// The value and the mask that one leaf must have. `None` as mask: all bits.
type Matched = (Int, Option<Int>);

impl Lowering<'_> {
    /// The parser of the program, its parameters bound.
    pub fn top_parser(&mut self, parser: Id<tree::Parser>) {
        let start = self.new_state("start");
        self.local.parsing.current = start;
        self.states(parser, Goal::Stop);
    }

    /// A state without anything in it.
    fn new_state(&mut self, name: &str) -> usize {
        let name = self.flat.state_names.unique(name);
        self.flat.parser.push(State { name, steps: Vec::new(), next: Next::Always(Goal::Stop) });
        self.flat.parser.len() - 1
    }

    /// Ends the state being written and goes on in another.
    fn finish_state(&mut self, next: Next, following: usize) {
        let state = &mut self.flat.parser[self.local.parsing.current];
        state.steps = std::mem::take(&mut self.local.steps);
        state.next = next;
        self.local.parsing.current = following;
    }

    /// Writes the states of a parser; the state being written leads to its `start`, and `accept`
    /// leads to `accept`.
    fn states(&mut self, parser: Id<tree::Parser>, accept: Goal) {
        let declaration = &self.input.program.parsers[parser];
        self.value_sets(declaration);
        self.declare_locals(&declaration.locals);
        let Some(start) = declaration.states.iter().position(|state| &*state.name.text == "start")
        else {
            return;
        };
        // A parser without anything in front of its first state starts right in it.
        let is_first = self.flat.parser.len() == 1 && self.local.steps.is_empty();
        let states: Vec<usize> = (0..declaration.states.len())
            .map(|at| {
                if at == start && is_first {
                    self.local.parsing.current
                } else {
                    self.new_state(&declaration.states[at].name.text)
                }
            })
            .collect();
        let entry = Next::Always(Goal::State(states[start]));
        if !is_first {
            self.finish_state(entry, states[start]);
        }
        self.local.parsing.around.push((states.clone(), accept));
        let outer = std::mem::take(&mut self.local.frame);
        for (state, flat) in declaration.states.iter().zip(states) {
            self.local.parsing.current = flat;
            self.state(state);
        }
        self.local.frame = outer;
        self.local.parsing.around.pop();
    }

    /// One state of one copy of a parser.
    fn state(&mut self, state: &tree::State) {
        self.local.frame = Frame::default();
        self.block(&tree::Block { annotations: Vec::new(), statements: state.statements.clone() });
        let next = match &state.transition {
            Transition::Direct(target) => Next::Always(self.goal(*target)),
            Transition::Select(select) => self.select(select),
        };
        let current = self.local.parsing.current;
        self.finish_state(next, current);
    }

    /// Where a transition leads in this copy.
    fn goal(&mut self, target: StateTarget) -> Goal {
        // A packet that Tofino's parser rejects is dropped: it ends with an error.
        if target == StateTarget::Reject && self.tofino().is_some() {
            return self.no_match();
        }
        let Some((states, accept)) = self.local.parsing.around.last() else { return Goal::Stop };
        match target {
            StateTarget::Accept => *accept,
            // The switch does not drop what a parser rejects; v1model says so.
            StateTarget::Reject => Goal::Stop,
            StateTarget::State(index) => {
                states.get(index).map_or(Goal::Stop, |at| Goal::State(*at))
            }
        }
    }

    /// The call of a sub-parser: its states, then a state in which the caller goes on.
    pub fn inline_parser(
        &mut self,
        parser: Id<tree::Parser>,
        object: ObjectRef,
        arguments: &[Argument],
        at: Span,
    ) {
        if self.flat.parser.len() > STATE_COUNT_MAX {
            return self.unsupported(
                at,
                "the parser has too many states once its sub-parsers are inlined",
                format!("at most {STATE_COUNT_MAX} are made; call sub-parsers fewer times"),
            );
        }
        if self.local.nesting > 0 {
            return self.unsupported(
                at,
                "a parser cannot be applied inside an if, switch or loop",
                "make a state of it and select that state",
            );
        }
        let declaration = &self.input.program.parsers[parser];
        let outside = super::call::Outside::Nothing;
        self.inline(&declaration.parameters, arguments, &outside, at, |this| {
            let name = this.flat.parser[this.local.parsing.current].name.clone();
            let after = this.new_state(&name);
            this.in_instance(object, |this| this.states(parser, Goal::State(after)));
            this.local.parsing.current = after;
        });
    }

    /// Sets that the control plane fills; one name is one set.
    fn value_sets(&mut self, declaration: &tree::Parser) {
        for local in &declaration.locals {
            let LocalDeclaration::ValueSet(id) = local else { continue };
            let set = &self.input.program.value_sets[*id];
            let prefix = self.flat.scopes[self.local.scope.0].name.clone();
            let name = names::qualified(&prefix, &set.annotations, &set.name.text);
            if self.flat.value_sets.iter().any(|known| known.set.name == name) {
                continue;
            }
            let mut widths = Vec::new();
            leaf_widths(self.input.program, &set.element, &mut widths);
            let size = self.constant_number(&set.size);
            self.flat.value_sets.push(ValueSet {
                of: *id,
                set: ParseValueSet {
                    name,
                    id: self.flat.value_sets.len() as u32,
                    width_bits: widths.iter().sum(),
                    size_max: size.and_then(|size| size.to_u32()),
                },
            });
        }
    }

    /// A choice by a key of whole fields.
    fn select(&mut self, select: &Select) -> Next {
        let values = self.operands(&select.subjects.iter().collect::<Vec<_>>());
        let mut subjects = Vec::new();
        let mut counts = Vec::new();
        for (value, subject) in values.iter().zip(&select.subjects) {
            let before = subjects.len();
            self.subjects(value, &subject.ty, subject.span, &mut subjects);
            counts.push(subjects.len() - before);
        }
        let mut cases = Vec::new();
        for case in &select.cases {
            let goal = self.goal(case.target);
            for matches in self.matches(case, &subjects, &counts) {
                let is_last = matches == TransitionMatch::Default;
                cases.push(Case { matches, goal });
                if is_last {
                    return decided(subjects, cases);
                }
            }
        }
        // P4-16, 13.6: where no case fits, the parser rejects with an error of its own.
        cases.push(Case { matches: TransitionMatch::Default, goal: self.no_match() });
        decided(subjects, cases)
    }

    /// A state that ends the parser with `error.NoMatch`; one is enough for all.
    fn no_match(&mut self) -> Goal {
        let errors = &self.input.program.errors;
        let Some(error) = errors.iter().position(|name| &*name.text == "NoMatch") else {
            return Goal::Stop;
        };
        let state = match self.local.parsing.no_match {
            Some(state) => state,
            None => {
                let state = self.new_state("no_match");
                let (condition, error) = (Expression::Bool(false), hex(error as u64));
                let verify = ParserOperation::Verify { condition, error };
                self.flat.parser[state].steps.push(Step::Parse(verify));
                self.local.parsing.no_match = Some(state);
                state
            }
        };
        Goal::State(state)
    }

    /// The key components of a subject, each a field or bits ahead.
    fn subjects(&mut self, value: &Value, ty: &Type, at: Span, found: &mut Vec<Subject>) {
        let mut leaves = Vec::new();
        self.leaves(value, ty, &mut leaves);
        for (leaf, kind) in leaves {
            let is_bool = kind == Leaf::Bool;
            let key = match self.transition_key(&leaf, kind) {
                Some(key) => key,
                None => TransitionKey::Field(self.leaf_field(leaf, kind, at)),
            };
            found.push(Subject { key, range: Range::of(kind), is_bool });
        }
    }

    /// The compared values: fields, or bits ahead in the packet.
    fn transition_key(&self, leaf: &Value, kind: Leaf) -> Option<TransitionKey> {
        let storage = &self.flat.storage;
        match leaf {
            Value::Number(Expression::Field(field)) => {
                storage.is_as_wide(field, kind).then(|| TransitionKey::Field(field.clone()))
            }
            Value::Number(Expression::StackField { stack, field }) => {
                let known = storage.stacks.iter().find(|known| known.name == *stack)?;
                let fields = &storage.header_types[known.header_type].fields;
                let stored = fields.iter().find(|known| known.name == *field)?;
                let key = TransitionKey::StackField { stack: stack.clone(), field: field.clone() };
                (stored.kind.width() == kind.width()).then_some(key)
            }
            Value::Number(Expression::AccessField { header, field }) => {
                self.union_stack_key(header, *field, kind)
            }
            _ => None,
        }
    }

    /// `stack.last.member.field` of a stack of unions.
    fn union_stack_key(
        &self,
        header: &Expression,
        field: u32,
        kind: Leaf,
    ) -> Option<TransitionKey> {
        let storage = &self.flat.storage;
        for (at, stack) in storage.union_stacks.iter().enumerate() {
            let last = UnionRef::Last(super::storage::UnionStackId(at));
            for (member, declared) in self.input.program.structs[stack.of].fields.iter().enumerate()
            {
                let candidate = HeaderRef::OfUnion { union: Box::new(last.clone()), member };
                if self.flat.storage.header_expression(&candidate) == *header {
                    let stored = storage.type_of(&candidate).fields.get(field as usize)?;
                    let key = TransitionKey::UnionStackField {
                        stack: stack.name.clone(),
                        member: declared.name.text.to_string(),
                        field: stored.name.clone(),
                    };
                    return (stored.kind.width() == kind.width()).then_some(key);
                }
            }
        }
        None
    }

    /// The matches that a case stands for: several where a range is not a prefix.
    fn matches(
        &mut self,
        case: &SelectCase,
        subjects: &[Subject],
        counts: &[usize],
    ) -> Vec<TransitionMatch> {
        if let [KeysetElement::ValueSet(set)] = &case.keyset.elements[..] {
            return self.value_set_match(*set);
        }
        let mut alternatives: Vec<Vec<Matched>> = vec![Vec::new()];
        let mut position = 0;
        for (element, count) in case.keyset.elements.iter().zip(counts) {
            let part = &subjects[position..position + count];
            position += count;
            let choices = self.element_matches(element, part, case);
            alternatives = alternatives
                .iter()
                .flat_map(|prefix| choices.iter().map(move |choice| [&prefix[..], choice].concat()))
                .collect();
            if alternatives.len() > PREFIX_COUNT_MAX {
                self.unsupported(
                    case.span,
                    "the ranges of this case need too many comparisons",
                    "the switch compares values and masks only; use ranges that end on powers of \
                     two",
                );
                return Vec::new();
            }
        }
        alternatives.iter().map(|matched| transition_match(matched, subjects)).collect()
    }

    /// A set must be all of the key: BMv2 knows no other.
    fn value_set_match(&mut self, set: Id<tree::ValueSet>) -> Vec<TransitionMatch> {
        let found = self.flat.value_sets.iter().rev().find(|known| known.of == set);
        let name = found.map(|known| known.set.name.clone()).unwrap_or_default();
        vec![TransitionMatch::ValueSet { name, mask: None }]
    }

    /// The matches of one element of a key set for the leaves of its subject.
    fn element_matches(
        &mut self,
        element: &KeysetElement,
        part: &[Subject],
        case: &SelectCase,
    ) -> Vec<Vec<Matched>> {
        match element {
            KeysetElement::Any => {
                vec![part.iter().map(|_| (Int::zero(), Some(Int::zero()))).collect()]
            }
            KeysetElement::Mask(value, mask) => {
                let masks = self.keyset_numbers(mask, part);
                let values = self.keyset_numbers(value, part);
                let pairs = values.into_iter().zip(masks);
                vec![pairs.map(|(value, mask)| (&value & &mask, Some(mask))).collect()]
            }
            KeysetElement::Range(low, high) => {
                let [low, high] = [low, high].map(|bound| self.keyset_numbers(bound, part));
                match (&low[..], &high[..], part) {
                    ([low], [high], [subject]) => prefixes(low, high, subject.range.width)
                        .into_iter()
                        .map(|matched| vec![matched])
                        .collect(),
                    _ => Vec::new(),
                }
            }
            KeysetElement::Value(value) => {
                let values = self.keyset_numbers(value, part);
                vec![values.into_iter().map(|value| (value, None)).collect()]
            }
            KeysetElement::ValueSet(_) => {
                self.unsupported(
                    case.span,
                    "a value set must be the whole key of a case",
                    "select on one value, or on a struct that the value set has as its type",
                );
                Vec::new()
            }
        }
    }

    /// The constants of a key set expression, one for each leaf, as strings of bits.
    fn keyset_numbers(&mut self, expression: &tree::Expression, part: &[Subject]) -> Vec<Int> {
        let value = self.value(expression);
        let mut leaves = Vec::new();
        self.leaves(&value, &expression.ty, &mut leaves);
        let mut numbers = Vec::new();
        for (index, subject) in part.iter().enumerate() {
            let number = match leaves.get(index).map(|(leaf, _)| leaf.clone()) {
                Some(Value::Number(Expression::Hex(number))) => number,
                Some(Value::Bool(truth)) => match number_of(truth) {
                    Expression::Hex(number) => number,
                    _ => self.not_constant(expression.span),
                },
                _ => self.not_constant(expression.span),
            };
            let width = if subject.is_bool { 1 } else { subject.range.width };
            numbers.push(number.truncate(width as usize));
        }
        numbers
    }

    /// The values of cases must be known now.
    fn not_constant(&mut self, at: Span) -> Int {
        self.unsupported(
            at,
            "the switch needs the values of a select at compile time",
            "compare in the state before, and select on the result: select(a == b)",
        );
        Int::zero()
    }
}

/// A select whose outcome needs no look at the key is none.
fn decided(subjects: Vec<Subject>, cases: Vec<Case>) -> Next {
    match &cases[..] {
        [Case { matches: TransitionMatch::Default, goal }] => Next::Always(*goal),
        _ => Next::Select { key: subjects.into_iter().map(|subject| subject.key).collect(), cases },
    }
}

/// Values and masks of all leaves, each padded to whole bytes, one after the other.
fn transition_match(matched: &[Matched], subjects: &[Subject]) -> TransitionMatch {
    let is_any = |(_, mask): &Matched| mask.as_ref().is_some_and(Int::is_zero);
    if matched.iter().all(is_any) {
        return TransitionMatch::Default;
    }
    let is_exact = matched.iter().all(|(_, mask)| mask.is_none());
    let (mut value, mut mask) = (Vec::new(), Vec::new());
    for ((bits, bits_mask), subject) in matched.iter().zip(subjects) {
        let width = subject.range.width;
        let all = ones(width);
        append(&mut value, bits, width);
        append(&mut mask, bits_mask.as_ref().unwrap_or(&all), width);
    }
    TransitionMatch::Value { value, mask: (!is_exact).then_some(mask) }
}

/// A number as whole bytes: the parts of a BMv2 key do not share bytes.
fn append(out: &mut Vec<u8>, number: &Int, width: u32) {
    let start = out.len();
    out.resize(start + width.div_ceil(8) as usize, 0);
    number.write_be_bytes(&mut out[start..]);
}

/// The prefixes that together cover `low ..= high`: from the low end, always the largest aligned
/// block that does not reach beyond the high end.
fn prefixes(low: &Int, high: &Int, width: u32) -> Vec<Matched> {
    let mut found = Vec::new();
    let mut next = low.clone();
    while next <= *high && found.len() <= PREFIX_COUNT_MAX {
        let mut bits = 0;
        while bits < width {
            let block = &Int::one().shift_left(bits as usize + 1) - &Int::one();
            let is_aligned = (&next & &block).is_zero();
            if !is_aligned || &next + &block > *high {
                break;
            }
            bits += 1;
        }
        let mask = &ones(width) ^ &ones(bits);
        found.push((next.clone(), Some(mask)));
        next = &next + &Int::one().shift_left(bits as usize);
    }
    found
}

/// The widths of the numbers in a type.
fn leaf_widths(program: &tree::Program, ty: &Type, widths: &mut Vec<u32>) {
    match ty {
        Type::Struct(id) => {
            for field in &program.structs[*id].fields {
                leaf_widths(program, &field.ty, widths);
            }
        }
        Type::Tuple(elements) => {
            elements.iter().for_each(|element| leaf_widths(program, element, widths));
        }
        ty => widths.extend(leaf(program, ty).map(Leaf::width)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(value: u64, mask: u64) -> Matched {
        (Int::from(value), Some(Int::from(mask)))
    }

    #[test]
    fn a_range_is_covered_by_aligned_blocks() {
        // 1..6 of 3 bits: 1, 2-3, 4-5, 6.
        let found = prefixes(&Int::from(1), &Int::from(6), 3);
        assert_eq!(found, [masked(1, 7), masked(2, 6), masked(4, 6), masked(6, 7)]);
    }

    #[test]
    fn the_whole_range_is_one_block() {
        assert_eq!(prefixes(&Int::from(0), &Int::from(255), 8), [masked(0, 0)]);
    }
}
