// Light or dark: as the system has it, until the viewer says otherwise.

const KEY = "vitrine.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

export function theme() {
  return remembered() ?? (dark.matches ? "dark" : "light");
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

let chosen;

function remembered() {
  try {
    return localStorage.getItem(KEY) ?? chosen;
  } catch {
    return chosen;
  }
}

dark.addEventListener("change", applyTheme);
