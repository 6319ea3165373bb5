// Mutants of fields: one stored row whose envelope, surface marks or payload is not what it should
// be. They work on numbered rows, before packing.

import { Members, Raw, copy, isRecord } from './spell.mjs'
import { junk, words } from './words.mjs'

const byType = (...types) => (row) => types.includes(row.type)
const isSurface = byType('user/message', 'assistant/message', 'tool/result')

function pickRow(log, rng, where = () => true) {
  const rows = log.rows.filter((row) => isRecord(row) && where(row))
  return rows.length === 0 ? undefined : rng.pick(rows)
}

/** Makes a mutator that changes one row of those that satisfy `where`. */
function onRow(where, alter) {
  return (log, rng) => {
    const row = pickRow(log, rng, where)
    if (row === undefined) return false
    return alter(row, rng, log) !== false
  }
}

/** A mutator that gives one key one of the listed values; `DROP` takes the key away. */
const DROP = Symbol('drop')
function setKey(where, key, values) {
  return onRow(where, (row, rng) => {
    const value = rng.pick(values)
    if (value === DROP) delete row[key]
    else row[key] = copy(value)
  })
}

const NUMBERS = [
  new Raw('-0'), new Raw('1.5'), new Raw('1e400'), new Raw('-1'), new Raw('9007199254740992'),
  new Raw('9007199254740991'), new Raw('9007199254740993'), new Raw('1e2'), '0', null, true, [0],
  {}, DROP,
]

function messageOf(row) {
  const message = row.type === 'user/message' ? row.data : row.data?.message
  return isRecord(message) ? message : undefined
}

const onMessage = (where, alter) => onRow((row) => where(row) && messageOf(row) !== undefined,
  (row, rng) => alter(messageOf(row), rng, row))

const SOURCES = [
  { kind: 'model', provider: 'p', model: 'm', more: 1 }, { kind: 'user', more: 1 }, null, 'user',
  [], {}, { kind: '' }, { kind: 5 }, { kind: 'x' }, { kind: 'user' }, { kind: 'model' },
  { kind: 'model', provider: '', model: 'm' }, { kind: 'model', provider: 'p', model: 5 },
  { kind: 'model', provider: 'p', model: 'm' }, { kind: 'tool' }, { kind: 'tool', callId: '' },
  { kind: 'tool', callId: 'other' }, { kind: 'tool', callId: 7 }, ['kind'],
]

const RESULT_BLOCKS = [
  [], [null], [5], [{}], [{ type: 'tool-result' }], [{ type: 'text', text: 'x' }],
  [{ type: 'tool-result', toolCallId: 'c1', content: 'x' }],
  [{ type: 'tool-result', toolCallId: 'c1', content: {} }],
]

const MESSAGE = {
  'message-id': onMessage(isSurface, (m, rng) => { m.id = rng.pick(['', null, 5, {}, undefined,
    'twice']) }),
  'message-role': onMessage(isSurface, (m, rng) => {
    m.role = rng.pick(['assistant', 'user', 'system', 'tool', null, undefined, 'User'])
  }),
  'message-source': onMessage(isSurface, (m, rng) => { m.source = copy(rng.pick([...SOURCES,
    undefined])) }),
  'message-content': onMessage(isSurface, (m, rng) => {
    m.content = rng.pick([null, 'text', {}, undefined, [], [null], [5], { length: 1 }])
  }),
  'result-blocks': onMessage(byType('tool/result'), (m, rng) => {
    const [block] = m.content
    m.content = copy(rng.pick([
      ...RESULT_BLOCKS, [block, block], [block, null], [{ ...block, content: null }],
      [{ ...block, toolCallId: 'other' }], [{ ...block, toolCallId: undefined }],
      [{ ...block, type: 'Tool-result' }],
      [{ ...block, content: [] }], [{ ...block, isError: 'yes' }],
    ]))
  }),
  'result-source': onMessage(byType('tool/result'), (m, rng) => {
    m.source = { ...m.source, ...rng.pick([{ kind: 'user' }, { callId: 'zz' }, { callId: '' },
      { more: 1 }]) }
  }),
  'message-itself': onRow(isSurface, (row, rng) => {
    if (row.type === 'user/message') row.data = junk(rng)
    else if (isRecord(row.data)) row.data.message = junk(rng)
  }),
  'message-both-shapes': onRow(isSurface, (row, rng) => {
    if (!isRecord(row.data)) return false
    Object.assign(row.data, rng.pick([
      { message: {} }, { content: [] }, { callId: 'c1', content: [], isError: false },
      { provenance: { provider: 'p', model: 'm' }, content: [] }, { role: 'user' },
    ]))
    return true
  }),
}

