import type { Hex } from 'viem'
import type { ProviderName } from '../../src/domain/methods.ts'
import { parseUsdc } from '../../src/domain/money.ts'
import type { Progress } from '../setup/progress.mjs'
import { findRunning, type System, startSystem } from '../system.ts'
import { JOURNEYS, type Journey, travel } from './journey.ts'
import { createMerchant, type Merchant } from './merchant.ts'

/** The provider for which a driver is used. */
const PROVIDERS_BY_DRIVER: Readonly<Record<string, ProviderName>> = {
  revolut: 'wallet_app',
  stripe: 'card_partner',
}

/**
 * `npm run demo`: uses the system that runs, or starts one; makes a payment through each provider; checks state,
 * webhook and balance. With `--drivers stripe` the simulators of these companies are used, in a separate data folder.
 */
export async function main(progress: Progress): Promise<number> {
  const drivers = readNames(process.argv.slice(2))
  for (const driver of drivers) {
    const provider = PROVIDERS_BY_DRIVER[driver]
    if (provider === undefined)
      throw new Error(`there is no driver ${driver}: use ${Object.keys(PROVIDERS_BY_DRIVER).join(', ')}`)
    process.env[`PROVIDER_${provider.toUpperCase()}`] = driver
  }
  const folder = process.env['PINRAIL_DATA'] ?? '.data'
  const dataFolder = drivers.length === 0 ? folder : `${folder}/drivers-${drivers.join('-')}`
  const running = findRunning(dataFolder)
  if (running !== null) progress.line(`using the system that is running at ${running.info.api_url}`)
  const system = running ?? (await startSystem({ dataFolder, ports: 'default', progress }))
  try {
    const merchant = createMerchant(system.info)
    const before = await merchant.balance(system.info.merchant_wallet as Hex)
    let paid = 0n
    for (const journey of JOURNEYS) paid += await demonstrate(journey, { system, merchant, progress })
    const received = (await merchant.balance(system.info.merchant_wallet as Hex)) - before
    progress.line(
      `on chain: ${received} micro-USDC arrived at ${system.info.merchant_wallet}, webhooks reported ${paid}`,
    )
    if (received !== paid) throw new Error('the balance on chain differs from the webhooks')
    progress.line('every payment was settled once, to the micro-USDC')
    return 0
  } catch (error) {
    progress.line(`failed: ${error instanceof Error ? error.message : String(error)}`)
    progress.line(
      'the log of each process is in the data folder under logs/; `npm run reset` starts again with an empty system',
    )
    return 1
  } finally {
    await system.stop()
  }
}

function readNames(args: readonly string[]): string[] {
  const [option, names] = args
  if (option === undefined) return []
  if (option !== '--drivers' || names === undefined) throw new Error('usage: npm run demo -- [--drivers <name>,…]')
  return names.split(',')
}

/** Prints the payment's timeline. Returns the micro-USDC that the merchant received. */
async function demonstrate(
  journey: Journey,
  { system, merchant, progress }: { system: Pick<System, 'sandboxUrl'>; merchant: Merchant; progress: Progress },
): Promise<bigint> {
  const begun = Date.now()
  progress.line(`${journey.provider}: ${journey.body.amount} ${journey.body.currency}`)
  const say = (step: string) => progress.line(`  ${((Date.now() - begun) / 1000).toFixed(2).padStart(6)} s  ${step}`)
  const payment = await travel(journey, { merchant, sandboxUrl: system.sandboxUrl, say })
  const { net_usdc: net, tx_hash: txHash } = payment.settlement
  if (net === null) throw new Error(`${payment.id} succeeded without an amount`)
  say(`${net} USDC in ${txHash}`)
  return BigInt(parseUsdc(net))
}
