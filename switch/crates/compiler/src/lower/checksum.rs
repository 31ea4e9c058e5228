//! The checksum controls: calls of `verify_checksum` and `update_checksum`, and nothing else.
//!
//! Before: the control's steps are being written. After: each call is a checksum of the switch with
//! a calculation; the switch itself runs them, after the parser or before the deparser.

use bmv2::{Checksum, Expression};

use super::expression::and;
use super::lowering::Lowering;
use super::step::Step;
use super::target::Target;
use super::value::Value;
use crate::architecture::{BlockKind, CHECKSUM_DATA};
use crate::types::tree::{Argument, Call};

impl Lowering<'_> {
    /// A call of one of the four checksum functions.
    pub fn checksum(&mut self, call: &Call, with_payload: bool) {
        let at = call.span;
        let verify = self.local.kind == BlockKind::VerifyChecksum;
        let condition = self.truth_argument(call, 0);
        let before = self.local.steps.len();
        let leaves = self.leaf_arguments(call, CHECKSUM_DATA);
        let target = match call.arguments.get(2) {
            Some(Argument::Expression(target)) => self.place(target),
            _ => Target::Nowhere,
        };
        let algorithm = self.enumerator_argument(call, 3);
        let Target::Whole(Value::Number(Expression::Field(target))) = target else {
            return self.unsupported(
                at,
                "a checksum must be in a field",
                "give the field that holds the checksum as third argument",
            );
        };
        let calculation = self.calculation(&algorithm, leaves, with_payload, at);
        if self.local.steps.len() > before {
            return self.unsupported(
                at,
                "a checksum is computed over fields, not over expressions",
                "write the value to a metadata field in egress and list that field",
            );
        }
        let condition = and(self.local.checksum_condition.clone(), condition);
        let id = self.flat.checksums.len() as u32;
        let name = if id == 0 { "cksum".to_owned() } else { format!("cksum_{}", id - 1) };
        self.flat.checksums.push(Checksum {
            name,
            id,
            source_info: super::source_info::of(self.input.sources, at),
            target,
            calculation,
            verify,
            update: !verify,
            condition: Some(condition),
        });
    }

    /// Whether a checksum control is being flattened.
    pub fn is_checksum_block(&self) -> bool {
        matches!(self.local.kind, BlockKind::ComputeChecksum | BlockKind::VerifyChecksum)
    }

    /// Checks that a checksum control left no steps of its own.
    pub fn check_only_checksums(&mut self, steps: &[Step]) {
        let mut rest = steps;
        while let [Step::Block { body, .. }] = rest {
            rest = body;
        }
        let at = rest.iter().find_map(|step| match step {
            Step::Apply(apply) => Some(apply.at),
            Step::Exit(at) | Step::If { at, .. } | Step::Run(_, at) => Some(*at),
            Step::Block { .. } | Step::Leave(_) | Step::Loop(_) | Step::Parse(_) => None,
        });
        if let Some(at) = at {
            self.unsupported(
                at,
                "checksum controls can call the checksum functions only",
                "use the first argument as condition, and do everything else in egress",
            );
        }
    }
}
