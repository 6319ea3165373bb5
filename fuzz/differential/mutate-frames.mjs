// Mutants of frames: the Zstandard container, wrong or merely unusual. A log in plain text has no
// frames; there the same class tears and pads the file as a storage block would.

import { zstdCompressSync } from 'node:zlib'
import { LF } from './lines.mjs'
import { MAGIC, blockHeader, blocksFor, blocksOf, built, compressed, handmade } from './frames.mjs'
import { checksum } from './xxh64.mjs'

/** Makes a mutator of one frame: a change of its bytes, given its plaintext. */
function onFrame(alter, { notFirst = false } = {}) {
  return (log, rng) => {
    const from = notFirst ? 1 : 0
    if (log.frames.length <= from) return false
    const at = rng.chance(0.5) ? log.frames.length - 1 : rng.between(from, log.frames.length - 1)
    const frame = log.frames[at]
    const bytes = alter(frame, rng, log)
    if (bytes === undefined || bytes === false) return false
    log.frames[at] = { ...frame, bytes }
    return true
  }
}

/** Tears the last frame after some of its bytes. */
function tear(choose) {
  return (log, rng) => {
    if (log.frames.length === 0) return false
    const last = log.frames.at(-1)
    const keep = choose(last, rng)
    if (keep === undefined) return false
    last.bytes = last.bytes.subarray(0, Math.max(0, keep))
    return true
  }
}

const put = (log, at, bytes, plain = Buffer.alloc(0)) => { log.frames.splice(at, 0,
  { plain, bytes }) }

const SHAPES = {
  'no-checksum': onFrame(({ plain }) => compressed(plain, { withChecksum: false })),
  'with-size': onFrame(({ plain }, rng) => compressed(plain,
    { withSize: true, level: rng.pick([1, 3, 19]) })),
  handmade: onFrame(({ plain }, rng) => handmade(plain, rng)),
  'all-handmade': (log,
    rng) => { for (const frame of log.frames) frame.bytes = handmade(frame.plain, rng) },
  'one-frame': (log) => {
    if (log.frames.length < 3) return false
    const plain = Buffer.concat(log.frames.slice(1).map((frame) => frame.plain))
    log.frames.splice(1, log.frames.length, { plain, bytes: compressed(plain) })
    return true
  },
  'frame-a-row': (log) => {
    const [head, ...rest] = log.frames
    const plain = Buffer.concat(rest.map((frame) => frame.plain))
    log.frames = [head]
    for (let at = 0; at < plain.length;) {
      const end = plain.indexOf(10, at) + 1 || plain.length
      const piece = plain.subarray(at, end)
      log.frames.push({ plain: piece, bytes: compressed(piece) })
      at = end
    }
  },
  'row-over-frames': (log, rng) => {
    const plain = Buffer.concat(log.frames.slice(1).map((frame) => frame.plain))
    if (plain.length < 2) return false
    log.frames.length = 1
    for (let at = 0; at < plain.length;) {
      const end = Math.min(plain.length, at + rng.between(1, Math.max(2, plain.length >> 1)))
      const piece = plain.subarray(at, end)
      log.frames.push({ plain: piece, bytes: rng.chance(0.7) ? compressed(piece) : handmade(piece,
        rng) })
      at = end
    }
    return true
  },
  'empty-frame': (log, rng) => {
    const at = rng.between(rng.chance(0.2) ? 0 : 1, log.frames.length)
    put(log, at, rng.chance(0.5) ? compressed(Buffer.alloc(0)) : built([{ type: rng.pick([0, 1]),
      size: 0, payload: Buffer.from('a').subarray(0, 0) }]))
  },
  'big-frame': (log, rng) => {
    // One row of a megabyte, in a few bytes: the loader's output buffer is exactly that long.
    const seq = log.eventCount
    const head = Buffer.from(`{"type":"plan/mode","seq":${seq},"time":1,"data":"`)
    const tail = Buffer.from('"}\n')
    const total = rng.pick([1 << 20, (1 << 20) - 1, (1 << 20) + 1, 2 << 20, 300_000])
    let fill = total - head.length - tail.length
    const blocks = [{ type: 0, size: head.length, payload: head }]
    // Blocks over 128 KiB are let through where the declared size fits the output buffer.
    const most = rng.chance(0.8) ? 131072 : 200_000
    for (; fill > 0; fill -= most) blocks.push({ type: 1, size: Math.min(fill, most),
      payload: Buffer.from('a') })
    blocks.push({ type: 0, size: tail.length, payload: tail })
    const isSized = rng.chance(0.5)
    const window = rng.chance(0.8) ? 0x78 : 0x90
    put(log, log.frames.length, built(blocks,
      isSized ? { size: total, isSingle: rng.chance(0.5), window } : { window }))
  },
}

