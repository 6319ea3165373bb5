// Runs log-verify over many files at once and gives its report on each.

import { spawn } from 'node:child_process'
import path from 'node:path'

// A torn file makes log-verify wait and look again; threads that mostly sleep save that time.
const THREADS = '16'

function run(bin, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(bin, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    const out = []
    const err = []
    child.stdout.on('data', (chunk) => out.push(chunk))
    child.stderr.on('data', (chunk) => err.push(chunk))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      resolve({ code, signal, out: Buffer.concat(out).toString('utf8'),
        err: Buffer.concat(err).toString('utf8') })
    })
  })
}

/**
 * Reports by absolute path. `paths` may hold files and roots; `files` are those that must be
 * reported. A process that dies is asked again file by file, so that one panic names its file.
 */
export async function reports(bin, paths, files) {
  const { code, signal, out, err } = await run(bin,
    ['--format', 'json', '--threads', THREADS, ...paths])
  if (code === 0 || code === 1 || code === 2) return parsed(out)
  const found = new Map()
  if (files.length === 1) {
    found.set(files[0],
      { died: `${signal ?? `exit ${code}`}: ${err.trim().split('\n').slice(0, 3).join(' | ')}` })
    return found
  }
  for (const file of files) {
    for (const [name, report] of await reports(bin, [file], [file])) found.set(name, report)
  }
  return found
}

function parsed(out) {
  const found = new Map()
  for (const line of out.split('\n')) {
    if (line === '') continue
    const item = JSON.parse(line)
    // What concerns a folder is not compared: every mutant is alone in its root.
    if (item.kind === 'report') found.set(path.resolve(item.path), item)
  }
  return found
}
