import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { privateKeyToAddress } from 'viem/accounts'
import { deliveredEvents, finalState, JOURNEYS, until } from '../../../scripts/demo/journey.ts'
import type { PaymentAnswer } from '../../../scripts/demo/merchant.ts'
import { readMemory } from '../../../scripts/system/data-folder.ts'
import { createAddresses, createEnvironments } from '../../../scripts/system/environment.ts'
import { DEFAULT_PORTS } from '../../../scripts/system/ports.ts'
import { removeLeftovers } from '../../../scripts/test/services/leftovers.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { runPinrail } from '../../../src/operator/command.ts'
import { loseTemporal, putBack, takeBackup } from './backup.ts'
import { chainFacts } from './chain-facts.ts'
import { openAndLeave, startTestSystem, success, type TestSystem, temporaryFolder } from './test-system.ts'

/**
 * The drill of docs/backup.md on a whole system: Temporal’s store is lost, the database goes back to a backup, both at
 * once, and every secret is changed. Each time every payout is paid once at most, and losses are reported.
 */

export type Drill = {
  /** In each of the three kinds: settled before the backup, on its way in it, and made after it. */
  readonly payments: number
  readonly say: (line: string) => void
}

type Kinds = {
  readonly before: readonly PaymentAnswer[]
  readonly onTheWay: readonly PaymentAnswer[]
  /** Known to the backup, opened by the buyer after it. */
  readonly opened: readonly PaymentAnswer[]
  readonly after: readonly PaymentAnswer[]
}

const key = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`

const FOLDER_PREFIX = 'pinrail-drill-'

/** Returns the failures; empty: none. */
export async function playDrill({ payments, say }: Drill): Promise<string[]> {
  // A unique name: it is unused for a moment, and other tests remove folders that look left over.
  await removeLeftovers(FOLDER_PREFIX)
  const folder = temporaryFolder(FOLDER_PREFIX)
  const secrets = { codec: key('old'), seed: randomBytes(32).toString('base64') }
  const env = { CRYPTO_DEPOSITS: 'true', TEMPORAL_CODEC_KEYS: secrets.codec, DEPOSIT_SEED: secrets.seed }
  let testSystem = await startTestSystem({ folder, env })
  const problems: string[] = []
  try {
    await loseStore(testSystem, say)
    for (const alsoTemporal of [false, true])
      problems.push(...(await loseDatabase(testSystem, { payments, say, alsoTemporal })))
    const oldKey = testSystem.system.info.secret_key
    const waiting = await testSystem.create()
    await openAndLeave(testSystem, waiting)
    await testSystem.stop({ keep: true })
    testSystem = await startTestSystem({ folder, env: rotate(folder, secrets) })
    problems.push(...(await proveRotation(testSystem, { oldKey, waiting, say })))
    problems.push(...(await paidTwice(testSystem)))
    return problems
  } finally {
    await testSystem.stop()
  }
}

const seconds = (since: number): string => `${((Date.now() - since) / 1000).toFixed(1)} s`

const payAll = (testSystem: TestSystem, count: number): Promise<PaymentAnswer[]> =>
  Promise.all(
    Array.from({ length: count }, async (_each, index) => {
      const { provider, body, method } = JOURNEYS[index % JOURNEYS.length] ?? { provider: 'wallet_app', body: {} }
      const payment = await testSystem.createPatiently({ amount: '49.90', currency: 'EUR', ...body, provider })
      await testSystem.pay(payment, method === undefined ? {} : { method })
      return payment
    }),
  )

async function loseStore(testSystem: TestSystem, say: Drill['say']): Promise<void> {
  const [open, unopened] = [await testSystem.create(), await testSystem.create()]
  await openAndLeave(testSystem, open)
  await testSystem.kill('temporal', { stayDown: true })
  await loseTemporal(testSystem.folder)
  const since = Date.now()
  await testSystem.system.children.get('temporal')?.start()
  await Promise.all([testSystem.pay(open), testSystem.pay(unopened)])
  await Promise.all([success(testSystem, open.id), success(testSystem, unopened.id)])
  say(`Temporal's store lost: two open payments were paid and final ${seconds(since)} after the loss. Lost: nothing.`)
}

