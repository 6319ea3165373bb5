// A small deterministic generator of random numbers (sfc32, seeded through splitmix32).
//
// A mutant is a pure function of (seed, index), so that one case of a run of 20,000 can be made
// again alone, and so that two worker processes give the same set as one.

function splitmix32(state) {
  let a = state >>> 0
  return () => {
    a = (a + 0x9e3779b9) >>> 0
    let t = a ^ (a >>> 16)
    t = Math.imul(t, 0x21f0aaad)
    t ^= t >>> 15
    t = Math.imul(t, 0x735a2d97)
    return (t ^ (t >>> 15)) >>> 0
  }
}

export class Rng {
  constructor(seed, stream = 0) {
    const mix = splitmix32(Math.imul(seed | 0, 0x85ebca6b) ^ (stream | 0))
    mix()
    this.a = mix() ^ splitmix32(stream)()
    this.b = mix()
    this.c = mix()
    this.d = 1
    for (let i = 0; i < 12; i += 1) this.u32()
  }

  u32() {
    const t = (((this.a + this.b) | 0) + this.d) | 0
    this.d = (this.d + 1) | 0
    this.a = this.b ^ (this.b >>> 9)
    this.b = (this.c + (this.c << 3)) | 0
    this.c = ((this.c << 21) | (this.c >>> 11)) + t | 0
    return t >>> 0
  }

  /** An integer from 0 up to, but not including, `bound`. */
  below(bound) {
    return bound <= 1 ? 0 : Math.floor((this.u32() / 4294967296) * bound)
  }

  /** An integer from `low` to `high`, both included. */
  between(low, high) {
    return low + this.below(high - low + 1)
  }

  chance(probability) {
    return this.u32() / 4294967296 < probability
  }

  pick(list) {
    return list[this.below(list.length)]
  }

  /** Picks a `[weight, value]` entry by weight. */
  weighted(entries) {
    let total = 0
    for (const [weight] of entries) total += weight
    let at = (this.u32() / 4294967296) * total
    for (const [weight, value] of entries) {
      at -= weight
      if (at < 0) return value
    }
    return entries.at(-1)[1]
  }

  shuffled(list) {
    const copy = [...list]
    for (let i = copy.length - 1; i > 0; i -= 1) {
      const j = this.below(i + 1)
      const held = copy[i]
      copy[i] = copy[j]
      copy[j] = held
    }
    return copy
  }
}
