import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  log,
  patched,
  setDefaultSignalHandler,
  setHandler,
} from '@temporalio/workflow'
import { PARTNER_SILENT, setsMoneyGoing, whyNoLongerAllowed, whyRefused } from '../domain/payment/decision.ts'
import { isOpen, type PaymentStatus } from '../domain/payment/payment.ts'
import {
  type CancelAnswer,
  type DecisionAnswer,
  OPERATOR_DECISIONS,
  type OpenAttemptAnswer,
  type OpenAttemptRequest,
  type OperatorDecision,
  type OperatorNote,
} from '../domain/payment/requests.ts'
import {
  newPaymentSnapshot,
  nextStep,
  type PaymentSnapshot,
  unfinishedAttempts,
  whyNotCancelable,
} from '../domain/payment/snapshot.ts'
import { createAnnouncer } from './announcer.ts'
import { createClocks } from './clocks.ts'
import { startLateMoney } from './late-money.ts'
import * as messages from './messages.ts'
import { createOperatorView } from './operator-view.ts'
import { buyerWaits, money, reading, records, settlement } from './options.ts'
import { createRequests } from './requests.ts'

/** Runs that were recorded before ended although a partner's news had not been read. */
const KEEPS_UNREAD_NEWS = 'keeps-unread-news'
/** … and decided without asking the partner whether the money is still there. */
const READS_BEFORE_DECISIONS = 'reads-before-decisions'

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

