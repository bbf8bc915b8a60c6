import type { Defect } from './defect.ts'

const MONEY = 'src/domain/payment/money'

/** What the model has found itself. */
export const FOUND_DEFECTS: readonly Defect[] = [
  {
    name: 'what the partner takes back of ours is in no book',
    file: `${MONEY}/going.ts`,
    find: 'const ours = atMost(missing, returnedOutside(payment.parts, attempt.id))',
    put: "const ours = '0' as string",
  },
  {
    name: 'what the partner holds back is sold by a decision',
    file: 'src/activities/payment/partner-orders.ts',
    find: '      withheld = heard.understood && order !== null && isWithheld(work.state, order)\n',
    put: '',
  },
  {
    name: 'a refunded payment names a fee',
    file: 'src/domain/payment/payment-object.ts',
    find: 'return isVoid && transfer === null ? null : usdc',
    put: 'return usdc',
  },
  {
    name: 'what the buyer has twice is seen by nobody',
    file: 'src/activities/payment/partner-news.ts',
    find: "    await work.openIncident({ kind: 'outside_reversed', attemptId: attempt.id })\n",
    put: '',
  },
  {
    name: 'one more order that does not fit is seen by nobody',
    file: 'src/domain/payment/partner-news.ts',
    find: "nothing(to), incident: 'misfit', park",
    put: "nothing(to), incident: isOneMore ? null : 'misfit', park",
  },
  {
    name: 'own money that goes by itself ends the payment beside a misfit',
    file: `${MONEY}/going.ts`,
    find: "  if (isMisfitBeside(payment, attempt.id)) return { ...effect, money: 'give_back' }\n",
    put: '',
    // What does not fit would be waited for as what the partner holds back.
    and: [
      {
        file: `${MONEY}/going.ts`,
        find: "  if (others.includes('on_hold')) return 'partner_hold'\n",
        put: "  if (others.includes('on_hold') && payment.parkReason !== 'amount_mismatch') return 'partner_hold'\n",
      },
    ],
  },
  {
    name: 'too little money takes the place of a misfit',
    file: `${MONEY}/coming.ts`,
    find: "park: isParked && payment.parkReason === 'amount_mismatch' ? payment.parkReason : 'underpaid',",
    put: "park: 'underpaid',",
  },
  {
    name: 'another token waits for nobody once the payment goes on',
    file: 'src/settlement/deposit-hook.ts',
    find: "  if (!deposit.expected && !isDust(deposit)) await work.openIncident({ kind: 'misfit', attemptId })\n",
    put: '',
  },
  {
    name: 'money that does not fit ends the payment, whatever else is counted',
    file: 'src/domain/payment/refund.ts',
    find: 'isParked && countedBeside(parts, attempt.id).length === 0',
    put: 'isParked',
  },
  {
    name: 'an answer from before a reversal books the money once more',
    file: 'src/activities/payment/partner-news.ts',
    find: "if ((effect.parts.length > 0 || effect.incident === 'misfit') && isGone) return true",
    put: "if (effect.incident === 'misfit' && isGone) return true",
  },
  {
    name: 'another amount is asked for under the old key',
    file: 'src/activities/payment/settlement.ts',
    find: '  if (payment.conversionStale !== null) {',
    put: '  if (false as boolean) {',
  },
  {
    name: 'USDC that was bought for nobody waits for nobody',
    file: 'src/domain/payment/snapshot.ts',
    find: "  return payment.fillLeft && payment.listenUntil === null ? 'fill_left' : null\n",
    put: '  return null\n',
  },
  {
    name: 'money that becomes too little while it is held is settled',
    file: `${MONEY}/decided.ts`,
    find: "  const isTooLittle = resumes && payment.usdc === null && paid?.status === 'underpaid'\n",
    put: '  const isTooLittle = false as boolean\n',
  },
  {
    name: 'money that goes in part while the conversion waits is enough',
    file: `${MONEY}/going.ts`,
    find: "waitsForPartner(reason) || reason === 'conversion'",
    put: 'waitsForPartner(reason)',
    // Another try of the conversion would find too little, and leave it to an operator after all.
    and: [
      {
        file: `${MONEY}/decided.ts`,
        find: "  const isTooLittle = resumes && payment.usdc === null && paid?.status === 'underpaid'\n",
        put: '  const isTooLittle = false as boolean\n',
      },
    ],
  },
  {
    name: 'a refused cancellation of an order is asked for without end',
    file: `${MONEY}/intents.ts`,
    find: "  return attempt === 'opening' || attempt === 'open' || attempt === 'verification_required' ? 'pending' : 'refused'\n",
    put: "  return 'pending'\n",
  },
  {
    name: 'an order that the partner has changed cannot be taken as it is',
    file: `${MONEY}/decided.ts`,
    find: '    acknowledged: { attemptId, minor: misfit.amount.minor },\n',
    put: '',
  },
  {
    name: 'a payout is signed although a changed order has less than was paid',
    file: 'src/activities/payment/partner-news.ts',
    find: '  if (misfit !== null) await stopOrGoOn(work, deps.payouts, { attemptId: attempt.id, misfit })\n',
    put: '',
  },
  {
    name: 'a changed order that is over and holds nothing is waited for',
    file: 'src/domain/payment/partner-news.ts',
    find: 'return ends ? gone(story, { to: status, failureCode }) : misfit(story)',
    put: 'return misfit(story)',
  },
  {
    name: 'USDC is settled beside the open conversion of money that went',
    file: 'src/activities/payment/settlement.ts',
    find: '  if (payment.conversionStale !== null) {',
    put: "  if (payment.conversionStale !== null && payment.providerUsed !== 'crypto') {",
  },
  {
    name: 'what was refunded is a misfit again',
    file: 'src/domain/payment/partner-news.ts',
    find: "  order.status !== 'refunded' && (order.status === 'paid'",
    put: "  (order.status === 'paid'",
  },
  {
    name: 'an approval accepts what nobody has looked at',
    file: 'src/activities/payment/decision.ts',
    find: '  if (DECISIONS[decision].accepts !== true || version === state.payment.version) return true\n',
    put: '  if (DECISIONS[decision].accepts !== true || version !== null) return true\n',
    and: [
      {
        file: 'src/domain/payment/decision.ts',
        find: '  return version !== undefined && version < known ? CHANGED_SINCE.why : null\n',
        put: '  return version !== undefined && version < 0 ? CHANGED_SINCE.why : null\n',
      },
    ],
  },
  {
    name: 'money that was lost after the payout and comes again is a second payment',
    file: 'src/domain/payment/money/coming.ts',
    find: "if (!isOurs || !isOwn) return '0'",
    put: "return '0'",
  },
  {
    name: 'a buyer who was given more time is too late all the same',
    file: 'src/activities/payment/partner-orders.ts',
    find: "as === 'expired' && isExtended(deps, payment, expiresAt)",
    put: 'false as boolean',
  },
  {
    name: 'an end that was moved is watched by nobody',
    file: 'src/workflows/clocks.ts',
    find: '      if (expiresAt > watchedUntil) watchExpiry()\n',
    put: '',
    // The next poll would end it too, if later.
    and: [
      {
        file: 'src/workflows/clocks.ts',
        find: "      if (isPast(now)) return 'expired'\n",
        put: '',
      },
    ],
  },
  {
    name: 'what comes beside another token closes its incident',
    file: 'src/activities/payment/refund.ts',
    find: 'const isAll = endsPayment || states.length === 0',
    put: 'const isAll = true as boolean',
  },
  {
    name: 'a clock that is behind looks too early, and nobody looks again',
    file: 'src/activities/payment/payment-row.ts',
    find: ' + CLOCKS_DIFFER_MS) return',
    put: ') return',
  },
  {
    name: 'a clock that is behind closes again and again',
    file: 'src/activities/payment/partner-orders.ts',
    find: '(passed === end ? CLOCKS_DIFFER_MS : 0)',
    put: '0',
  },
  {
    name: 'a doubt that an operator has closed once is not heard again',
    file: 'src/db/payments/payment-changes.ts',
    find: 'isAlwaysHeard: isOwn && !isClosed(status)',
    put: 'isAlwaysHeard: false as boolean',
    and: [
      {
        file: 'src/activities/payment/void-payout.ts',
        find: "if (!isInDoubt([{ kind: 'misfit', ...said }], payment))",
        put: 'if (!isInDoubt(work.state.incidents, payment))',
      },
    ],
  },
  {
    name: 'that all of the money is there is no answer where its misfit was closed',
    file: 'src/activities/payment/partner-news.ts',
    find: 'whole: misfit !== null && isToldWhole',
    put: 'whole: misfitOfAttempt(work.state.incidents, attempt.id) !== null && isToldWhole',
  },
  {
    name: 'a refused refund makes a hold of what waits for its partner',
    file: 'src/activities/payment/refund.ts',
    find: "return mayBePaid ? parked('order_changed') : {}",
    put: "return mayBePaid ? parked(isHeld ? 'operator_hold' : 'order_changed') : {}",
  },
  {
    name: 'a doubt ends by an answer that says nothing',
    file: 'src/activities/payment/partner-news.ts',
    find: 'const mayEnd = isClear && tellsOfMoney(work.state.parts, order)',
    put: 'const mayEnd = isClear',
  },
  {
    name: 'a doubt ends when its change is acknowledged',
    file: `${MONEY}/decided.ts`,
    find: 'closes: isInDoubt(incidents, payment) ? null : changed,',
    put: 'closes: changed,',
  },
  {
    name: 'an unnamed refund is done when another was',
    file: 'src/domain/payment/refund.ts',
    find: 'const isLeft = claimsOn(state, asked).length > 0',
    put: "const isLeft = meant(state, asked).some(({ id }) => unitSum(state.parts, { attemptId: id }) !== '0')",
  },
  {
    name: 'what comes while its refund is carried out is nobody’s',
    file: `${MONEY}/coming.ts`,
    find: "return { ...owner, state: 'returning', stateBefore: owner.state }",
    put: "return { state: 'surplus', account: 'suspense' }",
  },
  {
    name: 'a payment whose order fitted while it was refunded waits for ever',
    file: `${MONEY}/going.ts`,
    find: '  if (payment.paidAttemptId === null && isOurs && isUnbooked(payment)) return endsRefunded(story, effect)\n',
    put: '',
  },
  {
    name: 'what was given back from elsewhere comes when the partner corrects its order',
    file: 'src/domain/payment/refund.ts',
    find: "const received = how.through === 'outside' && isAll ? (unbookedOf(state, claim.attempt) ?? []) : []",
    put: 'const received: Part[] = []',
  },
  {
    name: 'what the partner gave back is listed as still there',
    file: 'src/activities/payment/refund.ts',
    find: "  if (how.through === 'partner') await closeMisfit(work, attempt.id, 'gone')\n  else if",
    put: '  if',
  },
  {
    name: 'a second payment is booked as sold with the first',
    file: 'src/domain/ledger.ts',
    find: 'const isSold = payment.usdc !== null && payment.paidAttemptId === part.attemptId',
    put: 'const isSold = payment.usdc !== null',
  },
  {
    name: 'a payment is rejected while its refund is carried out',
    file: `${MONEY}/decided.ts`,
    find: "      if (state.intents.some(({ kind }) => kind === 'refund')) return { refused: BEING_REFUNDED.why }\n",
    put: '',
  },
  {
    name: 'what a refused refund leaves beside the payment’s money is counted',
    file: 'src/activities/payment/refund.ts',
    find: '  await besidePaid(work, attempt)\n',
    put: '',
  },
]