type Loss = Drill & { readonly alsoTemporal: boolean }

async function loseDatabase(testSystem: TestSystem, { payments, say, alsoTemporal }: Loss): Promise<string[]> {
  const before = await payAll(testSystem, payments)
  await Promise.all(before.map(({ id }) => success(testSystem, id)))
  const opened = await Promise.all(Array.from({ length: payments }, () => testSystem.create()))
  // A payout that is on its way in the backup is paid on chain after it.
  await testSystem.chain.kill()
  const onTheWay = await payAll(testSystem, payments)
  await Promise.all(onTheWay.map(({ id }) => reached(testSystem, id, 'settling')))
  const copy = await takeBackup(testSystem)
  await testSystem.chain.revive()
  await Promise.all(opened.map((payment) => testSystem.pay(payment)))
  const after = await payAll(testSystem, payments)
  const kinds: Kinds = { before, onTheWay, opened, after }
  await Promise.all(Object.values(kinds).flatMap((kind) => kind.map(({ id }) => success(testSystem, id))))

  const since = Date.now()
  await restore(testSystem, { copy, alsoTemporal })
  const checked = await pinrail(testSystem, 'backup', 'check')
  const rebuilt = await pinrail(testSystem, 'settlement', 'rebuild')
  await Promise.all([testSystem.system.children.get('worker')?.start(), testSystem.system.children.get('api')?.start()])
  await Promise.all([...before, ...onTheWay].map(({ id }) => success(testSystem, id)))
  say(
    `${alsoTemporal ? 'Database and Temporal lost' : 'Database lost'}: everything that the backup knew was final ` +
      `${seconds(since)} after the loss.`,
  )
  for (const line of [...checked.lines, ...rebuilt.lines]) say(`  ${line}`)
  const statuses = await readStatuses(testSystem, opened)
  say(
    `  Lost: ${after.length} payments made after the backup, and the buyer's orders of ${opened.length}, which are ${statuses}.`,
  )
  const waiting = await pinrail(testSystem, 'attention')
  for (const line of waiting.lines) say(`  ${line}`)
  const later = await payAll(testSystem, 1)
  await Promise.all(later.map(({ id }) => success(testSystem, id)))
  return [
    ...(checked.code === 0 ? [] : ['the backup was found to contradict itself']),
    ...(await findTransferProblems(testSystem, kinds)),
    ...(await paidTwice(testSystem)),
  ]
}

async function restore(
  testSystem: TestSystem,
  { copy, alsoTemporal }: { copy: string; alsoTemporal: boolean },
): Promise<void> {
  await Promise.all((['api', 'worker'] as const).map((name) => testSystem.kill(name, { stayDown: true })))
  await testSystem.kill('postgres', { stayDown: true })
  if (alsoTemporal) await testSystem.kill('temporal', { stayDown: true })
  await putBack(testSystem.folder, copy)
  if (alsoTemporal) await loseTemporal(testSystem.folder)
  await testSystem.system.children.get('postgres')?.start()
  if (alsoTemporal) await testSystem.system.children.get('temporal')?.start()
}

/** As an operator types it, with the worker’s variables. */
async function pinrail(testSystem: TestSystem, ...args: string[]): Promise<{ code: number; lines: string[] }> {
  const memory = readMemory(testSystem.folder)
  if (memory === null) throw new Error(`${testSystem.folder} remembers nothing`)
  const ports = { ...DEFAULT_PORTS, ...memory.ports }
  const parts = {
    addresses: createAddresses(ports, memory.secrets, {}),
    ports,
    secrets: memory.secrets,
    dataFolder: '',
  }
  const treasury = privateKeyToAddress(memory.secrets.treasuryKey as Hex)
  const env = { ...createEnvironments(parts).worker, TREASURIES: treasury }
  let text = ''
  const add = (more: string): void => void (text += more)
  const code = await runPinrail({ args, env }, { out: add, err: add })
  return { code, lines: text.trimEnd().split('\n') }
}

