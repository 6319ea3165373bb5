// Mutants of meaning that belong to no single companion rule: surface folds, crash closers, unknown
// types, retired events, values that JavaScript compares in its own way.

import { Ref, traced } from './story.mjs'
import { toolMessage, userMessage } from './lawful-turn.mjs'
import { Members, Raw, copy, deep } from './spell.mjs'
import { isCurrentResult } from './lawful.mjs'
import { junk } from './words.mjs'

function put(log, rng, [type, data, options], where = () => true) {
  const states = traced(log.events)
  const places = states.map((_, index) => index).filter((index) => where(states[index], index))
  if (places.length === 0) return false
  log.events.splice(rng.pick(places), 0, log.story.event(type, data, options))
  return true
}

function replacement(log, rng) {
  const states = traced(log.events)
  // Mostly after every other replacement, which may name the nodes that this one takes away.
  const free = log.events.findLastIndex((event) => event.op?.op === 'replace') + 1
  const at = rng.between(rng.chance(0.8) ? free : 0, states.length - 1)
  const { surface } = states[at]
  if (surface.length === 0) return false
  const first = rng.below(surface.length)
  const last = rng.between(first, surface.length - 1)
  const slice = surface.slice(first, last + 1).map((event) => new Ref(event))
  const options = { sources: slice, op: { op: 'replace', start: slice[0], end: slice.at(-1) } }
  const fault = rng.pick([
    () => {},
    () => {},
    () => {},
    () => {},
    () => { options.sources = slice.slice(1) },
    () => { options.sources = rng.shuffled([...slice,
      ...surface.map((e) => new Ref(e)).filter((r) => !slice.some((s) => s.event === r.event))]) },
    () => { options.op.start = slice.at(-1); options.op.end = slice[0] },
    () => { options.op.start = new Ref(surface[0], 1) },
    () => { options.op = { ...options.op, extra: 1 } },
    () => { options.op = { op: 'replace', startSeq: slice[0], endSeq: slice.at(-1) } },
    () => { options.sources = [...slice, slice[0]] },
    () => { options.sources = undefined },
    () => { options.op.end = 10_000 },
  ])
  fault()
  // In format 0 an assistant message may replace too.
  const [type, data] = rng.chance(0.3)
    ? ['assistant/message', { turn: 1, step: 1, message: assistantMessage(log.story, []) }]
    : ['user/message', userMessage(log.story)]
  log.events.splice(at, 0, log.story.event(type, data, options))
  return true
}

function assistantMessage(story, content) {
  const source = { kind: 'model', provider: 'p', model: 'm' }
  return { id: story.messageId(), role: 'assistant', content, source }
}

/** A rewrite in the shape from before messages had ids: it takes over the id of its target. */
function legacyRewrite(log, rng) {
  const states = traced(log.events)
  const places = states.map((_, index) => index)
    .filter((index) => states[index].surface.some((event) => event.type === 'tool/result'))
  if (places.length === 0) return false
  const at = rng.pick(places)
  const { surface } = states[at]
  const target = rng.pick(surface.filter((event) => event.type === 'tool/result'))
  const { message, callId, isError, content: _, ...rest } = copy(target.data)
  const [block] = message?.content ?? [{ isError, toolCallId: callId }]
  const data = {
    ...rest, callId: message?.source.callId ?? callId, content: ['cut'],
    isError: block.isError ?? false,
  }
  if (rng.chance(0.1)) data.isError = !data.isError
  const node = new Ref(rng.chance(0.9) ? target : rng.pick(log.events))
  const op = { op: 'replace', start: node, end: new Ref(target) }
  log.events.splice(at, 0, log.story.event('tool/result', data, { sources: [new Ref(target)], op }))
  return true
}

/** A message at seq 0, replaced under the name -0. */
function negativeZero(log, rng) {
  const zero = new Raw(rng.pick(['-0', '-0.0', '0.0', '-0e5']))
  const { story } = log
  log.events.unshift(story.event('user/message', userMessage(story), { op: 'append' }))
  const options = {
    sources: [rng.pick([zero, 0])],
    op: { op: 'replace', start: rng.pick([zero, 0]), end: rng.pick([zero, 0]) },
  }
  const late = story.event('user/message', userMessage(story), options)
  const end = log.events.findIndex((event) => event.op?.op === 'replace')
  log.events.splice(end === -1 ? rng.between(1, log.events.length) : rng.between(1, end), 0, late)
  return true
}

