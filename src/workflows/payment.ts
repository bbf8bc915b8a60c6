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
import { nextMoment, nextStep } from '../domain/payment/workflow-step.ts'
import { createAlarm } from './alarm.ts'
import { createAnnouncer } from './announcer.ts'
import { createInbox } from './inbox.ts'
import * as messages from './messages.ts'
import { createOperatorView } from './operator-view.ts'
import { money, openPatiently, openQuickly, reading, records, settlement } from './options.ts'

/** One payment, from creation to its end. The row in Postgres is the truth; this decides only what happens next. */
export async function payment(input: messages.PaymentInput): Promise<PaymentStatus> {
  const { cancelRequested } = CancellationScope.current()
  return CancellationScope.nonCancellable(() => {
    const run = new PaymentRun(input)
    run.listen()
    // A cancellation in the Temporal UI is the merchant's cancellation: it never stops a payment that has money.
    cancelRequested.catch(() => run.cancel())
    return run.toEnd()
  })
}

/** The answer of an activity that may have changed the payment. */
type Changed = { readonly payment: PaymentSnapshot; readonly events: readonly string[] }

class PaymentRun {
  readonly #input: messages.PaymentInput
  readonly #id: string
  /** The payment, as the last activity left it. */
  #payment: PaymentSnapshot
  /** False until a run that takes over has read the row. */
  #isKnown: boolean
  /** The settlement, while it runs. */
  #settling: Promise<void> | null = null
  #polledAt = Date.now()
  readonly #inbox = createInbox()
  readonly #alarm = createAlarm()
  readonly #announcer = createAnnouncer()
  readonly #view: ReturnType<typeof createOperatorView>

  constructor(input: messages.PaymentInput) {
    this.#input = input
    this.#id = input.id
    this.#view = createOperatorView(input)
    this.#payment = newPaymentSnapshot(input.id, input.expiresAt)
    this.#isKnown = !input.resume
    if (input.resume) this.#inbox.mustLoad()
  }

  /** First what has come in, then what is due, else a wait. */
  async toEnd(): Promise<PaymentStatus> {
    for (;;) {
      await this.#continueAsNewIfLong()
      const now = Date.now()
      const step = this.#inbox.take() ?? nextStep(this.#payment, { now, polledAt: this.#polledAt })
      switch (step.do) {
        case 'load':
          await this.#load()
          break
        case 'answer':
          await step.request()
          break
        case 'read_order':
          await this.#readOrder(step.attemptId)
          break
        case 'poll':
          this.#poll(now)
          break
        case 'mark':
          this.#apply(await records.markPassedTime({ paymentId: this.#id, now }))
          break
        case 'close':
          await this.#close(step.as)
          break
        case 'give_back':
          this.#apply(await money.giveBack({ paymentId: this.#id, attemptId: step.attemptId }))
          break
        case 'settle':
          this.#settle()
          await this.#wait()
          break
        case 'wait':
          await this.#wait()
          break
        case 'done':
          if (await this.#isOver()) return this.#payment.status
      }
    }
  }

  /** Takes the answer of an activity. If two answers crossed, the one with the higher version is newer. */
  #apply(changed: Changed): void {
    if (changed.payment.version >= this.#payment.version) this.#payment = changed.payment
    this.#isKnown = true
    this.#view.describe(this.#payment)
    for (const eventId of changed.events) this.#announcer.announce(eventId)
  }

  /** A run that takes over does not know what it has missed, so it reads every order that may bring money, or may lose it. */
  async #load(): Promise<void> {
    const isFirst = !this.#isKnown
    this.#apply(await records.loadPayment(this.#id))
    if (isFirst) this.#poll(Date.now())
  }

  #poll(now: number): void {
    this.#polledAt = now
    for (const { id } of this.#payment.watched) this.#inbox.mustRead(id)
  }

