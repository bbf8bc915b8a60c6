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
import { describePayload, whyRefused } from '../domain/payment/decision.ts'
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
import {
  type ActivityAnswer,
  newPaymentSnapshot,
  type PaymentSnapshot,
  whyNotCancelable,
} from '../domain/payment/snapshot.ts'
import { decideWorkflowStep, findNextMoment } from '../domain/payment/workflow-step.ts'
import { createAlarm } from './alarm.ts'
import { createAnnouncer } from './announcer.ts'
import { createInbox } from './inbox.ts'
import * as messages from './messages.ts'
import { createOperatorView } from './operator-view.ts'
import { money, openPatiently, openQuickly, reading, records, settlement } from './options.ts'

/** One payment, from creation to its end. The row in Postgres is the truth; the workflow decides only the next step. */
export async function payment(input: messages.PaymentInput): Promise<PaymentStatus> {
  const { cancelRequested: whenCanceled } = CancellationScope.current()
  return CancellationScope.nonCancellable(() => {
    const run = new PaymentRun(input)
    run.listen()
    // Temporal must not stop a payment that has money: a cancellation in its UI, on which the promise rejects, counts
    // as the merchant's.
    whenCanceled.catch(() => run.cancel())
    return run.toEnd()
  })
}

class PaymentRun {
  readonly #input: messages.PaymentInput
  readonly #id: string
  #payment: PaymentSnapshot
  /** False until a resumed run has loaded the row. A first run needs no load: its payment is new. */
  #isLoaded: boolean
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
    this.#isLoaded = !input.resume
    if (input.resume) this.#inbox.mustLoad()
  }

  /** Handles messages first, then the due step, else waits. */
  async toEnd(): Promise<PaymentStatus> {
    for (;;) {
      await this.#continueAsNewIfLong()
      const now = Date.now()
      const step = this.#inbox.take() ?? decideWorkflowStep(this.#payment, { now, polledAt: this.#polledAt })
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
          this.#startSettlement()
          await this.#wait()
          break
        case 'wait':
          await this.#wait()
          break
        case 'done':
          if (await this.#finish()) return this.#payment.status
      }
    }
  }

  /** Applies the answer of an activity. If two answers crossed, the one with the higher version is newer. */
  #apply({ payment, events }: ActivityAnswer): void {
    if (payment.version >= this.#payment.version) this.#payment = payment
    this.#isLoaded = true
    this.#view.describe(this.#payment)
    for (const eventId of events) this.#announcer.announce(eventId)
  }

  /** Loads the row. A resumed run might have missed callbacks, so it also reads each watched order. */
  async #load(): Promise<void> {
    const mayHaveMissedChanges = !this.#isLoaded
    this.#apply(await records.loadPayment(this.#id))
    if (mayHaveMissedChanges) this.#poll(Date.now())
  }

  #poll(now: number): void {
    this.#polledAt = now
    for (const { id } of this.#payment.watched) this.#inbox.mustRead(id)
  }

  async #readOrder(attemptId: string): Promise<void> {
    try {
      this.#apply(await reading.readPartnerOrder({ paymentId: this.#id, attemptId }))
    } catch (error) {
      log.warn('could not read the partner order; the next callback or poll reads it again', { attemptId, error })
    }
  }

  /** Cancels the open partner orders and reads them again: if money has arrived, the payment is paid, not closed. */
  async #close(as: 'expired' | 'canceled' | 'listening_ended'): Promise<void> {
    this.#apply(await money.closeUnpaid({ paymentId: this.#id, as, now: Date.now() }))
  }

  /** Temporal retries it while the loop handles messages. If an operator ends it, the row has the next step. */
  #startSettlement(): void {
    this.#settling ??= settlement
      .settle(this.#id)
      .then((answer) => this.#apply(answer))
      .catch(() => this.#inbox.mustLoad())
      .finally(() => {
        this.#settling = null
      })
  }

  async #wait(): Promise<void> {
    this.#view.list(this.#payment)
    const moment = findNextMoment(this.#payment, this.#polledAt)
    if (moment !== null) this.#alarm.wakeAt(moment)
    const settling = this.#settling
    const wakeUps = this.#alarm.wakeUps()
    await condition(() => !this.#inbox.isEmpty() || this.#settling !== settling || this.#alarm.wakeUps() !== wakeUps)
  }

  /** False if a message has arrived, which might need another step. */
  async #finish(): Promise<boolean> {
    this.#view.list(this.#payment)
    await condition(() => this.#isIdle() || !this.#inbox.isEmpty())
    await this.#announcer.finished()
    return this.#isIdle()
  }

  #isIdle(): boolean {
    return allHandlersFinished() && this.#inbox.isEmpty() && this.#settling === null
  }

  async #continueAsNewIfLong(): Promise<void> {
    if (!workflowInfo().continueAsNewSuggested || !this.#isIdle()) return
    await this.#announcer.finished()
    if (this.#isIdle())
      await continueAsNew<typeof payment>({ ...this.#input, expiresAt: this.#payment.expiresAt, resume: true })
  }

  listen(): void {
    setHandler(messages.paymentState, () => this.#payment)
    setHandler(messages.orderChanged, (signal) => {
      const attemptId = messages.readAttemptId(signal)
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
        description: `Operator: ${say}. Give ${describePayload(say)}`,
        // An old snapshot must not refuse a decision about a newer row: then only the form is checked here, and the
        // rest in its turn.
        validator: (decision) =>
          this.#refuse(whyRefused(say, decision, this.#isAsNewAs(decision) ? this.#payment : null)),
      })
    setDefaultSignalHandler((name) => log.error('received a signal that has no handler', { name }))
  }

  cancel(): Promise<CancelAnswer> {
    return this.#inbox.ask(async () => {
      if (whyNotCancelable(this.#payment) === null) await this.#close('canceled')
      return { status: this.#payment.status }
    })
  }

  async #open(request: OpenAttemptRequest): Promise<OpenAttemptAnswer> {
    if (!isOpen(this.#payment.status)) return { kind: 'not_payable', status: this.#payment.status }
    // Both calls are for the same attempt, so the partner opens one order.
    const order = { paymentId: this.#id, ...request }
    const opening = openQuickly.openPartnerOrder(order).catch(() => openPatiently.openPartnerOrder(order))
    // The partner might have the order although the call failed. The row has it too, so that polls read it.
    const opened = await this.#loadAfterFailure(opening)
    this.#apply(opened)
    return opened.answer
  }

  /** True if the snapshot is as new as the one that the operator saw: other processes write to the row, too. */
  #isAsNewAs({ version }: Decision): boolean {
    return this.#isLoaded && (version ?? 0) <= this.#payment.version
  }

  async #decide(say: Say, decision: Decision): Promise<DecisionAnswer> {
    if (!this.#isAsNewAs(decision)) await this.#load()
    this.#refuse(whyRefused(say, decision, this.#payment))
    // The row can be newer than the snapshot. After a refusal the operator must see what is possible now.
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
