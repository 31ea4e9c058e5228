//! The message about an arbitration of the crossbar.

use messages::vitrine::v1;
use traffic::{Arbitration, Ask, Match, Pointers, Round};

pub fn message(arbitration: &Arbitration) -> v1::ArbitrationEvent {
    v1::ArbitrationEvent {
        asks: arbitration.asks.iter().map(ask_message).collect(),
        rounds: arbitration.rounds.iter().map(round_message).collect(),
        pointers: arbitration.pointers.iter().map(pointers_message).collect(),
    }
}

fn ask_message(ask: &Ask) -> v1::Ask {
    v1::Ask { input: ask.input.0.into(), output: ask.output.0.into(), weight: ask.weight }
}

fn round_message(round: &Round) -> v1::ArbitrationRound {
    v1::ArbitrationRound {
        grants: round.grants.iter().map(match_message).collect(),
        accepts: round.accepts.iter().map(match_message).collect(),
    }
}

fn match_message(pair: &Match) -> v1::Match {
    v1::Match { input: pair.input.0.into(), output: pair.output.0.into() }
}

fn pointers_message(pointers: &Pointers) -> v1::ArbiterPointers {
    v1::ArbiterPointers {
        port: pointers.port.0.into(),
        grant: pointers.grant.0.into(),
        accept: pointers.accept.0.into(),
    }
}
