//! The shared buffer, the input stage and its crossbar.
//!
//! An arbiter has the same name in messages as in the traffic manager, so none is named here.

use messages::vitrine::v1;
use traffic::{
    ArbiterConfig, BufferConfig, FabricConfig, FullOutput, InputConfig, InputQueueing, Limit,
};
use units::{Bytes, Rate, Ratio};

use super::Problem;
use super::limit::{limit_message, limit_of};
use super::parts::{problem, ratio_message, ratio_of};

/// The shared buffer of a message; a size of 0 is none.
pub(super) fn buffer_of(buffer: &v1::Buffer) -> Option<BufferConfig> {
    (buffer.size_bytes > 0).then_some(BufferConfig { size: Bytes(buffer.size_bytes) })
}

/// The message for the shared buffer.
pub fn buffer_message(buffer: Option<&BufferConfig>) -> v1::Buffer {
    v1::Buffer { size_bytes: buffer.map_or(0, |buffer| buffer.size.0) }
}

/// The input stage of a message. Mistakes are appended to `problems`.
pub(super) fn input_of(input: &v1::InputStage, problems: &mut Vec<Problem>) -> Option<InputConfig> {
    let place = "input stage";
    let queueing = match v1::InputQueueing::try_from(input.queueing) {
        Ok(v1::InputQueueing::None) => return None,
        Ok(v1::InputQueueing::Fifo) => InputQueueing::Fifo,
        Ok(v1::InputQueueing::Voq) => InputQueueing::Voq,
        Err(_) => {
            let found = format!("queueing {} is not known", input.queueing);
            problems.push(problem(place, found, "use NONE, FIFO or VOQ"));
            return None;
        }
    };
    let arbiter = arbiter_of(input, problems);
    let rate = Rate::from_bps(input.rate_bps);
    if rate.is_none() {
        let advice = "give the rate of one line; the speedup multiplies it";
        problems.push(problem(place, "rate_bps is 0".to_owned(), advice));
    }
    let speedup = match &input.speedup {
        Some(speedup) => ratio_of(speedup, "fabric, speedup", problems)?,
        None => Ratio::ONE,
    };
    let full_output = if input.lossy { FullOutput::Lossy } else { FullOutput::Backpressure };
    Some(InputConfig {
        queueing,
        limit: input.limit.as_ref().map_or(Limit::NONE, limit_of),
        voq_limit: input.voq_limit.as_ref().map_or(Limit::NONE, limit_of),
        fabric: FabricConfig { rate: rate?, speedup, arbiter: arbiter?, full_output },
    })
}

fn arbiter_of(input: &v1::InputStage, problems: &mut Vec<Problem>) -> Option<ArbiterConfig> {
    let Ok(iterations) = u8::try_from(input.iterations.max(1)) else {
        let found = format!("{} iterations", input.iterations);
        problems.push(problem("fabric, arbiter", found, "a few are enough; at most 255"));
        return None;
    };
    let name = input.arbiter().as_str_name().to_lowercase();
    let arbiter = ArbiterConfig::named(&name, iterations);
    if arbiter.is_none() {
        let found = format!("arbiter {} is not known", input.arbiter);
        problems.push(problem("fabric, arbiter", found, "name one, such as ISLIP"));
    }
    arbiter
}

/// The message for the input stage.
pub fn input_message(input: Option<&InputConfig>) -> v1::InputStage {
    let Some(input) = input else { return v1::InputStage::default() };
    let queueing = match input.queueing {
        InputQueueing::Fifo => v1::InputQueueing::Fifo,
        InputQueueing::Voq => v1::InputQueueing::Voq,
    };
    let arbiter = input.fabric.arbiter;
    let iterations = arbiter.iterations().unwrap_or(0);
    let arbiter = v1::Arbiter::from_str_name(&arbiter.name().to_uppercase()).unwrap_or_default();
    v1::InputStage {
        queueing: queueing.into(),
        limit: Some(limit_message(&input.limit)),
        voq_limit: Some(limit_message(&input.voq_limit)),
        rate_bps: input.fabric.rate.bps(),
        speedup: Some(ratio_message(input.fabric.speedup)),
        arbiter: arbiter.into(),
        iterations: u32::from(iterations),
        lossy: input.fabric.full_output == FullOutput::Lossy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each by its message and back; and no number of the proto file is left over.
    #[test]
    fn arbiters_have_the_names_of_the_proto_file() {
        for name in ArbiterConfig::NAMES {
            let arbiter = ArbiterConfig::named(name, 3).expect("its own name");
            let input = InputConfig::new(InputQueueing::Voq, Rate::from_mbps(10), arbiter);
            let mut problems = Vec::new();
            assert_eq!(input_of(&input_message(Some(&input)), &mut problems), Some(input));
            assert!(problems.is_empty(), "{problems:?}");
        }
        let numbers = (1..100).filter(|number| v1::Arbiter::try_from(*number).is_ok());
        assert_eq!(numbers.count(), ArbiterConfig::NAMES.len());
    }
}
