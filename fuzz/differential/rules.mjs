// The rules of the three companion families that the host publishes: the text by which the host's
// own word is recognised, and the id that log-verify gives the same rule.

export const FAMILIES = ['session', 'approval', 'commands']

const TABLE = [
  ['SES-1', 'session', 'envelope/seq-order', /^seq must strictly increase/],
  ['SES-2', 'session', 'turn/start-while-open', /^turn\/start [^]* while turn [^]* is still open$/],
  ['SES-3', 'session', 'turn/start-number', /^turn\/start expected turn /],
  ['SES-4', 'session', 'turn/end-mismatch', /^turn\/end [^]* does not match open turn /],
  ['SES-5', 'session', 'turn/end-step-open', /^turn\/end [^]* while step [^]* is still open$/],
  ['SES-6', 'session', 'step/start-turn-mismatch', /^step\/start in turn [^]* but open turn is /],
  ['SES-7', 'session', 'step/start-while-open', /^step\/start [^]* while step [^]* is still open$/],
  ['SES-8', 'session', 'step/start-number', /^step\/start expected step /],
  ['SES-9', 'session', 'step/event-outside', /^[^ ]+ names turn [^]*\/step [^]* but open is turn /],
  ['SES-10', 'session', 'tool/replace-outside-turn', /^tool\/result surface replacement appended/],
  ['SES-11', 'session', 'tool/result-without-call',
    /^tool\/result for [^]* with no prior tool\/call/],
  ['SES-12', 'session', 'turn/event-outside', /^[^ ]+ appended outside any open turn \(core exec/],
  ['APR-1', 'approval', 'approval/asked-outside-turn',
    /^approval\/asked appended outside any open/],
  ['APR-2', 'approval', 'approval/asked-without-tool-name',
    /^approval\/asked toolName must be non/],
  ['APR-3', 'approval', 'approval/asked-repeats-open-id', /^approval\/asked repeated open id /],
  ['APR-4', 'approval', 'approval/decided-outside-turn', /^approval\/decided appended outside any/],
  ['APR-5', 'approval', 'approval/decided-without-ask', /^approval\/decided has no matching /],
  ['APR-6', 'approval', 'approval/decided-unknown-outcome', /^approval\/decided carries unknown /],
  ['APR-7', 'approval', 'policy/unknown-policy', /^approval\/policy carries unknown policy /],
  ['CMD-1', 'commands', 'command/run-repeats-id', /^command\/run repeats commandId /],
  ['CMD-2', 'commands', 'command/done-without-run',
    /^command\/done [^]* pairs no prior command\/run/],
  ['CMD-3', 'commands', 'command/done-invalid-source',
    /^command\/done [^]* has invalid sourceEventSeq/],
]

export const RULES = TABLE.map(([id, family, ours, text]) => ({ id, family, ours, text }))

/** The rules that a stored log can break; the seqs of a loaded log always increase. */
export const QUOTA_RULES = RULES.filter((rule) => rule.id !== 'SES-1')

const byOurs = new Map(RULES.map((rule) => [rule.ours, rule]))

/** The rule behind one of log-verify's finding ids, if it is one of the three families. */
export function ruleOfFinding(id) {
  return byOurs.get(id)
}

/** The rule that a companion's message names, without the common prefix. */
export function ruleOfText(family, message) {
  const text = message.replace(/^invariant violated by "[^"]*": /, '')
  return RULES.find((rule) => rule.family === family && rule.text.test(text))
}
