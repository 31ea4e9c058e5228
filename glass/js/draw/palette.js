// Colours: of flows after Okabe and Ito (2008), which people with any kind of colour vision tell
// apart, a little brighter in the dark; and those of the drawing.

export const PALETTES = {
  light: {
    flows: ["#0072b2", "#e07b00", "#009e73", "#b0508a", "#3aa0e0", "#c04000", "#8a7d00", "#6b6b80"],
    other: "#8b93a1",
    ground: "#f6f7f9", panel: "#ffffff", wall: "#c3cad5", wire: "#d5dae2", line: "#9aa4b2",
    ink: "#1a212c", faint: "#5d6878", alarm: "#c02a1c", lit: "#1a212c", mark: "#ffffff",
    queue: "#eef1f5", node: "#ffffff", accent: "#0b62a8", pointer: "#7c8796",
  },
  dark: {
    flows: ["#4ba3e3", "#f5a623", "#2fc79b", "#e08fc0", "#8fd0ff", "#f2703a", "#e8dc5a", "#a9b1c4"],
    other: "#77808f",
    ground: "#0e131a", panel: "#151b24", wall: "#3a4554", wire: "#27303c", line: "#556173",
    ink: "#e8edf4", faint: "#94a0b2", alarm: "#ff6b5a", lit: "#ffffff", mark: "#0e131a",
    queue: "#10161e", node: "#1b2330", accent: "#6cb6f0", pointer: "#7d8899",
  },
};

export function flowColour(palette, flow) {
  if (!flow || flow.number < 0) return palette.other;
  return palette.flows[flow.colour];
}
