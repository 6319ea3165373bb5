// Mutants of spelling: the same value, or nearly the same, in JSON text that the writer would never
// write. Some of it is not JSON; which is which is `JSON.parse`'s opinion.

import { anyPlace, lineOf, rawLine } from './lines.mjs'
import { Members, PLAIN, Raw, deep, isRecord, spell } from './spell.mjs'
import { junk } from './words.mjs'

function spaced(rng, odd = false) {
  const gaps = odd ? ['\u00a0', '\ufeff', '\u2028', '\f', '\v', '\0', '\u200b'] : [' ', '\t', '\r',
    '  ', '\r\r\t']
  return { ...PLAIN, space: () => (rng.chance(odd ? 0.05 : 0.4) ? rng.pick(gaps) : '') }
}

function numbersLike(rng, wrong) {
  const rate = wrong ? 0.25 : 0.6
  return {
    ...PLAIN,
    number: (value) => {
      const text = JSON.stringify(value)
      if (!rng.chance(rate)) return text
      if (wrong) {
        return rng.pick([`0${text}`, `+${text}`, `${text}.`, `.${text}`, `${text}e`, `${text}e+`,
          '-', 'NaN', 'Infinity', '0x10', `${text}_0`, `${text}n`, '- 1', '--1', '1.e1', '٣'])
      }
      if (!Number.isInteger(value)) return rng.pick([`${text}0`, `${text}e0`, `${text}E+0`])
      return rng.pick([
        `${text}.0`, `${text}e0`, `${text}E+00`, `${text}0e-1`, `${text}.000e-0`,
        `${text}${'0'.repeat(30)}e-30`,
        `${text}.${'0'.repeat(400)}`, `${value}.${'0'.repeat(20)}1`,
        value === 0 ? '-0' : `${text}.0E0`,
        // A decimal just below rounds up to the very integer.
        value > 0 ? `${value - 1}.${'9'.repeat(30)}` : '-0e0',
        value === 0 ? '0e999' : `${text}e-0`, value === 0 ? '-0.0e5' : `${text}.00`,
      ])
    },
  }
}

function escapedUnit(code, rng) {
  const hex = code.toString(16).padStart(4, '0')
  return `\\u${rng.chance(0.5) ? hex : hex.toUpperCase()}`
}

function stringsLike(rng, wrong) {
  return {
    ...PLAIN,
    string: (value) => {
      const plain = JSON.stringify(value)
      if (wrong) {
        if (!rng.chance(0.08)) return plain
        return rng.pick([
          `"${value}\\x41"`, `"${value}\\u12"`, `"${value}\\u12g4"`, `'${value}'`,
          `"${value}\u0001"`, `"${value}\t"`, `"\\`, `"${value}\\'"`,
          `"${value}\\u{41}"`, `"${value}\\0"`, `${plain}"`, `"${value}\\U0041"`, `"${value}\\ud8"`,
          `"${value}\\"`,
        ])
      }
      if (!rng.chance(0.3)) return plain
      let out = ''
      for (let i = 0; i < value.length; i += 1) {
        const code = value.charCodeAt(i)
        const isSurrogate = code >= 0xd800 && code < 0xe000
        if (rng.chance(0.4) || code < 32 || code === 34 || code === 92 || isSurrogate) {
          out += code === 47 ? '\\/' : escapedUnit(code, rng)
        } else out += value[i]
      }
      return `"${out}"`
    },
  }
}

/** Spells one line, or every line, in a style. */
function restyle(makeStyle) {
  return (log, rng) => {
    const isWhole = rng.chance(0.4)
    const chosen = isWhole ? undefined : pickLine(log, rng)
    log.lines.forEach((line, index) => {
      if (line.value === undefined || (!isWhole && index !== chosen)) return
      log.lines[index] = { ...lineOf(line.value, line.batch, makeStyle(rng)), end: line.end }
    })
  }
}

function pickLine(log, rng) {
  return rng.chance(0.15) ? 0 : anyPlace(log.lines, rng) ?? 0
}

/** Changes the text of one line. */
function onText(alter) {
  return (log, rng) => {
    const index = pickLine(log, rng)
    const line = log.lines[index]
    const body = alter(line.body, rng, line)
    if (body === undefined) return false
    log.lines[index] = { ...line, body: Buffer.isBuffer(body) ? body : Buffer.from(body) }
    return true
  }
}

