import { parseArgs } from 'node:util'
import type { Progress } from '../setup/progress.mjs'
import { unusedVariables } from '../system/environment.ts'
import { startSystem } from '../system.ts'
import { banner } from './banner.ts'

const USAGE = `npm start -- [options]
  --json          print one line of JSON when all is ready; everything else goes to standard error
  --data DIR      where everything is kept (default .data)
  --free-ports    any free ports instead of 4242 and so on
  --help`

/** `npm start`: runs the whole system until Ctrl-C. */
export async function main(args: string[], progress: Progress): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: 'boolean', default: false },
      data: { type: 'string' },
      'free-ports': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(`${USAGE}\n`)
    return
  }
  const { DATABASE_URL, POLYGON_RPC_URLS, PUBLIC_URL, PINRAIL_DATA } = process.env
  for (const name of unusedVariables(process.env))
    progress.line(`${name} is set, but \`npm start\` chooses this value itself and does not use yours`)
  const begun = Date.now()
  const abort = new AbortController()
  const asked = new Promise<void>((resolve) => abort.signal.addEventListener('abort', () => resolve()))
  // Ctrl-C arrives twice: from the terminal, and passed on by npm.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => abort.abort())
  endWithNpm(() => abort.abort())
  const starting = startSystem({
    dataFolder: values.data ?? PINRAIL_DATA ?? '.data',
    ports: values['free-ports'] ? 'free' : 'default',
    progress,
    channels: true,
    signal: abort.signal,
    databaseUrl: DATABASE_URL,
    rpcUrls: POLYGON_RPC_URLS,
    publicUrl: PUBLIC_URL || undefined,
  })
  const system = await starting.catch((error: unknown) => {
    if (abort.signal.aborted) return null
    throw error
  })
  if (system !== null) {
    const seconds = ((Date.now() - begun) / 1000).toFixed(1)
    process.stdout.write(values.json ? `${JSON.stringify(system.info)}\n` : banner(system.info, seconds))
    await asked
    progress.line('ending …')
    await system.stop()
  }
  progress.line('stopped; `npm start` continues where this stopped')
  process.exit(0)
}

/** Ends the system if npm was killed, which cannot pass that signal on: it must not continue unseen. */
function endWithNpm(end: () => void): void {
  if (process.env['npm_lifecycle_event'] === undefined) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid !== parent) end()
  }, 500)
  timer.unref()
}
