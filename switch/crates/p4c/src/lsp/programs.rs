//! Which texts are open, and to which program each file belongs.
//!
//! A file without a `main` is read as part of a program that includes it: alone it would be full of
//! undeclared names.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::files::{BUILT_IN, Files};
use compiler::{PreprocessorOptions, SourceError, SourceProvider};
use language::{Sources, Study, plain};
use syntax::{Diagnostics, FileId, lexer};

/// Of the files of a folder that is open no more than this many are looked at for programs.
const FILE_COUNT_MAX: usize = 400;
/// And none in folders deeper than this.
const DEPTH_MAX: usize = 8;

/// See the top of the file.
#[derive(Debug, Default)]
pub struct Programs {
    /// The editor's open files, by path: newer than the files on the disk.
    open: BTreeMap<String, String>,
    /// The folders that the editor works in.
    folders: Vec<PathBuf>,
    options: PreprocessorOptions,
    /// The program of each file that was looked for.
    owners: RefCell<BTreeMap<String, String>>,
    /// Programs as they are now.
    studies: RefCell<BTreeMap<String, Rc<Study>>>,
}

impl SourceProvider for Programs {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        match self.open.get(&plain(path)) {
            Some(text) => Ok(text.clone()),
            None => Files.read(path),
        }
    }
}

impl Programs {
    /// Directories and macros as on the compiler's command line.
    pub fn new(mut options: PreprocessorOptions) -> Programs {
        options.include_directories.push(BUILT_IN.to_owned());
        Programs { options, ..Programs::default() }
    }

    /// The folders in which programs are looked for.
    pub fn set_folders(&mut self, folders: Vec<PathBuf>) {
        self.folders = folders;
    }

    /// A text is as it is now.
    pub fn change(&mut self, path: &str, text: String) {
        self.open.insert(path.to_owned(), text);
        self.forget();
    }

    /// The editor has closed a text: the file counts again.
    pub fn close(&mut self, path: &str) {
        self.open.remove(path);
        self.forget();
    }

    /// Some file is another one now.
    pub fn forget(&mut self) {
        self.studies.get_mut().clear();
        // A file may begin to include another, or stop.
        self.owners.get_mut().clear();
    }

    /// The texts that are open.
    pub fn open_paths(&self) -> impl Iterator<Item = &String> {
        self.open.keys()
    }

    /// A text as it is now.
    pub fn text(&self, path: &str) -> Option<String> {
        self.read(path).ok()
    }

    /// Asks something of the program that a file belongs to.
    pub fn sources<T>(&self, path: &str, ask: impl FnOnce(&Sources<'_>) -> T) -> T {
        let main = self.owner(path);
        ask(&Sources { provider: self, main: &main, options: &self.options })
    }

    /// The program that a file belongs to, as it is now.
    pub fn study(&self, path: &str) -> Rc<Study> {
        self.study_of(&self.owner(path))
    }

    /// The program that begins in a file.
    pub fn study_of(&self, main: &str) -> Rc<Study> {
        if let Some(known) = self.studies.borrow().get(main) {
            return Rc::clone(known);
        }
        let sources = Sources { provider: self, main, options: &self.options };
        let study = Rc::new(Study::of(&sources));
        self.studies.borrow_mut().insert(main.to_owned(), Rc::clone(&study));
        study
    }

    /// The main file of the program that this one belongs to: itself, if it has a `main` or if no
    /// other includes it.
    pub fn owner(&self, path: &str) -> String {
        if let Some(known) = self.owners.borrow().get(path) {
            return known.clone();
        }
        let has_main = self.text(path).is_none_or(|text| has_main(&text));
        let includes = |main: &String| self.study_of(main).file(path).is_some();
        let found = if has_main { None } else { self.mains().into_iter().find(includes) };
        let owner = found.unwrap_or_else(|| path.to_owned());
        self.owners.borrow_mut().insert(path.to_owned(), owner.clone());
        owner
    }

    /// Files in which a program begins: those that are open, then those of the folders.
    fn mains(&self) -> Vec<String> {
        let mut paths: Vec<String> = self.open.keys().cloned().collect();
        for folder in &self.folders {
            find_programs(folder, DEPTH_MAX, &mut paths);
        }
        paths.retain(|path| self.text(path).is_some_and(|text| has_main(&text)));
        paths
    }
}

/// Whether something is called `main`: `V1Switch(...) main;`.
fn has_main(text: &str) -> bool {
    // Most files can be recognised without reading their tokens.
    text.contains("main") && {
        let tokens = lexer::tokenize(FileId(0), text, &mut Diagnostics::default());
        tokens.windows(3).any(|three| three[0].is(")") && three[1].is("main") && three[2].is(";"))
    }
}

/// P4 files of a folder and those in it, in the order of their names.
fn find_programs(folder: &Path, depth: usize, paths: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if paths.len() >= FILE_COUNT_MAX {
            return;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_hidden =
            name.starts_with('.') || matches!(&*name, "build" | "node_modules" | "target");
        if path.is_symlink() || is_hidden {
            continue;
        }
        if path.is_dir() {
            if depth > 0 {
                find_programs(&path, depth - 1, paths);
            }
        } else if name.ends_with(".p4") {
            let path = plain(&path.to_string_lossy());
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
}
