//! Steps of an action as the flat list of primitives that the switch runs.
//!
//! Before: steps of an action. After: primitives; branches, loops and exits are `_jump`s to
//! positions in the list.

use std::collections::BTreeMap;

use bmv2::{Parameter, PrimitiveCall};

use super::step::{Label, Step};
use super::value::{hex, number_of, parameter};
use syntax::{SourceMap, Span};

/// The primitives of an action.
pub fn primitives(steps: &[Step], sources: &SourceMap) -> Vec<PrimitiveCall> {
    let mut writer = Writer {
        calls: Vec::new(),
        ends: BTreeMap::new(),
        targets: Vec::new(),
        exits: Vec::new(),
        sources,
    };
    writer.steps(steps);
    writer.finish()
}

struct Writer<'a> {
    calls: Vec<PrimitiveCall>,
    /// Where blocks end.
    ends: BTreeMap<Label, usize>,
    /// Jumps to the ends of blocks: position and block.
    targets: Vec<(usize, Label)>,
    /// Jumps to the end of the action.
    exits: Vec<usize>,
    sources: &'a SourceMap,
}

impl Writer<'_> {
    /// Steps of an action; branches become jumps over primitives.
    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Run(call, _) => self.calls.push(call.clone()),
                Step::If { condition, then, otherwise, at } => {
                    let condition = parameter(number_of(condition.clone()));
                    let to_otherwise = self.jump("_jump_if_zero", vec![condition], *at);
                    self.steps(then);
                    if otherwise.is_empty() {
                        self.aim(to_otherwise, self.calls.len());
                        continue;
                    }
                    let to_end = self.jump("_jump", Vec::new(), *at);
                    self.aim(to_otherwise, self.calls.len());
                    self.steps(otherwise);
                    self.aim(to_end, self.calls.len());
                }
                Step::Block { label, body } => {
                    // Leaving at the very end needs no jump.
                    let body = match body.split_last() {
                        Some((Step::Leave(last), before)) if last == label => before,
                        _ => body,
                    };
                    self.steps(body);
                    self.ends.insert(*label, self.calls.len());
                }
                Step::Leave(label) => {
                    let at = self.jump("_jump", Vec::new(), Span::NONE);
                    self.targets.push((at, *label));
                }
                Step::Loop(body) => {
                    let head = self.calls.len();
                    self.steps(body);
                    let back = self.jump("_jump", Vec::new(), Span::NONE);
                    self.aim(back, head);
                }
                Step::Exit(at) => {
                    self.call("exit", Vec::new(), *at);
                    let jump = self.jump("_jump", Vec::new(), *at);
                    self.exits.push(jump);
                }
                // Actions apply no tables and read no packets; the front end has seen to it.
                Step::Apply(_) | Step::Parse(_) => {}
            }
        }
    }

    fn call(&mut self, operation: &str, parameters: Vec<Parameter>, at: Span) {
        let source_info = super::source_info::of(self.sources, at);
        let operation = operation.to_owned();
        self.calls.push(PrimitiveCall { operation, parameters, source_info });
    }

    /// A jump whose target is not known yet.
    fn jump(&mut self, operation: &str, parameters: Vec<Parameter>, at: Span) -> usize {
        self.call(operation, parameters, at);
        self.calls.len() - 1
    }

    /// Gives a jump its target.
    fn aim(&mut self, jump: usize, target: usize) {
        self.calls[jump].parameters.push(Parameter::Expression(hex(target as u64)));
    }

    /// The primitives, all jumps resolved.
    fn finish(mut self) -> Vec<PrimitiveCall> {
        let end = self.calls.len();
        for (jump, label) in std::mem::take(&mut self.targets) {
            let target = self.ends.get(&label).copied().unwrap_or(end);
            self.aim(jump, target);
        }
        for jump in std::mem::take(&mut self.exits) {
            self.aim(jump, end);
        }
        // A jump to what comes next anyway, at the very end, does nothing.
        while self.calls.last().is_some_and(|last| last.operation == "_jump") && self.is_idle_end()
        {
            self.calls.pop();
            self.retarget();
        }
        self.calls
    }

    /// Whether the last call is a jump to the end of the action.
    fn is_idle_end(&self) -> bool {
        let end = Parameter::Expression(hex(self.calls.len() as u64));
        self.calls.last().is_some_and(|last| last.parameters == [end])
    }

    /// After the last call was dropped: jumps beyond it are jumps to the new end.
    fn retarget(&mut self) {
        let old_end = Parameter::Expression(hex(self.calls.len() as u64 + 1));
        let new_end = Parameter::Expression(hex(self.calls.len() as u64));
        for call in &mut self.calls {
            if call.operation.starts_with("_jump")
                && let Some(target) = call.parameters.last_mut()
                && *target == old_end
            {
                *target = new_end.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bmv2::Expression;

    fn run(operation: &str) -> Step {
        let call = PrimitiveCall { operation: operation.into(), ..PrimitiveCall::default() };
        Step::Run(call, Span::NONE)
    }

    fn listing(steps: &[Step]) -> Vec<String> {
        let sources = SourceMap::default();
        let show = |call: PrimitiveCall| match call.parameters.last() {
            Some(Parameter::Expression(Expression::Hex(target))) => {
                format!("{} {target}", call.operation)
            }
            _ => call.operation,
        };
        primitives(steps, &sources).into_iter().map(show).collect()
    }

    #[test]
    fn the_two_sides_of_a_branch_jump_around_each_other() {
        let test = Step::If {
            condition: Expression::Bool(true),
            then: vec![run("a")],
            otherwise: vec![run("b")],
            at: Span::NONE,
        };
        // 0 _jump_if_zero 3, 1 a, 2 _jump 4, 3 b, 4 c.
        assert_eq!(listing(&[test, run("c")]), ["_jump_if_zero 3", "a", "_jump 4", "b", "c"]);
    }

    #[test]
    fn a_return_at_the_end_is_no_jump() {
        let body = vec![run("a"), Step::Leave(Label(1))];
        assert_eq!(listing(&[Step::Block { label: Label(1), body }]), ["a"]);
    }

    #[test]
    fn a_loop_jumps_back() {
        // 0 a, 1 _jump 0.
        assert_eq!(listing(&[Step::Loop(vec![run("a")])]), ["a", "_jump 0"]);
    }

    #[test]
    fn exit_skips_the_rest_of_the_action() {
        let then = vec![Step::Exit(Span::NONE)];
        let condition = Expression::Bool(true);
        let test = Step::If { condition, then, otherwise: vec![], at: Span::NONE };
        // 0 _jump_if_zero 3, 1 exit, 2 _jump 4, 3 a.
        assert_eq!(listing(&[test, run("a")]), ["_jump_if_zero 3", "exit", "_jump 4", "a"]);
    }
}
