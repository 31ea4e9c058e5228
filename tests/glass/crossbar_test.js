// The crossbar of the load slider against the exact results of Karol, Hluchyj and Morgan.

import { Crossbar, FIFO_MOST, fifoWait, outputWait } from "../../glass/js/model/crossbar.js";
import { holds, same } from "./check.js";

function near(found, wanted, share, what) {
  holds(Math.abs(found - wanted) <= share * wanted, `${what}: found ${found}, wanted ${wanted}`);
}

function measured(ports, load, slots) {
  const crossbar = new Crossbar({ ports, load });
  crossbar.run(1000);
  crossbar.begin();
  crossbar.run(slots);
  return crossbar.found;
}

// labs/hol_blocking/theory.py has the same numbers.
export function fifos_carry_what_the_theory_says() {
  for (const [ports, share] of [[2, 0.75], [4, 0.655242], [8, 0.61839], [16, 0.60162]]) {
    near(measured(ports, 1, 40_000).carried, share, 0.01, `${ports} ports`);
  }
  near(FIFO_MOST, 0.586, 0.001, "many ports");
}

export function waits_are_those_of_the_formulas() {
  near(fifoWait(0.5), 23 / 12, 1e-9, "FIFOs at 0.5, by hand");
  // 128 ports are not infinitely many: they wait a little less.
  for (const load of [0.2, 0.4, 0.5]) near(measured(128, load, 5000).wait, fifoWait(load), 0.07, `FIFOs at ${load}`);
  for (const load of [0.2, 0.5, 0.8]) near(measured(16, load, 40_000).outputWait, outputWait(16, load), 0.06, `outputs at ${load}`);
  same([fifoWait(0), fifoWait(0.6), outputWait(4, 0)], [0, Infinity, 0]);
}

export function the_same_load_has_the_same_numbers() {
  same(measured(8, 0.5, 500), measured(8, 0.5, 500));
  // Not all of it is carried, and nothing is carried twice.
  const { carried } = measured(8, 0.3, 40_000);
  near(carried, 0.3, 0.02, "carried");
}