class PaymentStory {
  readonly #id: string
  #now: PaymentSnapshot
  #rowMayHaveChanged: boolean
  #expiryReached = false
  #listeningOver = false
  readonly #news = new Set<string>()
  /** Attempts whose news could not be read yet: the run does not end before they are. */
  readonly #unread = new Set<string>()
  readonly #lateMoney = new Set<string>()
  readonly #requests = createRequests()
  readonly #announcer = createAnnouncer()
  readonly #show = createOperatorView()
  readonly #clocks = createClocks({
    now: () => this.#now,
    onExpiry: (isOver) => {
      this.#expiryReached = isOver
    },
    onListeningOver: () => {
      this.#listeningOver = true
    },
    onPoll: () => {
      for (const attempt of unfinishedAttempts(this.#now)) this.#news.add(attempt.id)
      for (const attemptId of this.#unread) this.#news.add(attemptId)
    },
    onDelay: async () => this.#accept(await records.markDelayed(this.#id)),
  })

  constructor(input: messages.PaymentInput) {
    this.#id = input.id
    this.#now = newPaymentSnapshot(input.id, input.expiresAt)
    this.#rowMayHaveChanged = input.resume
    if (!input.resume) this.#clocks.watchExpiry()
  }

  /** The story: what has come in is dealt with first; then the next step; else it waits. */
  async tell(): Promise<PaymentStatus> {
    for (;;) {
      const step = nextStep(this.#now)
      if (this.#rowMayHaveChanged) await this.#reload()
      else if (this.#requests.waiting()) await this.#requests.doNext()
      else if (this.#news.size > 0) await this.#readOrders()
      else if (this.#expiryReached && isOpen(this.#now.status)) await this.#close('expired')
      else if (this.#listeningOver && step === 'listen') await this.#close('listening_ended')
      else if (step === 'convert') await this.#convert()
      else if (step === 'transfer') await this.#transfer()
      else if (step !== 'done') await this.#waitForSomething()
      else if (await this.#nothingIsLeft()) return this.#now.status
    }
  }

  async #convert(): Promise<void> {
    this.#show(this.#now, 'short')
    this.#accept(await money.convertToUsdc(this.#id))
  }

  async #transfer(): Promise<void> {
    this.#show({ ...this.#now, status: 'settling' }, 'long')
    this.#accept(await settlement.transferUsdc(this.#id))
  }

  /** Cancels the open partner orders and reads them again: if money came, the payment is paid, not closed. */
  async #close(as: 'expired' | 'canceled' | 'listening_ended'): Promise<void> {
    this.#expiryReached = false
    this.#listeningOver = false
    this.#accept(await money.closeUnpaid({ paymentId: this.#id, as }))
    if (isOpen(this.#now.status)) this.#clocks.watchExpiry()
  }

  /** What a partner has done is read from the partner; one that does not answer is asked again by the next poll. */
  async #readOrders(): Promise<void> {
    const attemptIds = [...this.#news]
    this.#news.clear()
    for (const attemptId of attemptIds) {
      try {
        this.#accept(await reading.readPartnerOrder({ paymentId: this.#id, attemptId }))
        this.#unread.delete(attemptId)
      } catch {
        log.warn('the partner order could not be read; the relay and the next poll try again', { attemptId })
        if (patched(KEEPS_UNREAD_NEWS)) this.#unread.add(attemptId)
        this.#clocks.pollOrders()
      }
    }
  }

  async #reload(): Promise<void> {
    this.#rowMayHaveChanged = false
    this.#accept(await records.loadPayment(this.#id))
    if (isOpen(this.#now.status)) this.#clocks.watchExpiry()
    for (const attempt of unfinishedAttempts(this.#now)) this.#news.add(attempt.id)
    if (this.#now.attempts.length > 0) this.#clocks.pollOrders()
  }

  async #waitForSomething(): Promise<void> {
    this.#show(this.#now, 'long')
    this.#clocks.watchListening()
    await condition(() => this.#hasComeIn() || this.#expiryReached || this.#listeningOver)
  }

  /** True when the announcements are out and nothing came meanwhile. */
  async #nothingIsLeft(): Promise<boolean> {
    this.#show(this.#now, 'long')
    await this.#announcer.finished()
    await condition(() => (allHandlersFinished() && this.#unread.size === 0) || this.#hasComeIn())
    return !this.#hasComeIn()
  }

  #hasComeIn(): boolean {
    return this.#requests.waiting() || this.#news.size > 0 || this.#rowMayHaveChanged
  }

  /** Takes over what an activity answered. Of two answers that crossed, the higher version is the newer truth. */
  #accept(changed: { payment: PaymentSnapshot; events: readonly string[] }): void {
    if (changed.payment.version >= this.#now.version) this.#now = changed.payment
    for (const eventId of changed.events) this.#announcer.announce(eventId)
    for (const attempt of this.#now.attempts) {
      if (attempt.status !== 'late' || this.#lateMoney.has(attempt.id)) continue
      this.#lateMoney.add(attempt.id)
      this.#announcer.track(startLateMoney({ paymentId: this.#id, attemptId: attempt.id }))
    }
  }

  // What the outside may ask for.

  listen(): void {
    setHandler(messages.paymentState, () => this.#now)
    setHandler(messages.partnerNews, ({ attemptId }) => void this.#news.add(attemptId))
    setHandler(messages.payoutNews, () => {
      this.#rowMayHaveChanged = true
    })
    setHandler(messages.openAttempt, (request) => this.#requests.ask(() => this.#open(request)), {
      description: 'The buyer wants to pay: opens an order at the partner and answers where to go',
    })
    setHandler(messages.cancelPayment, () => this.askToCancel(), {
      description: 'Cancels the payment, unless money has come',
    })
    for (const decision of OPERATOR_DECISIONS)
      setHandler(messages.operatorUpdates[decision], (note) => this.#requests.ask(() => this.#decide(decision, note)), {
        description: `Operator: ${decision}. Give {"operator", "reason"}; both go to the timeline`,
        validator: (note) => this.#refuse(whyRefused(decision, note, this.#now)),
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
    const opened = await buyerWaits.openPartnerOrder({ paymentId: this.#id, ...request })
    this.#accept(opened)
    this.#clocks.pollOrders()
    return opened.answer
  }

  async #decide(decision: OperatorDecision, note: OperatorNote): Promise<DecisionAnswer> {
    this.#refuse(whyNoLongerAllowed(decision, note, this.#now))
    if (setsMoneyGoing(decision, this.#now) && patched(READS_BEFORE_DECISIONS)) {
      await this.#readPaidOrder()
      this.#refuse(whyNoLongerAllowed(decision, note, this.#now))
    }
    const paymentId = this.#id
    const changed =
      decision === 'refund'
        ? await money.refundAttempt({ paymentId, ...note })
        : await records.decide({ paymentId, decision, ...note })
    this.#accept(changed)
    return { status: this.#now.status, message: changed.message }
  }

  /** While the payment waited, the partner may have taken the money back. */
  async #readPaidOrder(): Promise<void> {
    const attemptId = this.#now.paidAttemptId
    if (attemptId === null) return
    const answer = await reading.readPartnerOrder({ paymentId: this.#id, attemptId }).catch(() => null)
    if (answer !== null) this.#accept(answer)
    this.#refuse(answer?.understood === true ? null : PARTNER_SILENT)
  }

  #refuse(why: string | null): void {
    if (why !== null) throw ApplicationFailure.nonRetryable(why, 'DecisionRefused')
  }
}
