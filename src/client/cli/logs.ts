import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { LoggedRequest } from '../api-types.ts'
import { createPinrail } from '../client.ts'
import { readVariable } from './usage.ts'

const PAUSE_MS = 2000
const FIRST_LINES = 20
const MOST_AT_ONCE = 100
/** Reads of the log, such as those of this command, are not printed. */
const OWN_PATH = '/v1/requests'

export async function followLog(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      errors: { type: 'boolean', default: false },
      path: { type: 'string' },
      once: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  })
  const { requests } = createPinrail({ apiKey: readVariable('PINRAIL_API_KEY'), baseUrl: readVariable('PINRAIL_URL') })
  const query = { ...(values.errors && { errors: 'true' as const }), ...(values.path && { path: values.path }) }
  const print = (request: LoggedRequest): void =>
    void process.stdout.write(`${values.json ? JSON.stringify(request) : describe(request)}\n`)
  let printed = new Set<string>()
  for (let limit = FIRST_LINES; ; limit = MOST_AT_ONCE) {
    const { data } = await requests.list({ ...query, limit })
    // A request is logged after its response, so a slow one comes after requests that began later.
    const fresh = data.filter(({ id, path }) => !printed.has(id) && !path.startsWith(OWN_PATH))
    for (const request of fresh.toReversed()) print(request)
    printed = new Set([...data, ...fresh].map(({ id }) => id))
    if (values.once) return
    await delay(PAUSE_MS)
  }
}

const describe = ({ at, status, method, path, duration_ms: ms, code, id }: LoggedRequest): string =>
  [at, status, method, path, `${ms} ms`, code, id].filter((part) => part !== null).join('  ')
