import {
  allHandlersFinished,
  condition,
  defineSignal,
  defineUpdate,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow'
import type { DeliveryResult } from '../activities/webhooks/webhook-delivery.ts'
import { DELIVERY_DELAYS_SECONDS, isScheduleUsedUp, type LastAnswer, nextDelaySeconds } from '../domain/webhook.ts'
import { delivering, retrying } from './options.ts'

export type WebhookDeliveryInput = {
  readonly eventId: string
  readonly endpointId: string
  readonly attemptsDone: number
  /** How much of the schedule is used up: the number of tries, unless a redelivery has started it again from 0. */
  readonly step: number
  /** The response of the last try; null if it is unknown. */
  readonly last: LastAnswer | null
}

/** Makes the next try immediately and returns its result. It uses up none of the schedule. */
export const redeliverNow = defineUpdate<DeliveryResult, []>('redeliverNow')

/** Test mode: skips this number of milliseconds. The tries that are due by then are made one after the other. */
export const skipTime = defineSignal<[number]>('skipTime')

/** Tries until the receiver accepts the event, responds with 410, or the schedule of days is used up. */
export async function webhookDelivery(input: WebhookDeliveryInput): Promise<DeliveryResult['kind']> {
  const delivery = new WebhookDelivery(input)
  setHandler(redeliverNow, () => delivery.redeliver(), {
    description: 'Makes the next try now, without using up the schedule',
  })
  // A signal that an operator sends by hand can carry any value.
  setHandler(skipTime, (ms) => delivery.skip(Number.isFinite(ms) ? ms : 0))
  const result = await delivery.run()
  await condition(allHandlersFinished)
  return result
}

class WebhookDelivery {
  readonly #eventId: string
  readonly #endpointId: string
  #tries: number
  #step: number
  #last: LastAnswer | null
  /** Unix milliseconds. */
  #due = 0
  /** Milliseconds of skipped time that no wait has used up yet. */
  #ahead = 0
  #asked = 0
  #answered = 0
  #result: DeliveryResult = { kind: 'failed', last: null }

  constructor({ eventId, endpointId, attemptsDone, step, last }: WebhookDeliveryInput) {
    this.#eventId = eventId
    this.#endpointId = endpointId
    this.#tries = attemptsDone
    this.#step = step
    this.#last = last
  }

  async run(): Promise<DeliveryResult['kind']> {
    this.#plan()
    while (this.#result.kind === 'failed' && !isScheduleUsedUp(this.#step)) {
      this.#show()
      const byHand = await this.#wait()
      const asked = this.#asked
      await this.#try(byHand)
      this.#answered = asked
      if (!byHand) this.#plan()
    }
    // Requests that still wait get the last result.
    this.#answered = Number.POSITIVE_INFINITY
    this.#show()
    return this.#result.kind
  }

  async redeliver(): Promise<DeliveryResult> {
    const mine = ++this.#asked
    await condition(() => this.#answered >= mine)
    return this.#result
  }

  skip(ms: number): void {
    this.#ahead += ms
  }

  /** Sets when the next try of the schedule is due; a try by hand does not change that. */
  #plan(): void {
    const { overloaded, retryAfterSeconds } = this.#last ?? { overloaded: false, retryAfterSeconds: null }
    const delay = nextDelaySeconds({ step: this.#step, overloaded, retryAfterSeconds, random: Math.random() })
    this.#due = Date.now() + (delay ?? 0) * 1000
  }

  async #wait(): Promise<boolean> {
    for (;;) {
      this.#useSkippedTime()
      const remaining = this.#due - Date.now()
      if (remaining <= 0) return false
      const hasCome = await condition(() => this.#asked > this.#answered || this.#ahead > 0, remaining, {
        summary: `try ${this.#step + 1} of ${DELIVERY_DELAYS_SECONDS.length}`,
      })
      if (!hasCome) return false
      if (this.#asked > this.#answered) return true
    }
  }

  #useSkippedTime(): void {
    const used = Math.min(this.#ahead, Math.max(this.#due - Date.now(), 0))
    this.#ahead -= used
    this.#due -= used
  }

  async #try(byHand: boolean): Promise<void> {
    const number = this.#tries + 1
    const step = byHand ? this.#step : this.#step + 1
    const { deliverWebhook } = byHand || this.#tries === 0 ? delivering : retrying
    this.#result = await deliverWebhook({ eventId: this.#eventId, endpointId: this.#endpointId, attempt: number, step })
    this.#tries = number
    this.#step = step
    this.#last = this.#result.last
  }

  #show(): void {
    setCurrentDetails(
      [
        `### ${this.#standing()}`,
        '',
        `Event ${this.#eventId} for the endpoint ${this.#endpointId}.`,
        '',
        `- tries made: ${this.#tries}, of which ${this.#step} of the ${DELIVERY_DELAYS_SECONDS.length} scheduled`,
        `- last answer: ${this.#last?.text ?? 'not known here; see the delivery log'}`,
      ].join('\n'),
    )
  }

  #standing(): string {
    switch (this.#result.kind) {
      case 'delivered':
        return 'Delivered'
      case 'gone':
        return 'The receiver answered 410: its endpoint is disabled'
      case 'stopped':
        return 'Stopped: the schedule is used up, or the endpoint is disabled or deleted. It can be redelivered'
      case 'failed':
        return `Next try ${new Date(this.#due).toISOString()}, or immediately with the update \`redeliverNow\``
    }
  }
}
