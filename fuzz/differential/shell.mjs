// Gives the logs that the example of a shell wrote to the host.
//
//   node shell.mjs ROOT
//
// Each session below the root, a store of session files, must load as it is, with nothing to
// repair, and the host's companions must say nothing. A copy in which somebody decided what nobody
// had asked must make one speak, or this looks at nothing.
//
// Exit: 0 all is well, 1 not, 2 usage. The last line is `N passed, N failed`.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { Host } from './host.mjs'

const [root] = process.argv.slice(2)
if (root === undefined || !fs.existsSync(root)) {
  console.error('usage: node shell.mjs ROOT')
  process.exit(2)
}

function logsOf(folder) {
  return fs.readdirSync(folder, { recursive: true })
    .filter((name) => path.basename(name) === 'session.jsonl.zstd')
    .sort()
}

function silent({ error, host, stored, companions }) {
  assert.equal(error, null)
  assert.equal(host, 'loads', 'there is nothing to repair')
  assert.ok(stored > 0, 'there are events')
  for (const [family, { word, text }] of Object.entries(companions)) {
    assert.equal(word, 'ok', `${family}: ${text}`)
  }
}

/** The same log, in which somebody decides what nobody asked. */
async function canary(host, name, events) {
  const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'shell-'))
  try {
    const file = path.join(copy, name)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.copyFileSync(path.join(root, name), file)
    const decided = { type: 'approval/decided', seq: events, time: Date.now(),
      data: { id: 'nobody-asked', outcome: 'allowed-once' } }
    fs.appendFileSync(file, zstdCompressSync(`${JSON.stringify(decided)}\n`))
    const verdict = await host.judge(file)
    assert.equal(verdict.error, null)
    assert.equal(verdict.stored, events + 1)
    assert.equal(verdict.companions.approval.word, 'violation')
    assert.throws(() => silent(verdict))
  } finally {
    fs.rmSync(copy, { recursive: true, force: true })
  }
}

const host = await Host.start()
const names = logsOf(root)
let failed = names.length === 0 ? 1 : 0
if (failed) console.log(`no log below ${root}`)
let passed = 0
for (const name of names) {
  try {
    const verdict = await host.judge(path.resolve(root, name))
    silent(verdict)
    await canary(host, name, verdict.stored)
    console.log(`${name}: ${verdict.stored} events, and the host has nothing to say`)
    passed += 1
  } catch (error) {
    console.log(`${name}: ${error.message}`)
    failed += 1
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
