import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureContainers } from '../compose/program.ts'
import { ensureChromium } from '../setup/chromium.ts'
import { ensureHelm } from '../setup/programs/helm.ts'
import { ensureLanguages } from '../setup/programs/languages.ts'
import { ensurePgbouncer } from '../setup/programs/pgbouncer.ts'
import { ensurePromtool } from '../setup/programs/promtool.ts'
import { ensureStripeMock } from '../setup/programs/stripe-mock.ts'
import type { Progress } from '../setup/progress.mjs'
import { firstLine } from '../setup/run.ts'
import { ensureTemporalServer } from '../setup/temporal/temporal-server.ts'
import { ensureTestServer } from '../setup/temporal/test-server.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

type Program = {
  readonly name: string
  /** A test file with this text needs the program. */
  readonly use: RegExp
  readonly ensure: (progress: Progress) => Promise<unknown>
}

const PROGRAMS: readonly Program[] = [
  { name: 'Chromium', use: /launchBrowser\(|\buse(Browser|Checkout|MerchantSite)\(/, ensure: ensureChromium },
  { name: 'PgBouncer', use: /poolerSpec\(/, ensure: ensurePgbouncer },
  { name: 'the languages of the examples', use: /runSamples\(/, ensure: ensureLanguages },
  { name: 'promtool', use: /ensurePromtool\(/, ensure: ensurePromtool },
  { name: 'helm', use: /ensureHelm\(/, ensure: ensureHelm },
  { name: 'stripe-mock', use: /startStripeMock\(/, ensure: ensureStripeMock },
  { name: 'a container engine', use: /openComposed\(/, ensure: ensureContainers },
]

export type LeftOut = {
  /** Arguments for Jest, the last ones: it must not run the test files that need a missing program. */
  readonly jestArgs: readonly string[]
  readonly reasons: readonly string[]
}

/**
 * Finds or installs what the tests need that Jest's arguments select. Where a program cannot be had, such as by a user
 * who is not root, the tests that need it are left out. In CI it throws instead.
 */
export async function prepareFor(args: readonly string[], progress: Progress): Promise<LeftOut> {
  const selected = findTests(args)
  const files: string[] = []
  const reasons: string[] = []
  for (const { name, use, ensure } of PROGRAMS) {
    const users = selected.filter((file) => use.test(readFileSync(join(ROOT, file), 'utf8')))
    if (users.length === 0) continue
    try {
      await ensure(progress)
    } catch (error) {
      if (process.env['CI']) throw error
      files.push(...users)
      reasons.push(`left out, because ${name} cannot be used (${firstLine(error)}): ${users.join(', ')}`)
    }
  }
  for (const reason of reasons) progress.line(reason)
  await ensureTestServer(progress)
  await ensureTemporalServer(progress)
  return { jestArgs: files.length === 0 ? [] : ['--testPathIgnorePatterns', '/node_modules/', ...files], reasons }
}

/** The test files that Jest's arguments select: by a part of their path, or by the projects `system` and `long`. */
function findTests(args: readonly string[]): string[] {
  const parts = args.filter((arg) => /^(\.\/)?test\//.test(arg)).map((arg) => arg.replace('./', ''))
  const isLong = (file: string): boolean => file.includes('.long.test.')
  return readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .map((file) => join('test', file))
    .filter((file) => /\.test\.tsx?$/.test(file))
    .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)))
    .filter((file) => !(args.includes('system') && isLong(file)) && !(args.includes('long') && !isLong(file)))
}
