// The handout of a lab beside the view: that of the lesson, or any other.

import { element } from "./dom.js";
import { markdown } from "./markdown.js";

export class HandoutPanel {
  constructor(glass) {
    this.glass = glass;
    const { handouts, lesson } = glass.scene;
    this.lab = element("select", { "aria-label": "Handout of the lab", onchange: () => this.read() },
      ...handouts.map((each) => element("option", { value: each, selected: each === lesson }, each)));
    this.text = element("div", { class: "handout" });
    this.node = element("div", {}, this.lab, this.text);
  }

  // It is read when it is looked at.
  async show() {
    if (!this.isRead) await this.read();
  }

  async read() {
    const lab = this.lab.value;
    try {
      const text = await this.glass.calls.handout(lab);
      if (lab !== this.lab.value) return;
      this.isRead = true;
      this.text.replaceChildren(...markdown(text));
    } catch (error) {
      this.text.replaceChildren(element("p", { class: "refused", role: "alert" }, error.message));
    }
  }
}
