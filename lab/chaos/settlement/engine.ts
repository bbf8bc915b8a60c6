import { createDb } from '../../../src/db/db.ts'
import { composeEngine } from '../../settlement/compose.ts'
import type { PayerInput } from './payer-process.ts'

// The settlement engine as a process of its own. Every settlement that it announces is written down, to be counted.
const input = JSON.parse(process.argv[2] ?? '') as PayerInput
const db = createDb({ url: input.databaseUrl, livemode: false })
const say =
  (level: string) =>
  (fields: object, message: string): void =>
    void process.stdout.write(
      `${level} ${message} ${JSON.stringify(fields, (_key, value: unknown) => (value instanceof Error ? value.message : typeof value === 'bigint' ? `${value}` : value))}\n`,
    )

const engine = composeEngine({
  ...input,
  db,
  everyMs: 100,
  log: { info: say('info'), warn: say('warn'), error: say('error') },
  options: { leaseMs: 1500, rebroadcastMs: 500, fundsGraceMs: 0 },
  hooks: {
    async onSettled(tx, settlements) {
      for (const { paymentId, txHash } of settlements)
        await tx.query('insert into announced (payment_id, what) values ($1, $2)', [paymentId, txHash])
    },
    async onHeld(tx, { paymentId, reason }) {
      await tx.query('insert into announced (payment_id, what) values ($1, $2)', [paymentId, `held: ${reason}`])
    },
  },
})
await engine.run(new AbortController().signal)
