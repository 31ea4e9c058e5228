//! The standard switch on the bench's program, entries and packets, where it is installed.
//!
//! It takes packets from files: an interface `7@p7` reads `p7_in.pcap` and writes `p7_out.pcap`, in
//! the order of the packets and as fast as it can. It does not say when it is done, and pipelines
//! its work over several threads, so what is compared is the processor time it takes:
//!
//! 1. write the program, with the entries in it, and the packets;
//! 2. start it, and raise the limit of its queues, which are of 64 packets and lose the others;
//! 3. note its processor time while it waits to begin, and when that has stopped to grow;
//! 4. end it, and count what it wrote: a packet lost would make it look fast.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bmv2::{MatchKey, Program, TableEntry};
use pipeline::{EntryAction, KeyMatch, Pipeline};

/// How long it waits before it reads packets: time to raise the limit of its queues.
const WAIT_S: u64 = 4;
/// Ports with files: the bench's router sends to 0 to 7, and receives on 1.
const PORTS: u16 = 8;
/// It is done when it has taken no processor time for this long.
const QUIET: Duration = Duration::from_secs(2);
/// The benchmark gives up after this long.
const DEADLINE: Duration = Duration::from_secs(300);

/// Where the standard switch and its command line are, if both are installed.
pub fn find() -> Option<[PathBuf; 2]> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/bin")]);
    let both =
        |folder: PathBuf| ["simple_switch", "simple_switch_CLI"].map(|name| folder.join(name));
    folders.map(both).find(|files| files.iter().all(|file| file.is_file()))
}

/// Nanoseconds of processor time that a packet takes there, all of its threads together.
pub fn measure(
    [switch, cli]: &[PathBuf; 2],
    program: &Program,
    pipeline: &Pipeline,
    packets: &[Vec<u8>],
    count: usize,
) -> Result<f64, String> {
    let folder = std::env::temp_dir().join(format!("vitrine-bench-{}", std::process::id()));
    let said = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(said)?;
    let result = prepare(&folder, program, pipeline, packets, count)
        .map_err(said)
        .and_then(|()| run(&folder, switch, cli, count));
    fs::remove_dir_all(&folder).map_err(said)?;
    result
}

/// Writes the program with the entries of the pipeline, and the packets.
fn prepare(
    folder: &Path,
    program: &Program,
    pipeline: &Pipeline,
    packets: &[Vec<u8>],
    count: usize,
) -> std::io::Result<()> {
    let mut program = program.clone();
    let ids: Vec<u32> = program.actions.iter().map(|action| action.id).collect();
    for table in program.pipelines.iter_mut().flat_map(|control| &mut control.tables) {
        let loaded = pipeline.table_index(&table.name).map(|index| pipeline.table(index));
        let entries = loaded.into_iter().flat_map(|loaded| loaded.entries());
        let entries: Vec<TableEntry> =
            entries.filter_map(|(_, entry)| written(entry, &table.key, &ids)).collect();
        if !entries.is_empty() {
            table.entries = Some(entries);
        }
    }
    fs::write(folder.join("program.json"), bmv2::write(&program))?;
    for port in 0..PORTS {
        let sent = if port == 1 { count } else { 0 };
        let frames = packets.iter().cycle().take(sent);
        fs::write(folder.join(format!("p{port}_in.pcap")), pcap(frames))?;
    }
    Ok(())
}

/// An entry as JSON has it.
fn written(entry: &pipeline::Entry, keys: &[bmv2::TableKey], ids: &[u32]) -> Option<TableEntry> {
    let EntryAction::Action { action, data } = &entry.action else { return None };
    let key = |(key, kind): (&KeyMatch, &bmv2::TableKey)| match (key, kind.match_type) {
        (KeyMatch::Exact(key), _) => MatchKey::Exact { key: key.clone() },
        (KeyMatch::Lpm { value, length_bits }, _) => {
            MatchKey::Lpm { key: value.clone(), prefix_length: *length_bits }
        }
        (KeyMatch::Range { low, high }, _) => {
            MatchKey::Range { start: low.clone(), end: high.clone() }
        }
        (KeyMatch::Ternary { value, mask }, _) => {
            MatchKey::Ternary { key: value.clone(), mask: mask.clone() }
        }
        (KeyMatch::Any, bmv2::MatchType::Lpm) => {
            MatchKey::Lpm { key: bits::Int::zero(), prefix_length: 0 }
        }
        (KeyMatch::Any, _) => MatchKey::Ternary { key: bits::Int::zero(), mask: bits::Int::zero() },
    };
    Some(TableEntry {
        source_info: None,
        match_key: entry.key.iter().zip(keys).map(key).collect(),
        action_id: *ids.get(*action)?,
        action_data: data.clone(),
        // There the lowest number wins.
        priority: i32::MAX - entry.priority,
        is_const: None,
    })
}