const reached = (testSystem: TestSystem, id: string, status: string): Promise<true> =>
  until(async () => ((await testSystem.merchant.read(id)).status === status ? true : null), `${id} to be ${status}`)

async function readStatuses(testSystem: TestSystem, payments: readonly PaymentAnswer[]): Promise<string> {
  const all = await Promise.all(payments.map(({ id }) => testSystem.merchant.read(id)))
  return [...new Set(all.map(({ status }) => status))].join(', ')
}

const getTreasury = (testSystem: TestSystem): string => privateKeyToAddress(testSystem.secrets.treasuryKey as Hex)

/** The chain is the truth: everything that succeeded was paid once, whatever the database has forgotten. */
async function findTransferProblems(testSystem: TestSystem, kinds: Kinds): Promise<string[]> {
  const chain = await chainFacts(testSystem.system.info, getTreasury(testSystem))
  return Object.entries(kinds).flatMap(([kind, payments]: [string, readonly PaymentAnswer[]]) =>
    payments.flatMap(({ id }) => {
      const paid = chain.settlements.filter(({ nonce }) => nonce === chain.deriveNonce(id)).length
      return paid === 1 ? [] : [`${id} (${kind}) was paid ${paid} times`]
    }),
  )
}

/** No nonce twice, and no transfer out of the treasury without a nonce. */
async function paidTwice(testSystem: TestSystem): Promise<string[]> {
  const chain = await chainFacts(testSystem.system.info, getTreasury(testSystem))
  const nonces = chain.settlements.map(({ nonce }) => nonce)
  const sum = chain.settlements.reduce((total, { micro }) => total + micro, 0n)
  return [
    ...(new Set(nonces).size === nonces.length ? [] : ['a nonce was used twice']),
    ...(sum === chain.paidOut ? [] : [`${chain.paidOut} micro-USDC left the treasury, ${sum} by authorizations`]),
  ]
}

/** Writes new secrets into the folder, and the old ones as retired; returns the variables of the next start. */
function rotate(folder: string, old: { codec: string; seed: string }): Record<string, string> {
  const file = join(folder, 'dev.json')
  const memory = JSON.parse(readFileSync(file, 'utf8')) as { secrets: Record<string, string> }
  const { apiKeyPepper = '', webhookEncryptionKey = '' } = memory.secrets
  const fresh = {
    apiKeyPepper: randomBytes(32).toString('hex'),
    webhookEncryptionKey: randomBytes(32).toString('base64'),
  }
  writeFileSync(file, JSON.stringify({ ...memory, secrets: { ...memory.secrets, ...fresh } }), { mode: 0o600 })
  return {
    CRYPTO_DEPOSITS: 'true',
    RETIRED_API_KEY_PEPPERS: apiKeyPepper,
    RETIRED_WEBHOOK_ENCRYPTION_KEYS: webhookEncryptionKey,
    TEMPORAL_CODEC_KEYS: `${key('new')},${old.codec}`,
    DEPOSIT_SEED: randomBytes(32).toString('base64'),
    RETIRED_DEPOSIT_SEEDS: old.seed,
  }
}

async function proveRotation(
  testSystem: TestSystem,
  { oldKey, waiting, say }: { oldKey: string; waiting: PaymentAnswer; say: Drill['say'] },
): Promise<string[]> {
  const since = Date.now()
  const headers = { authorization: `Bearer ${oldKey}` }
  const { status } = await fetch(`${testSystem.system.info.api_url}/v1/payments/${waiting.id}`, { headers })
  await testSystem.pay(waiting)
  await finalState(testSystem.merchant, waiting.id)
  await success(testSystem, waiting.id)
  const events = await deliveredEvents(testSystem.merchant, waiting.id)
  say(
    `Pepper, webhook key, codec key and deposit seed changed: a payment of before was final ${seconds(since)} after the ` +
      `start, its webhook was signed with the secret of before (${events.length} delivered). Lost: nothing.`,
  )
  return status === 200 ? [] : [`a key by the old pepper was answered ${status}`]
}
