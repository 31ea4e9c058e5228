// The keyboard: everything that time can do without a pointer.

import { help } from "./help.js";
import { toggleTheme } from "./theme.js";

export const KEYS = [
  ["Space", "play or pause"],
  ["→  ←", "the next, the previous thing that happens"],
  ["S", "what a step leads to: every event, packets that come, go or are dropped, slots of the crossbar"],
  ["N, Shift N", "the next, the previous packet of the picture: what it is"],
  ["Q, Shift Q", "the next, the previous queue: its depth is drawn"],
  ["Shift →  ←", "a fiftieth of what is remembered"],
  ["+  −", "faster, slower"],
  ["L", "follow a live router"],
  ["0 … 9", "the network, or router 1 to 9"],
  ["P", "present, on a projector"],
  ["T", "light or dark"],
  ["?", "this list"],
];

// Fields that take what is typed.
const FIELDS = "input:not([type=range]), select, textarea, dialog, [contenteditable=true]";
// Controls that arrows move, those of tabs once the keyboard has reached them. The instant's slider is none: its
// arrows step as everywhere.
const MOVED = "[role=tab]", SLIDERS = "input[type=range]:not(.scrub *)";

// Until `signal` aborts.
export function onKey(glass, signal) {
  // The element clicked last; the keyboard's way to a control is Tab.
  let clicked;
  document.addEventListener("pointerdown", (event) => (clicked = event.target), { signal, capture: true });
  // A control reached by keyboard takes keys for itself; a clicked one has had its click.
  const takesKeys = (target, controls) => {
    const control = target.closest(controls);
    return Boolean(control) && !control.contains(clicked);
  };
  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (key === "Tab") clicked = undefined;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.closest(FIELDS)) return;
    if (key.startsWith("Arrow") && (takesKeys(target, MOVED) || target.matches(SLIDERS))) return;
    if (key === " " && takesKeys(target, "button, summary")) return;
    const action = actionOf(glass, event);
    if (!action) return;
    event.preventDefault();
    // Tabs and selections have keys of their own.
    event.stopPropagation();
    action();
  }, { signal, capture: true });
  // After a choice with the pointer, keys are for time again.
  document.addEventListener("change", ({ target }) => target.matches("select") && target.contains(clicked) && target.blur(), { signal });
  // The space bar presses a button when it is released.
  document.addEventListener("keyup", (event) => {
    if (event.key === " " && event.target.closest("button, summary") && !takesKeys(event.target, "button, summary")) event.preventDefault();
  }, { signal, capture: true });
}

function actionOf(glass, { key, shiftKey }) {
  const { player } = glass;
  const far = (player.toldPs - player.startPs) / 50;
  switch (key) {
    case " ": return () => player.toggle();
    case "ArrowRight": return shiftKey ? () => player.seek(player.timePs + far) : () => glass.timeBar.step(1);
    case "ArrowLeft": return shiftKey ? () => player.seek(player.timePs - far) : () => glass.timeBar.step(-1);
    case "+": case "=": return () => player.faster();
    case "-": case "−": return () => player.slower();
    case "l": case "L": return player.isLive ? () => player.follow() : undefined;
    case "s": case "S": return () => glass.timeBar.nextUnit();
    case "n": case "N": return glass.view.choosePacket && (() => glass.view.choosePacket(shiftKey ? -1 : 1));
    case "q": case "Q": return glass.view.chooseQueue && (() => glass.view.chooseQueue(shiftKey ? -1 : 1));
    case "p": case "P": return () => glass.present();
    case "t": case "T": return () => toggleTheme();
    case "?": return () => help(glass.page, KEYS);
    default: return /^[0-9]$/.test(key) ? placeOf(glass, Number(key)) : undefined;
  }
}

function placeOf(glass, number) {
  if (number === 0) return glass.network.isKnown ? () => glass.enter("") : undefined;
  const router = glass.scene.routers[number - 1];
  return router && (() => glass.enter(router.name));
}