/** Two faults of different passes; which is named depends on the order of passes, not of events. */
function twoFaults(log, rng) {
  const faults = rng.shuffled([
    ['future/required', {}],
    ['user/message', { id: '' }, { op: 'append' }],
    ['turn/end', { turn: 0 }],
    ['mode/set', {}],
    ['request/header', { reason: 'fallback' }],
    ['request/header', {}],
    ['plan/mode', { active: true }, { op: 'append' }],
    ['turn/start', { turn: 1, trigger: null }],
    ['steering/message', null],
  ]).slice(0, rng.between(2, 3))
  for (const fault of faults) put(log, rng, copy(fault))
  return true
}

/** A rewrite of a tool result: lawful, or wrong in one of the ways the fold looks at. */
function rewriteResult(log, rng) {
  const states = traced(log.events)
  const results = log.events.filter((event,
    index) => isCurrentResult(event) && index < states.length)
  if (results.length === 0) return false
  const result = rng.pick(results)
  const from = log.events.indexOf(result)
  const places = states.map((_, index) => index)
    .filter((index) => index > from && states[index].surface.includes(result)
      && (states[index].turn !== null || rng.chance(0.1)))
  if (places.length === 0) return false
  const data = copy(result.data)
  const block = data.message.content[0]
  block.content = [{ type: 'text', text: 'rewritten' }]
  const fault = rng.pick([
    () => {},
    () => {},
    () => {},
    () => {},
    () => { data.message.id += 'x' },
    () => { block.isError = block.isError !== true },
    () => { data.meta = { other: [1] } },
    () => { delete data.meta },
    () => { if (data.meta) data.meta = { nested: data.meta.nested, exitCode: new Raw('-0') } },
    () => { data.step = new Raw(`${data.step}.0`) },
    () => { data.message.source = { callId: data.message.source.callId, kind: 'tool' } },
    () => { block.content = 5 },
    () => { block.extra = null },
  ])
  fault()
  const at = new Ref(result)
  const options = { sources: [at], op: { op: 'replace', start: at, end: at } }
  log.events.splice(rng.pick(places), 0, log.story.event('tool/result', data, options))
  return true
}

// Values that are equal, or not, for reasons that a comparison of texts would miss.
const LIKENESSES = [
  [0.1, new Raw('0.1000000000000000055511151231257827')],
  [new Raw('1e23'), new Raw('9.999999999999999e22')],
  [0, new Raw('-0')], [new Raw('1e400'), new Raw('1e401')], [new Raw('1e400'), new Raw('-1e400')],
  ['😀', new Raw('"\\uD83D\\uDE00"')], ['\ufffd', '\ud800'], ['é', 'e\u0301'], [null, 0], [[], {}],
  [{ a: 1, b: 2 }, { b: 2, a: 1 }], [[1, 2], [2, 1]], [{ a: null }, {}], [1, '1'], [true, 1],
  [new Members([['a', 1], ['a', 2]]), { a: 2 }], [new Members([['__proto__', 1]]), {}],
  [new Members([['__proto__', 1]]), new Members([['__proto__', 1]])], [{ length: 0 }, []],
  [[[1], { x: [null] }], [[new Raw('1.0')], { x: [null] }]], ['', null],
]

/** A rewrite of a tool result whose other fields are spelled in another way. */
function likeness(log, rng) {
  const { story } = log
  const at = traced(log.events).findLastIndex((state) => state.turn === null)
  log.events.length = at
  const turn = traced(log.events).at(-1).nextTurn
  const place = { turn, step: 1 }
  const [one, other] = rng.pick(LIKENESSES)
  const message = toolMessage(story, 'call-x', false)
  const add = (type, data, options) => {
    log.events.push(story.event(type, data, options))
    return log.events.at(-1)
  }
  add('turn/start', { turn })
  add('step/start', place)
  add('tool/call', { ...place, callId: 'call-x', name: 'n', arguments: '' })
  const first = add('tool/result', { ...place, message, meta: one }, { op: 'append' })
  const node = new Ref(first)
  const options = { sources: [node], op: { op: 'replace', start: node, end: node } }
  add('tool/result', { ...place, message: copy(message), meta: other }, options)
  return true
}

