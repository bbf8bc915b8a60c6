#!/usr/bin/env node
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { unlistedPackages } from './setup/lockfile.mjs'

// `npm run lockfile`, after npm has written package-lock.json: adds the binaries of other machines that npm left out
// because the registry it asked did not have them. Without those lines `npm ci` refuses the file everywhere.
const path = fileURLToPath(new URL('../package-lock.json', import.meta.url))
const lockfile = JSON.parse(readFileSync(path, 'utf8'))
const unlisted = unlistedPackages(lockfile.packages)
const packages = Object.entries({ ...lockfile.packages, ...unlisted })
const byPath = packages.sort(([a], [b]) => (a < b ? -1 : 1))
const sorted = { ...lockfile, packages: Object.fromEntries(byPath) }
writeFileSync(path, `${JSON.stringify(sorted, null, 2)}\n`)
process.stdout.write(`${Object.keys(unlisted).length} packages added\n`)
