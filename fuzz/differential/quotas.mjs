// Counts what kind of mutants a run held. A run whose mutants do not exercise every outcome, every
// class of change and every rule proves little, so falling below a quota fails it.

import { CLASSES } from './generate.mjs'
import { FAMILIES, QUOTA_RULES } from './rules.mjs'

const OUTCOMES = ['loads', 'repairs', 'refuses']
const OUTCOME_SHARE = 0.15
const CLASS_SHARE = 0.08
// 10 of 2,000 and 100 of 20,000.
const RULE_SHARE = 0.005

export class Tally {
  constructor() {
    this.count = 0
    this.outcomes = new Map(OUTCOMES.map((name) => [name, 0]))
    this.classes = new Map(CLASSES.map((name) => [name,
      new Map(OUTCOMES.map((outcome) => [outcome, 0]))]))
    this.rules = new Map(QUOTA_RULES.map((rule) => [rule.id, 0]))
    this.words = new Map(FAMILIES.map((family) => [family, {}]))
  }

  add({ kind, host, words }) {
    this.count += 1
    this.outcomes.set(host, this.outcomes.get(host) + 1)
    const row = this.classes.get(kind)
    row.set(host, row.get(host) + 1)
    for (const [family, { word, rule }] of Object.entries(words ?? {})) {
      const counts = this.words.get(family)
      counts[word] = (counts[word] ?? 0) + 1
      if (rule !== null) this.rules.set(rule, (this.rules.get(rule) ?? 0) + 1)
    }
  }

  /** Prints the tables and gives the names of the quotas that are not met. */
  report(print) {
    const short = []
    const row = (name, have, share, extra = '') => {
      const need = Math.floor(this.count * share)
      if (have < need) short.push(name)
      const percent = ((100 * have) / Math.max(1, this.count)).toFixed(1).padStart(5)
      const mark = have < need ? '  BELOW' : ''
      const figures = `${String(have).padStart(6)} ${percent} %   needs ${String(need).padStart(5)}`
      print(`  ${name.padEnd(16)} ${figures}${extra}${mark}`)
    }
    print(`what the host does (of ${this.count})`)
    for (const [name, have] of this.outcomes) row(name, have, OUTCOME_SHARE)
    print('class of change')
    for (const [name, outcomes] of this.classes) {
      const have = [...outcomes.values()].reduce((sum, count) => sum + count, 0)
      const split = [...outcomes].map(([outcome, count]) => `${outcome} ${count}`).join(', ')
      row(name, have, CLASS_SHARE, `   (${split})`)
    }
    print('rule that is the first of its family to break')
    for (const [name, have] of this.rules) row(name, have, name === 'unknown' ? 0 : RULE_SHARE)
    print('word of each companion over the logs that load')
    for (const [family, counts] of this.words) {
      const split = Object.entries(counts).map(([word, count]) => `${word} ${count}`).join(', ')
      print(`  ${family.padEnd(16)} ${split}`)
    }
    if (this.rules.has('unknown')) short.push('a companion said what no rule text matches')
    return short
  }
}
