// The network on the stage: a click on a router enters it.

import { networkLayout, networkPicture, networkLabels } from "../draw/network.js";

export class NetworkView {
  constructor(glass) {
    this.glass = glass;
  }

  draw(timePs) {
    const { glass } = this;
    if (!glass.stage.size.width) return;
    const { width, height } = glass.stage.size;
    if (this.made?.width !== width || this.made?.height !== height) {
      this.made = { width, height, layout: networkLayout(glass.network, { width, height }) };
    }
    const moment = { timePs, pace: glass.player.pace, models: glass.models, moves: !glass.motion.matches };
    glass.stage.show(networkPicture(this.made.layout, moment, glass.palette), { width, height });
  }

  drawSlowly(timePs) {
    const { glass } = this;
    if (!this.made) return;
    glass.stage.label(networkLabels(this.made.layout, { timePs, models: glass.models },
      (name) => glass.enter(name)));
    glass.routerView.drawSlowly && glass.notice.replaceChildren(noticeOf());
    glass.notice.classList.remove("found");
    glass.routerView.said = undefined;
  }
}

function noticeOf() {
  const words = document.createElement("p");
  words.textContent = "The network: click a router to look inside.";
  return words;
}
