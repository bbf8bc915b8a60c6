import * as balance from './balance.ts'
import type { JournalContext } from './context.ts'
import * as cursor from './cursor.ts'
import * as deposits from './deposits.ts'
import * as envelopes from './envelopes.ts'
import * as expired from './expired-payouts.ts'
import * as lanes from './lanes.ts'
import * as lead from './lead.ts'
import * as logs from './logs.ts'
import * as mined from './mined-payouts.ts'
import * as forgotten from './observer/forgotten-payouts.ts'
import * as pauses from './observer/pause.ts'
import * as pending from './observer/pending-logs.ts'
import * as reconcile from './observer/reconcile.ts'
import * as parts from './parts.ts'
import * as proven from './proven-payouts.ts'
import * as queue from './queue.ts'
import { listRelayers } from './rebuild.ts'
import * as signatures from './signing/signatures.ts'
import * as treasuries from './signing/treasuries.ts'

const bindTo =
  (context: JournalContext) =>
  <A extends unknown[], R>(method: (context: JournalContext, ...args: A) => R) =>
  (...args: A): R =>
    method(context, ...args)

/**
 * Creates the engine's memory, for one mode, chain and token. Everything is stored here before it is sent, so that a
 * process can die between any two calls. Each method is one transaction. Those that take a lease throw LeaseLostError
 * if a newer epoch exists.
 */
export function createSettlementJournal(context: JournalContext) {
  const bind = bindTo(context)
  return {
    ...bindDeposits(context),
    lead: bind(lead.lead),
    renewLead: bind(cursor.renewLead),
    releaseLead: bind(cursor.releaseLead),
    openCursor: bind(cursor.openCursor),
    readCursor: bind(cursor.readCursor),
    moveCursor: bind(cursor.moveCursor),
    moveLogs: bind(cursor.moveLogs),
    readPayable: bind(queue.readPayable),
    countWaiting: bind(queue.countWaiting),
    readUncanceled: bind(queue.readUncanceled),
    readAssignable: bind(queue.readAssignable),
    readReserved: bind(signatures.readReserved),
    readSignedBefore: bind(signatures.readSignedBefore),
    readAuthorizedSince: bind(signatures.readAuthorizedSince),
    storeSignatures: bind(signatures.storeSignatures),
    stop: bind(queue.stop),
    requeue: bind(queue.requeue),
    stampTreasuries: bind(treasuries.stampTreasuries),
    reportPart: bind(parts.reportPart),
    openLane: bind(lanes.openLane),
    setLaneStatus: bind(lanes.setLaneStatus),
    adoptNonces: bind(lanes.adoptNonces),
    reserve: bind(lanes.reserve),
    reserveTopUp: bind(lanes.reserveTopUp),
    storeAttempt: bind(lanes.storeAttempt),
    markSent: bind(lanes.markSent),
    readLaneWallets: () => listRelayers(context.db, context.scope.chainId),
    readForgottenTransactions: bind(logs.readForgottenTransactions),
    isWanted: bind(envelopes.isWanted),
    freeStranded: bind(envelopes.freeStranded),
    readCalldata: bind(lanes.readCalldata),
    readRaw: bind(lanes.readRaw),
    endEnvelopes: bind(lanes.endEnvelopes),
    recordLogs: bind(logs.recordLogs),
    listStrange: bind(logs.listStrange),
    pause: bind(pauses.pause),
    readTreasuryBooks: bind(balance.readTreasuryBooks),
    bookMore: bind(balance.bookMore),
    storeMissing: bind(balance.storeMissing),
    noteComparison: bind(balance.noteComparison),
    applyPending: bind(pending.applyPending),
    applyProven: bind(proven.applyProven),
    readOpenNonces: bind(reconcile.readOpenNonces),
    queueForgotten: bind(forgotten.queueForgotten),
    storeFindings: bind(reconcile.storeFindings),
    storeDepositFinding: bind(reconcile.storeDepositFinding),
    dropDepositFindings: bind(reconcile.dropDepositFindings),
    readExpiring: bind(expired.readExpiring),
    rest: bind(expired.rest),
    moveDead: bind(expired.moveDead),
    voidExpired: bind(expired.voidExpired),
    readSent: bind(mined.readSent),
    markMined: bind(mined.markMined),
  }
}

export type SettlementJournal = ReturnType<typeof createSettlementJournal>

function bindDeposits(context: JournalContext) {
  const bind = bindTo(context)
  return {
    recordDeposits: bind(deposits.recordDeposits),
    recordReturns: bind(deposits.recordReturns),
    listReturning: bind(deposits.listReturning),
    moveDeposits: bind(deposits.moveDeposits),
    readWatchedDeposits: bind(deposits.readWatchedDeposits),
    listDepositAddresses: bind(deposits.listDepositAddresses),
    readUnswept: bind(deposits.readUnswept),
    readStaleSweeps: bind(deposits.readStaleSweeps),
    renewSweep: bind(deposits.renewSweep),
    storeSweep: bind(deposits.storeSweep),
    readSendableSweeps: bind(deposits.readSendableSweeps),
    reserveSweeps: bind(deposits.reserveSweeps),
    abandonSweep: bind(deposits.abandonSweep),
    refuseSweeps: bind(deposits.refuseSweeps),
    readFundings: bind(deposits.readFundings),
    refuseFunding: bind(deposits.refuseFunding),
  }
}
