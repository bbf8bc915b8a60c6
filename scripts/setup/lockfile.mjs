/** @typedef {{ version?: string, integrity?: string, resolved?: string, link?: boolean, dev?: boolean, optional?: boolean, os?: string[], cpu?: string[], libc?: string[], optionalDependencies?: Record<string, string> }} Entry */

/** Words in the names of packages that hold a program for one kind of machine, in npm's own words. */
/** @type {Record<string, string>} */
const OS = { ...same('darwin linux win32 android freebsd openharmony sunos aix netbsd openbsd'), windows: 'win32' }
/** @type {Record<string, string>} */
const CPU = { ...same('arm64 x64 ia32 arm ppc64 riscv64 s390x loong64 mips64el wasm32'), amd64: 'x64' }

/**
 * Entries of the lockfile that have no checksum, each as `<path> <version>`: the registry served anvil's binary for
 * Linux on x64 only, and those for other machines at no version at all. Without their entries `npm ci` refuses the
 * file. npm does not compare them with a checksum of ours when it installs them.
 * No other entry may be without, and no name may stay here that has one. A package of which the registry serves only
 * some binaries at its newest version is taken at the nearest version of which it serves all.
 */
const NOT_SERVED = ['darwin-amd64', 'darwin-arm64', 'linux-arm64', 'win32-amd64'].map(
  (machine) => `node_modules/@foundry-rs/anvil-${machine} 1.7.1`,
)

/**
 * What is wrong with the lockfile: entries without `integrity` that are not known to have none, entries known to have
 * none that have one or are gone, and entries that name the registry they came from.
 * @param {Record<string, Entry>} packages
 * @param {readonly string[]} known each as `<path> <version>`
 * @returns {string[]} a line for each
 */
export function lockfileProblems(packages, known = NOT_SERVED) {
  const without = new Set(withoutIntegrity(packages).map((path) => `${path} ${packages[path]?.version}`))
  const bare = [...without].filter((entry) => !known.includes(entry))
  const stale = known.filter((entry) => !without.has(entry))
  const named = Object.keys(packages).filter((path) => packages[path]?.link !== true && packages[path]?.resolved)
  return [
    ...bare.map((entry) => `${entry}: has no integrity; run \`npm run lockfile\``),
    ...stale.map((entry) => `${entry}: must be taken out of NOT_SERVED in scripts/setup/lockfile.mjs`),
    ...named.map((path) => `${path}: must not have \`resolved\`; run \`npm run lockfile\``),
  ]
}

/**
 * Paths of the entries that npm would install without comparing a checksum. The project itself and links have none.
 * @param {Record<string, Entry>} packages
 */
export function withoutIntegrity(packages) {
  return Object.entries(packages)
    .filter(([path, { integrity, link }]) => path !== '' && link !== true && !integrity)
    .map(([path]) => path)
}

/** @param {string} words */
function same(words) {
  return Object.fromEntries(words.split(' ').map((word) => [word, word]))
}

/**
 * Optional dependencies that the lockfile does not list, as it would list them. They are told by their names, and have
 * no checksum, because the registry did not have them.
 * @param {Record<string, Entry>} packages
 * @returns {Record<string, Entry>}
 */
export function unlistedPackages(packages) {
  /** @type {Record<string, Entry>} */
  const unlisted = {}
  for (const [path, { optionalDependencies = {}, dev }] of Object.entries(packages))
    for (const [name, range] of Object.entries(optionalDependencies))
      if (!isListed(packages, path, name)) unlisted[`node_modules/${name}`] = entryOf(name, range, dev)
  return unlisted
}

/**
 * @param {string} name
 * @param {string} range
 * @param {boolean | undefined} dev
 * @returns {Entry}
 */
function entryOf(name, range, dev) {
  const words = (name.split('/').at(-1) ?? name).split('-')
  const pick = (/** @type {Record<string, string>} */ known) => words.flatMap((word) => known[word] ?? []).slice(0, 1)
  const [os, cpu, libc] = [pick(OS), pick(CPU), words.flatMap(libcOf).slice(0, 1)]
  return {
    version: range.replace(/^[\^~]/, ''),
    ...(cpu.length > 0 ? { cpu } : {}),
    ...(dev === true ? { dev } : {}),
    ...(libc.length > 0 ? { libc } : {}),
    optional: true,
    ...(os.length > 0 ? { os } : {}),
  }
}

/** @param {string} word */
function libcOf(word) {
  if (word.startsWith('musl')) return ['musl']
  return word.startsWith('gnu') ? ['glibc'] : []
}

/**
 * Whether Node would find the package from there.
 * @param {Record<string, Entry>} packages
 * @param {string} from
 * @param {string} name
 * @returns {boolean}
 */
function isListed(packages, from, name) {
  const path = from === '' ? `node_modules/${name}` : `${from}/node_modules/${name}`
  if (packages[path] !== undefined) return true
  if (from === '') return false
  const above = from.lastIndexOf('/node_modules/')
  return isListed(packages, above === -1 ? '' : from.slice(0, above), name)
}
