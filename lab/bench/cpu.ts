import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts CPU time in ticks of 10 ms (USER_HZ, the same on every common machine). */
const MS_PER_TICK = 10

type Stat = { pid: number; parent: number; own: number; ofEnded: number }

/**
 * Returns the CPU time (user and system) of a process with everything below it, in milliseconds since its start. The
 * kernel adds a child that has ended to its parent.
 */
export function cpuMs(pid: number): number {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(name) ?? [])
  const below = (id: number): Stat[] => {
    const children = all.filter(({ parent }) => parent === id)
    return [...children, ...children.flatMap((child) => below(child.pid))]
  }
  const tree = [...all.filter((each) => each.pid === pid), ...below(pid)]
  return tree.reduce((sum, { own, ofEnded }) => sum + own + ofEnded, 0) * MS_PER_TICK
}

/** Returns null if the process has ended. See proc(5) for the fields. */
function readStat(name: string): Stat | null {
  try {
    const text = readFileSync(`/proc/${name}/stat`, 'utf8')
    // The second field is the name in parentheses, which may contain anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const field = (number: number): number => Number(fields[number - 3])
    return { pid: Number(name), parent: field(4), own: field(14) + field(15), ofEnded: field(16) + field(17) }
  } catch {
    return null
  }
}
