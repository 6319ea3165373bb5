// Lawful format-0 logs: a header, whole turns, and what the host writes between them.

import { Ref, Story, numbered, traced } from './story.mjs'
import { addTurn, addUser, toolMessage, userMessage } from './lawful-turn.mjs'
import { nonEmpty, words } from './words.mjs'

const IDS = ['a/b', 'é', '😀', '..', '.', '...', '~', 'x y', '\ud800z', 'Ω~0041', 'session-7']
const FOLDERS = [
  '/', '/srv/proj', '/home/u/my proj', '/a//b', '/a:b\\c', '/-x', '/ü/日本', '/~', '/var/.x',
  `/${'long/'.repeat(60)}`, '/a/\ud83d', '//',
]

export function lawfulHeader(rng) {
  const id = rng.chance(0.75)
    ? `${rng.u32().toString(16)}-${rng.below(9999)}`
    : rng.pick(IDS)
  const header = { type: 'session', version: 0, id, createdAt: 1750000000000 + rng.below(1e6) }
  if (rng.chance(0.6)) header.cwd = rng.pick(FOLDERS)
  if (rng.chance(0.2)) header.parentSession = rng.pick(['parent-1', '', 'p/ü'])
  if (rng.chance(0.15)) header.origin = 'subagent'
  header.delegationDepth = rng.chance(0.8) ? 0 : rng.between(1, 5)
  if (rng.chance(0.2)) header.agentPreset = rng.pick(['default', '', 'code'])
  return header
}

function addCommand(story) {
  const { rng } = story
  const commandId = `cmd-${story.events.length}`
  const run = { commandId, name: rng.pick(['compact', 'title']), source: { kind: 'user' } }
  if (rng.chance(0.5)) run.args = words(rng)
  story.add('command/run', run)
  const earlier = story.events.filter((event) => !event.type.startsWith('command/'))
  const done = { commandId, kind: rng.pick(['success', 'success', 'error']) }
  if (rng.chance(0.5)) done.text = words(rng)
  if (done.kind === 'success' && earlier.length > 0 && rng.chance(0.6)) {
    done.sourceEventSeq = new Ref(rng.pick(earlier))
  }
  const times = rng.weighted([[1, 0], [8, 1], [1, 2]])
  for (let i = 0; i < times; i += 1) story.add('command/done', { ...done })
}

/** A compaction whose summary replaces a slice of the surface. */
function addCompaction(story) {
  const { rng } = story
  const { surface } = traced(story.events).at(-1)
  if (surface.length < 2) return
  const from = rng.below(surface.length - 1)
  const slice = surface.slice(from, from + rng.between(1, surface.length - from))
  const seqs = slice.map((event) => new Ref(event))
  const shadowed = { shadowedRange: { start: seqs[0], end: seqs.at(-1) }, shadowedSeqs: seqs }
  const compactionId = `k${story.events.length}`
  story.add('compaction/start', { compactionId, turn: null })
  story.add('compaction/summary', {
    compactionId, summary: [{ type: 'text', text: words(rng) }], ...shadowed,
    shadowedTokenCount: 5, provider: 'p', model: 'm',
  })
  const source = { kind: 'plugin', plugin: 'compact', compactionId }
  story.add('user/message', userMessage(story, source), {
    sources: rng.chance(0.3) ? [...seqs].reverse() : seqs,
    op: { op: 'replace', start: seqs[0], end: seqs.at(-1) },
  })
  story.add('compaction/end', { compactionId, turn: null })
}

/** A single-node replacement, by a message of the same or of another kind. */
function addReplacement(story) {
  const { rng } = story
  const { surface } = traced(story.events).at(-1)
  if (surface.length === 0) return
  const target = rng.pick(surface)
  const at = new Ref(target)
  const options = { sources: [at], op: { op: 'replace', start: at, end: at } }
  if (target.type === 'tool/result') {
    // Outside a turn the companion minds (SES-10); `mutate-meanings` makes those.
    return
  }
  story.add('user/message', userMessage(story), options)
}

