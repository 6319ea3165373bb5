// Shows the bytes of a log to a person: lines with escapes, and for zstd each frame and its text.

import { zstdDecompressSync } from 'node:zlib'
import { MAGIC, blocksOf } from './frames.mjs'

const LINE_MOST = 400

/** Bytes as text that can be read and copied: ASCII stays, everything else is escaped. */
export function escaped(bytes) {
  let out = ''
  for (const byte of bytes) {
    if (byte === 92) out += '\\\\'
    else if (byte >= 32 && byte < 127) out += String.fromCharCode(byte)
    else out += `\\x${byte.toString(16).padStart(2, '0')}`
  }
  return out
}

function shortened(text) {
  if (text.length <= LINE_MOST) return text
  return `${text.slice(0, LINE_MOST - 60)} …(${text.length} characters)… ${text.slice(-60)}`
}

function linesOf(bytes) {
  const out = []
  for (let at = 0; at < bytes.length;) {
    const newline = bytes.indexOf(10, at)
    const end = newline === -1 ? bytes.length : newline
    const text = shortened(escaped(bytes.subarray(at, end)))
    out.push(`    ${text}${newline === -1 ? '   (no newline)' : ''}`)
    at = end + 1
  }
  return out
}

/** The complete frames at the start of a file, and what follows them. */
export function framesOf(bytes) {
  const frames = []
  let at = 0
  while (bytes.length - at > 8 && bytes.subarray(at, at + 4).equals(MAGIC)) {
    try {
      const { tail } = blocksOf(bytes.subarray(at))
      const hasSum = (bytes[at + 4] & 4) !== 0
      const end = bytes.length - tail.length + (hasSum ? 4 : 0)
      if (end > bytes.length) break
      frames.push(bytes.subarray(at, end))
      at = end
    } catch {
      break
    }
  }
  return { frames, rest: bytes.subarray(at) }
}

export function readable(bytes, encoding) {
  if (encoding !== 'zstd') return linesOf(bytes).join('\n') || '    (an empty file)'
  const { frames, rest } = framesOf(bytes)
  const out = []
  frames.forEach((frame, index) => {
    out.push(`  frame ${index}, ${frame.length} bytes, starts ${escaped(frame.subarray(4, 12))}`)
    try {
      out.push(...linesOf(zstdDecompressSync(frame)))
    } catch (error) {
      out.push(`    (does not decode: ${error.message}) ${shortened(escaped(frame))}`)
    }
  })
  if (rest.length > 0) out.push(`  then ${rest.length} bytes: ${shortened(escaped(rest))}`)
  return out.join('\n') || '    (an empty file)'
}
