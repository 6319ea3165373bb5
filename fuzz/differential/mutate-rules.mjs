// Mutants of meaning, one maker for each rule of the three companion families: the log stays
// loadable, and that rule is the first of its family to break.
//
// A maker gets a log with symbolic events and their states, and returns false where the log has no
// place for it.

import { Ref, traced } from './story.mjs'
import { addUser, toolMessage } from './lawful-turn.mjs'
import { isCurrentResult } from './lawful.mjs'
import { copy } from './spell.mjs'

/** Puts an event before a place whose state satisfies `where`; false if there is none. */
function insert(log, rng, where, make) {
  const places = []
  log.states.forEach((state, index) => { if (where(state, index)) places.push(index) })
  if (places.length === 0) return false
  const at = rng.pick(places)
  const [type, data, options] = make(log.states[at], at)
  log.events.splice(at, 0, log.story.event(type, data, options))
  return true
}

/** Changes a copy of one event of those that satisfy `where`. */
function change(log, rng, where, alter) {
  const places = []
  log.events.forEach((event, index) => { if (where(event, log.states[index],
    index)) places.push(index) })
  if (places.length === 0) return false
  const at = rng.pick(places)
  const event = log.events[at]
  event.data = alter(copyData(event.data), log.states[at], event) ?? event.data
  return true
}

function copyData(data) {
  return typeof data === 'object' && data !== null ? { ...data } : copy(data)
}

function remove(log, rng, where) {
  const places = []
  log.events.forEach((event, index) => { if (where(event, log.states[index],
    index)) places.push(index) })
  if (places.length === 0) return false
  log.events.splice(rng.pick(places), 1)
  return true
}

/** The first maker that finds a place, in random order. */
function either(rng, one, other) {
  const [first, second] = rng.chance(0.5) ? [one, other] : [other, one]
  return first() || second()
}

const idle = (state) => state.turn === null
const inTurn = (state) => state.turn !== null
const inStep = (state) => state.step !== null

function otherNumber(rng, right) {
  return rng.pick([right + 1, right - 1, 0, -1, 1.5, String(right), null, undefined, true, [right],
    {}, 2 ** 53])
}

/** An event that belongs to a step, naming the given turn and step. */
function stepEvent(log, rng, place) {
  const { story } = log
  const callId = `late-${story.events.length}-${rng.below(999)}`
  return rng.pick([
    () => ['step/end', place],
    () => ['assistant/chunk', { ...place, chunk: { type: 'text-delta', index: 0, text: 'x' } }],
    () => ['tool/call', { ...place, callId, name: 'bash', arguments: '{}' }],
    () => ['tool/result', { ...place, message: toolMessage(story, callId, false) },
      { op: 'append' }],
    () => ['assistant/message', {
      ...place,
      message: {
        id: story.messageId(), role: 'assistant', content: [],
        source: { kind: 'model', provider: 'p', model: 'm' },
      },
    }, { op: 'append' }],
  ])()
}

