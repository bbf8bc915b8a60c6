import type { Db, Tx } from '../db/db.ts'
import { lockPayments } from '../db/payments/payments.ts'
import {
  type DueReserves,
  isDifferenceAccepted,
  listDueParts,
  listDueReserves,
  listWholeReserves,
  nameRelease,
  type ReleasePart,
  readForgottenRelease,
  storeDifference,
  storeRelease,
  takeVoidedParts,
} from '../db/reserves/releases.ts'
import type { SettlementScope } from '../db/settlement/context.ts'
import type { Hex } from '../domain/hex.ts'
import { add, formatUsdc, type MicroUsdc, subtract } from '../domain/money.ts'
import type { Payment } from '../domain/payment/payment-object.ts'
import { getReserved } from '../domain/payment/reserve.ts'
import { shareRelease } from '../domain/settlement/reserve-release.ts'
import { createNote } from '../domain/timeline.ts'
import { type ChangeContext, changeLockedPayments } from '../payments/change-payment.ts'
import type { Logger } from '../runtime/log.ts'

/** Merchants with their days, in one round. */
export const RELEASES_PER_ROUND = 100

export type ReleaseDeps = {
  readonly db: Db
  readonly context: ChangeContext
  readonly scope: SettlementScope
  /** The treasury that pays the release, by its id. */
  readonly getTreasury: (ownerId: string) => Hex
  readonly log: Pick<Logger, 'info' | 'error'>
}

/**
 * Releases the reserves that are due, and deductions that refunds have not taken: those of a merchant and a day by one payout, in one transaction with the books. A
 * release that fails delays no other. Returns the number of releases.
 */
export function createReleaseRound(deps: ReleaseDeps): () => Promise<number> {
  const { db, context, scope, log } = deps
  return async function tick(): Promise<number> {
    const today = new Date(context.now()).toISOString().slice(0, 10)
    const due = await listDueReserves(db, scope, { today, limit: RELEASES_PER_ROUND })
    let released = 0
    for (const reserves of due)
      try {
        if (await db.transaction((tx) => release(tx, deps, { reserves, today }))) released += 1
      } catch (error) {
        if (error instanceof ReleaseDiffers)
          await storeDifference(db, scope, { id: error.releaseId, detail: error.message })
        log.error({ err: error, ...reserves }, 'could not release reserves; the next round tries again')
      }
    if (released > 0) log.info({ released }, 'reserves were released')
    return released
  }
}

/** The chain has paid another amount by the release's nonce than is due here. */
class ReleaseDiffers extends Error {
  override readonly name = 'ReleaseDiffers'
  readonly releaseId: string

  constructor(releaseId: string, { paid, due }: { readonly paid: string; readonly due: string }) {
    super(`${formatUsdc(paid)} USDC were paid before the backup was restored, and ${formatUsdc(due)} USDC are due`)
    this.releaseId = releaseId
  }
}

/**
 * Holds the reserves of a voided release back again: the next round releases them under another day, whose nonce is
 * unused. Returns false if the release is not void, or its reserves are held back already.
 */
export async function holdBackAgain(tx: Tx, context: ChangeContext, releaseId: string): Promise<boolean> {
  const parts = await takeVoidedParts(tx, releaseId)
  await changeLockedPayments(
    tx,
    context,
    parts.map(({ paymentId, of, micro }) => ({
      id: paymentId,
      change: (draft) => {
        const { reserveReleasedMicro, deduction } = draft.state.payment
        if (of === 'reserve')
          draft.setPayment({ reserveReleasedMicro: subtract(reserveReleasedMicro, micro), reserveReleaseId: null })
        else draft.setPayment({ deduction: deduction && { ...deduction, releaseId: null } })
        draft.addNote({
          ...createNote(`payment.${of}_held_again`, { reserve_release: releaseId }),
          actor: 'operator',
        })
      },
    })),
  )
  return parts.length > 0
}

