import { join } from 'node:path'
import { getAddress } from 'viem/utils'
import type { InboxConfig, SandboxConfig } from '../config/config.ts'
import { readSimulator } from '../config/partners.ts'
import type { Hex } from '../domain/hex.ts'
import type { Logger } from '../runtime/log.ts'
import { createSandbox } from '../sandbox/app.ts'
import { connectDevelopmentChain, DEVELOPMENT_MINTER_KEY, mintUsdc } from '../sandbox/chain.ts'
import { createUsdcSource } from '../sandbox/converter/usdc-source.ts'
import { openChat } from '../sandbox/inbox/chat.ts'
import { createInbox } from '../sandbox/inbox/inbox.ts'
import { openMailbox } from '../sandbox/inbox/mailbox.ts'
import type { UsdcSource } from '../sandbox/treasury-top-up.ts'
import type { SendUsdc } from '../sandbox/usdc-wallet.ts'

/** The simulators keep their journals in `SANDBOX_DATA`. */
export function composeSandbox(config: SandboxConfig, log: Logger): ReturnType<typeof createSandbox> {
  return createSandbox({
    dataFolder: config.SANDBOX_DATA,
    publicUrl: () => config.SANDBOX_PUBLIC_URL,
    callbackUrl: config.SANDBOX_CALLBACK_URL,
    partners: {
      wallet_app: readSimulator(config, 'wallet_app'),
      card_partner: readSimulator(config, 'card_partner'),
      local_partner: readSimulator(config, 'local_partner'),
    },
    converterSecret: config.CONVERTER_SECRET.reveal(),
    source: createSource(config),
    sendUsdc: sendUsdcOn(config),
    clock: Date.now,
    log,
  })
}

/** Null without a chain: then the converter's fills are only promises. */
function createSource(config: SandboxConfig): UsdcSource | null {
  const { SANDBOX_RPC_URL: rpcUrl, SANDBOX_TREASURY: treasury, SANDBOX_FAUCET_KEY: faucet } = config
  if (rpcUrl === undefined || treasury === undefined) return null
  const chain = { rpcUrl, usdc: getAddress(config.USDC_ADDRESS), treasury: getAddress(treasury) }
  return faucet === undefined
    ? createUsdcSource({ ...chain, by: 'mint', privateKey: DEVELOPMENT_MINTER_KEY })
    : createUsdcSource({ ...chain, by: 'transfer', privateKey: faucet.reveal() as Hex })
}

/** Null without a development chain: then no simulated wallet pays. */
function sendUsdcOn({ SANDBOX_RPC_URL: rpcUrl, SANDBOX_FAUCET_KEY: faucet }: SandboxConfig): SendUsdc | null {
  if (rpcUrl === undefined || faucet !== undefined) return null
  return (transfer) => mintUsdc(connectDevelopmentChain(rpcUrl), transfer)
}

/** The inbox keeps its deliveries, mails and messages in `INBOX_DATA`. With mail it has a chat too. */
export async function composeInbox(config: InboxConfig, log: Logger): ReturnType<typeof createInbox> {
  const mails = join(config.INBOX_DATA, 'mails.jsonl')
  const { INBOX_HOST: host, INBOX_SMTP_PORT: port } = config
  return createInbox({
    ...(port !== undefined && {
      mailbox: await openMailbox({ host, port, dataFile: mails, log }),
      chat: await openChat({ dataFile: join(config.INBOX_DATA, 'chats.jsonl') }),
    }),
    secrets: config.INBOX_WEBHOOK_SECRET?.reveal().split(',') ?? [],
    dataFile: join(config.INBOX_DATA, 'deliveries.jsonl'),
    log,
  })
}