/** Ends the log inside a step with calls in every state that closers look at. */
function openCalls(log, rng) {
  const { story } = log
  const at = traced(log.events).findLastIndex((state) => state.turn === null)
  log.events.length = at
  const turn = traced(log.events).at(-1).nextTurn
  const place = { turn, step: 1 }
  const ids = ['k1', 'k2', 'k3', 'k4'].slice(0, rng.between(1, 4))
  if (rng.chance(0.2)) ids.push(ids[0])
  if (rng.chance(0.2)) ids.push(rng.pick(['', null, 5, {}, undefined, true]))
  const content = ids.map((id) => ({ type: 'tool-call', id, name: 'n', arguments: '{}' }))
  if (rng.chance(0.1)) content.push(rng.pick([5, 'tool-call', [], { type: 5 }, null]))
  const message = assistantMessage(story, content)
  const add = (type, data, options) => log.events.push(story.event(type, data, options))
  add('turn/start', { turn })
  add('step/start', place)
  add('assistant/message', { ...place, step: rng.chance(0.1) ? junk(rng) : 1, message },
    { op: 'append' })
  for (const id of ids) if (rng.chance(0.6)) add('tool/call',
    { ...place, callId: id, name: 'n', arguments: '' })
  for (const id of ids) {
    if (typeof id === 'string' && id !== '' && rng.chance(0.3)) {
      add('tool/result', { ...place, message: toolMessage(story, id, false) }, { op: 'append' })
    }
  }
  if (rng.chance(0.2)) add('assistant/message', { ...place, message: copy(message) },
    { op: 'append' })
  if (rng.chance(0.2)) add('step/end', place)
  if (rng.chance(0.1)) add('step/start', rng.pick([null, {}, { ...place, step: null },
    { ...place, step: 2 }]))
  return true
}

/** The last turn is open and its number is odd: what the closers then say is odd too. */
function oddOpenTurn(log, rng) {
  const at = traced(log.events).findLastIndex((state) => state.turn === null)
  log.events.length = at
  const data = rng.pick([{}, { turn: null }, { turn: 'x' }, { turn: 1.5 }, null, 5, [],
    { turn: { a: 1 } }, { turn: 0 }])
  log.events.push(log.story.event('turn/start', data))
  if (rng.chance(0.4)) log.events.push(log.story.event('step/start',
    rng.pick([{}, { turn: 1, step: null }, 5])))
  return true
}

const UNKNOWN = [
  ['future/required', { a: 1 }],
  ['future/required', null],
  ['text-chunk', {}],
  ['compact/start', {}],
  ['turn/End', { turn: 1 }],
  ['developer/message', { id: 'm' }],
  ['assistant/attempt', {}],
  ['session/Title', {}, { ignorable: true }],
  ['future/optional', null, { ignorable: true }],
  ['future/optional', 1, { ignorable: true, op: 'append' }],
  ['future/optional', 1, { ignorable: true, sources: [] }],
  ['future/optional', 1, { ignorable: false }],
  ['plan/mode', { active: true }, { sources: null }],
  ['plan/mode', { active: true }, { op: null }],
  ['request/header-delta', {}],
  ['request/header-delta', {}, { ignorable: true }],
  ['mode/set', { mode: 'x' }],
  ['mode/set', null, { ignorable: true }],
  ['request/header', { reason: 'fallback', header: { config: { provider: 'p', model: 'm' } } }],
  ['request/header', null],
  ['', {}, { ignorable: true }],
  ['steering/message', { turn: 'x', message: {} }],
  ['steering/message', null, { ignorable: true }],
  ['model/selection', { provider: 'p', model: 'm' }],
]

/** Payloads on which a companion itself fails,
or which it accepts only because of how JavaScript compares. */
const ODD_PAYLOADS = [
  ['approval/asked', null], ['approval/asked', {}], ['approval/asked', { id: 1, toolName: null }],
  ['approval/asked', { id: 1, toolName: 5 }], ['approval/asked', { toolName: { length: 1 } }],
  ['approval/decided', null], ['approval/decided', 7], ['approval/policy', null],
  ['command/run', null], ['command/run', {}], ['command/done', null], ['command/done', {}],
  ['turn/end', null], ['turn/end', 5], ['turn/end', []], ['step/end', null], ['step/end', 'x'],
  ['assistant/chunk', null], ['assistant/chunk', {}], ['tool/call', null], ['tool/call', {}],
  ['tool/call', 'x'], ['tool/call', []], ['turn/start', true], ['turn/start', []],
  ['step/start', 'x'],
  ['approval/asked', 'x'], ['command/run', []], ['command/run', 'x'], ['request/header', 'x'],
  ['turn/start', null], ['step/start', null], ['step/start', []],
  ['session/end-seed', null], ['session/end-seed', { inherited: true }], ['todo/write', null],
]