/** Changes the value of one line that is a record, and spells it anew. */
function onValue(alter) {
  return (log, rng) => {
    const index = pickLine(log, rng)
    const line = log.lines[index]
    if (!isRecord(line.value)) return false
    const value = alter(line.value, rng)
    log.lines[index] = { ...lineOf(value, line.batch), end: line.end }
    return true
  }
}

const BAD_UTF8 = ['ff', 'c0af', 'e282', 'eda080', 'f0808080', 'f4908080', '80', 'c3', 'e0a0',
  'f09f98', 'fe', 'c328', 'e28228', 'f0288cbc', 'eda0bdedb880']

function inString(body, rng, insert) {
  const places = []
  for (let i = 1; i < body.length; i += 1) {
    if (body[i] === 0x22 && body[i - 1] >= 0x61 && body[i - 1] <= 0x7a) places.push(i)
  }
  if (places.length === 0) return undefined
  const at = rng.pick(places)
  return Buffer.concat([body.subarray(0, at), insert, body.subarray(at)])
}

/** An ask whose id is a number of U+FFFD, decided under bytes that must read as just as many. */
function badUtf8Id(log, rng) {
  const { batch } = log.lines.at(-1)
  const seq = log.eventCount
  const row = (offset, type, data) => (
    Buffer.from(`{"type":"${type}","seq":${seq + offset},"time":1,"data":${data}}`)
  )
  const count = rng.between(1, 4)
  const asked = JSON.stringify({ id: '\ufffd'.repeat(count), toolName: 'b' })
  const decided = row(2, 'approval/decided', '{"outcome":"rejected","id":"@"}')
  const at = decided.indexOf('@')
  const bad = Buffer.from(rng.pick(BAD_UTF8), 'hex')
  const body = Buffer.concat([decided.subarray(0, at), bad, decided.subarray(at + 1)])
  const rows = [row(0, 'turn/start', '{"turn":1}'), row(1, 'approval/asked', asked), body]
  for (const each of rows) log.lines.push(rawLine(each, batch))
}

function nested(value, rng, inner) {
  const list = Object.entries(value)
  const at = list.findIndex(([key]) => key === 'data')
  const member = [rng.pick(['deep', 'extra']), inner]
  if (at === -1 || !isRecord(list[at][1])) return new Members([...list, member])
  list[at] = ['data', new Members([...Object.entries(list[at][1]), member])]
  return new Members(list)
}

