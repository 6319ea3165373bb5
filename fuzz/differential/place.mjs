// Where a session file lies: `<root>/<project>/<session>/session.jsonl[.zstd]`.
// Both names are derived from the header, and the loader refuses a file that lies elsewhere.

import path from 'node:path'

function unit(code) {
  return `~${code.toString(16).toUpperCase().padStart(4, '0')}`
}

function isSafe(code) {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
    || code === 46 || code === 95 || code === 45
}

/** The folder name of a session id; the empty id has none. */
export function sessionFolder(id) {
  if (id === '') return undefined
  if (id === '.') return '~002E'
  if (id === '..') return '~002E~002E'
  let out = ''
  for (let i = 0; i < id.length; i += 1) {
    const code = id.charCodeAt(i)
    out += isSafe(code) ? id[i] : unit(code)
  }
  return out
}

/** The id that a session folder stands for, or undefined if no id gives this folder name. */
export function sessionId(folder) {
  const id = folder.replace(/~([0-9A-F]{4})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)))
  return id !== '' && sessionFolder(id) === folder ? id : undefined
}

/** The folder name of a project, or undefined where the host cannot derive one. */
export function projectFolder(cwd) {
  if (cwd === undefined) return '_no-cwd'
  if (typeof cwd !== 'string') {
    // The host feeds any value through the same loop: what has no `length` gives `--root--`.
    if (cwd === null || Array.isArray(cwd)) return undefined
    return typeof cwd === 'object' && 'length' in cwd ? undefined : '--root--'
  }
  if (cwd === '') return undefined
  let out = ''
  let inRun = false
  for (let i = 0; i < cwd.length; i += 1) {
    const isSeparator = cwd[i] === '/' || cwd[i] === '\\' || cwd[i] === ':'
    if (!isSeparator) {
      const code = cwd.charCodeAt(i)
      out += isSafe(code) ? cwd[i] : unit(code)
    } else if (!inRun) out += '-'
    inRun = isSeparator
  }
  const slug = out.replace(/^-+/, '') || 'root'
  return `--${slug.slice(0, 251)}--`
}

export function fileName(encoding) {
  return encoding === 'zstd' ? 'session.jsonl.zstd' : 'session.jsonl'
}

/** Splits the path of a log into what a loader needs to be asked for it. */
export function locate(file) {
  const folder = path.dirname(file)
  const root = path.dirname(path.dirname(folder))
  return {
    file,
    root,
    encoding: file.endsWith('.zstd') ? 'zstd' : 'none',
    id: sessionId(path.basename(folder)),
  }
}
