//! One file is every program, by the name under which it is started.

use std::os::unix::fs::symlink;
use std::process::Command;

const FILE: &str = env!("CARGO_BIN_EXE_vitrine");

fn first_line(command: &mut Command) -> String {
    let output = command.output().expect("the program was built with this test");
    let said = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    let text = String::from_utf8(said).expect("what programs say is UTF-8");
    text.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_link_or_the_first_word_says_which_program_is_meant() {
    let folder = std::env::temp_dir().join(format!("vitrine-names-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a folder of our own");
    let version = env!("CARGO_PKG_VERSION");
    for (name, answer) in [
        ("vitrine-p4c", format!("vitrine-p4c {version}")),
        ("p4c", format!("vitrine-p4c {version}")),
        ("vitrine-sim", format!("vitrine-sim {version}")),
        ("vitrine-switch", format!("vitrine-switch {version}")),
        ("simple_switch", format!("vitrine-switch {version} in the place of simple_switch")),
    ] {
        let link = folder.join(name);
        symlink(FILE, &link).expect("a link in our own folder");
        assert_eq!(first_line(Command::new(&link).arg("--version")), answer);
        assert_eq!(first_line(Command::new(FILE).args([name, "--version"])), answer);
    }
    std::fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn another_name_is_told_which_there_are() {
    let line = first_line(Command::new(FILE).arg("vitrine-top"));
    assert!(line.starts_with("vitrine: say which program is meant"), "{line}");
    assert!(
        line.ends_with(
            "vitrine-p4c, p4c, p4c-bm2-ss, p4c-bm2-psa, p4test, p4fmt, p4c-graphs, \
             vitrine-switch, simple_switch, simple_switch_grpc, psa_switch, vitrine-sim"
        ),
        "{line}"
    );
}
