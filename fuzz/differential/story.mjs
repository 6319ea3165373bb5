// A lawful log while it is written: events in order, with symbolic references between them.
//
// References stay symbolic (`Ref`) until the log is numbered, so that a mutator of meanings can
// insert, move and delete events without every later number turning into a second, unwanted fault.

import { isRecord } from './spell.mjs'

/** Stands for the seq of another event. */
export class Ref {
  constructor(event, offset = 0) {
    this.event = event
    this.offset = offset
  }
}

export class Story {
  constructor(rng) {
    this.rng = rng
    this.events = []
    this.time = 1750000000000 + rng.below(1e9)
    this.turnCount = 0
    this.callCount = 0
    this.messageCount = 0
    this.useLegacy = false
  }

  /** Makes an event without placing it. */
  event(type, data, { sources, op, ignorable } = {}) {
    const { rng } = this
    // Clocks stand still and step back; the host does not mind either.
    this.time += rng.chance(0.2) ? 0 : rng.chance(0.02) ? -rng.below(5000) : rng.below(900)
    return { type, time: this.time, data, sources, op, ignorable }
  }

  add(type, data, options) {
    const event = this.event(type, data, options)
    this.events.push(event)
    return event
  }

  callId() {
    this.callCount += 1
    const { rng } = this
    return rng.pick(['call_', 'c', 'toolu-', 'ü']) + this.callCount
  }

  messageId() {
    this.messageCount += 1
    return `m${this.messageCount}-${this.rng.below(1000)}`
  }
}

function resolved(value) {
  if (value instanceof Ref) return (value.event.seq ?? 0) + value.offset
  if (Array.isArray(value)) return value.map(resolved)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolved(item)]))
}

/** Gives every event its seq and returns the stored rows, in the writer's order of keys. */
export function numbered(events) {
  events.forEach((event, index) => { event.seq = index })
  return events.map((event) => {
    const row = { type: event.type, seq: event.seq, time: event.time, data: resolved(event.data) }
    if (event.sources !== undefined) row.sourceEventSeqs = resolved(event.sources)
    if (event.op !== undefined) row.surfaceOp = resolved(event.op)
    if (event.ignorable !== undefined) row.ignorable = event.ignorable
    return row
  })
}

/**
 * What is true before each event of a lawful log, plus one entry for its end. Mutators of meanings
 * look here for a place where exactly one rule would be the first to break.
 */
export function traced(events) {
  let state = {
    turn: null, step: null, nextTurn: 1, nextStep: 1,
    pending: [], asked: [], runs: [], surface: [],
  }
  const states = [state]
  for (const event of events) {
    state = after(state, event)
    states.push(state)
  }
  return states
}

function after(state, event) {
  const { data } = event
  const next = { ...state }
  switch (event.type) {
    case 'turn/start':
      next.turn = data.turn
      next.nextStep = 1
      break
    case 'turn/end':
      next.turn = null
      next.nextTurn += 1
      break
    case 'step/start':
      next.step = data.step
      break
    case 'step/end':
      next.step = null
      next.nextStep += 1
      next.pending = []
      break
    case 'tool/call':
      next.pending = [...state.pending, data.callId]
      break
    case 'tool/result':
      if (event.op === 'append') {
        const callId = data.message?.source.callId ?? data.callId
        next.pending = state.pending.filter((id) => id !== callId)
      }
      break
    case 'approval/asked':
      next.asked = [...state.asked, data.id]
      break
    case 'approval/decided':
      next.asked = state.asked.filter((id) => id !== data.id)
      break
    case 'command/run':
      next.runs = [...state.runs, data.commandId]
      break
  }
  if (event.op === 'append') next.surface = [...state.surface, event]
  else if (event.op?.op === 'replace') {
    const first = state.surface.indexOf(event.op.start.event)
    const last = state.surface.indexOf(event.op.end.event)
    next.surface = [...state.surface.slice(0, first), event, ...state.surface.slice(last + 1)]
  }
  return next
}
