// Texts for generated logs: mostly plain, sometimes what trips a reader of JSON, UTF-8 or UTF-16.

const PLAIN = [
  'the', 'quick', 'brown', 'fox', 'reads', 'main.rs', '"quoted"', 'C:\\dir', 'a/b', '{"k":1}',
  'tab\there', 'two\nlines', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
]

const ODD = [
  'é', 'ß', '日本', '😀', '\u2028', '\u2029', '\u0000', '\u001f', '\u007f', '\ufeff',
  '\ufffd',
  '\ud800', '\udc00x', 'e\u0301', '‮', '\r', '\r\n', '"type":"turn/end"', '\\u0041', '',
  '{"type":"turn/end","seq":0}',
]

export function words(rng, most = 6) {
  const count = rng.between(0, most)
  const out = []
  for (let i = 0; i < count; i += 1) out.push(rng.pick(rng.chance(0.12) ? ODD : PLAIN))
  return out.join(' ')
}

export function nonEmpty(rng) {
  return words(rng) || 'x'
}

export function oddText(rng) {
  return rng.pick(ODD)
}

/** Values of every JSON kind, for fields that expect something else. */
export function junk(rng) {
  return rng.pick([
    null, true, false, 0, 1, -1, 1.5, 2 ** 53, '', 'x', '1', 'append', [], [0], [null], {},
    { a: 1 },
    [[]], { kind: 'model' }, { type: 'tool-call' }, 99, '\ud800',
  ])
}
