import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readMigrationUrl, readWorkerConfig } from '../src/config/config.ts'
import { migrate } from '../src/db/migrate.ts'
import { prepareDevelopmentChain } from '../src/sandbox/chain.ts'
import { deriveAddress } from './system/environment.ts'
import { TREASURY_START } from './system/prepare.ts'
import { seedDemo } from './system/seed.ts'

/**
 * Prepares database and chain for docker-compose.yml, as scripts/prepare.ts does for `npm start`. Reads the worker's
 * variables, INBOX_WEBHOOK_SECRET, and PINRAIL_DATA: the folder that keeps the demo merchant's API key for the next
 * run.
 */
/** The last account of anvil's public test mnemonic. */
const DEMO_WALLET = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'

const config = readWorkerConfig()
const { INBOX_WEBHOOK_SECRET: webhookSecret, PINRAIL_DATA: folder } = process.env
const rpcUrl = config.POLYGON_RPC_URLS[0]?.reveal()
if (!webhookSecret || !folder || !rpcUrl) throw new Error('INBOX_WEBHOOK_SECRET and PINRAIL_DATA must be set')

await migrate(readMigrationUrl())
await prepareDevelopmentChain(rpcUrl, {
  treasury: deriveAddress(config.TREASURY_KEY.reveal()),
  relayers: config.RELAYER_KEYS.reveal().split(',').map(deriveAddress),
  mintMicroUsdc: TREASURY_START,
})
const keyFile = join(folder, 'secret-key')
const { secretKey } = await seedDemo(
  {
    apiKeyPepper: config.API_KEY_PEPPER.reveal(),
    webhookEncryptionKey: config.WEBHOOK_ENCRYPTION_KEY.reveal(),
    webhookSecret,
    webhookUrl: `http://${config.WEBHOOK_TEST_TARGETS[0]}/webhooks`,
    wallet: DEMO_WALLET,
    secretKey: existsSync(keyFile) ? readFileSync(keyFile, 'utf8') : null,
  },
  config.DATABASE_URL,
)
writeFileSync(keyFile, secretKey, { mode: 0o600 })
process.stdout.write(`The demo merchant's API key: ${secretKey}\n`)
