// The network on the stage: a click on a router enters it.

import { networkLayout, networkPicture, networkLabels } from "../draw/network.js";
import { portOf } from "../model/samples.js";
import { percent, rate } from "../words.js";
import { table } from "./dom.js";

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
    glass.notice.replaceChildren(noticeOf());
    if (glass.details.open) this.tables(timePs);
    glass.notice.classList.remove("found");
    glass.routerView.said = undefined;
  }

  // The same for those who do not see it: every line that a router sends on.
  tables(timePs) {
    const { glass } = this;
    const rows = glass.network.cables.flatMap((cable) => [cable, cable.toReversed()]).flatMap(([near, far]) => {
      const model = glass.models.get(near.node);
      const counters = portOf(model?.samples.at(timePs), near.port);
      if (!counters) return [];
      return [[`${near.node} → ${far.node}`, percent(counters.utilisation_permille / 1000), rate(model.samples.rateAt(timePs, near.port))]];
    });
    glass.tables.replaceChildren(table("Cables", ["way", "busy", "carries"], rows));
  }
}

function noticeOf() {
  const words = document.createElement("p");
  words.textContent = "The network: click a router to look inside. Lanes are as thick as they are busy; full ones are red.";
  return words;
}