export const SPELLINGS = {
  'white-space': restyle((rng) => spaced(rng)),
  'odd-space': restyle((rng) => spaced(rng, true)),
  numbers: restyle((rng) => numbersLike(rng, false)),
  'wrong-numbers': restyle((rng) => numbersLike(rng, true)),
  strings: restyle((rng) => stringsLike(rng, false)),
  'wrong-strings': restyle((rng) => stringsLike(rng, true)),
  'bad-utf8-in-string': onText((body, rng) => inString(body, rng,
    Buffer.from(rng.pick(BAD_UTF8), 'hex'))),
  'bad-utf8-anywhere': onText((body, rng) => {
    const at = rng.below(body.length + 1)
    return Buffer.concat([body.subarray(0, at), Buffer.from(rng.pick(BAD_UTF8), 'hex'),
      body.subarray(at)])
  }),
  'bad-utf8-id': badUtf8Id,
  'raw-odd-characters': onText((body, rng) => inString(body, rng,
    Buffer.from(rng.pick(['\u2028', '\u2029', '\u007f', '\ufeff', '\u0080', '\uffff', '😀',
      '\u00a0'])))),
  'raw-control': onText((body, rng) => inString(body, rng,
    Buffer.from([rng.pick([0, 1, 8, 9, 13, 31])]))),
  'bom-before-row': onText((body) => Buffer.concat([Buffer.from('efbbbf', 'hex'), body])),
  'space-around': onText((body, rng) => rng.pick([' ', '\t ', '\r', '\v',
    '\f']) + body + rng.pick([' ', '\t', '\r', '\0', ''])),
  'trailing-text': onText((body, rng) => body + rng.pick([',', '}', ' {}', '//x', '/**/', '\0\0\0',
    ' 5', ']', '"', ';'])),
  'trailing-comma': onText((body) => body.toString('latin1').replace(/}$/, ',}')),
  'comma-inside': onText((body, rng) => {
    const text = body.toString('utf8')
    const at = text.indexOf(',', rng.below(text.length))
    return at === -1 ? undefined : text.slice(0,
      at) + rng.pick([',,', ' , ', ';', '', ',/**/']) + text.slice(at + 1)
  }),
  'loose-keys': onText((body, rng) => body.toString('utf8').replace(/"(type|seq|time|data)"/,
    rng.pick(['$1', "'$1'", '"$1" ', '\\"$1"']))),
  'escaped-key': onText((body,
    rng) => body.toString('utf8').replace(/"(type|seq|time|data|turn|version|id)":/,
    (_, key) => `"${escapedUnit(key.charCodeAt(0), rng)}${key.slice(1)}":`)),
  'repeat-key-first-wrong': onValue((value, rng) => {
    const list = Object.entries(value)
    return new Members([[rng.pick(list)[0], junk(rng)], ...list])
  }),
  'repeat-key-same': onValue((value, rng) => {
    const list = Object.entries(value)
    return new Members([...list, rng.pick(list)])
  }),
  'repeat-key-escaped': onValue((value, rng) => {
    const list = Object.entries(value)
    const [key, item] = rng.pick(list)
    const name = new Raw(`"${escapedUnit(key.charCodeAt(0), rng)}${key.slice(1)}"`)
    return rng.chance(0.5) ? new Members([...list, [name, item]]) : new Members([[name, junk(rng)],
      ...list])
  }),
  'repeat-data-key': onValue((value, rng) => {
    if (!isRecord(value.data)) return value
    const list = Object.entries(value.data)
    const extra = [list.length > 0 ? rng.pick(list)[0] : 'a', junk(rng)]
    return { ...value, data: new Members(rng.chance(0.6) ? [extra, ...list] : [...list, extra]) }
  }),
  'proto-key': onValue((value, rng) => nested(value, rng,
    new Members([['__proto__', junk(rng)], ['constructor', 1], ['', null]]))),
  'deep-nesting': onValue((value, rng) => {
    // The host compares a rewritten tool result recursively, and fails at a depth nobody can name.
    const levels = value.type === 'tool/result' ? 130 : rng.weighted([[4, 130], [2, 2000],
      [1, 20_000], [0.3, 120_000]])
    return nested(value, rng, deep(levels, rng.pick(['array', 'object'])))
  }),
  'huge-number': onValue((value, rng) => nested(value, rng,
    new Raw(rng.pick(['1e400', '-1e400', '1e99999', '0.1e-99999', `${'9'.repeat(400)}`,
      `0.${'0'.repeat(400)}1`, '1E+2', '-0', '-0.0', '5e-324', '1.7976931348623159e308'])))),
  'number-in-envelope': onValue((value, rng) => {
    const key = rng.pick(['seq', 'time', 'seq0', 'time0', 'version',
      'createdAt'].filter((name) => Object.hasOwn(value, name)))
    if (key === undefined) return value
    const right = JSON.stringify(value[key])
    return { ...value, [key]: new Raw(rng.pick([`${right}.4`, `${right}.0`, `${right}e0`,
      `0${right}`, `-${right}`, '9007199254740991.4', '9007199254740991.5', '9007199254740993',
      `${right}.${'0'.repeat(40)}1`, '1e400', `"${right}"`, `${right}0e-1`])) }
  }),
  'unbalanced-deep': onValue((value, rng) => nested(value, rng,
    new Raw('['.repeat(rng.pick([10, 5000]))))),
  'lone-surrogates': onValue((value, rng) => nested(value, rng,
    new Raw(rng.pick(['"\\ud800"', '"\\udc00\\ud800"', '"\\uD83D\\uDE00"', '"\\uD83D"', '"\\u0000"',
      '"\\uFFFF"'])))),
  'key-order': onValue((value, rng) => new Members(rng.shuffled(Object.entries(value)))),
  'two-documents': onText((body) => Buffer.concat([body, body])),
  'word-for-row': (log, rng) => {
    const index = anyPlace(log.lines, rng) ?? log.lines.length
    const { batch } = log.lines.at(-1)
    log.lines.splice(index, 0, rawLine(rng.pick(['True', 'nul', 'undefined', '{"a"}', '{a:1}',
      '{"a":1,}', '[1,]', "{'a':1}", '"\\u00"', '{', '}', '[', '\u2028', '{"a":01}',
      '{"type":"turn/end",}']), batch))
  },
}

export { spell }
