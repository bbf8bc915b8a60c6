import { beforeEach } from '@jest/globals'
import { parseEther } from 'viem'
import type { LocalAccount } from 'viem/accounts'
import { createTreasurySigner, type TreasurySigner } from '../../src/chain/authorization.ts'
import { multicallCodec } from '../../src/chain/codec.ts'
import { createKeyAccount } from '../../src/chain/keys/private-key.ts'
import type { Db } from '../../src/db/db.ts'
import type { Hex } from '../../src/domain/hex.ts'
import { firstPaymentId } from '../../src/domain/ids.ts'
import type { Payout } from '../../src/domain/settlement/payout.ts'
import type { Treasury } from '../../src/domain/settlement/treasuries.ts'
import { payoutNonce } from '../../src/evm/payout-nonce.ts'
import { newId } from '../../src/ids.ts'
import { mintUsdc } from '../../src/sandbox/chain.ts'
import type { SettlementRunner } from '../../src/settlement/runner.ts'
import { type Fixture, newKey, type Queued, queueAll, type RunnerChanges, TOKEN, useFixture } from './fixture.ts'

/** The clock of the database cannot be moved, so resting voids are. */
export async function passRests(db: Db, minutes: number): Promise<void> {
  await db.query(`update payout set rests_until = rests_until - $1 * interval '1 minute'`, [minutes])
}

/** The id of a payment of that time. */
export const idAt = (milliseconds: number): string =>
  `${firstPaymentId(milliseconds).slice(0, 14)}${newId('payment').slice(14)}`

/** After this number of minutes no earlier signature is valid, by any clock. */
export const MINUTES_UNTIL_DEAD = 56
/** The same after a restore, when the signer’s clock is unknown. */
export const MINUTES_UNTIL_SURE = 56

/** The date of the successor: payments of these tests without a given id are older. */
export const ROTATED_AT = Date.UTC(2040, 0, 1)

/** A payment that the successor pays. */
export const newPaymentId = (): string => idAt(ROTATED_AT + 1000)

/** The accounts as a list: each pays for a year. */
export const createList = (...accounts: readonly LocalAccount[]): Treasury[] =>
  accounts.map((account, at) => ({
    address: lowerCaseAddress(account),
    firstId: at === 0 ? null : firstPaymentId(Date.UTC(2039 + at, 0, 1)),
  }))

export const lowerCaseAddress = (account: LocalAccount): Hex => account.address.toLowerCase() as Hex
export const createSigner = (account: LocalAccount): TreasurySigner =>
  createTreasurySigner(account, { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n })

/** The same, each after every payment, also after one whose id is a word. */
export const listAfterWords = (...accounts: readonly { readonly address: string }[]): Treasury[] =>
  accounts.map(({ address }, at) => ({
    address: address.toLowerCase() as Hex,
    firstId: at === 0 ? null : `pay_${'z'.repeat(at)}`,
  }))

/** A fixture with two treasuries, of which the second one follows the first. Each has its own relayers. */
export type Rotation = {
  readonly fixture: Fixture
  readonly old: LocalAccount
  readonly successor: LocalAccount
  /** The workers before the rotation. */
  before(changes?: RunnerChanges): SettlementRunner
  /** The workers after it, which have both keys. */
  both(changes?: RunnerChanges): SettlementRunner
  /** The workers after it, without the old key. */
  after(changes?: RunnerChanges): SettlementRunner
  queueOn(treasury: LocalAccount, payouts: Parameters<Fixture['queue']>[0]): Promise<Queued[]>
  found(payout: Queued): Promise<{ state: string; stopReason: string | null; stopDetail: string | null }>
  /** Lets time pass on chain, and for rows that rest in the database. */
  pass(minutes: number, db?: Db): Promise<void>
  /** Signs with the treasury’s key for a payment; a stranger carries it. */
  carry(from: LocalAccount, payout: Queued, cancel?: boolean): Promise<Hex>
}

/** A rotation for the tests of a `describe`, restored before each of them. */
export function useRotation(): Rotation {
  const [old, successor] = [createKeyAccount(newKey()), createKeyAccount(newKey())]
  const fixture = useFixture({ relayers: 2, treasury: old })
  const reset = async (): Promise<void> => {
    await fixture.reset()
    await mintUsdc(fixture.chain, { to: successor.address, micro: 1_000_000_000n })
  }
  beforeEach(reset)
  return {
    fixture,
    old,
    successor,
    before: (changes = {}) =>
      fixture.runner({
        treasuries: [createSigner(old)],
        treasuryList: createList(old),
        relayers: [fixture.relayers[0]!],
        ...changes,
      }),
    both: (changes = {}) =>
      fixture.runner({
        treasuries: [createSigner(successor), createSigner(old)],
        treasuryList: createList(old, successor),
        relayers: [fixture.relayers[1]!],
        ...changes,
      }),
    after: (changes = {}) =>
      fixture.runner({
        treasuries: [createSigner(successor)],
        treasuryList: createList(old, successor),
        relayers: [fixture.relayers[1]!],
        ...changes,
      }),
    queueOn: (treasury, payouts) => queueAll({ ...fixture, treasury }, payouts),
    async found({ paymentId }) {
      const { state, stopReason, stopDetail } = await fixture.payout(paymentId)
      return { state, stopReason, stopDetail }
    },
    async pass(minutes, db = fixture.db) {
      await fixture.chain.increaseTime({ seconds: minutes * 60 })
      await passRests(db, minutes)
      await fixture.chain.mine({ blocks: 4 })
    },
    carry: (from, payout, cancel = false) => carry(fixture, { from, payout, cancel }),
  }
}

async function carry(
  fixture: Fixture,
  { from, payout: { paymentId, recipient, micro }, cancel }: { from: LocalAccount; payout: Queued; cancel: boolean },
): Promise<Hex> {
  const place = { chainId: TOKEN.chainId, token: TOKEN.address, treasury: lowerCaseAddress(from), ownerId: paymentId }
  const payout: Payout = {
    ...place,
    livemode: false,
    recipient,
    microUsdc: micro.toString(),
    authNonce: payoutNonce(place),
    state: 'queued',
    stopReason: null,
    refusals: 0,
    createdAt: new Date(),
  }
  const signer = createSigner(from)
  const signed = cancel ? await signer.signCancellation(payout) : await signer.signTransfer(payout, 4_000_000_000)
  const stranger = createKeyAccount(newKey())
  await fixture.chain.setBalance({ address: stranger.address, value: parseEther('100') })
  const { target, calldata } = multicallCodec.encode(TOKEN.address, [{ ...payout, signed }])
  const raw = await stranger.signTransaction({
    type: 'eip1559',
    chainId: TOKEN.chainId,
    nonce: 0,
    to: target,
    data: calldata,
    gas: 300_000n,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 11n,
  })
  return fixture.chain.sendRawTransaction({ serializedTransaction: raw })
}
