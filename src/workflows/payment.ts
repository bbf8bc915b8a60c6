import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  log,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'
import { payloadOf, whyRefused } from '../domain/payment/decision.ts'
import { ANSWERS } from '../domain/payment/funds/answer.ts'
import { isOpen, type PaymentStatus } from '../domain/payment/payment.ts'
import type {
  CancelAnswer,
  Decision,
  DecisionAnswer,
  OpenAttemptAnswer,
  OpenAttemptRequest,
  Say,
} from '../domain/payment/requests.ts'
import { newPaymentSnapshot, type PaymentSnapshot, whyNotCancelable } from '../domain/payment/snapshot.ts'
import { createAnnouncer } from './announcer.ts'
import { createClocks } from './clocks.ts'
import * as messages from './messages.ts'
import { createOperatorView } from './operator-view.ts'
import { buyerWaits, CONVERSION_WAITS, money, records, settlement } from './options.ts'
import { createOrders, type Orders } from './payment/orders.ts'
import { createRequests, type PaymentNews } from './payment/requests.ts'

/** One payment, from creation to its end. The workflow id is the payment id; the row in Postgres is the truth. */
export async function payment(input: messages.PaymentInput): Promise<PaymentStatus> {
  const { cancelRequested } = CancellationScope.current()
  return CancellationScope.nonCancellable(() => {
    const story = new PaymentStory(input)
    story.listen()
    // A cancellation in the Temporal UI is the merchant's cancellation: it never stops a payment that has money.
    cancelRequested.catch(() => story.askToCancel())
    return story.tell()
  })
}

type ConverterStep = 'sell' | 'end_sale'

