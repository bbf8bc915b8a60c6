import type { StoredDecision } from '../../db/payments/decisions.ts'
import type { PayoutView } from '../../db/settlement/payouts.ts'
import { isCurrency } from '../../domain/currencies.ts'
import { formatAmount, formatUsdc } from '../../domain/money.ts'
import type { Offered } from '../../domain/payment/decision.ts'
import { type Account, freeUnits, isOdd } from '../../domain/payment/funds/account.ts'
import { withAnswer } from '../../domain/payment/funds/answer.ts'
import { type Funds, findOwnAccount, getLoss, getRest } from '../../domain/payment/funds/funds.ts'
import { toAccount, toFunds } from '../../domain/payment/funds/stored-funds.ts'
import { type Attempt, explorerUrl, type PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { stateText } from '../payouts.ts'

export type Explained = {
  readonly state: PaymentWithAttempts
  readonly payout: PayoutView | null
  readonly decisions: readonly StoredDecision[]
  /** By the number of the sale (ISO 8601). */
  readonly askedAt: ReadonlyMap<number, string>
}

export function listMoneyLines(explained: Explained): string[] {
  const { state, askedAt } = explained
  const funds = toFunds(state)
  const orders = state.attempts.flatMap((attempt) => [
    `attempt ${attempt.id}  ${attempt.provider} ${attempt.method}  ${attempt.status}  at the partner: ${attempt.partnerReference ?? 'unknown'}`,
    ...listAccountLines(funds, attempt, explained.decisions),
  ])
  const sales = state.sales.map(({ number, state: stage, units, accountId }) => {
    const account = funds.accounts.find(({ id }) => id === accountId)
    const sold = account === undefined ? units.toString() : unitsText(account, units)
    return `sale ${number} of ${sold}  ${stage}${stage === 'asked' ? `, without an answer since ${askedAt.get(number) ?? 'its start'}` : ''}`
  })
  return [...orders, ...sales, ...listUsdcLines(explained), ...listPayoutLines(explained)]
}

/** Null if the answer does what its name says. */
export function describeEffect(state: PaymentWithAttempts, { say, attempt, outside }: Offered): string | null {
  const funds = toFunds(state)
  const account = funds.accounts.find(({ id }) => id === attempt)
  if (say !== 'give_back' || account === undefined) return null
  if (outside !== true) return `the partner is asked to give back ${unitsText(account, freeUnits(account))}`
  const after = withAnswer(funds, { say, accountId: account.id, outside })
  const booked = (after.accounts.find(({ id }) => id === account.id)?.outside ?? 0n) - account.outside
  return `records that the buyer got ${unitsText(account, booked)} from elsewhere`
}

function unitsText({ asset }: Account, units: bigint): string {
  const minor = units.toString()
  return isCurrency(asset) ? `${formatAmount({ minor, currency: asset })} ${asset}` : usdcText(units)
}

const usdcText = (micro: bigint): string => `${formatUsdc(micro.toString())} USDC`

function listAccountLines(funds: Funds, attempt: Attempt, decisions: readonly StoredDecision[]): string[] {
  const account = toAccount(attempt)
  const { held, outside, back, returned } = account
  const rest = getRest(funds, account)
  const own = freeUnits(account) - rest
  const loss = getLoss(funds, account)
  const text = (units: bigint): string => unitsText(account, units)
  const facts: readonly (readonly [isSo: boolean, line: string])[] = [
    [held > 0n, `the partner has ${text(held)}`],
    [own > 0n, `of it ${text(own)} is the payment’s`],
    [rest > 0n, `of it ${text(rest)} is the buyer’s${describeUntil(funds, account)}`],
    [outside > 0n, `the buyer got ${text(outside)} from elsewhere`],
    [back !== 'no', 'it is going back through the partner'],
    [returned, 'money of it was given back'],
    [loss > 0n, `loss of ${text(loss)}${describeWriteOff(account, loss, decisions)}`],
  ]
  return facts.flatMap(([isSo, line]) => (isSo ? [`  ${line}`] : []))
}

/** Describes until when the buyer's money can still be taken by the payment. */
function describeUntil(funds: Funds, account: Account): string {
  if (!funds.listens || funds.taken !== null || findOwnAccount(funds) !== null) return ''
  if (isOdd(account)) return ', until an operator accepts the order'
  if (account.report === 'withheld') return ', until the partner releases it'
  if (account.report === 'confirming') return ', until the partner has confirmed it'
  return account.report === 'open' ? ', until the rest of the price has arrived' : ''
}

function describeWriteOff({ writtenOff }: Account, loss: bigint, decisions: readonly StoredDecision[]): string {
  if (writtenOff < loss) return ', not written off'
  const known = decisions.findLast(({ say }) => say === 'write_off')
  return `, written off${known === undefined ? '' : ` by ${known.operator}`}`
}

function listUsdcLines({ state: { payment, sales }, payout }: Explained): string[] {
  const { usdc, takenSale } = payment
  if (usdc === null) return []
  const fill = sales.find(({ number }) => number === takenSale)?.fill ?? BigInt(usdc.gross)
  if (payment.payout === 'void')
    return [`USDC: ${formatUsdc(fill.toString())} bought`, `The merchant gets nothing: ${describeVoid(payout)}`]
  return [
    `USDC: ${describeBought(fill, BigInt(usdc.gross))}, ${formatUsdc(usdc.fee)} fee, ${formatUsdc(usdc.net)} to the merchant`,
  ]
}

/** The merchant is paid by the locked rate, whatever the converter has bought. */
function describeBought(fill: bigint, gross: bigint): string {
  const [bought, due] = [formatUsdc(fill.toString()), formatUsdc(gross.toString())]
  if (fill === gross) return `${bought} bought`
  const size = formatUsdc((fill < gross ? gross - fill : fill - gross).toString())
  return `${due} by the locked rate (${bought} bought; the platform ${fill < gross ? 'bears' : 'gains'} ${size})`
}

function describeVoid(payout: PayoutView | null): string {
  if (payout === null) return 'nothing was paid out'
  const by = payout.proof === null ? 'its signatures have expired unused' : `canceled by ${payout.proof.txHash}`
  return `the payout is voided (${by})`
}

function listPayoutLines({ state: { payment }, payout }: Explained): string[] {
  if (payout === null) return []
  const why = payout.stopReason === null ? '' : ` (${payout.stopDetail ?? 'no detail'})`
  return [
    `payout ${stateText(payout.state, payout.stopReason)}${why} to ${payout.recipient}`,
    ...(payout.txHash === null ? [] : [`transaction ${explorerUrl(payment) ?? payout.txHash}`]),
  ]
}
