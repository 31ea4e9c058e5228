// The stage: a canvas for what moves, and over it labels as text.
//
// `show` is called for each picture with the shapes; labels change ten times a second at most and are
// kept by their ids, so that nothing is laid out anew while only numbers change.

import { paint, spotAt } from "../draw/paint.js";
import { element, setText } from "./dom.js";

// Where a label stands from its point.
const ALIGNS = {
  above: "translateY(-100%)", beside: "translate(-100%, -50%)", middle: "translateY(-50%)",
  ending: "translate(-100%, -100%)",
};

export class Stage {
  constructor() {
    this.canvas = element("canvas", { "aria-hidden": "true" });
    this.labels = element("div", { class: "labels" });
    this.tipNode = element("div", { class: "tip", role: "tooltip", hidden: true });
    // It may be higher than its room, and is scrolled by keyboard, too.
    this.box = element("div", { class: "canvas", tabindex: 0, role: "region", "aria-label": "The picture" }, this.canvas, this.labels, this.tipNode);
    this.box.addEventListener("pointerleave", () => this.tip());
    this.context = this.canvas.getContext("2d");
    this.known = new Map();
    this.spots = [];
    this.size = { width: 0, height: 0 };
    this.observer = new ResizeObserver(() => this.measure());
    this.observer.observe(this.box);
  }

  measure() {
    const { clientWidth: width, clientHeight: height } = this.box;
    this.size = { width, height };
  }

  // The canvas may be higher than its box, which then scrolls.
  fit(width, height) {
    const scale = window.devicePixelRatio || 1;
    const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
    if (this.canvas.width === w && this.canvas.height === h) return;
    this.canvas.width = w;
    this.canvas.height = h;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.labels.style.height = `${height}px`;
  }

  show({ shapes, spots }, { width, height }) {
    this.fit(width, height);
    const scale = window.devicePixelRatio || 1;
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.context.clearRect(0, 0, width, height);
    paint(this.context, shapes);
    this.spots = spots;
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
    const [x, y] = [event.clientX - box.left, event.clientY - box.top + this.box.scrollTop];
    this.tipNode.style.cssText = `left:${Math.min(x + 14, box.width - 250)}px;top:${y + 16}px`;
    setText(this.tipNode, lines.join("\n"));
  }

  spotAt(event) {
    const box = this.canvas.getBoundingClientRect();
    return spotAt(this.spots, event.clientX - box.left, event.clientY - box.top);
  }
}
