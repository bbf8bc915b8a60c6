import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { machinesVariables } from '../../scripts/system/apps.ts'
import { poll } from '../../scripts/system/waiting.ts'
import { LIVE_ENVIRONMENT } from '../../scripts/test/live-environment.ts'
import { migrate } from '../../src/db/migrate.ts'
import type { Cluster } from './cluster.ts'
import type { Merchants } from './merchants.ts'

/**
 * Starts replicas of the other mode, a restored dump of the other mode, and a worker of another database on the queue.
 */

const ROLES = ['api', 'worker'] as const
type Role = (typeof ROLES)[number]

const REPLICAS = 2
const REFUSED_WITHIN_MS = 120_000
/** Milliseconds for which the stranger takes tasks of others. */
const STRANGER_MS = 15_000

export type ModesVerdict = { readonly lines: readonly string[]; readonly problems: readonly string[] }

export async function playModes(cluster: Cluster, merchants: Merchants): Promise<ModesVerdict> {
  const password = randomBytes(16).toString('hex')
  const admin = cluster.databases.mainUrl()
  await asked(admin, [
    `create role other_owner login superuser password '${password}'`,
    'create database other_dump',
    'create database other_deployment',
  ])
  const createUrl = (database: string): string => {
    const url = new URL(admin)
    url.username = 'other_owner'
    url.password = password
    url.pathname = database
    return url.href
  }
  await Promise.all([migrate(createUrl('other_dump')), migrate(createUrl('other_deployment'))])
  await asked(createUrl('other_dump'), ['insert into deployment (livemode) values (true)'])
  const live = await refusals(
    () => ({ ...LIVE_ENVIRONMENT, DATABASE_URL: createUrl('pinrail') }),
    'belongs to a test deployment',
  )
  const dump = await refusals(
    (role) => createPlain(cluster, role, createUrl('other_dump')),
    'belongs to a live deployment',
  )
  const stranger = await playStranger(cluster, merchants, createUrl('other_deployment'))
  return {
    lines: [
      `${live.refused} of ${live.tried} live processes were refused by the database of test mode`,
      `${dump.refused} of ${dump.tried} test processes were refused by a dump of live mode`,
      ...stranger,
    ],
    problems: [...live.problems, ...dump.problems],
  }
}

async function refusals(createEnvironment: (role: Role) => NodeJS.ProcessEnv, refusal: string) {
  const tries = ROLES.flatMap((role) => Array.from({ length: REPLICAS }, () => role))
  const ends = await Promise.all(tries.map((role) => runToEnd(role, createEnvironment(role))))
  const problems = ends.flatMap(({ code, said }, index) =>
    code !== null && code !== 0 && said.includes(refusal)
      ? []
      : [`${tries[index]} ended with ${code}, not because its database ${refusal}: ${said.slice(-300)}`],
  )
  return { tried: tries.length, refused: tries.length - problems.length, problems }
}

/**
 * Lets a worker of another deployment's database poll the queue for a while: it must do nothing to payments that it does
 * not know.
 */
async function playStranger(cluster: Cluster, merchants: Merchants, url: string): Promise<string[]> {
  const worker = start('worker', createPlain(cluster, 'worker', url))
  await poll(async () => worker.said().includes('"msg":"worker ready"'), {
    withinMs: 120_000,
    everyMs: 100,
    what: 'the stranger',
  })
  const before = merchants.paid.length
  await delay(STRANGER_MS)
  const count = merchants.paid.length - before
  await worker.kill()
  const at = Date.now()
  const { finalAt } = await merchants.pay()
  return [
    `a worker of another database took tasks of the queue for ${STRANGER_MS / 1000} s: ${count} payments became final ` +
      `in that time, the next one ${Math.round((finalAt - at) / 100) / 10} s after it was gone`,
  ]
}

function createPlain({ environments }: Cluster, role: Role, url: string): NodeJS.ProcessEnv {
  const { DATABASE_POOLER: _pooler, DATABASE_READ_URL: _replica, ...rest } = environments[role]
  return { ...rest, DATABASE_URL: url, DATABASE_DIRECT_URL: url, ...(role === 'api' && { API_PORT: '0' }) }
}

/** Returns the exit code, null if the process had to be ended after the time, and what it wrote. */
async function runToEnd(role: Role, env: NodeJS.ProcessEnv): Promise<{ code: number | null; said: string }> {
  const { said, ended, kill } = start(role, env)
  const patience = new AbortController()
  const late = delay(REFUSED_WITHIN_MS, null, { signal: patience.signal }).catch(() => null)
  const code = await Promise.race([ended, late])
  patience.abort()
  await kill()
  return { code, said: said() }
}

function start(role: Role, env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, ['--import', 'tsx', `src/main/${role}.ts`], {
    env: { ...machinesVariables(), ...env, LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => {
      text += bytes.toString()
    })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    said: () => text,
    ended,
    kill: async (): Promise<void> => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function asked(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
