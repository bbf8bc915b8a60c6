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

describe('The plain scripts', () => {
  test.each(['start.mjs', 'test.mjs', 'reset.mjs'])('the script %s loads without any package', (script) => {
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

  test('the scripts refuse an old Node and say what to do', () => {
    expect(nodeProblem('20.18.3')).toContain('20.19')
    expect(nodeProblem('18.20.0')).toContain('20.19')
    expect(nodeProblem('20.19.0')).toBeNull()
    expect(nodeProblem('24.0.0')).toBeNull()
  })
})

describe('The packages that npm has installed', () => {
  const lock = (path: string, packages: Record<string, unknown>): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), JSON.stringify({ packages }))
  }
  const wanted = (packages: Record<string, unknown>): void => lock('package-lock.json', packages)
  const installed = (packages: Record<string, unknown>): void => lock('node_modules/.package-lock.json', packages)

  test('every package is missing if npm has installed nothing', () => {
    wanted({ '': {}, 'node_modules/a': { version: '1.0.0' } })
    expect(missingPackages(folder)).toEqual(['node_modules/a'])
  })

  test('no package is missing if npm has installed the lockfile', () => {
    wanted({ '': {}, 'node_modules/a': { version: '1.0.0' } })
    installed({ 'node_modules/a': { version: '1.0.0' }, 'node_modules/more': { version: '9.0.0' } })
    expect(missingPackages(folder)).toEqual([])
  })

  test('a package of another version is missing', () => {
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

  test('check:lockfile passes the lockfile that is committed', () => {
    expect(check(LOCKFILE)).toMatchObject({ status: 0, stderr: '' })
  })

  test('check:lockfile fails for an entry without integrity and names it', () => {
    const path = planted({ 'node_modules/planted': { version: '1.0.0' }, 'node_modules/own': { link: true } })
    expect(check(path)).toMatchObject({
      status: 1,
      stderr: 'node_modules/planted: has no integrity; run `npm run lockfile`\n',
    })
  })

  test('check:lockfile fails for an entry that names a registry', () => {
    const path = planted({
      'node_modules/planted': { version: '1.0.0', integrity: 'sha512-', resolved: 'https://example.com/planted.tgz' },
    })
    expect(check(path)).toMatchObject({ status: 1, stderr: expect.stringContaining('must not have `resolved`') })
  })

  test('check:lockfile fails for a lockfile that leaves out the binary of another machine', () => {
    const path = planted({
      'node_modules/tool': { version: '2.0.0', integrity: 'sha512-', optionalDependencies: { '@tool/linux': '2.0.0' } },
    })
    expect(check(path)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('@tool/linux: is not listed, but node_modules/tool has it'),
    })
  })
})

describe('Locks', () => {
  test('a second process gets an error that names the lock’s owner, until the lock is released', () => {
    const path = join(folder, 'lock')
    const first = tryLock(path)
    expect(first.ok).toBe(true)
    const second = tryLock(path)
    expect(second).toMatchObject({ ok: false, holder: { pid: process.pid } })
    if (first.ok) first.release()
    expect(existsSync(path)).toBe(false)
    expect(tryLock(path).ok).toBe(true)
  })

  test('the lock of a process that has ended is free', async () => {
    const child = spawn(process.execPath, ['-e', ''])
    await new Promise((done) => child.on('exit', done))
    writeFileSync(join(folder, 'lock'), JSON.stringify({ pid: child.pid, startedAt: '1' }))
    expect(tryLock(join(folder, 'lock')).ok).toBe(true)
  })

  test('a lock whose pid belongs to a newer process is free', () => {
    writeFileSync(join(folder, 'lock'), JSON.stringify({ pid: process.pid, startedAt: 'another time' }))
    expect(tryLock(join(folder, 'lock')).ok).toBe(true)
  })

  test('a lock that its writer did not finish is free', () => {
    writeFileSync(join(folder, 'lock'), '{"pi')
    expect(tryLock(join(folder, 'lock')).ok).toBe(true)
  })

  test('a waiting process gets the lock when it is released', async () => {
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

  test('the start time of a process does not change between calls, and is missing after its end', () => {
    expect(processStartedAt(process.pid)).toBe(processStartedAt(process.pid))
    expect(processStartedAt(process.pid)).not.toBeNull()
    expect(processStartedAt(2 ** 22 + 1)).toBeNull()
  })
})

describe('Progress without a terminal', () => {
  test('progress prints each finished step once, and a long one at every tenth', () => {
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
