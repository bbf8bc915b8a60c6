import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export type RunOptions = {
  cwd?: string
  env?: NodeJS.ProcessEnv
  user?: { uid: number; gid: number }
  /** Called with each line of standard output and standard error. Returns true if the line is only progress. */
  onLine?: (line: string) => boolean
  /** Milliseconds after which the command is ended, with an error. */
  timeoutMs?: number
}

/** Commands that run now. They all end with this process. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill()
})

/** Number of lines of a failed command's output that its error repeats. */
const TAIL_LINES = 15

/** Runs a command to its end and returns its output without progress. The error has the last lines of it. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      ...options.user,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.add(child)
    const lines: string[] = []
    let partial = ''
    const take = (chunk: Buffer): void => {
      const parts = (partial + chunk.toString()).split('\n')
      partial = parts.pop() ?? ''
      for (const line of parts) {
        if (!options.onLine?.(line)) lines.push(line)
      }
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    let late = false
    const timer =
      options.timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            late = true
            child.kill('SIGKILL')
          }, options.timeoutMs)
    child.on('error', (error) => {
      running.delete(child)
      clearTimeout(timer)
      reject(error)
    })
    child.on('close', (code, signal) => {
      running.delete(child)
      clearTimeout(timer)
      if (partial !== '') lines.push(partial)
      if (code === 0) return resolve(lines.join('\n'))
      const why = late ? `took more than ${(options.timeoutMs ?? 0) / 1000} s` : `ended with ${signal ?? code}`
      reject(new Error(`${command} ${why}${lines.length > 0 ? `:\n${lines.slice(-TAIL_LINES).join('\n')}` : ''}`))
    })
  })
}

/** Folder in which Debian installs servers. Only root's shell searches it. */
const SERVERS = '/usr/sbin'

/** Returns the path of a program that root's shell would find, or null. */
export function which(program: string): string | null {
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), SERVERS]) {
    const path = join(folder, program)
    if (folder !== '' && isExecutable(path)) return path
  }
  return null
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

export function getMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns the first line, for places where a failure gets one. */
export function firstLine(error: unknown): string {
  return getMessage(error).split('\n', 1)[0] ?? ''
}
