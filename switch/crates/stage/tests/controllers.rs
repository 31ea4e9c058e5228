//! Controllers that come and go while a network runs: whatever they leave half-done, no frame vanishes.

use crate::rig;

use chance::Chance;
use messages::vitrine::v1;
use rig::{Rig, end};
use v1::app::Kind;
use v1::fault_request::Kind as Fault;

const NETWORKS: u64 = 40;
const STEPS: usize = 60;

/// Between two steps of time a controller connects and loads the program, goes away, or goes away
/// in the middle of a call; cables are cut and repaired, routers restart without a program.
#[test]
fn no_frame_vanishes_whoever_goes_away() {
    let (mut carried, mut abandoned) = (0, 0);
    for seed in 0..NETWORKS {
        let mut dice = Chance::new(seed, "controllers");
        let mut rig = Rig::wire(seed);
        let listener = v1::Listener { port: 5201, ..Default::default() };
        rig.start("h2", Kind::Listener(listener));
        let to = Some(v1::Peer { host: "h2".to_owned(), port: 5201 });
        let until = Some(v1::bulk::Until::LengthBytes(2_000_000));
        rig.start("h1", Kind::Bulk(v1::Bulk { to, until, ..Default::default() }));
        rig.start("h2", Kind::Ping(v1::Ping { to: "h1".to_owned(), ..Default::default() }));
        for step in 0..STEPS {
            let place = end("s1", Some(1 + dice.below(2) as u32));
            match dice.below(8) {
                0 => rig.load(1),
                1 => rig.forsake(dice.below(4) as usize),
                2 => abandoned += u64::from(rig.load_in_part(1, dice.below(6))),
                3 => rig.fault(Fault::Cut(place)),
                4 | 5 => rig.fault(Fault::Mend(place)),
                6 if dice.below(3) == 0 => rig.fault(Fault::Restart("s1".to_owned())),
                _ => (),
            }
            rig.advance_ms(1 + dice.below(80));
            let books = rig.look().books.expect("there is a network");
            assert!(books.balanced, "seed {seed}, step {step}: {books:?}");
        }
        carried += rig.look().books.expect("there is a network").sent;
    }
    assert!(carried > 10_000, "the networks stood still: {carried}");
    assert!(abandoned > 0, "no call was abandoned");
}
