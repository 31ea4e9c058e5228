//! Where the log goes and how its lines look.
//!
//! Two styles: structured lines on standard error for our own flags; bmv2's, which people search
//! and pipe, for those of simple_switch_grpc:
//!
//! ```text
//! [13:01:22.507] [bmv2] [D] [thread 4711] received 98 bytes on port 1
//! ```

mod bmv2;
mod rotating;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Mutex;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use bmv2::Bmv2Lines;
use rotating::RotatingFile;

/// The crates that may speak at every level.
const OUR_CRATES: [&str; 3] = ["control", "ports", "vitrine_switch"];

/// What is logged, and where to.
#[derive(Clone, Debug)]
pub struct Logging {
    /// The least important that is still written.
    pub level: LevelFilter,
    /// Whether it tells the steps of every packet, as far as the level allows.
    pub follows_packets: bool,
    /// Where it goes.
    pub sink: Sink,
    /// How it looks.
    pub style: Style,
}

/// Where lines go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sink {
    /// A file and some older ones.
    File {
        /// Its name, without the extension.
        path: PathBuf,
        /// A new one is begun at this size.
        size_bytes_max: u64,
        /// How many older ones are kept.
        count_max: u32,
    },
    /// Standard error.
    Stderr,
    /// Standard output.
    Stdout,
}

/// How lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As simple_switch's.
    Bmv2,
    /// Time, level, text, fields.
    Structured,
}

/// Starts to log; once for the process. An error says which file cannot be written.
pub fn start(logging: &Logging) -> Result<(), String> {
    let writer = match &logging.sink {
        Sink::Stderr => BoxMakeWriter::new(io::stderr),
        Sink::Stdout => BoxMakeWriter::new(io::stdout),
        Sink::File { path, size_bytes_max, count_max } => {
            let file = RotatingFile::open(path.clone(), *size_bytes_max, *count_max)
                .map_err(|error| format!("--log-file {}: {error}", path.display()))?;
            BoxMakeWriter::new(Mutex::new(file))
        }
    };
    // What libraries say at these levels is about HTTP frames, which nobody asked for.
    let ours = OUR_CRATES.map(|name| (name, logging.level));
    let filter =
        Targets::new().with_default(logging.level.min(LevelFilter::WARN)).with_targets(ours);
    let lines = tracing_subscriber::fmt::layer().with_writer(writer);
    match logging.style {
        Style::Bmv2 => {
            let lines = lines.with_ansi(false).event_format(Bmv2Lines).with_filter(filter);
            tracing_subscriber::registry().with(lines).init();
        }
        Style::Structured => {
            let colours = logging.sink == Sink::Stderr && io::stderr().is_terminal();
            let lines = lines.with_target(false).with_ansi(colours).with_filter(filter);
            tracing_subscriber::registry().with(lines).init();
        }
    }
    Ok(())
}
