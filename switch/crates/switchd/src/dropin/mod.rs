//! The command lines of `simple_switch_grpc`, `simple_switch` and `psa_switch`, for the programs
//! that start those switches. The second has no gRPC: its clients use `--thrift-port`.
//!
//! It comes in two parts: flags of every bmv2 switch, then `--`, then flags of this one. A flag on
//! the wrong side is an error there as here. A flag takes effect, or the start is refused with
//! the reason, or, where no packet depends on it, the log notes that it was not needed: `docs/switch.md` has the list.
//!
//! ```text
//!   general.rs  the flags before `--`
//!   target.rs   the flags behind it
//! ```

mod general;
mod target;

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

use crate::settings::{Settings, Spelling};
use general::General;
use target::Target;

/// Why the command line is not followed; both texts end with a line break.
#[derive(Debug, PartialEq, Eq)]
pub enum Stop {
    /// A question about the switch; this is the answer.
    Answered(String),
    /// Something is wrong with it.
    Refused(String),
}

/// Whether the switch was started under a name for which these flags are meant.
pub fn is_meant_by(program: &Path) -> bool {
    let name = program.file_name().map(|name| name.to_string_lossy());
    name.is_some_and(|name| name.contains("simple_switch") || name.contains("psa_switch"))
}

/// Which of them it is that was started.
fn spelling(line: &[OsString]) -> Spelling {
    let name = line.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match name {
        name if name.contains("psa_switch") => Spelling::PsaSwitch,
        name if name.ends_with("_grpc") => Spelling::SimpleSwitchGrpc,
        _ => Spelling::SimpleSwitch,
    }
}

/// Reads the whole command line, the program's name first.
pub fn parse(line: impl IntoIterator<Item = OsString>) -> Result<Settings, Stop> {
    let line: Vec<OsString> = line.into_iter().collect();
    let spelling = spelling(&line);
    let cut = line.iter().position(|word| word == "--").unwrap_or(line.len());
    let general = General::try_parse_from(&line[..cut]).map_err(|error| stop(&error))?;
    if let Some(answer) = general.answer(spelling) {
        return Err(Stop::Answered(answer));
    }
    let name = OsString::from("simple_switch_grpc [...] --");
    let behind = std::iter::once(&name).chain(line[cut..].iter().skip(1));
    let target = Target::try_parse_from(behind).map_err(|error| stop(&error))?;
    let name = spelling.program();
    let general = general.with_defaults_of(spelling);
    general.with(target, spelling).map_err(|reason| Stop::Refused(format!("{name}: {reason}\n")))
}

/// Asking for help is no error.
fn stop(error: &clap::Error) -> Stop {
    let text = error.render().to_string();
    if let Some(flag) = misplaced(error) {
        return Stop::Refused(format!(
            "simple_switch_grpc: {flag} belongs behind `--`, such as: simple_switch_grpc -i \
             1@s1-eth1 program.json -- --grpc-server-addr 0.0.0.0:50051\n"
        ));
    }
    if error.use_stderr() {
        return Stop::Refused(text);
    }
    // The second half of the flags belongs to the answer.
    let target = Target::command().term_width(80).render_help();
    Stop::Answered(format!("{text}\nBehind `--`:\n{target}"))
}

