//! Captures on their way into files.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::spool::{After, News, Spool};

/// The bytes that may wait for one capture: a tenth of a second at 1 Gb/s.
const CAPTURE_SPOOL_SIZE_BYTES: usize = 16 << 20;

/// The way of a capture into its file. One that cannot be written (the disk is full) ends with one
/// line in the log, and of one that is written too slowly the log says what is missing; packets go on.
pub fn capture_spool(path: &Path, file: File) -> io::Result<Spool> {
    let name = path.display().to_string();
    let hear = move |news: News<'_>| match news {
        News::Lost(records) => {
            tracing::warn!("{name} is written too slowly: {records} frames are missing from it");
            After::GoOn(Vec::new())
        }
        News::Failed(error) => {
            tracing::error!("the capture {name} ends here: {error}");
            After::End
        }
    };
    Spool::start("capture", CAPTURE_SPOOL_SIZE_BYTES, file, hear)
}
