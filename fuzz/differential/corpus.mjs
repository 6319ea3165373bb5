// The logs that the host's own tests wrote, judged by log-verify against the answers kept beside
// them, and with --host against the live host as well.
//
//   node corpus.mjs --bin path/to/log-verify [--host] [--projections GATELOG] [DIR]
//
// Without a corpus nothing is checked, and that is a failure unless GATELOG_NO_CORPUS=1 allows it.
//
// Exit: 0 all agree, 1 not or no corpus, 2 usage.

import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { differences } from './compare.mjs'
import { Host } from './host.mjs'
import { KnobTally, compared, ourKnobs } from './knobs.mjs'
import { projectFolder, sessionFolder } from './place.mjs'
import { FAMILIES, ruleOfText } from './rules.mjs'
import { reports } from './verifier.mjs'
import { write } from './worker.mjs'

const DEFAULT = path.join(import.meta.dirname, '../../../shared/corpus/host-v0')

/** An expected line in the terms of a host's verdict. */
function verdictOf(expected) {
  if (expected.load !== 'ok') return { host: 'refuses', events: null, error: expected.error,
    companions: null }
  const companions = {}
  for (const family of FAMILIES) {
    const text = expected.inv[family]
    companions[family] = text === 'ok'
      ? { word: 'ok', rule: null, text: null }
      : { word: 'violation', rule: ruleOfText(family, text)?.id ?? 'unknown', text }
  }
  // The kept answers do not tell a load from a repair.
  return { host: undefined, events: expected.events, error: null, companions }
}

/** What is wrong with log-verify's report, given the kept answer. */
function problems(expected, report) {
  const verdict = verdictOf(expected)
  const isLoaded = verdict.host === undefined
  const isOursLoaded = report?.host === 'loads' || report?.host === 'repairs'
  if (isLoaded && isOursLoaded) verdict.host = report.host
  const out = differences({ ...verdict, host: verdict.host ?? 'loads or repairs' }, report)
  const isSound = isLoaded && Object.values(verdict.companions).every(({ word }) => word === 'ok')
  const errors = (report?.findings ?? []).filter((finding) => finding.severity === 'error')
  if (isSound && errors.length > 0) {
    out.push(`a sound log gets an error: ${errors[0].rule}: ${errors[0].message}`)
  }
  return out
}

/** The live host's verdict on a corpus file, put where its header wants it. */
async function liveVerdict(host, folder, file, index) {
  const bytes = fs.readFileSync(file)
  const header = JSON.parse(bytes.subarray(0, bytes.indexOf(10)).toString('utf8'))
  const place = { project: projectFolder(header.cwd), session: sessionFolder(header.id) }
  return host.judge(write(folder, { index, encoding: 'none', bytes, ...place }))
}

function agreesWithKept(live, expected) {
  const kept = verdictOf(expected)
  if ((live.host === 'refuses') !== (kept.host === 'refuses')) return false
  if (live.host === 'refuses') return live.error === kept.error
  const isSame = (family) => live.companions[family].rule === kept.companions[family].rule
  return live.events === kept.events && FAMILIES.every(isSame)
}

async function main() {
  const { values, positionals } = parseArgs({
    options: {
      bin: { type: 'string' }, host: { type: 'boolean', default: false },
      projections: { type: 'string' },
    },
    allowPositionals: true,
  })
  if (values.bin === undefined && !values.host) {
    throw new TypeError('--bin names the log-verify to check; --host asks the live host')
  }
  const dir = path.resolve(positionals[0] ?? DEFAULT)
  const list = path.join(dir, 'EXPECTED.jsonl')
  if (!fs.existsSync(list)) {
    const isAllowed = process.env.GATELOG_NO_CORPUS === '1'
    console.log(`\n!!! ${isAllowed ? 'SKIPPED' : 'NO CORPUS'}: no EXPECTED.jsonl is in ${dir}`)
    console.log(isAllowed ? '!!! GATELOG_NO_CORPUS=1 allows that; no log of the corpus was checked'
      : '!!! name the folder of the corpus, or set GATELOG_NO_CORPUS=1 to do without it')
    console.log(`0 passed, ${isAllowed ? 0 : 1} failed`)
    return isAllowed ? 0 : 1
  }
  const cases = fs.readFileSync(list, 'utf8').trim().split('\n').map((line) => JSON.parse(line))
  const files = cases.map(({ file }) => path.join(dir, file))
  const found = values.bin === undefined ? undefined : await reports(path.resolve(values.bin),
    files, files)
  const asks = values.host || values.projections !== undefined
  const host = asks ? await Host.start() : undefined
  const knobs = new KnobTally()
  const ours = values.projections === undefined ? undefined
    : await ourKnobs(path.resolve(values.projections), files)
  const folder = host === undefined ? undefined : fs.mkdtempSync(path.join(os.tmpdir(),
    'gatelog-corpus-'))
  let failed = 0
  for (const [index, expected] of cases.entries()) {
    const wrong = found === undefined ? [] : problems(expected, found.get(files[index]))
    if (host !== undefined) {
      const live = await liveVerdict(host, folder, files[index], index)
      if (!agreesWithKept(live,
        expected)) wrong.push(`the live host differs from the kept answer: ${JSON.stringify(live)}`)
      if (ours !== undefined && live.host !== 'refuses') {
        knobs.add(compared(expected.file, live.knobs, ours.get(files[index])))
      }
    }
    if (wrong.length === 0) continue
    failed += 1
    console.log(`${expected.file}\n  ${wrong.join('\n  ')}`)
  }
  if (folder !== undefined) fs.rmSync(folder, { recursive: true, force: true })
  if (ours !== undefined) knobs.report(console.log)
  failed += knobs.wrong.length
  console.log(`corpus of ${cases.length} logs${host === undefined ? '' : ', live host asked'}`)
  console.log(`${cases.length - failed} passed, ${failed} failed`)
  return failed > 0 ? 1 : 0
}

try {
  process.exit(await main())
} catch (error) {
  console.error(error instanceof TypeError ? `corpus.mjs: ${error.message}` : error)
  process.exit(2)
}
