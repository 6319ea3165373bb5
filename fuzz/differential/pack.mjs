// Packed chunk rows, as the real writer makes them for each durable batch: a run of three or more
// deltas of one block becomes one row.

const KINDS = {
  'text-delta': ['text-chunks', 'texts', 'text', ['type', 'index', 'text']],
  'reasoning-delta': ['reasoning-chunks', 'texts', 'text', ['type', 'index', 'text']],
  'tool-call-delta': ['tool-call-chunks', 'args', 'argumentsDelta',
    ['type', 'index', 'id', 'argumentsDelta']],
}

function hasKeys(value, keys) {
  return typeof value === 'object' && value !== null
    && Object.keys(value).length === keys.length && keys.every((key) => Object.hasOwn(value, key))
}

function kindOf(event) {
  if (event.type !== 'assistant/chunk' || !hasKeys(event,
    ['type', 'seq', 'time', 'data'])) return undefined
  if (!hasKeys(event.data, ['turn', 'step', 'chunk'])) return undefined
  const { chunk } = event.data
  // A time that is a token has no difference to the next.
  if (typeof event.time !== 'number' || typeof event.seq !== 'number') return undefined
  const kind = KINDS[chunk?.type]
  if (kind === undefined) return undefined
  const keys = Object.hasOwn(chunk, 'name') && chunk.type === 'tool-call-delta' ? [...kind[3],
    'name'] : kind[3]
  return hasKeys(chunk, keys) && typeof chunk[kind[2]] === 'string' ? kind : undefined
}

function isNext(before, event) {
  const a = before.data
  const b = event.data
  return event.seq === before.seq + 1 && a.turn === b.turn && a.step === b.step
    && a.chunk.type === b.chunk.type && a.chunk.index === b.chunk.index
    && a.chunk.id === b.chunk.id && a.chunk.name === b.chunk.name
}

function rowOf(run, [type, list, text]) {
  const [first] = run
  const { turn, step, chunk } = first.data
  const dt = run.slice(1).map((event, i) => event.time - run[i].time)
  const call = chunk.id === undefined ? {} : { id: chunk.id }
  if (chunk.name !== undefined) call.name = chunk.name
  return {
    type, seq0: first.seq, time0: first.time,
    data: { turn, step, index: chunk.index, ...call, dt,
      [list]: run.map((event) => event.data.chunk[text]) },
  }
}

/** The stored rows of one batch. `shortest` is 3 for the real writer; readers accept 1. */
export function packed(events, shortest = 3) {
  const rows = []
  let run = []
  let kind
  const flush = () => {
    if (kind !== undefined && run.length >= shortest) rows.push(rowOf(run, kind))
    else rows.push(...run)
    run = []
  }
  for (const event of events) {
    const next = kindOf(event)
    if (run.length > 0 && (next === undefined || next !== kind || !isNext(run.at(-1),
      event))) flush()
    kind = next
    if (next === undefined) rows.push(event)
    else run.push(event)
  }
  flush()
  return rows
}