const LEGACY = {
  'legacy-user': onRow(byType('user/message'), (row, rng) => {
    row.data = { content: [], source: { kind: 'user' },
      ...rng.pick([{}, {}, {}, { more: 1 }, { id: '' }, { role: 'user' }, { source: null },
        { content: 5 }]) }
  }),
  'legacy-assistant': onRow(byType('assistant/message'), (row, rng) => {
    const { turn, step } = row.data
    const good = { provider: 'p', model: 'm' }
    const provenance = rng.pick([good, good, good, good, { ...good, more: [1] }, {}, null, [], 'x',
      { kind: 'user', provider: 'p', model: 'm' }, { provider: '', model: 'm' }])
    row.data = { turn, step, content: rng.pick([[],
      [{ type: 'tool-call', id: 'L', name: 'n', arguments: '' }], [], null]), provenance }
  }),
  'legacy-result': onRow(byType('tool/result'), (row, rng) => {
    const { turn, step } = row.data
    const callId = row.data.message?.source?.callId ?? row.data.callId
    row.data = {
      turn, step, callId: rng.pick([callId, callId, callId, callId, '', 5, null]),
      content: rng.pick([[], [], [1], [], 'x', null]),
      isError: rng.pick([true, false, null]), ...rng.pick([{}, {}, { meta: 1 }, { message: null }]),
    }
  }),
  'legacy-turn-start': onRow(byType('turn/start'), (row, rng) => {
    const { turn } = row.data
    row.data = rng.pick([
      { turn, trigger: { kind: 'user' } }, { turn, trigger: { kind: '' } }, { turn, trigger: null },
      { turn, trigger: [] },
      { turn, trigger: { kind: 'user' }, more: 1 }, { turn: 0, trigger: { kind: 'u' } },
      { turn: 1.5, trigger: { kind: 'u' } },
      { trigger: { kind: 'u' } }, { turn, trigger: { kind: 'u', more: {} } },
      { turn: new Raw(`${turn}.0`), trigger: { kind: 'x' } },
    ])
  }),
  'legacy-steering': onRow(byType('user/message'), (row, rng) => {
    const message = row.data
    row.type = 'steering/message'
    row.data = rng.pick([
      { turn: 1, message }, { turn: new Raw('-0'), message }, { turn: 1.5, message },
      { turn: 1, message: 5 },
      { turn: 1, message, more: 1 }, { turn: 1, content: [], source: { kind: 'user' } },
      { turn: 1, content: [] },
      { turn: 1, content: [], source: null }, { content: [], source: { kind: 'user' } }, [], null,
      { turn: 1, content: [], source: { kind: 'user' }, id: 'x' },
      { turn: 1, message: null, content: [], source: {} },
    ])
  }),
}

