import type { Defect } from './defect.ts'

const MONEY = 'src/domain/payment/money'

/** What a review proved, and what stands beside it. */
export const PROVED_DEFECTS: readonly Defect[] = [
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
    and: [
      {
        file: 'src/workflows/payment/orders.ts',
        find: '        unread.add(attemptId)\n',
        put: '',
      },
    ],
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
    find: "const isFirst = paidAttemptId === null && attempt.status !== 'surplus' && !isGivenBack",
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
    and: [
      {
        file: 'src/worker/orphans.ts',
        find: 'return (await adoptPayments(deps)) + (await adoptLateMoney(deps))',
        put: 'return adoptPayments(deps)',
      },
    ],
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
    name: 'a request that fails is never answered',
    file: 'src/workflows/payment/requests.ts',
    find: '        await result.catch(() => undefined)\n',
    put: '        await result\n',
  },
  {
    name: 'nobody asks whether the money is free to go on',
    file: `${MONEY}/intents.ts`,
    find: "  if (intents.some((intent) => decidesAbout(intent, paidAttemptId))) return 'decided'\n",
    put: '  if (paidAttemptId !== null) return null\n',
    and: [
      {
        file: 'src/db/payments/payment-writes.ts',
        find: 'const free = isMoneyStep ? ',
        put: 'const free = (false as boolean) ? ',
      },
    ],
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
  {
    name: 'a refund is asked for without a record of it',
    file: 'src/activities/payment/refund.ts',
    find: "await work.ask({ key, kind: 'refund', attemptId: attempt.id, operator, reason })",
    put: "{ id: '', key, kind: 'refund' as const, attemptId: attempt.id, operator, reason, state: 'asked' as const }",
    and: [
      {
        file: 'src/activities/payment/refund.ts',
        find: "      await work.restate(attempt.id, { from: claim.states, to: 'returning' })\n",
        put: '',
      },
    ],
  },
  {
    name: 'the rest of an underpaid crypto payment is our gain',
    file: 'src/activities/payment/settlement.ts',
    find: "const counted = unitSum(parts, { attemptId: payment.paidAttemptId, states: ['counted'] })",
    put: "const counted = unitSum(parts, { attemptId: payment.paidAttemptId, states: ['counted', 'surplus', 'late'] })",
  },
  {
    name: 'after a void there is no decision that ends the payment',
    file: 'src/domain/payment/payment.ts',
    find: "is to be given back.',\n    decisions: ['refund', 'recordExternalRefund'],",
    put: "    text: 'The payout was voided with proof. The USDC is in the treasury.',\n    decisions: ['retry'],",
  },
  {
    name: 'a confirmation that is withdrawn after the expiry leaves the payment open',
    file: 'src/workflows/clocks.ts',
    find: "      if (isPast(now)) return 'expired'\n",
    put: '',
  },
  {
    name: 'more USDC after the end is news to nobody',
    file: 'src/domain/payment/partner-news.ts',
    find: '  const receipts = newReceipts(story)\n  const missing',
    put: "  const receipts = story.payment.listenEnded || story.payment.status === 'succeeded' ? [] : newReceipts(story)\n  const missing",
  },
  {
    name: 'a conversion that is open at the end is forgotten',
    file: 'src/domain/payment/snapshot.ts',
    find: "      if (isConversionLeft(payment)) return 'end_conversion'\n",
    put: '',
  },
  {
    name: 'a conversion is waited for without end',
    file: 'src/workflows/options.ts',
    find: '  overdueMs: 30 * 60_000,',
    put: '  overdueMs: 30_000 * 60_000,',
  },
  {
    name: 'a partner that is confirming is waited for without end',
    file: 'src/workflows/payment.ts',
    find: "    if (step === 'await_partner') this.#clocks.watchSilence()\n",
    put: '',
  },
  {
    name: 'a refund by the partner itself is not seen',
    file: 'src/domain/payment/partner-news.ts',
    find: "      return gone(story, { to: 'refunded', failureCode: null })",
    put: '      return nothing(story.attempt.status)',
  },
  {
    name: 'of two attempts that a refund could be of, the first is taken',
    file: 'src/domain/payment/refund.ts',
    find: '  if (claim !== undefined && another === undefined && byHand.length === 0)\n',
    put: '  if (claim !== undefined)\n',
  },
  {
    name: 'an old rate is taken',
    file: 'src/providers/converter/rates.ts',
    find: 'return age <= OLDEST_RATE_SECONDS * 1000 && age',
    put: 'return age',
  },
  {
    name: 'a hold before the conversion ends where nothing is allowed',
    file: `${MONEY}/decided.ts`,
    find: "because('held_before_conversion', told(note)), parked('operator_hold')",
    put: "because('held_before_conversion', told(note)), parked('funds_reversed')",
  },
  {
    name: 'an unexpected settlement is seen by nobody',
    file: 'src/settlement/settled.ts',
    find: "  await work.openIncident({ kind: 'unexpected_settlement', attemptId: null })\n",
    put: '',
  },
  {
    name: 'a misfit on a payment that has ended vanishes',
    file: 'src/domain/payment/partner-news.ts',
    find: "nothing(to), incident: 'misfit', park",
    put: 'nothing(to), incident: null, park',
  },
  {
    name: 'a workflow of late money that was lost is not started again',
    file: 'src/worker/orphans.ts',
    find: 'return (await adoptPayments(deps)) + (await adoptLateMoney(deps))',
    put: 'return adoptPayments(deps)',
  },
  {
    name: "one order's decline fails another one's hold",
    file: `${MONEY}/going.ts`,
    find: '(isHeld || wasAwaited) && awaitedBeside(story) === null)',
    put: '(isHeld || wasAwaited))',
  },
  {
    name: 'a payment without its amount counts as nothing',
    file: 'src/domain/payment/partner-news.ts',
    find: "  if (order.status === 'paid' && !hasMoney(order)) return 'no_amount'\n",
    put: '',
  },
  {
    name: 'a settlement that takes too long is marked by the next poll',
    file: 'src/workflows/clocks.ts',
    find: '      if (paidAt !== null && nextPollAt > paidAt + delayedAfterMinutes * 60_000) startDelay()\n',
    put: '',
  },
  {
    name: 'late money that has gone opens a canceled payment',
    file: `${MONEY}/going.ts`,
    find: "canceledAt === null ? [toBuyer] : [toBuyer, { to: 'canceled', why: 'canceled_before' }]",
    put: '[toBuyer]',
  },
  {
    name: 'a payment that is over is said to be delayed',
    file: 'src/db/payments/payment-changes.ts',
    find: 'const left = isClosed(to) ? exceptionAtEnd(exception) : exception\n',
    put: 'const left = exception\n',
  },
  {
    name: 'a check of the buyer covers the exception of a payment that has ended',
    file: 'src/domain/payment/partner-news.ts',
    find: "effect.attempt === 'verification_required' && (status === 'created' || status === 'pending')",
    put: "effect.attempt === 'verification_required' && status !== 'processing'",
  },
  {
    name: 'a canceled order with money is believed dead',
    file: 'src/domain/payment/partner-news.ts',
    find: 'return hasMoney(story.order) ? paid(story) : gone(',
    put: 'return gone(',
  },
  {
    name: 'a refused order with money is believed dead',
    file: 'src/domain/payment/partner-news.ts',
    find: '  if (hasMoney(order) && !wasSeen) return misfit(story)\n',
    put: '',
  },
  {
    name: 'a chargeback is not told to the merchant',
    file: 'src/db/payments/payment-changes.ts',
    find: "      if (incident.kind === 'chargeback') announce('payment.chargeback')\n",
    put: '',
  },
  {
    name: 'a part of the price stays counted when another order is paid',
    file: 'src/db/payments/payment-changes.ts',
    find: "  await work.restate(attemptId, { from: ['counted'], to: moved.length === 0 ? 'surplus' : 'reversed' })\n",
    put: '',
  },
]
