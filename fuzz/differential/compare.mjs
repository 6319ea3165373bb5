// Compares the host's verdict on a file with log-verify's report on it.

import { FAMILIES, ruleOfFinding } from './rules.mjs'

// A companion can fail itself, on a payload that it reads without looking (`null`, say). The
// harness then refuses the session as for a violation, but names no rule; any rule of these
// families will do.
const FAMILY_OF_PREFIX = {
  turn: 'session', step: 'session', tool: 'session', approval: 'approval', policy: 'approval',
  command: 'commands',
}

function errorsOf(report) {
  return report.findings.filter((finding) => finding.severity === 'error')
}

/** The first rule of each family that log-verify found broken, or null. */
function firstRules(report) {
  const first = Object.fromEntries(FAMILIES.map((family) => [family, null]))
  for (const finding of errorsOf(report)) {
    const rule = ruleOfFinding(finding.rule)
    if (rule !== undefined) first[rule.family] ??= rule.id
  }
  return first
}

function companionDifferences(verdict, report) {
  const ours = firstRules(report)
  const out = []
  for (const family of FAMILIES) {
    const { word, rule, text } = verdict.companions[family]
    if (word === 'ok' && ours[family] !== null) {
      out.push(`${family}: host ok, log-verify ${ours[family]}`)
    }
    if (word === 'violation' && ours[family] !== rule) {
      out.push(`${family}: host ${rule}, log-verify ${ours[family] ?? 'ok'}`)
    }
    if (word === 'crash') {
      const isOfFamily = ({ rule: id }) => FAMILY_OF_PREFIX[id.split('/')[0]] === family
      const isSaid = errorsOf(report).some(isOfFamily)
      if (!isSaid) out.push(`${family}: the host's companion fails (${text}), log-verify ok`)
    }
  }
  return out
}

/** What differs, as short texts; empty when both agree. */
export function differences(verdict, report) {
  if (report === undefined) return ['log-verify gave no report']
  if (report.died !== undefined) return [`log-verify died: ${report.died}`]
  if (verdict.host !== report.host) {
    return [`host: host ${verdict.host}, log-verify ${report.host} (${report.verdict})`]
  }
  if (verdict.host === 'refuses') return []
  const out = []
  const count = report.events + report.closers
  if (count !== verdict.events) {
    out.push(`events: host ${verdict.events}, log-verify ${report.events} + ${report.closers}`)
  }
  return out.concat(companionDifferences(verdict, report))
}

/** Whether both refuse with the same message. */
export function textDifference(verdict, report) {
  if (verdict.host !== 'refuses' || report?.host !== 'refuses') return undefined
  // A half surrogate pair has no UTF-8, so a report cannot carry the host's text unit by unit.
  const host = verdict.error.toWellFormed()
  const ours = report.host_error?.toWellFormed()
  return host === ours ? undefined : { host, ours }
}