/** False: another worker has done it, or the merchant has a release on each day until today. */
async function release(
  tx: Tx,
  { context, scope, getTreasury }: ReleaseDeps,
  { reserves, today }: { readonly reserves: DueReserves; readonly today: string },
): Promise<boolean> {
  const listed = await listDueParts(tx, scope, reserves)
  const locked = await lockPayments(tx, [...new Set(listed.map(({ paymentId }) => paymentId))])
  const due = listed.flatMap((part) => {
    const micro = readHeld(part, locked.get(part.paymentId)?.payment)
    return micro === '0' ? [] : { ...part, micro }
  })
  if (due.length === 0) return false
  const named = await nameRelease(tx, scope, { ...reserves, today })
  if (named === null) return false
  const parts = await pay(tx, { context, scope, getTreasury }, { ...reserves, ...named, due })
  await changeLockedPayments(
    tx,
    context,
    parts.map(({ paymentId, of, micro }) => ({
      id: paymentId,
      change: (draft) => {
        const { reserveReleasedMicro, deduction } = draft.state.payment
        if (of === 'reserve')
          draft.setPayment({ reserveReleasedMicro: add(reserveReleasedMicro, micro), reserveReleaseId: named.id })
        else draft.setPayment({ deduction: deduction && { ...deduction, releaseId: named.id } })
        draft.addNote(createNote(`payment.${of}_released`, { reserve_release: named.id, released_micro: micro }))
      },
    })),
  )
  return true
}

/** Returns the micro-USDC that the locked payment still holds back. */
function readHeld({ of }: ReleasePart, payment: Payment | undefined): MicroUsdc {
  if (of === 'reserve') return payment?.reservedMicro ?? '0'
  const deduction = payment?.deduction ?? null
  return deduction === null || deduction.releaseId !== null ? '0' : deduction.micro
}

type Release = DueReserves & { readonly id: string; readonly day: string; readonly due: readonly ReleasePart[] }

const sum = (parts: readonly ReleasePart[]): MicroUsdc => parts.reduce((total, { micro }) => add(total, micro), '0')

/** Stores the release with its payout. Returns its parts: what is due, or what the chain has paid by its nonce. */
async function pay(
  tx: Tx,
  { context, scope, getTreasury }: Omit<ReleaseDeps, 'db' | 'log'>,
  { due, ...release }: Release,
): Promise<readonly ReleasePart[]> {
  const { id, merchantId, day, wallet } = release
  const treasury = getTreasury(id)
  const paid = await readForgottenRelease(tx, scope, { id, treasury })
  const parts =
    paid === null || paid.micro === sum(due) ? due : await shareAccepted(tx, scope, { ...release, paid, due })
  const recipient = paid?.recipient ?? wallet
  const at = new Date(context.now()).toISOString()
  await storeRelease(tx, scope, { id, merchantId, day, recipient, micro: sum(parts), parts, treasury, at })
  return parts
}

/**
 * Shares what the chain has paid, if an operator has accepted that it is not what is due: first among the deductions, which
 * are released whole. Otherwise throws.
 */
async function shareAccepted(
  tx: Tx,
  scope: SettlementScope,
  { id, paid, due, ...reserves }: Release & { readonly paid: { readonly micro: MicroUsdc } },
): Promise<readonly ReleasePart[]> {
  const isAccepted = await isDifferenceAccepted(tx, scope, id)
  const listed = isAccepted ? await listWholeReserves(tx, scope, reserves) : []
  const locked = [...(await lockPayments(tx, listed)).values()]
  let left = paid.micro
  const deductions = due.filter(({ of, micro }) => {
    if (!isAccepted || of !== 'deduction' || BigInt(micro) > BigInt(left)) return false
    left = subtract(left, micro)
    return true
  })
  const shared = shareRelease(
    left,
    locked.map(({ payment }) => ({
      paymentId: payment.id,
      heldMicro: payment.reservedMicro,
      unreleasedMicro: subtract(getReserved(payment), payment.reserveReleasedMicro),
    })),
  )
  if (shared === null) throw new ReleaseDiffers(id, { paid: paid.micro, due: sum(due) })
  return [...deductions, ...shared.map((part) => ({ ...part, of: 'reserve' as const }))]
}
