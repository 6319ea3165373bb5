// What an agent may do at the end of a log: approval policy, sandbox mode, and the permission
// preset that is current. The host's own packages answer under the table that it ships, over a stub
// of the executor; `gatelog project` answers for us.

import { spawn } from 'node:child_process'
import path from 'node:path'
import { PermissionPresetService } from '@deepseek-ai/dsh-permission-presets'
import { effectiveSandboxMode } from '@deepseek-ai/dsh-sandbox-policy'
import { effectiveApprovalPolicy } from '@deepseek-ai/dsh-user-approval'
import { Rng } from './rng.mjs'

const MODES = ['read-only', 'workspace-write', 'danger-full-access']

const SHIPPED = {
  'read-only': { sandbox: 'read-only', approval: 'ask' },
  'workspace-write': { sandbox: 'workspace-write', approval: 'ask' },
  'danger-full-access': { sandbox: 'danger-full-access', approval: 'never' },
}

const DEFAULT_MODE = 'workspace-write'
const DEFAULT_POLICY = 'ask'

/** The host's service without its plugins: the arithmetic of presets alone. */
function service() {
  const ctx = { shell: { sandboxMode: DEFAULT_MODE }, approval: { config: {} } }
  return Object.create(PermissionPresetService.prototype, {
    presets: { value: SHIPPED }, ctx: { value: ctx },
  })
}

/** The host's answers over loaded events; `isApart` where a preset outside the table is named. */
export function hostKnobs(events) {
  const isPreset = ({ type }) => type === 'permission/preset'
  try {
    const isApart = events.some((event) => isPreset(event) && !(event.data.preset in SHIPPED))
    return {
      isApart,
      policy: effectiveApprovalPolicy(events) ?? DEFAULT_POLICY,
      sandbox: effectiveSandboxMode(events) ?? DEFAULT_MODE,
      preset: service().current(events),
    }
  } catch (error) {
    // A payload that is null: the host fails on it, and has no answer.
    return { crash: error.message }
  }
}

function knobEvent(rng) {
  const odd = rng.chance(0.1)
  return rng.pick([
    () => ['permission/preset',
      { preset: odd ? rng.pick(['custom', 'mine', 7]) : rng.pick(MODES) }],
    () => ['sandbox/mode', { mode: odd ? rng.pick([null, 'off', 1, undefined]) : rng.pick(MODES) }],
    () => ['approval/policy',
      { policy: odd ? rng.pick([null, 'x', [1], undefined]) : rng.pick(['ask', 'never']) }],
  ])()
}

/** A plain log with a few settings of knobs behind its last event. */
export function withKnobs(bytes, seed, index, seq) {
  const rng = new Rng(seed, index + 1_000_003)
  const lines = Array.from({ length: rng.between(1, 6) }, (_, at) => {
    const [type, data] = knobEvent(rng)
    return `${JSON.stringify({ type, seq: seq + at, time: 1, data })}\n`
  })
  return Buffer.concat([bytes, Buffer.from(lines.join(''))])
}

/** Our answers by absolute path. */
export function ourKnobs(bin, files) {
  const names = ['policy', 'sandbox', 'permissions'].flatMap((name) => ['--projection', name])
  return new Promise((resolve, reject) => {
    const child = spawn(bin, ['project', ...names, ...files],
      { stdio: ['ignore', 'pipe', 'ignore'] })
    const out = []
    child.stdout.on('data', (chunk) => out.push(chunk))
    child.on('error', reject)
    child.on('close', () => {
      const found = new Map()
      for (const line of Buffer.concat(out).toString('utf8').split('\n').filter(Boolean)) {
        const { path: file, error, projections } = JSON.parse(line)
        found.set(path.resolve(file), error === undefined ? {
          policy: projections.policy.effective,
          sandbox: projections.sandbox.effective,
          preset: projections.permissions.currentValue,
        } : { error })
      }
      resolve(found)
    })
  })
}

/** What differs, as short texts. */
export function knobDifferences(host, ours) {
  if (ours === undefined) return ['gatelog gave no answer']
  if (ours.error !== undefined) return [`gatelog does not read it: ${ours.error}`]
  return ['policy', 'sandbox', 'preset'].flatMap((knob) => {
    const [theirs, own] = [host[knob], ours[knob]].map((value) => JSON.stringify(value))
    return theirs === own ? [] : [`${knob}: host ${theirs}, gatelog ${own}`]
  })
}

/** Counts of a run, and what differs. */
export class KnobTally {
  counts = { compared: 0, custom: 0, apart: 0, crash: 0 }

  wrong = []

  add({ name, host, differs }) {
    if (host.crash !== undefined) this.counts.crash += 1
    else if (host.isApart) this.counts.apart += 1
    else {
      this.counts.compared += 1
      if (host.preset === 'custom') this.counts.custom += 1
    }
    if (differs.length > 0) this.wrong.push({ name, differs })
  }

  report(print) {
    const { compared, custom, apart, crash } = this.counts
    print(`projections: ${compared} logs compared, of ${custom} the preset is custom; apart: `
      + `${apart} name a preset outside the table, on ${crash} the host itself fails`)
    for (const { name, differs } of this.wrong.slice(0, 10)) {
      print(`  ${name}: ${differs.join('; ')}`)
    }
  }
}

/** Compares answers; where the host has none, or the preset is not its own, there is nothing to. */
export function compared(name, host, ours) {
  const hasAnswer = host.crash === undefined && !host.isApart
  return { name, host, differs: hasAnswer ? knobDifferences(host, ours) : [] }
}
