import { createServer } from 'node:http'
import { getAddress } from 'viem/utils'
import { readSandboxConfig } from '../config.ts'
import { createLogger } from '../log.ts'
import { createSandbox } from './app.ts'
import { DEVELOPMENT_MINTER_KEY } from './chain.ts'
import { createMinter } from './converter/minter.ts'
import { listen, onStop, stopListening } from './server.ts'

/** The process of the partner simulators: `SANDBOX_PORT`, journals in `SANDBOX_DATA`. */
const config = readSandboxConfig()
const log = createLogger({ name: 'sandbox', level: config.LOG_LEVEL })
const { SANDBOX_RPC_URL: rpcUrl, SANDBOX_TREASURY: treasury, USDC_ADDRESS: usdc } = config
const minter =
  rpcUrl === undefined || treasury === undefined
    ? null
    : createMinter({
        rpcUrl,
        usdc: getAddress(usdc),
        treasury: getAddress(treasury),
        privateKey: DEVELOPMENT_MINTER_KEY,
      })
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
  minter,
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
