import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../setup/run.ts'

/** `npm run build:client`: makes `dist/client`, the npm package of the client, with its types. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FOLDER = join(ROOT, 'dist/client')

const own = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown>
const { version, license, engines, repository, bugs, homepage } = own

await rm(FOLDER, { recursive: true, force: true })
await mkdir(FOLDER, { recursive: true })
const project = join(FOLDER, 'tsconfig.json')
const compilerOptions = {
  rootDir: join(ROOT, 'src/client'),
  outDir: FOLDER,
  noEmit: false,
  declaration: true,
  rewriteRelativeImportExtensions: true,
}
const files = ['index.ts', 'cli/main.ts'].map((file) => join(ROOT, 'src/client', file))
await writeFile(project, JSON.stringify({ extends: '../../tsconfig.json', compilerOptions, files, include: [] }))
await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', project])
await rm(project)
await cp(join(ROOT, 'docs/client.md'), join(FOLDER, 'README.md'))
await cp(join(ROOT, 'LICENSE'), join(FOLDER, 'LICENSE'))
const manifest = {
  name: 'pinrail',
  version,
  description: 'Client of the Pinrail API: payments with pinned methods, settled in a stablecoin.',
  license,
  type: 'module',
  bin: { pinrail: './cli/main.js' },
  exports: { '.': { types: './index.d.ts', default: './index.js' } },
  sideEffects: false,
  engines,
  repository,
  bugs,
  homepage,
}
await writeFile(join(FOLDER, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
