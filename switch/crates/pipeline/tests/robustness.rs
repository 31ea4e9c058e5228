//! No packet and no JSON makes the pipeline panic, loop or lose its head.

use crate::common;

use common::{EXTERNS, LAB_ROUTER, load, send};
use pipeline::native::Compile;
use pipeline::{CloneSession, Config, Node, Pipeline};
use proptest::prelude::*;
use units::PortId;

/// A switch on which every request of the program leads somewhere.
fn wired() -> Pipeline {
    let mut pipeline = load(EXTERNS);
    for session in 0..8 {
        let config =
            CloneSession { port: Some(PortId(4)), group: Some(1), ..CloneSession::default() };
        pipeline.replication.set_session(session, Some(config));
    }
    let ports = (0..4).map(PortId).collect();
    pipeline.replication.set_group(1, Some(vec![Node { rid: 1, ports, lags: Vec::new() }]));
    pipeline
}

/// The JSON with one value exchanged for another that occurs in such files.
fn exchange(json: &str, at: usize, by: usize) -> String {
    const VALUES: [&str; 12] = [
        "null",
        "0",
        "-1",
        "4294967295",
        "65536",
        "true",
        "\"\"",
        "[]",
        "{}",
        "\"0xffffff\"",
        "7",
        "[1]",
    ];
    // Values follow a colon or stand between commas; any place does for a test.
    let places: Vec<usize> = json.match_indices(": ").map(|(place, _)| place + 2).collect();
    let start = places[at % places.len()];
    let end = start + json[start..].find([',', '}', ']', '\n']).unwrap_or(0);
    format!("{}{}{}", &json[..start], VALUES[by % VALUES.len()], &json[end..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_pass_through_and_end(what in 0u8..20, bytes: Vec<u8>, cut in 0usize..40) {
        let mut pipeline = wired();
        let mut packet = vec![what];
        packet.extend(bytes);
        packet.truncate(cut);
        let outputs = send(&mut pipeline, &packet);
        prop_assert!(!outputs.is_empty(), "every packet ends somewhere");
    }

    #[test]
    fn damaged_json_is_refused_or_runs(at: usize, by: usize, bytes: [u8; 24]) {
        for json in [EXTERNS, LAB_ROUTER] {
            let text = std::str::from_utf8(json).unwrap();
            let damaged = exchange(text, at, by);
            match Pipeline::load(damaged.as_bytes(), &Config::default()) {
                Ok(mut pipeline) => drop(send(&mut pipeline, &bytes)),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}

fn refusal(from: &str, to: &str) -> String {
    let text = std::str::from_utf8(EXTERNS).unwrap();
    assert!(text.contains(from), "{from}");
    Pipeline::load(text.replacen(from, to, 1).as_bytes(), &Config::default())
        .unwrap_err()
        .to_string()
}

#[test]
fn a_refusal_names_the_place_and_what_there_is_instead() {
    let error = refusal(r#"["ask", "what"]"#, r#"["ask", "whatever"]"#);
    assert!(error.contains("/transition_key/0"), "{error}");
    assert!(
        error.contains(
            "there is no field of header type ask_t \"whatever\"; known: what, arg, data"
        ),
        "{error}"
    );
    let error = refusal(r#""op": "mark_to_drop""#, r#""op": "mark_to_keep""#);
    assert!(error.contains("there is no primitive \"mark_to_keep\""), "{error}");
}

#[test]
fn a_program_that_cannot_be_compiled_is_interpreted() {
    let compile: Compile = |_| Err("no such processor".to_owned());
    let config = Config { compile: Some(compile), ..Config::default() };
    let mut pipeline = Pipeline::load(LAB_ROUTER, &config).unwrap();
    assert!(!pipeline.is_native());
    assert_eq!(pipeline.native_failure(), Some("no such processor"));
    assert_eq!(send(&mut pipeline, &[0; 64]), send(&mut load(LAB_ROUTER), &[0; 64]));
}

#[test]
fn a_control_that_goes_in_circles_is_refused() {
    let mut program = bmv2::read(LAB_ROUTER).unwrap();
    let first = program.pipelines[0].init_table.clone();
    for table in &mut program.pipelines[0].tables {
        table.base_default_next = first.clone();
        if let bmv2::NextTables::ByAction(nexts) = &mut table.next_tables {
            nexts.iter_mut().for_each(|(_, next)| *next = first.clone());
        }
    }
    let error = Pipeline::new(&program, &Config::default()).unwrap_err();
    assert!(error.message.contains("circle"), "{error}");
}

#[test]
fn a_parser_that_makes_no_progress_ends_with_an_error() {
    let mut program = bmv2::read(EXTERNS).unwrap();
    for state in &mut program.parsers[0].parse_states {
        state.operations.clear();
        state.transition_key.clear();
        state.transitions = vec![bmv2::Transition {
            matches: bmv2::TransitionMatch::Default,
            next_state: Some(state.name.clone()),
        }];
    }
    let mut pipeline = Pipeline::new(&program, &Config::default()).unwrap();
    assert_eq!(send(&mut pipeline, &[1, 2, 3]).len(), 1);
}
