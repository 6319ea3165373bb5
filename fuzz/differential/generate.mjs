// Makes mutant number `index` of a seed: a lawful log, changed by one class of change (sometimes by
// a second one as well), as bytes, with the folders in which it is to lie.
//
//   node generate.mjs SEED INDEX      prints what the mutant is, and its bytes escaped

import path from 'node:path'
import { Rng } from './rng.mjs'
import { lawfulLog, numbered } from './lawful.mjs'
import { packed } from './pack.mjs'
import { bytesOf, lineOf } from './lines.mjs'
import { compressed, handmade } from './frames.mjs'
import { projectFolder, sessionFolder, sessionId } from './place.mjs'
import { APPROVAL_RULES, COMMAND_RULES, SESSION_RULES, breakRule } from './mutate-rules.mjs'
import { MEANINGS } from './mutate-meanings.mjs'
import { FIELDS } from './mutate-fields.mjs'
import { HEADERS } from './mutate-headers.mjs'
import { ROWS } from './mutate-rows.mjs'
import { SPELLINGS } from './mutate-spellings.mjs'
import { FRAMES, PLAIN_FRAMES } from './mutate-frames.mjs'
import { BYTES } from './mutate-bytes.mjs'
import { readable } from './readable.mjs'

export const CLASSES = ['bytes', 'frames', 'rows', 'fields', 'headers', 'json-spellings',
  'meanings']

// Meanings are the largest class, since each of 21 rules has to be the first to break often enough.
const SHARES = { bytes: 11, frames: 13, rows: 13, fields: 14, headers: 10, 'json-spellings': 12,
  meanings: 27 }

/** Deals the classes evenly: every hundred mutants hold exactly their shares, in a mixed order. */
function classOf(index) {
  const deck = CLASSES.flatMap((name) => new Array(SHARES[name]).fill(name))
  return new Rng(7, Math.floor(index / deck.length)).shuffled(deck)[index % deck.length]
}

/** Tries mutators of a table until one finds a place in this log, and notes its name. */
function apply(table, target, rng, log) {
  for (let i = 0; i < 12; i += 1) {
    const entries = Array.isArray(table) ? rng.weighted(table) : table
    const name = rng.pick(Object.keys(entries))
    if (entries[name](target, rng) === false) continue
    log.names.push(name)
    return
  }
  log.names.push('nothing')
}

/** The rule of a family whose turn it is; consecutive mutants of meaning take consecutive rules. */
function ruleInTurn(table, index) {
  const ids = Object.keys(table)
  return ids[index % ids.length]
}

function changeMeanings(log, rng, index) {
  if (rng.chance(0.3)) {
    apply(MEANINGS, log, rng, log)
    return
  }
  const wanted = []
  if (rng.chance(0.6)) wanted.push(ruleInTurn(APPROVAL_RULES, index))
  if (rng.chance(0.45)) wanted.push(ruleInTurn(COMMAND_RULES, index))
  if (wanted.length === 0 || rng.chance(0.8)) wanted.push(ruleInTurn(SESSION_RULES, index))
  for (const id of wanted) log.names.push(breakRule(log, rng, id) ? id : `not-${id}`)
}

function wishes(rng, classes, index) {
  const wish = {}
  if (classes.includes('meanings')) {
    // A replacement of a tool result needs one, and an open tail leaves fewer idle places.
    wish.needs = ruleInTurn(SESSION_RULES, index) === 'SES-10' ? 'tool' : 'turn'
    wish.open = rng.chance(0.3)
    wish.legacy = rng.chance(0.04)
  }
  return wish
}

/** Splits the rows into durable batches and packs each, as the writer does. */
function toLines(log, rng) {
  const lines = [lineOf(log.header, 0)]
  const isPacked = rng.chance(0.85)
  const most = rng.pick([1, 4, 12, 1000])
  let batch = 0
  for (let at = 0; at < log.rows.length;) {
    const size = rng.between(1, most)
    batch += 1
    const rows = log.rows.slice(at, at + size)
    for (const row of isPacked ? packed(rows,
      rng.chance(0.9) ? 3 : 1) : rows) lines.push(lineOf(row, batch))
    at += size
  }
  return lines
}

