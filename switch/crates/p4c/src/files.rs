//! Source texts from the file system, and results to it.

use compiler::{SourceError, SourceProvider};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

/// The directory of the includes that are part of the program, searched last. No real directory is
/// called so.
pub const BUILT_IN: &str = "p4include";

/// Reads files by their path; those of `p4include` are always there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Files;

impl SourceProvider for Files {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        match fs::read(path) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => built_in(path),
                _ => Err(SourceError::Unreadable(error.to_string())),
            },
        }
    }
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
        Some("psa.p4") => Ok(include_str!("../../../../p4src/include/psa.p4").into()),
        Some("bmv2/psa.p4") => Ok(include_str!("../../../../p4src/include/bmv2/psa.p4").into()),
        Some("vitrine.p4") => Ok(include_str!("../../../../p4src/include/vitrine.p4").into()),
        _ => Err(SourceError::NotFound),
    }
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
