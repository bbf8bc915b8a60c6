import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { z } from 'zod'
import { findMistakes, findOtherVersions, readNotes } from '../../scripts/release/release.ts'

const ROOT = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, ROOT)), 'utf8')
const { version, scripts } = JSON.parse(read('package.json')) as { version: string; scripts: Record<string, string> }

describe('A release', () => {
  /** The files of the checkout, as they are on the day of a release. */
  const dated = (path: string): string =>
    path === 'CHANGELOG.md' ? read(path).replace(/^(## [^\s(]+).*$/m, '$1 (2026-11-30)') : read(path)

  test('every file that names the version names the same one, and the changelog has its section', () => {
    expect(findOtherVersions(version, read)).toEqual([])
    expect(readNotes(read('CHANGELOG.md'), version)?.text).toMatch(/\S/)
  })

  test('a tag is released if all files name its version, and its section has a date', () => {
    expect(findMistakes(`v${version}`, dated)).toEqual([])
  })

  test('a tag whose section has no date yet is not released', () => {
    const undated = (path: string): string => dated(path).replace(' (2026-11-30)', '')
    expect(findMistakes(`v${version}`, undated)).toEqual([
      `CHANGELOG.md must have the heading "## ${version} (<date>)"`,
    ])
  })

  test('a tag of another version is not released, and each file that differs is named', () => {
    const mistakes = findMistakes('v9.0.0', dated)
    expect(mistakes).toContain(`package.json: version must be 9.0.0, and is ${version}`)
    expect(mistakes).toContain(`ops/helm/pinrail/values.yaml: sandbox.image.tag must be 9.0.0, and is ${version}`)
    expect(mistakes).toHaveLength(8)
  })

  test.each(['1.0.0', 'v1.0', 'v1.0.0-beta', 'main'])('the tag %s is no version', (tag) => {
    expect(findMistakes(tag, dated)).toEqual([
      `the tag must be v and a version, such as v1.0.0 or v1.0.0-rc.1, and is ${tag}`,
    ])
  })

  test('the notes of a version end where those of the version before begin', () => {
    const changelog = '# Changelog\n\n## 1.1.0 (2027-01-01)\n\n### Added\n\n- A\n\n## 1.0.0 (2026-12-01)\n\n- B\n'
    expect(readNotes(changelog, '1.1.0')).toEqual({ text: '### Added\n\n- A', date: '2027-01-01' })
    expect(readNotes(changelog, '1.0.0')).toEqual({ text: '- B', date: '2026-12-01' })
    expect(readNotes(changelog, '1.0')).toBeNull()
  })
})

const workflow = z.looseObject({
  permissions: z.record(z.string(), z.string()),
  jobs: z.record(
    z.string(),
    z.looseObject({
      'timeout-minutes': z.number(),
      needs: z.union([z.string(), z.array(z.string())]).optional(),
      permissions: z.record(z.string(), z.string()).optional(),
      steps: z.array(
        z.looseObject({
          uses: z.string().optional(),
          run: z.string().optional(),
          with: z.record(z.string(), z.unknown()).optional(),
        }),
      ),
      strategy: z.looseObject({ matrix: z.looseObject({ target: z.array(z.string()).optional() }) }).optional(),
    }),
  ),
})

const WORKFLOWS = readdirSync(fileURLToPath(new URL('.github/workflows', ROOT)))

describe.each(WORKFLOWS)('The workflow %s', (file) => {
  const { permissions, jobs } = workflow.parse(parse(read(`.github/workflows/${file}`)))
  const steps = Object.values(jobs).flatMap((job) => job.steps)

  test('the workflow runs only scripts and local actions that exist', () => {
    const named = steps.flatMap(({ run = '' }) =>
      [...run.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name]) => name!),
    )
    expect(named.filter((name) => !(name in scripts))).toEqual([])
    const local = steps.flatMap(({ uses = '' }) => (uses.startsWith('./') ? [uses] : []))
    for (const action of local) expect(read(`${action}/action.yml`)).toContain('using: composite')
  })

  test('a job gets no right that it does not name, and no step keeps the token', () => {
    expect(permissions).toEqual({ contents: 'read' })
    const checkouts = steps.filter(({ uses = '' }) => uses.startsWith('actions/checkout@'))
    expect(checkouts.filter((step) => step.with?.['persist-credentials'] !== false)).toEqual([])
  })

  test('a job waits only for jobs of the workflow, and has a time limit', () => {
    const waited = Object.values(jobs).flatMap(({ needs = [] }) => needs)
    expect(waited.filter((name) => !(name in jobs))).toEqual([])
  })
})

test('the release publishes every image of the Dockerfile that a deployment runs', () => {
  const { jobs } = workflow.parse(parse(read('.github/workflows/release.yml')))
  const stages = [...read('Dockerfile').matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, name]) => name!)
  const published = ['app', 'app-aws', 'app-gcp', 'sandbox']
  expect(stages).toEqual(expect.arrayContaining(published))
  for (const name of ['image', 'manifest']) expect(jobs[name]?.strategy?.matrix.target).toEqual(published)
})
