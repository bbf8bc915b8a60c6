import type { Hex } from '../domain/hex.ts'
import type { DepositLog, Sweep, Unswept } from '../domain/settlement/deposit.ts'
import type { Part, RestCause } from '../domain/settlement/part.ts'
import type {
  ChainCursor,
  Envelope,
  EnvelopeEnd,
  FinalizedScan,
  HoldReason,
  Lane,
  Lease,
  Observing,
  Payout,
  PayoutSignature,
  Reservation,
  Reserved,
  Sending,
  SignedPayout,
  TopUpRefusal,
  TreasuryLog,
} from '../domain/settlement/payout.ts'

/** Who asks for a lease, and how long it holds without renewal. */
export type LeaseAsk = { readonly owner: string; readonly leaseMs: number }

/** The right to read blocks, to sign, or to send with one wallet. */
export type LeaseName = 'observer' | 'signing' | { readonly lane: Hex }

/** A payment whose row could not be written together with its payout's. */
export type FailedHook = { readonly paymentId: string; readonly error: Error }

/**
 * A payout to be voided without a key to cancel it, and the Unix second after which none of its signatures is valid.
 */
export type Expiring = {
  readonly paymentId: string
  readonly treasury: Hex
  readonly authNonce: Hex
  readonly validBefore: number
}

/** A treasury that new payouts are not queued on any more, since when, and since when no engine has its key. Unix seconds. */
export type RetiredTreasury = {
  readonly treasury: Hex
  readonly retiredAt: number
  readonly keylessAt: number | null
}

/**
 * The treasury that new payouts are queued on, and the Unix second until which it may have signed what a restored database
 * has forgotten; null: it was never restored.
 */
export type CurrentTreasury = { readonly treasury: Hex; readonly restoredAt: number | null }

/** A nonce that another treasury would have used for the payment. */
export type Elsewhere = { readonly paymentId: string; readonly treasury: Hex; readonly authNonce: Hex }

/** A log, or gas of a transaction, of which the meaning could not be recorded yet. */
type FailedLog = (
  | { readonly txHash: string; readonly logIndex: number }
  | { readonly wallet: string; readonly nonce: number }
) & { readonly error: Error }

/** The wallets of every lane that a journal knows, also of those whose keys are gone, and transactions that they have signed. */
export type Senders = { readonly wallets: readonly Hex[]; readonly sent: ReadonlySet<Hex> }

/**
 * The engine's memory. Everything is stored here before it is sent, so that a process may die between any two calls.
 * Every method is one database transaction. Those that take a lease throw LeaseLostError when a newer epoch exists.
 */
