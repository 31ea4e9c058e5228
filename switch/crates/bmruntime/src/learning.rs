//! Digests, which the interface calls learning: how they are published, and acknowledged.
//!
//! The published message has a header and samples, as clients of the original read it:
//!
//! ```text
//!   "LEA|"  device id  context  list     buffer id  samples   then each sample, field by field
//!   4       8          4        4        8          4         in whole bytes, network order
//! ```
//!
//! Numbers of the header lie as they do in the memory of machines with little ends.

use agent::exchange::{Reply, reply};
use agent::front::Front;
use agent::learning::{Learned, Learner, Learning};
use agent::visit::{Site, Visit};
use p4runtime::Refusal;
use thrift::{Struct, Value};

use crate::codes::{Thrown, learn};
use crate::job::{Outcome, Run};

pub const FUNCTIONS: &[(&str, Run)] = &[
    ("bm_learning_ack", Run::Once(acknowledge_some)),
    ("bm_learning_ack_buffer", Run::Once(acknowledge)),
    ("bm_learning_set_timeout", Run::Once(set_timeout)),
    ("bm_learning_set_buffer_size", Run::Once(set_buffer_size)),
];

/// Where there is no program there are no lists; what is to be done says whether there is this one.
fn of_list(
    site: &mut Site<'_>,
    arguments: &Struct,
    work: impl FnOnce(&mut Learning, u32) -> bool,
) -> Outcome {
    let list_id = u32::try_from(arguments.i32(2)).map_err(|_| learn::INVALID_LIST)?;
    let learning = site.learning().ok_or(learn::INVALID_LIST)?;
    match work(learning, list_id) {
        true => Ok(None),
        false => Err(learn::INVALID_LIST),
    }
}

fn number(arguments: &Struct) -> Result<u32, Thrown> {
    u32::try_from(arguments.i32(3)).map_err(|_| learn::ERROR)
}

fn acknowledge(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let buffer_id = arguments.i64(3).cast_unsigned();
    of_list(site, arguments, |lists, list| lists.acknowledge(list, buffer_id, None))
}

fn acknowledge_some(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let buffer_id = arguments.i64(3).cast_unsigned();
    let samples = arguments.list(4).iter().filter_map(|sample| match sample {
        Value::I32(place) => usize::try_from(*place).ok(),
        _ => None,
    });
    let samples: Vec<usize> = samples.collect();
    of_list(site, arguments, |lists, list| lists.acknowledge(list, buffer_id, Some(&samples)))
}

fn set_timeout(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let timeout_ms = number(arguments)?;
    of_list(site, arguments, |lists, list| lists.set_timeout_ms(list, timeout_ms))
}

fn set_buffer_size(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let sample_count = number(arguments)?;
    of_list(site, arguments, |lists, list| lists.set_buffer_size(list, sample_count))
}

/// Reports digests to `learner` from now on.
pub async fn tell(front: &Front, learner: Box<dyn Learner>) -> Result<(), Refusal> {
    front.visit(|reply| Box::new(Telling { learner: Some(learner), reply: Some(reply) })).await
}

#[derive(Debug)]
struct Telling {
    learner: Option<Box<dyn Learner>>,
    reply: Option<Reply<()>>,
}

impl Visit for Telling {
    fn go_on(&mut self, site: &mut Site<'_>, left: &mut usize) -> bool {
        *left = left.saturating_sub(1);
        if let Some(learner) = self.learner.take() {
            site.tell(learner);
        }
        if let Some(slot) = self.reply.take() {
            reply(slot, ());
        }
        true
    }
}

/// The message in which a list is published.
pub fn message(device_id: u64, learned: &Learned) -> Vec<u8> {
    let mut message = b"LEA|".to_vec();
    message.extend(device_id.to_le_bytes());
    // The only context there is.
    message.extend(0_u32.to_le_bytes());
    message.extend(learned.list_id.to_le_bytes());
    message.extend(learned.buffer_id.to_le_bytes());
    message.extend(learned.count.to_le_bytes());
    message.extend(&learned.samples);
    message
}
