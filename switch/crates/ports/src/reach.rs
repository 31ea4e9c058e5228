//! Which files and addresses a process reaches, and no others any more: Linux's Landlock.
//!
//! Rights limit what a user may open; an attacker who takes over a process of root's may open
//! everything. With Landlock a process names its own files and addresses and has all others
//! refused, even to root: files that cannot be read, written, made or run, TCP that cannot be
//! listened or connected at, other processes that cannot be signalled or traced. Open files stay
//! open, and AF_PACKET is not affected.
//!
//! It needs no rights. Kernels from 6.12 on have all of it, from 5.13 on a part.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath,
    PathFd, RestrictionStatus, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope, make_bitflags,
};

/// The version of the rules: that of Linux 6.12, the first that keeps signals apart.
const VERSION: ABI = ABI::V6;

/// The files and addresses that a process may reach.
#[derive(Debug, Default)]
pub struct Reach {
    files: Vec<(PathBuf, BitFlags<AccessFs>)>,
    ports: Vec<u16>,
}

/// How much of it this kernel sees to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restricted {
    /// Nothing: it has no Landlock.
    No,
    /// As much as a kernel before 6.12 knows.
    Partly,
    /// All.
    Wholly,
}

impl Reach {
    /// To read a file.
    pub fn read(&mut self, file: &Path) {
        self.files.push((file.to_owned(), AccessFs::ReadFile.into()));
    }

    /// To write a file, which is made at once if it is not there: so nothing else in its folder has
    /// to be writable. If it cannot be made, opening it will report that.
    pub fn write(&mut self, file: &Path) {
        let _made_or_there = OpenOptions::new().write(true).create_new(true).open(file);
        self.files.push((file.to_owned(), make_bitflags!(AccessFs::{WriteFile | Truncate})));
    }

    /// To make, write, rename and remove files below a folder.
    pub fn write_below(&mut self, folder: &Path) {
        let access = make_bitflags!(AccessFs::{WriteFile | Truncate | MakeReg | RemoveFile});
        self.files.push((folder.to_owned(), access));
    }

    /// To make and remove a socket in a folder.
    pub fn listen_in(&mut self, folder: &Path) {
        self.files.push((folder.to_owned(), make_bitflags!(AccessFs::{MakeSock | RemoveFile})));
    }

    /// To listen at a port of TCP; 0 is any that is free.
    pub fn listen_at(&mut self, port: u16) {
        self.ports.push(port);
    }

    /// Has the kernel refuse everything else to the calling thread and all that it will start.
    /// Missing files cannot be reached either.
    pub fn restrict(self) -> Result<Restricted, RulesetError> {
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(VERSION))?
            .handle_access(AccessNet::from_all(VERSION))?
            .scope(Scope::from_all(VERSION))?
            .create()?;
        for (path, access) in self.files {
            let Ok(file) = PathFd::new(&path) else { continue };
            rules = rules.add_rule(PathBeneath::new(file, access))?;
        }
        for port in self.ports {
            rules = rules.add_rule(NetPort::new(port, AccessNet::BindTcp))?;
        }
        let RestrictionStatus { ruleset, .. } = rules.restrict_self()?;
        Ok(match ruleset {
            RulesetStatus::NotEnforced => Restricted::No,
            RulesetStatus::PartiallyEnforced => Restricted::Partly,
            RulesetStatus::FullyEnforced => Restricted::Wholly,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixListener;
    use std::thread;

    use super::*;

    /// The result of `act` on a thread that reaches `reach` only. `None`: this kernel does not
    /// support all of it.
    fn within<T: Send>(reach: Reach, act: impl FnOnce() -> T + Send) -> Option<T> {
        thread::scope(|scope| {
            let run = scope.spawn(|| match reach.restrict().expect("no mistake in the rules") {
                Restricted::Wholly => Some(act()),
                less => {
                    eprintln!("this kernel's Landlock does not do all: {less:?}");
                    None
                }
            });
            run.join().expect("it does not panic")
        })
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("vitrine-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder");
        folder
    }

    fn kind<T>(result: io::Result<T>) -> Result<(), io::ErrorKind> {
        result.map(drop).map_err(|error| error.kind())
    }

    const REFUSED: Result<(), io::ErrorKind> = Err(io::ErrorKind::PermissionDenied);

    /// Root could open all of these.
    #[test]
    fn only_files_that_were_named_can_be_opened() {
        let folder = folder("reach-files");
        let at = |name: &str| folder.join(name);
        let (program, secret, capture) = (at("program"), at("secret"), at("capture"));
        fs::write(&program, "{}").expect("a file");
        fs::write(&secret, "").expect("a file");
        fs::create_dir(at("log")).expect("a folder");
        let mut reach = Reach::default();
        reach.read(&program);
        reach.write(&capture);
        reach.write_below(&at("log"));
        // A link leads where it leads, wherever it stands.
        std::os::unix::fs::symlink(&secret, at("log/link")).expect("a link");
        within(reach, || {
            assert_eq!(kind(fs::read(&program)), Ok(()));
            assert_eq!(kind(File::create(&program)), REFUSED);
            assert_eq!(kind(File::create(&capture)), Ok(()));
            assert_eq!(kind(File::create(at("other"))), REFUSED);
            assert_eq!(kind(fs::read(&secret)), REFUSED);
            assert_eq!(kind(File::create(&secret)), REFUSED);
            assert_eq!(kind(fs::read("/etc/shadow")), REFUSED);
            assert_eq!(kind(fs::read_dir("/")), REFUSED);
            assert_eq!(kind(File::create(at("log/0"))), Ok(()));
            assert_eq!(kind(fs::rename(at("log/0"), at("log/1"))), Ok(()));
            assert_eq!(kind(fs::rename(at("log/1"), at("1"))), REFUSED);
            assert_eq!(kind(File::create(at("log/link"))), REFUSED);
            assert_eq!(kind(fs::remove_file(&secret)), REFUSED);
        });
        assert_eq!(kind(fs::read(&secret)), Ok(()), "other threads are as they were");
        fs::remove_dir_all(folder).expect("ours");
    }

    #[test]
    fn only_where_it_was_said_can_somebody_listen_and_nowhere_connect() {
        let folder = folder("reach-sockets");
        let server = TcpListener::bind("127.0.0.1:0").expect("any port");
        let taken = server.local_addr().expect("it is bound");
        let free = TcpListener::bind("127.0.0.1:0").expect("any port");
        let port = free.local_addr().expect("it is bound").port();
        drop(free);
        let mut reach = Reach::default();
        reach.listen_at(port);
        reach.listen_in(&folder);
        within(reach, || {
            assert_eq!(kind(TcpListener::bind(("127.0.0.1", port))), Ok(()));
            assert_eq!(kind(TcpListener::bind("127.0.0.1:0")), REFUSED);
            assert_eq!(kind(TcpStream::connect(taken)), REFUSED);
            assert_eq!(kind(UnixListener::bind(folder.join("s1"))), Ok(()));
            assert_eq!(kind(fs::remove_file(folder.join("s1"))), Ok(()));
            assert_eq!(kind(UnixListener::bind(std::env::temp_dir().join("s1"))), REFUSED);
        });
        fs::remove_dir_all(folder).expect("ours");
    }
}
