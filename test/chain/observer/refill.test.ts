import { expect, test } from '@jest/globals'
import { pino } from 'pino'
import { readBalances } from '../../../src/db/ledger.ts'
import { openRefill } from '../../../src/db/settlement/float.ts'
import { newId } from '../../../src/ids.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import { createSettlementHooks } from '../../../src/settlement/hooks.ts'
import { createRefillRound } from '../../../src/worker/refills/refill-round.ts'
import { TOKEN, useFixture } from '../fixture.ts'

const fixture = useFixture()

test('USDC of a refill is claimed when its transfer is final and the treasury is as the books say', async () => {
  const real = createSettlementHooks({ publicUrl: 'http://127.0.0.1', now: Date.now }, { hasFloat: true })
  const { onTreasuryMovement, onBalanceDifference } = real
  const runner = fixture.runner({ hooks: { onTreasuryMovement, onBalanceDifference } })
  await fixture.finalize(runner)
  const capital = BigInt(await balance('treasury'))

  await mintUsdc(fixture.chain, { to: fixture.treasury.address, micro: 1_070_000_000n })
  const logs = await fixture.chain.getLogs({ address: TOKEN.address, fromBlock: 0n })
  // A thousand euros are at a partner, for which the platform gave 1,080 USDC.
  await fixture.db.query(
    `insert into exposure_change (currency, day, units, cost_micro) values ('EUR', '2026-11-28', 100000, 1080000000)`,
  )
  await fixture.db.transaction((tx) =>
    openRefill(tx, {
      id: newId('refill'),
      partner: 'operator',
      currency: 'EUR',
      settledDay: '2026-11-28',
      minor: '100000',
      leastMicro: '0',
      txHash: logs.at(-1)!.transactionHash!,
      at: new Date().toISOString(),
    }),
  )
  let clock = Date.now()
  const round = createRefillRound({
    db: fixture.db,
    scope: { chainId: TOKEN.chainId, token: TOKEN.address },
    partner: null,
    rates: { current: async () => ({ rate: '1.10' }) },
    settlementDays: 0,
    leastMicro: '0',
    newId,
    clock: () => clock,
    log: pino({ level: 'silent' }),
  })
  const state = async () => (await fixture.db.query('select state, micro from refill')).rows[0] as unknown

  // It is mined, and not final yet.
  await round()
  expect(await state()).toEqual({ state: 'open', micro: null })
  await fixture.finalize(runner)
  clock += 3_600_000
  await round()
  expect(await state()).toEqual({ state: 'done', micro: '1070000000' })
  expect([await balance('treasury'), await balance('suspense')]).toEqual([
    String(capital + 1_070_000_000n),
    String(-capital),
  ])
  // The euro gained two cents on each, and thirty USDC did not arrive.
  expect([await balance('exchange'), await balance('spread')]).toEqual(['-20000000', '30000000'])
  expect((await fixture.db.query('select pause from chain_cursor')).rows).toEqual([{ pause: null }])

  async function balance(account: string): Promise<string> {
    const found = (await readBalances(fixture.db)).find((one) => one.account === account && one.asset === 'USDC')
    return found?.amount ?? '0'
  }
})