export const SESSION_RULES = {
  'SES-2': (log, rng) => insert(log, rng, inTurn, (state) => [
    'turn/start', { turn: rng.pick([state.turn, state.nextTurn, state.nextTurn + 1, 0]) },
  ]),
  'SES-3': (log, rng) => either(
    rng,
    () => insert(log, rng, idle, (state) => ['turn/start',
      { turn: otherNumber(rng, state.nextTurn) }]),
    () => change(log, rng,
      (event) => event.type === 'turn/start' && event.data.trigger === undefined,
      (data) => ({ turn: otherNumber(rng, data.turn) })),
  ),
  'SES-4': (log, rng) => either(
    rng,
    () => insert(log, rng, idle, (state) => [
      'turn/end', { turn: rng.pick([1, state.nextTurn]), reason: { kind: 'completed' } },
    ]),
    () => change(log, rng, (event) => event.type === 'turn/end',
      (data) => ({ ...data, turn: data.turn + rng.between(1, 3) })),
  ),
  'SES-5': (log, rng) => either(
    rng,
    () => remove(log, rng, (event, state, index) => event.type === 'step/end' && nextMark(log,
      index) === 'turn/end'),
    () => insert(log, rng, inStep, (state) => [
      'turn/end', { turn: state.turn, reason: { kind: 'completed' } },
    ]),
  ),
  'SES-6': (log, rng) => either(
    rng,
    () => insert(log, rng, (state) => state.step === null, (state) => [
      'step/start', { turn: state.turn === null ? rng.pick([1, undefined]) : state.turn + 1,
        step: state.nextStep },
    ]),
    () => change(log, rng, (event) => event.type === 'step/start',
      (data) => ({ ...data, turn: otherNumber(rng, data.turn) })),
  ),
  'SES-7': (log, rng) => either(
    rng,
    () => remove(log, rng, (event, state, index) => event.type === 'step/end' && nextMark(log,
      index) === 'step/start'),
    () => insert(log, rng, inStep, (state) => [
      'step/start', { turn: state.turn, step: rng.pick([state.step, state.nextStep,
        state.nextStep + 1]) },
    ]),
  ),
  'SES-8': (log, rng) => either(
    rng,
    () => insert(log, rng, (state) => inTurn(state) && !inStep(state), (state) => [
      'step/start', { turn: state.turn, step: otherNumber(rng, state.nextStep) },
    ]),
    () => change(log, rng, (event) => event.type === 'step/start',
      (data) => ({ ...data, step: otherNumber(rng, data.step) })),
  ),
  'SES-9': (log, rng) => insert(log, rng, (state) => rng.chance(0.5) || inStep(state), (state) => {
    const right = { turn: state.turn, step: state.step }
    if (!inStep(state)) return stepEvent(log, rng, { turn: state.turn ?? 1, step: 1 })
    return stepEvent(log, rng, rng.pick([
      { ...right, turn: otherNumber(rng, state.turn) },
      { ...right, step: otherNumber(rng, state.step) },
    ]))
  }),
  'SES-10': (log, rng) => {
    const result = log.events.find(isCurrentResult)
    if (result === undefined) return false
    const at = new Ref(result)
    return insert(log, rng, (state) => idle(state) && state.surface.includes(result), () => {
      const data = copy(result.data)
      data.message.content[0].content = [{ type: 'text', text: 'cut' }]
      return ['tool/result', data, { sources: [at], op: { op: 'replace', start: at, end: at } }]
    })
  },
  'SES-11': (log, rng) => either(
    rng,
    () => remove(log, rng, (event, state, index) => event.type === 'tool/call' && isAnswered(log,
      index)),
    () => insert(log, rng, inStep, (state) => {
      const callId = rng.pick(['nobody', ...state.runs])
      const data = { turn: state.turn, step: state.step,
        message: toolMessage(log.story, callId, rng.chance(0.5)) }
      if (rng.chance(0.3)) data.error = { name: 'E',
        code: rng.pick(['TOOL_OUTCOME_UNKNOWN', 'OTHER']) }
      if (rng.chance(0.15)) {
        // The exemption needs both halves; here one is missing.
        data.error = { name: 'E', code: 'TOOL_NOT_STARTED' }
        data.message.content[0].isError = rng.pick([false, 1, 'true', undefined])
      }
      return ['tool/result', data, { op: 'append' }]
    }),
  ),
  'SES-12': (log, rng) => insert(log, rng, idle, () => rng.pick([
    ['todo/write', { todos: [] }],
    ['todo/write', null],
    ['request/context', { provider: 'p', model: 'm' }],
    ['request/header', { header: { config: { provider: 'p', model: 'm' } }, reason: 'resume' }],
  ])),
}

function nextMark(log, index) {
  const marks = ['turn/start', 'turn/end', 'step/start', 'step/end']
  return log.events.slice(index + 1).find((event) => marks.includes(event.type))?.type
}

function isAnswered(log, index) {
  const { callId } = log.events[index].data
  const isAnswer = ({ type, op, data }) => type === 'tool/result' && op === 'append'
    && (data.message?.source.callId ?? data.callId) === callId
  return log.events.slice(index).some(isAnswer)
}

const ODD_IDS = [undefined, null, 0, 1, '1', '', true, 'ä', '\ud800', 'ask-x']

