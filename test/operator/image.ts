import { cpSync, existsSync, linkSync, readFileSync, statSync } from 'node:fs'
import { constants, copyFile, mkdir, readdir, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../../scripts/setup/run.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The working folder of the images. */
const APP = '/app'

type Instruction = { readonly word: string; readonly rest: string }
type Stage = { readonly from: string; readonly instructions: readonly Instruction[] }
type Entry = { readonly dev?: boolean; readonly optional?: boolean }

export type Image = {
  /** The folder that is `/app` in the image. */
  readonly folder: string
  /** Its variables; `/app` in them is the folder. */
  readonly env: Readonly<Record<string, string>>
  /** The folder with the image's additions to `/usr/local/bin`. */
  readonly bin: string
  readonly user: string
  readonly command: readonly string[]
  /** The lines that were run, in the order of the Dockerfile. */
  readonly ran: readonly string[]
  /** The files that were copied from the checkout. */
  readonly copied: readonly string[]
}

function stages(): ReadonlyMap<string, Stage> {
  const found = new Map<string, { from: string; instructions: Instruction[] }>()
  let stage: Instruction[] = []
  for (const line of readFileSync(join(ROOT, 'Dockerfile'), 'utf8').split('\n')) {
    const [, word = '', rest = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? []
    if (word === 'FROM') {
      const [from = '', , name = ''] = rest.split(' ')
      stage = []
      found.set(name, { from, instructions: stage })
    } else if (word !== '') stage.push({ word, rest })
  }
  return found
}

/**
 * Builds one stage of the Dockerfile in the folder, and the stages before it. `npm ci` takes the packages from the
 * checkout instead of a registry. Throws for an instruction that it does not know.
 */
export function buildImage(name: string, folder: string): Promise<Image> {
  const built = new Map<string, Promise<Image>>()
  const build = (stage: string): Promise<Image> => {
    const image = built.get(stage) ?? buildStage(stage, folder, build)
    built.set(stage, image)
    return image
  }
  return build(name)
}

type Build = (stage: string) => Promise<Image>

async function buildStage(name: string, folder: string, build: Build): Promise<Image> {
  const target = join(folder, name)
  const stage = stages().get(name)
  // An image of other authors, of which only Node is used.
  if (stage === undefined) return { folder: '', env: {}, bin: '', user: '0:0', command: [], ran: [], copied: [] }
  const base = await build(stage.from)
  await mkdir(target, { recursive: true })
  if (base.folder !== '') await linkFolder(base.folder, target)
  let image: Image = { ...base, folder: target, bin: `${target}-bin` }
  for (const instruction of stage.instructions) image = await follow(instruction, image, build)
  return image
}

async function follow({ word, rest }: Instruction, image: Image, build: Build): Promise<Image> {
  if (word === 'WORKDIR' && rest === APP) return image
  if (word === 'USER') return { ...image, user: rest }
  if (word === 'CMD') return { ...image, command: JSON.parse(rest) as string[] }
  if (word === 'ENV') {
    const [name = '', value = ''] = rest.split('=')
    return { ...image, env: { ...image.env, [name]: value.replace(APP, image.folder) } }
  }
  if (word === 'COPY') return { ...image, copied: [...image.copied, ...(await copy(rest.split(' '), image, build))] }
  if (word === 'RUN') {
    if (rest.startsWith('npm ci --omit=dev --ignore-scripts ')) await linkProductionPackages(image.folder)
    else if (rest.startsWith('node ')) await run(process.execPath, rest.split(' ').slice(1), inImage(image))
    else if (rest.startsWith('ln -s ')) await linkProgram(rest.split(' ').slice(2), image)
    else throw new Error(`buildImage must know how to do: RUN ${rest}`)
    return { ...image, ran: [...image.ran, rest] }
  }
  throw new Error(`buildImage must know how to do: ${word} ${rest}`)
}

/** Links a program into `/usr/local/bin` by its name. */
async function linkProgram([source = '', name = '']: readonly string[], { folder, bin }: Image): Promise<void> {
  if (dirname(name) !== '/usr/local/bin') throw new Error(`buildImage must know where ${name} is`)
  await mkdir(bin, { recursive: true })
  await symlink(source.replace(APP, folder), join(bin, basename(name)))
}

/** Without the caller's environment: an image has only its own variables. */
export const inImage = ({ folder, env }: Pick<Image, 'folder' | 'env'>) => ({ cwd: folder, env: { ...env } })

/** Copies files from the checkout into the image, and returns their names. */
async function copy(names: string[], image: Image, build: Build): Promise<string[]> {
  const from = /^--from=(\w+)$/.exec(names[0] ?? '')?.[1]
  const target = join(image.folder, names.pop() ?? '')
  if (from === undefined) {
    for (const name of names) copyPath(join(ROOT, name), target)
    return names
  }
  const other = await build(from)
  for (const name of names.slice(1)) {
    const source = name.replace(APP, other.folder)
    if (statSync(source).isDirectory()) await linkFolder(source, target)
    else await linkFile(source, join(target, basename(source)))
  }
  return []
}

/** Copies the content of a folder into the target, and a file under its name. */
function copyPath(source: string, target: string): void {
  cpSync(source, statSync(source).isDirectory() ? target : join(target, basename(source)), { recursive: true })
}

/**
 * The packages that `npm ci --omit=dev` would install, taken from the checkout, without a registry and without disk
 * space: each file is a hard link (a copy on another disk). Symbolic links would let a package find those for
 * development.
 */
async function linkProductionPackages(folder: string): Promise<void> {
  const lockfile = readFileSync(join(folder, 'package-lock.json'), 'utf8')
  const { packages } = JSON.parse(lockfile) as { packages: Record<string, Entry> }
  for (const [path, { dev, optional }] of Object.entries(packages)) {
    if (path === '' || dev === true) continue
    // Except for the packages that are installed inside this one: they have their own entries.
    if (existsSync(join(ROOT, path)))
      await linkFolder(join(ROOT, path), join(folder, path), (name) => name !== 'node_modules')
    else if (optional !== true) throw new Error(`${path} must be installed: npm ci`)
  }
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