const HEADER_FRAME = {
  'header-and-events': (log) => {
    const plain = Buffer.concat(log.frames.map((frame) => frame.plain))
    log.frames = [{ plain, bytes: compressed(plain) }]
  },
  'header-newlines': (log, rng) => {
    const [head] = log.frames
    const body = head.plain.subarray(0, -1)
    head.plain = Buffer.concat([body, rng.pick([Buffer.alloc(0), Buffer.concat([LF, LF]),
      Buffer.from('\r\n'), Buffer.from('\n ')])])
    head.bytes = compressed(head.plain)
  },
  'newline-before-header': (log) => {
    log.frames[0].plain = Buffer.concat([LF, log.frames[0].plain])
    log.frames[0].bytes = compressed(log.frames[0].plain)
  },
  'empty-first-frame': (log) => put(log, 0, compressed(Buffer.alloc(0))),
  'no-header-frame': (log) => { log.frames.shift() },
  'header-twice': (log) => put(log, 1, log.frames[0].bytes, log.frames[0].plain),
  'only-header-torn': tear((_, rng) => rng.below(12)),
  'torn-header-frame': (log, rng) => {
    log.frames.length = 1
    const { bytes } = log.frames[0]
    log.frames[0].bytes = bytes.subarray(0, rng.below(bytes.length))
  },
}

const DAMAGE = {
  'skippable-frame': (log, rng) => {
    const body = Buffer.from('note')
    const bytes = Buffer.concat([Buffer.from([0x50 + rng.below(16), 0x2a, 0x4d, 0x18, 4, 0, 0, 0]),
      body])
    put(log, rng.below(log.frames.length + 1), bytes)
  },
  'other-magic': (log, rng) => put(log, rng.between(0, log.frames.length), Buffer.concat([
    rng.pick([Buffer.from('27b52ffd', 'hex'), Buffer.from('1f8b0800', 'hex'),
      Buffer.from('0422184d', 'hex'), Buffer.alloc(4), Buffer.from('28b52ffe', 'hex')]),
    Buffer.alloc(rng.below(9)),
  ])),
  'stray-bytes': (log, rng) => put(log, log.frames.length,
    Buffer.alloc(rng.between(1, 6), rng.pick([0, 0x28, 0xff, 10]))),
  'start-of-magic': (log, rng) => put(log, log.frames.length, MAGIC.subarray(0, rng.between(1, 4))),
  'frame-lost': (log, rng) => { log.frames.splice(rng.below(log.frames.length), 1) },
  'frame-twice': (log, rng) => {
    const at = rng.below(log.frames.length)
    put(log, at + 1, log.frames[at].bytes, log.frames[at].plain)
  },
  'frames-swapped': (log, rng) => {
    if (log.frames.length < 3) return false
    const at = rng.between(1, log.frames.length - 2)
    log.frames.splice(at, 2, log.frames[at + 1], log.frames[at])
    return true
  },
  'descriptor-bit': onFrame(({ bytes }, rng) => {
    const copied = Buffer.from(bytes)
    copied[4] ^= rng.pick([0x08, 0x10, 0x18, 0x04, 0x20, 0x40, 0x80, 0x01, 0x02, 0x03, 0xc0])
    return copied
  }),
  'block-type': onFrame(({ bytes, plain }, rng) => {
    const copied = Buffer.from(bytes)
    if (copied.length < 9) return undefined
    const { blocks } = blocksOf(handmade(plain, rng, 'raw'))
    const fresh = built(blocks, {})
    const { at } = blocksOf(fresh).blocks[rng.below(blocks.length)]
    fresh[at] |= 0x06
    return fresh
  }),
  'block-size': onFrame(({ plain }, rng) => {
    const fresh = built(blocksFor(plain, rng, 'raw'), {})
    const block = rng.pick(blocksOf(fresh).blocks)
    const isLast = (fresh[block.at] & 1) !== 0
    blockHeader(isLast, rng.pick([block.type, 1, 2]),
      rng.pick([block.size + 1, Math.max(0, block.size - 1), 0, 131073, 2097151])).copy(fresh,
      block.at)
    return fresh
  }),
  'lost-last-bit': onFrame(({ plain }, rng) => {
    const fresh = built(blocksFor(plain, rng, 'raw'), {})
    fresh[blocksOf(fresh).blocks.at(-1).at] &= 0xfe
    return fresh
  }),
  dictionary: onFrame(({ plain }, rng) => built(blocksFor(plain, rng), {
    dictionary: rng.pick([Buffer.from([0]), Buffer.from([7]), Buffer.alloc(2), Buffer.from([1, 2]),
      Buffer.alloc(4), Buffer.from([9, 0, 0, 0])]),
    ...(rng.chance(0.4) ? { size: plain.length, sizeFlag: 3, isSingle: rng.chance(0.5) } : {}),
  })),
  window: onFrame(({ plain }, rng) => {
    // With a declared size that fits its buffer, libzstd never looks at the window.
    const isSized = rng.chance(0.5)
    return built(blocksFor(plain, rng, 'whole'), {
      window: rng.pick([0x00, 0x07, 0x01, 0x88, 0x89, 0x90, 0xa8, 0xf8, 0xff, 0x58]),
      ...(isSized ? { size: plain.length, sizeFlag: rng.pick([2, 3]) } : {}),
      ...(rng.chance(0.5) ? { sum: checksum(plain) } : {}),
    })
  }),
  'content-size': onFrame(({ plain }, rng) => built(blocksFor(plain, rng), {
    size: rng.pick([plain.length + 1, plain.length - 1, 0, 1 << 30, Number.MAX_SAFE_INTEGER,
      256 + plain.length]), sizeFlag: rng.pick([2, 3]),
    isSingle: rng.chance(0.5),
  })),
  checksum: onFrame(({ plain }, rng) => built(blocksFor(plain, rng), {
    sum: rng.pick([Buffer.alloc(4), checksum(Buffer.concat([plain, LF])),
      Buffer.from('00ffff00', 'hex')]),
  })),
  'small-window-big-block': onFrame(({ plain }, rng) => {
    const padded = Buffer.concat([plain.subarray(0, -1), Buffer.alloc(1500, 32), LF])
    return built(blocksFor(padded, rng, rng.pick(['whole', 'raw'])), { window: 0x00 })
  }),
  'plain-under-zstd-name': (log) => {
    for (const frame of log.frames) frame.bytes = frame.plain
  },
  'text-in-frame': onFrame(({ plain }) => plain),
  'frame-in-frame': onFrame(({ bytes }) => zstdCompressSync(bytes), { notFirst: true }),
}

