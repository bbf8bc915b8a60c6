import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Locks between processes of one machine: a file that names its holder by pid and start time, so that the lock of a
 * process that was killed is known to be free, even if its pid has been given to another one since.
 */

/** @typedef {{ pid: number, startedAt: string }} Holder */
/** @typedef {{ ok: true, release: () => void } | { ok: false, holder: Holder }} LockResult */

const POLL_MS = 250

/**
 * Returns when a process began, in the operating system's own words; null if there is no such process. The same pid
 * with another answer is another process.
 * @param {number} pid
 * @returns {string | null}
 */
export function processStartedAt(pid) {
  if (process.platform === 'linux') {
    const stat = readOrNull(`/proc/${pid}/stat`)
    if (stat === null) return null
    // The command in brackets may contain spaces; field 22 (start time in clock ticks) is the 20th after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? null : (fields[19] ?? null)
  }
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null
  } catch {
    return null
  }
}

/**
 * Takes the lock, or returns its holder.
 * @param {string} path
 * @returns {LockResult}
 */
export function tryLock(path) {
  mkdirSync(dirname(path), { recursive: true })
  const own = { pid: process.pid, startedAt: processStartedAt(process.pid) ?? '' }
  for (;;) {
    if (create(path, JSON.stringify(own))) return { ok: true, release: () => release(path, own) }
    const text = readOrNull(path)
    if (text === null) continue
    const holder = parseHolder(text)
    if (holder !== null && processStartedAt(holder.pid) === holder.startedAt) return { ok: false, holder }
    removeStale(path, text)
  }
}

/**
 * Takes the lock, waiting for as long as another living process owns it.
 * @param {string} path
 * @param {(holder: Holder) => void} onWait called once, if there is a holder to wait for
 * @returns {Promise<() => void>} releases the lock
 */
export async function waitForLock(path, onWait) {
  let isReported = false
  for (;;) {
    const result = tryLock(path)
    if (result.ok) return result.release
    if (!isReported) onWait(result.holder)
    isReported = true
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/**
 * Creates a lock by a hard link, which appears with its content in one step; a file that is created and then written
 * could be read empty.
 * @param {string} path
 * @param {string} text
 */
function create(path, text) {
  const draft = `${path}.${process.pid}.draft`
  writeFileSync(draft, text, { mode: 0o600 })
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (getCode(error) === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/**
 * Removes a stale lock. Renaming takes the file away from all other processes at once; the taken file is compared
 * before it is deleted, because a quicker process may have put its own lock there in between.
 * @param {string} path
 * @param {string} stale
 */
function removeStale(path, stale) {
  const taken = `${path}.${process.pid}`
  try {
    renameSync(path, taken)
  } catch {
    return
  }
  const text = readOrNull(taken)
  if (text === stale || text === null) rmSync(taken, { force: true })
  else renameSync(taken, path)
}

/**
 * @param {string} path
 * @param {Holder} own
 */
function release(path, own) {
  const holder = parseHolder(readOrNull(path) ?? '')
  if (holder?.pid === own.pid && holder.startedAt === own.startedAt) rmSync(path, { force: true })
}

/**
 * @param {string} text
 * @returns {Holder | null} null for a lock that its holder did not finish writing
 */
function parseHolder(text) {
  try {
    const value = JSON.parse(text)
    return Number.isInteger(value.pid) && typeof value.startedAt === 'string' ? value : null
  } catch {
    return null
  }
}

/** @param {string} path */
function readOrNull(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

/** @param {unknown} error */
function getCode(error) {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
}
