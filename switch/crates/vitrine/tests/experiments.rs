//! The front doors `vitrine-sim fabric` and `vitrine-sim queue`, as a user meets them.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

fn sim(arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vitrine"))
        .arg("vitrine-sim")
        .args(arguments.split(' '))
        .output()
        .expect("the program was built with this test")
}

/// The JSON lines of a run that must succeed.
fn lines(arguments: &str) -> Vec<Value> {
    let output = sim(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {stderr}");
    let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

/// The message of a run that must fail.
fn complaint(arguments: &str) -> String {
    let output = sim(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments}");
    String::from_utf8(output.stderr).expect("messages are UTF-8")
}

fn number(line: &Value, name: &str) -> f64 {
    line[name].as_f64().unwrap_or_else(|| panic!("{name} is a number in {line}"))
}

#[test]
fn a_fabric_run_tells_its_waits_throughput_and_balance() {
    let runs =
        lines("fabric --ports 8 --input none,voq --arbiter islip:2,pim:2 --load 0.5 --slots 5000");
    let routers: Vec<_> = runs.iter().map(|run| run["arbiter"].as_str()).collect();
    assert_eq!(routers, [None, Some("islip:2"), Some("pim:2")]);
    for run in &runs {
        assert!((number(run, "throughput") - 0.5).abs() < 0.02, "{run}");
        // At half load, 7/8 x .5 / (2 x .5) = .4375 slots for output queues, at most .7 for VOQs.
        assert!((0.4..0.7).contains(&number(run, "wait_slots")), "{run}");
        assert_eq!(run["conserved"], true);
    }
}

#[test]
fn a_sweep_runs_every_load_and_a_plot_is_an_svg() {
    let file = std::env::temp_dir().join(format!("vitrine-sim-{}.svg", std::process::id()));
    let plot = file.to_str().expect("a temporary name is text");
    let runs = lines(&format!("fabric --ports 4 --sweep 0.2:0.6:0.2 --slots 500 --plot {plot}"));
    let loads: Vec<f64> = runs.iter().map(|run| number(run, "load")).collect();
    assert_eq!(loads, [0.2, 0.4, 0.6]);
    let svg = fs::read_to_string(&file).expect("the figure was written");
    fs::remove_file(&file).expect("it is ours");
    assert!(svg.starts_with("<svg") && svg.contains("voq islip:4"));
}

#[test]
fn a_queue_run_tells_each_class_apart() {
    let run =
        &lines("queue --loads 2,2 --lengths 64,1500 --scheduler drr --limits 64 --seconds 5")[0];
    let classes = run["classes"].as_array().expect("a list");
    assert_eq!(classes.len(), 2);
    for class in classes {
        assert!((number(class, "share_of_line") - 0.5).abs() < 0.01, "{class}");
        assert!(number(class, "loss") > 0.7, "{class}");
    }
}

#[test]
fn the_same_arguments_print_the_same_bytes() {
    for arguments in
        ["fabric --arbiter pim:3 --slots 2000", "queue --aqm red --limits 50 --seconds 2"]
    {
        let other_seed = format!("{arguments} --seed 2");
        assert_eq!(sim(arguments).stdout, sim(arguments).stdout, "{arguments}");
        assert_ne!(sim(arguments).stdout, sim(&other_seed).stdout, "{arguments}");
    }
}

#[test]
fn what_cannot_be_run_is_refused_with_advice() {
    let cases = [
        (
            "fabric --arbiter fastest",
            "use one of islip, lqf, ocf, pim, random, round_robin, wavefront",
        ),
        ("queue --scheduler fairest", "use strict, tree, drr, wfq, wrr"),
        ("fabric --pattern unbalanced:2", "unbalanced:W with W from 0 to 1"),
        ("fabric --load 1.5", "not between 0 and 1"),
        ("fabric --slots 10 --plot figure.png", "a name that ends in .svg"),
        ("queue --rate 10", "write a positive number and a unit"),
        ("queue --loads 0.5,0.5 --weights 1,2,3,4,5 --sweep x", "write FROM:TO:STEP"),
        ("queue --limits 0 --seconds 1", "give at least one packet's worth"),
    ];
    for (arguments, advice) in cases {
        let said = complaint(arguments);
        assert!(said.contains(advice), "{arguments}: {said}");
    }
}
