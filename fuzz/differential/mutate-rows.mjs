// Mutants of rows: whole lines lost, repeated, moved, glued, split, or put between, and packed rows
// that do not hold what they say.

import { LF, anyPlace, lineOf, rawLine } from './lines.mjs'
import { Raw, copy, isRecord } from './spell.mjs'
import { packed } from './pack.mjs'
import { junk } from './words.mjs'

/** Makes a mutator of one place among the event lines. */
function at(alter) {
  return (log, rng) => {
    const place = anyPlace(log.lines, rng)
    if (place === undefined) return false
    return alter(log.lines, place, rng, log) !== false
  }
}

function put(lines, place, ...more) {
  lines.splice(place, 0, ...more)
}

function seqAt(lines, place) {
  for (let index = place; index > 0; index -= 1) {
    const value = lines[index]?.value
    if (typeof value?.seq === 'number') return value.seq + (index < place ? 1 : 0)
  }
  return 0
}

const SCALARS = ['5', '"x"', '[]', '{}', 'true', 'null', 'null', '-0', '1e400', '[null]',
  '[{"type":"turn/end"}]']

function turnEnd(seq) {
  return { type: 'turn/end', seq, time: 1, data: { turn: 1, reason: { kind: 'completed' } } }
}

const LINES = {
  'lose-row': at((lines, place, rng) => { lines.splice(place,
    rng.chance(0.7) ? 1 : rng.between(1, 4)) }),
  'repeat-row': at((lines, place, rng) => put(lines, place + (rng.chance(0.5) ? 1 : 0),
    lines[place])),
  'swap-rows': at((lines, place) => {
    if (place + 1 >= lines.length) return false
    lines.splice(place, 2, lines[place + 1], lines[place])
    return true
  }),
  'repeat-slice': at((lines, place, rng) => {
    const slice = lines.slice(place, place + rng.between(2, 6))
    put(lines, Math.min(lines.length, place + slice.length), ...slice)
  }),
  'restart': at((lines, place, rng) => {
    // A second writer began again: the same log, or its own, after what is there.
    put(lines, lines.length, ...lines.slice(rng.chance(0.3) ? 0 : 1, place + 1))
  }),
  'interleave': at((lines, place) => {
    const tail = lines.slice(place)
    const mixed = tail.flatMap((line) => [line, line])
    lines.splice(place, tail.length, ...mixed)
  }),
  'blank-row': at((lines, place, rng) => put(lines, place,
    rawLine(rng.pick(['', '', ' ', '\r', '\t', '\u00a0']), lines[place].batch))),
  'scalar-row': at((lines, place, rng) => put(lines, place,
    rawLine(rng.pick(SCALARS), lines[place].batch))),
  'scalar-at-end': (log, rng) => { log.lines.push(rawLine(rng.pick(SCALARS),
    log.lines.at(-1).batch)) },
  'scalar-before-end': (log, rng) => {
    const seq = seqAt(log.lines, log.lines.length)
    const { batch } = log.lines.at(-1)
    log.lines.push(rawLine(rng.pick(SCALARS), batch))
    if (rng.chance(0.5)) log.lines.push(rawLine('null', batch))
    log.lines.push(lineOf(turnEnd(seq), batch))
  },
  'glue-rows': at((lines, place) => { lines[place] = { ...lines[place], end: Buffer.alloc(0) } }),
  'split-row': at((lines, place, rng) => {
    const { body, batch } = lines[place]
    const cut = rng.below(body.length + 1)
    lines.splice(place, 1, rawLine(body.subarray(0, cut), batch),
      rawLine(body.subarray(cut), batch))
  }),
  'cut-row': at((lines, place, rng) => {
    const line = lines[place]
    lines[place] = { ...line, body: line.body.subarray(0, rng.below(line.body.length)) }
  }),
  'cut-last-row': (log, rng) => {
    const line = log.lines.at(-1)
    const isWhole = rng.chance(0.3)
    const body = isWhole ? line.body : line.body.subarray(0, rng.below(line.body.length))
    log.lines[log.lines.length - 1] = { ...line, body, end: Buffer.alloc(0) }
    if (rng.chance(0.3)) log.lines.pop()
  },
  'seq-gap': at((lines, place, rng) => {
    const by = rng.pick([1, 1, 2, 100, -1, -2])
    const isOne = rng.chance(0.4)
    for (let i = place; i < (isOne ? place + 1 : lines.length); i += 1) {
      const { value, batch } = lines[i]
      if (!isRecord(value)) continue
      const key = Object.hasOwn(value, 'seq0') ? 'seq0' : 'seq'
      if (typeof value[key] !== 'number') continue
      lines[i] = lineOf({ ...value, [key]: value[key] + by }, batch)
    }
  }),
  'bad-then-turn-end': (log, rng) => {
    const { lines } = log
    const seq = seqAt(lines, lines.length)
    const { batch } = lines.at(-1)
    const bad = rng.pick(['', '{', 'x', '5', '{"type":"text-chunks"}', '{"type":"turn/end","seq":'])
    lines.push(rawLine(bad, batch))
    const tail = rng.pick([
      turnEnd(seq), turnEnd(seq + 5), [turnEnd(seq)],
      { ...turnEnd(seq), type: new Raw('"turn\\/end"') }, { type: 'turn/end' },
      { ...turnEnd(seq), type: 'turn/start' }, { type: ['turn/end'] },
      new Raw('{"type":"turn/start","type":"turn/end"}'),
      new Raw('{"type":"turn/end","type":"x"}'), new Raw('{"type":"turn/end"'),
    ])
    lines.push(lineOf(tail, batch))
    if (rng.chance(0.3)) lines.push(rawLine('null', batch))
  },
  'gapped-turn-end': (log, rng) => {
    const { lines } = log
    const seq = seqAt(lines, lines.length) + rng.pick([1, -1, 9])
    lines.push(lineOf(turnEnd(rng.pick([seq, undefined, null, String(seq), [seq]])),
      lines.at(-1).batch))
  },
  'seq-without-text': (log, rng) => {
    // The loader puts the seq into a sentence; where that fails, the failure escapes it.
    const seq = rng.pick([{ toString: 1, valueOf: 1 }, { toString: null }, [{ toString: 1 }], {},
      [[]], [1, 2]])
    log.lines.push(lineOf({ type: 'plan/mode', seq, time: 1, data: {} }, log.lines.at(-1).batch))
  },
  'header-again': at((lines, place) => put(lines, place, lines[0])),
  'no-header': (log) => {
    if (log.lines.length < 2) return false
    log.lines.shift()
    return true
  },
  'blank-first': (log, rng) => { log.lines.unshift(rawLine(rng.pick(['', ' ', '\ufeff']), 0)) },
}

