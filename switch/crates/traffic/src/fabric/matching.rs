//! The result of an arbitration: the matches and, for a watcher, the rounds that led to them.

/// One round of an arbiter, in lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Round {
    /// `(input, output)` for each output that chose an input; none where outputs do not choose.
    pub grants: Vec<(usize, usize)>,
    /// `(input, output)` of each new match.
    pub accepts: Vec<(usize, usize)>,
}

/// The pairs `(input, output)` that an arbiter matched; no lane twice on one side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matching {
    pub pairs: Vec<(usize, usize)>,
    /// The rounds that led there; none are kept without a watcher.
    pub rounds: Option<Vec<Round>>,
}

impl Matching {
    /// An empty one with the memory of this one.
    pub fn clear(&mut self, is_watched: bool) {
        self.pairs.clear();
        self.rounds = is_watched.then(Vec::new);
    }

    /// Begins another round.
    #[inline]
    pub fn begin_round(&mut self) {
        if let Some(rounds) = &mut self.rounds {
            rounds.push(Round::default());
        }
    }

    /// An output chooses an input, which may choose another output.
    #[inline]
    pub fn grant(&mut self, input: usize, output: usize) {
        if let Some(round) = self.rounds.as_mut().and_then(|rounds| rounds.last_mut()) {
            round.grants.push((input, output));
        }
    }

    /// An input and an output are matched.
    #[inline]
    pub fn accept(&mut self, input: usize, output: usize) {
        self.pairs.push((input, output));
        if let Some(round) = self.rounds.as_mut().and_then(|rounds| rounds.last_mut()) {
            round.accepts.push((input, output));
        }
    }
}
