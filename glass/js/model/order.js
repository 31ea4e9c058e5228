// Lists in the order of time: where an instant is in them, and how they stay of bounded length.

// The place of the first element later than `timePs`; `time` is the name of its instant.
export function placeAfter(list, timePs, time = "time_ps") {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle][time] <= timePs) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Those from one instant to another, both included; of very many some, evenly, and the last.
export function within(list, fromPs, toPs, most = Infinity) {
  let from = placeAfter(list, fromPs);
  while (from > 0 && list[from - 1].time_ps === fromPs) from--;
  const to = placeAfter(list, toPs);
  const stride = Math.ceil((to - from) / most);
  if (stride <= 1) return list.slice(from, to);
  const found = [];
  for (let index = to - 1; index >= from; index -= stride) found.push(list[index]);
  return found.reverse();
}

// Where there are more than `most`, every other one of the older half goes: what is long past is
// remembered more coarsely.
export function thin(list, most, isKept = () => false) {
  if (list.length <= most) return;
  const half = list.length >> 1;
  let at = 0;
  for (let index = 0; index < list.length; index++) {
    if (index >= half || index % 2 === 0 || isKept(list[index], list[index - 1])) list[at++] = list[index];
  }
  list.length = at;
}
