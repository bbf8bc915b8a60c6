/** The fields read from a report in the schema of mutation-testing-elements. Lines and columns count from one. */
export type MutationReport = {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>
}

type Place = { readonly line: number; readonly column: number }

type Mutant = {
  readonly status: string
  readonly replacement?: string
  readonly location: { readonly start: Place; readonly end: Place }
}

/**
 * A change that no test noticed. Its key is the code before and after, which a change elsewhere in the file does not
 * affect.
 */
type Survivor = { readonly file: string; readonly key: string; readonly line: number }

const isNoticed = ({ status }: Mutant): boolean => status === 'Killed' || status === 'Timeout'
const isUnnoticed = ({ status }: Mutant): boolean => status === 'Survived' || status === 'NoCoverage'

export function listSurvivors(report: MutationReport): Survivor[] {
  return Object.entries(report.files).flatMap(([file, { source, mutants }]) =>
    mutants.filter(isUnnoticed).map(({ location, replacement }) => ({
      file,
      line: location.start.line,
      key: `\`${oneLine(cut(source, location))}\` → \`${oneLine(replacement ?? '')}\``,
    })),
  )
}

/** Returns the report without the changes that must be tried again when tests have changed. */
export const withoutSurvivors = <T extends MutationReport>(report: T): T => ({
  ...report,
  files: Object.fromEntries(
    Object.entries(report.files).map(([name, file]) => [
      name,
      { ...file, mutants: file.mutants.filter((mutant) => !isUnnoticed(mutant)) },
    ]),
  ),
})

function cut(source: string, { start, end }: Mutant['location']): string {
  const lines = source.split('\n').slice(start.line - 1, end.line)
  const last = lines.length - 1
  return lines
    .map((line, index) => line.slice(index === 0 ? start.column - 1 : 0, index === last ? end.column - 1 : undefined))
    .join('\n')
}

const oneLine = (code: string): string => code.replaceAll('`', "'").replaceAll(/\s+/g, ' ').trim()

/**
 * Parses the page: one heading for each file, and under it one item for each survivor: code before → code after:
 * reason.
 */
export function parseExplained(page: string): { readonly file: string; readonly key: string }[] {
  let file = ''
  return page.split('\n').flatMap((line) => {
    file = /^#+ `(src\/.*)`$/.exec(line)?.[1] ?? file
    const key = /^- (`[^`]*` → `[^`]*`): \S/.exec(line)?.[1]
    return key === undefined ? [] : [{ file, key }]
  })
}

export function computeScore(report: MutationReport): { readonly score: number; readonly mutants: number } {
  const mutants = Object.values(report.files).flatMap((file) => file.mutants)
  const noticed = mutants.filter(isNoticed).length
  const all = noticed + mutants.filter(isUnnoticed).length
  return { score: all === 0 ? 100 : (100 * noticed) / all, mutants: all }
}
