//! Samples of several instants as columns of numbers.
//!
//! A reader of a thousand samples a second that looks at each of them pays for every message and
//! every field. A column is one list for all instants, and one number where nothing happens.

use device::Device;
use messages::vitrine::v1;
use traffic::{Counters, Depth, LineReport};
use units::{ClassId, DropReason, PortId, Time};

use super::reasons;

/// The samples until now. Empty, it takes the shape of the first sample.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    times: Vec<Time>,
    missed: u64,
    ports: Vec<PortColumns>,
    inputs: Vec<InputColumns>,
}

#[derive(Clone, Debug)]
struct PortColumns {
    port: PortId,
    counters: CounterColumns,
    queues: Vec<CounterColumns>,
    receive_line: LineColumns,
    transmit_line: LineColumns,
}

#[derive(Clone, Debug, Default)]
struct LineColumns {
    backlog_packets: Column,
    under_way_packets: Column,
}

#[derive(Clone, Debug)]
struct InputColumns {
    port: PortId,
    counters: CounterColumns,
    /// By output and class.
    voqs: Vec<(PortId, ClassId, Column)>,
}

#[derive(Clone, Debug, Default)]
struct CounterColumns {
    held_packets: Column,
    held_bytes: Column,
    departed_packets: Column,
    departed_bytes: Column,
    marked_packets: Column,
    /// In the order in which the reasons occurred.
    dropped: Vec<(DropReason, Column)>,
}

/// A number over time; 0 until the first value.
#[derive(Clone, Debug, Default)]
struct Column {
    /// The number of all instants until now, while there is but one.
    same: u64,
    len: usize,
    /// Empty while the number is the same.
    numbers: Vec<u64>,
}

impl Columns {
    /// How many samples there are.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// How many samples were left out.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// So many samples more were left out.
    pub fn miss(&mut self, count: u64) {
        self.missed += count;
    }

    /// About how much memory it takes.
    pub fn size_bytes(&self) -> usize {
        let ports = self.ports.iter();
        let lines = ports.clone().flat_map(|it| [&it.receive_line, &it.transmit_line]);
        let counters = ports.flat_map(|it| it.queues.iter().chain([&it.counters]));
        let counters = counters.chain(self.inputs.iter().map(|it| &it.counters));
        let voqs = self.inputs.iter().flat_map(|it| &it.voqs).map(|(.., voq)| voq.size_bytes());
        size_of_val(self.times.as_slice())
            + counters.map(CounterColumns::size_bytes).sum::<usize>()
            + lines.map(LineColumns::size_bytes).sum::<usize>()
            + voqs.sum::<usize>()
    }

    /// Whether a sample of these ports, or of all if none is named, has the columns of those before.
    pub fn fits(&self, device: &Device, wanted: &[PortId]) -> bool {
        let ports = self.ports.iter().map(|it| (it.port, it.queues.len()));
        let inputs = self.inputs.iter().map(|it| it.port);
        self.is_empty()
            || (ports.eq(ports_of(device, wanted)) && inputs.eq(inputs_of(device, wanted)))
    }

    /// Adds the numbers of this instant, for which [`Self::fits`] is to hold.
    pub fn take(&mut self, device: &Device, now: Time, wanted: &[PortId]) {
        if self.is_empty() {
            let port = |(port, queues)| PortColumns {
                port,
                counters: CounterColumns::default(),
                queues: vec![CounterColumns::default(); queues],
                receive_line: LineColumns::default(),
                transmit_line: LineColumns::default(),
            };
            let input =
                |port| InputColumns { port, counters: CounterColumns::default(), voqs: Vec::new() };
            self.ports = ports_of(device, wanted).map(port).collect();
            self.inputs = inputs_of(device, wanted).map(input).collect();
        }
        let (row, manager) = (self.times.len(), device.traffic());
        self.times.push(now);
        for columns in &mut self.ports {
            let Some(report) = manager.port(columns.port) else { continue };
            columns.counters.put(row, report.depth, &report.counters);
            let (receive, transmit) = device.lines(columns.port);
            columns.receive_line.put(row, &receive);
            columns.transmit_line.put(row, &transmit);
            for (queue, class) in columns.queues.iter_mut().zip((0..).map(ClassId)) {
                if let Some(report) = manager.queue(columns.port, class) {
                    queue.put(row, report.depth, report.counters);
                }
            }
        }
        for report in manager.inputs() {
            if let Ok(at) = self.inputs.binary_search_by_key(&report.port, |it| it.port) {
                self.inputs[at].counters.put(row, report.depth, report.counters);
            }
        }
        for report in manager.voqs() {
            if let Ok(at) = self.inputs.binary_search_by_key(&report.input, |it| it.port) {
                let key = (report.output, report.class);
                let voqs = &mut self.inputs[at].voqs;
                let found = voqs.binary_search_by_key(&key, |(output, class, _)| (*output, *class));
                let at = found.unwrap_or_else(|at| {
                    voqs.insert(at, (key.0, key.1, Column::default()));
                    at
                });
                voqs[at].2.put(row, report.depth.packets);
            }
        }
    }

