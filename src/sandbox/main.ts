import { createServer } from 'node:http'
import { pino } from 'pino'
import { readSandboxConfig } from '../config.ts'
import { createSandbox } from './app.ts'
import { listen, onStop, stopListening } from './server.ts'

/** The process of the partner simulators: `SANDBOX_PORT`, journals in `SANDBOX_DATA`. */
const config = readSandboxConfig()
const log = pino({ name: 'sandbox', level: config.LOG_LEVEL })
const sandbox = await createSandbox({
  dataFolder: config.SANDBOX_DATA,
  publicUrl: () => config.SANDBOX_PUBLIC_URL,
  callbackUrl: config.SANDBOX_CALLBACK_URL,
  partners: {
    wallet_app: { account: config.WALLET_APP_ACCOUNT, secret: config.WALLET_APP_SECRET.reveal() },
    card_partner: { account: config.CARD_PARTNER_ACCOUNT, secret: config.CARD_PARTNER_SECRET.reveal() },
    local_partner: { account: config.LOCAL_PARTNER_ACCOUNT, secret: config.LOCAL_PARTNER_SECRET.reveal() },
  },
  converterSecret: config.CONVERTER_SECRET.reveal(),
  clock: Date.now,
  log,
})
const server = createServer(sandbox.app)
const url = await listen(server, { host: config.SANDBOX_HOST, port: config.SANDBOX_PORT })
sandbox.run()
log.info({ url }, 'the partner simulators are ready')

onStop(async () => {
  await stopListening(server)
  await sandbox.close()
})
