//! Timing scripts: when packets enter a port, and when exactly they must leave it.
//!
//! ```text
//! # 1500 bytes at 100 Mb/s take 120 us.
//! classes 2
//! rate 100 Mb/s
//! strict
//! 0 us: send a 1500 to 0
//! 50 us: send b 1500 to 1
//! 60 us: rate 1 Gb/s
//! expect 0 us: a departs
//! expect 120 us: b departs
//! ```
//!
//! A line is a comment, a setting (at the start or, after an instant, later), a packet or an
//! expectation. A script is correct when the departures and drops are exactly those expected, in
//! that order, to the picosecond. `tests/timing` has the scripts and says which settings exist.

mod parse;
mod settings;

use std::fmt;

use traffic::{Arrival, Config, ConfigError, Dropped, Manager, Output, PortConfig, Verdict};
use units::{Bytes, ClassId, HasLength, PortId, Time};

use settings::Setting;

/// A script that was read.
#[derive(Clone, Debug)]
pub struct Script {
    /// The settings at time zero.
    start: Vec<(usize, Setting)>,
    /// The actions, in order of time.
    steps: Vec<Step>,
    /// The expected output.
    expected: Vec<Event>,
}

#[derive(Clone, Debug)]
struct Step {
    line: usize,
    at: Time,
    action: Action,
}

#[derive(Clone, Debug)]
enum Action {
    Send { name: String, length: u64, class: u8 },
    Set(Setting),
}

/// Something that comes out of the port.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Event {
    at: Time,
    name: String,
    fate: String,
}

/// Why a script is wrong, with its line where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// Counted from 1; zero if the error is in no single line.
    pub line: usize,
    /// The mistake and its correction.
    pub message: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}", self.message),
            line => write!(f, "line {line}: {}", self.message),
        }
    }
}

impl std::error::Error for ScriptError {}

#[derive(Clone, Debug)]
struct Packet {
    name: String,
    length: u64,
}

impl HasLength for Packet {
    fn length(&self) -> Bytes {
        Bytes(self.length)
    }
}

const PORT: PortId = PortId(1);

impl Script {
    /// Reads a script.
    pub fn read(text: &str) -> Result<Script, ScriptError> {
        parse::script(text)
    }

    /// Runs it and compares the output with the expected one.
    pub fn run(&self) -> Result<(), ScriptError> {
        let seen = self.events()?;
        if seen == self.expected {
            return Ok(());
        }
        let list = |events: &[Event]| {
            events.iter().map(|event| format!("\n  {event}")).collect::<String>()
        };
        let message = format!("expected:{}\nbut saw:{}", list(&self.expected), list(&seen));
        Err(ScriptError { line: 0, message })
    }

    /// Everything that comes out of the port, in order.
    fn events(&self) -> Result<Vec<Event>, ScriptError> {
        let mut port = PortConfig::strict(None, 1);
        for (line, setting) in &self.start {
            setting.apply(&mut port).map_err(|message| ScriptError { line: *line, message })?;
        }
        let mut manager = Manager::new(1);
        configure(&mut manager, Time::ZERO, &port).map_err(|error| refused(0, &error))?;
        let mut events = Vec::new();
        for step in &self.steps {
            drain(&mut manager, step.at, &mut events);
            match &step.action {
                Action::Send { name, length, class } => {
                    let packet = Packet { name: name.clone(), length: *length };
                    let arrival = Arrival::new(packet, PortId(0), PORT, ClassId(*class));
                    if let Verdict::Dropped(dropped) = manager.handle_packet(step.at, arrival) {
                        events.push(Event::drop(dropped));
                    }
                }
                Action::Set(setting) => {
                    let line = step.line;
                    setting.apply(&mut port).map_err(|message| ScriptError { line, message })?;
                    configure(&mut manager, step.at, &port)
                        .map_err(|error| refused(line, &error))?;
                }
            }
        }
        drain(&mut manager, Time::MAX, &mut events);
        Ok(events)
    }
}

fn refused(line: usize, error: &ConfigError) -> ScriptError {
    ScriptError { line, message: error.to_string() }
}

fn configure(
    manager: &mut Manager<Packet>,
    now: Time,
    port: &PortConfig,
) -> Result<(), ConfigError> {
    let ports = [(PORT, port.clone())].into();
    manager.configure(now, Config { ports, ..Config::default() })
}

/// Polls instant by instant, so that packets of one instant are all there before any leaves, as
/// the driving contract has it.
fn drain(manager: &mut Manager<Packet>, until: Time, events: &mut Vec<Event>) {
    while let Some(due) = manager.next_due().filter(|due| *due < until) {
        while let Some(output) = manager.poll_output(due) {
            events.push(Event::from_output(output));
        }
    }
}

impl Event {
    fn from_output(output: Output<Packet>) -> Event {
        match output {
            Output::Depart(departure) => {
                Event { at: departure.at, name: departure.packet.name, fate: "departs".to_owned() }
            }
            Output::Drop(dropped) => Event::drop(dropped),
        }
    }

    fn drop(dropped: Dropped<Packet>) -> Event {
        let fate = format!("dropped {}", dropped.reason.name());
        Event { at: dropped.at, name: dropped.packet.name, fate }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Picoseconds beside the readable form: a difference may be in the last digit.
        write!(f, "{} ({} ps): {} {}", self.at, self.at.ps(), self.name, self.fate)
    }
}