function afterBlock(frame, rng) {
  const { blocks } = blocksOf(frame.bytes)
  const block = rng.pick(blocks)
  return block.at + 3 + block.payload.length + rng.pick([0, 0, 1, 2, 3])
}

/** Makes the last frame again from raw or mixed blocks,
so that a tear leaves something to recover. */
function loosened(log, rng, extra = Buffer.alloc(0)) {
  const last = log.frames.at(-1)
  last.plain = Buffer.concat([last.plain, extra])
  const isSummed = rng.chance(0.5)
  last.bytes = built(blocksFor(last.plain, rng, rng.pick(['raw', 'mixed', 'whole'])),
    isSummed ? { sum: checksum(last.plain) } : {})
}

const TEARS = {
  'torn-anywhere': tear((frame, rng) => rng.below(frame.bytes.length)),
  'torn-checksum': tear((frame, rng) => frame.bytes.length - rng.between(1, 4)),
  'torn-after-block': (log, rng) => {
    if (log.frames.length < 2) return false
    loosened(log, rng)
    return tear(afterBlock)(log, rng)
  },
  'torn-in-raw': (log, rng) => {
    if (log.frames.length < 2) return false
    loosened(log, rng)
    return tear((frame) => rng.between(6, frame.bytes.length - 1))(log, rng)
  },
  'torn-bad-tail': (log, rng) => {
    // The recovered prefix holds a bad or gapped row, and perhaps a turn/end after it.
    if (log.frames.length < 2) return false
    const seq = log.eventCount + rng.pick([0, 1, 4])
    const data = { turn: 1, reason: { kind: 'completed' } }
    const end = `${JSON.stringify({ type: 'turn/end', seq, time: 1, data })}\n`
    const bad = rng.pick(['\n', '5\n', 'null\n', '{\n',
      `{"type":"plan/mode","seq":${log.eventCount + 3},"time":1,"data":1}\n`,
      '{"type":"text-chunks"}\n', ''])
    loosened(log, rng, Buffer.from(bad + (rng.chance(0.6) ? end : '')))
    return tear((frame) => frame.bytes.length - rng.pick([1, 2, 4, 5]))(log, rng)
  },
  'torn-damaged': (log, rng) => {
    if (log.frames.length < 2) return false
    loosened(log, rng)
    const last = log.frames.at(-1)
    const bytes = Buffer.from(last.bytes.subarray(0, rng.between(8, last.bytes.length - 1)))
    bytes[rng.between(5, bytes.length - 1)] ^= 1 << rng.below(8)
    last.bytes = bytes
    return true
  },
  'torn-odd-header': (log, rng) => {
    const row = { type: 'plan/mode', seq: log.eventCount, time: 1, data: { active: true } }
    const plain = Buffer.from(`${JSON.stringify(row)}\n`)
    const bytes = built(blocksFor(plain, rng, 'raw'), rng.pick([
      { window: 0xff }, { window: 0xff, size: plain.length }, { window: 0x90, size: plain.length },
      { window: 0x88 }, { dictionary: Buffer.from([7]) },
      { size: 5 }, { size: 1 << 30, sizeFlag: 3 },
      { sum: Buffer.alloc(4) }, { size: plain.length, isSingle: true, sum: checksum(plain) },
      { window: 0x00 },
    ]))
    put(log, log.frames.length, bytes.subarray(0, bytes.length - rng.between(1, 6)), plain)
  },
  'torn-big-frame': (log, rng) => {
    // More than the decoder gives out at once, with whole rows before and behind it.
    const row = (at) => (
      Buffer.from(`{"type":"plan/mode","seq":${log.eventCount + at},"time":1,"data":"`)
    )
    const end = Buffer.from('"}\n')
    const raw = (payload) => ({ type: 0, size: payload.length, payload })
    const fill = { type: 1, size: rng.pick([100_000, 131_072, 131_073]), payload: Buffer.from('a') }
    const count = rng.pick([1, 8, 9])
    const blocks = [raw(row(0)), ...new Array(count).fill(fill), raw(end), raw(row(1)), raw(end)]
    const options = rng.pick([{ window: 0x78 }, { window: 0x78, size: 2_000_000 },
      { window: 0x00 }])
    const bytes = built(blocks, options)
    put(log, log.frames.length, bytes.subarray(0, bytes.length - rng.pick([1, 4, 7, 40, 60])))
  },
  'half-row-in-frame': (log, rng) => {
    const at = rng.between(1, log.frames.length)
    const plain = Buffer.from(rng.pick(['{"type":', '{', ' ',
      `{"type":"plan/mode","seq":${log.eventCount},"time":1,"data":1}`]))
    put(log, at, compressed(plain), plain)
  },
  'torn-after-half-row': (log, rng) => {
    const row = `{"type":"plan/mode","seq":${log.eventCount},"time":1,"data":1}\n`
    const cut = rng.below(row.length)
    const head = Buffer.from(row.slice(0, cut))
    put(log, log.frames.length, compressed(head), head)
    const bytes = built(blocksFor(Buffer.from(row.slice(cut)), rng, 'raw'),
      { sum: Buffer.alloc(4) })
    put(log, log.frames.length, bytes.subarray(0, -1))
  },
}

export const FRAMES = [[3, SHAPES], [2, HEADER_FRAME], [6, DAMAGE], [6, TEARS]]

/** For a log in plain text: damage that comes in storage blocks rather than in rows. */
export const PLAIN_FRAMES = {
  'zero-tail': (log, rng) => { log.tail = Buffer.alloc(rng.pick([1, 16, 512, 4096])) },
  'zero-middle': (log, rng) => {
    const at = rng.below(log.plain.length)
    log.plain = Buffer.concat([log.plain.subarray(0, at), Buffer.alloc(rng.pick([1, 64, 512])),
      log.plain.subarray(at)])
  },
  'frame-under-plain-name': (log) => { log.plain = compressed(log.plain) },
  'frame-at-end': (log, rng) => {
    const plain = rng.chance(0.5) ? log.plain : Buffer.from('{}\n')
    log.tail = compressed(plain)
  },
  torn: (log, rng) => { log.plain = log.plain.subarray(0, rng.below(log.plain.length)) },
  'torn-in-tail': (log, rng) => { log.plain = log.plain.subarray(0,
    log.plain.length - rng.between(1, 80)) },
}
