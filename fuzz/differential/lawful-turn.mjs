// One lawful turn: requests, messages, streamed chunks, tools, approvals, and its end.

import { Ref } from './story.mjs'
import { nonEmpty, words } from './words.mjs'

export function userMessage(story, source = { kind: 'user' }) {
  return {
    content: [{ type: 'text', text: words(story.rng) }],
    source,
    role: 'user',
    id: story.messageId(),
  }
}

export function addUser(story, options = { op: 'append' }) {
  const { rng } = story
  if (story.useLegacy && rng.chance(0.5)) {
    const content = [{ type: 'text', text: words(rng) }]
    const kind = rng.pick(['bare', 'steering', 'wrapped'])
    if (kind === 'bare') return story.add('user/message', { content, source: { kind: 'user' } },
      options)
    const data = kind === 'steering'
      ? { turn: story.turnCount, content, source: { kind: 'user' } }
      : { turn: story.turnCount, message: userMessage(story) }
    return story.add('steering/message', data, options)
  }
  const source = rng.weighted([
    [6, { kind: 'user' }],
    [1, { kind: 'plugin', plugin: 'time-context', form: 'instructions' }],
    [1, { kind: 'subagent-report', form: 'relay', senderSessionId: 's-9' }],
  ])
  return story.add('user/message', userMessage(story, source), options)
}

function addRequest(story) {
  const { rng } = story
  const config = { provider: rng.pick(['deepseek', 'openai']), model: 'm-1' }
  if (rng.chance(0.4)) config.reasoningEffort = rng.pick(['low', 'high'])
  if (rng.chance(0.3)) config.maxTokens = rng.between(1, 9000)
  const header = { config }
  if (config.maxTokens !== undefined && rng.chance(0.5)) {
    header.adapterDefaults = { maxTokens: true }
  }
  if (rng.chance(0.5)) header.system = words(rng)
  if (rng.chance(0.4)) {
    header.tools = [{ name: 'bash', description: words(rng), parameters: { type: 'object' } }]
  }
  story.add('request/header', { header, reason: rng.pick(['initial', 'resume', 'change']) })
  if (rng.chance(0.5)) {
    story.add('request/context', { provider: config.provider, model: config.model,
      contextWindow: 64000 })
  }
}

/** Streams one block and returns the chunk events. */
function addBlock(story, place, index, kind, call) {
  const { rng } = story
  const { turn, step } = place
  const chunk = (data) => story.add('assistant/chunk', { turn, step, chunk: data })
  const chunks = []
  if (rng.chance(0.6)) chunks.push(chunk({ type: 'block-start', index, blockType: kind }))
  const count = rng.weighted([[2, 0], [2, 1], [2, 2], [3, 3], [4, rng.between(4, 12)]])
  for (let i = 0; i < count; i += 1) {
    if (kind === 'tool-call') {
      const isNamed = rng.chance(0.02) ? i === 0 : call.isNamed
      chunks.push(chunk({
        type: 'tool-call-delta', index, id: call.id,
        ...(isNamed ? { name: 'bash' } : {}), argumentsDelta: words(rng, 2),
      }))
    } else chunks.push(chunk({ type: `${kind}-delta`, index, text: words(rng, 2) }))
  }
  return chunks
}

function addAssistant(story, place, calls) {
  const { rng } = story
  const sources = []
  const content = []
  let index = 0
  const kinds = rng.pick([['text'], ['reasoning', 'text'], ['text'], []])
  for (const kind of kinds) {
    if (rng.chance(0.6)) sources.push(...addBlock(story, place, index, kind))
    content.push({ type: kind, text: words(rng) })
    index += 1
  }
  for (const call of calls) {
    if (rng.chance(0.5)) sources.push(...addBlock(story, place, index, 'tool-call', call))
    if (!call.isHidden) content.push({ type: 'tool-call', id: call.id, name: 'bash',
      arguments: '{}' })
    index += 1
  }
  if (rng.chance(0.4)) {
    const usage = { inputTokens: rng.below(9999), outputTokens: rng.below(999) }
    const finish = { type: 'finish', reason: { kind: calls.length > 0 ? 'tool-calls' : 'stop' } }
    for (const chunk of [{ type: 'usage', usage }, finish]) {
      sources.push(story.add('assistant/chunk', { ...place, chunk }))
    }
  }
  const isCited = rng.chance(0.7)
  const options = { op: 'append' }
  if (isCited) options.sources = sources.map((event) => new Ref(event))
  const provenance = { provider: 'deepseek', model: 'm-1' }
  if (story.useLegacy && rng.chance(0.6)) {
    return story.add('assistant/message', { ...place, content, provenance }, options)
  }
  const message = { id: story.messageId(), role: 'assistant', content,
    source: { kind: 'model', ...provenance } }
  const data = { ...place, message }
  if (rng.chance(0.3)) data.usage = { inputTokens: 3, outputTokens: 4 }
  return story.add('assistant/message', data, options)
}

export function toolMessage(story, callId, isError) {
  const { rng } = story
  const content = rng.chance(0.9) ? [{ type: 'text', text: words(rng) }] : []
  const block = { type: 'tool-result', toolCallId: callId, content }
  if (isError || rng.chance(0.5)) block.isError = isError
  return { source: { kind: 'tool', callId }, content: [block], role: 'user', id: story.messageId() }
}

