/** The number of findings that each file may have: text from before the check. A file that is not listed has none. */
export type Baseline = Readonly<Record<string, number>>

export type Difference = { readonly path: string; readonly found: number; readonly allowed: number }

/** Returns the files whose findings differ from the recorded number. `found` has every file that exists. */
export function compare(baseline: Baseline, found: Baseline): Difference[] {
  const paths = [...new Set([...Object.keys(baseline), ...Object.keys(found)])].toSorted()
  return paths
    .map((path) => ({ path, found: found[path] ?? 0, allowed: baseline[path] ?? 0 }))
    .filter((file) => file.found !== file.allowed)
}

/**
 * Returns the baseline to write. Numbers only fall. Files that were deleted leave their numbers to others, so that a
 * file can be renamed, or merged with another one. Without a baseline all findings are recorded.
 */
export function record(baseline: Baseline | null, found: Baseline): Baseline {
  if (baseline === null) return sorted(found)
  const differences = compare(baseline, found)
  const left = sum(differences.filter(({ path }) => !(path in found)).map(({ allowed }) => allowed))
  const more = sum(differences.map((file) => Math.max(0, file.found - file.allowed)))
  if (more <= left) return sorted(found)
  const lowered = Object.entries(baseline).map(
    ([path, allowed]) => [path, Math.min(allowed, found[path] ?? 0)] as const,
  )
  return sorted(Object.fromEntries(lowered))
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

function sorted(counts: Baseline): Baseline {
  const entries = Object.entries(counts).filter(([, count]) => count > 0)
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
