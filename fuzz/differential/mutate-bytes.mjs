// Mutants of bytes: what disks, editors and transfers do to a file, whatever its structure.

function place(bytes, rng) {
  if (bytes.length === 0) return 0
  const zone = rng.pick(['any', 'any', 'start', 'end', 'end'])
  if (zone === 'start') return rng.below(Math.min(bytes.length, 200))
  if (zone === 'end') return Math.max(0, bytes.length - 1 - rng.below(Math.min(bytes.length, 200)))
  return rng.below(bytes.length)
}

function splice(bytes, at, remove, insert = Buffer.alloc(0)) {
  return Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + remove)])
}

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex')

export const BYTES = {
  'flip-bit': (bytes, rng) => {
    const out = Buffer.from(bytes)
    if (out.length > 0) out[place(out, rng)] ^= 1 << rng.below(8)
    return out
  },
  'flip-bits': (bytes, rng) => {
    const out = Buffer.from(bytes)
    const count = rng.between(2, 6)
    for (let i = 0; i < count && out.length > 0; i += 1) out[place(out, rng)] ^= 1 << rng.below(8)
    return out
  },
  'set-byte': (bytes, rng) => {
    const out = Buffer.from(bytes)
    if (out.length > 0) out[place(out, rng)] = rng.pick([0, 10, 13, 34, 44, 48, 57, 92, 123, 125,
      127, 255, rng.below(256)])
    return out
  },
  'lose-bytes': (bytes, rng) => splice(bytes, place(bytes, rng), rng.pick([1, 1, 2, 7, 60])),
  'add-bytes': (bytes, rng) => splice(bytes, place(bytes, rng), 0,
    Buffer.from(rng.pick(['\0', '\n', '\n\n', '\r', ' ', '{}', '"', '\ufeff', 'null\n', '5\n']))),
  'zero-run': (bytes, rng) => {
    const at = place(bytes, rng)
    const count = rng.pick([1, 3, 64, 512])
    return splice(bytes, at, rng.chance(0.5) ? count : 0, Buffer.alloc(count))
  },
  'zero-end': (bytes, rng) => {
    const count = Math.min(bytes.length, rng.pick([1, 4, 40, 200]))
    return splice(bytes, bytes.length - count, count, Buffer.alloc(count))
  },
  truncate: (bytes, rng) => bytes.subarray(0, place(bytes, rng)),
  'truncate-a-little': (bytes, rng) => bytes.subarray(0,
    Math.max(0, bytes.length - rng.between(1, 12))),
  'append-junk': (bytes, rng) => splice(bytes, bytes.length, 0,
    Buffer.from(Array.from({ length: rng.between(1, 30) }, () => rng.below(256)))),
  'append-text': (bytes, rng) => splice(bytes, bytes.length, 0,
    Buffer.from(rng.pick(['x', '\n', ' \n', '{"type":"turn/end"', 'null\n', '\0\0\0', '5\n',
      'x\n']))),
  'repeat-part': (bytes, rng) => {
    const at = place(bytes, rng)
    return splice(bytes, at, 0, bytes.subarray(at, at + rng.between(1, 300)))
  },
  'move-part': (bytes, rng) => {
    const from = place(bytes, rng)
    const part = Buffer.from(bytes.subarray(from, from + rng.between(1, 100)))
    const rest = splice(bytes, from, part.length)
    return splice(rest, place(rest, rng), 0, part)
  },
  'byte-order-mark': (bytes) => splice(bytes, 0, 0, Buffer.from('efbbbf', 'hex')),
  'crlf-transfer': (bytes) => Buffer.from(bytes.toString('latin1').replaceAll('\n', '\r\n'),
    'latin1'),
  'latin1-transfer': (bytes) => Buffer.from(bytes.toString('latin1'), 'utf8'),
  'utf16-transfer': (bytes) => Buffer.from(bytes.toString('latin1'), 'utf16le'),
  'text-transfer': (bytes) => Buffer.from(bytes.toString('utf8'), 'utf8'),
  'another-file': (bytes, rng) => rng.pick([
    Buffer.alloc(0), PNG, Buffer.from('\n'), Buffer.from('{}\n'), Buffer.from('not a log'),
    Buffer.alloc(64), Buffer.from('# notes\n\ntext\n'),
  ]),
}
