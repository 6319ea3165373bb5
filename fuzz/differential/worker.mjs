// Judges a share of the mutants: makes them, writes each into a root of its own, asks the host and
// log-verify, and sends what it saw. Started by `run.mjs`.

import fs from 'node:fs'
import path from 'node:path'
import { mutant } from './generate.mjs'
import { fileName } from './place.mjs'
import { reports } from './verifier.mjs'
import { differences, textDifference } from './compare.mjs'
import { Host } from './host.mjs'
import { compared, ourKnobs, withKnobs } from './knobs.mjs'

const BATCH = 200
// The loader waits for the disk much of the time; the companions queue by themselves.
const AT_ONCE = 4

export function write(folder, made) {
  const place = path.join(folder, String(made.index), made.project, made.session)
  fs.mkdirSync(place, { recursive: true })
  const file = path.join(place, fileName(made.encoding))
  fs.writeFileSync(file, made.bytes)
  return file
}

export async function judgeAll(host, files) {
  const verdicts = new Map()
  const queue = [...files]
  const work = async () => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      verdicts.set(file, await host.judge(file))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return verdicts
}

/** Every other batch is handed over as roots,
as a person would; a misplaced file is always named. */
function handed(folder, cases, batch) {
  return cases.map(({ made, file }) => (
    batch % 2 === 1 && made.isDerived ? path.join(folder, String(made.index)) : file
  ))
}

/** Compares the knobs of the logs that load, and again with settings of knobs behind them. */
async function judgeKnobs({ host, task, folder, cases, verdicts }) {
  const loaded = cases.map(({ made, file }) => ({ made, file, verdict: verdicts.get(file) }))
    .filter(({ verdict }) => verdict.host !== 'refuses')
  const isGrown = ({ made, verdict }) => verdict.host === 'loads' && made.encoding === 'none'
  const grown = loaded.filter(isGrown).map(({ made, verdict }) => {
    const bytes = withKnobs(made.bytes, task.seed, made.index, verdict.stored)
    const longer = { ...made, index: `${made.index}k`, bytes }
    return { made: longer, file: write(folder, longer) }
  })
  const further = await judgeAll(host, grown.map(({ file }) => file))
  const all = loaded.concat(grown.map(({ made, file }) => (
    { made, file, verdict: further.get(file) })))
    .filter(({ verdict }) => verdict.host !== 'refuses')
  const files = all.map(({ file }) => file)
  const ours = files.length === 0 ? new Map() : await ourKnobs(task.gatelog, files)
  for (const { made, file, verdict } of all) {
    process.send({ knobs: compared(`mutant ${made.index}`, verdict.knobs, ours.get(file)) })
  }
}

async function judgeBatch({ host, task, batch, indices }) {
  const folder = path.join(task.folder, `b${batch}`)
  const cases = indices.map((index) => {
    const made = mutant(task.seed, index)
    return { made, file: write(folder, made) }
  })
  const files = cases.map(({ file }) => file)
  const verdicts = await judgeAll(host, files)
  const found = task.bin === undefined ? new Map() : await reports(task.bin,
    handed(folder, cases, batch), files)
  for (const { made, file } of cases) {
    const verdict = verdicts.get(file)
    const report = found.get(file)
    const differs = task.bin === undefined ? [] : differences(verdict, report)
    const text = textDifference(verdict, report)
    const { index, kind, name } = made
    process.send({ index, kind, name, host: verdict.host, error: verdict.error,
      words: verdict.companions, differs, text })
  }
  if (task.gatelog !== undefined) await judgeKnobs({ host, task, folder, cases, verdicts })
  if (!task.keep) fs.rmSync(folder, { recursive: true, force: true })
}

async function main(task) {
  const host = await Host.start()
  for (let batch = task.share; batch * BATCH < task.indices.length; batch += task.shares) {
    const indices = task.indices.slice(batch * BATCH, (batch + 1) * BATCH)
    await judgeBatch({ host, task, batch, indices })
  }
  process.send({ isDone: true }, () => process.exit(0))
}

if (process.send !== undefined) process.once('message', main)