/// A flag that is not known, but would be behind `--`.
fn misplaced(error: &clap::Error) -> Option<String> {
    let unknown = error.kind() == ErrorKind::UnknownArgument;
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg).filter(|_| unknown)
    else {
        return None;
    };
    let command = Target::command();
    let mut known = command.get_arguments().filter_map(|arg| arg.get_long());
    let bare = flag.trim_start_matches("--");
    known.any(|long| long == bare).then(|| flag.clone())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use tracing::level_filters::LevelFilter;
    use units::PortId;

    use super::*;
    use crate::logging::{Sink, Style};

    fn parse(line: &str) -> Result<Settings, Stop> {
        super::parse(std::iter::once("simple_switch_grpc").chain(line.split(' ')).map(Into::into))
    }

    fn refused(line: &str) -> String {
        match parse(line) {
            Err(Stop::Refused(text)) => text,
            other => panic!("`{line}` must be refused, not {other:?}"),
        }
    }

    #[test]
    fn the_command_lines_are_consistent() {
        General::command().debug_assert();
        Target::command().debug_assert();
    }

    #[test]
    fn the_name_decides_whose_flags_are_meant() {
        for name in ["simple_switch_grpc", "build/dropin/simple_switch_grpc", "psa_switch"] {
            assert!(is_meant_by(Path::new(name)), "{name}");
        }
        assert!(!is_meant_by(Path::new("build/bin/vitrine-switch")));
    }

    #[test]
    fn the_line_of_the_tutorials_is_understood() {
        // As utils/p4runtime_switch.py puts it together.
        let settings = parse(
            "-i 1@s1-eth1 -i 2@s1-eth2 --pcap /tmp --nanolog ipc:///tmp/bm-0-log.ipc --device-id 3 \
             build/basic.json --log-console --thrift-port 9090 -- --grpc-server-addr 0.0.0.0:50051 \
             --cpu-port 510 --priority-queues 4",
        )
        .expect("what the tutorials say");
        assert_eq!(settings.interfaces.len(), 2);
        assert_eq!(settings.pcap, Some(PathBuf::from("/tmp")));
        assert_eq!(settings.program, Some(PathBuf::from("build/basic.json")));
        assert_eq!(settings.device_id, 3);
        assert_eq!(settings.grpc_address.to_string(), "127.0.0.1:50051");
        assert_eq!(settings.cpu_port, Some(PortId(510)));
        assert_eq!(settings.class_count, 4);
        assert_eq!(settings.logging.sink, Sink::Stdout);
        assert_eq!(settings.logging.style, Style::Bmv2);
        assert_eq!(settings.logging.level, LevelFilter::TRACE);
        assert_eq!(settings.thrift_port, Some(9090));
        let events = settings.events.as_ref().map(ToString::to_string);
        assert_eq!(events.as_deref(), Some("ipc:///tmp/bm-0-log.ipc"));
        // The allowed clients.
        assert_eq!(settings.notes.len(), 1, "{:?}", settings.notes);
    }

    #[test]
    fn simple_switch_itself_has_no_address_for_grpc() {
        let line = "simple_switch -i 1@a --thrift-port 9091 x.json -- --enable-swap";
        let settings = super::parse(line.split(' ').map(Into::into)).expect("as p4-utils says it");
        assert_eq!(settings.spelling, Spelling::SimpleSwitch);
        assert_eq!(settings.thrift_port, Some(9091));
        // Any free port of this machine: several of these switches run side by side.
        assert_eq!(settings.grpc_address.to_string(), "127.0.0.1:0");
        assert_eq!(parse("--no-p4").expect("enough").thrift_port, None, "closed unless asked for");
    }

    #[test]
    fn simple_switch_is_where_its_cli_looks_for_it() {
        let parse = |line: &str| super::parse(line.split(' ').map(Into::into)).expect("its flags");
        let settings = parse("simple_switch -i 1@a x.json");
        assert_eq!(settings.thrift_port, Some(9090));
        assert!(settings.notifications.is_some(), "clients of that interface learn from digests");
        for line in ["simple_switch_grpc --no-p4", "psa_switch x.json"] {
            assert_eq!(parse(line).thrift_port, None, "{line}: closed unless asked for");
        }
    }

    #[test]
    fn psa_switch_takes_the_same_flags_and_serves_p4runtime_where_it_is_told_to() {
        let parse = |line: &str| super::parse(line.split(' ').map(Into::into)).expect("its flags");
        let settings = parse("psa_switch -i 0@a x.json --thrift-port 9090 -- --cpu-port 510");
        assert_eq!(
            (settings.spelling, settings.cpu_port),
            (Spelling::PsaSwitch, Some(PortId(510)))
        );
        assert_eq!(settings.grpc_address.to_string(), "127.0.0.1:0");
        let settings = parse("psa_switch x.json -- --grpc-server-addr 127.0.0.1:9559");
        assert_eq!(settings.grpc_address.to_string(), "127.0.0.1:9559");
    }

    #[test]
    fn what_is_not_said_is_as_with_the_original() {
        let settings = parse("--no-p4").expect("enough");
        assert_eq!(settings.grpc_address.to_string(), "127.0.0.1:9559");
        assert_eq!((settings.class_count, settings.drop_port), (1, PortId(511)));
        assert_eq!((settings.device_id, settings.cpu_port), (0, None));
        assert_eq!(settings.logging.level, LevelFilter::INFO);
    }

    #[test]
    fn other_machines_are_let_in_on_purpose_only() {
        let address = |behind: &str| {
            let settings = parse(&format!("--no-p4 -- {behind}")).expect("enough");
            settings.check().map(|()| settings.grpc_address.to_string())
        };
        let all = "--grpc-server-addr 0.0.0.0:1";
        assert_eq!(address(all), Ok("127.0.0.1:1".to_owned()));
        assert_eq!(address("--grpc-server-addr [::]:1"), Ok("[::1]:1".to_owned()));
        assert_eq!(address(&format!("{all} --insecure")), Ok("0.0.0.0:1".to_owned()));
        let tls = "--grpc-server-ssl --grpc-server-cert c.pem --grpc-server-key k.pem";
        assert_eq!(address(&format!("{all} {tls}")), Ok("0.0.0.0:1".to_owned()));
        assert!(
            address("--grpc-server-addr 192.0.2.1:1").is_err_and(|it| it.contains("--insecure"))
        );
    }

    #[test]
    fn captures_without_a_folder_go_where_the_switch_was_started() {
        assert_eq!(parse("--no-p4 --pcap").expect("enough").pcap, Some(PathBuf::from(".")));
        assert_eq!(parse("--no-p4 --pcap=x").expect("enough").pcap, Some(PathBuf::from("x")));
    }

    #[test]
    fn a_log_file_gets_the_extension_that_the_original_gives_it() {
        let sink = parse("--no-p4 --log-file s1.log").expect("enough").logging.sink;
        let Sink::File { path, size_bytes_max, count_max } = sink else { panic!("{sink:?}") };
        assert_eq!(path, PathBuf::from("s1.log"));
        assert_eq!((size_bytes_max, count_max), (5 << 20, 3));
    }

    #[test]
    fn a_program_or_no_p4_is_needed() {
        assert!(refused("-i 1@a").contains("--no-p4"));
        assert!(refused("-i 1@a -- --cpu-port 510").contains("--no-p4"));
    }

    #[test]
    fn a_flag_on_the_wrong_side_is_told_where_it_belongs() {
        assert!(refused("--no-p4 --cpu-port 510").contains("behind `--`"));
        assert!(!refused("--no-p4 --nonsense 510").contains("behind `--`"));
        assert!(refused("--no-p4 -- --log-console").contains("--log-console"));
    }

    #[test]
    fn what_cannot_be_done_is_refused_rather_than_left_out() {
        for flag in ["--use-files 5", "--packet-in ipc:///tmp/x", "--restore-state x"] {
            let text = refused(&format!("--no-p4 {flag}"));
            assert!(text.contains(flag.split(' ').next().unwrap_or(flag)), "{text}");
        }
        assert!(refused("--no-p4 -- --load-modules x.so").contains("--load-modules"));
        assert!(refused("--no-p4 -- --priority-queues 9").contains("1..8"));
        assert!(refused("--no-p4 --log-console --log-file x").contains("--log-file"));
    }

    #[test]
    fn certificates_go_together() {
        let certificates = "--grpc-server-cert c.pem --grpc-server-key k.pem";
        let tls = |flags: &str| parse(&format!("--no-p4 -- {flags}")).map(|it| it.tls);
        let files = tls(&format!("--grpc-server-ssl {certificates}")).expect("enough");
        assert!(files.is_some_and(|files| files.client_ca.is_none()));
        let both = "--grpc-server-with-client-auth --grpc-server-cacert ca.pem";
        let files = tls(&format!("--grpc-server-ssl {certificates} {both}")).expect("enough");
        assert!(files.is_some_and(|files| files.client_ca == Some(PathBuf::from("ca.pem"))));
        // Without --grpc-server-ssl the files are of no use, and the log says so.
        let ignored = parse(&format!("--no-p4 -- {certificates}")).expect("enough");
        assert!(ignored.tls.is_none() && ignored.notes.len() == 1);
        assert!(refused("--no-p4 -- --grpc-server-ssl").contains("--grpc-server-cert"));
        let without_ca =
            format!("--no-p4 -- --grpc-server-ssl {certificates} --grpc-server-with-client-auth");
        assert!(refused(&without_ca).contains("--grpc-server-cacert"));
    }

    #[test]
    fn questions_are_answered() {
        let answer = |line| match parse(line) {
            Err(Stop::Answered(text)) => text,
            other => panic!("`{line}` is a question: {other:?}"),
        };
        assert_eq!(answer("--json-version"), "2.24\n");
        assert!(answer("-v").contains(env!("CARGO_PKG_VERSION")));
        let help = answer("--help");
        assert!(help.contains("--pcap") && help.contains("--grpc-server-addr"), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    }
}
