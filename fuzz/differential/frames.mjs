// Zstandard frames: as the writer makes them, and built by hand block by block.

import { constants, zstdCompressSync } from 'node:zlib'
import { checksum } from './xxh64.mjs'

export const MAGIC = Buffer.from('28b52ffd', 'hex')

/** A frame as Node's zlib makes it; the real writer's has the checksum and no content size. */
export function compressed(plain, { withChecksum = true, withSize = false, level } = {}) {
  const params = { [constants.ZSTD_c_checksumFlag]: withChecksum ? 1 : 0 }
  if (level !== undefined) params[constants.ZSTD_c_compressionLevel] = level
  const options = { params }
  if (withSize) {
    params[constants.ZSTD_c_contentSizeFlag] = 1
    options.pledgedSrcSize = plain.length
  }
  return zstdCompressSync(plain, options)
}

export function blockHeader(isLast, type, size) {
  const out = Buffer.alloc(3)
  out.writeUIntLE((isLast ? 1 : 0) | (type << 1) | (size << 3), 0, 3)
  return out
}

/** The blocks of a frame, as `{type, size, payload}`. */
export function blocksOf(frame) {
  const descriptor = frame[4]
  const sizeFlag = descriptor >>> 6
  const isSingle = (descriptor & 32) !== 0
  const sizeBytes = sizeFlag === 0 ? (isSingle ? 1 : 0) : 1 << sizeFlag
  let at = 5 + (isSingle ? 0 : 1) + [0, 1, 2, 4][descriptor & 3] + sizeBytes
  const blocks = []
  for (;;) {
    const head = frame.readUIntLE(at, 3)
    const type = (head >>> 1) & 3
    const size = head >>> 3
    const length = type === 1 ? 1 : size
    blocks.push({ at, type, size, payload: frame.subarray(at + 3, at + 3 + length) })
    at += 3 + length
    if ((head & 1) !== 0) return { blocks, headEnd: blocks[0].at, tail: frame.subarray(at) }
  }
}

/**
 * Splits plaintext into raw blocks, RLE blocks for runs, and at most one compressed block. What
 * zstd made for a piece alone looks back at nothing, but a second such block would take over the
 * first one's repeated offsets.
 */
export function blocksFor(plain, rng, mix = 'mixed') {
  const blocks = []
  let at = 0
  let isMixed = mix === 'mixed'
  while (at < plain.length) {
    let run = 1
    while (at + run < plain.length && plain[at + run] === plain[at] && run < 131072) run += 1
    if (mix !== 'raw' && run >= 4) {
      blocks.push({ type: 1, size: run, payload: plain.subarray(at, at + 1) })
      at += run
      continue
    }
    const size = Math.min(plain.length - at, mix === 'whole' ? 131072 : rng.between(1, 400))
    const piece = plain.subarray(at, at + size)
    if (isMixed && rng.chance(0.3)) {
      blocks.push(...blocksOf(zstdCompressSync(piece)).blocks)
      isMixed = false
    } else blocks.push({ type: 0, size, payload: piece })
    at += size
  }
  if (blocks.length === 0 || rng.chance(0.05)) blocks.push({ type: 0, size: 0,
    payload: Buffer.alloc(0) })
  return blocks
}

const CONTENT_SIZE_BYTES = { 0: 1, 1: 2, 2: 4, 3: 8 }

/**
 * A frame from its parts. `size` is the declared content size or undefined, `sizeFlag` how it is
 * stored, `window` the window byte (absent in a single-segment frame), `dictionary` the bytes of a
 * dictionary id.
 */
export function built(blocks, {
  isSingle = false, size, sizeFlag = 2, window = 0x58, dictionary = Buffer.alloc(0), bits = 0, sum,
} = {}) {
  const dictionaryFlag = [0, 1, 2, undefined, 3][dictionary.length]
  const flag = size === undefined ? 0 : sizeFlag
  const flags = (isSingle ? 32 : 0) | (sum === undefined ? 0 : 4)
  const descriptor = (flag << 6) | flags | dictionaryFlag | bits
  const parts = [MAGIC, Buffer.from([descriptor])]
  if (!isSingle) parts.push(Buffer.from([window]))
  parts.push(dictionary)
  if (size !== undefined && (flag !== 0 || isSingle)) {
    const stored = Buffer.alloc(8)
    stored.writeBigUInt64LE(BigInt(flag === 1 ? size - 256 : size) & 0xffffffffffffffffn)
    parts.push(stored.subarray(0, CONTENT_SIZE_BYTES[flag]))
  }
  blocks.forEach((block, index) => {
    parts.push(blockHeader(index === blocks.length - 1, block.type, block.size), block.payload)
  })
  if (sum !== undefined) parts.push(sum)
  return Buffer.concat(parts)
}

/** A lawful hand-built frame, with random choices of all that a reader must not care about. */
export function handmade(plain, rng, mix = rng.pick(['raw', 'mixed', 'whole'])) {
  const options = { window: rng.pick([0x50, 0x58, 0x60, 0x78]) }
  if (rng.chance(0.5)) options.sum = checksum(plain)
  const { length } = plain
  if (rng.chance(0.4)) {
    options.size = length
    options.sizeFlag = length >= 256 && length < 65792 && rng.chance(0.5) ? 1 : rng.pick([2, 3])
    options.isSingle = rng.chance(0.5)
    if (length < 256 && options.isSingle && rng.chance(0.5)) options.sizeFlag = 0
  }
  return built(blocksFor(plain, rng, mix), options)
}
