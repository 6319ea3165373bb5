// Makes a mismatching file smaller while the mismatch stays: fewer frames, lines, events, fields.

import { compressed } from './frames.mjs'
import { framesOf } from './readable.mjs'
import { zstdDecompressSync } from 'node:zlib'

const TRIES_MOST = 500

function linesOf(bytes) {
  const lines = []
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(10, at) + 1 || bytes.length
    lines.push(bytes.subarray(at, end))
    at = end
  }
  return lines
}

class Search {
  constructor(check) {
    this.check = check
    this.tries = 0
  }

  async holds(parts, join) {
    if (this.tries >= TRIES_MOST) return false
    this.tries += 1
    return this.check(join(parts))
  }

  /** Takes away parts, in halves first, then one by one, while `join` of the rest still differs. */
  async fewer(parts, join) {
    let list = parts
    for (let size = Math.max(1, list.length >> 1); ; size = size >> 1) {
      for (let at = list.length - size; at >= 0; at -= size) {
        const rest = [...list.slice(0, at), ...list.slice(at + size)]
        if (await this.holds(rest, join)) list = rest
      }
      if (size <= 1) return list
    }
  }

  /** Takes away events and counts the rest anew, for faults that need an unbroken log. */
  async fewerEvents(parts, join) {
    const recount = (list) => join(recounted(list))
    if (!(await this.holds(parts, recount))) return parts
    return recounted(await this.fewer(parts, recount))
  }

  /** Takes away members of each line's value. */
  async fewerFields(parts, join) {
    const list = [...parts]
    for (let at = list.length - 1; at >= 0; at -= 1) {
      for (const smaller of shrunk(list[at])) {
        const next = list.with(at, smaller)
        if (await this.holds(next, join)) {
          list[at] = smaller
          at += 1
          break
        }
      }
    }
    return list
  }
}

function valueOf(line) {
  try {
    return JSON.parse(line.toString('utf8'))
  } catch {
    return undefined
  }
}

function recounted(lines) {
  let seq = 0
  return lines.map((line) => {
    const value = valueOf(line)
    if (typeof value?.seq !== 'number') return line
    value.seq = seq
    seq += 1
    return Buffer.from(`${JSON.stringify(value)}\n`)
  })
}

function* shrunk(line) {
  const value = valueOf(line)
  if (typeof value !== 'object' || value === null) return
  const again = (inner) => Buffer.from(`${JSON.stringify(inner)}\n`)
  for (const key of Object.keys(value)) {
    const { [key]: _, ...rest } = value
    yield again(rest)
    const inner = value[key]
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) continue
    for (const name of Object.keys(inner)) {
      const { [name]: __, ...less } = inner
      yield again({ ...value, [key]: less })
    }
  }
}

async function fewestLines(search, all, join) {
  let lines = await search.fewer(all, join)
  lines = await search.fewerEvents(lines, join)
  return join(await search.fewerFields(lines, join))
}

async function smallerFrames(search, bytes) {
  const { frames, rest } = framesOf(bytes)
  const parts = await search.fewer(rest.length > 0 ? [...frames, rest] : frames, Buffer.concat)
  // As one frame of rows, if the mismatch is not about the frames.
  try {
    const [head, ...others] = framesOf(Buffer.concat(parts)).frames
    const plain = Buffer.concat(others.map((frame) => zstdDecompressSync(frame)))
    const join = (lines) => Buffer.concat([head, compressed(Buffer.concat(lines))])
    const lines = linesOf(plain)
    if (await search.holds(lines, join)) return fewestLines(search, lines, join)
  } catch {
    // Frames that do not decode are as small as they get.
  }
  return Buffer.concat(parts)
}

/** The smallest file that `check` still says differs, within a bounded number of tries. */
export async function minimised(bytes, encoding, check) {
  const search = new Search(check)
  if (encoding === 'zstd') return smallerFrames(search, bytes)
  return fewestLines(search, linesOf(bytes), Buffer.concat)
}
