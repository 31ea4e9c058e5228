// The side: handles, the packet that was clicked, the log; one at a time, as tabs.

import { ArbiterPanel } from "./arbiter_panel.js";
import { element } from "./dom.js";
import { LESSONS } from "../lessons.js";
import { FlowsPanel } from "./flows_panel.js";
import { HandoutPanel } from "./handout_panel.js";
import { Handles } from "./handles.js";
import { LessonPanel } from "./lesson.js";
import { PacketPanel } from "./packet_panel.js";
import { ProgramPanel } from "./program_panel.js";

export class Side {
  constructor(glass) {
    this.glass = glass;
    this.tabs = element("div", { role: "tablist", "aria-label": "Beside the picture" });
    this.panels = element("div", { style: "display:contents" });
    this.node = element("aside", { class: "side" }, this.tabs, this.panels);
    this.list = [];
    this.packet = new PacketPanel(glass);
    const { readOnly, world, lesson: lessonName } = glass.scene;
    const isSteered = !readOnly && world !== "recorded", lesson = LESSONS[lessonName];
    if (isSteered) this.handles = new Handles(glass);
    // A lesson about a recording needs nothing that can be steered.
    if (lesson && (isSteered || world === "recorded")) {
      this.add("lesson", "Lesson", (this.lesson = new LessonPanel(glass, lesson)).node);
    }
    if (isSteered) {
      this.add("handles", "Handles", this.handles.node);
      if (glass.world) this.add("flows", "Flows", (this.flows = new FlowsPanel(glass)).node);
      this.add("log", "Log", this.handles.log);
    }
    this.add("packet", "Packet", this.packet.node);
    this.arbiter = new ArbiterPanel(glass);
    this.arbiterTab = this.add("arbiter", "Arbiter", this.arbiter.node);
    this.arbiterTab.hidden = true;
    if (glass.scene.handouts?.length && glass.calls.way?.handout) {
      this.handout = new HandoutPanel(glass);
      this.add("handout", "Handout", this.handout.node);
    }
    this.program = new ProgramPanel(glass);
    this.add("program", "Program", this.program.node);
  }

  // Packets that were followed while a recording was made: what they ran counts, and those that are
  // clicked tell it.
  followed(model, steps) {
    this.packet.know(model, steps);
    // A recording may have no program: then there is nothing to count.
    this.program.cover(model, steps).catch(() => {});
  }

  add(id, title, content) {
    const panel = element("div", { role: "tabpanel", id: `panel-${id}`, "aria-labelledby": `tab-${id}`, tabindex: 0 }, content);
    const tab = element("button", {
      type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}`,
      onclick: () => this.choose(id), onkeydown: (event) => this.key(event, id),
    }, title);
    this.tabs.append(tab);
    this.panels.append(panel);
    this.list.push({ id, tab, panel });
    this.choose(this.list[0].id);
    return tab;
  }

  choose(id) {
    for (const each of this.list) {
      const is = each.id === id;
      each.tab.setAttribute("aria-selected", String(is));
      each.tab.tabIndex = is ? 0 : -1;
      each.panel.hidden = !is;
    }
    this.chosen = id;
    // A program needs more room than handles.
    const page = this.node.closest("#page");
    page?.toggleAttribute("data-wide", id === "program");
    page?.toggleAttribute("data-lesson", id === "lesson");
    if (id === "program") this.program.show();
    if (id === "handout") this.handout.show();
    if (id === "flows") this.flows.read();
    if (id === "arbiter") this.arbiter.show();
  }

  key(event, id) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const shown = this.list.filter((each) => !each.tab.hidden);
    const at = shown.findIndex((each) => each.id === id);
    const next = shown[(at + step + shown.length) % shown.length];
    this.choose(next.id);
    next.tab.focus();
  }

  showPacket(packet) {
    this.packet.show(packet);
    this.choose("packet");
  }

  // A line of the program, marked there.
  showLine(place) {
    this.choose("program");
    this.program.showLine(place);
  }

  entered() {
    this.packet.entered();
    this.program.entered();
    if (this.chosen === "program") this.program.show();
  }

  show() {
    this.handles?.show();
    this.lesson?.show();
    this.flows?.show();
    this.packet.refresh();
    this.arbiterTab.hidden = !this.arbiter.hasArbiter;
    if (this.chosen === "arbiter") {
      if (this.arbiterTab.hidden) this.choose(this.list[0].id);
      else this.arbiter.show();
    }
    if (this.chosen === "program") this.program.refresh();
  }
}
