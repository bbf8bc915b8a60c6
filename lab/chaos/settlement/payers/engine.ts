import { setTimeout as delay } from 'node:timers/promises'
import type { LocalAccount } from 'viem/accounts'
import { createKeyAccount } from '../../../../src/chain/keys/private-key.ts'
import { createDb } from '../../../../src/db/db.ts'
import type { Hex } from '../../../../src/domain/hex.ts'
import { composeEngine } from '../../../settlement/compose.ts'
import { ANNOUNCING } from './announce.ts'
import type { PayerInput } from './payer-process.ts'

// The settlement engine as a separate process.
const input = JSON.parse(process.argv[2] ?? '') as PayerInput
const db = createDb({ url: input.databaseUrl, livemode: false })
const say =
  (level: string) =>
  (fields: object, message: string): void =>
    void process.stdout.write(
      `${level} ${message} ${JSON.stringify(fields, (_key, value: unknown) => (value instanceof Error ? value.message : typeof value === 'bigint' ? `${value}` : value))}\n`,
    )

/** Chance that one signature is refused, until the faults end. */
let refusalChance = input.refusalChance
// No other process would end this one.
process.on('disconnect', () => process.exit())
process.on('message', () => {
  refusalChance = 0
})

/** Returns a key at a service that refuses now and then. */
function sometimesRefusing(key: Hex): LocalAccount {
  const account = createKeyAccount(key)
  const refusing =
    <A extends unknown[], T>(sign: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      if (Math.random() >= refusalChance) return sign(...args)
      process.send?.('refused')
      throw new Error('the key service refuses this one')
    }
  const { sign, signTransaction } = account
  if (sign === undefined) throw new Error('a key of settlement signs hashes')
  return { ...account, sign: refusing(sign), signTransaction: refusing(signTransaction) as typeof signTransaction }
}

const engine = composeEngine({
  ...input,
  db,
  toAccount: sometimesRefusing,
  everyMs: 100,
  log: { info: say('info'), warn: say('warn'), error: say('error') },
  options: { leaseMs: 1500, rebroadcastMs: 500, fundsGraceMs: 0 },
  hooks: ANNOUNCING,
})
const isReady = (): Promise<boolean> =>
  engine.assertReady().then(
    () => true,
    () => false,
  )
while (!(await isReady())) await delay(100)
process.send?.('up')
await engine.run(new AbortController().signal)
