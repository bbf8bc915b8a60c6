import type { Hex } from 'viem'
import { parseUsdc } from '../../src/domain/money.ts'
import type { Progress } from '../setup/progress.mjs'
import { findRunning, type System, startSystem } from '../system.ts'
import { createRotation, isRealDriver, PROVIDERS_BY_DRIVER, playStories } from './driver-stories.ts'
import { JOURNEYS, type Journey, travel } from './journey.ts'
import { createMerchant, type Merchant } from './merchant.ts'

/**
 * `npm run demo`: uses the system that runs, or starts one; makes a payment through each provider; checks state,
 * webhook and balance. With `--drivers stripe,revolut,razorpay` the simulators speak the protocols of these companies, in
 * a separate data folder, and what can go wrong at each of them is played as well.
 */
export async function main(progress: Progress): Promise<number> {
  const drivers = readNames(process.argv.slice(2))
  const rotations = drivers.map((driver) => ({ driver, rotation: createRotation(driver) }))
  for (const { driver, rotation } of rotations) {
    const at = PROVIDERS_BY_DRIVER[driver].toUpperCase()
    process.env[`PROVIDER_${at}`] = driver
    process.env[`${at}_WEBHOOK_SECRETS`] = `${rotation.old},${rotation.new}`
  }
  const folder = process.env['PINRAIL_DATA'] ?? '.data'
  const dataFolder = drivers.length === 0 ? folder : `${folder}/drivers-${drivers.join('-')}`
  // Its secrets would be others.
  const running = drivers.length === 0 ? findRunning(dataFolder) : null
  if (running !== null) progress.line(`using the system that is running at ${running.info.api_url}`)
  const system = running ?? (await startSystem({ dataFolder, ports: 'default', progress }))
  try {
    const merchant = createMerchant(system.info)
    const before = await merchant.balance(system.info.merchant_wallet as Hex)
    let paid = 0n
    // A UPI app pays a real local partner's order: there is no page on which a browser would.
    const phones = drivers.some((driver) => PROVIDERS_BY_DRIVER[driver] === 'local_partner')
    const journeys = JOURNEYS.filter(({ provider }) => !(phones && provider === 'local_partner'))
    for (const journey of journeys) paid += await demonstrate(journey, { system, merchant, progress })
    const received = (await merchant.balance(system.info.merchant_wallet as Hex)) - before
    progress.line(
      `on chain: ${received} micro-USDC arrived at ${system.info.merchant_wallet}, webhooks reported ${paid}`,
    )
    if (received !== paid) throw new Error('the balance on chain differs from the webhooks')
    progress.line('every payment was settled once, to the micro-USDC')
    for (const { driver, rotation } of rotations) {
      const say = (step: string) => progress.line(`${driver}  ${step}`)
      await playStories({ driver, rotation, merchant, system, say })
    }
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

function readNames(args: readonly string[]): (keyof typeof PROVIDERS_BY_DRIVER)[] {
  const [option, names] = args
  if (option === undefined) return []
  if (option !== '--drivers' || names === undefined) throw new Error('usage: npm run demo -- [--drivers <name>,…]')
  const chosen = names.split(',').map((name) => {
    if (isRealDriver(name)) return name
    throw new Error(`there is no driver ${name}: use ${Object.keys(PROVIDERS_BY_DRIVER).join(', ')}`)
  })
  const providers = new Set(chosen.map((name) => PROVIDERS_BY_DRIVER[name]))
  if (providers.size < chosen.length) throw new Error('use one driver for each provider')
  return chosen
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
