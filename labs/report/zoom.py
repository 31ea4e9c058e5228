"""How the pictures of a report are enlarged: by click, wheel, keys and fingers, around where one
looks.

Without scripts the link above a picture makes it larger or smaller all the same.
"""

SCRIPT = """
const STEP = 1.25, LARGE = 2.2, MOST = 8;
for (const figure of document.querySelectorAll("figure")) {
  const [view, picture, box] = ["div", "img", "input"].map((name) => figure.querySelector(name));
  let size = 1;
  view.tabIndex = 0;

  // Makes it so many times as large; what is at (x, y) of the view stays there.
  function zoom(factor, x = view.clientWidth / 2, y = view.clientHeight / 2) {
    const to = Math.min(MOST, Math.max(1, size * factor));
    if (to === size) return;
    const left = ((view.scrollLeft + x) * to) / size - x;
    const top = ((view.scrollTop + y) * to) / size - y;
    // The view stays as high as it was, so that the page does not move.
    if (size === 1) view.style.maxHeight = `${view.clientHeight}px`;
    size = to;
    picture.style.width = `${100 * size}%`;
    picture.style.maxWidth = "none";
    box.checked = size > 1;
    view.scrollTo(left, top);
  }

  box.addEventListener("change", () => zoom((box.checked ? LARGE : 1) / size));
  view.addEventListener("click", (event) => {
    const { left, top } = view.getBoundingClientRect();
    zoom((size > 1 ? 1 : LARGE) / size, event.clientX - left, event.clientY - top);
  });
  view.addEventListener("wheel", (event) => {
    // The wheel alone moves the page; two fingers on a touchpad come as a wheel with Ctrl.
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { left, top } = view.getBoundingClientRect();
    zoom(event.deltaY < 0 ? STEP : 1 / STEP, event.clientX - left, event.clientY - top);
  }, { passive: false });
  view.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const factor = { "+": STEP, "=": STEP, "-": 1 / STEP, 0: 1 / size }[event.key];
    if (factor) zoom(factor);
  });

  let apart = 0;
  view.addEventListener("touchmove", (event) => {
    if (event.touches.length !== 2) return;
    event.preventDefault();
    const [a, b] = event.touches;
    const now = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    const { left, top } = view.getBoundingClientRect();
    const [x, y] = [(a.clientX + b.clientX) / 2 - left, (a.clientY + b.clientY) / 2 - top];
    if (apart) zoom(now / apart, x, y);
    apart = now;
  }, { passive: false });
  view.addEventListener("touchend", () => { apart = 0; });
}
"""
