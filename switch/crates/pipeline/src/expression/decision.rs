//! Conditions on fields as decision lists.
//!
//! A condition made of comparisons between fields of up to 64 bits and constants, by `&&`, `||` and
//! `!`, needs no tree: it is a list of tests, each with the number of the next test. These numbers
//! contain the short cuts of `&&` and `||`, and every `!`.
//!
//! ```text
//!   a.isValid() && !(b == 0 || c > 9)        inside   outside
//!                     start ->  2: a in 0..=0     NO         1
//!                               1: b in 0..=0     NO         0
//!                               0: c in 0..=9    YES        NO
//! ```
//!
//! Every comparison with a constant is a range test, `value - low <= span`, so that no test asks
//! which comparison it is.

use super::{Compare, Condition, Number};
use crate::place::Cell;

/// The condition holds.
const YES: u8 = 255;
/// It does not.
const NO: u8 = 254;

/// The comparison of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(u8)]
pub(crate) enum Subject {
    Equal { left: Cell, right: Cell },
    Less { left: Cell, right: Cell },
    Range { cell: Cell, low: u64, span: u64 },
}

/// A test and what follows it: when it fails, when it succeeds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Test {
    subject: Subject,
    next: [u8; 2],
}

/// A list of tests, and the first of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decision {
    tests: Box<[Test]>,
    start: u8,
}

impl Subject {
    /// Whether the test succeeds.
    #[inline(always)]
    pub fn holds(&self, area: &[u8]) -> bool {
        match *self {
            Subject::Range { cell, low, span } => cell.load(area).wrapping_sub(low) <= span,
            Subject::Equal { left, right } => left.load(area) == right.load(area),
            Subject::Less { left, right } => left.load(area) < right.load(area),
        }
    }
}

/// Where a test leads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Next {
    /// The condition is settled.
    Settled(bool),
    /// To another test, by its number.
    Test(usize),
}

impl Decision {
    /// Whether the condition holds.
    #[inline(always)]
    pub fn holds(&self, area: &[u8]) -> bool {
        let mut at = self.start;
        while at < NO {
            let test = &self.tests[at as usize];
            at = test.next[usize::from(test.subject.holds(area))];
        }
        at == YES
    }

    /// Its tests, the first one first, each with the next test after failure and after success.
    /// None if there is nothing to test.
    pub fn tests(&self) -> Vec<(Subject, [Next; 2])> {
        // Tests are added from the last to the first, so the numbers are turned round; what was
        // added after the first to be run is never run.
        let first = self.start;
        let next = |at: u8| match at {
            YES => Next::Settled(true),
            NO => Next::Settled(false),
            _ => Next::Test(usize::from(first - at)),
        };
        let count = if first < NO { usize::from(first) + 1 } else { 0 };
        let tests = self.tests[..count].iter().rev();
        tests.map(|test| (test.subject, test.next.map(next))).collect()
    }

    /// Whether all it asks is that one header is valid, whose validity is this byte.
    pub fn is_validity(&self, valid: u32) -> bool {
        let [Test { subject: Subject::Range { cell, .. }, .. }] = *self.tests else { return false };
        // The low byte of its window, of which validity is a bit.
        if cell.offset + 7 != valid || cell.shift != 0 || cell.width > 8 {
            return false;
        }
        let holds = |value: u8| {
            let mut area = vec![0; valid as usize + 1];
            area[valid as usize] = value;
            self.holds(&area)
        };
        holds(1) && !holds(0)
    }
}

impl Condition {
    /// The condition as a decision list, if it is made of nothing else.
    pub fn decided(self) -> Condition {
        let mut tests = Vec::new();
        match flatten(&self, YES, NO, &mut tests) {
            Some(start) => Condition::Decision(Decision { tests: tests.into(), start }),
            // Then perhaps each side of it.
            None => match self {
                Condition::And(pair) => {
                    Condition::And(Box::new((pair.0.decided(), pair.1.decided())))
                }
                Condition::Or(pair) => {
                    Condition::Or(Box::new((pair.0.decided(), pair.1.decided())))
                }
                Condition::Not(operand) => Condition::Not(Box::new(operand.decided())),
                other => other,
            },
        }
    }
}

/// Adds the tests of a condition; returns the first. `yes` and `no` follow them.
fn flatten(condition: &Condition, yes: u8, no: u8, tests: &mut Vec<Test>) -> Option<u8> {
    match condition {
        Condition::And(pair) => {
            let second = flatten(&pair.1, yes, no, tests)?;
            flatten(&pair.0, second, no, tests)
        }
        Condition::Or(pair) => {
            let second = flatten(&pair.1, yes, no, tests)?;
            flatten(&pair.0, yes, second, tests)
        }
        Condition::Not(operand) => flatten(operand, no, yes, tests),
        Condition::Const(value) => Some(if *value { yes } else { no }),
        Condition::NonZero(Number::Bool(operand)) => flatten(operand, yes, no, tests),
        Condition::CellConst { compare, cell, value } => {
            let (range, holds) = range(*compare, *value);
            let (yes, no) = if holds { (yes, no) } else { (no, yes) };
            match range {
                Some((low, high)) => {
                    let subject = Subject::Range { cell: *cell, low, span: high - low };
                    push(tests, Test { subject, next: [no, yes] })
                }
                None => Some(no),
            }
        }
        Condition::Compare { compare, operands, signed: false } => {
            let (Number::Cell(left), Number::Cell(right)) = &**operands else { return None };
            let (left, right) = (*left, *right);
            let (subject, holds) = match compare {
                Compare::Equal => (Subject::Equal { left, right }, true),
                Compare::NotEqual => (Subject::Equal { left, right }, false),
                Compare::Less => (Subject::Less { left, right }, true),
                Compare::GreaterOrEqual => (Subject::Less { left, right }, false),
                Compare::Greater => (Subject::Less { left: right, right: left }, true),
                Compare::LessOrEqual => (Subject::Less { left: right, right: left }, false),
            };
            push(tests, Test { subject, next: if holds { [no, yes] } else { [yes, no] } })
        }
        _ => None,
    }
}

