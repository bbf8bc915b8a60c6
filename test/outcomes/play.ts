import type { PaymentFixture } from '../../scripts/histories/payment-fixture.ts'
import type { PaymentWithAttempts } from '../../src/domain/payment/payment-object.ts'
import { createBuyer } from './buyer.ts'
import { getPage, MOMENTS, type Moment, type MomentName } from './moments.ts'
import type { ReadPage } from './page.ts'
import { createSteps } from './steps.ts'
import type { Scene, Story } from './stories.ts'
import { formatTruthAmount, freeMinor, untruths } from './truth.ts'
import { type PlayedWay, partnerName } from './ways.ts'

/** The result of a story for a way to pay: the violations, or why it is not played. */
export type Outcome =
  | { readonly kind: 'played'; readonly looks: number; readonly wrong: readonly string[] }
  | { readonly kind: 'no meaning'; readonly because: string }

const PATIENCE_MS = 10_000
const PAUSE_MS = 15

/** The scenes of the story for the way; a text: why it has none. */
export function listScenes(story: Story, way: PlayedWay): readonly Scene[] | string {
  if (way.provider === 'crypto') return story.usdc
  if (way.provider !== 'local_partner' && story.canceling !== undefined) return story.canceling
  if (way.elsewhere === null && story.everywhere !== undefined) return story.everywhere
  return story.partner
}

/**
 * Plays the story, and reads the page during each wait and after each step: each reading is compared with the rows, the
 * last of a step also with the moment.
 */
export async function play(fixture: PaymentFixture, story: Story, way: PlayedWay): Promise<Outcome> {
  const scenes = listScenes(story, way)
  if (typeof scenes === 'string') return { kind: 'no meaning', because: scenes }
  const wrong = new Set<string>()
  const paymentId = await fixture.createPayment({
    provider: way.pinned ? way.provider : undefined,
    success_url: 'https://shop.example/thanks',
    cancel_url: 'https://shop.example/cart',
  })
  const { payment } = await fixture.read(paymentId)
  const buyer = createBuyer(`${fixture.api}/c/${payment.checkoutToken}`, way.country)
  const steps = createSteps(fixture, { paymentId, buyer, way })
  let looks = 0

  /** Null while page and rows show two moments. */
  async function look(step: string): Promise<{ row: PaymentWithAttempts; page: ReadPage } | null> {
    const before = await fixture.read(paymentId)
    const page = await buyer.look()
    const status = await buyer.status()
    const row = await fixture.read(paymentId)
    if (describeMoment(before) !== describeMoment(row)) return null
    looks += 1
    const broken = untruths({ page, row })
    if (status.status !== row.payment.status || status.key !== page.key)
      broken.push('an open page receives what it shows')
    for (const rule of broken) wrong.add(`${step} (${page.page} of ${row.payment.status}): not true: ${rule}`)
    return { row, page }
  }

  async function reach(step: string, name: MomentName): Promise<void> {
    let differs: readonly string[] = ['the page and the rows never agreed']
    for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; ) {
      const seen = await look(step)
      if (seen !== null) differs = differences(MOMENTS[name], seen, steps.going())
      if (differs.length === 0) return
      // A status that the page does not show by then never appears, because nothing is left to happen.
      if (seen !== null && steps.isOver(name, seen.row)) break
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
    for (const difference of differs) wrong.add(`${step}: "${name}" ${difference}`)
  }

  for (const [step, moment] of scenes) {
    try {
      await steps.take(step)
      await reach(step, moment)
    } catch (error) {
      wrong.add(`${step}: ${error instanceof Error ? error.message : String(error)}`)
      break
    }
  }
  await look('at the end')
  for (const fault of await checkReceipt()) wrong.add(fault)
  return { kind: 'played', looks, wrong: [...wrong] }

  async function checkReceipt(): Promise<string[]> {
    const { payment: row } = await fixture.read(paymentId)
    const receipt = await buyer.receipt()
    if ((receipt !== null) !== (row.status === 'succeeded'))
      return ['a receipt exists of what was paid, and of nothing else']
    if (receipt === null || row.confirmed === null) return []
    const [digits = ''] = formatTruthAmount(row.confirmed).split(' ')
    return receipt.replace(/,/g, '').includes(digits) ? [] : [`the receipt does not say ${digits}`]
  }
}

function describeMoment({ payment, attempts }: PaymentWithAttempts): string {
  return JSON.stringify([payment.version, payment.status, attempts.map(({ status }) => status)])
}

/** Returns the differences between the page and the moment. */
function differences(
  moment: Moment,
  { row, page }: { readonly row: PaymentWithAttempts; readonly page: ReadPage },
  way: PlayedWay,
): string[] {
  const named = (text: string): string => text.replace(/NAME/g, partnerName(way))
  const all: (readonly [boolean, string])[] = [
    [
      !moment.status.includes(row.payment.status),
      `is of ${moment.status.join(' or ')}, the payment is ${row.payment.status}`,
    ],
    [page.page !== getPage(moment, way), `has the page ${getPage(moment, way)}, not ${page.page}`],
    [!page.title.startsWith(named(moment.title)), `has a title "${named(moment.title)}…", not "${page.title}"`],
    [
      moment.heading !== null && !page.heading.includes(named(moment.heading)),
      `has a heading "${moment.heading}", not "${page.heading}"`,
    ],
    [
      moment.filled === null ? page.filled.length > 0 : !page.filled[0]?.startsWith(named(moment.filled)),
      `has the filled button ${moment.filled ?? 'none'}, not ${page.filled.join(' and ') || 'none'}`,
    ],
    ...(moment.says ?? []).map(
      (words) => [!page.text.includes(named(words)), `says "${named(words)}": ${page.text}`] as const,
    ),
    [moment === MOMENTS['a part has come'] && !asksForTheRest(page), `asks for the other half: ${page.text}`],
    [isLow(row) && page.page === 'checking' && !page.text.includes('Missing'), 'says what is missing'],
  ]
  return all.filter(([differs]) => differs).map(([, text]) => text)
}

/** Half has arrived: the same amount is missing, except for the last digit, and the address asks for that. */
function asksForTheRest({ page, text }: ReadPage): boolean {
  if (page !== 'usdc') return true
  const [, arrived = '', missing = ''] = /Arrived ([\d.]+) USDC Missing ([\d.]+) USDC/.exec(text) ?? []
  const isHalf = Math.abs(Number(arrived) - Number(missing)) < 0.000_002
  return missing !== '' && isHalf && text.includes(`Send ${missing} USDC`) && text.includes(`Exact amount ${missing} `)
}

/** Less than the requested amount has arrived. */
function isLow({ payment, attempts }: PaymentWithAttempts): boolean {
  return payment.exception === 'underpaid' && attempts.some((attempt) => freeMinor(attempt) > 0n)
}