    /// As a message.
    pub fn message(self) -> v1::Columns {
        let rows = self.times.len();
        let ports = self.ports.into_iter().map(|it| v1::PortColumns {
            port: it.port.0.into(),
            counters: Some(it.counters.message(rows)),
            queues: it.queues.into_iter().map(|queue| queue.message(rows)).collect(),
            receive_line: Some(it.receive_line.message(rows)),
            transmit_line: Some(it.transmit_line.message(rows)),
        });
        let inputs = self.inputs.into_iter().map(|it| {
            let voqs = it.voqs.into_iter().map(|(output, class, held)| v1::VoqColumn {
                output: output.0.into(),
                class: class.0.into(),
                held_packets: held.message(rows),
            });
            v1::InputColumns {
                port: it.port.0.into(),
                counters: Some(it.counters.message(rows)),
                voqs: voqs.collect(),
            }
        });
        v1::Columns {
            time_ps: self.times.into_iter().map(Time::ps).collect(),
            missed: self.missed,
            ports: ports.collect(),
            inputs: inputs.collect(),
        }
    }
}

/// The output ports, with how many queues each has.
fn ports_of<'a>(
    device: &'a Device,
    wanted: &'a [PortId],
) -> impl Iterator<Item = (PortId, usize)> + 'a {
    let ports = device.traffic().config().ports.iter();
    let ports = ports.filter(|(port, _)| wanted.is_empty() || wanted.contains(port));
    ports.map(|(port, config)| (*port, config.queues.len()))
}

/// The inputs of the fabric.
fn inputs_of<'a>(device: &'a Device, wanted: &'a [PortId]) -> impl Iterator<Item = PortId> + 'a {
    let inputs = device.traffic().inputs().map(|report| report.port);
    inputs.filter(|port| wanted.is_empty() || wanted.contains(port))
}

impl CounterColumns {
    fn put(&mut self, row: usize, held: Depth, counters: &Counters) {
        self.held_packets.put(row, held.packets);
        self.held_bytes.put(row, held.bytes.count());
        self.departed_packets.put(row, counters.departed.packets);
        self.departed_bytes.put(row, counters.departed.bytes.count());
        self.marked_packets.put(row, counters.marked.packets);
        for (reason, tally) in counters.drops() {
            let found = self.dropped.iter().position(|(known, _)| *known == reason);
            let at = found.unwrap_or_else(|| {
                self.dropped.push((reason, Column::default()));
                self.dropped.len() - 1
            });
            self.dropped[at].1.put(row, tally.packets);
        }
    }

    fn size_bytes(&self) -> usize {
        let dropped = self.dropped.iter().map(|(_, column)| column);
        let columns = [
            &self.held_packets,
            &self.held_bytes,
            &self.departed_packets,
            &self.departed_bytes,
            &self.marked_packets,
        ];
        size_of::<CounterColumns>()
            + columns.into_iter().chain(dropped).map(Column::size_bytes).sum::<usize>()
    }

    fn message(self, rows: usize) -> v1::CounterColumns {
        let dropped = self.dropped.into_iter().map(|(reason, packets)| v1::DropColumn {
            reason: reasons::message(reason).into(),
            packets: packets.message(rows),
        });
        v1::CounterColumns {
            held_packets: self.held_packets.message(rows),
            held_bytes: self.held_bytes.message(rows),
            departed_packets: self.departed_packets.message(rows),
            departed_bytes: self.departed_bytes.message(rows),
            marked_packets: self.marked_packets.message(rows),
            dropped: dropped.collect(),
        }
    }
}

impl LineColumns {
    fn put(&mut self, row: usize, line: &LineReport) {
        self.backlog_packets.put(row, line.backlog.packets);
        self.under_way_packets.put(row, line.under_way.packets);
    }

    fn size_bytes(&self) -> usize {
        self.backlog_packets.size_bytes() + self.under_way_packets.size_bytes()
    }

    fn message(self, rows: usize) -> v1::LineColumns {
        v1::LineColumns {
            backlog_packets: self.backlog_packets.message(rows),
            under_way_packets: self.under_way_packets.message(rows),
        }
    }
}

impl Column {
    /// The number of the instant at `row`; instants without a value since the last one were 0.
    fn put(&mut self, row: usize, number: u64) {
        while self.len < row {
            self.push(0);
        }
        self.push(number);
    }

    fn push(&mut self, number: u64) {
        if self.len == 0 {
            self.same = number;
        } else if !self.numbers.is_empty() {
            self.numbers.push(number);
        } else if number != self.same {
            self.numbers.resize(self.len, self.same);
            self.numbers.push(number);
        }
        self.len += 1;
    }

    fn size_bytes(&self) -> usize {
        size_of::<Column>() + size_of_val(self.numbers.as_slice())
    }

    fn message(mut self, rows: usize) -> Vec<u64> {
        while self.len < rows {
            self.push(0);
        }
        if self.numbers.is_empty() { vec![self.same] } else { self.numbers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(told: &[(usize, u64)], rows: usize) -> Vec<u64> {
        let mut column = Column::default();
        told.iter().for_each(|(row, number)| column.put(*row, *number));
        column.message(rows)
    }

    #[test]
    fn a_column_that_does_not_change_is_one_number() {
        assert_eq!(column(&[(0, 7), (1, 7), (2, 7)], 3), [7]);
        assert_eq!(column(&[(0, 7), (1, 7), (2, 8)], 3), [7, 7, 8]);
        assert_eq!(column(&[], 3), [0], "nobody told anything");
    }

    #[test]
    fn what_nobody_told_is_zero() {
        assert_eq!(column(&[(2, 5)], 4), [0, 0, 5, 0]);
        assert_eq!(column(&[(0, 5), (2, 5)], 3), [5, 0, 5]);
    }
}
