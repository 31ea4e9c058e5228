// Entities that controllers wrote into a router, as updates that write them into another program.

import { read } from "../page/tables_panel.js";
import { P4RUNTIME } from "../wire/calls.js";
import { hexOf } from "../model/frame.js";

// In an order in which each finds what it refers to.
const WRITTEN = [
  { action_profile_member: {} }, { action_profile_group: {} },
  { packet_replication_engine_entry: { multicast_group_entry: {} } },
  { packet_replication_engine_entry: { clone_session_entry: {} } },
  { table_entry: { meter_config: {} } },
];

// [update] of the router `deviceId`: what its program brings along itself is not among them.
export async function entriesOf(calls, deviceId) {
  const router = { name: "", deviceId };
  const updates = [];
  for (const asked of WRITTEN) {
    // A program without such a thing refuses the question.
    const found = await read(calls, router, [asked]).catch(refusedOnly([]));
    updates.push(...found.filter((each) => !each.table_entry?.is_const).map((entity) => ({ type: "INSERT", entity })));
  }
  return [...updates, ...await defaultsOf(calls, router)];
}

// The default entries that are not those of the program.
async function defaultsOf(calls, router) {
  const { config } = await calls.call("", P4RUNTIME, "GetForwardingPipelineConfig",
    { device_id: router.deviceId, response_type: "P4INFO_AND_COOKIE" });
  const tables = new Map(config.p4info.tables.map((each) => [each.preamble.id, each]));
  const asked = [...tables.keys()].map((id) => ({ table_entry: { table_id: id, is_default_action: true } }));
  if (!asked.length) return [];
  const found = await read(calls, router, asked).catch(refusedOnly([]));
  return found.filter(({ table_entry: entry }) => isWritten(entry, tables.get(entry.table_id)))
    .map((entity) => ({ type: "MODIFY", entity }));
}

function isWritten({ action }, { const_default_action_id: fixed, initial_default_action: first }) {
  if (fixed || !action?.action) return false;
  const said = (id, params) => JSON.stringify([id, params.map((each) => [each.param_id, hexOf(each.value)])]);
  const { action_id: id, params } = action.action;
  return said(id, params) !== said(first?.action_id, first?.arguments ?? []);
}

// A refusal is answered with `instead`; that the router has gone is none.
function refusedOnly(instead) {
  return (error) => {
    if (error.code === undefined) throw error;
    return instead;
  };
}
