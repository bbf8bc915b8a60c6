#!/usr/bin/env node
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lockfileProblems, withoutIntegrity } from './setup/lockfile.mjs'

// `npm run lockfile`, after npm has written package-lock.json: lets npm resolve again each entry without a checksum.
// `npm run check:lockfile` only reads the file.
const args = process.argv.slice(2)
const checksOnly = args[0] === '--check'
const path = resolve(args[checksOnly ? 1 : 0] ?? fileURLToPath(new URL('../package-lock.json', import.meta.url)))

if (!checksOnly) complete()
const { packages } = readLockfile()
const problems = lockfileProblems(packages)
for (const problem of problems) process.stderr.write(`${problem}\n`)
process.stdout.write(
  `${Object.keys(packages).length} entries, ${withoutIntegrity(packages).length} without integrity\n`,
)
process.exitCode = problems.length === 0 ? 0 : 1

function complete() {
  const before = readFileSync(path)
  try {
    const lockfile = readLockfile()
    for (const entry of withoutIntegrity(lockfile.packages)) delete lockfile.packages[entry]
    writeFileSync(path, `${JSON.stringify(lockfile, null, 2)}\n`)
    resolveMissing()
  } catch (error) {
    writeFileSync(path, before)
    throw error
  }
}

/** Lets npm add what package.json needs and the lockfile does not list. npm keeps the versions that are listed. */
function resolveMissing() {
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund']
  execFileSync('npm', ['install', '--package-lock-only', '--omit-lockfile-registry-resolved', ...quiet], {
    cwd: dirname(path),
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
}

/** @returns {{ packages: Record<string, import('./setup/lockfile.mjs').Entry> }} */
function readLockfile() {
  return JSON.parse(readFileSync(path, 'utf8'))
}
