//! Matches from outside.

use units::Time;

use super::{ArbiterOutside, Guest, remembered};
use crate::fabric::{LaneSet, Matching};

/// The requests of an arbitration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchQuestion {
    /// When.
    pub at: Time,
    /// For each output the free inputs that request it, as bits; none for a busy output.
    pub inputs_of: Vec<u128>,
}

/// The decision of the router's own arbiter.
#[derive(Default)]
pub struct OwnMatch {
    /// Its pairs `(input, output)`.
    pub pairs: Vec<(usize, usize)>,
    /// Its pointers after that, if it has some: those of the outputs, and those of the inputs.
    pub pointers: Option<(Vec<usize>, Vec<usize>)>,
}

impl Guest<dyn ArbiterOutside> {
    /// Adds the decider's pairs to the matching, which is empty. `own` asks the router's arbiter.
    pub fn arbitrate(
        &mut self,
        at: Time,
        requests: &[LaneSet],
        own: impl FnOnce() -> OwnMatch,
        matching: &mut Matching,
    ) {
        let inputs_of = requests.iter().map(|inputs| inputs.bits()).collect();
        let question = MatchQuestion { at, inputs_of };
        let own = self.compared.then(own);
        let decide = |decider: &mut (dyn ArbiterOutside + 'static)| {
            let pairs = decider.decide(&question)?;
            check(&pairs, requests)?;
            match &own {
                Some(own) => match compare(&pairs, own) {
                    Ok(()) => Ok(pairs),
                    Err(what) => Err(what + &remembered(&decider.state())),
                },
                None => Ok(pairs),
            }
        };
        let pairs = self.ask(at, decide, || words(requests)).unwrap_or_default();
        matching.begin_round();
        for (input, output) in pairs {
            matching.accept(input, output);
        }
    }
}

/// A match is allowed if each pair was requested and no side is used twice.
fn check(pairs: &[(usize, usize)], requests: &[LaneSet]) -> Result<(), String> {
    let (mut inputs, mut outputs) = (LaneSet::default(), LaneSet::default());
    for &(input, output) in pairs {
        let count = requests.len();
        if input >= count || output >= count {
            return Err(format!(
                "the pair of input {input} and output {output} is none of this router, whose ports \
                 are 0 to {}",
                count - 1
            ));
        }
        if !requests[output].contains(input) {
            return Err(format!("input {input} has no packet for output {output}, or one is busy"));
        }
        for (side, lane, used) in [("input", input, &mut inputs), ("output", output, &mut outputs)]
        {
            if used.contains(lane) {
                return Err(format!("{side} {lane} is used twice in one match"));
            }
            used.insert(lane);
        }
    }
    Ok(())
}

fn compare(pairs: &[(usize, usize)], own: &OwnMatch) -> Result<(), String> {
    let sorted = |pairs: &[(usize, usize)]| {
        let mut pairs = pairs.to_vec();
        pairs.sort_unstable();
        pairs
    };
    let (theirs, ours) = (sorted(pairs), sorted(&own.pairs));
    if theirs == ours {
        return Ok(());
    }
    let pointers = own.pointers.as_ref().map_or(String::new(), |(grant, accept)| {
        format!(
            " and then has the grant pointers {} and the accept pointers {}",
            numbers(grant),
            numbers(accept)
        )
    });
    Err(format!(
        "it matched {}, where the built-in one matches {}{pointers}",
        list(&theirs),
        list(&ours)
    ))
}

fn numbers(pointers: &[usize]) -> String {
    let words: Vec<String> = pointers.iter().map(usize::to_string).collect();
    words.join(" ")
}

fn list(pairs: &[(usize, usize)]) -> String {
    let pairs: Vec<String> =
        pairs.iter().map(|(input, output)| format!("{input}->{output}")).collect();
    if pairs.is_empty() { "nobody".to_owned() } else { pairs.join(" ") }
}

fn words(requests: &[LaneSet]) -> String {
    let asked = requests.iter().enumerate().filter(|(_, inputs)| !inputs.is_empty());
    let outputs: Vec<String> = asked
        .map(|(output, inputs)| {
            let inputs: Vec<String> = inputs.iter().map(|input| input.to_string()).collect();
            format!("output {output} by inputs {}", inputs.join(" "))
        })
        .collect();
    outputs.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Always(Vec<(usize, usize)>);

    impl ArbiterOutside for Always {
        fn decide(&mut self, _question: &MatchQuestion) -> Result<Vec<(usize, usize)>, String> {
            Ok(self.0.clone())
        }

        fn state(&mut self) -> String {
            "grant = [2, 0, 0]".to_owned()
        }
    }

    /// The result of a guest that always answers `pairs` when inputs 0 and 1 request output 0, and
    /// 1 requests 2.
    fn fault(pairs: &[(usize, usize)], own: Option<&[(usize, usize)]>) -> Option<String> {
        let mut requests = [LaneSet::default(); 3];
        requests[0].insert(0);
        requests[0].insert(1);
        requests[2].insert(1);
        let mut guest: Guest<dyn ArbiterOutside> =
            Guest::new(Box::new(Always(pairs.to_vec())), own.is_some());
        let mut matching = Matching::default();
        let own = || OwnMatch {
            pairs: own.unwrap_or_default().to_vec(),
            pointers: Some((vec![1, 0, 2], vec![1, 0, 0])),
        };
        guest.arbitrate(Time::ZERO, &requests, own, &mut matching);
        assert_eq!(matching.pairs, if guest.fault.is_some() { &[] } else { pairs });
        guest.fault.map(|fault| fault.to_string())
    }

    #[test]
    fn a_match_uses_each_side_once_and_only_what_was_asked_for() {
        assert_eq!(fault(&[(0, 0), (1, 2)], None), None);
        assert_eq!(fault(&[], None), None);
        for (pairs, what) in [
            (&[(0, 0), (1, 0)][..], "output 0 is used twice"),
            (&[(1, 0), (1, 2)], "input 1 is used twice"),
            (&[(0, 2)], "input 0 has no packet for output 2"),
            (&[(0, 3)], "is none of this router"),
        ] {
            let fault = fault(pairs, None).expect("not allowed");
            assert!(fault.contains(what), "{fault}");
            assert!(fault.ends_with("asked was: output 0 by inputs 0 1, output 2 by inputs 1"));
        }
    }

    #[test]
    fn a_compared_match_is_the_same_in_any_order() {
        assert_eq!(fault(&[(1, 2), (0, 0)], Some(&[(0, 0), (1, 2)])), None);
        let fault = fault(&[(1, 0)], Some(&[(0, 0), (1, 2)])).expect("it differs");
        assert!(fault.contains(
            "it matched 1->0, where the built-in one matches 0->0 1->2 and then has the grant pointers 1 0 2 \
             and the accept pointers 1 0 0; now yours has grant = [2, 0, 0]"
        ));
    }
}
