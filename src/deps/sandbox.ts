import { join } from 'node:path'
import { getAddress } from 'viem/utils'
import type { InboxConfig, SandboxConfig } from '../config/config.ts'
import { readAccount } from '../config/partners.ts'
import type { Logger } from '../runtime/log.ts'
import { createSandbox } from '../sandbox/app.ts'
import { connectDevelopmentChain, DEVELOPMENT_MINTER_KEY, mintUsdc } from '../sandbox/chain.ts'
import { createMinter } from '../sandbox/converter/minter.ts'
import { openChat } from '../sandbox/inbox/chat.ts'
import { createInbox } from '../sandbox/inbox/inbox.ts'
import { openMailbox } from '../sandbox/inbox/mailbox.ts'
import type { SendUsdc } from '../sandbox/usdc-wallet.ts'

/** The simulators keep their journals in `SANDBOX_DATA`. */
export function composeSandbox(config: SandboxConfig, log: Logger): ReturnType<typeof createSandbox> {
  return createSandbox({
    dataFolder: config.SANDBOX_DATA,
    publicUrl: () => config.SANDBOX_PUBLIC_URL,
    callbackUrl: config.SANDBOX_CALLBACK_URL,
    partners: {
      wallet_app: readAccount(config, 'wallet_app'),
      card_partner: readAccount(config, 'card_partner'),
      local_partner: readAccount(config, 'local_partner'),
    },
    converterSecret: config.CONVERTER_SECRET.reveal(),
    minter: createTestMinter(config),
    sendUsdc: sendUsdcOn(config.SANDBOX_RPC_URL),
    clock: Date.now,
    log,
  })
}

/** Null without a development chain: then the converter's fills are only promises. */
function createTestMinter({ SANDBOX_RPC_URL: rpcUrl, SANDBOX_TREASURY: treasury, USDC_ADDRESS: usdc }: SandboxConfig) {
  if (rpcUrl === undefined || treasury === undefined) return null
  const addresses = { usdc: getAddress(usdc), treasury: getAddress(treasury) }
  return createMinter({ rpcUrl, ...addresses, privateKey: DEVELOPMENT_MINTER_KEY })
}

/** Null without a development chain: then no simulated wallet pays. */
function sendUsdcOn(rpcUrl: string | undefined): SendUsdc | null {
  return rpcUrl === undefined ? null : (transfer) => mintUsdc(connectDevelopmentChain(rpcUrl), transfer)
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
