// A number over time, kept as it changes: what curves are drawn of without going through every step.

export class Track {
  constructor() {
    this.times = [];
    this.values = [];
  }

  push(timePs, value) {
    this.times.push(timePs);
    this.values.push(value);
  }

  // The place of the first change after an instant.
  after(timePs) {
    let low = 0, high = this.times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= timePs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // The value at an instant; before the first change `otherwise`.
  at(timePs, otherwise = 0) {
    const place = this.after(timePs) - 1;
    return place >= 0 ? this.values[place] : otherwise;
  }

  // The same where it changes evenly from each point to the next; after the last one it stays.
  sloped(timePs, otherwise = 0) {
    const place = this.after(timePs) - 1;
    if (place < 0) return otherwise;
    const [from, to] = [this.values[place], this.values[place + 1] ?? this.values[place]];
    return to === from ? from : from + ((to - from) * (timePs - this.times[place])) / (this.times[place + 1] - this.times[place]);
  }

  // Forgets what is older, but for the value that holds then.
  forget(beforePs) {
    const drop = this.after(beforePs) - 1;
    if (drop <= 0) return;
    this.times.splice(0, drop);
    this.values.splice(0, drop);
  }
}
