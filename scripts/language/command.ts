import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Baseline, compare, record } from './baseline.ts'
import { type Finding, findWords } from './findings.ts'
import { isRead } from './passages.ts'

const BASELINE = 'scripts/language/baseline.json'

export type Report = { readonly lines: readonly string[]; readonly passed: boolean }

/**
 * `--check` compares every file with the baseline. `--record` lowers its numbers first, and `--record-all` records all
 * findings. Paths list the findings of their files.
 */
export function runLanguage(root: string, args: readonly string[]): Report {
  const findings = readFindings(root)
  const counts = Object.fromEntries([...findings].map(([path, found]) => [path, found.length]))
  if (args[0] === '--record') writeBaseline(root, record(readBaseline(root), counts))
  if (args[0] === '--record-all') writeBaseline(root, record(null, counts))
  if (args[0]?.startsWith('--')) return check(readBaseline(root) ?? {}, { findings, counts })
  const paths = [...findings.keys()].filter((path) => args.length === 0 || args.some((part) => path.startsWith(part)))
  const lines = paths.flatMap((path) => describe(path, findings))
  return { lines: [...lines, `${lines.length} findings`], passed: true }
}

type Findings = ReadonlyMap<string, readonly Finding[]>

function readFindings(root: string): Findings {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard']
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n')
  const paths = new Set(listed.filter((path) => isRead(path) && existsSync(join(root, path))))
  return new Map([...paths].map((path) => [path, findWords(path, readFileSync(join(root, path), 'utf8'))]))
}

function readBaseline(root: string): Baseline | null {
  const path = join(root, BASELINE)
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Baseline) : null
}

function writeBaseline(root: string, baseline: Baseline): void {
  writeFileSync(join(root, BASELINE), `${JSON.stringify(baseline, null, 2)}\n`)
}

function check(baseline: Baseline, { findings, counts }: { findings: Findings; counts: Baseline }): Report {
  const lines = compare(baseline, counts).flatMap(({ path, found, allowed }) =>
    found < allowed
      ? [`${path} has ${found} findings, ${allowed} are recorded: run npm run fix`]
      : [`${path} has ${found} findings, ${allowed} are allowed:`, ...describe(path, findings)],
  )
  return { lines, passed: lines.length === 0 }
}

function describe(path: string, findings: Findings): string[] {
  return (findings.get(path) ?? []).map(
    ({ line, pattern, found, instead }) => `${path}:${line}: "${found}" (${pattern}): write ${instead}`,
  )
}
