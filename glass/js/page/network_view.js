// The network on the stage: a click on a router enters it.

import { networkCables, networkLayout, networkLabels, networkPicture, shareOf } from "../draw/network.js";
import { WINDOW_WORDS } from "../model/samples.js";
import { percent, rateWords } from "../words.js";
import { element, table } from "./dom.js";

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
    const { layout } = this.made;
    glass.stage.stand(layout, glass.palette, () => networkCables(layout, glass.palette));
    this.picture = networkPicture(layout, moment, glass.palette);
    glass.stage.show(this.picture);
  }

  drawSlowly(timePs) {
    const { glass } = this;
    if (!this.made) return;
    glass.stage.label(networkLabels(this.made.layout, { timePs, models: glass.models },
      (name) => glass.enter(name)));
    this.say(this.picture?.isTooFast || [...glass.models.values()].some((each) => each.isHurried));
    if (glass.details.open) this.tables(timePs);
  }

  say(isTooFast) {
    const { notice, routerView } = this.glass;
    const lanes = "Lanes are as thick as they are busy; full ones are red.";
    const words = isTooFast ? `Too fast to follow single packets. ${lanes} Click a router to look inside.`
      : `The network: click a router to look inside. ${lanes}`;
    if (notice.textContent === words) return;
    notice.classList.remove("found");
    notice.replaceChildren(element("p", {}, words));
    // The router says its own again.
    routerView.said = undefined;
  }

  // The same for those who do not see it: every line, each way.
  tables(timePs) {
    const { glass } = this;
    const rows = glass.network.cables.flatMap((cable) => [cable, cable.toReversed()]).flatMap(([near, far]) => {
      const sender = glass.models.get(near.node), receiver = glass.models.get(far.node);
      if (!sender && !receiver) return [];
      const carried = sender ? sender.samples.rateAt(timePs, near.port) : receiver.samples.receivedAt(timePs, far.port);
      return [[`${near.node} → ${far.node}`, percent(shareOf({ models: glass.models, timePs }, near, far)), rateWords(carried)]];
    });
    glass.tables.replaceChildren(table("Cables", ["way", "busy", `carries, ${WINDOW_WORDS}`], rows));
  }
}
