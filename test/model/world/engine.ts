import type { Db, Tx } from '../../../src/db/db.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { CHAIN } from './stage.ts'
import type { System } from './system.ts'

/** The settlement engine as payments know it: its changes of a payout, and its messages in the same transaction. */

/** `settle after all`: a transfer that was proved void is found on chain, which must not happen. */
export type EngineAct = 'send' | 'settle' | 'hold' | 'void' | 'ask void' | 'settle after all'

/** As long as the first try of a conversion takes, and clocks differ. */
const LONGEST_UNHEARD_MS = 60_000

type Hooks = ReturnType<System['createSettlementHooks']>
type Parts = {
  readonly db: Db
  readonly hooks: Hooks
  readonly system: System
  readonly now: () => number
  readonly isShort: () => Promise<boolean>
  /** The time of the partner's last report about an attempt. */
  readonly heardAt: (attemptId: string) => number | null
}

export type Engine = {
  /** Returns violations of the engine's rules. */
  act(paymentId: string, act: EngineAct): Promise<string | null>
  /** Micro-USDC that the chain has paid out; null: nothing. */
  paid(): string | null
  /** True if a transfer that was proved void was found on chain. */
  wasUnexpected(): boolean
  /** Ends all open work. */
  finish(paymentId: string): Promise<string | null>
}

export function createEngine({ db, hooks, system, now, isShort, heardAt }: Parts): Engine {
  const readState = async (paymentId: string): Promise<string> => {
    const { rows } = await db.query('select state from payout where payment_id = $1', [paymentId])
    return (rows[0] as { state: string } | undefined)?.state ?? 'none'
  }

  /** The money of a signed payout must be free: the engine does not ask again. */
  async function whyNotFree(paymentId: string): Promise<string | null> {
    // Asked of the partners: the row might not know it.
    if (await isShort()) return 'paid out although a partner has less than was sold'
    const { rows } = await db.query(
      `select p.held, p.status, a.back <> 'no' as goes_back, a.id, a.provider,
         (select max(at) from timeline_entry t where t.payment_id = p.id and to_status = 'settling') as handed
       from payment p join sale s on s.payment_id = p.id and s.number = p.taken_sale join attempt a on a.id = s.attempt_id
       where p.id = $1`,
      [paymentId],
    )
    const row = rows[0] as {
      held: boolean
      status: string
      goes_back: boolean
      id: string
      provider: string
      handed: Date
    }
    const unheardMs = row.handed.getTime() - (heardAt(row.id) ?? 0)
    if (row.provider !== 'crypto' && unheardMs > LONGEST_UNHEARD_MS)
      return 'paid out although its partner was not asked after a wait'
    if (row.held) return 'paid out although an operator holds the payment'
    if (row.goes_back) return 'paid out although the money is given back'
    return row.status === 'settling' ? null : `paid out although the payment is ${row.status}`
  }

  async function act(paymentId: string, what: EngineAct): Promise<string | null> {
    const state = await readState(paymentId)
    const isFresh = state === 'queued' || state === 'authorized'
    const wrong = isFresh && (what === 'send' || what === 'settle') ? await whyNotFree(paymentId) : null
    if (what === 'send' && isFresh) await set(paymentId, 'mined')
    else if (what === 'settle' && (isFresh || state === 'mined')) await settle(paymentId)
    else if (what === 'hold' && isFresh) await hold(paymentId)
    else if (what === 'void' && state === 'voiding') await voided(paymentId)
    else if (what === 'ask void') await db.transaction((tx) => system.requestVoid(tx, paymentId))
    // A transfer that was sent can be faster than its cancellation.
    else if (what === 'settle' && state === 'voiding' && onItsWay.has(paymentId)) await settle(paymentId)
    else if (what === 'settle after all' && state === 'voided') await settleAfterAll(paymentId)
    return wrong
  }

  const onItsWay = new Set<string>()
  let paid: string | null = null
  let wasUnexpected = false

  async function set(paymentId: string, state: string): Promise<void> {
    onItsWay.add(paymentId)
    await db.query('update payout set state = $2 where payment_id = $1', [paymentId, state])
  }

  async function settle(paymentId: string): Promise<void> {
    await tellSettled(
      paymentId,
      "update payout set state = 'settled', hold_reason = null, hold_detail = null where payment_id = $1 returning micro_usdc::text, recipient",
    )
  }

  /** Leaves the row unchanged: a proof is final. */
  async function settleAfterAll(paymentId: string): Promise<void> {
    wasUnexpected = true
    await tellSettled(paymentId, 'select micro_usdc::text, recipient from payout where payment_id = $1')
  }

  /** As the engine does it: the payment first, then its payout. */
  const locked = <T>(paymentId: string, work: (tx: Tx) => Promise<T>): Promise<T> =>
    db.transaction(async (tx) => {
      await tx.query('select 1 from payment where id = $1 for update', [paymentId])
      return work(tx)
    })

  async function tellSettled(paymentId: string, statement: string): Promise<void> {
    if (paid !== null) return
    await locked(paymentId, async (tx) => {
      const { rows } = await tx.query(statement, [paymentId])
      const row = rows[0] as { micro_usdc: string; recipient: Hex }
      paid = row.micro_usdc
      await hooks.onSettled(tx, [
        { ...place(paymentId), microUsdc: row.micro_usdc, recipient: row.recipient, gasWei: null, claimedFrom: null },
      ])
    })
  }

  async function hold(paymentId: string): Promise<void> {
    await locked(paymentId, async (tx) => {
      await tx.query(
        "update payout set state = 'held', hold_reason = 'blacklisted', hold_detail = 'model' where payment_id = $1",
        [paymentId],
      )
      await hooks.onHeld(tx, { paymentId, reason: 'blacklisted', detail: 'model' })
    })
  }

  async function voided(paymentId: string): Promise<void> {
    await locked(paymentId, async (tx) => {
      await tx.query(
        `insert into void_proof (payment_id, block_number, block_hash, block_time, valid_before)
         values ($1, 100, $2, 1, 1)`,
        [paymentId, `0x${'2'.repeat(64)}`],
      )
      await tx.query("update payout set state = 'voided' where payment_id = $1", [paymentId])
      await hooks.onVoided(tx, { kind: 'cancelled', ...place(paymentId), gasWei: null })
    })
  }

  const place = (paymentId: string) => ({
    paymentId,
    txHash: `0x${Buffer.from(paymentId.slice(-16)).toString('hex').padStart(64, '0')}` as Hex,
    logIndex: 1,
    blockNumber: 100,
    blockHash: `0x${'2'.repeat(64)}` as Hex,
    finalizedAt: new Date(now()),
  })

  return {
    act,
    paid: () => paid,
    wasUnexpected: () => wasUnexpected,
    async finish(paymentId) {
      const state = await readState(paymentId)
      return act(paymentId, state === 'voiding' ? 'void' : 'settle')
    },
  }
}

export const SCOPE = { livemode: false, chainId: CHAIN.chainId, token: CHAIN.token }
