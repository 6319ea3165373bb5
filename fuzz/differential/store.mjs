// Lets the host's published writer and our store of session files write the same sessions, and each
// read, continue and repair what the other wrote.
//
//   node store.mjs --seed N --count N --bin path/to/session-files
//
// The binary is the engine's example `session-files`. Each session, in turns Zstandard and
// plain, is
//
// * written: the texts of both logs are the same, frame by frame;
// * read: the host's loader gives the events that were written, its companions say nothing, and our
//   store reads the host's log as its own;
// * continued: the host appends to ours and ours goes on; ours appends to the host's and the host
//   goes on; the texts are the same again, whoever wrote which batch;
// * raced: whenever the host wrote first, our next append is refused as a foreign write, and the
//   log stays as the host left it, in which the host goes on;
// * repaired: after the same cut in the last frame or lines, the host's repair and our first append
//   leave the same text.
//
// Exit: 0 all agree, 1 not, 2 usage. The last line is `N passed, N failed`.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { zstdDecompressSync } from 'node:zlib'
import { Context } from '@deepseek-ai/cordis'
import { SessionStore } from '@deepseek-ai/dsh-session'
import { JsonlSessionPersistence } from '@deepseek-ai/dsh-session-persistence-jsonl'
import { Host } from './host.mjs'
import { Rng } from './rng.mjs'
import { MAGIC, blocksOf } from './frames.mjs'
import { lawfulLog, numbered } from './lawful.mjs'
import { fileName, projectFolder, sessionFolder } from './place.mjs'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '200' },
    bin: { type: 'string' },
    only: { type: 'string' },
  },
})
if (values.bin === undefined || !fs.existsSync(values.bin)) {
  console.error('--bin names the example `session-files` of the engine')
  process.exit(2)
}

/** Our store, driven through one process: `steps` are lines, the answers come back as lines. */
function ours(root, encoding, steps) {
  const lines = [`open ${root} ${encoding}`, ...steps, 'close']
  const child = spawnSync(values.bin, { input: `${lines.join('\n')}\n`, maxBuffer: 1 << 28 })
  const answers = child.stdout.toString().trimEnd().split('\n')
  assert.equal(child.status, 0, child.stderr.toString())
  assert.equal(answers.length, lines.length, 'an answer for each step')
  assert.deepEqual(answers.filter((line) => line.startsWith('error')), [], 'our store refuses')
  return answers.slice(1, -1)
}

/** Our store in a process that lives on: `say` gives a line and returns its answer. */
async function alive(root, encoding, act) {
  const child = spawn(values.bin, { stdio: ['pipe', 'pipe', 'inherit'] })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const say = async (line) => {
    child.stdin.write(`${line}\n`)
    return (await answers.next()).value
  }
  try {
    assert.equal(await say(`open ${root} ${encoding}`), 'open')
    return await act(say)
  } finally {
    child.stdin.end()
    await new Promise((resolve) => { child.once('close', resolve) })
  }
}

/** The host's writer over a root, for as long as `act` runs. */
async function theirs(root, encoding, act) {
  const context = new Context()
  try {
    await context.plugin(SessionStore)
    await context.plugin(JsonlSessionPersistence, { root, compression: encoding })
    return await act(context.sessionPersistence)
  } finally {
    await context.fiber?.dispose?.()
  }
}

function framesOf(bytes, encoding) {
  if (encoding === 'none') return [bytes.toString('latin1')]
  const texts = []
  let rest = bytes
  while (rest.length > 0) {
    assert.deepEqual(rest.subarray(0, 4), MAGIC)
    const { blocks, tail } = blocksOf(rest)
    assert.ok(blocks.length > 0)
    const end = rest.length - tail.length + 4
    texts.push(zstdDecompressSync(rest.subarray(0, end)).toString('latin1'))
    rest = rest.subarray(end)
  }
  return texts
}

function same(a, b, encoding, what) {
  assert.deepEqual(framesOf(fs.readFileSync(a), encoding), framesOf(fs.readFileSync(b), encoding),
    what)
}

/** Splits rows into durable batches, and some of them into what our store first buffers. */
function batchesOf(rows, rng) {
  const batches = []
  for (let at = 0; at < rows.length;) {
    const size = rng.weighted([[2, 1], [3, rng.between(1, 6)], [2, rng.between(5, 40)]])
    batches.push(rows.slice(at, at + size))
    at += size
  }
  return batches
}

