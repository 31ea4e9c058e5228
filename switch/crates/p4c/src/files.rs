//! Source texts from the file system.

use compiler::{SourceError, SourceProvider};
use std::io::ErrorKind;

/// Reads files by their path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Files;

impl SourceProvider for Files {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => Err(match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => SourceError::NotFound,
                _ => SourceError::Unreadable(error.to_string()),
            }),
        }
    }
}
