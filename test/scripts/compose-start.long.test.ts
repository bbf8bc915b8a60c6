import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Composed, openComposed, PUBLISHED } from '../../scripts/compose/composed.ts'
import { playStory } from '../../scripts/compose/story.ts'
import { createProgress } from '../../scripts/setup/progress.mjs'
import { until } from '../../scripts/test/until.ts'

/** The images and docker-compose.yml, started in containers. */

let composed: Composed
const progress = createProgress(process.stderr)
beforeAll(async () => {
  composed = await openComposed(progress)
  // Engine, Compose and base images may have to be built first.
}, 3_600_000)
afterAll(() => composed?.close(), 300_000)

test('payments of each provider succeed before and after each service is killed, and all containers are replaced', async () => {
  await playStory(composed, (line) => progress.line(line))
}, 1_800_000)

const runNode = (service: string, script: string): Promise<string> => composed.exec(service, ['node', '-e', script])

describe('the images', () => {
  test('the image of api and worker has at most 200 MB of packages, and no compiler next to the keys', async () => {
    const [megabytes] = (await composed.exec('api', ['du', '-sm', 'node_modules'])).split('\t')
    expect(Number(megabytes)).toBeLessThan(200)
    const files = await composed.exec('api', [
      'find',
      '/app',
      '-name',
      '*.ts',
      '-o',
      '-name',
      '*.tsx',
      '-o',
      '-name',
      '*.map',
    ])
    expect(files.trim()).toBe('/app/src/web/docs/code/verify/verify.ts')
    const packages = await composed.exec('api', ['ls', 'node_modules'])
    for (const name of ['tsx', 'esbuild', 'typescript', 'jest', 'smtp-server'])
      expect(packages.split('\n')).not.toContain(name)
  })

  test('the bill of materials names every package of the image, and none that only checks and tests need', async () => {
    const options = {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    } as const
    const { components } = JSON.parse(execFileSync('npm', ['run', '--silent', 'sbom'], options)) as {
      components: { name: string; version: string; hashes?: object[] }[]
    }
    const named = new Set(components.map(({ name }) => name))
    const listed = await composed.exec('api', ['sh', '-c', 'cd node_modules && ls -d [a-z]* @*/*'])
    const shipped = listed.trim().split('\n')
    expect(shipped.length).toBeGreaterThan(100)
    expect(components.filter(({ version, hashes }) => version === '' || hashes === undefined)).toEqual([])
    // Packages with types leave only their names in the image.
    expect(shipped.filter((name) => !named.has(name) && !name.startsWith('@types/'))).toEqual([])
    expect(['jest', 'knip', 'typescript', '@biomejs/biome'].filter((name) => named.has(name))).toEqual([])
  }, 60_000)

  test.each(['api', 'worker', 'sandbox', 'inbox'])(
    '%s runs as a user that cannot write in its image',
    async (service) => {
      expect(await runNode(service, 'console.log(process.getuid())')).toBe('1000')
      const write = `try { fs.writeFileSync('/app/new', '') } catch (error) { console.log(error.code) }`
      expect(await runNode(service, write)).toMatch(/^(?:EROFS|EACCES)$/)
    },
  )
})

test('the owner of the schema is neither superuser nor able to create roles', async () => {
  const query = `select rolsuper, rolcreaterole, rolcreatedb, rolbypassrls from pg_roles where rolname = 'pinrail'`
  const psql = ['psql', '--host=127.0.0.1', '--username=pinrail', '--tuples-only', '--no-align', `--command=${query}`]
  expect(await composed.exec('postgres', ['env', 'PGPASSWORD=development-only', ...psql])).toBe('f|f|f|f')
})

test('the command pinrail of the image migrates twice without harm, and shows the state', async () => {
  expect(await composed.exec('worker', ['pinrail', 'migrate'])).toBe('the database has the newest schema')
  expect(await composed.exec('worker', ['pinrail', 'settlement', 'status'])).toMatch(/\w/)
})

test('api and worker each serve health and metrics inside of the network, and the public port serves no metrics', async () => {
  for (const service of ['api', 'worker']) {
    const read = (path: string) =>
      runNode(service, `fetch('http://127.0.0.1:9464${path}').then((r) => r.text()).then((text) => console.log(text))`)
    expect(JSON.parse(await read('/readyz'))).toMatchObject({ status: 'ready' })
    expect(await read('/metrics')).toContain('process_cpu_seconds_total')
  }
  expect(
    await runNode('api', `fetch('http://worker:9465/metrics').then((r) => r.text()).then((text) => console.log(text))`),
  ).toContain('temporal_')
  expect((await fetch(`${PUBLISHED.api}/metrics`)).status).toBe(404)
}, 30_000)

test('a person signs in by a link that arrives by mail', async () => {
  const body = new URLSearchParams({ email: 'ada@shop.example', to: '/dashboard' })
  const form = { method: 'POST', body, headers: { origin: PUBLISHED.api }, redirect: 'manual' } as const
  const asked = await fetch(`${PUBLISHED.api}/sign-in`, form)
  expect(asked.status).toBe(303)
  const mails = async () => (await (await fetch(`${PUBLISHED.inbox}/mails`)).json()) as { to: string[]; text: string }[]
  const [mail] = await until(mails, (all) => all.length > 0)
  expect(mail?.to).toEqual(['ada@shop.example'])
  const [link = ''] = /http\S+/.exec(mail?.text ?? '') ?? []
  const [cookie = ''] = asked.headers.get('set-cookie')?.split(';') ?? []
  const opened = await fetch(link, { headers: { cookie } })
  expect([opened.status, await opened.text()]).toEqual([200, expect.stringContaining('ada@shop.example')])
}, 30_000)