  async #readOrder(attemptId: string): Promise<void> {
    try {
      this.#apply(await reading.readPartnerOrder({ paymentId: this.#id, attemptId }))
    } catch {
      log.warn('the partner order could not be read; the relay repeats its news, and the next poll reads it', {
        attemptId,
      })
    }
  }

  /** Cancels the open partner orders and reads them again: if money has arrived, the payment is paid, not closed. */
  async #close(as: 'expired' | 'canceled' | 'listening_ended'): Promise<void> {
    this.#apply(await money.closeUnpaid({ paymentId: this.#id, as, now: Date.now() }))
  }

  /** Runs while the loop serves what comes in. If an operator ends the activity by hand, the row says what is so. */
  #settle(): void {
    this.#settling ??= settlement
      .settle(this.#id)
      .then((changed) => this.#apply(changed))
      .catch(() => this.#inbox.mustLoad())
      .finally(() => {
        this.#settling = null
      })
  }

  /** Waits for the settlement, for a message, or for the next moment. */
  async #wait(): Promise<void> {
    this.#view.list(this.#payment)
    const moment = nextMoment(this.#payment, this.#polledAt)
    if (moment !== null) this.#alarm.wakeAt(moment)
    const [settling, rung] = [this.#settling, this.#alarm.rung()]
    await condition(() => !this.#inbox.isEmpty() || this.#settling !== settling || this.#alarm.rung() !== rung)
  }

  /** True once everything that has come in is answered and announced. */
  async #isOver(): Promise<boolean> {
    this.#view.list(this.#payment)
    const isAnswered = () => allHandlersFinished() && this.#settling === null
    await condition(() => isAnswered() || !this.#inbox.isEmpty())
    await this.#announcer.finished()
    return isAnswered() && this.#inbox.isEmpty()
  }

  async #continueAsNewIfLong(): Promise<void> {
    const isQuiet = () => allHandlersFinished() && this.#inbox.isEmpty() && this.#settling === null
    if (!workflowInfo().continueAsNewSuggested || !isQuiet()) return
    await this.#announcer.finished()
    if (isQuiet())
      await continueAsNew<typeof payment>({ ...this.#input, expiresAt: this.#payment.expiresAt, resume: true })
  }

  // The messages from outside.

  listen(): void {
    setHandler(messages.paymentState, () => this.#payment)
    setHandler(messages.partnerNews, (news) => {
      const attemptId = messages.attemptOf(news)
      if (attemptId !== null) this.#inbox.mustRead(attemptId)
    })
    setHandler(messages.rowChanged, () => this.#inbox.mustLoad())
    setHandler(messages.openAttempt, (request) => this.#inbox.ask(() => this.#open(request)), {
      description: 'Opens an order at the partner and returns where to send the buyer',
    })
    setHandler(messages.cancelPayment, () => this.cancel(), {
      description: 'Cancels the payment, unless money has arrived',
    })
    for (const say of ANSWERS)
      setHandler(messages.operatorUpdates[say], (decision) => this.#inbox.ask(() => this.#decide(say, decision)), {
        description: `Operator: ${say}. Give ${payloadOf(say)}`,
        // Of a row that this run does not know only what is written can be refused; the rest is checked when it is its turn.
        validator: (decision) => this.#refuse(whyRefused(say, decision, this.#knows(decision) ? this.#payment : null)),
      })
    setDefaultSignalHandler((name) => log.error('a signal that nobody handles', { name }))
  }

  cancel(): Promise<CancelAnswer> {
    return this.#inbox.ask(async () => {
      if (whyNotCancelable(this.#payment) === null) await this.#close('canceled')
      return { status: this.#payment.status }
    })
  }

  async #open(request: OpenAttemptRequest): Promise<OpenAttemptAnswer> {
    if (!isOpen(this.#payment.status)) return { kind: 'not_payable', status: this.#payment.status }
    const order = { paymentId: this.#id, ...request }
    const opening = openQuickly.openPartnerOrder(order).catch(() => openPatiently.openPartnerOrder(order))
    // An order that nobody has heard of may be open: it is on record, and must be read.
    const opened = await this.#loadAfterFailure(opening)
    this.#apply(opened)
    return opened.answer
  }

  /** The settlement changes the row without this run. */
  #knows({ version }: Decision): boolean {
    return this.#isKnown && (version ?? 0) <= this.#payment.version
  }

  async #decide(say: Say, decision: Decision): Promise<DecisionAnswer> {
    if (!this.#knows(decision)) await this.#load()
    this.#refuse(whyRefused(say, decision, this.#payment))
    // The row may have changed without a signal to this run: the operator must see the reason for the refusal.
    const decided = await this.#loadAfterFailure(records.decide({ ...decision, paymentId: this.#id, say }))
    this.#apply(decided)
    const { message, unsure } = decided
    return { status: this.#payment.status, message, ...(unsure === true && { unsure }) }
  }

  #loadAfterFailure<Answer>(answer: Promise<Answer>): Promise<Answer> {
    return answer.catch((error: unknown) => {
      this.#inbox.mustLoad()
      throw error
    })
  }

  #refuse(why: string | null): void {
    if (why !== null) throw ApplicationFailure.nonRetryable(why, 'DecisionRefused')
  }
}
