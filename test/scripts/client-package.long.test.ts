import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createContext, SourceTextModule } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { run } from '../../scripts/setup/run.ts'

/** The package of `npm run build:client`, packed and installed, and what the programs of others do with it. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'pinrail-client-'))
const installed = join(folder, 'node_modules/pinrail')
let files: string[]
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeAll(async () => {
  await run('npm', ['run', '--silent', 'build:client'], { cwd: ROOT })
  const packed = await run('npm', ['pack', '--json', '--pack-destination', folder, join(ROOT, 'dist/client')])
  const [{ filename, files: listed }] = JSON.parse(packed) as [{ filename: string; files: { path: string }[] }]
  files = listed.map(({ path }) => path)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`], { cwd: folder })
}, 120_000)

test('the package has JavaScript, types and its documentation, and needs no other package', () => {
  expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'index.js', 'index.d.ts', 'package.json']))
  expect(files.filter((file) => /(?<!\.d)\.ts$|tsconfig/.test(file))).toEqual([])
  const own = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<string, unknown>
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  expect(own).toMatchObject({ name: 'pinrail', version, license: 'MIT', repository: expect.anything() })
  expect(own['private'] ?? own['dependencies'] ?? own['scripts']).toBeUndefined()
})

test('the JavaScript that a program loads is at most 8 KB when compressed', () => {
  const code = files
    .filter((file) => file.endsWith('.js') && !file.startsWith('cli/'))
    .map((file) => readFileSync(join(installed, file)))
  expect(gzipSync(Buffer.concat(code)).length).toBeLessThanOrEqual(8192)
})

const USE = `
  const fetch = async (url, { method }) => Response.json({ object: 'list', data: [], asked: method + ' ' + url })
  const pinrail = createPinrail({ apiKey: 'sk', baseUrl: 'https://pay.example', fetch })
  const use = async (print) => {
    print((await pinrail.payments.list()).asked)
    const secret = 'whsec_' + btoa('s'.repeat(24))
    const event = { id: 'evt_1', type: 'payment.succeeded', data: { object: { id: 'pay_1' } } }
    const handle = createWebhookHandler({ secret, on: { 'payment.succeeded': ({ data }) => print(data.object.id) } })
    const signed = await signWebhook(event, { secret })
    print((await handle(new Request('https://shop.example', { method: 'POST', ...signed }))).status)
    print((await handle(new Request('https://shop.example', { method: 'POST', ...signed, body: '{}' }))).status)
  }
`
const USED = ['GET https://pay.example/v1/payments', 'pay_1', '204', '400']
const NAMES = '{ createPinrail, createWebhookHandler, signWebhook }'

test.each([
  ['import', 'program.mjs', `import ${NAMES} from 'pinrail'`],
  ['require', 'program.cjs', `const ${NAMES} = require('pinrail')`],
])('a program that loads it by %s calls the API and receives a webhook', async (_way, name, load) => {
  writeFileSync(join(folder, name), `${load}\n${USE}\nuse(console.log)`)
  const printed = await run(process.execPath, ['--no-warnings', name], { cwd: folder })
  expect(printed.trim().split('\n')).toEqual(USED)
})

test('a worker, which has only what the web has, calls the API and receives a webhook', async () => {
  const web = { AbortSignal, Headers, Request, Response, TextDecoder, TextEncoder, URL, URLSearchParams, crypto }
  const context = createContext({ ...web, atob, btoa, setTimeout, Uint8Array })
  const loaded = new Map<string, SourceTextModule>()
  const load = (file: string): SourceTextModule => {
    const found = loaded.get(file) ?? new SourceTextModule(readFileSync(join(installed, file), 'utf8'), { context })
    loaded.set(file, found)
    return found
  }
  const program = new SourceTextModule(`import ${NAMES} from './index.js'\n${USE}\nexport { use }`, { context })
  await program.link((name) => load(name))
  await program.evaluate()
  const printed: string[] = []
  const { use } = program.namespace as unknown as { use: (print: (value: unknown) => void) => Promise<void> }
  await use((value) => printed.push(String(value)))
  expect(printed).toEqual(USED)
})

test('the command of the package says how it is used', async () => {
  expect(await run('npx', ['--no-install', 'pinrail', 'help'], { cwd: folder })).toContain(
    'usage: pinrail listen --to <url>',
  )
})

test('the examples of the documentation compile with strict types', async () => {
  const examples = [...readFileSync(join(installed, 'README.md'), 'utf8').matchAll(/^```ts\n(.*?)^```/gms)]
  expect(examples).toHaveLength(5)
  const given = `import type { IncomingMessage } from 'node:http'
declare global {
  const body: Uint8Array
  const request: IncomingMessage
}
`
  const names = examples.map(([, text = ''], index) => {
    const name = `example-${index}.ts`
    writeFileSync(join(folder, name), text)
    return name
  })
  writeFileSync(join(folder, 'given.d.ts'), given)
  const compilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    module: 'NodeNext',
    target: 'ES2023',
    noEmit: true,
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['given.d.ts', ...names] }))
  await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder])
}, 120_000)
