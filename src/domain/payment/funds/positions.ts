import type { Account as LedgerAccount, Line } from '../../ledger.ts'
import { type Account, freeUnits, isDust, isOnChain } from './account.ts'
import {
  type Funds,
  findOwnAccount,
  findSoldAccount,
  getRefunded,
  getRest,
  getSeized,
  getShortage,
  type Sale,
} from './funds.ts'

/**
 * The books of a payment are a function of its funds: what each ledger account has of each asset because of it. A
 * booking is the difference of two positions, so every booking balances, and money that moves back is booked back.
 */
export type Positions = ReadonlyMap<string, bigint>

type Put = (account: LedgerAccount, asset: string, units: bigint) => void

export function computePositions(funds: Funds): Positions {
  const positions = new Map<string, bigint>()
  const put: Put = (account, asset, units) => {
    const key = `${account} ${asset}`
    const sum = (positions.get(key) ?? 0n) + units
    if (sum === 0n) positions.delete(key)
    else positions.set(key, sum)
  }
  for (const account of funds.accounts) putAccount(put, funds, account)
  for (const sale of funds.sales) putSale(put, funds, sale)
  put('merchant_payable', 'USDC', funds.paidOut)
  put('treasury', 'USDC', -funds.paidOut)
  return positions
}

function putAccount(put: Put, funds: Funds, account: Account): void {
  const { asset, held, outside } = account
  const isSold = findSoldAccount(funds)?.id === account.id
  const isOwn = !isSold && findOwnAccount(funds)?.id === account.id
  // USDC at an address of the platform was booked to `suspense` when the chain proved it.
  put(isOnChain(account) ? 'suspense' : 'partner_receivable', asset, held)
  // Money that the partner still has although the buyer got it from elsewhere belongs to the platform. What the partner
  // took back as well is lost.
  put('exchange', asset, outside < held ? -outside : -held)
  const owed = isOwn ? freeUnits(account) : getRest(funds, account)
  const isDustOfPlatform = !isOwn && isDust(account, owed)
  const liability = isOwn ? 'merchant_payable' : 'suspense'
  put(isDustOfPlatform ? 'exchange' : liability, asset, -owed)
  put('chargeback_loss', asset, getShortage(funds, account))
  // The merchant paid for what refunds take, in USDC that is booked to `exchange` as well.
  put('exchange', asset, getRefunded(funds, account))
}

/** A sale stays a sale: if it is not paid out, it was made for the platform's account. */
function putSale(put: Put, funds: Funds, sale: Sale): void {
  const asset = funds.accounts.find(({ id }) => id === sale.accountId)?.asset
  if (sale.fill === null || asset === undefined) return
  const taken = findSoldAccount(funds) !== null && funds.taken?.number === sale.number ? funds.taken : null
  put('conversion', asset, -sale.units)
  put('conversion', 'USDC', sale.fill)
  if (taken === null) {
    put('exchange', asset, sale.units)
    put('exchange', 'USDC', -sale.fill)
    return
  }
  put('fee_revenue', 'USDC', -taken.fee)
  const { released } = funds
  const deducted = funds.isDeductionReleased ? 0n : taken.deducted
  const seized = getSeized(funds)
  // The payout pays the net amount without the reserve and the deduction; once released, a separate payout pays them.
  put('merchant_payable', 'USDC', taken.fee + taken.reserve + deducted - taken.gross - released)
  put('reserve', 'USDC', seized + released - taken.reserve - deducted)
  put('chargeback_loss', 'USDC', -seized)
  put('exchange', 'USDC', taken.gross - sale.fill)
}

/** Lists the lines that lead from one position to the other; they sum to zero for each asset. */
export function listLinesBetween(before: Positions, after: Positions): Line[] {
  const keys = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  return keys.flatMap((key) => {
    const amount = (after.get(key) ?? 0n) - (before.get(key) ?? 0n)
    const [account = '', asset = ''] = key.split(' ')
    return amount === 0n ? [] : [{ account: account as LedgerAccount, asset, amount: amount.toString() }]
  })
}
