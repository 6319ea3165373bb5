// Stored lines between their values and their bytes. A line keeps the value it was made from, so
// that a later mutator can spell it again, and the number of the batch (frame) that holds it.

import { spell } from './spell.mjs'

export const LF = Buffer.from('\n')

export function lineOf(value, batch, style) {
  return { value, body: Buffer.from(spell(value, style)), end: LF, batch }
}

export function rawLine(text, batch) {
  return { value: undefined, body: Buffer.isBuffer(text) ? text : Buffer.from(text), end: LF,
    batch }
}

export function bytesOf(lines) {
  return Buffer.concat(lines.flatMap((line) => [line.body, line.end]))
}

/** The places of event lines: the header is line 0 and no event. */
export function eventPlaces(lines) {
  return lines.map((_, index) => index).slice(1)
}

/** A place among the events, in one of two cases after the last `turn/end`,
where damage is a tail. */
export function anyPlace(lines, rng) {
  if (lines.length < 2) return undefined
  const last = lines.findLastIndex((line) => line.value?.type === 'turn/end')
  if (rng.chance(0.5) && last + 1 < lines.length && last > 0) return rng.between(last + 1,
    lines.length - 1)
  return rng.between(1, lines.length - 1)
}
