// JSON text with a choice of spelling.
//
// A generated event is a plain JavaScript value in which two tokens may stand: `Raw` prints its
// text as it is (`-0`, `1e400`, a malformed number), `Members` is an object whose keys may repeat
// or be spelled oddly. Without a style the text is what `JSON.stringify` gives, since that is what
// the real writer produces.

export class Raw {
  constructor(text) {
    this.text = text
  }
}

export class Members {
  constructor(list) {
    this.list = list
  }

  static of(object) {
    return new Members(Object.entries(object))
  }
}

export function isRecord(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    && !(value instanceof Raw) && !(value instanceof Members)
}

export const PLAIN = {
  space: () => '',
  number: (value) => JSON.stringify(value),
  string: (value) => JSON.stringify(value),
}

/** The JSON text of `value` in the given style; iterative nesting is not needed, see `deep`. */
export function spell(value, style = PLAIN) {
  if (value instanceof Raw) return value.text
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return style.number(value)
  if (typeof value === 'string') return style.string(value)
  const gap = style.space
  if (Array.isArray(value)) {
    if (value.length === 0) return `[${gap()}]`
    return `[${value.map((item) => gap() + spell(item, style) + gap()).join(',')}]`
  }
  const list = value instanceof Members ? value.list : Object.entries(value)
  const members = list.filter(([, item]) => item !== undefined)
  if (members.length === 0) return `{${gap()}}`
  const parts = members.map(([key, item]) => {
    const name = key instanceof Raw ? key.text : style.string(key)
    return gap() + name + gap() + ':' + gap() + spell(item, style) + gap()
  })
  return `{${parts.join(',')}}`
}

/** A value nested `levels` deep, as a token, since building the tree itself would recurse. */
export function deep(levels, kind = 'array') {
  if (kind === 'array') return new Raw('['.repeat(levels) + ']'.repeat(levels))
  return new Raw('{"a":'.repeat(levels) + '1' + '}'.repeat(levels))
}

/** A copy that shares nothing; tokens are values and are kept. */
export function copy(value) {
  if (Array.isArray(value)) return value.map(copy)
  if (value instanceof Members) return new Members(value.list.map(([k, v]) => [k, copy(v)]))
  if (!isRecord(value)) return value
  // Defined, not assigned: an own `__proto__` key must stay a key.
  const out = {}
  for (const [key, item] of Object.entries(value)) {
    Object.defineProperty(out, key, {
      value: copy(item), enumerable: true, configurable: true, writable: true,
    })
  }
  return out
}
