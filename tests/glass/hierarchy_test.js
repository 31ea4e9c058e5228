// A change of a scheduler's tree affects the given node, and no other.

import { changedAt, innerNodes, movedBelow, nodeAt, nodesWithPaths, startingTree } from "../../glass/js/model/hierarchy.js";
import { holds, same } from "./check.js";

const shape = (node) => (node.leaf ? node.leaf.class : { [node.name]: (node.children ?? []).map(shape) });

export function each_class_begins_with_its_part_of_the_line() {
  const root = startingTree([0, 1, 2], 9e6);
  same(shape(root), { port: [0, 1, 2] });
  same(root.children.map((each) => [each.rate_bps, each.ceil_bps, each.leaf.class]), [[3e6, 9e6, 0], [3e6, 9e6, 1], [3e6, 9e6, 2]]);
  same(nodesWithPaths(root).map(({ path }) => path), [[], [0], [1], [2]]);
}

export function one_node_is_changed_and_the_old_tree_is_left_alone() {
  const root = startingTree([0, 1], 8e6);
  const changed = changedAt(root, [1], { ceil_bps: 5e6 });
  same([nodeAt(changed, [1]).ceil_bps, nodeAt(root, [1]).ceil_bps], [5e6, 8e6]);
  holds(changed.children[0] === root.children[0], "the other leaf is the same one");
  same(changedAt(root, [], { rate_bps: 1 }).rate_bps, 1);
}

export function a_leaf_goes_below_a_new_node_and_others_follow_it() {
  const root = startingTree([0, 1, 2], 9e6);
  const grouped = movedBelow(root, [1], undefined);
  same(shape(grouped), { port: [0, { group1: [1] }, 2] });
  same(nodeAt(grouped, [1]).rate_bps, 3e6, "it has what its child has");
  const both = movedBelow(grouped, [2], [1]);
  same(shape(both), { port: [0, { group1: [1, 2] }] });
  same([nodeAt(both, [1]).rate_bps, both.rate_bps], [6e6, 9e6], "its guarantee goes with it:");
  const back = movedBelow(both, [1, 1], []);
  same([shape(back), nodeAt(back, [1]).rate_bps], [{ port: [0, { group1: [1] }, 2] }, 3e6]);
  same(innerNodes(both).map(({ node }) => node.name), ["port", "group1"]);
  same(shape(movedBelow(both, [0], undefined)), { port: [{ group2: [0] }, { group1: [1, 2] }] });
  // Where it stands already it stays.
  holds(movedBelow(both, [1, 0], [1]) === both, "nothing has changed");
}

export function a_node_without_children_goes() {
  const grouped = movedBelow(startingTree([0, 1], 8e6), [1], undefined);
  same(shape(movedBelow(grouped, [1, 0], [])), { port: [0, 1] });
}