/// A capture of these frames, all of one instant.
fn pcap<'a>(frames: impl Iterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    let mut capture = Vec::new();
    // Magic number of microseconds, version 2.4, no offset from UTC, whole frames, Ethernet.
    for word in [0xa1b2_c3d4u32, 4 << 16 | 2, 0, 0, 65535, 1] {
        capture.extend_from_slice(&word.to_le_bytes());
    }
    for frame in frames {
        let length = frame.len() as u32;
        for word in [1, 0, length, length] {
            capture.extend_from_slice(&word.to_le_bytes());
        }
        capture.extend_from_slice(frame);
    }
    capture
}

/// Frames in a capture.
fn frames_in(capture: &[u8]) -> usize {
    let mut rest = capture.get(24..).unwrap_or_default();
    let mut count = 0;
    while let Some(length) = rest.get(8..12) {
        let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
        count += 1;
        rest = rest.get(16 + length..).unwrap_or_default();
    }
    count
}

/// Runs it to the end of its packets.
fn run(folder: &Path, switch: &Path, cli: &Path, count: usize) -> Result<f64, String> {
    // A port that is free now; it is bound at once.
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = free.map_err(|error| error.to_string())?.port().to_string();
    let mut command = Command::new(switch);
    let _ = command.args(["--use-files", &WAIT_S.to_string(), "--thrift-port", &port]);
    let _ = command.args(["--device-id", &std::process::id().to_string()]);
    for number in 0..PORTS {
        let _ = command.args(["-i", &format!("{number}@p{number}")]);
    }
    // The program sets priorities, which there need as many queues a port.
    let _ = command.args(["program.json", "--", "--priority-queues", "8"]);
    let _ = command.current_dir(folder).stdin(Stdio::null());
    let _ = command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", switch.display()))?;
    let spent = watch(&mut child, cli, &port);
    let _ = child.kill();
    let _ = child.wait();
    let spent = spent?;
    let sent = (0..PORTS).map(|number| {
        fs::read(folder.join(format!("p{number}_out.pcap"))).map_or(0, |bytes| frames_in(&bytes))
    });
    match sent.sum::<usize>() {
        sent if sent == count => Ok(spent.as_nanos() as f64 / count as f64),
        sent => Err(format!("it sent {sent} of {count} packets, so its time says nothing")),
    }
}

/// The processor time it takes from its first packet to its last.
fn watch(child: &mut Child, cli: &Path, port: &str) -> Result<Duration, String> {
    let started = Instant::now();
    raise_queues(cli, port, started)?;
    let before = processor_time(child.id())?;
    if started.elapsed() > Duration::from_secs(WAIT_S) {
        return Err("the machine is too busy: it began before its queues were raised".to_owned());
    }
    let (mut last, mut changed) = (before, Instant::now());
    loop {
        std::thread::sleep(Duration::from_millis(50));
        let now = processor_time(child.id())?;
        if now > last {
            (last, changed) = (now, Instant::now());
        }
        let has_begun = started.elapsed() > Duration::from_secs(WAIT_S + 1);
        if has_begun && changed.elapsed() > QUIET {
            return Ok(last - before);
        }
        if started.elapsed() > DEADLINE {
            return Err(format!("it was not done after {} s", DEADLINE.as_secs()));
        }
    }
}

/// Asks for queues that hold every packet, until it answers.
fn raise_queues(cli: &Path, port: &str, started: Instant) -> Result<(), String> {
    while started.elapsed() < Duration::from_secs(WAIT_S) {
        let mut command = Command::new(cli);
        let _ = command.args(["--thrift-port", port]).stdin(Stdio::piped());
        let _ = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut asked = command.spawn().map_err(|error| format!("{}: {error}", cli.display()))?;
        if let Some(mut stdin) = asked.stdin.take() {
            // If it has ended already, that shows in its status.
            let _ = stdin.write_all(b"set_queue_depth 1000000000\n");
        }
        if asked.wait().is_ok_and(|status| status.success()) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(format!("{} did not answer on port {port} within {WAIT_S} s", cli.display()))
}

/// User and system time of all threads of a process, from Linux's /proc/PID/stat.
fn processor_time(process: u32) -> Result<Duration, String> {
    let path = format!("/proc/{process}/stat");
    let text = fs::read_to_string(&path).map_err(|_| "it ended by itself".to_owned())?;
    // The name may hold anything, so fields are counted from its end: user time is the 12th there.
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let times: Vec<u64> = fields.skip(11).take(2).filter_map(|it| it.parse().ok()).collect();
    match times[..] {
        // The kernel tells it in hundredths of a second, whatever its own clock.
        [user, system] => Ok(Duration::from_millis((user + system) * 10)),
        _ => Err(format!("{path} has another form than Linux's")),
    }
}