/// The range of values for which a comparison with `value` holds, or does not if that is `false`;
/// an empty range is `None`.
fn range(compare: Compare, value: u64) -> (Option<(u64, u64)>, bool) {
    match compare {
        Compare::Equal => (Some((value, value)), true),
        Compare::NotEqual => (Some((value, value)), false),
        Compare::LessOrEqual => (Some((0, value)), true),
        Compare::Greater => (Some((0, value)), false),
        Compare::GreaterOrEqual => (Some((value, u64::MAX)), true),
        Compare::Less => (Some((value, u64::MAX)), false),
    }
}

fn push(tests: &mut Vec<Test>, test: Test) -> Option<u8> {
    let index = u8::try_from(tests.len()).ok().filter(|index| *index < NO)?;
    tests.push(test);
    Some(index)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::expression::View;
    use crate::layout::Layout;

    /// Two fields of one byte.
    fn cell(index: u64) -> Cell {
        Cell::new((index % 2) as u32, 56, 8)
    }

    fn compare() -> impl Strategy<Value = Compare> {
        use Compare::*;
        prop::sample::select(vec![Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual])
    }

    fn condition() -> impl Strategy<Value = Condition> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Condition::Const),
            (compare(), 0u64..2, 0u64..4).prop_map(|(compare, index, value)| {
                Condition::CellConst { compare, cell: cell(index), value }
            }),
            (compare(), 0u64..2, 0u64..2).prop_map(|(compare, left, right)| {
                let operands = Box::new((Number::Cell(cell(left)), Number::Cell(cell(right))));
                Condition::Compare { compare, operands, signed: false }
            }),
        ];
        leaf.prop_recursive(4, 24, 2, |inner| {
            let pair = (inner.clone(), inner.clone());
            prop_oneof![
                pair.clone().prop_map(|pair| Condition::And(Box::new(pair))),
                pair.prop_map(|pair| Condition::Or(Box::new(pair))),
                inner.prop_map(|operand| Condition::Not(Box::new(operand))),
            ]
        })
    }

    /// The outcome of the tests of a list, walked as steps are.
    fn walk(decision: &Decision, area: &[u8]) -> Option<bool> {
        let tests = decision.tests();
        let (mut subject, mut next) = *tests.first()?;
        loop {
            match next[usize::from(subject.holds(area))] {
                Next::Settled(holds) => return Some(holds),
                Next::Test(number) => (subject, next) = tests[number],
            }
        }
    }

    #[test]
    fn a_question_for_validity_is_known_however_it_is_put() {
        // A header's validity is the low byte of the window in front of it.
        let valid = Cell::low(1, 1);
        let asks = |compare, value, cell| {
            let Condition::Decision(decision) =
                (Condition::CellConst { compare, cell, value }).decided()
            else {
                panic!("a comparison with a constant is a test");
            };
            decision.is_validity(8)
        };
        assert!(asks(Compare::Equal, 1, valid));
        assert!(asks(Compare::NotEqual, 0, valid));
        assert!(asks(Compare::Greater, 0, valid));
        assert!(!asks(Compare::Equal, 0, valid), "that is the opposite");
        assert!(!asks(Compare::GreaterOrEqual, 0, valid), "that always holds");
        assert!(!asks(Compare::Equal, 1, Cell::low(2, 1)), "that is another header's");
        assert!(!asks(Compare::Equal, 1, Cell::new(1, 8, 1)), "that is another field");
    }

    proptest! {
        /// Whatever the condition, its list decides as its tree does, and so do its tests alone.
        #[test]
        fn a_decision_is_its_condition(condition in condition()) {
            let decided = condition.clone().decided();
            let Condition::Decision(list) = &decided else { panic!("{decided:?}") };
            let layout = Layout::default();
            for (first, second) in (0..5u8).flat_map(|a| (0..5u8).map(move |b| (a, b))) {
                let area = [first, second, 0, 0, 0, 0, 0, 0, 0, 0];
                let view = View { layout: &layout, area: &area, params: &[], registers: &[] };
                let holds = condition.holds(&view);
                prop_assert_eq!(decided.holds(&view), holds);
                // Without tests the condition is a constant, and stays a list.
                prop_assert_eq!(walk(list, &area).unwrap_or(holds), holds);
            }
        }
    }
}
