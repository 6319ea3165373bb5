// The host's verdict on one log: the published loader, then its three published companions.
//
// Every file gets a loader of its own, since the loader remembers what it saw of a root. The
// companions share one context: they are installed anew for every session, as the harness does when
// it starts on a session that is already there, and taken away again.
//
//   node host.mjs FILE…      prints one JSON line a file

import path from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import { SessionStore } from '@deepseek-ai/dsh-session'
import { JsonlSessionPersistence } from '@deepseek-ai/dsh-session-persistence-jsonl'
import { InvariantRegistry } from '@deepseek-ai/dsh-invariants'
import * as sessionCompanion from '@deepseek-ai/dsh-session/invariant'
import * as approvalCompanion from '@deepseek-ai/dsh-user-approval/invariant'
import * as commandsCompanion from '@deepseek-ai/dsh-commands/invariant'
import { ruleOfText } from './rules.mjs'
import { hostKnobs } from './knobs.mjs'
import { locate } from './place.mjs'

const COMPANIONS = {
  session: sessionCompanion,
  approval: approvalCompanion,
  commands: commandsCompanion,
}

function textOf(error) {
  return error instanceof Error ? error.message : String(error)
}

export class Host {
  queue = Promise.resolve()

  static async start() {
    const host = new Host()
    host.watch = new Context()
    await host.watch.plugin(SessionStore)
    await host.watch.plugin(InvariantRegistry, {})
    return host
  }

  /**
   * Judges the file that lies at its place under a root of its own.
   * Gives `{host, events, stored, error, companions}`.
   */
  async judge(file) {
    const { root, encoding, id } = locate(file)
    if (id === undefined) return refused(`no session id gives the folder of ${file}`)
    const context = new Context()
    try {
      await context.plugin(SessionStore)
      await context.plugin(JsonlSessionPersistence, { root, compression: encoding })
      const loader = context.sessionPersistence
      const seen = watchStored(loader)
      const inspection = await loader.inspect(id)
      const closers = inspection.events.length - seen.events
      return {
        // What the loader's own repair asks before it writes: a torn marker, or any closer.
        host: seen.isTorn || closers > 0 ? 'repairs' : 'loads',
        events: inspection.events.length,
        stored: seen.events,
        error: null,
        companions: await this.companions(inspection),
        knobs: hostKnobs(inspection.events),
      }
    } catch (error) {
      return refused(textOf(error))
    } finally {
      await context.fiber?.dispose?.()
    }
  }

  /**
   * The first word of each companion over the loaded events. Files are loaded several at a time,
   * but a companion looks at every session of its context, so here they wait for each other.
   */
  companions(inspection) {
    const turn = this.queue.then(() => this.askCompanions(inspection))
    this.queue = turn.then(() => {}, () => {})
    return turn
  }

  async askCompanions({ meta, events }) {
    const words = {}
    let leave
    try {
      // Restoring, not creating: a copy would refuse -0 and overflowed numbers, which load.
      const session = this.watch.sessions.prepare(meta.id, {
        seed: [...events], meta: { ...meta }, seedSource: 'persistence',
      })
      leave = this.watch.sessions.enter(session)
    } catch (error) {
      for (const family of Object.keys(COMPANIONS)) {
        words[family] = { word: 'not-applicable', rule: null, text: textOf(error) }
      }
      return words
    }
    for (const [family, companion] of Object.entries(COMPANIONS)) {
      words[family] = await this.companion(family, companion)
    }
    leave()
    return words
  }

  async companion(family, companion) {
    try {
      const uninstall = await companion.apply(this.watch)
      await uninstall()
      return { word: 'ok', rule: null, text: null }
    } catch (error) {
      const text = textOf(error)
      if (error?.code !== 'INVARIANT') return { word: 'crash', rule: null, text }
      return { word: 'violation', rule: ruleOfText(family, text)?.id ?? 'unknown', text }
    }
  }
}

function refused(error) {
  return { host: 'refuses', events: null, stored: null, error, companions: null }
}

/** Notes what the loader's storage half hands to its validating half. */
function watchStored(loader) {
  const seen = { events: 0, isTorn: false }
  const read = loader.loadStored.bind(loader)
  loader.loadStored = async (...request) => {
    const stored = await read(...request)
    seen.events = stored?.events.length ?? 0
    seen.isTorn = stored?.tornMarker !== undefined
    return stored
  }
  return seen
}

if (process.argv[1] && path.resolve(process.argv[1]) === import.meta.filename) {
  const host = await Host.start()
  for (const file of process.argv.slice(2)) {
    const verdict = await host.judge(path.resolve(file))
    console.log(JSON.stringify({ file, ...verdict }))
  }
  process.exit(0)
}
