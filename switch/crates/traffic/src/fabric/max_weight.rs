//! Matchings of maximum weight: longest queue first and oldest cell first.
//!
//! With queue lengths as weights this carries every admissible independent traffic (McKeown,
//! Anantharam and Walrand 1996), and is too slow for hardware: the Hungarian method takes time
//! proportional to N^3. Here it is the yardstick that the fast arbiters are measured with.
//!
//! The method (Kuhn 1955, in the shortest-augmenting-path form of Jonker and Volgenant 1987):
//! every row (input) and column (output) has a price; a pair's reduced cost is cost - prices and
//! never negative. Rows are added one by one; for each a shortest path of reduced costs to a free
//! column is found, prices are raised along it, and the pairs on it change partners.

use super::{Arbitrate, Beginning, Matching, Requests, Weight};

/// Longest queue first.
pub(super) struct LongestQueue(MaxWeight);

/// Oldest cell first.
pub(super) struct OldestCell(MaxWeight);

impl Arbitrate for LongestQueue {
    const WEIGHT: Option<Weight> = Some(Weight::Length);

    fn new(_beginning: &Beginning) -> LongestQueue {
        LongestQueue(MaxWeight::default())
    }

    fn arbitrate(&mut self, requests: &Requests, matching: &mut Matching) {
        self.0.arbitrate(requests, matching);
    }
}

impl Arbitrate for OldestCell {
    const WEIGHT: Option<Weight> = Some(Weight::Age);

    fn new(_beginning: &Beginning) -> OldestCell {
        OldestCell(MaxWeight::default())
    }

    fn arbitrate(&mut self, requests: &Requests, matching: &mut Matching) {
        self.0.arbitrate(requests, matching);
    }
}

/// Scratch space, kept from one arbitration to the next. Index 0 of rows and columns is a sentinel.
#[derive(Default)]
struct MaxWeight {
    /// The lanes that take part, as row and column numbers minus one.
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    /// `-weight` of each pair, rows by columns; 0 without a request.
    costs: Vec<i64>,
    row_prices: Vec<i64>,
    column_prices: Vec<i64>,
    /// The row matched with each column, 0 for none.
    row_of: Vec<usize>,
    /// The column before each column on the shortest path.
    before: Vec<usize>,
    /// The length of the shortest path found to each column until now.
    distances: Vec<i64>,
    visited: Vec<bool>,
}

impl MaxWeight {
    pub fn arbitrate(&mut self, requests: &Requests, matching: &mut Matching) {
        self.collect(requests);
        matching.begin_round();
        let (rows, columns) = (self.inputs.len(), self.outputs.len());
        for row in 1..=rows {
            self.add_row(row, columns);
        }
        for column in 1..=columns {
            let row = self.row_of[column];
            // Rows without a worthwhile match sit on pairs without a request.
            if row > 0 && row <= rows {
                let (input, output) = (self.inputs[row - 1], self.outputs[column - 1]);
                if requests.inputs_of[output].contains(input) {
                    matching.accept(input, output);
                }
            }
        }
    }

    /// Lists the participants and the cost of each pair. Columns are padded to at least as many as
    /// rows with outputs that no input requests, so that every row finds a place.
    fn collect(&mut self, requests: &Requests) {
        self.inputs.clear();
        self.outputs.clear();
        let mut inputs = super::LaneSet::default();
        for (output, asking) in requests.inputs_of.iter().enumerate() {
            if !asking.is_empty() {
                self.outputs.push(output);
                asking.iter().for_each(|input| inputs.insert(input));
            }
        }
        self.inputs.extend(inputs.iter());
        let spare = self.inputs.len().saturating_sub(self.outputs.len());
        let idle = (0..requests.inputs_of.len()).filter(|o| requests.inputs_of[*o].is_empty());
        self.outputs.extend(idle.take(spare));
        self.costs.clear();
        for &input in &self.inputs {
            for &output in &self.outputs {
                let asks = requests.inputs_of[output].contains(input);
                let weight = if asks { (requests.weight)(input, output).max(1) } else { 0 };
                self.costs.push(-(weight.min(i64::MAX as u64 / 1024) as i64));
            }
        }
        let columns = self.outputs.len() + 1;
        self.row_prices.clear();
        self.row_prices.resize(self.inputs.len() + 1, 0);
        self.column_prices.clear();
        self.column_prices.resize(columns, 0);
        self.row_of.clear();
        self.row_of.resize(columns, 0);
        self.before.resize(columns, 0);
        self.distances.resize(columns, 0);
        self.visited.resize(columns, false);
    }

    /// Finds a place for `row`, moving others where that costs less.
    fn add_row(&mut self, row: usize, columns: usize) {
        self.distances.fill(i64::MAX);
        self.visited.fill(false);
        self.row_of[0] = row;
        let mut column = 0;
        while self.row_of[column] != 0 {
            column = self.extend_path(column, columns);
        }
        while column != 0 {
            let previous = self.before[column];
            self.row_of[column] = self.row_of[previous];
            column = previous;
        }
    }

    /// One step of the shortest path: visits `column`, raises prices, returns the nearest column
    /// not visited yet.
    fn extend_path(&mut self, column: usize, columns: usize) -> usize {
        self.visited[column] = true;
        let row = self.row_of[column];
        let costs = &self.costs[(row - 1) * columns..row * columns];
        let (mut nearest, mut shortest) = (0, i64::MAX);
        for next in 1..=columns {
            if self.visited[next] {
                continue;
            }
            let reduced = costs[next - 1] - self.row_prices[row] - self.column_prices[next];
            if reduced < self.distances[next] {
                self.distances[next] = reduced;
                self.before[next] = column;
            }
            if self.distances[next] < shortest {
                (nearest, shortest) = (next, self.distances[next]);
            }
        }
        for other in 0..=columns {
            if self.visited[other] {
                self.row_prices[self.row_of[other]] += shortest;
                self.column_prices[other] -= shortest;
            } else if self.distances[other] != i64::MAX {
                self.distances[other] -= shortest;
            }
        }
        nearest
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::LaneSet;
    use super::*;

    /// The best total weight, by trying everything.
    fn best(weights: &[Vec<u64>], input: usize, used: &mut Vec<bool>) -> u64 {
        if input == weights.len() {
            return 0;
        }
        let mut most = best(weights, input + 1, used);
        for output in 0..used.len() {
            if !used[output] && weights[input][output] > 0 {
                used[output] = true;
                most = most.max(weights[input][output] + best(weights, input + 1, used));
                used[output] = false;
            }
        }
        most
    }

    proptest! {
        #[test]
        fn the_matching_has_the_weight_that_trying_everything_finds(
            weights in (1..6usize).prop_flat_map(|n| {
                prop::collection::vec(prop::collection::vec(0..20u64, n), n)
            })
        ) {
            let lane_count = weights.len();
            let mut inputs_of = vec![LaneSet::default(); lane_count];
            for (input, row) in weights.iter().enumerate() {
                for (output, weight) in row.iter().enumerate() {
                    if *weight > 0 {
                        inputs_of[output].insert(input);
                    }
                }
            }
            let weight = |input: usize, output: usize| weights[input][output];
            let requests = Requests { inputs_of: &inputs_of, weight: &weight };
            let mut matching = Matching::default();
            MaxWeight::default().arbitrate(&requests, &mut matching);
            let found: u64 = matching.pairs.iter().map(|&(input, output)| weights[input][output]).sum();
            prop_assert_eq!(found, best(&weights, 0, &mut vec![false; lane_count]));
        }
    }
}
