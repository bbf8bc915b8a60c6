import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { createMerchant, type Merchant } from '../demo/merchant.ts'
import type { Progress } from '../setup/progress.mjs'
import { run } from '../setup/run.ts'
import { USDC_ADDRESS } from '../system/environment.ts'
import { ensureBaseImages } from './base-images.ts'
import { openEngine } from './engine.ts'
import { ensureCompose } from './program.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The addresses at which docker-compose.yml publishes the parts. */
export const PUBLISHED = {
  api: 'http://localhost:4242',
  sandbox: 'http://127.0.0.1:4300',
  inbox: 'http://127.0.0.1:4301',
  chain: 'http://127.0.0.1:8545',
} as const

/** The system of docker-compose.yml, as a separate project: volumes of an earlier `docker compose up` stay unchanged. */
export type Composed = {
  readonly docker: (args: readonly string[]) => Promise<string>
  readonly compose: (args: readonly string[]) => Promise<string>
  /** Starts what does not run, and waits until every service is healthy. Returns the seconds. */
  readonly up: () => Promise<number>
  /** Runs a program of the image in the container of a service. */
  readonly exec: (service: string, command: readonly string[]) => Promise<string>
  readonly merchant: () => Promise<Merchant>
  /** Removes containers and volumes. */
  readonly close: () => Promise<void>
}

/** Makes sure of engine, Compose and base images, and builds our images. Starts nothing. */
export async function openComposed(progress: Progress): Promise<Composed> {
  const engine = await openEngine(progress)
  try {
    const [program = '', ...first] = await ensureCompose(progress)
    const options = { cwd: ROOT, env: engine.env }
    const docker = (args: readonly string[]) => run('docker', args, options)
    const project = ['--project-name', `pinrail-${randomBytes(4).toString('hex')}`]
    const compose = (args: readonly string[]) => run(program, [...first, ...project, ...args], options)
    await ensureBaseImages({ docker, compose }, progress)
    await inStep(progress, 'Images', () => compose(['build', '--quiet', 'api', 'sandbox']))
    return {
      docker,
      compose,
      up: () => measureSeconds(() => compose(['up', '--detach', '--wait', '--quiet-pull'])),
      exec: (service, command) => compose(['exec', '--no-TTY', service, ...command]),
      merchant: () => openMerchant(compose),
      async close() {
        await compose(['down', '--volumes', '--remove-orphans'])
        await engine.stop()
      },
    }
  } catch (error) {
    await engine.stop()
    throw error
  }
}

const configuration = z.object({
  services: z.object({ inbox: z.object({ environment: z.object({ INBOX_WEBHOOK_SECRET: z.string() }) }) }),
})

/** The demo merchant, whose API key is in the log of `prepare`. */
async function openMerchant(compose: Composed['compose']): Promise<Merchant> {
  const { services } = configuration.parse(JSON.parse(await compose(['config', '--format', 'json'])))
  const [, secretKey] = /API key: (\S+)/.exec(await compose(['logs', '--no-log-prefix', 'prepare'])) ?? []
  if (secretKey === undefined) throw new Error('the service `prepare` must log the API key of the demo merchant')
  return createMerchant({
    api_url: PUBLISHED.api,
    inbox_url: PUBLISHED.inbox,
    rpc_url: PUBLISHED.chain,
    usdc_address: USDC_ADDRESS,
    secret_key: secretKey,
    webhook_secret: services.inbox.environment.INBOX_WEBHOOK_SECRET,
  })
}

async function measureSeconds(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1000
}

async function inStep(progress: Progress, name: string, work: () => Promise<unknown>): Promise<void> {
  const step = progress.step(name)
  try {
    await work()
    step.done()
  } catch (error) {
    step.fail('not built')
    throw error
  }
}
