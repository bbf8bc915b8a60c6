import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { request } from 'undici'
import type { SystemInfo } from '../../../scripts/system.ts'
import type { Arm, Paid } from '../arm.ts'

/** `POST /v1/payments`, up to its response. */
export function createApiArm({ api_url: url, secret_key: key }: SystemInfo): Arm {
  return { name: 'api', ours: ['api'], worker: 'api', pay: () => post(url, key) }
}

export type ExpressArm = { readonly arm: Arm; readonly pid: number; readonly stop: () => void }

/** The same request to a bare Express, which makes one insert into the same Postgres. */
export async function startExpressArm({ secret_key: key, database_url }: SystemInfo): Promise<ExpressArm> {
  const server = fork(fileURLToPath(new URL('express.ts', import.meta.url)), [database_url], {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [port] = await once(server, 'message')
  const pay = () => post(`http://127.0.0.1:${port}`, key)
  return {
    arm: { name: 'express', ratio: 'ratio', ours: ['express'], worker: 'express', pay },
    pid: server.pid ?? 0,
    stop: () => server.disconnect(),
  }
}

const BODY = JSON.stringify({ amount: '49.90', currency: 'EUR', provider: 'wallet_app' })

async function post(url: string, key: string): Promise<Paid> {
  const begun = performance.now()
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  }
  const { statusCode, body } = await request(`${url}/v1/payments`, { method: 'POST', headers, body: BODY })
  const text = await body.text()
  const tookMs = performance.now() - begun
  if (statusCode !== 201) throw new Error(`${url} returned ${statusCode}: ${text}`)
  return { workflowId: JSON.parse(text).id, tookMs }
}
