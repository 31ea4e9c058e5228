// The stage: a canvas for the static part, one for the moving part, and over them labels as text.
//
// `show` is called for each picture with the shapes that move; `stand` with those that do not, when
// they have changed. Labels change ten times a second at most and are kept by their ids, so that nothing
// is laid out anew while only numbers change.

import { paint, spotAt } from "../draw/paint.js";
import { element, setText } from "./dom.js";

// The size of the page's text when it is not presented.
const FONT_PX = 15;

// Where a label stands from its point.
const ALIGNS = {
  above: "translateY(-100%)", beside: "translate(-100%, -50%)", middle: "translateY(-50%)",
  ending: "translate(-100%, -100%)", right: "translateX(-100%)",
};

export class Stage {
  constructor(name = "The picture") {
    this.ground = element("canvas", { "aria-hidden": "true" });
    this.canvas = element("canvas", { "aria-hidden": "true" });
    this.labels = element("div", { class: "labels" });
    this.tipNode = element("div", { class: "tip", role: "tooltip", hidden: true });
    // It may be higher than its room, and is scrolled by keyboard, too.
    const view = element("div", { class: "view" }, this.ground, this.canvas);
    this.box = element("div", { class: "canvas", tabindex: 0, role: "region", "aria-label": name }, view, this.labels, this.tipNode);
    this.box.addEventListener("pointerleave", () => this.tip());
    this.top = 0;
    // Whether the user has scrolled.
    this.isMoved = false;
    for (const each of ["wheel", "touchmove", "keydown", "pointerdown"]) {
      this.box.addEventListener(each, () => (this.isMoved = true), { passive: true });
    }
    this.box.addEventListener("scroll", () => (this.top = this.box.scrollTop), { passive: true });
    this.context = this.canvas.getContext("2d");
    // By what the ground is as it is.
    this.standing = undefined;
    this.known = new Map();
    this.spots = [];
    this.size = { width: 0, height: 0 };
    this.observer = new ResizeObserver(() => this.measure());
    this.observer.observe(this.box);
  }

  measure() {
    const { clientWidth: width, clientHeight: height } = this.box;
    this.size = { width, height };
    this.scale = parseFloat(getComputedStyle(document.documentElement).fontSize) / FONT_PX;
  }

  // The picture may be higher than its box, which then scrolls: the canvases are as large as the box, and
  // show the part that is in sight.
  fit(layout) {
    const { width, height } = this.size;
    const scale = window.devicePixelRatio || 1;
    setHeight(this.labels, layout.height);
    const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
    if (this.canvas.width === w && this.canvas.height === h) return;
    for (const each of [this.ground, this.canvas]) {
      each.width = w;
      each.height = h;
      each.style.width = `${width}px`;
      each.style.height = `${height}px`;
    }
    this.standing = undefined;
  }

  // The static part of a layout, in a palette; `shapes()` is called only if one of them is another.
  stand(layout, palette, shapes) {
    this.fit(layout);
    const [top] = this.sight, { standing } = this;
    if (standing?.layout === layout && standing.palette === palette && standing.top === top) return;
    this.standing = { layout, palette, top };
    this.wipe(this.ground.getContext("2d"), top);
    paint(this.ground.getContext("2d"), shapes());
  }

  show({ shapes, spots }) {
    this.wipe(this.context, this.sight[0]);
    paint(this.context, shapes);
    this.spots = spots;
  }

  wipe(context, top) {
    const scale = window.devicePixelRatio || 1;
    const { width, height } = this.size;
    context.setTransform(scale, 0, 0, scale, 0, -top * scale);
    context.clearRect(0, top, width, height);
  }

  // Scrolls, where the picture is higher than its box, so that a height is in the middle, or as near to it as leaves
  // everything from `top` to `bottom` in sight.
  centre(y, { top = Infinity, bottom = 0 } = {}) {
    this.isMoved = false;
    const { height } = this.size;
    this.box.scrollTop = Math.min(top, Math.max(bottom - height, y - height / 2));
  }

  end() {
    this.observer.disconnect();
  }

  // From which height to which the picture is in sight.
  get sight() {
    return [this.top, this.top + this.size.height];
  }

  // All that is seen, canvases and words, as an address of a picture; `below`, a canvas, is put below it.
  picture(below) {
    const all = element("canvas", {
      width: Math.max(this.canvas.width, below?.width ?? 0), height: this.canvas.height + (below?.height ?? 0),
    });
    const context = all.getContext("2d");
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, all.width, all.height);
    for (const each of [this.ground, this.canvas]) context.drawImage(each, 0, 0);
    if (below) context.drawImage(below, 0, this.canvas.height);
    const scale = window.devicePixelRatio || 1;
    context.scale(scale, scale);
    context.textBaseline = "middle";
    const { left, top } = this.box.getBoundingClientRect();
    for (const { main, small } of this.known.values()) {
      for (const each of [main, small].filter(({ textContent }) => textContent)) {
        const { color, font } = getComputedStyle(each), place = each.getBoundingClientRect();
        Object.assign(context, { font, fillStyle: color });
        context.fillText(each.textContent, place.left - left, place.top - top + place.height / 2);
      }
    }
    return all.toDataURL("image/png");
  }

  // labels: [{id, x, y, kind, text, small, action}]; those that are not named any more go.
  label(labels) {
    const wanted = new Set();
    for (const label of labels) {
      wanted.add(label.id);
      let known = this.known.get(label.id);
      if (!known) {
        known = this.make(label);
        this.known.set(label.id, known);
        this.labels.append(known.node);
      }
      const place = `left:${Math.round(label.x)}px;top:${Math.round(label.y)}px`;
      const style = label.align ? `${place};transform:${ALIGNS[label.align]}` : place;
      if (known.style !== style) known.node.style.cssText = known.style = style;
      const kind = label.kind ?? "";
      if (known.kind !== kind) known.node.className = known.kind = kind;
      setText(known.main, label.text ?? "");
      setText(known.small, label.small ?? "");
    }
    for (const [id, { node }] of this.known) {
      if (wanted.has(id)) continue;
      node.remove();
      this.known.delete(id);
    }
  }

  make(label) {
    const main = element("span", {});
    const small = element("span", { class: "small" });
    const node = label.action
      ? element("button", { type: "button", onclick: label.action }, main, small)
      : element("div", {}, main, small);
    return { node, main, small };
  }

  // A few lines beside the pointer; without any there is no tip.
  tip(event, lines = []) {
    this.tipNode.hidden = lines.length === 0;
    if (!lines.length) return;
    const box = this.box.getBoundingClientRect();
    const [x, y] = this.pointAt(event);
    this.tipNode.style.cssText = `left:${Math.min(x + 14, box.width - 250)}px;top:${y + 16}px`;
    setText(this.tipNode, lines.join("\n"));
  }

  // Where in the picture a pointer is.
  pointAt(event) {
    const box = this.box.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top + this.box.scrollTop];
  }

  spotAt(event) {
    return spotAt(this.spots, ...this.pointAt(event));
  }
}

function setHeight(node, height) {
  const wanted = `${height}px`;
  if (node.style.height !== wanted) node.style.height = wanted;
}
