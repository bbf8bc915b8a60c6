/** @typedef {{ version?: string, integrity?: string, resolved?: string, link?: boolean, optionalDependencies?: Record<string, string> }} Entry */

/**
 * Returns what is wrong with the lockfile, a line for each: entries without a checksum, which npm would install
 * unverified; entries that name the registry they came from; and optional packages that no entry lists. npm leaves out
 * the binaries of other machines that the registry does not serve, and then refuses the file on those machines.
 * @param {Record<string, Entry>} packages
 * @returns {string[]}
 */
export function lockfileProblems(packages) {
  const entries = Object.entries(packages)
  const named = entries.filter(([, { link, resolved }]) => link !== true && resolved)
  return [
    ...withoutIntegrity(packages).map((path) => `${path}: has no integrity; run \`npm run lockfile\``),
    ...named.map(([path]) => `${path}: must not have \`resolved\`; run \`npm run lockfile\``),
    ...entries.flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !isListed(packages, path, name))
        .map((name) => `${name}: is not listed, but ${path} has it for other machines; run \`npm run lockfile\``),
    ),
  ]
}

/**
 * Returns the paths of the entries that npm would install without comparing a checksum. The project itself and links
 * have none.
 * @param {Record<string, Entry>} packages
 */
export function withoutIntegrity(packages) {
  return Object.entries(packages)
    .filter(([path, { integrity, link }]) => path !== '' && link !== true && !integrity)
    .map(([path]) => path)
}

/**
 * True if Node would find the package from there.
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