function appends(id, batch, rng) {
  const step = (kind, events) => `append ${JSON.stringify({ id, class: kind, events })}`
  const cut = rng.chance(0.3) ? rng.below(batch.length) : 0
  const last = step(rng.pick(['synced', 'synced', 'written']), batch.slice(cut))
  return cut > 0 ? [step('buffered', batch.slice(0, cut)), last] : [last]
}

const copy = (rows) => structuredClone(rows)

/** A batch that any log can be continued with. */
function further(rng, seq, time) {
  const texts = Array.from({ length: rng.between(1, 5) }, (_, n) => ({
    type: 'plan/mode', seq: seq + n, time: time + n, data: { active: n % 2 === 0 },
  }))
  if (rng.chance(0.5)) {
    texts.push({ type: 'acme/note', seq: seq + texts.length, time, data: { 9: 1, 10: 'é' },
      ignorable: true })
  }
  return texts
}

class Trial {
  constructor(folder, seed, index) {
    this.rng = new Rng(seed, index)
    this.encoding = index % 2 === 0 ? 'zstd' : 'none'
    this.log = lawfulLog(this.rng, { legacy: false })
    this.header = this.log.header
    // A lone surrogate is no id of ours.
    if (!this.header.id.isWellFormed()) this.header.id = `well-${index}`
    this.rows = numbered(this.log.events).map((row) => JSON.parse(JSON.stringify(row)))
    this.batches = batchesOf(this.rows, this.rng)
    this.folder = path.join(folder, String(index))
  }

  root(name) { return path.join(this.folder, name) }

  file(name) {
    const { cwd, id } = this.header
    return path.join(this.root(name), projectFolder(cwd), sessionFolder(id),
      fileName(this.encoding))
  }

  async written() {
    const { header, batches, rng } = this
    const [first = [], ...more] = batches
    const steps = [`create ${JSON.stringify({ header, events: first })}`]
    for (const batch of more) steps.push(...appends(header.id, batch, rng))
    ours(this.root('ours'), this.encoding, steps)
    const { type: _, ...meta } = header
    await theirs(this.root('theirs'), this.encoding, async (writer) => {
      await writer.create(meta)
      for (const batch of batches) await writer.append(header.id, copy(batch))
    })
    // Without an event the host leaves no file.
    if (batches.length > 0) same(this.file('ours'), this.file('theirs'), this.encoding, 'written')
  }

  async read(name, rows, host) {
    const verdict = await host.judge(this.file(name))
    assert.equal(verdict.error, null, `the host loads ${name}`)
    assert.equal(verdict.stored, rows.length, `events of ${name}`)
    for (const [family, { word, text }] of Object.entries(verdict.companions)) {
      assert.equal(word, 'ok', `${family} of ${name}: ${text}`)
    }
    const { encoding, header } = this
    const seen = await theirs(this.root(name), encoding, (loader) => loader.readFrom(header.id, 0))
    assert.deepEqual(JSON.parse(JSON.stringify(seen.events)), rows, `the host reads ${name}`)
    const [own] = ours(this.root(name), encoding, [`read ${JSON.stringify(header.id)}`])
    assert.deepEqual(JSON.parse(own), rows, `our store reads ${name}`)
  }

  /** Each root is continued by the one that did not write it, then by the one that did. */
  async continued() {
    const { header, encoding, rng } = this
    // The host closes what is open, and says so with its first append.
    let closed
    await theirs(this.root('ours'), encoding, async (writer) => {
      closed = JSON.parse(JSON.stringify((await writer.load(header.id)).events))
    })
    const closers = closed.slice(this.rows.length)
    if (closers.length > 0) ours(this.root('theirs'), encoding, appends(header.id, closers, rng))
    const time = 1760000000000
    const one = further(rng, closed.length, time)
    const two = further(rng, closed.length + one.length, time + 50)
    const host = (name, batch) => theirs(this.root(name), encoding,
      (writer) => writer.append(header.id, copy(batch)))
    await host('ours', one)
    ours(this.root('ours'), encoding, appends(header.id, two, rng))
    ours(this.root('theirs'), encoding, appends(header.id, one, rng))
    await host('theirs', two)
    same(this.file('ours'), this.file('theirs'), encoding, 'continued')
    this.isClosed = closers.length
    return [...closed, ...one, ...two]
  }

