// Light or dark: as the system has it, until the viewer says otherwise.

const KEY = "vitrine.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
// Kept here: a browser fires no event for a change if the value was read before the event, and the picture reads its
// colours in each frame.
let isDark = dark.matches;

export function theme() {
  return forced ?? remembered() ?? (isDark ? "dark" : "light");
}

export function applyTheme() {
  document.documentElement.dataset.theme = theme();
}

export function toggleTheme() {
  const other = theme() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(KEY, other);
  } catch {
    // A page from a disk may not be allowed to remember; then it is for this time only.
    chosen = other;
  }
  applyTheme();
}

// Print is light, whatever the viewer prefers on a screen.
export function inLight(act) {
  forced = "light";
  applyTheme();
  try {
    return act();
  } finally {
    forced = undefined;
    applyTheme();
  }
}

let chosen, forced;

function remembered() {
  try {
    return localStorage.getItem(KEY) ?? chosen;
  } catch {
    return chosen;
  }
}

dark.addEventListener("change", ({ matches }) => {
  isDark = matches;
  applyTheme();
});
