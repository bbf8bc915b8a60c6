import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { run } from '../../scripts/setup/run.ts'

/** `npm run build:client`, and what a merchant's program does with the package. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PACKAGE = join(ROOT, 'dist/client')
const folder = mkdtempSync(join(tmpdir(), 'pinrail-client-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeAll(async () => {
  await run('npm', ['run', '--silent', 'build:client'], { cwd: ROOT })
  mkdirSync(join(folder, 'node_modules/@pinrail'), { recursive: true })
  cpSync(PACKAGE, join(folder, 'node_modules/@pinrail/client'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
}, 120_000)

test('the package has JavaScript, types and its documentation, and needs no other package', () => {
  const files = readdirSync(PACKAGE)
  expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'index.js', 'index.d.ts', 'package.json']))
  expect(files.filter((file) => /(?<!\.d)\.ts$|tsconfig/.test(file))).toEqual([])
  const own = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as Record<string, unknown>
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  expect(own).toMatchObject({ name: '@pinrail/client', version, license: 'MIT', repository: expect.anything() })
  expect(own['private'] ?? own['dependencies'] ?? own['scripts']).toBeUndefined()
})

test('a program in JavaScript calls the API and verifies a webhook', async () => {
  const program = `
    import { createPinrail, verifyWebhook, WebhookVerificationError } from '@pinrail/client'
    const fetch = async (url, { method }) => Response.json({ object: 'list', data: [], asked: method + ' ' + url })
    const pinrail = createPinrail({ apiKey: 'sk', baseUrl: 'https://pay.example', fetch })
    console.log((await pinrail.payments.list()).asked)
    try { verifyWebhook('{}', {}, { secret: 'whsec_' }) } catch (error) { console.log(error instanceof WebhookVerificationError) }
  `
  writeFileSync(join(folder, 'program.js'), program)
  const printed = await run(process.execPath, ['program.js'], { cwd: folder })
  expect(printed.trim().split('\n')).toEqual(['GET https://pay.example/v1/payments', 'true'])
})

test('the examples of the documentation compile with the types of the package', async () => {
  const examples = [...readFileSync(join(PACKAGE, 'README.md'), 'utf8').matchAll(/^```ts\n(.*?)^```/gms)]
  expect(examples).toHaveLength(2)
  const given = `import type { IncomingMessage } from 'node:http'
declare const body: Uint8Array
declare const request: IncomingMessage
`
  const names = examples.map(([, text = ''], index) => {
    const name = `example-${index}.ts`
    writeFileSync(join(folder, name), `${given}${text}`)
    return name
  })
  const compilerOptions = {
    strict: true,
    module: 'NodeNext',
    target: 'ES2023',
    noEmit: true,
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: names }))
  await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder])
}, 120_000)
