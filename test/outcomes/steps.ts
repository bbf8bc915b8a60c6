import type { PaymentFixture } from '../../scripts/histories/payment-fixture.ts'
import { until } from '../../scripts/test/until.ts'
import type { ProviderName } from '../../src/domain/methods.ts'
import type { PaymentWithAttempts } from '../../src/domain/payment/payment-object.ts'
import { operatorUpdates } from '../../src/workflows/messages.ts'
import type { Buyer } from './buyer.ts'
import { MOMENTS, type Moment, type MomentName } from './moments.ts'
import type { Step } from './stories.ts'
import { depositAt, sendTo } from './transfers.ts'
import type { PlayedWay } from './ways.ts'

/** Runs each step of a story with simulated partners and a real workflow. */

type Scene = { readonly paymentId: string; readonly buyer: Buyer; readonly way: PlayedWay }

const HOUR = 3600
const OTHER_TOKEN = `0x${'27'.repeat(20)}` as const

export function createSteps(fixture: PaymentFixture, { paymentId, buyer, way }: Scene) {
  /** The buyer’s current way. */
  let going = way
  let knows = ''

  const read = () => fixture.read(paymentId)
  const isTransfer = () => going.provider === 'crypto'
  const findOrder = async (
    which: (attempts: PaymentWithAttempts['attempts']) => string | undefined,
  ): Promise<string> => {
    const id = which((await read()).attempts)
    if (id === undefined) throw new Error('there is no such order')
    return id
  }
  const newest = () => findOrder((attempts) => attempts.at(-1)?.id)
  const oldest = () => findOrder((attempts) => attempts[0]?.id)
  const act = async (action: Record<string, unknown>, attemptId?: string, provider = going.provider) =>
    fixture.atPartner(provider as ProviderName, attemptId ?? (await newest()), { buyer: paymentId, ...action })

  /** Sends this number of hundredths of the amount that the address asks for. */
  async function send(hundredths: bigint, attemptId: string): Promise<void> {
    const { askedMicro } = await depositAt(fixture, attemptId)
    await sendTo(fixture, attemptId, { units: ((BigInt(askedMicro) * hundredths) / 100n).toString() })
  }

  async function ask(path: string, body: unknown): Promise<void> {
    const answer = await fetch(`${fixture.api}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fixture.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
  }
  const skip = (seconds: number) => ask(`test/payments/${paymentId}/skip_time`, { seconds })

  async function pay(): Promise<void> {
    if (isTransfer()) return send(100n, await newest())
    await fixture.pay(going.provider as ProviderName, await newest(), { buyer: paymentId })
  }

  /** The order is over here. At a partner that cancels none it is still open. */
  async function payLate(attemptId: string, provider = going.provider): Promise<void> {
    if (provider === 'crypto') return send(100n, attemptId)
    const { status } = await fixture.orderAt(provider, attemptId)
    if (status === 'open') await fixture.pay(provider, attemptId, { buyer: paymentId })
    else await act({ action: 'late' }, attemptId, provider)
  }

  /** The partner takes, or has taken, another amount than the price; an identity check of a first payment is passed. */
  async function payOther(percent: bigint): Promise<void> {
    if (isTransfer()) return send(percent, await newest())
    const { attempts } = await read()
    const asked = BigInt(attempts.at(-1)?.asked.minor ?? 0)
    const receivedMinor = ((asked * percent) / 100n).toString()
    await fixture.pay(going.provider as ProviderName, await newest(), { buyer: paymentId, receivedMinor })
  }

  const STEPS: Readonly<Record<Step, () => Promise<unknown>>> = {
    open: async () => {
      const { attempts } = await read()
      if (attempts.length > 0 || way.pinned) buyer.goTo(buyer.link)
      else buyer.choose(way)
    },
    'go on': () => buyer.goOn({ provider: going.provider, method: going.method }),
    'go on again': () => buyer.goOn({ provider: going.provider, method: going.method }),
    'look at another way': async () => buyer.choose(way.other),
    'go on in another way': async () => {
      going = { ...way, ...way.other }
      await buyer.goOn(way.other)
    },
    'come back': async () => {
      const { attempts } = await read()
      const page = attempts.at(-1)?.redirectUrl ?? ''
      await buyer.comeFrom(page)
    },
    wait: async () => {
      await skip(60)
      buyer.goTo(`${buyer.link}?back=${Math.floor(Date.now() / 1000) - 11}`)
    },
    leave: async () => {
      await act({ action: 'cancel' })
      buyer.goTo(buyer.link)
    },
    decline: () => act({ action: 'decline' }),
    check: () => act({ action: 'require_verification' }),
    hold: async () =>
      isTransfer()
        ? sendTo(fixture, await newest(), { units: '50000000', token: OTHER_TOKEN })
        : act({ action: 'hold' }),
    'let go': async () => (isTransfer() ? send(100n, await newest()) : act({ action: 'release' })),
    'confirm slowly': () => act({ action: 'pay', buyer: undefined, seconds: HOUR }),
    confirm: () => act({ action: 'confirm' }),
    'pass the check': () => act({ action: 'verify' }),
    pay,
    'pay a part': () => payOther(50n),
    'pay the rest': async () => {
      if (isTransfer()) {
        const { askedMicro } = await depositAt(fixture, await newest())
        const half = (BigInt(askedMicro) * 50n) / 100n
        return sendTo(fixture, await newest(), { units: (BigInt(askedMicro) - half).toString() })
      }
      const { attempts } = await read()
      return act({ action: 'top_up', receivedMinor: attempts.at(-1)?.asked.minor })
    },
    'pay too much': () => payOther(150n),
    'pay the order that was left': async () => payLate(await oldest(), way.provider),
    'let it expire': () => skip(25 * HOUR),
    'let days pass': async () => {
      await skip(5 * 24 * HOUR)
      await fixture.client.workflow.getHandle(paymentId).result()
    },
    'pay late': async () => payLate(await newest()),
    'pay when nobody listens': async () => {
      await payLate(await newest())
      await fixture.relay.relayCallbacks()
      await until(read, ({ attempts }) => attempts.some(({ status }) => status === 'paid'))
    },
    'give it back': async () => {
      const { payment } = await read()
      const decision = { operator: 'ada', reason: 'too late', version: payment.version, outside: isTransfer() }
      await fixture.client.workflow.getHandle(paymentId).executeUpdate(operatorUpdates.give_back, { args: [decision] })
      await until(read, ({ attempts }) => attempts.some(({ returned }) => returned))
    },
    cancel: () => ask(`payments/${paymentId}/cancel`, {}),
    settle: async () => {
      await until(read, ({ payment }) => payment.status === 'settling')
      await fixture.settle(paymentId)
    },
    'be elsewhere': () => buyer.setCountry(way.elsewhere ?? 'BR'),
    'be at home': () => buyer.setCountry(way.country),
    'lose the network': async () => {
      const { payment, attempts } = await read()
      knows = [payment.version, attempts.length, attempts.at(-1)?.status].join('-')
    },
    'find the network': async () => {
      if ((await buyer.hear(knows)) === knows) throw new Error('the stream says what the page knew')
    },
    'break the partner': () => buyer.play('partner_down'),
    'mend the partner': () => buyer.play('partner_down'),
  }

  return {
    take: (step: Step) => STEPS[step](),
    going: () => going,
    /** True if the payment is in the moment’s state, and its workflow is over. */
    isOver: (name: MomentName, { payment }: PaymentWithAttempts) =>
      (MOMENTS[name] as Moment).status.includes(payment.status) && payment.closedAt !== null,
  }
}
