// Where the page begins: connect, and hand over to the glass; or say why there is nothing to see.

import { Glass } from "./page/glass.js";
import { applyTheme } from "./page/theme.js";
import { sayWhy } from "./page/whole.js";
import { connect } from "./wire/socket.js";
import { Calls } from "./wire/calls.js";
import { readSchema } from "./wire/schema.js";

const page = document.getElementById("page");
let glass;
let shown = "";

async function begin() {
  applyTheme();
  const token = location.hash.slice(1);
  if (!token) return sayWhy(page, "token");
  try {
    const answer = await fetch("schema");
    const schema = readSchema(new Uint8Array(await answer.arrayBuffer()));
    const address = `ws://${location.host}/socket?token=${encodeURIComponent(token)}`;
    await connect(address, {
      scene: (way, scene) => show(new Calls(way, schema), scene),
      lost: () => glass?.lose(),
      source: (file) => textOf(`source?file=${encodeURIComponent(file)}`, token),
      handout: (lab) => textOf(`handout?lab=${encodeURIComponent(lab)}`, token),
    });
  } catch (error) {
    sayWhy(page, "away", error);
  }
  return undefined;
}

async function textOf(way, token) {
  const answer = await fetch(way, { headers: { Authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error("the server has no such text");
  return answer.text();
}

// Another network is up, or which port the present one is about has changed.
function show(calls, scene) {
  if (scene.routers.length === 0) {
    // The page still shows the last network until the next one is there.
    if (!glass) sayWhy(page, "empty");
    return;
  }
  const network = JSON.stringify([scene.world, scene.began, scene.routers, scene.network]);
  if (network === shown) {
    glass.scene.about = scene.about;
    return;
  }
  shown = network;
  glass?.end();
  glass = new Glass(page, calls, scene);
  glass.settle();
  // For tests and for the curious.
  window.vitrine = glass;
}

begin();
