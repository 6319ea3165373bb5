// Mutants of the header line: every field of it, wrong in every way that some step of the loader
// looks at, and some that none does.

import { Members, Raw, deep } from './spell.mjs'
import { junk } from './words.mjs'

const COUNTS = [
  new Raw('-0'), -1, 1.5, '0', null, true, [], {}, undefined, new Raw('9007199254740993'),
  new Raw('1e400'),
  new Raw('1e3'), new Raw('7.0'), new Raw('0.0'), new Raw('-0.0'), new Raw('9007199254740991'),
  new Raw('-1e-400'),
]

const set = (key, values) => (log, rng) => { log.header[key] = rng.pick(values) }

export const HEADERS = {
  version: set('version', [
    1, 2, 3, 4, 5, 99, -1, 0.5, new Raw('-0'), new Raw('0.0'), new Raw('0e9'), '0', null, undefined,
    true, [0], {}, new Raw('1e400'),
    new Raw('1e-400'), new Raw('-1e400'), new Raw('1.0'), new Raw('4294967296'),
  ]),
  'version-and-id': (log, rng) => {
    log.header.version = rng.pick([1, 2, 3, 4, -3])
    log.header.id = rng.pick([log.header.id, log.header.id, undefined, null, 5, {}, [], true, 'x',
      ['a', 1]])
  },
  id: set('id', [
    '', 5, null, undefined, [], {}, 'x', '.', '..', '...', 'a/b', '../../etc', '\u0000', '\ud800',
    '\udfff\ud800', '😀', '~', 'CON',
    'A', 'a', 'session.jsonl', new Raw('"\\u0061\\u002f"'), new Raw('"\\uD83D\\uDE00"'),
  ]),
  'created-at': set('createdAt', COUNTS),
  'delegation-depth': set('delegationDepth', COUNTS),
  'seed-length': set('seedLength', [...COUNTS, 0, 1, 99]),
  cwd: set('cwd', [
    'rel', '', null, 5, true, {}, [], '/', '//', '/a/', '/a/../b', 'C:\\x', '\\x', 'c:/x',
    '/\u0000', '/\ud800', '/é', ' /a', '~',
    { length: 0 }, { length: 2 }, ['/a'], `/${'x'.repeat(300)}`, `/${'ü'.repeat(80)}`, '/-', '-',
    '/:\\/', new Raw('"\\/a"'), '.', '/.',
  ]),
  'parent-session': set('parentSession', ['', 'p', null, 5, [], {}, true]),
  origin: set('origin', ['subagent', 'Subagent', '', null, 5, 'user', [], {}, ['subagent']]),
  'agent-preset': set('agentPreset', ['', 'x', null, 5, [], {}, true]),
  type: set('type', ['Session', 'header', null, undefined, 5, ['session'], '']),
  'unknown-key': (log, rng) => {
    const key = rng.pick(['isSeeded', 'extra', '', '__proto__', 'constructor', 'toString',
      'Version', 'sandbox'])
    const list = Object.entries(log.header)
    list.splice(rng.below(list.length + 1), 0, [key, junk(rng)])
    log.header = new Members(list)
  },
  'retired-key': (log, rng) => {
    log.header[rng.pick(['sandboxMode', 'approvalPolicy'])] = rng.pick(['ask', null, 0, {}])
    if (rng.chance(0.2)) log.header.version = 1
  },
  'lost-key': (log, rng) => {
    const keys = ['type', 'version', 'id', 'createdAt', 'delegationDepth', 'cwd']
    log.header[rng.pick(keys)] = undefined
  },
  'twice-the-key': (log, rng) => {
    const list = Object.entries(log.header).filter(([, value]) => value !== undefined)
    const [key, value] = rng.pick(list)
    const other = [key, rng.chance(0.3) ? value : junk(rng)]
    log.header = new Members(rng.chance(0.5) ? [other, ...list] : [...list, other])
  },
  'key-order': (log, rng) => { log.header = new Members(rng.shuffled(Object.entries(log.header))) },
  'not-an-object': (log, rng) => {
    log.header = rng.pick([
      [], null, 5, 'session', true, [log.header], {}, new Raw(''), new Raw(' '), new Raw('{'),
      new Raw('{}{}'), deep(5000),
      new Raw('{"type":"session"'), new Raw('nul'), new Raw('// {}'),
    ])
  },
  'deep-value': (log, rng) => { log.header.extra = deep(rng.pick([100, 5000, 60_000])) },
  'two-fields': (log, rng) => {
    log.header.createdAt = rng.pick(COUNTS)
    log.header.cwd = rng.pick(['rel', '/a', null])
    if (rng.chance(0.5)) log.header.seedLength = rng.pick(COUNTS)
  },
}
