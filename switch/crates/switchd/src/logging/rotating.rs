//! A log file that stays small: at a given size it becomes `NAME.1.txt`, the older ones move up,
//! and the oldest goes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file in use is `NAME.txt`, as with simple_switch. Each write goes to the file at once.
#[derive(Debug)]
pub struct RotatingFile {
    name: PathBuf,
    file: File,
    size_bytes: u64,
    size_bytes_max: u64,
    count_max: u32,
}

impl RotatingFile {
    /// Begins anew: what an earlier run left under this name is overwritten.
    pub fn open(name: PathBuf, size_bytes_max: u64, count_max: u32) -> io::Result<RotatingFile> {
        let file = File::create(numbered(&name, 0))?;
        Ok(RotatingFile { name, file, size_bytes: 0, size_bytes_max, count_max })
    }

    fn rotate(&mut self) -> io::Result<()> {
        for number in (0..self.count_max).rev() {
            let from = numbered(&self.name, number);
            if from.exists() {
                fs::rename(from, numbered(&self.name, number + 1))?;
            }
        }
        self.file = File::create(numbered(&self.name, 0))?;
        self.size_bytes = 0;
        Ok(())
    }
}

impl Write for RotatingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A line longer than the whole file still has to go somewhere: an empty file takes it.
        let size_bytes = self.size_bytes + bytes.len() as u64;
        if size_bytes > self.size_bytes_max && self.size_bytes > 0 {
            self.rotate()?;
        }
        let written = self.file.write(bytes)?;
        self.size_bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The file in use of a log of this name.
pub fn newest(name: &Path) -> PathBuf {
    numbered(name, 0)
}

/// `NAME.txt`, `NAME.1.txt`, ...
fn numbered(name: &Path, number: u32) -> PathBuf {
    let mut path = name.as_os_str().to_owned();
    match number {
        0 => path.push(".txt"),
        _ => path.push(format!(".{number}.txt")),
    }
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_file_moves_up_and_the_oldest_goes() {
        let folder = std::env::temp_dir().join(format!("vitrine-log-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder");
        let name = folder.join("s1.log");
        // 10 bytes hold two lines of 4; two older files are kept.
        let mut log = RotatingFile::open(name.clone(), 10, 2).expect("a new file");
        for line in 1..=7 {
            // One call a line, as the log makes them.
            log.write_all(format!("l {line}\n").as_bytes()).expect("room");
        }
        let content = |number| fs::read_to_string(numbered(&name, number)).ok();
        assert_eq!(content(0).as_deref(), Some("l 7\n"));
        assert_eq!(content(1).as_deref(), Some("l 5\nl 6\n"));
        assert_eq!(content(2).as_deref(), Some("l 3\nl 4\n"));
        assert_eq!(content(3), None);
        fs::remove_dir_all(folder).expect("ours");
    }
}
