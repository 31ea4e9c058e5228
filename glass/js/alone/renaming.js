// Tables that have another name in another version of a program: their entries go with them.

// Map of a table's id -> its id under the new name. A table has been renamed where one of its shape is gone, one has
// come, and no other could be meant.
export function renamedTables(before, after) {
  const namesOf = ({ tables }) => new Set(tables.map((each) => each.preamble.name));
  const [old, now] = [namesOf(before), namesOf(after)];
  const gone = byShape(before.tables.filter((each) => !now.has(each.preamble.name)));
  const come = byShape(after.tables.filter((each) => !old.has(each.preamble.name)));
  const pairs = [...gone].filter(([shape, tables]) => tables.length === 1 && come.get(shape)?.length === 1);
  return new Map(pairs.map(([shape, [table]]) => [table.preamble.id, come.get(shape)[0].preamble.id]));
}

// The shape that an entry must fit: keys, and actions with their numbers.
function byShape(tables) {
  const found = new Map();
  for (const each of tables) {
    const keys = each.match_fields.map(({ id, name, bitwidth, match_type: type }) => [id, name, bitwidth, type]);
    const shape = JSON.stringify([keys, each.action_refs.map(({ id }) => id).sort()]);
    found.set(shape, [...(found.get(shape) ?? []), each]);
  }
  return found;
}

// An update, of the table as it is called now.
export function renamed(update, tables) {
  const { table_entry: entry } = update.entity, id = entry && tables.get(entry.table_id);
  return id === undefined ? update : { ...update, entity: { ...update.entity, table_entry: { ...entry, table_id: id } } };
}
