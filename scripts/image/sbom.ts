import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { reachable } from '../setup/subset.mjs'

/**
 * `npm run sbom`: the bill of materials of the image `app`, in CycloneDX (https://cyclonedx.org/docs/1.6/json/), from
 * the lockfile. `npm run sbom -- aws` is that of `app-aws`. The one of npm leaves out packages that production shares
 * with development.
 */

type Entry = {
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
}

const file = (name: string): string => readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8')
const { name, version } = JSON.parse(file('package.json')) as { name: string; version: string }
/** Folders with the lockfile of the image, and of its key service. */
const folders = ['', ...process.argv.slice(2).map((service) => `ops/images/${service}/`)]

/** The platforms that the image may be built for. */
const allows = (list: readonly string[] | undefined, ours: readonly string[]): boolean =>
  list === undefined || list.some((item) => ours.includes(item))
const isForImage = ({ os, cpu, libc }: Entry): boolean =>
  allows(os, ['linux']) && allows(cpu, ['x64', 'arm64']) && allows(libc, ['glibc'])

function component(path: string, { version: its = '', license, integrity }: Entry) {
  const called = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const purl = `pkg:npm/${called.replace('@', '%40')}@${its}`
  const [, digest] = /^sha512-(.+)$/.exec(integrity ?? '') ?? []
  return {
    type: 'library',
    'bom-ref': `${purl}#${path}`,
    name: called,
    version: its,
    purl,
    ...(license !== undefined && {
      licenses: [/[\s(]/.test(license) ? { expression: license } : { license: { id: license } }],
    }),
    ...(digest !== undefined && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
    }),
  }
}

const components = folders.flatMap((folder) => {
  const { dependencies } = JSON.parse(file(`${folder}package.json`)) as { dependencies: Record<string, string> }
  const { packages } = JSON.parse(file(`${folder}package-lock.json`)) as { packages: Record<string, Entry> }
  return [...reachable(packages, Object.keys(dependencies))]
    .sort()
    .flatMap((path) => (isForImage(packages[path] ?? {}) ? [component(`${folder}${path}`, packages[path] ?? {})] : []))
})
const bill = {
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: { component: { type: 'application', name, version } },
  components,
}
process.stdout.write(`${JSON.stringify(bill, null, 2)}\n`)
