// Where the page begins: connect, and hand over to the glass; or say why there is nothing to see.

import { Glass } from "./page/glass.js";
import { applyTheme } from "./page/theme.js";
import { sayWhy } from "./page/whole.js";
import { connect } from "./wire/socket.js";
import { Calls } from "./wire/calls.js";
import { readSchema } from "./wire/schema.js";

const page = document.getElementById("page");

async function begin() {
  applyTheme();
  const token = location.hash.slice(1);
  if (!token) return sayWhy(page, "token");
  try {
    const answer = await fetch("schema");
    const schema = readSchema(new Uint8Array(await answer.arrayBuffer()));
    const address = `ws://${location.host}/socket?token=${encodeURIComponent(token)}`;
    const { way, scene } = await connect(address, () => glass?.lose());
    if (scene.routers.length === 0) return sayWhy(page, "empty");
    const glass = new Glass(page, new Calls(way, schema), scene);
    // For tests and for the curious.
    window.vitrine = glass;
  } catch (error) {
    sayWhy(page, "away", error);
  }
  return undefined;
}

begin();
