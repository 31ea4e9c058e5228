//! Loading a program for a subcommand: BMv2 JSON as it is.

use std::path::{Path, PathBuf};

use pipeline::{Config, Pipeline};

/// Loads a program from a file.
pub fn load(path: &Path, _includes: &[PathBuf]) -> Result<Pipeline, String> {
    let json =
        std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Pipeline::load(&json, &Config::default())
        .map_err(|error| format!("{}: {error}", path.display()))
}
