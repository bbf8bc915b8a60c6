import { chmod, cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleWorkflows } from '../../src/worker/bundle.ts'
import { run } from '../setup/run.ts'
import { ENTRIES, type ImageName } from './entries.ts'

/**
 * `npm run build`: makes `dist/app` and `dist/sandbox`, the programs of the two images as JavaScript. Each file stays at
 * its path, so it finds the files next to it: the compiler removes types and bundles nothing.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DIST = join(ROOT, 'dist')

/** Examples that the documentation shows as text. */
const EXAMPLES = 'src/web/docs/code/verify/'

await rm(DIST, { recursive: true, force: true })
await Promise.all(Object.keys(ENTRIES).map((name) => build(name as ImageName)))
const { codePath } = await bundleWorkflows()
await cp(codePath, join(DIST, 'app/src/worker/workflows.js'))
await chmod(join(DIST, 'app/src/operator/pinrail.js'), 0o755)

async function build(name: ImageName): Promise<void> {
  const folder = join(DIST, name)
  await mkdir(folder, { recursive: true })
  const project = join(folder, 'tsconfig.json')
  const compilerOptions = {
    rootDir: ROOT,
    outDir: folder,
    noEmit: false,
    noCheck: true,
    rewriteRelativeImportExtensions: true,
  }
  const files = ENTRIES[name].map((file) => join(ROOT, file))
  await writeFile(project, JSON.stringify({ extends: '../../tsconfig.json', compilerOptions, files, include: [] }))
  await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', project])
  await rm(project)
  for (const file of await listTexts(name)) await cp(join(ROOT, file), join(folder, file))
}

/** Lists what the programs read as text: SQL, messages, pages and scripts of the browser. */
async function listTexts(name: ImageName): Promise<string[]> {
  const entries = await readdir(join(ROOT, 'src'), { withFileTypes: true, recursive: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
  const isForImage = (file: string): boolean => name === 'sandbox' || !dirname(file).startsWith('src/sandbox')
  return files.filter((file) => isForImage(file) && (file.startsWith(EXAMPLES) || !/\.tsx?$/.test(file)))
}
