import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cachedPath, placeInCache, withCacheLock } from '../setup/cache.ts'
import { ensureDebianPackages } from '../setup/debian.ts'
import { ensureGoProgram } from '../setup/programs/go-program.ts'
import type { Progress, Step } from '../setup/progress.mjs'
import { firstLine, getMessage, run } from '../setup/run.ts'
import { ensureClusterPrograms } from '../setup/temporal/cluster-programs.ts'
import { ensureTemporalServer } from '../setup/temporal/temporal-server.ts'
import { findPostgresBinaries } from '../system/postgres/binaries.ts'

/**
 * The images by other authors that Dockerfile and docker-compose.yml name. If no registry answers, they are made from
 * packages under the same names, by tools/images/Dockerfile: as root on Debian only.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const RECIPES_FOLDER = join(ROOT, 'tools/images')
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'
/** Debian packages for health checks, and the client that runs Postgres' first scripts. */
const DEBIAN_PACKAGES = ['ca-certificates', 'netcat-openbsd', 'postgresql-client', 'wget']
/** A release for Node 24. */
const NPM = 'npm@11.21.2'
/** The version of the module in tools/temporal/go.mod. */
const UI_VERSION = '2.54.1'

export type Commands = {
  readonly docker: (args: readonly string[]) => Promise<string>
  readonly compose: (args: readonly string[]) => Promise<string>
}

type Making = { readonly context: string; readonly version: string; readonly progress: Progress; readonly step: Step }
type Recipe = { readonly target: string; readonly fill: (making: Making) => Promise<void> }

/** By the last part of the image's name. */
const RECIPES: Readonly<Record<string, Recipe>> = {
  node: { target: 'node', fill: fillNode },
  postgres: { target: 'postgres', fill: fillPostgres },
  'admin-tools': { target: 'temporal-tools', fill: fillTemporal },
  server: { target: 'temporal-server', fill: fillTemporal },
  ui: { target: 'temporal-ui', fill: fillTemporal },
  foundry: { target: 'foundry', fill: fillFoundry },
}

/** Pulls the base images that are not there yet, and makes those that no registry gives. */
export async function ensureBaseImages(commands: Commands, progress: Progress): Promise<void> {
  const missing: string[] = []
  for (const name of await listBaseImages(commands)) {
    const isThere = await succeeds(commands.docker(['image', 'inspect', name]))
    if (isThere) continue
    progress.line(`pull ${name}`)
    const trouble = await commands.docker(['pull', '--quiet', name]).then(() => null, getMessage)
    if (trouble === null) continue
    progress.line(`${name} is made from packages, because it cannot be pulled: ${trouble.split('\n').at(-1)}`)
    missing.push(name)
  }
  if (missing.length > 0) await makeImages(missing, commands, progress)
}

async function listBaseImages({ compose }: Commands): Promise<string[]> {
  const named = await compose(['config', '--images'])
  const [, base = ''] = /^FROM (\S+:\S+)/m.exec(await readFile(join(ROOT, 'Dockerfile'), 'utf8')) ?? []
  return [...new Set([base, ...named.split('\n').filter((name) => name.includes(':'))])]
}

const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )

async function makeImages(names: readonly string[], { compose }: Commands, progress: Progress): Promise<void> {
  const step = progress.step('Base images from packages')
  const context = await mkdtemp(join(tmpdir(), 'pinrail-images-'))
  try {
    await ensureDebianPackages({ debootstrap: 'debootstrap' }, step)
    await cp(RECIPES_FOLDER, context, { recursive: true })
    await cp(CERTIFICATES, join(context, 'certificates.crt'))
    await cp(await makeDebian(step), join(context, 'debian.tar'))
    const services: Record<string, object> = {}
    for (const name of names) {
      const [repository = '', tag = ''] = name.split(':')
      const recipe = RECIPES[basename(repository)]
      if (recipe === undefined) throw new Error(`${name} cannot be made from packages: add it to tools/images`)
      const [version = ''] = /\d+(?:\.\d+)+/.exec(tag) ?? []
      await recipe.fill({ context, version, progress, step })
      services[recipe.target] = { image: name, build: { context, target: recipe.target } }
    }
    const file = join(context, 'compose.json')
    await writeFile(file, JSON.stringify({ services }))
    step.update('build')
    await compose(['--file', file, 'build', '--quiet'])
    step.done()
  } catch (error) {
    step.fail(firstLine(error))
    throw error
  } finally {
    await rm(context, { recursive: true, force: true })
  }
}

