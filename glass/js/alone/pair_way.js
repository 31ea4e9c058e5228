// A way to two networks at once: time, hosts and cables go to both, all other requests to the first.

const WORLD = "/vitrine.v1.World/";

export class PairWay {
  constructor(way, other) {
    Object.assign(this, { way, other });
  }

  async call(router, method, bytes) {
    if (!method.startsWith(WORLD)) return this.way.call(router, method, bytes);
    // A way may give the bytes away.
    const [answer] = await Promise.all([this.way.call(router, method, bytes.slice()), this.other.call(router, method, bytes.slice())]);
    return answer;
  }

  open(router, method, listener) {
    return this.way.open(router, method, listener);
  }
}
