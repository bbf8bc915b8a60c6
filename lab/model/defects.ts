import type { Edit } from '../../test/model/time/load.ts'

/** Bugs that were there once, or nearly: each an edit of the source as it is loaded, which the model must catch. */
export type Defect = { readonly name: string } & Edit

const MONEY = 'src/domain/payment/money'

export const DEFECTS: readonly Defect[] = [
  {
    name: 'a refund that is being carried out does not stop a payout',
    file: `${MONEY}/intents.ts`,
    find: "  if (intents.some(({ attemptId }) => attemptId === null || attemptId === paidAttemptId)) return 'decided'\n",
    put: '',
  },
  {
    name: 'a hold leaves the payout with the engine',
    file: 'src/activities/payment/decision.ts',
    find: "if (effect.payout === 'hold' && !(await deps.payouts.hold(work.tx, paymentId, order.reason)))",
    put: 'if (false)',
  },
  {
    name: 'news that was repeated once is forgotten',
    file: 'src/db/payments/partner-events.ts',
    find: 'update partner_event e set repeats = e.repeats + 1,',
    put: 'update partner_event e set repeats = e.repeats + 1, applied_at = now(),',
  },
  {
    name: 'money reversed after the conversion is paid out all the same',
    file: `${MONEY}/going.ts`,
    find: '    voidsPayout: true,',
    put: '    voidsPayout: false,',
  },
  {
    name: 'a top-up of an underpaid payment is surplus',
    file: `${MONEY}/coming.ts`,
    find: "const completes = paidAttemptId === attempt.id && attempt.status === 'underpaid' && !payment.converted",
    put: 'const completes = false as boolean',
  },
  {
    name: 'a second payment counts as the first',
    file: `${MONEY}/coming.ts`,
    find: "const isFirst = paidAttemptId === null && attempt.status !== 'surplus' && attempt.status !== 'refunded'",
    put: 'const isFirst = true as boolean',
  },
  {
    name: 'USDC is booked as fiat',
    file: 'src/domain/ledger.ts',
    find: "  if (part.asset === 'USDC') return bookingOfUsdc(part, payment)\n",
    put: '',
  },
  {
    name: 'suspense never clears after a reversal',
    file: 'src/domain/ledger.ts',
    find: "fiatLines('fiat_given_back', fact, [part.account, 'partner_receivable'])\n    case 'return'",
    put: "fiatLines('fiat_given_back', fact, ['merchant_payable', 'partner_receivable'])\n    case 'return'",
  },
  {
    name: 'a chargeback leaves no record',
    file: `${MONEY}/going.ts`,
    find: "return { ...kept, incident: 'chargeback' }",
    put: 'return kept',
  },
  {
    name: 'late money has no workflow',
    file: 'src/workflows/payment.ts',
    find: '      this.#announcer.track(startLateMoney({ paymentId: this.#id, attemptId }))\n',
    put: '',
  },
  {
    name: 'a part of the price is closed away at the expiry',
    file: 'src/activities/payment/partner-orders.ts',
    find: '  const part = partOfPrice(work.state)\n',
    put: '  const part = null as ReturnType<typeof partOfPrice>\n',
  },
  {
    name: 'a confirmation that is withdrawn leaves the payment processing',
    file: `${MONEY}/going.ts`,
    find: "  if (wasConfirming && payment.status === 'processing' && !others.includes('confirming'))\n    return { ...effect, moves: [{ to: 'pending', why: 'withdrawn' }] }\n",
    put: '',
  },
  {
    name: 'an old answer takes newer money away',
    file: 'src/activities/payment/partner-news.ts',
    find: '  if (takesAway(effect) && isOutdated(asked, work.state)) return false\n',
    put: '',
  },
  {
    name: 'a request that fails is never answered',
    file: 'src/workflows/requests.ts',
    find: '        await result.catch(() => undefined)\n',
    put: '        await result\n',
  },
  {
    name: 'a decision goes on without asking for the money',
    file: 'src/domain/payment/decision.ts',
    find: '  return why === null ? null : NOT_FREE[why]\n',
    put: '  return why === null ? null : null\n',
  },
  {
    name: 'a closing forgets what it has read',
    file: 'src/activities/payment/partner-orders.ts',
    find: "      for (const item of news) await applyOrder(work, deps, item)\n      if (as === 'listening_ended')",
    put: "      if (as === 'listening_ended')",
  },
  {
    name: 'a fill far off the locked rate is taken',
    file: 'src/activities/payment/settlement.ts',
    find: '      if (!mayTake(deps, { gross, filled, fill })) return setAside(work, { gross, filled, reference })\n',
    put: '',
  },
  {
    name: 'the end of a payout is not recorded as the end of its void',
    file: 'src/settlement/hooks.ts',
    find: "      await endVoid(work, 'done')\n",
    put: '',
  },
]