function addResult(story, place, call) {
  const { rng } = story
  const options = { op: 'append' }
  if (call.event !== undefined && rng.chance(0.7)) options.sources = [new Ref(call.event)]
  if (story.useLegacy && rng.chance(0.6) && !call.isSkipped) {
    const content = [{ type: 'text', text: words(rng) }]
    const data = { ...place, callId: call.id, content, isError: rng.chance(0.3) }
    return story.add('tool/result', data, options)
  }
  const data = { ...place, message: toolMessage(story, call.id, call.isSkipped || rng.chance(0.2)) }
  if (call.isSkipped) data.error = { name: 'ToolNotStartedError', code: 'TOOL_NOT_STARTED' }
  if (rng.chance(0.2)) data.meta = { exitCode: 0, nested: { list: [1, 2, { deep: null }] } }
  return story.add('tool/result', data, options)
}

export function addApproval(story, callId) {
  const { rng } = story
  const id = rng.chance(0.8) ? `ask-${story.events.length}` : rng.pick([`ä${story.events.length}`,
    'again'])
  const asked = { id, toolName: 'bash' }
  if (callId !== undefined && rng.chance(0.7)) asked.callId = callId
  if (rng.chance(0.5)) asked.reason = words(rng)
  story.add('approval/asked', asked)
  const outcome = rng.pick(['allowed-once', 'rejected', 'cancelled', 'unavailable'])
  if (rng.chance(0.92)) story.add('approval/decided', { id, outcome })
  else if (id === 'again') story.add('approval/decided', { id, outcome })
}

function addTools(story, place, calls) {
  const { rng } = story
  for (const call of calls) {
    if (call.isSkipped) continue
    if (rng.chance(0.25)) addApproval(story, call.id)
    call.event = story.add('tool/call', { ...place, callId: call.id, name: 'bash',
      arguments: '{"a":1}' })
    if (rng.chance(0.1)) {
      const ids = { rootCallId: call.id, parentCallId: call.id, subCallId: `${call.id}:code:1` }
      story.add('tool/code-dispatch-start', { ...ids, name: 'read', arguments: { p: [1] } })
      story.add('tool/code-dispatch', { ...ids, name: 'read', arguments: {}, isError: false,
        content: [] })
    }
  }
  for (const call of rng.shuffled(calls)) addResult(story, place, call)
}

function addStep(story, turn, step) {
  const { rng } = story
  const place = { turn, step }
  story.add('step/start', place)
  if (step === 1 || rng.chance(0.2)) addUser(story)
  if (rng.chance(0.06)) {
    const retry = { retryId: 'r', turn, step, retry: 1 }
    const failure = { message: 'm', code: 'C' }
    story.add('llm/retry', {
      ...retry, provider: 'p', mode: 'normal', policyKey: 'k', maxRetries: 3, delayMs: 5, failure,
    })
    story.add('llm/retry-started', retry)
  }
  const callCount = rng.weighted([[4, 0], [4, 1], [2, 2], [1, 4]])
  const calls = []
  for (let i = 0; i < callCount; i += 1) {
    calls.push({
      id: story.callId(), isNamed: rng.chance(0.5), isSkipped: rng.chance(0.1),
      isHidden: rng.chance(0.05),
    })
  }
  if (rng.chance(0.95) || calls.length > 0) addAssistant(story, place, calls)
  addTools(story, place, calls)
  if (rng.chance(0.2)) story.add('todo/write',
    { todos: [{ content: nonEmpty(rng), status: 'pending' }] })
  if (rng.chance(0.06)) story.add('x/later-notice', { any: words(rng) }, { ignorable: true })
  story.add('step/end', place)
}

function endReason(story) {
  const { rng } = story
  if (story.useLegacy && rng.chance(0.6)) {
    return rng.pick([
      { kind: 'disposed' },
      { kind: 'aborted' },
      { kind: 'error', step: 1, message: 'm' },
      { kind: 'error', step: 0, message: 'm', code: 'C' },
      { kind: 'error', step: 2, failure: { message: 'm', code: 'C', status: 500, requestId: 'r' } },
    ])
  }
  return rng.weighted([
    [6, { kind: 'completed' }],
    [1, { kind: 'interrupted' }],
    [1, { kind: 'blocked' }],
    [1, { kind: 'max-tokens' }],
    [1, { kind: 'aborted', reason: { kind: 'user' } }],
    [1, { kind: 'error', error: { message: 'm', code: 'C' } }],
    [1, { kind: 'x-later', note: 1 }],
  ])
}

export function addTurn(story) {
  const { rng } = story
  story.turnCount += 1
  const turn = story.turnCount
  const isOld = story.useLegacy && rng.chance(0.5)
  story.add('turn/start', isOld ? { turn, trigger: { kind: 'user' } } : { turn })
  if (rng.chance(0.6)) addRequest(story)
  if (rng.chance(0.2)) addApproval(story)
  const steps = rng.weighted([[1, 0], [5, 1], [3, 2], [1, 3]])
  for (let step = 1; step <= steps; step += 1) addStep(story, turn, step)
  story.add('turn/end', { turn, reason: endReason(story) })
}
