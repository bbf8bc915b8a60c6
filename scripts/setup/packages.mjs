import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { waitForLock } from './lock.mjs'
import { subsetLockfile, writeSubset } from './subset.mjs'

/** Node's own requirement, as in package.json: the first 20 with `require` of ES modules, which some packages need. */
const NODE_MINIMUM = [20, 19]
const POLL_MS = 500

/** @typedef {{ version?: string, optional?: boolean, dev?: boolean, os?: string[], cpu?: string[], libc?: string[], link?: boolean }} LockedPackage */
/** @typedef {Record<string, LockedPackage>} LockedPackages */
/** `system`: without what only checks and tests need. @typedef {'everything' | 'system'} Scope */

/** Returns the user's cache folder, which every clone shares. */
export function cacheFolder() {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'pinrail')
}

/** @returns {string | null} what is wrong with this Node, or null */
export function nodeProblem(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [wantedMajor = 0, wantedMinor = 0] = NODE_MINIMUM
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return null
  return `Node ${NODE_MINIMUM.join('.')} or newer is needed, this is ${version}. Get one from https://nodejs.org or with \`nvm install 24\`.`
}

/**
 * Returns packages of the lockfile that belong on this machine and are absent or of another version. The installed ones
 * are read from the hidden lockfile that npm writes last, so an installation that was cut off counts as none.
 * @param {string} root
 * @param {Scope} [scope]
 * @returns {string[]} their paths, `node_modules/…`
 */
export function missingPackages(root, scope = 'everything') {
  const wanted = wantedPackages(root, scope)
  const installed = readPackages(join(root, 'node_modules/.package-lock.json'))
  return Object.entries(wanted)
    .filter(([path, { version, link }]) => link !== true && installed[path]?.version !== version)
    .map(([path]) => path)
}

/**
 * Runs `npm ci` if the installed packages differ from the lockfile. A complete installation stays complete.
 * @param {string} root
 * @param {import('./progress.mjs').Progress} progress
 * @param {Scope} [scope]
 */
export async function ensurePackages(root, progress, scope = 'everything') {
  if (missingPackages(root, scope).length === 0) return
  const step = progress.step('npm packages')
  const name = createHash('sha256').update(root).digest('hex').slice(0, 16)
  const release = await waitForLock(join(cacheFolder(), `npm-${name}.lock`), ({ pid }) =>
    step.update(`waiting for process ${pid}, which is installing`),
  )
  try {
    const chosen = hasAll(root) ? 'everything' : scope
    if (missingPackages(root, chosen).length > 0) await install(root, step, chosen)
    const missing = missingPackages(root, chosen)
    if (missing.length > 0) throw new Error(`npm ci left out ${missing.slice(0, 3).join(', ')}`)
    step.done(`${Object.keys(wantedPackages(root, chosen)).length} packages`)
  } catch (error) {
    step.fail('not installed')
    throw error
  } finally {
    release()
  }
}

/**
 * Installs the part in a separate folder, which replaces the existing one when it is whole.
 * @param {string} root
 * @param {import('./progress.mjs').Step} step
 * @param {Scope} scope
 */
async function install(root, step, scope) {
  const wanted = Object.keys(wantedPackages(root, scope))
  if (scope === 'everything') return npmCi(root, step, wanted)
  const partFolder = mkdtempSync(join(root, 'node_modules-'))
  try {
    writeSubset(root, partFolder)
    await npmCi(partFolder, step, wanted)
    rmSync(join(root, 'node_modules'), { recursive: true, force: true })
    renameSync(join(partFolder, 'node_modules'), join(root, 'node_modules'))
  } finally {
    rmSync(partFolder, { recursive: true, force: true })
  }
}

/**
 * Packages must not run their scripts here: everything works without, and what does not run cannot do harm.
 * @param {string} root
 * @param {import('./progress.mjs').Step} step
 * @param {readonly string[]} wanted
 */
async function npmCi(root, step, wanted) {
  const paths = wanted.map((path) => join(root, path, 'package.json'))
  const timer = setInterval(() => {
    step.update('npm ci', paths.filter((path) => existsSync(path)).length / paths.length)
  }, POLL_MS)
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error']
  try {
    await new Promise((resolve, reject) => {
      const npm = spawn('npm', args, {
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
        shell: process.platform === 'win32',
      })
      let output = ''
      const keep = (/** @type {Buffer} */ chunk) => {
        output = (output + chunk.toString()).slice(0, 4000)
      }
      npm.stdout.on('data', keep)
      npm.stderr.on('data', keep)
      npm.on('error', reject)
      npm.on('close', (code) =>
        code === 0 ? resolve(undefined) : reject(new Error(`npm ci failed:\n${takeHead(output)}`)),
      )
    })
  } finally {
    clearInterval(timer)
  }
}

/**
 * Returns the first lines: npm names the trouble first, and then explains all its options.
 * @param {string} output
 */
function takeHead(output) {
  return output.split('\n').slice(0, 12).join('\n')
}

/**
 * Returns true if packages for development are installed as such.
 * @param {string} root
 */
function hasAll(root) {
  return Object.values(readPackages(join(root, 'node_modules/.package-lock.json'))).some(({ dev }) => dev === true)
}

/**
 * @param {string} root
 * @param {Scope} scope
 */
function wantedPackages(root, scope) {
  const packages = readPackages(join(root, 'package-lock.json'))
  const all = Object.entries(scope === 'everything' ? packages : subsetLockfile({ packages }).packages)
  return Object.fromEntries(all.filter(([path, value]) => path !== '' && isWanted(value)))
}

/**
 * An optional package that names its machines (a binary) is wanted on them. A package without machines may be there
 * only for another machine's binary, so its absence shows nothing.
 * @param {LockedPackage} value
 */
function isWanted(value) {
  if (value.optional === true && value.os === undefined && value.cpu === undefined) return false
  return fitsThisMachine(value)
}

/** @param {LockedPackage} value */
function fitsThisMachine({ os, cpu, libc }) {
  return (
    allows(os, process.platform) &&
    allows(cpu, process.arch) &&
    allows(libc, libc === undefined ? '' : libcOfThisMachine())
  )
}

/**
 * npm's lists name what is allowed, or with `!` what is not.
 * @param {string[] | undefined} list
 * @param {string} value
 */
function allows(list, value) {
  if (list === undefined || value === '') return true
  if (list.includes(`!${value}`)) return false
  const named = list.filter((item) => !item.startsWith('!'))
  return named.length === 0 || named.includes(value) || named.includes('any')
}

/** @type {string | undefined} */
let knownLibc

function libcOfThisMachine() {
  // The report takes a tenth of a second.
  knownLibc ??= process.platform === 'linux' ? readLibc() : ''
  return knownLibc
}

function readLibc() {
  const header = /** @type {{ header?: { glibcVersionRuntime?: string } }} */ (process.report.getReport()).header
  return header?.glibcVersionRuntime ? 'glibc' : 'musl'
}

/** @param {string} path */
function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}

/**
 * @param {string} path
 * @returns {LockedPackages}
 */
function readPackages(path) {
  try {
    return readJson(path).packages ?? {}
  } catch {
    return {}
  }
}