function toFrames(log, rng) {
  const batches = new Map()
  for (const line of log.lines) {
    if (!batches.has(line.batch)) batches.set(line.batch, [])
    batches.get(line.batch).push(line)
  }
  return [...batches.values()].map((lines) => {
    const plain = bytesOf(lines)
    return { plain, bytes: rng.chance(0.92) ? compressed(plain) : handmade(plain, rng) }
  })
}

/** The folders for the header as it is now, or for the one before the change, or others. */
function placed(log, rng, before) {
  let header = before
  try {
    const now = JSON.parse(log.lines[0].body.toString('utf8'))
    const isUsable = typeof now?.id === 'string' && sessionFolder(now.id) !== undefined
    // An id that names no folder, or a cwd that names no project, keeps the folders it had.
    if (isUsable && projectFolder(now.cwd) !== undefined && rng.chance(0.9)) header = now
    else if (projectFolder(now?.cwd) !== undefined && rng.chance(0.5)) header = { ...before,
      cwd: now.cwd }
  } catch {
    // Not JSON: the folders of the header before the change.
  }
  let project = projectFolder(header.cwd)
  let session = sessionFolder(header.id)
  let isDerived = true
  if (rng.chance(0.025)) {
    isDerived = false
    // Another project's name, not just any: outside a project folder a file is judged alone.
    if (rng.chance(0.5)) project = otherProject(rng, project)
    else session = otherSession(rng, session)
  }
  return { project, session, isDerived }
}

function otherProject(rng, project) {
  const near = project.replace(/^--(.{0,100}).*--$/, '--$1x--')
  return rng.pick(['_no-cwd', '--root--', '--elsewhere--', near].filter((name) => name !== project))
}

function otherSession(rng, session) {
  const name = rng.pick([`${session}x`, 'other', '~002E', session.slice(1)])
  // A folder that no id gives could not be asked of the host at all.
  return sessionId(name) === undefined ? 'other' : name
}

/** Mutant `index` of a seed: `{index, kind, name, encoding, project, session, bytes, …}`. */
export function mutant(seed, index) {
  const rng = new Rng(seed, index)
  const kind = classOf(index)
  const classes = [kind]
  if (rng.chance(0.15)) classes.push(rng.pick(CLASSES))
  const has = (name) => classes.includes(name)
  const encoding = rng.chance(kind === 'frames' ? 0.9 : 0.45) ? 'zstd' : 'none'

  const log = lawfulLog(rng, wishes(rng, classes, index))
  const before = { ...log.header }
  log.names = []
  if (has('meanings')) changeMeanings(log, rng, index)
  log.rows = numbered(log.events)
  log.eventCount = log.rows.length
  if (has('fields')) apply(FIELDS, log, rng, log)
  if (has('headers')) apply(HEADERS, log, rng, log)
  log.lines = toLines(log, rng)
  if (has('json-spellings')) apply(SPELLINGS, log, rng, log)
  const place = placed(log, rng, before)
  if (has('rows')) apply(ROWS, log, rng, log)

  let bytes = encoding === 'zstd' ? zstdBytes(log, rng, has('frames')) : plainBytes(log, rng,
    has('frames'))
  if (has('bytes')) {
    const name = rng.pick(Object.keys(BYTES))
    log.names.push(name)
    bytes = BYTES[name](bytes, rng)
  }
  const name = `${classes.join('+')}: ${log.names.join(', ')}`
  return { seed, index, kind, name, encoding, ...place, bytes: Buffer.from(bytes) }
}

function zstdBytes(log, rng, isMutated) {
  log.frames = toFrames(log, rng)
  if (isMutated && log.frames.length > 0) apply(FRAMES, log, rng, log)
  return Buffer.concat(log.frames.map((frame) => frame.bytes))
}

function plainBytes(log, rng, isMutated) {
  log.plain = bytesOf(log.lines)
  log.tail = Buffer.alloc(0)
  if (isMutated) apply(PLAIN_FRAMES, log, rng, log)
  return Buffer.concat([log.plain, log.tail])
}

if (process.argv[1] && path.resolve(process.argv[1]) === import.meta.filename) {
  const { bytes, ...facts } = mutant(Number(process.argv[2] ?? 1), Number(process.argv[3] ?? 0))
  console.log(JSON.stringify(facts))
  console.log(readable(bytes, facts.encoding))
}