const FAILURE = { message: 'm', code: 'C' }
const REASONS = [
  { kind: 'completed', more: 1 }, { kind: 'blocked', reason: 'x' }, { kind: 'max-tokens' },
  { kind: 'interrupted' },
  { kind: 'aborted' }, { kind: 'aborted', reason: null }, { kind: 'aborted', other: 1 },
  { kind: 'aborted', reason: 5, other: 1 },
  { kind: 'disposed' }, { kind: 'disposed', reason: 1 }, { kind: 'error', error: null },
  { kind: 'error' },
  { kind: 'error', step: new Raw('-0'), message: 'm' }, { kind: 'error', step: -1, message: 'm' },
  { kind: 'error', step: 1, message: 5 }, { kind: 'error', step: 1, message: 'm', code: null },
  { kind: 'error', step: 1, message: 'm', code: 5 },
  { kind: 'error', step: 1, message: 'm', more: 1 },
  { kind: 'error', step: 1.5, failure: FAILURE },
  { kind: 'error', step: 1, failure: FAILURE, more: 1 },
  { kind: 'error', step: 1, failure: { ...FAILURE, status: 500, requestId: 'r',
    providerRetryAfterMs: 1 } },
  { kind: 'error', step: 1, failure: { ...FAILURE, status: null } },
  { kind: 'error', step: 1, failure: { ...FAILURE, more: 1 } },
  { kind: 'error', step: 1, failure: { message: 'm' } },
  { kind: 'error', step: 1, failure: { ...FAILURE, requestId: 5 } },
  { kind: 'error', step: 1, failure: { ...FAILURE, code: 5 } },
  { kind: 'error', step: 1, failure: [], message: 'm' },
  { kind: 'error', step: 1, failure: null, message: 'm' },
  { kind: 'error', step: '1', message: 'm' },
  new Members([['kind', 'completed'], ['__proto__', null]]),
  new Members([['kind', 'error'], ['kind', 'completed']]),
  { kind: 'x-other', anything: [1] }, { kind: '' }, { kind: 5 }, {}, null, [], 'completed',
  { Kind: 'completed' },
]

const TURNS = {
  'turn-end-reason': onRow(byType('turn/end'), (row, rng) => {
    if (isRecord(row.data)) row.data = { ...row.data, reason: copy(rng.pick(REASONS)) }
  }),
  'turn-end-data': onRow(byType('turn/end'), (row, rng) => {
    const reason = { kind: 'completed' }
    row.data = rng.pick([
      null, [], 5, 'x', {}, { turn: 1 }, { reason }, { turn: 0, reason }, { turn: -1, reason },
      { turn: 1.5, reason },
      { turn: new Raw('1.0'), reason }, { turn: new Raw('1e0'), reason }, { turn: '1', reason },
      { turn: null, reason },
      { turn: 1, reason, more: 1 }, { turn: new Raw('9007199254740993'), reason },
      { turn: 7, reason }, { reason, turn: 1 },
    ])
  }),
}

const CONFIGS = [
  { provider: 'p', model: 'm' }, { provider: '', model: 'm' }, { provider: 'p' }, null, [], 'x',
  { provider: 5, model: 'm' },
  { provider: 'p', model: 'm', reasoningEffort: '' },
  { provider: 'p', model: 'm', reasoningEffort: null },
  { provider: 'p', model: 'm', reasoningEffort: 'low' },
  { provider: 'p', model: 'm', maxTokens: null },
]
const DEFAULTS = [
  null, [], {}, 5, { maxTokens: true }, { reasoningEffort: true }, { maxTokens: false },
  { other: true }, { maxTokens: 1 },
  { reasoningEffort: true, maxTokens: true },
]

const REQUESTS = {
  'request-header-without-data': onRow(byType('request/header'), (row) => { delete row.data }),
  'request-header': onRow(byType('request/header'), (row, rng) => {
    const isGood = rng.chance(0.4)
    const header = { config: copy(isGood ? CONFIGS[0] : rng.pick(CONFIGS)) }
    if (!isGood || rng.chance(0.3)) header.adapterDefaults = copy(rng.pick(DEFAULTS))
    row.data = isGood ? { header, reason: rng.pick(['initial', null, 7]) } : rng.pick([
      { header, reason: 'initial' }, { header, reason: 'initial' }, { header }, { header, more: 1 },
      { header, reason: null }, { header, reason: 'fallback' }, { header, reason: 5 },
      { header: [header] }, { header: null }, {}, [], null, 5, { reason: 'fallback' }, ['fallback'],
    ])
  }),
}

