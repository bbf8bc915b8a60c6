import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from '@jest/globals'
import { ENTRIES, type ImageName } from '../../scripts/build/entries.ts'
import { run } from '../../scripts/setup/run.ts'

/** `npm run build`: what the images run, as JavaScript. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DIST = join(ROOT, 'dist')

beforeAll(() => run('npm', ['run', '--silent', 'build'], { cwd: ROOT }), 120_000)

const listFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))

const programs = Object.entries(ENTRIES).flatMap(([image, entries]) =>
  entries.map((entry) => [image as ImageName, entry.replace(/\.ts$/, '.js')] as const),
)

/** Runs a program in another folder and without variables. */
const start = (image: ImageName, program: string, args: readonly string[] = []) =>
  spawnSync(process.execPath, [join(DIST, image, program), ...args], { cwd: '/', env: {}, encoding: 'utf8' })

test.each(programs)('the program %s/%s finds all that it imports and reads', (image, program) => {
  const { status, stderr } = start(image, program)
  expect([program, stderr]).toEqual([program, expect.stringMatching(/must be set|pinrail <command>|Usage/)])
  expect(status).not.toBe(0)
})

test('the command shows its help in any folder, and can be started by its name', () => {
  const command = 'src/operator/pinrail.js'
  expect(start('app', command, ['--help'])).toMatchObject({ status: 0, stderr: '' })
  expect(spawnSync(join(DIST, 'app', command), ['--help'], { cwd: '/' }).status).toBe(0)
})

test('the image of api and worker has no simulator, no script, and TypeScript only as an example', () => {
  const files = listFiles(join(DIST, 'app'))
  expect(files.length).toBeGreaterThan(400)
  expect(files.filter((file) => /^src\/sandbox|^scripts/.test(file))).toEqual([])
  expect(files.filter((file) => /\.tsx?$/.test(file))).toEqual(['src/web/docs/code/verify/verify.ts'])
  expect(existsSync(join(DIST, 'app/src/worker/workflows.js'))).toBe(true)
})

test('the images have every text that the programs read', () => {
  const texts = (folder: string): string[] =>
    listFiles(folder).filter((file) => /\.(?:sql|json|css|svg|md|cjs)$/.test(file))
  const ofApp = texts(join(ROOT, 'src')).filter((file) => !file.startsWith('sandbox/'))
  expect(texts(join(DIST, 'app/src')).sort()).toEqual(ofApp.sort())
})
