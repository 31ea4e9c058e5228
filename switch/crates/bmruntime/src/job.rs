//! [`Job`]: a call on the data plane. Most take one step; walks over entries and cells go on in the
//! next slice.

use std::fmt;

use agent::exchange::{Reply, reply};
use agent::visit::{Site, Visit};
use thrift::{Struct, Type, Value};

use crate::codes::Thrown;

/// The return value of a function, or the exception it throws.
pub type Outcome = Result<Option<Value>, Thrown>;

/// How a function is carried out.
#[derive(Clone, Copy)]
pub enum Run {
    /// In one step.
    Once(fn(&mut Site<'_>, &Struct) -> Outcome),
    /// In as many as there are entries or cells.
    Walk(fn(&mut Site<'_>, &Struct) -> Result<Walk, Thrown>),
}

/// A walk over numbered things, a number a step.
pub struct Walk {
    next: u64,
    /// Behind the last.
    end: u64,
    step: Box<Step>,
    /// The objects found, in a list of elements of this type; `None` if the job looks for none.
    found: Option<(Type, Vec<Value>)>,
}

/// Does what is to be done with one of them.
type Step = dyn FnMut(&mut Site<'_>, u64) -> Result<Option<Value>, Thrown> + Send;

impl Walk {
    /// Does something with each of `numbers`.
    pub fn each(
        numbers: std::ops::Range<u64>,
        mut step: impl FnMut(&mut Site<'_>, u64) -> Result<(), Thrown> + Send + 'static,
    ) -> Walk {
        let step = Box::new(move |site: &mut Site<'_>, at| step(site, at).map(|()| None));
        Walk { next: numbers.start, end: numbers.end, step, found: None }
    }

    /// Lists what there is at each of `numbers`, if there is something.
    pub fn list(
        numbers: std::ops::Range<u64>,
        of: Type,
        step: impl FnMut(&mut Site<'_>, u64) -> Result<Option<Value>, Thrown> + Send + 'static,
    ) -> Walk {
        // A list that grows is moved, which takes long where it is long.
        let room = usize::try_from(numbers.end.saturating_sub(numbers.start)).unwrap_or(0);
        let found = Some((of, Vec::with_capacity(room)));
        Walk { next: numbers.start, end: numbers.end, step: Box::new(step), found }
    }

    /// Goes on for `left` steps.
    fn go_on(&mut self, site: &mut Site<'_>, left: &mut usize) -> Option<Outcome> {
        while self.next < self.end {
            if *left == 0 {
                return None;
            }
            *left -= 1;
            match (self.step)(site, self.next) {
                Ok(value) => {
                    if let Some((_, found)) = &mut self.found {
                        found.extend(value);
                    }
                }
                Err(thrown) => return Some(Err(thrown)),
            }
            self.next += 1;
        }
        Some(Ok(self.found.take().map(|(of, found)| Value::List(of, found))))
    }
}

/// A call on its way through the data plane.
pub struct Job {
    run: Run,
    arguments: Struct,
    walk: Option<Walk>,
    reply: Option<Reply<Outcome>>,
}

impl Job {
    pub fn new(run: Run, arguments: Struct, reply: Reply<Outcome>) -> Job {
        Job { run, arguments, walk: None, reply: Some(reply) }
    }

    fn step(&mut self, site: &mut Site<'_>, left: &mut usize) -> Option<Outcome> {
        if self.walk.is_none() {
            *left = left.saturating_sub(1);
            match self.run {
                Run::Once(function) => return Some(function(site, &self.arguments)),
                Run::Walk(begin) => match begin(site, &self.arguments) {
                    Ok(walk) => self.walk = Some(walk),
                    Err(thrown) => return Some(Err(thrown)),
                },
            }
        }
        self.walk.as_mut()?.go_on(site, left)
    }
}

impl Visit for Job {
    fn go_on(&mut self, site: &mut Site<'_>, left: &mut usize) -> bool {
        let Some(outcome) = self.step(site, left) else { return false };
        if let Some(slot) = self.reply.take() {
            reply(slot, outcome);
        }
        true
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("arguments", &self.arguments).finish_non_exhaustive()
    }
}
