// XXH64 with seed 0, whose low 32 bits end a Zstandard frame with a checksum. Frames built by hand
// need it; Node offers no way to ask for it.

const MASK = (1n << 64n) - 1n
const P1 = 0x9e3779b185ebca87n
const P2 = 0xc2b2ae3d27d4eb4fn
const P3 = 0x165667b19e3779f9n
const P4 = 0x85ebca77c2b2ae63n
const P5 = 0x27d4eb2f165667c5n

const rotl = (x, r) => ((x << r) | (x >> (64n - r))) & MASK
const mul = (a, b) => (a * b) & MASK
const add = (a, b) => (a + b) & MASK
const round = (acc, input) => mul(rotl(add(acc, mul(input, P2)), 31n), P1)
const merge = (acc, value) => add(mul(acc ^ round(0n, value), P1), P4)

export function xxh64(bytes) {
  let at = 0
  let hash
  if (bytes.length >= 32) {
    let lanes = [add(P1, P2), P2, 0n, (MASK + 1n - P1) & MASK]
    for (; at + 32 <= bytes.length; at += 32) {
      lanes = lanes.map((lane, i) => round(lane, bytes.readBigUInt64LE(at + 8 * i)))
    }
    const turns = [1n, 7n, 12n, 18n]
    hash = lanes.reduce((sum, lane, i) => add(sum, rotl(lane, turns[i])), 0n)
    hash = lanes.reduce(merge, hash)
  } else hash = P5
  hash = add(hash, BigInt(bytes.length))
  for (; at + 8 <= bytes.length; at += 8) {
    hash = add(mul(rotl(hash ^ round(0n, bytes.readBigUInt64LE(at)), 27n), P1), P4)
  }
  if (at + 4 <= bytes.length) {
    hash = add(mul(rotl(hash ^ mul(BigInt(bytes.readUInt32LE(at)), P1), 23n), P2), P3)
    at += 4
  }
  for (; at < bytes.length; at += 1) hash = mul(rotl(hash ^ mul(BigInt(bytes[at]), P5), 11n), P1)
  hash = mul(hash ^ (hash >> 33n), P2)
  hash = mul(hash ^ (hash >> 29n), P3)
  return hash ^ (hash >> 32n)
}

export function checksum(bytes) {
  const out = Buffer.alloc(4)
  out.writeUInt32LE(Number(xxh64(bytes) & 0xffffffffn))
  return out
}
