import { cpSync, existsSync, linkSync, readFileSync, statSync } from 'node:fs'
import { constants, copyFile, mkdir, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

type Instruction = { readonly word: string; readonly rest: string }
type Entry = { readonly dev?: boolean; readonly optional?: boolean }

/** What the Dockerfile does for one of its images, the stages that it starts from first. */
export function instructionsOf(image: string): Instruction[] {
  const stages = new Map<string, Instruction[]>()
  let stage: Instruction[] = []
  for (const line of readFileSync(join(ROOT, 'Dockerfile'), 'utf8').split('\n')) {
    const [, word = '', rest = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? []
    if (word === 'FROM') {
      const [from = '', , name = ''] = rest.split(' ')
      stage = [...(stages.get(from) ?? [])]
      stages.set(name, stage)
    } else if (word !== '') stage.push({ word, rest })
  }
  const found = stages.get(image)
  if (found === undefined) throw new Error(`The Dockerfile must have a stage named ${image}`)
  return found
}

/** Copies into the folder what the image's COPY lines copy into it. Answers the names of what was copied. */
export function copyAsImage(image: string, folder: string): string[] {
  return instructionsOf(image)
    .filter(({ word }) => word === 'COPY')
    .flatMap(({ rest }) => {
      const names = rest.split(' ')
      const target = join(folder, names.pop() ?? '')
      for (const name of names) {
        const source = join(ROOT, name)
        // A folder's content is copied into the target, a file by its name.
        cpSync(source, statSync(source).isDirectory() ? target : join(target, basename(name)), { recursive: true })
      }
      return names
    })
}

/**
 * The packages that `npm ci --omit=dev` would install, taken from the checkout: no registry is asked, and no space used.
 * Each file is a hard link (a copy on another disk). Symbolic links would let a package find those for development.
 */
export async function linkProductionPackages(folder: string): Promise<void> {
  const lockfile = readFileSync(join(folder, 'package-lock.json'), 'utf8')
  const { packages } = JSON.parse(lockfile) as { packages: Record<string, Entry> }
  for (const [path, { dev, optional }] of Object.entries(packages)) {
    if (path === '' || dev === true) continue
    if (existsSync(join(ROOT, path))) await linkPackage(join(ROOT, path), join(folder, path))
    else if (optional !== true) throw new Error(`${path} must be installed: npm ci`)
  }
}

/** Except for the packages that are installed inside this one: they have entries of their own. */
async function linkPackage(from: string, to: string): Promise<void> {
  await linkFolder(from, to, (name) => name !== 'node_modules')
}

async function linkFolder(from: string, to: string, wanted = (_name: string) => true): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const item of await readdir(from, { withFileTypes: true })) {
    if (!wanted(item.name)) continue
    const [source, target] = [join(from, item.name), join(to, item.name)]
    if (item.isFile()) await linkFile(source, target)
    else if (item.isDirectory()) await linkFolder(source, target)
  }
}

async function linkFile(source: string, target: string): Promise<void> {
  try {
    linkSync(source, target)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    await copyFile(source, target, constants.COPYFILE_FICLONE)
  }
}
