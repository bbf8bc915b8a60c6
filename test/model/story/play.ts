import { lateMoneyWorkflowId } from '../../../src/domain/ids.ts'
import type { MethodName, ProviderName, ProviderUsed } from '../../../src/domain/methods.ts'
import { newId } from '../../../src/ids.ts'
import type { SandboxOrder } from '../../../src/sandbox/partners/order.ts'
import { type Attempt, attemptsOf, orderOf } from '../world/books.ts'
import { SCOPE } from '../world/engine.ts'
import { openShop, type Shop, type Theater } from '../world/shop.ts'
import { checkStory } from './check.ts'
import type { News, PartnerAct, Step, Story, Told } from './steps.ts'

const METHODS: Readonly<Record<ProviderUsed, MethodName>> = {
  wallet_app: 'banking_app',
  card_partner: 'card',
  local_partner: 'upi',
  crypto: 'usdc',
}
const HOUR_MS = 3_600_000
/** Longer than any partner is listened to, expiry postponed included. */
const DAYS_TO_END = 9

type Playing = { readonly shop: Shop; readonly changed: Set<string> }

/** Plays the story to its end. Answers what was wrong with it; empty: nothing. */
export async function playStory(theater: Theater, story: Story): Promise<string[]> {
  const shop = await openShop(theater, { minor: story.minor, currency: 'EUR', pinned: story.pinned })
  const playing = { shop, changed: new Set<string>() }
  try {
    for (const step of story.steps) await playStep(playing, step)
    await finish(playing)
    const { payment } = await shop.system.loadPayment(shop.db, shop.paymentId)
    theater.note(`${payment.status} ${payment.parkReason} ${JSON.stringify(shop.asks)}`)
    return [
      ...shop.wrong,
      ...shop.server.crashes.map(({ message }) => `crash: ${message}`),
      ...(await checkStory(shop)),
    ]
  } catch (error) {
    return [`the story stopped: ${error instanceof Error ? error.message : String(error)}`]
  } finally {
    await clean(shop)
  }
}

async function playStep(playing: Playing, step: Told): Promise<void> {
  const { shop } = playing
  await act(playing, step)
  if (step.together !== true) await shop.timeline.settle()
}

/** Happens at once: what it sets going is dealt with afterwards. */
async function act(playing: Playing, step: Step): Promise<void> {
  const { shop } = playing
  switch (step.do) {
    case 'click': {
      const argument = { attemptId: newId('attempt'), provider: step.provider, method: METHODS[step.provider] }
      return shop.ask(`click ${step.provider}`, 'openAttempt', { argument, who: 'outside' })
    }
    case 'partner':
      return atPartner(playing, step)
    case 'news': {
      const attempt = (await attemptsOf(shop))[step.of]
      if (attempt !== undefined) await spread(playing, attempt, 'told')
      return
    }
    case 'deposit':
      return deposit(shop, step)
    case 'fault':
      return shop.troubles.set({ at: step.at, trouble: step.trouble, times: step.times })
    case 'simulator': {
      const { converter, partners } = shop.stage.sandbox
      const isConverters = ['conversion_refused', 'fill_off_rate', 'delay', 'old_rates'].includes(step.fault)
      const parties = isConverters ? [converter] : Object.values(partners)
      for (const { faults } of parties) await faults.set({ fault: step.fault, times: 1, seconds: step.seconds })
      return
    }
    case 'engine': {
      const wrong = await shop.engine.act(shop.paymentId, step.act)
      if (wrong !== null) shop.wrong.push(wrong)
      return shop.relayTransfers()
    }
    case 'decide':
      return decide(shop, step)
    case 'cancel':
      return shop.ask('cancel', 'cancel', { who: 'outside' })
    case 'lose the run':
      return shop.server.lose(shop.paymentId)
    case 'cut the next activity':
      return shop.server.cutNext(step.at)
    case 'continue as new': {
      const run = shop.server.running(shop.paymentId)
      if (run !== null) run.suggestsNew = true
      return
    }
    case 'wait':
      return shop.timeline.pass(step.minutes * 60_000)
  }
}

async function decide(shop: Shop, step: Extract<Step, { do: 'decide' }>): Promise<void> {
  const attempt = step.of === null ? undefined : (await attemptsOf(shop))[step.of]?.id
  const argument = { operator: 'ada', reason: 'looked at it', ...(attempt === undefined ? {} : { attempt }) }
  const workflowId = step.late && attempt !== undefined ? lateMoneyWorkflowId(attempt) : shop.paymentId
  shop.ask(step.decision, step.decision, { argument, who: 'operator', workflowId })
}

async function atPartner(playing: Playing, step: Extract<Step, { do: 'partner' }>): Promise<void> {
  const { shop } = playing
  const attempt = (await attemptsOf(shop))[step.of]
  if (attempt === undefined || attempt.provider === 'crypto') return
  const order = await orderOf(shop, attempt)
  if (order === null) return
  const { book, faults } = shop.stage.sandbox.partners[attempt.provider as ProviderName]
  const share = ((BigInt(order.minor) * BigInt(step.percent)) / 100n).toString()
  const done = change(order, step.act, share)
  if (done === 'no') return
  if (done === 'ask') {
    if (step.act === 'pay late') await faults.set({ fault: 'late_money', attemptId: attempt.id, times: 1 })
    const { action, ...more } = ACTIONS[step.act] ?? { action: 'pay' as const }
    const answer = await book.act(attempt.id, {
      action,
      ...more,
      ...(TAKES_AMOUNT.includes(step.act) ? { receivedMinor: share } : {}),
    })
    if (answer?.kind !== 'done') return
  }
  playing.changed.add(attempt.id)
  await spread(playing, attempt, step.news)
}

