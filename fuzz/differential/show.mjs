// Shows a person what differs: each mismatch as small as it gets, with both answers and the file.

import path from 'node:path'
import { differences } from './compare.mjs'
import { mutant } from './generate.mjs'
import { Host } from './host.mjs'
import { minimised } from './minimise.mjs'
import { readable } from './readable.mjs'
import { reports } from './verifier.mjs'
import { write } from './worker.mjs'

const CASES_SHOWN = 10
const INDICES_SHOWN = 50

/** Prints the first mismatches in full, and the indices of some of the rest. */
export async function showMismatches(mismatches, settings, folder) {
  if (mismatches.length === 0) return
  const sorted = mismatches.toSorted((a, b) => a.index - b.index)
  const host = await Host.start()
  for (const [at, found] of sorted.slice(0, CASES_SHOWN).entries()) {
    const made = mutant(settings.seed, found.index)
    const spot = path.join(folder, `case-${at + 1}`)
    console.log(`\nmismatch ${at + 1}: seed ${settings.seed}, index ${found.index}, ${found.name}`)
    const last = await smallest(host, settings.bin, spot, made, found.differs)
    if (last === undefined) {
      console.log(`  not seen again when the file was named alone: ${found.differs.join('; ')}`)
    } else showCase(made, last)
  }
  const rest = sorted.slice(CASES_SHOWN)
  if (rest.length === 0) return
  const indices = rest.slice(0, INDICES_SHOWN).map(({ index }) => index).join(' ')
  console.log(`\nand ${rest.length} more, indices ${indices}`)
}

/** The smallest form of a mutant that still differs in the same point, with both answers. */
async function smallest(host, bin, spot, made, differs) {
  const pointOf = (text) => text.split(':')[0]
  const points = new Set(differs.map(pointOf))
  let last
  const check = async (bytes) => {
    const file = write(spot, { ...made, bytes })
    const verdict = await host.judge(file)
    const report = (await reports(bin, [file], [file])).get(file)
    const now = differences(verdict, report)
    const isSame = now.some((text) => points.has(pointOf(text)))
    if (isSame) last = { verdict, report, differs: now, bytes }
    return isSame
  }
  if (!(await check(made.bytes))) return undefined
  await check(await minimised(made.bytes, made.encoding, check))
  return last
}

function showCase(made, { verdict, report, differs, bytes }) {
  const note = made.isDerived ? '' : ' (misplaced on purpose)'
  console.log(`  ${made.project}/${made.session}${note}, ${made.encoding}`)
  console.log(`  differs: ${differs.join('; ')}`)
  const words = verdict.error ?? companionWords(verdict)
  console.log(`  host: ${verdict.host}, ${verdict.events} events, ${words}`)
  const events = `${report?.events} + ${report?.closers} events`
  console.log(`  log-verify: ${report?.host}, ${events}, ${report?.host_error}`)
  for (const finding of (report?.findings ?? []).slice(0, 6)) {
    const { severity, rule, seq, line, message } = finding
    console.log(`    ${severity} ${rule} seq ${seq} line ${line}: ${message}`)
  }
  console.log(`  the file, ${bytes.length} bytes:`)
  console.log(readable(bytes, made.encoding))
}

function companionWords({ companions }) {
  return Object.entries(companions).map(([family, { text }]) => `${family}: ${text ?? 'ok'}`)
    .join('; ')
}

/** Prints the first refusals whose words differ from the host's. */
export function showTexts(texts) {
  if (texts.length === 0) return
  console.log(`\nhost_error is not the host's message in ${texts.length} refusals; the first:`)
  const sorted = texts.toSorted((a, b) => a.index - b.index)
  for (const { index, name, text } of sorted.slice(0, CASES_SHOWN)) {
    console.log(`  ${index} (${name})\n    host       ${text.host}\n    log-verify ${text.ours}`)
  }
}