  /** Cuts both logs alike, lets the host repair one and our store continue the other. */
  async repaired() {
    const { header, encoding, rng } = this
    for (const name of ['mended', 'cut']) {
      fs.cpSync(this.root('ours'), this.root(name), { recursive: true })
      fs.rmSync(path.join(path.dirname(this.file(name)), 'session.lock'))
    }
    const size = fs.statSync(this.file('cut')).size
    const last = this.lastBytes()
    const cut = size - rng.between(1, last - 1)
    for (const name of ['mended', 'cut']) fs.truncateSync(this.file(name), cut)
    const before = fs.readFileSync(this.file('cut'))
    const events = await theirs(this.root('mended'), encoding,
      async (writer) => JSON.parse(JSON.stringify((await writer.load(header.id)).events)))
    const [own] = ours(this.root('cut'), encoding, [`read ${JSON.stringify(header.id)}`])
    const stored = JSON.parse(own)
    assert.deepEqual(fs.readFileSync(this.file('cut')), before, 'reading changes nothing')
    assert.deepEqual(stored, events.slice(0, stored.length), 'what is left')
    const closers = events.slice(stored.length)
    if (closers.length === 0) return 'nothing to add'
    ours(this.root('cut'), encoding, appends(header.id, closers, rng))
    same(this.file('mended'), this.file('cut'), encoding, 'repaired')
    return 'repaired'
  }

  /** Our store has the session open, or has only looked at it, and the host writes. */
  async raced() {
    const { header, encoding } = this
    const id = JSON.stringify(header.id)
    const note = (seq) => ({ type: 'plan/mode', seq, time: seq, data: { active: true } })
    const step = (seq) => `append ${JSON.stringify({ id: header.id, class: 'synced',
      events: [note(seq)], next: seq })}`
    const root = this.root('raced')
    for (const ourAppends of [0, 1, 2]) {
      fs.rmSync(root, { recursive: true, force: true })
      const plain = JSON.stringify({ header, events: [note(0)] })
      ours(root, encoding, [`create ${plain}`])
      await alive(root, encoding, async (say) => {
        assert.equal(JSON.parse(await say(`read ${id}`)).length, 1)
        let seq = 1
        for (; seq <= ourAppends; seq += 1) assert.equal(await say(step(seq)), String(seq + 1))
        await theirs(root, encoding, async (writer) => {
          await writer.append(header.id, [note(seq)])
          const left = fs.readFileSync(this.file('raced'))
          assert.match(await say(step(seq)), /ForeignWrite/, `after ${ourAppends} appends of ours`)
          assert.match(await say(step(seq + 1)), /ForeignWrite/, 'and again')
          assert.deepEqual(fs.readFileSync(this.file('raced')), left, 'nothing was written')
          await writer.append(header.id, [note(seq + 1)])
        })
        assert.equal(JSON.parse(await say(`read ${id}`)).length, seq + 2)
      })
    }
  }

  /** Bytes of the last frame, or of the last few lines. */
  lastBytes() {
    const bytes = fs.readFileSync(this.file('cut'))
    if (this.encoding === 'none') {
      const header = bytes.indexOf(10) + 1
      return Math.min(bytes.length - header, 400)
    }
    let last = 0
    for (let rest = bytes; rest.length > 0;) {
      const { tail } = blocksOf(rest)
      last = rest.length - tail.length + 4
      rest = rest.subarray(last)
    }
    return last
  }

  async run(host, figures) {
    await this.written()
    figures.written += 1
    if (this.rng.chance(0.25)) {
      await this.raced()
      figures.raced += 1
    }
    if (this.rows.length === 0) return
    figures.compared += 1
    figures.events += this.rows.length
    figures.packed += Number(fs.readFileSync(this.file('ours')).length > 0
      && framesOf(fs.readFileSync(this.file('ours')), this.encoding).join('').includes('"dt":['))
    await this.read('ours', this.rows, host)
    await this.read('theirs', this.rows, host)
    figures.repaired += Number(await this.repaired() === 'repaired')
    const rows = await this.continued()
    await this.read('ours', rows, host)
    figures.continued += 1
    figures.closed += Number(this.isClosed > 0)
  }
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatelog-store-'))
const host = await Host.start()
const figures = {
  written: 0, compared: 0, events: 0, packed: 0, repaired: 0, continued: 0, closed: 0, raced: 0,
}
const indices = values.only === undefined
  ? Array.from({ length: Number(values.count) }, (_, index) => index)
  : values.only.split(',').map(Number)
let failed = 0
for (const index of indices) {
  const trial = new Trial(folder, Number(values.seed), index)
  try {
    await trial.run(host, figures)
  } catch (error) {
    failed += 1
    if (failed <= 5) console.log(`session ${index} (${trial.encoding}): ${error.message}`)
  }
  fs.rmSync(trial.folder, { recursive: true, force: true })
}
fs.rmSync(folder, { recursive: true, force: true })
console.log(Object.entries(figures).map(([name, count]) => `${count} ${name}`).join(', '))
console.log(`${indices.length - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