const GAPS = [new Raw('-0'), new Raw('0.0'), 1.5, '1', null, -7, new Raw('9007199254740991'),
  new Raw('1e2')]

const FAULTS = {
  none: () => {},
  'extra-key': (row, rng) => { row[rng.pick(['seq', 'extra', 'time', 'surfaceOp', 'ignorable',
    '__proto_'])] = 1 },
  'extra-data-key': (row, rng) => { row.data[rng.pick(['id', 'name', 'args', 'texts',
    'more'])] = rng.pick(['x', null, ['a']]) },
  'lost-key': (row, rng) => { delete row[rng.pick(['seq0', 'time0', 'data'])] },
  'lost-data-key': (row, rng) => { delete row.data[rng.pick(Object.keys(row.data))] },
  'odd-seq0': (row, rng) => { row.seq0 = rng.pick([new Raw(`${row.seq0}.0`), new Raw('-0'), -1, 0.5,
    '0', null, row.seq0 + 1, new Raw('9007199254740991')]) },
  'odd-time0': (row, rng) => { row.time0 = rng.pick([new Raw('-0'), -5, 1.5, null, '1',
    new Raw('9007199254740991'), new Raw('9007199254740992'), new Raw('1e3')]) },
  'odd-data': (row, rng) => { row.data = rng.pick([null, [], 5, 'x', {}]) },
  'odd-place': (row, rng) => { row.data[rng.pick(['turn', 'step', 'index'])] = rng.pick([1.5, -2,
    new Raw('-0'), new Raw('1e400'), '1', null, [1], true]) },
  'odd-texts': (row, rng) => {
    const key = row.data.args === undefined ? 'texts' : 'args'
    row.data[key] = rng.pick([[], [null], ['a', 5], 'abc', {}, [...row.data[key], 'more'],
      row.data[key].slice(1), ['one']])
  },
  'odd-dt': (row, rng) => {
    row.data.dt = rng.pick([[], [1], null, 'x', {}, row.data.dt.map(() => rng.pick(GAPS)),
      row.data.dt.map((gap) => new Raw(`${gap}e0`)), [...row.data.dt, 0]])
  },
  'odd-call': (row, rng) => {
    row.data.id = rng.pick(['', 'x', 5, null])
    if (rng.chance(0.5)) row.data.name = rng.pick(['', 'n', 5, null])
  },
  'other-tag': (row, rng) => { row.type = rng.pick(['text-chunks', 'reasoning-chunks',
    'tool-call-chunks', 'Text-chunks', 'chunks']) },
  'time-overflow': (row) => {
    row.time0 = new Raw('9007199254740991')
    row.data.dt = row.data.dt.map(() => 1)
  },
  'dt-back-and-forth': (row) => { row.data.dt = row.data.dt.map((_,
    i) => (i % 2 === 0 ? 9007199254740991 : -9007199254740991)) },
  'seq-near-limit': (row) => { row.seq0 = new Raw('9007199254740990') },
  'key-order': (row) => {
    const { type, seq0, time0, data } = row
    for (const key of Object.keys(row)) delete row[key]
    Object.assign(row, { data: Object.fromEntries(Object.entries(data).reverse()), time0, seq0,
      type })
  },
}

