// A pointer over a track of the timeline: the wheel zooms, dragging pans, with shift it measures, a click goes
// to its instant.

// A pointer that moves less than this many pixels clicks.
const DRAG_LEAST = 4;

// `secondsAt(event)` is the instant below the pointer.
export function listen(node, secondsAt, { onHover, onSeek, onMove, onMeasure }) {
  let hasDragged = false;
  node.addEventListener("pointermove", (event) => onHover(secondsAt(event)));
  node.addEventListener("pointerleave", () => onHover(undefined));
  node.addEventListener("wheel", (event) => {
    event.preventDefault();
    const at = secondsAt(event) * 1e12;
    onMove((axis) => (event.deltaY < 0 ? axis.closer(at) : axis.wider(at)));
  }, { passive: false });
  node.addEventListener("click", (event) => {
    const at = secondsAt(event);
    // The end of a drag is no click; a click ends a measured span.
    if (Number.isFinite(at) && !hasDragged) {
      onMeasure(at, at);
      onSeek(at);
    }
    hasDragged = false;
  });
  node.addEventListener("pointerdown", (event) => {
    const begin = secondsAt(event), beginX = event.clientX;
    let last = begin;
    hasDragged = false;
    const ending = new AbortController(), end = () => ending.abort();
    addEventListener("pointermove", (move) => {
      if (!hasDragged && Math.abs(move.clientX - beginX) < DRAG_LEAST) return;
      hasDragged = true;
      const at = secondsAt(move);
      if (event.shiftKey) {
        onMeasure(Math.min(begin, at), Math.max(begin, at));
        return;
      }
      onMove((axis) => axis.pan((last - at) * 1e12));
      // The axis has moved below the pointer.
      last = secondsAt(move);
    }, { signal: ending.signal });
    addEventListener("pointerup", end, { signal: ending.signal });
    addEventListener("pointercancel", end, { signal: ending.signal });
    node.setPointerCapture?.(event.pointerId);
  });
}
