import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureDebianPackages } from '../setup/debian.ts'
import type { Progress } from '../setup/progress.mjs'
import { firstLine, run, which } from '../setup/run.ts'
import { type Child, supervise } from '../system/supervisor.ts'

export type Engine = {
  /** The variables of every command that uses it. */
  readonly env: NodeJS.ProcessEnv
  /** Ends the engine and removes all that it has, if it was started here. */
  stop(): Promise<void>
}

/** The longest that the engine takes to end its containers. */
const STOP_MS = 60_000

const isAnswering = (env: NodeJS.ProcessEnv): Promise<boolean> =>
  run('docker', ['version', '--format', '{{.Server.Version}}'], { env, timeoutMs: 20_000 }).then(
    () => true,
    () => false,
  )

/**
 * Makes sure that a container engine answers or can be started: as root on Debian it is installed. Throws with what is
 * missing.
 */
export async function ensureEngine(progress: Progress): Promise<void> {
  if (await isAnswering(process.env)) return
  const step = progress.step('Container engine')
  try {
    await ensureDebianPackages({ dockerd: 'docker.io' }, step)
    if (process.getuid?.() !== 0)
      throw new Error('no container engine answers: start the service docker, or run this as root to have one started')
    step.done(which('dockerd') ?? '')
  } catch (error) {
    step.fail(firstLine(error))
    throw error
  }
}

/** Uses the engine that answers, or starts one with its own data folder and socket. */
export async function openEngine(progress: Progress): Promise<Engine> {
  await ensureEngine(progress)
  if (await isAnswering(process.env)) return { env: process.env, stop: async () => undefined }
  const folder = await mkdtemp(join(tmpdir(), 'pinrail-engine-'))
  const host = `unix://${join(folder, 'socket')}`
  const env = { ...process.env, DOCKER_HOST: host }
  const folders = ['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec')]
  const daemon = supervise(
    {
      name: 'dockerd',
      command: which('dockerd') ?? 'dockerd',
      args: ['--host', host, ...folders, '--pidfile', join(folder, 'pid'), '--log-level', 'warn'],
      env: process.env,
      cwd: '/',
      stopSignal: 'SIGTERM',
      logFile: join(folder, 'log'),
      ready: () => isAnswering(env),
    },
    { log: () => undefined, onPid: () => undefined },
  )
  const stop = () => end(daemon, folder)
  try {
    await daemon.start()
    return { env, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function end(daemon: Child, folder: string): Promise<void> {
  await daemon.stop(STOP_MS)
  await rm(folder, { recursive: true, force: true })
}