/** Makes the file system of this machine's Debian release with the packages above. Returns the path of its archive. */
async function makeDebian(step: Step): Promise<string> {
  if (process.getuid?.() !== 0) throw new Error('base images are made from packages as root: run this as root')
  const [, codename = ''] = /^VERSION_CODENAME=(\w+)$/m.exec(await readFile('/etc/os-release', 'utf8')) ?? []
  const name = `image-debian-${codename}.tar`
  return onceInCache(name, step, async (draft) => {
    step.update(`debootstrap ${codename}`)
    // The mirror that apt uses.
    const targets = await run('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages'])
    const [mirror = ''] = targets.split('\n')
    const folder = await mkdtemp(join(tmpdir(), 'pinrail-debian-'))
    try {
      const include = `--include=${DEBIAN_PACKAGES.join(',')}`
      await run('debootstrap', ['--variant=minbase', include, codename, folder, mirror])
      for (const needless of [
        'var/cache/apt',
        'var/lib/apt/lists',
        'usr/share/doc',
        'usr/share/locale',
        'usr/share/man',
      ])
        await rm(join(folder, needless), { recursive: true, force: true })
      await run('tar', ['--create', '--numeric-owner', '--directory', folder, '--file', draft, '.'])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
}

/** The programs of Node and npm, from their npm packages. */
async function fillNode({ context, version, step }: Making): Promise<void> {
  const program = `node-linux-${process.arch}`
  const packages = await installOnce(`image-node-${version}`, [`${program}@${version}`, NPM], step)
  await mkdir(join(context, 'node/bin'), { recursive: true })
  await cp(join(packages, program, 'bin/node'), join(context, 'node/bin/node'))
  await cp(join(packages, 'npm'), join(context, 'node/lib/node_modules/npm'), { recursive: true })
}

async function fillPostgres({ context }: Making): Promise<void> {
  const { postgres } = await findPostgresBinaries(null)
  await cp(join(postgres, '../..'), join(context, 'postgres'), { recursive: true, verbatimSymlinks: true })
}

/** Server, tools and UI are in one folder, from which each image uses its own. */
async function fillTemporal({ context, progress }: Making): Promise<void> {
  const folder = join(context, 'temporal')
  await mkdir(folder, { recursive: true })
  const { server, schemaTool } = await ensureClusterPrograms(progress)
  const cli = await ensureTemporalServer(progress)
  if (cli.kind === 'address') throw new Error('the images need the program `temporal`: unset TEMPORAL_ADDRESS')
  const source = 'github.com/temporalio/ui-server/v2/cmd/server'
  const ui = await ensureGoProgram({ name: `temporal-ui-${UI_VERSION}`, module: 'temporal', source }, progress)
  const programs = { 'temporal-server': server, 'temporal-sql-tool': schemaTool, temporal: cli.path, 'temporal-ui': ui }
  for (const [name, path] of Object.entries(programs)) await cp(path, join(folder, name))
  const list = ['list', '-m', '-f', '{{.Dir}}', 'go.temporal.io/server']
  const module = (await run('go', list, { cwd: join(ROOT, 'tools/temporal-cluster') })).trim()
  await cp(join(module, 'schema/postgresql'), join(context, 'temporal-schema/postgresql'), { recursive: true })
}

async function fillFoundry({ context, version, step }: Making): Promise<void> {
  const names = ['anvil', 'cast']
  const specifiers = names.map((name) => `@foundry-rs/${name}@${version}`)
  const packages = await installOnce(`image-foundry-${version}`, specifiers, step)
  const machine = `linux-${process.arch === 'x64' ? 'amd64' : process.arch}`
  await mkdir(join(context, 'foundry'), { recursive: true })
  for (const name of names)
    await cp(join(packages, `@foundry-rs/${name}-${machine}/bin/${name}`), join(context, 'foundry', name))
}

/** Installs npm packages in a folder of the cache. Returns its node_modules. */
async function installOnce(name: string, specifiers: readonly string[], step: Step): Promise<string> {
  const folder = await onceInCache(name, step, async (draft) => {
    step.update(`npm install ${specifiers.join(' ')}`)
    await mkdir(draft)
    await run('npm', ['install', '--prefix', draft, '--ignore-scripts', '--no-audit', '--no-fund', ...specifiers])
  })
  return join(folder, 'node_modules')
}

async function onceInCache(name: string, step: Step, make: (draft: string) => Promise<void>): Promise<string> {
  const path = cachedPath(name)
  return withCacheLock(name, step, async () => (existsSync(path) ? path : placeInCache(name, make)))
}