const ENVELOPE = {
  'unknown-key': onRow(() => true, (row, rng) => {
    const key = rng.pick(['extra', 'Type', '', 'seq0', 'id', 'constructor', 'toString',
      '__proto__'])
    Object.defineProperty(row, key, { value: rng.pick([null, 1, {}]), enumerable: true,
      configurable: true, writable: true })
  }),
  ignorable: setKey(() => true, 'ignorable', [true, true, false, null, 1, 'true', {}]),
  type: setKey(() => true, 'type', [DROP, null, 5, '', 'unknown/type', 'turn/end ', 'Turn/start',
    [], ['turn/end'], {}, true]),
  seq: setKey(() => true, 'seq', NUMBERS),
  time: setKey(() => true, 'time', [...NUMBERS, -5, new Raw('-9007199254740991'),
    new Raw('1e-400')]),
  data: setKey(() => true, 'data', [DROP, DROP, null, 5, 'x', [], {}, true]),
  'surface-op': setKey(() => true, 'surfaceOp', [
    DROP, null, 'append', 'Append', 'replace', [], ['append'], {}, 5, { op: 'replace' },
    { op: 'replace', start: 0, end: 0 }, { op: 'replace', start: 0, end: 0, more: 1 },
    { op: 'append', start: 0, end: 0 },
    { op: 'replace', startSeq: 0, endSeq: 0 }, { op: 'replace', start: '0', end: 0 },
    { op: 'replace', start: new Raw('-0'), end: 0 },
    { op: 'replace', start: 0.5, end: 1 }, { op: 'replace', start: null, end: null },
  ]),
  'surface-op-lost': onRow(isSurface, (row) => { delete row.surfaceOp }),
  sources: setKey(() => true, 'sourceEventSeqs', [
    DROP, null, [], [0], [0, 0], [[0, 1]], ['0'], [0.5], [-1], [1e9], {}, 'x', 5, [null],
    [new Raw('-0')],
    [0, new Raw('-0')], [new Raw('1.0')], [2, 1, 0], [new Raw('9007199254740992')], [1e9, 'x'],
    [0, 0, 1e9],
  ]),
  'surface-op-proto': setKey(isSurface, 'surfaceOp', [
    new Members([['op', 'replace'], ['start', 0], ['end', 0], ['__proto__', 1]]),
    new Members([['op', 'append'], ['op', 'replace'], ['start', 0], ['end', 0]]),
  ]),
  'sources-on-surface': setKey(isSurface, 'sourceEventSeqs', [
    [], [0], [0, 1], [1, 0], [0, 0], [[0, 0]], null, [new Raw('0.0')], [new Raw('-0')], [1e9],
    [1e9, -1],
  ]),
}

const GENERIC = {
  'any-field': onRow((row) => isRecord(row.data), (row, rng) => {
    let node = row.data
    for (let level = 0; level < 4; level += 1) {
      const isNode = (value) => isRecord(value) || (Array.isArray(value) && value.length > 0)
      const inner = Object.values(node).filter(isNode)
      if (inner.length === 0 || rng.chance(0.4)) break
      node = rng.pick(inner)
    }
    const keys = Object.keys(node)
    const key = keys.length > 0 && rng.chance(0.8) ? rng.pick(keys) : words(rng, 1) || 'k'
    if (rng.chance(0.3)) delete node[key]
    else node[key] = junk(rng)
  }),
  'any-row-becomes-members': onRow(() => true, (row, rng, log) => {
    const list = Object.entries(row)
    const [key] = rng.pick(list)
    const at = log.rows.indexOf(row)
    const wrong = [key, junk(rng)]
    log.rows[at] = new Members(rng.chance(0.5) ? [wrong, ...list] : [...list, wrong])
  }),
}

export const FIELDS = [
  [6, ENVELOPE], [5, MESSAGE], [2, LEGACY], [3, TURNS], [1.5, REQUESTS], [3, GENERIC],
]