class PaymentStory {
  readonly #input: messages.PaymentInput
  readonly #id: string
  #now: PaymentSnapshot
  #rowMayHaveChanged: boolean
  /** False until a run that takes over has read the row. */
  #isKnown: boolean
  /** The transfer activity, while it runs; the settlement engine completes it. */
  #paying: Promise<void> | null = null
  #payingEnded = false
  /** Since when the converter has been tried without a fill (Unix milliseconds), and how often. */
  #converting: { readonly step: ConverterStep; readonly since: number; readonly tries: number } | null = null
  readonly #orders: Orders
  readonly #requests = createRequests()
  readonly #announcer = createAnnouncer()
  readonly #show: ReturnType<typeof createOperatorView>
  readonly #clocks = createClocks({
    now: () => this.#now,
    onPoll: (attemptIds) => this.#orders.poll(attemptIds),
    onDelay: async () => this.#accept(await records.markDelayed(this.#id)),
  })

  constructor(input: messages.PaymentInput) {
    this.#input = input
    this.#id = input.id
    this.#show = createOperatorView(input)
    this.#orders = createOrders({
      paymentId: input.id,
      now: () => this.#now,
      accept: (read) => this.#accept(read),
      onSilence: () => this.#clocks.pollOrders(),
    })
    this.#now = newPaymentSnapshot(input.id, input.expiresAt)
    this.#rowMayHaveChanged = input.resume
    this.#isKnown = !input.resume
    if (!input.resume) this.#clocks.watchExpiry()
  }

  /** The story: first what has arrived, then the next step, else a wait. */
  async tell(): Promise<PaymentStatus> {
    for (;;) {
      this.#payingEnded = false
      const { next } = this.#now
      const due = this.#clocks.due()
      if (next !== this.#converting?.step) this.#converting = null
      if (this.#mustContinueAsNew()) await this.#continueAsNew()
      else if (this.#rowMayHaveChanged) await this.#reload()
      else if (this.#requests.waiting()) await this.#requests.doNext()
      else if (this.#orders.waiting()) await this.#orders.readNext()
      else if (due === 'silent') await this.#markSilent()
      else if (due !== null) await this.#close(due)
      else if (this.#paying === null && this.#orders.isPaidUnsure()) await this.#waitForPartner()
      else if (next === 'sell' || next === 'end_sale') await this.#convert(next)
      else if (next === 'give_back') await this.#giveBack()
      else if (next === 'hand_over' || next === 'await_payout') await this.#transfer()
      else if (next !== 'done') await this.#waitForSomething()
      else if (await this.#nothingIsLeft()) return this.#now.status
    }
  }

  /** One short try. While the converter has no answer, news, requests and operators are served in between. */
  async #convert(step: ConverterStep): Promise<void> {
    const { since, tries } = this.#converting ?? { since: Date.now(), tries: 0 }
    this.#show(this.#now, tries === 0 ? 'short' : 'long')
    const begun = Date.now()
    const last = begun - since >= CONVERSION_WAITS.overdueMs
    const answer = await money.convertToUsdc({ paymentId: this.#id, last })
    this.#accept(answer)
    if (answer.wait !== undefined) {
      this.#converting = { step, since, tries: tries + 1 }
      const seconds = Math.max(answer.wait, Math.min(2 ** tries, CONVERSION_WAITS[step]))
      const untilOverdue = last ? Number.POSITIVE_INFINITY : since + CONVERSION_WAITS.overdueMs - Date.now()
      const ms = Math.min(seconds * 1000, Math.max(untilOverdue, 1))
      await condition(() => this.#hasComeIn(), ms, { summary: 'The conversion is tried again' })
    }
    // During the wait the partner may have taken the money back without a callback.
    if (Date.now() - begun >= CONVERSION_WAITS.firstTryMs || answer.wait !== undefined) this.#orders.doubtPaid()
  }

  /** Money is sold or paid out only after the partner has confirmed that it is still there. */
  async #waitForPartner(): Promise<void> {
    this.#show(this.#now, 'long')
    await this.#orders.askPaidAgain(() => this.#hasComeIn())
  }

  /** Waits for the settlement engine, and for whatever arrives before it answers. */
  async #transfer(): Promise<void> {
    // The row has it so in a moment.
    const isHandedOver = this.#now.next === 'hand_over'
    this.#show(isHandedOver ? { ...this.#now, status: 'settling' } : this.#now, 'long')
    this.#paying ??= settlement
      .transferUsdc(this.#id)
      .then((changed) => this.#endPaying(changed))
      .catch(() => this.#endPaying(null))
    await condition(() => this.#payingEnded || this.#hasComeIn())
  }

  /** An operator may have failed or completed the activity by hand. An error thrown here would stop the run forever. */
  #endPaying(changed: PaymentNews | null): void {
    this.#paying = null
    this.#payingEnded = true
    if (changed === null) this.#rowMayHaveChanged = true
    else this.#accept(changed)
    // What was not handed over has waited.
    this.#orders.doubtPaid()
  }

  async #markSilent(): Promise<void> {
    this.#clocks.heard()
    this.#accept(await records.markSilent(this.#id))
  }

  /** Each reading of the order carries it on, if its partner is silent or works on it. */
  async #giveBack(): Promise<void> {
    const { nextAttemptId } = this.#now
    if (nextAttemptId === null) return
    this.#accept(await money.giveBack({ paymentId: this.#id, attemptId: nextAttemptId }))
    // Money that the partner refused to give back goes on only if it is still there.
    this.#orders.doubtPaid()
    this.#clocks.pollAgain()
  }

  /** Cancels the open partner orders and reads them again: if money has arrived, the payment is paid, not closed. */
  async #close(as: 'expired' | 'canceled' | 'listening_ended'): Promise<void> {
    this.#clocks.heard()
    this.#accept(await money.closeUnpaid({ paymentId: this.#id, as, expiresAt: this.#now.expiresAt }))
    this.#watchExpiry()
  }

  #watchExpiry(): void {
    const { status } = this.#now
    // After a withdrawn confirmation the payment waits for its buyer again.
    if (isOpen(status) || status === 'processing') this.#clocks.watchExpiry()
  }

  async #reload(): Promise<void> {
    this.#rowMayHaveChanged = false
    const isFirst = !this.#isKnown
    this.#accept(await records.loadPayment(this.#id))
    this.#watchExpiry()
    this.#orders.takeOver(isFirst)
    if (this.#now.attempts.length > 0) this.#clocks.pollOrders()
  }

  async #waitForSomething(): Promise<void> {
    this.#show(this.#now, 'long')
    this.#clocks.watchListening()
    this.#clocks.watchSilence()
    const { next } = this.#now
    const hasMoved = () => this.#now.next !== next
    await condition(() => this.#hasComeIn() || this.#payingEnded || this.#clocks.due() !== null || hasMoved())
  }

  /** True once the announcements are out, unless something has arrived before. */
  async #nothingIsLeft(): Promise<boolean> {
    this.#show(this.#now, 'long')
    const isRead = () => allHandlersFinished() && this.#orders.areRead() && this.#paying === null
    await condition(() => isRead() || this.#hasComeIn())
    // What was read last may have announced something too.
    await this.#announcer.finished()
    return isRead() && !this.#hasComeIn()
  }

  /** A long history is continued in a new run, between two steps and with no request waiting for an answer. */
  #mustContinueAsNew(): boolean {
    const isQuiet = allHandlersFinished() && !this.#requests.waiting() && this.#paying === null
    return workflowInfo().continueAsNewSuggested && isQuiet
  }

  /** Announcements may take minutes: a request that arrives before they are out is answered first, by this run. */
  async #continueAsNew(): Promise<void> {
    if (!(await this.#announcer.finishedBefore(this.#requests.waiting)) || !this.#mustContinueAsNew()) return
    return continueAsNew<typeof payment>({ ...this.#input, expiresAt: this.#now.expiresAt, resume: true })
  }

  #hasComeIn(): boolean {
    return this.#requests.waiting() || this.#orders.waiting() || this.#rowMayHaveChanged
  }

  /** Takes the answer of an activity. If two answers crossed, the one with the higher version is newer. */
  #accept(changed: PaymentNews): void {
    if (changed.payment.version >= this.#now.version) this.#now = changed.payment
    this.#isKnown = true
    this.#show(this.#now, 'short')
    for (const eventId of changed.events) this.#announcer.announce(eventId)
    this.#clocks.watchDelay()
  }

  // The messages from outside.

  listen(): void {
    setHandler(messages.paymentState, () => this.#now)
    setHandler(messages.partnerNews, (news) => this.#orders.add(messages.attemptOf(news)))
    setHandler(messages.rowChanged, () => void (this.#rowMayHaveChanged = true))
    setHandler(messages.openAttempt, (request) => this.#requests.ask(() => this.#open(request)), {
      description: 'Opens an order at the partner and returns where to send the buyer',
    })
    setHandler(messages.cancelPayment, () => this.askToCancel(), {
      description: 'Cancels the payment, unless money has arrived',
    })
    for (const say of ANSWERS)
      setHandler(messages.operatorUpdates[say], (decision) => this.#requests.ask(() => this.#decide(say, decision)), {
        description: `Operator: ${say}. Give ${payloadOf(say)}`,
        // Before the row is read only what is written can be refused; the rest is checked when it is the decision's turn.
        validator: (decision) => this.#refuse(whyRefused(say, decision, this.#isKnown ? this.#now : null)),
      })
    setDefaultSignalHandler((name) => log.error('a signal that nobody handles', { name }))
  }

  askToCancel(): Promise<CancelAnswer> {
    return this.#requests.ask(async () => {
      if (whyNotCancelable(this.#now) === null) await this.#close('canceled')
      return { status: this.#now.status }
    })
  }

  async #open(request: OpenAttemptRequest): Promise<OpenAttemptAnswer> {
    if (!isOpen(this.#now.status)) return { kind: 'not_payable', status: this.#now.status }
    const opened = await buyerWaits.openPartnerOrder({ paymentId: this.#id, ...request }).catch((error: unknown) => {
      // The order may be open, although nobody has heard of it: it is on record, and must be read.
      this.#rowMayHaveChanged = true
      throw error
    })
    this.#accept(opened)
    this.#clocks.pollOrders()
    return opened.answer
  }

  async #decide(say: Say, decision: Decision): Promise<DecisionAnswer> {
    this.#refuse(whyRefused(say, decision, this.#now))
    // The row may have changed without a signal to this run: the operator must see the reason for the refusal.
    const changed = await records.decide({ ...decision, paymentId: this.#id, say }).catch((error: unknown) => {
      this.#rowMayHaveChanged = true
      throw error
    })
    this.#accept(changed)
    // The partner may have taken the money back while the payment waited.
    this.#orders.doubtPaid()
    return { status: this.#now.status, message: changed.message, ...(changed.unsure === true && { unsure: true }) }
  }

  #refuse(why: string | null): void {
    if (why !== null) throw ApplicationFailure.nonRetryable(why, 'DecisionRefused')
  }
}
