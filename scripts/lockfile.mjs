#!/usr/bin/env node
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lockfileProblems, withoutIntegrity } from './setup/lockfile.mjs'

/** Those of the checkout, and of the images with a key service. */
const LOCKFILES = ['package-lock.json', 'ops/images/aws/package-lock.json', 'ops/images/gcp/package-lock.json']

// `npm run lockfile`, after npm has written a package-lock.json: lets npm resolve again each entry without a checksum.
// `npm run check:lockfile` only reads the files.
const args = process.argv.slice(2)
const checksOnly = args[0] === '--check'
const given = args.slice(checksOnly ? 1 : 0).map((path) => resolve(path))
const paths = LOCKFILES.map((file) => fileURLToPath(new URL(`../${file}`, import.meta.url)))

for (const path of given.length > 0 ? given : paths) {
  if (!checksOnly) complete(path)
  const { packages } = readLockfile(path)
  const problems = lockfileProblems(packages)
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  process.stdout.write(
    `${Object.keys(packages).length} entries, ${withoutIntegrity(packages).length} without integrity\n`,
  )
  if (problems.length > 0) process.exitCode = 1
}

/** @param {string} path */
function complete(path) {
  const before = readFileSync(path)
  try {
    const lockfile = readLockfile(path)
    for (const entry of withoutIntegrity(lockfile.packages)) delete lockfile.packages[entry]
    writeFileSync(path, `${JSON.stringify(lockfile, null, 2)}\n`)
    resolveMissing(path)
  } catch (error) {
    writeFileSync(path, before)
    throw error
  }
}

/**
 * Lets npm add what package.json needs and the lockfile does not list. npm keeps the versions that are listed.
 * @param {string} path
 */
function resolveMissing(path) {
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund']
  execFileSync('npm', ['install', '--package-lock-only', '--omit-lockfile-registry-resolved', ...quiet], {
    cwd: dirname(path),
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
}

/**
 * @param {string} path
 * @returns {{ packages: Record<string, import('./setup/lockfile.mjs').Entry> }}
 */
function readLockfile(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}