const TAKES_AMOUNT: readonly PartnerAct[] = ['pay', 'pay slowly', 'confirm', 'hold', 'pay late']
const ACTIONS: Readonly<
  Partial<
    Record<
      PartnerAct,
      {
        action:
          | 'pay'
          | 'require_verification'
          | 'verify'
          | 'fail_verification'
          | 'reverse'
          | 'hold'
          | 'release'
          | 'confirm'
          | 'decline'
          | 'expire'
        seconds?: number
      }
    >
  >
> = {
  pay: { action: 'pay' },
  'pay late': { action: 'pay' },
  'pay slowly': { action: 'pay', seconds: 7200 },
  'ask for a check': { action: 'require_verification' },
  'pass the check': { action: 'verify' },
  'fail the check': { action: 'fail_verification' },
  'take all back': { action: 'reverse' },
  hold: { action: 'hold' },
  release: { action: 'release' },
  confirm: { action: 'confirm' },
  decline: { action: 'decline' },
  expire: { action: 'expire' },
}

/** What the simulators have no action for is written into their books. */
function change(order: SandboxOrder, act: PartnerAct, share: string): 'done' | 'no' | 'ask' {
  const received = BigInt(order.receivedMinor ?? '0')
  if (act !== 'top up' && act !== 'take some back' && act !== 'send all back') return 'ask'
  if (order.status !== 'paid') return 'no'
  if (act === 'send all back') Object.assign(order, { status: 'refunded' })
  else {
    const next = act === 'top up' ? received + BigInt(share) : received - BigInt(share)
    if (next <= 0n) return 'no'
    Object.assign(order, { receivedMinor: next.toString() })
  }
  return 'done'
}

async function spread({ shop, changed }: Playing, attempt: Attempt, news: News): Promise<void> {
  if (news === 'later') return
  changed.delete(attempt.id)
  await shop.storeNews(attempt.provider, attempt.id)
  if (news === 'told' || news === 'twice') shop.tellNews(attempt.id)
  if (news === 'twice') shop.tellNews(attempt.id)
}

let deposits = 0

async function deposit(shop: Shop, step: Extract<Step, { do: 'deposit' }>): Promise<void> {
  const { db, system, paymentId, timeline } = shop
  const { rows } = await db.query(
    'select address, attempt_id, asked_micro::text, token from deposit where payment_id = $1',
    [paymentId],
  )
  const row = rows[0] as
    | { address: `0x${string}`; attempt_id: string; asked_micro: string; token: `0x${string}` }
    | undefined
  if (row === undefined) return
  const log = {
    address: row.address,
    token: step.token === 'usdc' ? row.token : (`0x${'9'.repeat(40)}` as const),
    sender: `0x${'8'.repeat(40)}` as const,
    units: ((BigInt(row.asked_micro) * BigInt(step.percent)) / 100n).toString(),
    txHash: `0x${(++deposits).toString(16).padStart(24, '0')}${Date.now().toString(16).padStart(40, '0')}` as const,
    logIndex: 1,
    blockNumber: 1,
    blockHash: `0x${'4'.repeat(64)}` as const,
  }
  const hooks = system.createSettlementHooks({ publicUrl: 'http://127.0.0.1:9', now: timeline.now })
  await db.transaction(async (tx) => {
    const context = { db, scope: SCOPE, hooks }
    await system.insertDeposits(tx, context, { logs: [log], at: new Date(timeline.now()) })
    await tx.query('update deposit_log set applied_at = now() where tx_hash = $1', [log.txHash])
    await hooks.onDeposit(tx, { ...log, paymentId, attemptId: row.attempt_id, expected: step.token === 'usdc' })
  })
  shop.repeatNews()
}

/** Nothing goes wrong any more: every party answers, and everything is given time to end. */
async function finish(playing: Playing): Promise<void> {
  const { shop, changed } = playing
  const { stage, timeline, engine, troubles } = shop
  troubles.clear()
  for (const { faults } of [...Object.values(stage.sandbox.partners), stage.sandbox.converter]) await faults.clear()
  for (const attempt of await attemptsOf(shop)) if (changed.has(attempt.id)) await spread(playing, attempt, 'told')
  await timeline.settle()
  const settle = async (): Promise<void> => {
    const wrong = await engine.finish(shop.paymentId)
    if (wrong !== null) shop.wrong.push(wrong)
    shop.relayTransfers()
  }
  await timeline.pass(HOUR_MS)
  await settle()
  for (let day = 0; day < DAYS_TO_END; day++) {
    await timeline.pass(24 * HOUR_MS)
    await settle()
  }
  await timeline.pass(HOUR_MS)
}

/** The next story must not find anything of this one. */
async function clean({ db, paymentId, server }: Shop): Promise<void> {
  server.reset()
  await db.query('delete from outbox')
  await db.query('update payment set closed_at = now() where id = $1 and closed_at is null', [paymentId])
  await db.query('update partner_event set applied_at = now() where applied_at is null')
}
