// Holds the generator to its word: what it calls lawful loads and breaks no rule, its packed rows
// are the host's own, its hand-built frames decode, and a canary shows that a difference is seen.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { packChunkRuns } from '@deepseek-ai/dsh-session'
import { Host } from './host.mjs'
import { Rng } from './rng.mjs'
import { differences } from './compare.mjs'
import { handmade } from './frames.mjs'
import { lawfulLog, numbered } from './lawful.mjs'
import { bytesOf, lineOf } from './lines.mjs'
import { mutant } from './generate.mjs'
import { packed } from './pack.mjs'
import { projectFolder, sessionFolder } from './place.mjs'
import { write } from './worker.mjs'

const COUNT = 200

function lawful(index, rng) {
  const log = lawfulLog(rng)
  const rows = numbered(log.events)
  assert.deepEqual(packed(rows), packChunkRuns(rows), `packed rows of log ${index}`)
  const bytes = bytesOf([lineOf(log.header, 0), ...packed(rows).map((row) => lineOf(row, 1))])
  const place = { project: projectFolder(log.header.cwd), session: sessionFolder(log.header.id) }
  return { index, rows, isOpen: log.isOpen, encoding: 'none', bytes, ...place }
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatelog-selftest-'))
const host = await Host.start()
let passed = 0
for (let index = 0; index < COUNT; index += 1) {
  const made = lawful(index, new Rng(99, index))
  const verdict = await host.judge(write(folder, made))
  assert.equal(verdict.error, null, `lawful log ${index}`)
  assert.equal(verdict.stored, made.rows.length, `events of log ${index}`)
  if (!made.isOpen) assert.equal(verdict.host, 'loads', `closed log ${index}`)
  for (const [family, { word, text }] of Object.entries(verdict.companions)) {
    assert.equal(word, 'ok', `lawful log ${index}, ${family}: ${text}`)
  }
  const plain = Buffer.from(made.bytes.subarray(0, index * 40))
  assert.deepEqual(zstdDecompressSync(handmade(plain, new Rng(5, index))), plain, `frame ${index}`)
  assert.deepEqual(mutant(3, index), mutant(3, index), `mutant ${index} is made twice alike`)

  // The canary: a report that is wrong in one point must differ in that point.
  const agreeing = { host: verdict.host, events: verdict.stored,
    closers: verdict.events - verdict.stored, findings: [] }
  const wrong = [
    { ...agreeing, host: 'refuses' },
    { ...agreeing, events: agreeing.events + 1 },
    { ...agreeing, findings: [{ rule: 'approval/decided-without-ask', severity: 'error' }] },
  ]
  assert.deepEqual(differences(verdict, agreeing), [])
  for (const report of wrong) assert.equal(differences(verdict, report).length, 1)
  passed += 1
}
fs.rmSync(folder, { recursive: true, force: true })
console.log(`${passed} passed, 0 failed`)
process.exit(0)
