import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { processStartedAt, tryLock, waitForLock } from '../../scripts/setup/lock.mjs'
import { missingPackages, nodeProblem } from '../../scripts/setup/packages.mjs'
import { createProgress } from '../../scripts/setup/progress.mjs'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pinrail-setup-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const SCRIPTS = fileURLToPath(new URL('../../scripts', import.meta.url))

describe('the plain scripts', () => {
  test.each(['start.mjs', 'test.mjs', 'reset.mjs'])('%s loads without any package', (script) => {
    const seen = new Set<string>()
    const visit = (path: string): void => {
      if (seen.has(path)) return
      seen.add(path)
      for (const [, specifier = ''] of readFileSync(path, 'utf8').matchAll(/^import .*?from '([^']+)'/gm)) {
        expect(specifier).toMatch(/^(node:|\..*\.mjs$)/)
        if (specifier.startsWith('.')) visit(resolve(dirname(path), specifier))
      }
    }
    visit(join(SCRIPTS, script))
    expect(seen.size).toBeGreaterThan(2)
  })

  test('refuse an old Node and say what to do', () => {
    expect(nodeProblem('20.18.3')).toContain('20.19')
    expect(nodeProblem('18.20.0')).toContain('20.19')
    expect(nodeProblem('20.19.0')).toBeNull()
    expect(nodeProblem('24.0.0')).toBeNull()
  })
})

describe('what npm has installed', () => {
  const lock = (path: string, packages: Record<string, unknown>): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), JSON.stringify({ packages }))
  }
  const wanted = (packages: Record<string, unknown>): void => lock('package-lock.json', packages)
  const installed = (packages: Record<string, unknown>): void => lock('node_modules/.package-lock.json', packages)

  test('nothing: everything is missing', () => {
    wanted({ '': {}, 'node_modules/a': { version: '1.0.0' } })
    expect(missingPackages(folder)).toEqual(['node_modules/a'])
  })

  test('the same: nothing is missing', () => {
    wanted({ '': {}, 'node_modules/a': { version: '1.0.0' } })
    installed({ 'node_modules/a': { version: '1.0.0' }, 'node_modules/more': { version: '9.0.0' } })
    expect(missingPackages(folder)).toEqual([])
  })

  test('another version is missing', () => {
    wanted({ 'node_modules/a': { version: '1.0.1' } })
    installed({ 'node_modules/a': { version: '1.0.0' } })
    expect(missingPackages(folder)).toEqual(['node_modules/a'])
  })

  test('a binary for another machine is not missing, the one for this machine is', () => {
    wanted({
      'node_modules/here': { version: '1.0.0', optional: true, os: [process.platform], cpu: [process.arch] },
      'node_modules/there': { version: '1.0.0', optional: true, os: ['beos'] },
      'node_modules/not-here': { version: '1.0.0', optional: true, os: [`!${process.platform}`] },
      'node_modules/for-there': { version: '1.0.0', optional: true },
    })
    expect(missingPackages(folder)).toEqual(['node_modules/here'])
  })
})

describe('npm run check:lockfile', () => {
  const LOCKFILE = join(SCRIPTS, '../package-lock.json')
  const check = (path: string) =>
    spawnSync(process.execPath, [join(SCRIPTS, 'lockfile.mjs'), '--check', path], { encoding: 'utf8' })
  const planted = (entries: Record<string, unknown>): string => {
    const lockfile = JSON.parse(readFileSync(LOCKFILE, 'utf8'))
    const path = join(folder, 'package-lock.json')
    writeFileSync(path, JSON.stringify({ ...lockfile, packages: { ...lockfile.packages, ...entries } }))
    return path
  }

  test('passes the lockfile that is committed', () => {
    expect(check(LOCKFILE)).toMatchObject({ status: 0, stderr: '' })
  })

  test('fails on an entry without integrity and names it', () => {
    const path = planted({ 'node_modules/planted': { version: '1.0.0' }, 'node_modules/own': { link: true } })
    expect(check(path)).toMatchObject({
      status: 1,
      stderr: 'node_modules/planted: has no integrity; run `npm run lockfile`\n',
    })
  })

  test('fails on an entry that names a registry', () => {
    const path = planted({
      'node_modules/planted': { version: '1.0.0', integrity: 'sha512-', resolved: 'https://example.com/planted.tgz' },
    })
    expect(check(path)).toMatchObject({ status: 1, stderr: expect.stringContaining('must not have `resolved`') })
  })

  test('fails on a lockfile that leaves out the binary of another machine', () => {
    const path = planted({
      'node_modules/tool': { version: '2.0.0', integrity: 'sha512-', optionalDependencies: { '@tool/linux': '2.0.0' } },
    })
    expect(check(path)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('@tool/linux: is not listed, but node_modules/tool has it'),
    })
  })
})

describe('locks', () => {
  test('a second taker is told who holds it, until it is given back', () => {
    const path = join(folder, 'lock')
    const first = tryLock(path)
    expect(first.ok).toBe(true)
    const second = tryLock(path)
    expect(second).toMatchObject({ ok: false, holder: { pid: process.pid } })
    if (first.ok) first.release()
    expect(existsSync(path)).toBe(false)
    expect(tryLock(path).ok).toBe(true)
  })

  test('the lock of a process that is gone is free', async () => {
    const child = spawn(process.execPath, ['-e', ''])
    await new Promise((done) => child.on('exit', done))
    writeFileSync(join(folder, 'lock'), JSON.stringify({ pid: child.pid, startedAt: '1' }))
    expect(tryLock(join(folder, 'lock')).ok).toBe(true)
  })

  test('a pid that another process has been given since holds nothing', () => {
    writeFileSync(join(folder, 'lock'), JSON.stringify({ pid: process.pid, startedAt: 'another time' }))
    expect(tryLock(join(folder, 'lock')).ok).toBe(true)
  })

  test('a lock that its writer did not finish holds nothing', () => {
    writeFileSync(join(folder, 'lock'), '{"pi')
    expect(tryLock(join(folder, 'lock')).ok).toBe(true)
  })

  test('who waits gets it when it is given back', async () => {
    const path = join(folder, 'lock')
    const first = tryLock(path)
    const waits: number[] = []
    const second = waitForLock(path, ({ pid }) => {
      waits.push(pid)
      if (first.ok) first.release()
    })
    const release = await second
    expect(waits).toEqual([process.pid])
    release()
  })

  test('a process has the same start time whenever it is asked, and none when it is gone', () => {
    expect(processStartedAt(process.pid)).toBe(processStartedAt(process.pid))
    expect(processStartedAt(process.pid)).not.toBeNull()
    expect(processStartedAt(2 ** 22 + 1)).toBeNull()
  })
})

describe('progress without a terminal', () => {
  test('says each finished step once, and a long one at every tenth', () => {
    const lines: string[] = []
    const stream = { isTTY: false, write: (text: string) => lines.push(text) }
    const step = createProgress(stream as unknown as NodeJS.WriteStream).step('build')
    for (let part = 0; part <= 100; part += 1) step.update('compiling', part / 100)
    step.done('built')
    expect(lines).toHaveLength(11)
    expect(lines[0]).toBe('… build: compiling 10 %\n')
    expect(lines.at(-1)).toMatch(/^✔ build +built +0\.\ds\n$/)
  })
})
