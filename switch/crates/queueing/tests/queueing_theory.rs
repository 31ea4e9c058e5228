//! One port against queueing theory: waits and losses with closed forms or exact chains.

use queueing::one_port::{self, ClassOutcome, Experiment, Source};
use queueing::{Arrivals, Lengths};
use traffic::{Ecn, Limit, PortConfig};
use units::{Bytes, ClassId, Rate, Span};

/// 8 Mb/s: a byte takes 1 us, a packet of 1000 bytes 1 ms.
const RATE: Rate = Rate::from_mbps(8);
const MEAN_LENGTH: Bytes = Bytes(1000);

fn source(class: u8, load: f64, lengths: Lengths) -> Source {
    let gap = Span::from_ps((lengths.mean() * 1e6 / load).round() as u64);
    Source { class: ClassId(class), arrivals: Arrivals::Poisson { gap }, lengths, ecn: Ecn::NotEct }
}

/// Runs sources on one port; the wait of each class in mean service times of 1 ms.
fn run(sources: Vec<Source>, limit: Limit, seconds: u64) -> Vec<ClassOutcome> {
    let mut port = PortConfig::strict(Some(RATE), sources.len());
    port.queues.iter_mut().for_each(|queue| queue.limit = limit);
    let experiment = Experiment {
        port,
        sources,
        warm_up: Span::from_secs(10),
        duration: Span::from_secs(seconds),
        seed: 20_261_121,
        sample_every: None,
    };
    let outcome = one_port::run(&experiment).expect("the test's configuration is valid");
    assert!(outcome.conserved, "the books balance");
    outcome.classes
}

/// Asserts a mean wait in services, within three of the run's standard errors, which must be
/// small.
fn assert_wait(what: &str, outcome: &ClassOutcome, exact: f64) {
    let (mean, plus_minus) = (outcome.wait.mean * 1e3, outcome.wait.plus_minus * 1e3);
    assert!((mean - exact).abs() < 1.5 * plus_minus, "{what}: {exact}, saw {mean} +- {plus_minus}");
    assert!(plus_minus < 0.05 * exact, "{what}: {mean} +- {plus_minus} is too uncertain");
}

#[test]
fn waits_of_fixed_packets_are_those_of_m_d_1() {
    // Wq = rho / (2 (1 - rho)).
    for (load, exact) in [(0.3, 0.2143), (0.5, 0.5), (0.7, 1.1667), (0.8, 2.0), (0.9, 4.5)] {
        let classes = run(vec![source(0, load, Lengths::Fixed(MEAN_LENGTH))], Limit::NONE, 1500);
        assert_wait(&format!("M/D/1 at {load}"), &classes[0], exact);
    }
}

#[test]
fn waits_of_exponential_packets_are_those_of_m_m_1() {
    // Wq = rho / (1 - rho). Lengths of 10,000 bytes on average make rounding to bytes negligible,
    // so here a service takes 10 ms.
    for (load, exact) in [(0.5, 1.0), (0.8, 4.0)] {
        let lengths = Lengths::Exponential(Bytes(10_000));
        let mut classes = run(vec![source(0, load, lengths)], Limit::NONE, 20_000);
        classes[0].wait.mean /= 10.0;
        classes[0].wait.plus_minus /= 10.0;
        assert_wait(&format!("M/M/1 at {load}"), &classes[0], exact);
    }
}

#[test]
fn waits_of_mixed_packets_follow_pollaczek_and_khinchine() {
    // IMIX: E[S] = 361.83 us, E[S^2] = (7 x 64^2 + 4 x 594^2 + 1518^2) / 12 = 312,029.7 us^2.
    // Wq = lambda E[S^2] / (2 (1 - rho)) with lambda = .8 / 361.83 us: 1.7247 ms.
    let classes = run(vec![source(0, 0.8, Lengths::imix())], Limit::NONE, 1500);
    assert_wait("IMIX at .8", &classes[0], 1.7247);
}

/// The share of packets lost with room for K, the one in service included: K - 1 may wait.
fn loss(load: f64, lengths: Lengths, k: u64, seconds: u64) -> f64 {
    let classes = run(vec![source(0, load, lengths)], Limit::packets(k - 1), seconds);
    let counters = &classes[0].counters;
    counters.dropped_in_all().packets as f64 / counters.offered.packets as f64
}

#[test]
fn losses_of_fixed_packets_are_those_of_m_d_1_k() {
    let figures = [
        (0.5, 2, 9.627e-2),
        (0.8, 2, 0.1996),
        (0.8, 5, 3.529e-2),
        (0.9, 10, 1.663e-2),
        (1.0, 5, 0.1035),
        (1.0, 20, 2.521e-2),
        (1.1, 10, 0.1068),
    ];
    for (load, k, exact) in figures {
        let seen = loss(load, Lengths::Fixed(MEAN_LENGTH), k, 800);
        assert!((seen / exact - 1.0).abs() < 0.04, "M/D/1/{k} at {load}: {exact}, saw {seen}");
    }
}

#[test]
fn losses_of_exponential_packets_are_those_of_m_m_1_k() {
    // (1 - rho) rho^K / (1 - rho^(K + 1)), and 1 / (K + 1) at rho = 1.
    let figures = [
        (0.8, 2, 0.2623),
        (0.8, 10, 2.349e-2),
        (0.9, 5, 0.1260),
        (1.0, 10, 9.091e-2),
        (1.1, 20, 0.1051),
    ];
    for (load, k, exact) in figures {
        let seen = loss(load, Lengths::Exponential(Bytes(10_000)), k, 8_000);
        assert!((seen / exact - 1.0).abs() < 0.04, "M/M/1/{k} at {load}: {exact}, saw {seen}");
    }
}

#[test]
fn strict_priority_shares_out_the_waiting_as_theory_says() {
    // Two classes of fixed packets at .4 each: R = .8 / 2 = .4, W1 = R / (1 - .4) = .667,
    // W2 = R / (.6 x .2) = 3.333; their mean is the FIFO's 2.
    let low = source(0, 0.4, Lengths::Fixed(MEAN_LENGTH));
    let high = source(1, 0.4, Lengths::Fixed(MEAN_LENGTH));
    let classes = run(vec![low, high], Limit::NONE, 4000);
    assert_wait("high", &classes[1], 2.0 / 3.0);
    assert_wait("low", &classes[0], 10.0 / 3.0);
    let mean = (classes[0].wait.mean + classes[1].wait.mean) / 2.0 * 1e3;
    assert!((mean - 2.0).abs() < 0.1, "conservation law: {mean}");
}
