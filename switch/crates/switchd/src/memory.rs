//! How much memory the switch has to give, and how what was given comes back.
//!
//! The memory of clients and programs is counted ([`units::memory`]); its default limit is here.
//! Freed memory stays with the allocator, and the threads that free it must not give it back to the
//! kernel themselves (`ports::memory`): a thread without other work does that. It cannot see empty
//! pages that belong to another thread. So it wakes the threads that serve controllers, each of
//! which gives back its own before it rests again. Pages of the thread that moves packets stay, but
//! those it has allocated itself.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{io, thread};

use units::Bytes;
use units::memory::Budget;

use crate::settings::Settings;

/// The least of which each part is of any use, and what there is taken to be where nothing says so.
pub const MEMORY_MIN: Bytes = Bytes(128 << 20);

/// How often unused memory goes back to the kernel.
const GIVE_BACK_INTERVAL: Duration = Duration::from_secs(15);

/// The thread needs next to no stack.
const STACK_SIZE_BYTES: usize = 128 << 10;

/// The limit for the memory of clients and programs, and the packets' part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    pub all: Bytes,
    pub packets: Bytes,
}

impl Memory {
    /// The settings' values, if they are set: otherwise half of the machine's or the process's
    /// control group's memory, and a quarter of that for packets.
    pub fn of(settings: &Settings) -> Result<Memory, String> {
        Memory::new(settings.memory, settings.packet_memory, || machine_bytes(Path::new("/")))
    }

    /// The defaults.
    pub fn by_default() -> Memory {
        let memory = Memory::new(None, None, || machine_bytes(Path::new("/")));
        // A quarter is never too much.
        memory.unwrap_or(Memory { all: MEMORY_MIN, packets: MEMORY_MIN })
    }

    /// The same as a budget.
    pub fn budget(self) -> Budget {
        Budget::new(self.all, self.packets)
    }

    fn new(
        all: Option<Bytes>,
        packets: Option<Bytes>,
        machine_bytes: impl FnOnce() -> Option<u64>,
    ) -> Result<Memory, String> {
        let by_default = || {
            let half = machine_bytes().unwrap_or_default() / 2;
            Bytes(half.max(MEMORY_MIN.0))
        };
        let all = all.unwrap_or_else(by_default);
        let packets = packets.unwrap_or_else(|| Bytes((all.0 / 4).min(device::PACKET_MEMORY.0)));
        if packets.0 > all.0 / 2 {
            return Err(format!(
                "--packet-memory {} is more than half of --memory {}: programs, entries and \
                 controllers live on the other half; raise --memory",
                packets.0 >> 20,
                all.0 >> 20
            ));
        }
        Ok(Memory { all, packets })
    }
}

/// The memory of this machine, or of the control group of this process, the smaller of both. `root`
/// is where the kernel's files are.
fn machine_bytes(root: &Path) -> Option<u64> {
    let text = |path: &Path| std::fs::read_to_string(path).ok();
    let of_machine = text(&root.join("proc/meminfo")).and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib << 10)
    });
    let groups = text(&root.join("proc/self/cgroup")).unwrap_or_default();
    let limits = groups.lines().flat_map(|line| limit_files(root, line));
    let limits = limits.filter_map(|path| text(&path)?.trim().parse::<u64>().ok());
    limits.chain(of_machine).min()
}

/// The files with the limits of a group, its own and those of the groups that it is in. A line of
/// `/proc/self/cgroup` is `0::/PATH`, or `NUMBER:CONTROLLERS:/PATH` in the first version.
fn limit_files(root: &Path, line: &str) -> Vec<PathBuf> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { return Vec::new() };
    let (mounted, file) = match controllers {
        "" => ("sys/fs/cgroup", "memory.max"),
        names if names.split(',').any(|name| name == "memory") => {
            ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
        }
        _ => return Vec::new(),
    };
    let mounted = root.join(mounted);
    let groups = Path::new(path.trim_start_matches('/')).ancestors();
    groups.map(|group| mounted.join(group).join(file)).collect()
}

/// How often memory has been given back.
static ROUND: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The round in which this thread has given back what is its own.
    static OWN_ROUND: Cell<u64> = const { Cell::new(0) };
}

/// Gives back what only this thread can, once a round: before it rests.
pub fn give_back_own() {
    let round = ROUND.load(Ordering::Relaxed);
    if OWN_ROUND.replace(round) != round {
        ports::memory::give_back();
    }
}

/// Starts the thread by which unused memory goes back to the kernel; `begin` is what it does first: it
/// gives up rights. `stir` wakes those who [`give_back_own`].
pub fn give_back_now_and_then(begin: fn(), stir: impl Fn() + Send + 'static) -> io::Result<()> {
    let builder = thread::Builder::new().name("vitrine-return".to_owned());
    let run = move || {
        begin();
        loop {
            thread::sleep(GIVE_BACK_INTERVAL);
            ROUND.fetch_add(1, Ordering::Relaxed);
            stir();
            ports::memory::give_back();
        }
    };
    builder.stack_size(STACK_SIZE_BYTES).spawn(run).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(all: Option<u64>, packets: Option<u64>, machine: u64) -> Result<[u64; 2], String> {
        let bytes = |mebibytes: Option<u64>| mebibytes.map(|it| Bytes(it << 20));
        let memory = Memory::new(bytes(all), bytes(packets), || Some(machine << 20))?;
        Ok([memory.all.0 >> 20, memory.packets.0 >> 20])
    }

    #[test]
    fn half_of_the_machine_is_given_and_a_quarter_of_that_to_packets() {
        assert_eq!(memory(None, None, 512), Ok([256, 64]));
        assert_eq!(memory(None, None, 24 << 10), Ok([12 << 10, 512]));
        assert_eq!(memory(None, None, 16), Ok([128, 32]));
        assert_eq!(memory(Some(1024), None, 16), Ok([1024, 256]));
        assert_eq!(memory(Some(1024), Some(512), 16), Ok([1024, 512]));
    }

    #[test]
    fn packets_do_not_take_what_others_need() {
        let refused = memory(Some(256), Some(200), 512).expect_err("more than half");
        assert!(refused.contains("--packet-memory 200") && refused.contains("--memory 256"));
    }

    #[test]
    fn the_tightest_group_around_the_process_counts() {
        let root = std::env::temp_dir().join(format!("vitrine-groups-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        };
        write("proc/meminfo", "MemTotal:        2048 kB\nMemFree:  1 kB\n");
        assert_eq!(machine_bytes(&root), Some(2048 << 10));
        write("proc/self/cgroup", "0::/outer/inner\n");
        write("sys/fs/cgroup/outer/memory.max", "1000000\n");
        write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
        assert_eq!(machine_bytes(&root), Some(1_000_000));
        // The first version's number for no limit.
        write("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/mine\n0::/\n");
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        write("sys/fs/cgroup/memory/mine/memory.limit_in_bytes", "500000\n");
        assert_eq!(machine_bytes(&root), Some(500_000));
        std::fs::remove_dir_all(&root).expect("it was made here");
    }
}