function oddIds(log, rng) {
  const [one, other] = rng.pick([
    [0, new Raw('-0')], [1, new Raw('1.0')], ['a', new Raw('"\\u0061"')], [undefined, null],
    [1, '1'], [true, 'true'], [new Raw('1e400'), new Raw('2e400')], [{}, {}], [[], []],
    ['😀', new Raw('"\\ud83d\\ude00"')], ['\ufffd', '\ud800'], ['\ud800', '\udc00'],
    ['é', 'e\u0301'],
    [0.1, new Raw('0.1000000000000000055511151231257827')], [new Raw('3e-324'), new Raw('5e-324')],
    [new Raw('2e-324'), 0], [new Raw('1e23'), new Raw('9.999999999999999e22')],
    [new Raw('9007199254740993'), new Raw('9007199254740992')], ['\ud800', new Raw('"\\uD800"')],
  ])
  const states = traced(log.events)
  const places = states.map((_, index) => index).filter((index) => states[index].turn !== null)
  if (places.length === 0) return false
  const at = rng.pick(places)
  const { story } = log
  const pairs = rng.pick([
    () => [['approval/asked', { id: one, toolName: 'b' }],
      ['approval/decided', { id: other, outcome: 'rejected' }]],
    () => [['approval/asked', { id: one, toolName: 'b' }],
      ['approval/asked', { id: other, toolName: 'b' }]],
    () => [['command/run', { commandId: one }],
      ['command/done', { commandId: other, kind: 'success' }]],
    () => [['command/run', { commandId: one }], ['command/run', { commandId: other }]],
  ])()
  log.events.splice(at, 0, ...pairs.map(([type, data]) => story.event(type, data)))
  return true
}

function objectThatCannotBeText(rng) {
  return rng.pick([{ toString: 1, valueOf: 1 }, { toString: null }, [{ toString: 1 }],
    { toString: 'x' }])
}

export const MEANINGS = {
  'surface-replacement': replacement,
  'tool-result-rewrite': rewriteResult,
  likeness,
  'legacy-rewrite': legacyRewrite,
  'negative-zero': negativeZero,
  'two-faults': twoFaults,
  'open-calls': openCalls,
  'odd-open-turn': oddOpenTurn,
  'unknown-type': (log, rng) => put(log, rng, copy(rng.pick(UNKNOWN))),
  'odd-payload': (log, rng) => put(log, rng, copy(rng.pick(ODD_PAYLOADS))),
  'odd-ids': oddIds,
  'companion-text-fails': (log, rng) => put(log, rng, rng.pick([
    ['command/run', { commandId: objectThatCannotBeText(rng) }],
    ['command/done', { commandId: 'x', sourceEventSeq: objectThatCannotBeText(rng) }],
    ['turn/start', { turn: objectThatCannotBeText(rng) }],
    ['step/start', { turn: objectThatCannotBeText(rng), step: 1 }],
  ])),
  'deep-payload': (log, rng) => put(log, rng, ['plan/mode', {
    active: deep(rng.pick([200, 3000, 30_000]), rng.pick(['array', 'object'])),
  }]),
  'no-events': (log) => { log.events.length = 0 },
  'only-end-seed': (log, rng) => {
    log.events.length = 0
    log.events.push(log.story.event('session/end-seed', {}))
    if (rng.chance(0.5)) log.events.push(log.story.event('session/end-seed', {}))
  },
  'swap-events': (log, rng) => {
    if (log.events.length < 2) return false
    const at = rng.below(log.events.length - 1)
    log.events.splice(at, 2, log.events[at + 1], log.events[at])
    return true
  },
  'drop-event': (log, rng) => {
    if (log.events.length === 0) return false
    log.events.splice(rng.below(log.events.length), 1)
    return true
  },
  'repeat-event': (log, rng) => {
    if (log.events.length === 0) return false
    const from = rng.below(log.events.length)
    log.events.splice(rng.below(log.events.length + 1), 0, { ...log.events[from] })
    return true
  },
  'cite-later': (log, rng) => {
    const cited = log.events.filter(({ sources, op }) => sources !== undefined && op !== undefined)
    if (cited.length === 0) return false
    const event = rng.pick(cited)
    event.sources = [...event.sources, new Ref(rng.pick([event, log.events.at(-1)]))]
    return true
  },
}
