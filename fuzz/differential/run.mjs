// The differential suite: hostile mutants of session logs, judged by the host and by log-verify.
//
//   node run.mjs --seed N --count N --bin path/to/log-verify [--keep DIR] [--jobs 2] [--texts]
//   node run.mjs --seed N --count N --host-only      the host's side and the quotas alone
//   node run.mjs --seed N --only INDEX,… --bin …     some mutants again
//
// Exit: 0 all agree and the quotas are met, 1 not, 2 usage.

import { fork } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Tally } from './quotas.mjs'
import { mutant } from './generate.mjs'
import { readable } from './readable.mjs'
import { minimised } from './minimise.mjs'
import { differences } from './compare.mjs'
import { reports } from './verifier.mjs'
import { write } from './worker.mjs'
import { Host } from './host.mjs'

const CASES_SHOWN = 10

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
      'host-only': { type: 'boolean', default: false },
    },
  })
  if (values.bin === undefined && !values['host-only']) {
    throw new TypeError('--bin names the log-verify to compare; --host-only does without')
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
    seed, indices, jobs, texts: values.texts, keep: values.keep, isPartial: values.only !== undefined,
    bin: values['host-only'] ? undefined : path.resolve(values.bin),
  }
}

/** Runs the shares in processes of their own and calls `each` for every judged mutant. */
function judged(settings, folder, each) {
  const shares = Array.from({ length: settings.jobs }, (_, share) => new Promise((resolve, reject) => {
    const child = fork(path.join(import.meta.dirname, 'worker.mjs'), { serialization: 'advanced' })
    let isDone = false
    child.on('message', (message) => {
      if (message.isDone) isDone = true
      else each(message)
    })
    child.on('exit', (code) => {
      if (isDone) resolve()
      else reject(new Error(`worker ${share} ended early with ${code}`))
    })
    child.send({
      folder: path.join(folder, `w${share}`), seed: settings.seed, indices: settings.indices,
      share, shares: settings.jobs, bin: settings.bin, keep: settings.keep !== undefined,
    })
  }))
  return Promise.all(shares)
}

/** Prints one mismatch, as small as it can be made. */
async function showCase(host, settings, folder, found, number) {
  const made = mutant(settings.seed, found.index)
  const spot = path.join(folder, `case-${number}`)
  const kindOf = (text) => text.split(':')[0]
  const wanted = new Set(found.differs.map(kindOf))
  let last
  const check = async (bytes) => {
    const file = write(spot, { ...made, bytes })
    const verdict = await host.judge(file)
    const report = (await reports(settings.bin, [file], [file])).get(file)
    const differs = differences(verdict, report)
    const isSame = differs.some((text) => wanted.has(kindOf(text)))
    if (isSame) last = { verdict, report, differs, bytes }
    return isSame
  }
  if (!(await check(made.bytes))) {
    console.log(`\nmismatch ${number}: seed ${settings.seed}, index ${found.index}, ${found.name}`)
    console.log(`  not seen again when the file was named alone: ${found.differs.join('; ')}`)
    return
  }
  const smallest = await minimised(made.bytes, made.encoding, check)
  await check(smallest)
  console.log(`\nmismatch ${number}: seed ${settings.seed}, index ${found.index}, ${found.name}`)
  console.log(`  ${made.project}/${made.session}${made.isDerived ? '' : ' (misplaced on purpose)'}, ${made.encoding}`)
  console.log(`  differs: ${last.differs.join('; ')}`)
  console.log(`  host: ${last.verdict.host}, ${last.verdict.events} events, ${last.verdict.error ?? companionsOf(last.verdict)}`)
  console.log(`  log-verify: ${last.report?.host}, ${last.report?.events} + ${last.report?.closers} events, ${last.report?.host_error}`)
  for (const finding of (last.report?.findings ?? []).slice(0, 6)) {
    console.log(`    ${finding.severity} ${finding.rule} seq ${finding.seq} line ${finding.line}: ${finding.message}`)
  }
  console.log(`  the file, ${last.bytes.length} bytes:`)
  console.log(readable(last.bytes, made.encoding))
}

function companionsOf(verdict) {
  return Object.entries(verdict.companions).map(([family, { text }]) => `${family}: ${text ?? 'ok'}`).join('; ')
}

function showTexts(texts) {
  if (texts.length === 0) return
  console.log(`\nhost_error differs from the host's message in ${texts.length} refusals; the first:`)
  for (const { index, name, text } of texts.slice(0, CASES_SHOWN)) {
    console.log(`  ${index} (${name})\n    host       ${text.host}\n    log-verify ${text.ours}`)
  }
}

async function main() {
  const settings = options()
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

  mismatches.sort((a, b) => a.index - b.index)
  const host = await Host.start()
  for (const [number, found] of mismatches.slice(0, CASES_SHOWN).entries()) {
    await showCase(host, settings, folder, found, number + 1)
  }
  if (mismatches.length > CASES_SHOWN) {
    console.log(`\nand ${mismatches.length - CASES_SHOWN} more: ${mismatches.slice(CASES_SHOWN, 60).map((m) => m.index).join(' ')}`)
  }
  showTexts(texts.sort((a, b) => a.index - b.index))

  console.log(`\nseed ${settings.seed}, ${tally.count} mutants, ${seconds.toFixed(1)} s, ${(tally.count / seconds).toFixed(0)} a second`)
  const short = tally.report(console.log)
  if (settings.bin !== undefined) {
    const refused = tally.outcomes.get('refuses')
    console.log(`refusals with the host's very words: ${refused - texts.length} of ${refused}`)
  }
  if (short.length > 0 && !settings.isPartial) console.log(`QUOTAS NOT MET: ${short.join(', ')}`)
  if (settings.keep === undefined) fs.rmSync(folder, { recursive: true, force: true })
  const wrong = new Set(mismatches.map(({ index }) => index))
  if (settings.texts) for (const { index } of texts) wrong.add(index)
  // A quota that is not met counts as a failure of its own.
  const failed = wrong.size + (settings.isPartial ? 0 : short.length)
  console.log(`${tally.count - wrong.size} passed, ${failed} failed`)
  return failed > 0 ? 1 : 0
}

try {
  process.exit(await main())
} catch (error) {
  console.error(error instanceof TypeError ? `run.mjs: ${error.message}` : error)
  process.exit(2)
}
