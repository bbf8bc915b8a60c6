import { parse } from 'yaml'

/** The text of a file of the checkout. */
type Read = (path: string) => string

/** Every place that names the version of a release. */
const PLACES: readonly (readonly [path: string, what: string, find: (text: string) => unknown])[] = [
  ['package.json', 'version', (text) => JSON.parse(text).version],
  ['package-lock.json', 'version', (text) => JSON.parse(text).version],
  ['package-lock.json', 'packages[""].version', (text) => JSON.parse(text).packages[''].version],
  ['ops/helm/pinrail/Chart.yaml', 'version', (text) => parse(text).version],
  ['ops/helm/pinrail/Chart.yaml', 'appVersion', (text) => parse(text).appVersion],
  ['ops/helm/pinrail/values.yaml', 'image.tag', (text) => parse(text).image.tag],
  ['ops/helm/pinrail/values.yaml', 'sandbox.image.tag', (text) => parse(text).sandbox.image.tag],
]

/** Returns a line for each place that names another version than `version`. */
export function findOtherVersions(version: string, read: Read): string[] {
  return PLACES.flatMap(([path, what, find]) => {
    const found = find(read(path))
    return found === version ? [] : [`${path}: ${what} must be ${version}, and is ${String(found)}`]
  })
}

export type Notes = {
  /** The text under the heading of the version. */
  readonly text: string
  /** ISO 8601, such as `2026-11-30`; null while the version is not released. */
  readonly date: string | null
}

/** Reads the section of a version in CHANGELOG.md; null if there is none. */
export function readNotes(changelog: string, version: string): Notes | null {
  const sections = changelog.split(/^## /m).slice(1)
  const own = sections.find((section) => section.split(/[ \n]/, 1)[0] === version)
  if (own === undefined) return null
  const [heading = '', ...lines] = own.split('\n')
  return { text: lines.join('\n').trim(), date: /\((\d{4}-\d{2}-\d{2})\)$/.exec(heading)?.[1] ?? null }
}

/** Returns all that keeps the tag from being released; an empty list if nothing does. */
export function findMistakes(tag: string, read: Read): string[] {
  const version = /^v(\d+\.\d+\.\d+(?:-rc\.\d+)?)$/.exec(tag)?.[1]
  if (version === undefined) return [`the tag must be v and a version, such as v1.0.0 or v1.0.0-rc.1, and is ${tag}`]
  const notes = readNotes(read('CHANGELOG.md'), version)
  const heading = `CHANGELOG.md must have the heading "## ${version} (<date>)"`
  return [...findOtherVersions(version, read), ...(notes?.date == null ? [heading] : [])]
}