/** A chunk run of our own at the end of the log, packed, with one fault. */
function packedRow(log, rng) {
  const seq = seqAt(log.lines, log.lines.length)
  const count = rng.pick([1, 2, 3, 5])
  const kind = rng.pick(['text-delta', 'reasoning-delta', 'tool-call-delta'])
  const events = []
  for (let i = 0; i < count; i += 1) {
    const chunk = kind === 'tool-call-delta'
      ? { type: kind, index: 0, id: 'c', ...(count === 5 ? { name: 'n' } : {}),
        argumentsDelta: `a${i}` }
      : { type: kind, index: 0, text: `t${i}` }
    events.push({ type: 'assistant/chunk', seq: seq + i, time: 1000 + i,
      data: { turn: 1, step: 1, chunk } })
  }
  const [row] = packed(events, 1)
  const fault = rng.pick(Object.values(FAULTS))
  fault(row, rng)
  const { batch } = log.lines.at(-1)
  log.lines.push(lineOf(row, batch))
  if (rng.chance(0.4)) log.lines.push(lineOf(turnEnd(seq + count), batch))
}

/** One of the log's own packed rows, with one fault. */
function ownPackedRow(log, rng) {
  const places = log.lines.map((_, i) => i).filter((i) => log.lines[i].value?.seq0 !== undefined)
  if (places.length === 0) return false
  const place = rng.pick(places)
  const row = copy(log.lines[place].value)
  rng.pick(Object.values(FAULTS))(row, rng)
  log.lines[place] = lineOf(row, log.lines[place].batch)
  return true
}

export const ROWS = {
  ...LINES,
  'packed-row': packedRow,
  'packed-row-fault': packedRow,
  'own-packed-row': ownPackedRow,
  'odd-row-type': at((lines, place, rng) => put(lines, place,
    lineOf({ type: junk(rng), seq: 0 }, lines[place].batch))),
  'crlf': (log, rng) => {
    for (const line of log.lines) if (rng.chance(0.8)) line.end = Buffer.from('\r\n')
  },
  'lone-cr': at((lines, place) => { lines[place] = { ...lines[place], end: Buffer.from('\r') } }),
  'two-newlines': at((lines, place) => { lines[place] = { ...lines[place],
    end: Buffer.concat([LF, LF]) } }),
}