export type SettlementJournal = {
  /** What there is to do. `underWay`: something may be on chain soon. */
  readWork(): Promise<{ sign: boolean; send: boolean; underWay: boolean }>
  /** Which parts of observing have something to do. */
  readDue(): Promise<{ pending: boolean; proven: boolean; mined: boolean; voiding: boolean }>
  readPayable(ask: { limit: number; after: Hex | null }): Promise<{ payouts: Payout[]; next: Hex | null }>
  countWaiting(): Promise<number>
  readUncancelled(ask: { keys: readonly Hex[]; limit: number }): Promise<Payout[]>
  /** Without those of the treasuries that rest. */
  readAssignable(ask: { limit: number; resting: readonly Hex[] }): Promise<SignedPayout[]>
  /** Micro-USDC that are promised, and still in the treasury at the block; and the last final block of the same moment. */
  readReserved(treasury: Hex, block: number): Promise<{ micro: bigint; final: number }>
  /** Which of the payments have payouts that were signed before. */
  readSignedBefore(paymentIds: readonly string[]): Promise<Set<string>>
  readAuthorizedSince(treasury: Hex, since: Date): Promise<bigint>
  /** Throws and stores nothing when a treasury would have authorized more than the limit within 24 hours. */
  storeSignatures(
    signed: readonly { paymentId: string; treasury: Hex; signature: PayoutSignature }[],
    limits: { readonly maxMicroPerDay: bigint },
  ): Promise<FailedHook[]>
  /** Does nothing while the payment refuses to be told: that is answered, and tried again half a minute later. */
  hold(held: { paymentId: string; reason: HoldReason; detail: string }): Promise<'held' | 'unchanged' | FailedHook>
  requeue(paymentIds: readonly string[]): Promise<void>

  recordTreasuries(known: { current: Hex; keyed: readonly Hex[]; keyless: readonly Hex[] }): Promise<void>
  readRetired(): Promise<RetiredTreasury[]>
  /** Null before the first engine has started. */
  readCurrentTreasury(): Promise<CurrentTreasury | null>
  readCancelled(nonces: readonly Elsewhere[]): Promise<Set<Hex>>
  recordElsewhere(nonces: readonly Elsewhere[]): Promise<void>
  /** Whether this engine may sign now: one does at a time. */
  leaseSigning(ask: LeaseAsk): Promise<boolean>
  /** Prolongs that; false when another engine has had it since, and may have promised the same money. */
  renewSigning(ask: LeaseAsk): Promise<boolean>
  /** Stores how a round of a part ended, unless another engine has the lease of the part now. */
  reportPart(report: {
    owner: string
    part: Part
    isDone: boolean
    cause: RestCause | null
    failure: string | null
  }): Promise<void>
  leaseLane(wallet: Hex, ask: LeaseAsk & { firstNonce: number }): Promise<Lane | null>
  releaseLeases(owner: string): Promise<void>
  /** Gives one of them back, if the owner has it still. */
  giveBack(owner: string, lease: LeaseName): Promise<void>
  setLaneStatus(lane: Lane, change: { status: Lane['status']; reason: string | null }): Promise<void>
  adoptNonces(lane: Lane, nextNonce: number): Promise<void>
  reserve(lane: Lane, ask: Reservation): Promise<Reserved | null>
  reserveTopUp(
    lane: Lane,
    ask: { target: Hex; value: bigint; least: bigint; gasLimit: bigint; maxWeiPerDay: bigint; mined: number },
  ): Promise<{ nonce: number; value: bigint } | { refused: TopUpRefusal }>
  storeAttempt(
    lane: Lane,
    attempt: { nonce: number; txHash: Hex; raw: Hex; maxFee: bigint; tip: bigint; signedBlock: number },
  ): Promise<void>
  markSent(lane: Lane, sent: { nonce: number; txHash: Hex; at: Date; answer: string; accepted: boolean }): Promise<void>
  /** The wallets of every lane that this journal knows, also of those whose keys are gone. */
  readLaneWallets(): Promise<Hex[]>
  /** With those of the transactions that this journal has. */
  readSenders(txHashes: readonly Hex[]): Promise<Senders>
  /** Final transactions with logs of our treasuries that lanes of ours may have sent and this journal has not, the newest first. */
  readForgottenTransactions(limit: number): Promise<Hex[]>
  readEnvelopes(lane: Lane): Promise<Envelope[]>
  /** Whether the envelope has items that have not ended and have not left it. */
  isWanted(lane: Lane, nonce: number): Promise<boolean>
  /** Lanes with open envelopes that nobody has advanced for so long and that are none of `keyed`: for ending envelopes. */
  takeKeyless(ask: { idleMs: number; keyed: readonly Hex[] }): Promise<Lane[]>
  freeStranded(ask: {
    idleMs: number
    slow: readonly { wallet: Hex; nonce: number }[]
    carriers: readonly Hex[]
  }): Promise<{ wallet: Hex; count: number }[]>
  readCalldata(lane: Lane, nonce: number): Promise<Hex>
  readRaw(txHash: Hex): Promise<Hex>
  endEnvelopes(lane: Lane, ended: { ends: readonly EnvelopeEnd[]; chainTime: number }): Promise<string[]>

  readUnswept(ask: { after: string; limit: number }): Promise<Unswept[]>
  /** Sweeps in no transaction that go to another treasury, or expire before the Unix second. */
  readStaleSweeps(ask: { treasury: Hex; validUntil: number; after: string; limit: number }): Promise<Sweep[]>
  renewSweep(sweep: Sweep): Promise<void>
  storeSweep(sweep: Sweep): Promise<void>
  readSendableSweeps(ask: { treasury: Hex; validAt: number; limit: number }): Promise<Sweep[]>
  reserveSweeps(
    lane: Lane,
    ask: {
      paymentIds: readonly string[]
      encode: (sweeps: readonly Sweep[]) => Sending
    },
  ): Promise<Reserved | null>
  abandonSweep(sweep: Pick<Sweep, 'paymentId' | 'index'>): Promise<void>

  /** `past`: those of a time that is over, in Unix seconds; null: those of now. */
  readWatchedDeposits(past: { from: number; to: number } | null): Promise<Hex[]>
  leaseObserver(ask: LeaseAsk & { start: { number: number; hash: Hex } }): Promise<Observing | null>
  /** Prolongs what the owner still holds. */
  renewLeases(ask: LeaseAsk & { part: 'observer' | 'lanes' }): Promise<void>
  readCursor(): Promise<ChainCursor | null>
  recordDeposits(
    lease: Lease,
    found: { logs: readonly DepositLog[]; at: Date; number: number; again: boolean },
  ): Promise<void>
  recordFinalized(lease: Lease, scan: FinalizedScan): Promise<TreasuryLog[]>
  /** Whether this journal has every one of these logs. */
  areStored(logs: readonly Pick<TreasuryLog, 'txHash' | 'logIndex'>[]): Promise<boolean>
  findUnknown(scan: Pick<FinalizedScan, 'logs' | 'ownTransactions' | 'treasuries'>): Promise<TreasuryLog[]>
  /** Those of which payouts and movements tell nothing: found at once, however many payments there are. */
  findSuspects(scan: Pick<FinalizedScan, 'logs' | 'ownTransactions' | 'treasuries'>): Promise<TreasuryLog[]>
  pause(why: { reason: string; untilFinal: number | null }): Promise<void>
  applyPending(limit: number): Promise<{ applied: number; failed: FailedLog[] }>
  applyProven(limit: number): Promise<{ ended: number; failed: FailedHook[] }>
  readOpenNonces(ask: { after: string; limit: number }): Promise<{ paymentId: string; treasury: Hex; authNonce: Hex }[]>
  /** Queues what final transfers have paid of payments that hand nothing over any more. Answers how many. */
  queueForgotten(): Promise<number>
  /** What was signed before the Unix second is dead, and read if it was paid: a backup from before has nothing left to forget. */
  endRestored(before: number): Promise<void>
  storeFindings(paymentIds: readonly string[]): Promise<void>
  /** Tells people of payouts that cannot be voided, because another treasury has paid them. */
  storePaidElsewhere(found: readonly { paymentId: string; detail: string }[]): Promise<void>
  readExpiring(ask: { keys: readonly Hex[]; leaseSeconds: number; limit: number }): Promise<Expiring[]>
  /** Has voids that wait for a proof looked at so many seconds later, and others before them. */
  restVoids(waiting: readonly { paymentId: string; seconds: number }[]): Promise<void>
  voidExpired(
    lease: Lease,
    found: { block: { number: number; hash: Hex; timestamp: number; at: Date }; unused: readonly Expiring[] },
  ): Promise<FailedHook[]>
  markMined(
    lease: Lease,
    view: {
      seen: readonly { authNonce: Hex; blockNumber: number; blockHash: Hex }[]
      /** Hashes of every block after the cursor that was looked at. */
      chain: readonly Hex[]
      /** Blocks that were not, up to one and from another on: what was seen there once is believed until they are final. */
      unseen: { above: number; upTo: number; from: number }
    },
  ): Promise<{ mined: number; reverted: number }>
}
