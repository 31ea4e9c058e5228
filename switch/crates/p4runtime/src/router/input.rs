//! The shared buffer, the input stage and its crossbar.

use messages::vitrine::v1;
use traffic::{
    ArbiterConfig, BufferConfig, FabricConfig, FullOutput, InputConfig, InputQueueing, Limit,
};
use units::{Bytes, Rate, Ratio};

use super::Problem;
use super::aqm::{ratio_message, ratio_of};
use super::config::{limit_message, limit_of, problem};

/// The shared buffer of a message; a size of 0 is none.
pub(super) fn buffer_of(buffer: &v1::Buffer) -> Option<BufferConfig> {
    (buffer.size_bytes > 0).then_some(BufferConfig { size: Bytes(buffer.size_bytes) })
}

/// The message for the shared buffer.
pub fn buffer_message(buffer: Option<&BufferConfig>) -> v1::Buffer {
    v1::Buffer { size_bytes: buffer.map_or(0, |buffer| buffer.size.0) }
}

/// The input stage of a message. What is wrong is appended to `problems`.
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
    match input.arbiter() {
        v1::Arbiter::Islip => Some(ArbiterConfig::Islip { iterations }),
        v1::Arbiter::Lqf => Some(ArbiterConfig::Lqf),
        v1::Arbiter::Ocf => Some(ArbiterConfig::Ocf),
        v1::Arbiter::Pim => Some(ArbiterConfig::Pim { iterations }),
        v1::Arbiter::Random => Some(ArbiterConfig::Random),
        v1::Arbiter::RoundRobin => Some(ArbiterConfig::RoundRobin { iterations }),
        v1::Arbiter::Wavefront => Some(ArbiterConfig::Wavefront),
        v1::Arbiter::Unspecified => {
            let found = format!("arbiter {} is not known", input.arbiter);
            problems.push(problem("fabric, arbiter", found, "name one, such as ISLIP"));
            None
        }
    }
}

/// The message for the input stage.
pub fn input_message(input: Option<&InputConfig>) -> v1::InputStage {
    let Some(input) = input else { return v1::InputStage::default() };
    let queueing = match input.queueing {
        InputQueueing::Fifo => v1::InputQueueing::Fifo,
        InputQueueing::Voq => v1::InputQueueing::Voq,
    };
    let (arbiter, iterations) = match input.fabric.arbiter {
        ArbiterConfig::Islip { iterations } => (v1::Arbiter::Islip, iterations),
        ArbiterConfig::Lqf => (v1::Arbiter::Lqf, 0),
        ArbiterConfig::Ocf => (v1::Arbiter::Ocf, 0),
        ArbiterConfig::Pim { iterations } => (v1::Arbiter::Pim, iterations),
        ArbiterConfig::Random => (v1::Arbiter::Random, 0),
        ArbiterConfig::RoundRobin { iterations } => (v1::Arbiter::RoundRobin, iterations),
        ArbiterConfig::Wavefront => (v1::Arbiter::Wavefront, 0),
    };
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
