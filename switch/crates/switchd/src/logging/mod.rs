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

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use bmv2::Bmv2Lines;
use rotating::RotatingFile;
pub use rotating::newest;

use crate::spool::{After, END_TIMEOUT, News, Spool};

/// The crates that may speak at every level.
const OUR_CRATES: [&str; 2] = ["service", "switchd"];

/// The selection of log lines, and their target.
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

/// The bytes that may wait while the reader is slow: some 40,000 lines.
const SPOOL_SIZE_BYTES: usize = 4 << 20;

/// The log, which ends when it is dropped: what still waits is written, as long as that goes on.
pub struct Log(Spool);

impl Drop for Log {
    fn drop(&mut self) {
        self.0.close();
        // There is no way to report it without a reader of the log.
        let _lost = self.0.wait_for_end(END_TIMEOUT);
    }
}

/// Starts to log; once for the process. An error says which file cannot be written.
pub fn start(logging: &Logging) -> Result<Log, String> {
    let spool = match &logging.sink {
        Sink::Stderr => spool_to(io::stderr()).map_err(|error| format!("the log: {error}")),
        Sink::Stdout => spool_to(io::stdout()).map_err(|error| format!("the log: {error}")),
        Sink::File { path, size_bytes_max, count_max } => {
            RotatingFile::open(path.clone(), *size_bytes_max, *count_max)
                .and_then(spool_to)
                .map_err(|error| format!("--log-file {}: {error}", path.display()))
        }
    }?;
    let log = Log(spool.clone());
    let writer = BoxMakeWriter::new(move || spool.clone());
    // Libraries' messages at these levels are about HTTP frames, which are not wanted.
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
    Ok(log)
}

/// The way of lines to their reader; the writer does not wait for it. A full disk is reported once
/// to standard error, and to the log when there is room again.
fn spool_to(out: impl Write + Send + 'static) -> io::Result<Spool> {
    let mut has_failed = false;
    Spool::start("log", SPOOL_SIZE_BYTES, out, move |news| match news {
        News::Lost(lines) => {
            has_failed = false;
            After::GoOn(format!("{lines} lines of the log are missing here\n").into())
        }
        News::Failed(error) => {
            if !std::mem::replace(&mut has_failed, true) {
                // There is no way to report a failure of this, too.
                let _told = writeln!(io::stderr(), "the log cannot be written: {error}");
            }
            After::GoOn(Vec::new())
        }
    })
}
