// Acts at the handles are logged and taken back in the order in which they were done.

import * as acts from "../../glass/js/model/acts.js";
import { Handles } from "../../glass/js/page/handles.js";
import { World } from "../../glass/js/page/world.js";
import { same } from "./check.js";

// A router with one rate to set, and a picture that may be late. `pictures` are the waits for it, one an act.
function desk(pictures = []) {
  const about = (rate_bps) => ({ ports: [{ port: 1, config: { rate_bps, queue_count: 1, queues: [] } }] });
  const samples = { abouts: [about(100)] };
  const glass = {
    model: { name: "s1", samples }, player: { toldPs: 0 }, scene: { routers: [], world: "virtual" }, side: {},
    describe: async () => samples.abouts.push(about(glass.rate)),
  };
  const handles = new Handles(glass);
  handles.steering.set("s1", { configure: async ({ ports: [{ config }] }) => { glass.rate = config.rate_bps; } });
  // The fields are not looked at here.
  handles.show = () => {};
  glass.side.handles = handles;
  glass.world = new World(glass);
  glass.world.catchUp = async () => pictures.shift();
  glass.world.act = (title) => ({ title, calls: [["Inject", {}]] });
  glass.world.call = async () => ({ app: 7 });
  return { handles, glass };
}

const titles = ({ done }) => done.map(({ act }) => act.title.split(" ")[0]);

export async function an_act_whose_picture_is_late_still_goes_before_the_next_one() {
  let draw;
  const { handles, glass } = desk([new Promise((resolve) => { draw = resolve; })]);
  const both = [handles.act({ ...acts.lineRate(1, 200), title: "first" }), handles.act({ ...acts.lineRate(1, 300), title: "second" })];
  setTimeout(draw, 20);
  same(await Promise.all(both), [true, true]);
  same(titles(handles), ["first", "second"]);
  await handles.takeBack();
  same(glass.rate, 200);
  await handles.takeBack();
  same(glass.rate, 100);
}

export async function a_sender_started_after_an_act_is_taken_back_before_it() {
  let draw;
  const { handles, glass } = desk([new Promise((resolve) => { draw = resolve; })]);
  const act = handles.act({ ...acts.lineRate(1, 200), title: "first" });
  const number = glass.world.cut({ node: "h1" });
  setTimeout(draw, 20);
  await Promise.all([act, number]);
  same(titles(handles), ["first", "Cable"]);
}

export async function undo_takes_back_what_is_still_in_flight() {
  let draw;
  const { handles, glass } = desk([new Promise((resolve) => { draw = resolve; })]);
  handles.act(acts.lineRate(1, 200));
  const back = handles.takeBack();
  setTimeout(draw, 20);
  await back;
  same([glass.rate, titles(handles)], [100, []]);
}

export async function a_refused_act_does_not_bar_the_next_one() {
  const { handles, glass } = desk();
  const { configure } = handles.steeringOf(glass.model);
  handles.steeringOf(glass.model).configure = async (request) => {
    if (request.ports[0].config.rate_bps === 200) throw new Error("port 1: no");
    return configure(request);
  };
  same(await Promise.all([handles.act(acts.lineRate(1, 200)), handles.act(acts.lineRate(1, 300))]), [false, true]);
  same(glass.rate, 300);
}