const OTHERS = [
  (story) => story.add('agent-preset/selected', { agentPreset: 'default' }),
  (story) => story.add('permission/preset', { preset: 'workspace' }),
  (story) => story.add('sandbox/mode', { mode: story.rng.pick(['read-only', 'workspace-write']) }),
  (story) => story.add('approval/policy', { policy: story.rng.pick(['ask', 'never']) }),
  (story) => story.add('approval/policy', { policy: 'never', source: 'delegation' }),
  (story) => story.add('plan/mode', { active: story.rng.chance(0.5) }),
  (story) => story.add('feedback/record', { text: nonEmpty(story.rng) }),
  (story) => story.add('session/end-seed', {}),
  (story) => story.add('session/title', { title: nonEmpty(story.rng), messageSeqs: [],
    source: { kind: 'user' } }),
  (story) => story.add('hook/invoked', { turn: 1, point: 'stop', dialect: 'codex',
    handlerId: 'h' }),
  (story) => story.add('subagent/descriptor', { mode: 'one-shot', version: 2, provider: 'p' }),
  (story) => story.add('schedule/change', { version: 1, operation: 'delete', id: 'sch' }),
  (story) => story.add('tool-workflow/run-start', { runId: 'w', name: 'n' }),
  (story) => story.add('team/message/delivered',
    { version: 1, teamId: 't', messageId: 'm', targetId: 'g' }),
  (story) => story.add('agent/inbox/spliced', { target: 'next-turn', start: 0, inserted: [] }),
  (story) => story.add('goal/change', {
    kind: 'goal/change', version: 1, operation: 'clear', cleared: { id: 'g', revision: 1 },
    clearedAt: 5,
  }),
  (story) => story.add('future/optional', [1, { deep: [null] }], { ignorable: true }),
  (story) => story.add('plan/mode', { active: true }, { ignorable: true }),
  addCommand, addCommand, addCompaction, addReplacement, addUser,
]

function addBetween(story) {
  const { rng } = story
  const count = rng.weighted([[3, 0], [4, 1], [3, 2], [1, 5]])
  for (let i = 0; i < count; i += 1) rng.pick(OTHERS)(story)
}

/**
 * A lawful log: `{header, events, states, isOpen}`, its events still symbolic.
 * `wish.needs` is `'tool'` for a log with at least one tool result; `wish.open` cuts its last turn.
 */
export function lawfulLog(rng, wish = {}) {
  for (;;) {
    const story = new Story(rng)
    story.useLegacy = wish.legacy ?? rng.chance(0.12)
    addBetween(story)
    const turns = rng.weighted([[wish.needs ? 0 : 1, 0], [4, 1], [4, 2], [1, 4]])
    for (let i = 0; i < turns; i += 1) {
      addTurn(story)
      addBetween(story)
    }
    const header = lawfulHeader(rng)
    let { events } = story
    if (rng.chance(0.15)) {
      header.seedLength = rng.chance(0.8) ? rng.below(events.length + 1) : 99
      header.parentSession ??= 'parent-1'
    }
    const isOpen = wish.open ?? rng.chance(0.3)
    if (isOpen) events = cutInTurn(rng, events)
    if (wish.needs === 'tool' && !events.some(isCurrentResult)) continue
    return { header, events, states: traced(events), isOpen, story }
  }
}

function isCurrentResult(event) {
  return event.type === 'tool/result' && event.op === 'append' && event.data.message !== undefined
}

/** Ends the log somewhere inside its last turn, as a crash does. */
function cutInTurn(rng, events) {
  const start = events.findLastIndex((event) => event.type === 'turn/start')
  if (start === -1) return events
  const end = events.findIndex((event, index) => index > start && event.type === 'turn/end')
  return events.slice(0, rng.between(start + 1, end))
}

export { isCurrentResult, numbered, toolMessage, userMessage }
