//! Source texts from the file system, and results to it.

use compiler::{FILE_SIZE_BYTES_MAX, SourceError, SourceProvider};
use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::PathBuf;

/// The directory of the includes that are part of the program, searched last. No real directory is
/// called so.
pub const BUILT_IN: &str = "p4include";

/// Reads files by their path; those of `p4include` are always there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Files;

impl SourceProvider for Files {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        match read_plain(path) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => built_in(path),
                _ => Err(SourceError::Unreadable(error.to_string())),
            },
        }
    }
}

/// The program of a command line, which may be a pipe (`/dev/stdin`), and what it includes.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a>(pub &'a str);

impl SourceProvider for Program<'_> {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        match fs::metadata(path) {
            Ok(found) if path == self.0 && !found.is_dir() && !found.is_file() => read_open(path)
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .map_err(|error| SourceError::Unreadable(error.to_string())),
            _ => Files.read(path),
        }
    }
}

/// Reads a file that has an end: a program may include any path, and a device or a pipe would occupy the
/// compiler, or the editor that has the program open, for ever.
fn read_plain(path: &str) -> io::Result<Vec<u8>> {
    let found = fs::metadata(path)?;
    if found.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        return Err(io::Error::other("it is a device or a pipe, not a file"));
    }
    read_open(path)
}

/// Reads a byte more than the compiler takes, at the most: it refuses the rest.
fn read_open(path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path)?;
    file.take(FILE_SIZE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file with the contents of `p4include/core.p4` or `p4include/v1model.p4`: editors open only
/// files on the disk. Written when it is first needed.
pub fn built_in_on_disk(path: &str) -> Option<String> {
    let text = built_in(path).ok()?;
    let folder = cache()?.join("vitrine").join(BUILT_IN);
    fs::create_dir_all(&folder).ok()?;
    let file = folder.join(path.rsplit('/').next()?);
    let file = file.to_str()?.to_owned();
    if fs::read_to_string(&file).ok().as_deref() != Some(&text) {
        write_whole(&file, text.as_bytes()).ok()?;
    }
    Some(file)
}

/// The user's folder for files that can be made anew at any time.
fn cache() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = || Some(PathBuf::from(named("HOME")?).join(".cache"));
    named("XDG_CACHE_HOME").map(PathBuf::from).or_else(home)
}

fn built_in(path: &str) -> Result<String, SourceError> {
    let name = path.strip_prefix(BUILT_IN).and_then(|rest| rest.strip_prefix('/'));
    match name {
        Some("core.p4") => Ok(include_str!("../../../../p4src/include/core.p4").into()),
        Some("v1model.p4") => Ok(include_str!("../../../../p4src/include/v1model.p4").into()),
        Some("tna.p4") => Ok(include_str!("../../../../p4src/include/tna.p4").into()),
        Some("t2na.p4") => Ok(include_str!("../../../../p4src/include/t2na.p4").into()),
        // The parts in which p4c has them: each is all of it here.
        Some("tofino1_specs.p4" | "tofino1_base.p4" | "tofino1_arch.p4") => {
            built_in_named("tna.p4")
        }
        Some("tofino2_specs.p4" | "tofino2_base.p4" | "tofino2_arch.p4") => {
            built_in_named("t2na.p4")
        }
        Some("psa.p4") => Ok(include_str!("../../../../p4src/include/psa.p4").into()),
        Some("bmv2/psa.p4") => Ok(include_str!("../../../../p4src/include/bmv2/psa.p4").into()),
        Some("vitrine.p4") => Ok(include_str!("../../../../p4src/include/vitrine.p4").into()),
        _ => Err(SourceError::NotFound),
    }
}

fn built_in_named(name: &str) -> Result<String, SourceError> {
    built_in(&format!("{BUILT_IN}/{name}"))
}

/// Writes a whole file or leaves the old one as it was: under another name first, then renamed.
pub fn write_whole(path: &str, bytes: &[u8]) -> io::Result<()> {
    // Devices (`/dev/stdout`) cannot be replaced by renaming.
    let is_plain =
        fs::metadata(path).is_ok_and(|found| found.is_file()) || fs::metadata(path).is_err();
    if !is_plain {
        return fs::write(path, bytes);
    }
    let partial = format!("{path}.partial");
    fs::write(&partial, bytes)?;
    fs::rename(&partial, path)
}
