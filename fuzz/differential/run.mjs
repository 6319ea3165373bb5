// The differential suite: hostile mutants of session logs, judged by the host and by log-verify.
//
//   node run.mjs --seed N --count N --bin path/to/log-verify [--keep DIR] [--jobs 2] [--texts]
//   node run.mjs --seed N --count N --host-only      the host's side and the quotas alone
//   node run.mjs --seed N --only INDEX,… --bin …     some mutants again
//   node run.mjs … --projections GATELOG             policy, mode and preset, by that binary
//
// Exit: 0 all mutants were judged, all agree and the quotas are met, 1 not, 2 usage.

import { fork } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { KnobTally } from './knobs.mjs'
import { Tally } from './quotas.mjs'
import { showMismatches, showTexts } from './show.mjs'

function options() {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '1' },
      count: { type: 'string', default: '2000' },
      bin: { type: 'string' },
      keep: { type: 'string' },
      jobs: { type: 'string', default: '2' },
      only: { type: 'string' },
      texts: { type: 'boolean', default: false },
      projections: { type: 'string' },
      'host-only': { type: 'boolean', default: false },
    },
  })
  if (values.bin === undefined && !values['host-only']) {
    throw new TypeError('--bin names the log-verify to compare; --host-only does without')
  }
  if (values.bin !== undefined && !fs.existsSync(values.bin)) {
    throw new TypeError(`--bin names no file: ${values.bin}`)
  }
  const count = Number(values.count)
  const seed = Number(values.seed)
  const jobs = Number(values.jobs)
  if (![count, seed, jobs].every(Number.isSafeInteger) || count < 1 || jobs < 1) {
    throw new TypeError('--seed, --count and --jobs are whole numbers')
  }
  const indices = values.only === undefined
    ? Array.from({ length: count }, (_, index) => index)
    : values.only.split(',').map(Number)
  return {
    seed, indices, jobs, texts: values.texts, keep: values.keep,
    isPartial: values.only !== undefined,
    gatelog: values.projections === undefined ? undefined : path.resolve(values.projections),
    bin: values['host-only'] ? undefined : path.resolve(values.bin),
  }
}

/** Runs the shares in processes of their own and calls `each` for every judged mutant. */
function judged(settings, folder, each) {
  const shares = Array.from({ length: settings.jobs },
    (_, share) => new Promise((resolve, reject) => {
    const child = fork(path.join(import.meta.dirname, 'worker.mjs'), { serialization: 'advanced' })
    let isDone = false
    child.on('message', (message) => {
      if (message.isDone) isDone = true
      else if (message.knobs !== undefined) settings.knobs.add(message.knobs)
      else each(message)
    })
    child.on('exit', (code) => {
      if (isDone) resolve()
      else reject(new Error(`worker ${share} ended early with ${code}`))
    })
    child.send({
      folder: path.join(folder, `w${share}`), seed: settings.seed, indices: settings.indices,
      share, shares: settings.jobs, bin: settings.bin, gatelog: settings.gatelog,
      keep: settings.keep !== undefined,
    })
  }))
  return Promise.all(shares)
}

async function main() {
  const settings = { ...options(), knobs: new KnobTally() }
  const folder = settings.keep === undefined
    ? fs.mkdtempSync(path.join(os.tmpdir(), 'gatelog-differential-'))
    : path.resolve(settings.keep)
  fs.mkdirSync(folder, { recursive: true })
  const tally = new Tally()
  const mismatches = []
  const texts = []
  const started = performance.now()
  await judged(settings, folder, (found) => {
    tally.add(found)
    if (found.differs.length > 0) mismatches.push(found)
    if (found.text !== undefined) texts.push(found)
  })
  const seconds = (performance.now() - started) / 1000

  await showMismatches(mismatches, settings, folder)
  showTexts(texts)

  const rate = (tally.count / seconds).toFixed(0)
  console.log(`\nseed ${settings.seed}, ${tally.count} mutants, ${rate} a second`)
  const short = tally.report(console.log)
  if (settings.bin !== undefined) {
    const refused = tally.outcomes.get('refuses')
    console.log(`refusals with the host's very words: ${refused - texts.length} of ${refused}`)
  }
  if (settings.gatelog !== undefined) settings.knobs.report(console.log)
  if (short.length > 0 && !settings.isPartial) console.log(`QUOTAS NOT MET: ${short.join(', ')}`)
  const unjudged = settings.indices.length - tally.count
  if (unjudged !== 0) {
    console.log(`NOT ALL JUDGED: ${settings.indices.length} mutants, ${tally.count} answers`)
  }
  if (settings.keep === undefined) fs.rmSync(folder, { recursive: true, force: true })
  const wrong = new Set(mismatches.map(({ index }) => index))
  if (settings.texts) for (const { index } of texts) wrong.add(index)
  // A quota that is not met counts as a failure of its own, and so does each missing answer.
  const failed = settings.knobs.wrong.length + wrong.size + Math.abs(unjudged) +
    (settings.isPartial ? 0 : short.length)
  console.log(`${tally.count - wrong.size} passed, ${failed} failed`)
  return failed > 0 ? 1 : 0
}

try {
  process.exit(await main())
} catch (error) {
  console.error(error instanceof TypeError ? `run.mjs: ${error.message}` : error)
  process.exit(2)
}
