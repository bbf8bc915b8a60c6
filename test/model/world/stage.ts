import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { BOX_KEY } from '../../../scripts/test/environment.ts'
import { createTestDatabase } from '../../../scripts/test/services/databases.ts'
import { createDepositKeys } from '../../../src/chain/deposits/deposit-keys.ts'
import { createDb } from '../../../src/db/db.ts'
import { insertMerchant } from '../../../src/db/merchants/merchants.ts'
import { insertEndpoint } from '../../../src/db/webhooks/webhook-endpoints.ts'
import { newId } from '../../../src/ids.ts'
import { createSandbox } from '../../../src/sandbox/app.ts'

/** Slow to set up, and shared by many stories: the database with a merchant, and the simulators. */
export type Stage = Awaited<ReturnType<typeof openStage>>

const SECRET = 'secret-of-the-model'
export const ACCOUNT = 'pinrail'
export const CHAIN = { chainId: 31337, token: `0x${'3'.repeat(40)}` as const, treasury: `0x${'5'.repeat(40)}` as const }
export const DEPOSIT_KEYS = createDepositKeys(BOX_KEY, CHAIN.chainId)

export async function openStage() {
  const database = await createTestDatabase()
  const db = createDb({ url: database.url, livemode: false, pool: 2 })
  const tenant = { merchantId: newId('merchant'), livemode: false }
  await insertMerchant(db, { id: tenant.merchantId, name: 'Model Shop' })
  await insertEndpoint(db, tenant, {
    id: newId('endpoint'),
    url: 'http://127.0.0.1:9/',
    description: null,
    enabledEvents: ['*'],
    sealedSecret: 'sealed',
  })
  let clock = (): number => Date.now()
  // The simulators wait for each of their lines to be on disk: in memory that takes no time.
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'pinrail-model-'))
  let url = ''
  const account = { account: ACCOUNT, secret: SECRET }
  const sandbox = await createSandbox({
    dataFolder: folder,
    publicUrl: () => url,
    callbackUrl: 'http://127.0.0.1:9',
    partners: { wallet_app: account, card_partner: account, local_partner: account },
    converterSecret: SECRET,
    minter: null,
    clock: () => clock(),
    log: pino({ level: 'silent' }),
  })
  const server = createHttpServer(sandbox.app)
  url = await listen(server)
  const settings = (path: string) => ({ url: `${url}${path}`, account: ACCOUNT, secret: SECRET })
  return {
    databaseUrl: database.url,
    db,
    tenant,
    sandbox,
    partners: {
      wallet_app: settings('/wallet-app'),
      card_partner: settings('/card-partner'),
      local_partner: settings('/local-partner'),
    },
    converter: { url: `${url}/converter`, secret: SECRET },
    useClock: (now: () => number) => {
      clock = now
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await sandbox.close()
      await db.close()
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function listen(server: HttpServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
