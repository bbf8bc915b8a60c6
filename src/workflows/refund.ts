import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'
import type { RefundStatus } from '../domain/refund/refund.ts'
import {
  decideRefundStep,
  type RefundAnswer,
  type RefundSnapshot,
  whyRefundNotCancelable,
} from '../domain/refund/refund-step.ts'
import { createAnnouncer } from './announcer.ts'
import { refundPartner, refundRecords } from './options.ts'
import * as messages from './refund-messages.ts'

/** One refund, from its creation to its end. The row in Postgres is the truth; the workflow decides only the next step. */
export async function refund(input: messages.RefundInput): Promise<RefundStatus> {
  // A refund that has money must not stop in the middle: a cancellation in Temporal's UI changes nothing.
  return CancellationScope.nonCancellable(async () => {
    const run = new RefundRun(input)
    run.listen()
    return run.toEnd()
  })
}

class RefundRun {
  readonly #input: messages.RefundInput
  readonly #id: string
  #refund: RefundSnapshot | null = null
  #mustLoad = true
  /** When this run last asked the partner (Unix milliseconds); 0: it has not, or the order changed since. */
  #askedAt = 0
  readonly #announcer = createAnnouncer()

  constructor(input: messages.RefundInput) {
    this.#input = input
    this.#id = input.id
  }

  async toEnd(): Promise<RefundStatus> {
    for (;;) {
      await this.#continueAsNewIfLong()
      const now = Date.now()
      const refund = await this.#load()
      const step = decideRefundStep(refund, { now, askedAt: this.#askedAt })
      switch (step.do) {
        case 'open':
          this.#apply(await refundRecords.openRefund(this.#id))
          break
        case 'expire':
          this.#apply(await refundRecords.expireRefund({ id: this.#id, now }))
          break
        case 'ask':
          this.#askedAt = now
          this.#apply(await refundPartner.askRefund(this.#id))
          break
        case 'wait':
          await this.#wait(refund, step.until)
          break
        case 'done':
          if (await this.#finish()) return refund.status
      }
    }
  }

  async #load(): Promise<RefundSnapshot> {
    if (this.#mustLoad || this.#refund === null) {
      this.#mustLoad = false
      this.#apply(await refundRecords.loadRefund(this.#id))
    }
    return this.#refund as unknown as RefundSnapshot
  }

  /** If two answers crossed, the one with the higher version is newer. */
  #apply({ refund, events }: RefundAnswer): void {
    if (refund.version >= (this.#refund?.version ?? 0)) this.#refund = refund
    setCurrentDetails(
      `### ${this.#refund?.status}\n\n- refund of ${this.#input.amount}, payment ${this.#input.paymentId}`,
    )
    for (const eventId of events) this.#announcer.announce(eventId)
  }

  /** Until then no message is needed: if this run is lost, the relay starts another one. */
  async #wait(refund: RefundSnapshot, until: number): Promise<void> {
    await refundRecords.postponeWake({ id: this.#id, ms: until - Date.now() })
    const isChanged = () => this.#mustLoad || this.#refund?.version !== refund.version
    await condition(isChanged, Math.max(until - Date.now(), 1))
  }

  /** False if a message has arrived, which might need another step. */
  async #finish(): Promise<boolean> {
    await condition(() => allHandlersFinished() || this.#mustLoad)
    await this.#announcer.finished()
    return allHandlersFinished() && !this.#mustLoad
  }

  async #continueAsNewIfLong(): Promise<void> {
    if (!workflowInfo().continueAsNewSuggested || !allHandlersFinished()) return
    await this.#announcer.finished()
    await continueAsNew<typeof refund>(this.#input)
  }

  listen(): void {
    setHandler(messages.refundChanged, () => {
      this.#mustLoad = true
      this.#askedAt = 0
    })
    setHandler(messages.openRefund, async () => {
      await condition(
        () => this.#refund !== null && (this.#refund.isOpened || this.#refund.status !== 'awaiting_funds'),
      )
    })
    setHandler(messages.fundRefund, async ({ signature }) => {
      this.#apply(await refundRecords.fundRefund({ id: this.#id, signature }))
      return { status: (await this.#load()).status }
    })
    setHandler(messages.cancelRefund, async () => {
      const refund = await this.#load()
      if (whyRefundNotCancelable(refund.status) === null) this.#apply(await refundRecords.cancelRefund(this.#id))
      return { status: (this.#refund ?? refund).status }
    })
  }
}