export const APPROVAL_RULES = {
  'APR-1': (log, rng) => insert(log, rng, idle, () => [
    'approval/asked', { id: rng.pick(ODD_IDS), toolName: rng.pick(['bash', '', null]) },
  ]),
  'APR-2': (log, rng) => insert(log, rng, inTurn, () => [
    'approval/asked', { id: rng.pick(ODD_IDS), toolName: rng.pick(['', '', [], { length: 0 }]) },
  ]),
  'APR-3': (log, rng) => {
    const id = rng.pick(ODD_IDS)
    const asked = { toolName: 'bash', ...(id === undefined ? {} : { id }) }
    if (!insert(log, rng, inTurn, () => ['approval/asked', asked])) return false
    log.states = traced(log.events)
    const at = log.events.findIndex((event) => event.data === asked)
    return insert(log, rng, (state, index) => index > at && inTurn(state),
      () => ['approval/asked', { ...asked }])
  },
  'APR-4': (log, rng) => insert(log, rng, idle, () => [
    'approval/decided', { id: rng.pick(ODD_IDS), outcome: rng.pick(['rejected', 'granted']) },
  ]),
  'APR-5': (log, rng) => {
    const maker = rng.pick([stray, twice, unasked])
    return maker(log, rng) || stray(log, rng)
  },
  'APR-6': (log, rng) => {
    const outcome = rng.pick(['granted', '', null, undefined, 'Rejected', ['rejected'], 1,
      { a: 1 }])
    const id = rng.pick([...ODD_IDS, -1.5])
    const asked = { id, toolName: 'bash' }
    if (!insert(log, rng, inTurn, () => ['approval/asked', asked])) return false
    const at = log.events.findIndex((event) => event.data === asked)
    log.events.splice(at + 1, 0, log.story.event('approval/decided', { id, outcome }))
    return true
  },
  'APR-7': (log, rng) => insert(log, rng, () => true, () => [
    'approval/policy', rng.pick([
      { policy: 'always' }, { policy: null }, {}, { policy: ['ask'] }, { policy: 'Ask' },
      { policy: 0 }, [], 'ask', 5,
    ]),
  ]),
}

/** A decision of nothing that was asked. */
function stray(log, rng) {
  const id = rng.pick(ODD_IDS)
  return insert(log, rng, inTurn, () => ['approval/decided', { id, outcome: 'rejected' }])
}

/** A decision whose ask is lost. */
function unasked(log, rng) {
  return remove(log, rng, ({ type, data }, state, index) => type === 'approval/asked'
    && log.events.slice(index).some((late) => late.type === 'approval/decided'
      && late.data.id === data.id))
}

/** A second decision of one ask. */
function twice(log, rng) {
  const decided = log.events.filter((event) => event.type === 'approval/decided')
  if (decided.length === 0) {
    return insert(log, rng, inTurn, () => ['approval/decided',
      { id: 'gone', outcome: 'cancelled' }])
  }
  const first = rng.pick(decided)
  const at = log.events.indexOf(first)
  log.events.splice(at + 1, 0, log.story.event('approval/decided', { ...first.data }))
  return true
}

function addRun(log, rng, commandId) {
  const run = { commandId, name: 'n', source: { kind: 'user' } }
  return insert(log, rng, () => true, () => ['command/run', run])
    && log.events.findIndex((event) => event.data === run)
}

function badSource(log, rng, at) {
  const command = log.events.slice(0, at).find((event) => event.type.startsWith('command/'))
  return rng.pick([
    ...(command === undefined ? [] : [{ sourceEventSeq: new Ref(command) }]),
    ...(at > 0 ? [{ kind: 'error', sourceEventSeq: 0 },
      { kind: undefined, sourceEventSeq: 0 }] : []),
    { sourceEventSeq: at + 5 }, { sourceEventSeq: -1 }, { sourceEventSeq: 0.5 },
    { sourceEventSeq: null },
    { sourceEventSeq: '0' }, { sourceEventSeq: [0] }, { sourceEventSeq: {} },
    { sourceEventSeq: 'length' },
    { sourceEventSeq: true }, { sourceEventSeq: 2 ** 53 },
  ])
}

export const COMMAND_RULES = {
  'CMD-1': (log, rng) => {
    const commandId = rng.pick([...ODD_IDS, 'cmd-again'])
    return addRun(log, rng, commandId) !== false && addRun(log, rng, commandId) !== false
  },
  'CMD-2': (log, rng) => insert(log, rng, () => true, () => [
    'command/done', { commandId: rng.pick([...ODD_IDS, 'cmd-never']), kind: 'success',
      ...rng.pick([{}, { sourceEventSeq: 0 }]) },
  ]),
  'CMD-3': (log, rng) => {
    const commandId = rng.pick([...ODD_IDS, 'cmd-odd'])
    const at = addRun(log, rng, commandId)
    const done = { commandId, kind: 'success', ...badSource(log, rng, at) }
    log.events.splice(at + 1, 0, log.story.event('command/done', done))
    return true
  },
}

/** Makes one rule of a family the first to break, if the log has a place for it. */
export function breakRule(log, rng, id) {
  const maker = SESSION_RULES[id] ?? APPROVAL_RULES[id] ?? COMMAND_RULES[id]
  log.states = traced(log.events)
  if (log.events.length === 0) addUser(log.story)
  return maker(log, rng) !== false
}
