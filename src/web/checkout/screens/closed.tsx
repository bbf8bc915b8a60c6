import { FillLink } from '../../kit/button.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { Head } from '../../kit/head.tsx'
import type { IconName } from '../../kit/icon.tsx'
import { Note } from '../../kit/note.tsx'
import { ShopMail } from '../../kit/panel.tsx'
import { Rail } from '../../kit/rail.tsx'
import { Time } from '../../kit/time.tsx'
import type { Tone } from '../../kit/tone.ts'
import type { MessageKey } from '../../messages/translate.ts'
import type { Words } from '../../messages/words.ts'
import { getAmounts } from '../amounts.ts'
import type { Checkout } from '../checkout.ts'
import { backStop, bankTime, formatOtherMoney, ShopLink, type Shown, type ShownView } from '../shown.tsx'
import { canMoneyArrive, getContinuePath, hasSurplus, isLateMoneyCounted, wasReturned } from '../view.ts'

type As = ShownView<'closed'>['view']['as']

const LOOKS = {
  expired: { icon: 'clock', heading: 'expired.heading', tone: 'quiet' },
  canceled: { icon: 'close', heading: 'canceled.heading', tone: 'quiet' },
  failed: { icon: 'warning', heading: 'failed.heading', tone: 'problem' },
  refunded: { icon: 'back', heading: 'refunded.heading', tone: 'quiet' },
} as const satisfies Record<As, { icon: IconName; heading: MessageKey; tone: Tone }>

export function getClosedTone(as: As): Tone {
  return LOOKS[as].tone
}

/**
 * The page of a payment that ended without a payout. While money has arrived or can still arrive, the page does not
 * claim that nothing was charged, and does not ask the buyer to pay again.
 */
export function Closed({ checkout, words, view: { as } }: ShownView<'closed'>) {
  const { t } = words
  const { payment, shop } = checkout
  const money = findMoney(checkout)
  const { icon, heading } = LOOKS[as]
  return (
    <>
      <Head icon={icon} title={t(heading)} lead={<Lead checkout={checkout} words={words} as={as} />} live />
      {as !== 'refunded' && <ClosedNote checkout={checkout} words={words} />}
      {money === 'held' && <Held checkout={checkout} words={words} />}
      <ShopLink href={payment.cancelUrl} checkout={checkout} words={words} weight="filled" />
      {(money === 'none' || money === 'returned') && as !== 'refunded' && (
        <p class="soft">
          {t('closed.again', { merchant: shop.name })} <ShopMail shop={checkout.shop} />
        </p>
      )}
    </>
  )
}

/** Finds the state of the buyer's money. Money that has arrived comes first, then money that can still arrive. */
function findMoney(checkout: Checkout): 'held' | 'may come' | 'returned' | 'none' {
  if (hasSurplus(checkout)) return 'held'
  if (canMoneyArrive(checkout)) return 'may come'
  return wasReturned(checkout) ? 'returned' : 'none'
}

function ClosedNote({ checkout, words }: Shown) {
  const { t } = words
  const money = findMoney(checkout)
  if (money === 'none') return null
  if (money === 'returned')
    return (
      <Note tone="quiet" icon="back" strong={t('refunded.heading')}>
        {returnText(checkout, words)}
      </Note>
    )
  return money === 'held' ? (
    <Note tone="wait" icon="search" strong={t('done.late')}>
      {t('checking.lead')}
    </Note>
  ) : (
    <Note tone="wait" icon="help" strong={t('closed.last_minute')}>
      {t(isLateMoneyCounted(checkout) ? 'closed.late_counts' : 'closed.late_safe')}
    </Note>
  )
}

function Held({ checkout, words }: Shown) {
  const { t } = words
  const { surplus } = getAmounts(checkout)
  return (
    <>
      <Facts>
        {surplus.map((held) => (
          <Fact key={held.attempt.id} name={t('checking.received')}>
            {formatOtherMoney(held, words)}
          </Fact>
        ))}
        <Fact name={t('done.payment')}>
          <span class="id">{checkout.payment.id}</span>
        </Fact>
      </Facts>
      <div class="wait">
        <Rail
          label={t('rail.where')}
          words={words}
          stops={[
            { state: 'now', name: t('done.twice.person'), why: t('done.twice.nothing') },
            backStop(
              surplus.map(({ attempt }) => attempt),
              words,
            ),
          ]}
        />
      </div>
    </>
  )
}

function Lead({ checkout, words, as }: Shown & { as: As }) {
  const { t } = words
  if (as !== 'expired') return <>{leadText(checkout, words, as)}</>
  return (
    <>
      {findMoney(checkout) === 'none' && t('closed.not_charged')}{' '}
      {words.rich('expired.until', { time: <Time at={checkout.payment.expiresAt} style="day" words={words} /> })}
    </>
  )
}

function returnText({ attempts }: Checkout, { t }: Words): string | undefined {
  return bankTime(
    attempts.filter(({ returned }) => returned),
    t('refunded.text'),
  )
}

function leadText(checkout: Checkout, words: Words, as: Exclude<As, 'expired'>): string | undefined {
  const { t } = words
  if (as === 'refunded') return returnText(checkout, words)
  if (findMoney(checkout) !== 'none') return t('closed.order_open')
  return as === 'canceled' ? t('canceled.text') : t('failed.text')
}

/** The page of an open payment that can have no further attempt. */
export function NoMoreTries({ checkout, words, view: { resumable } }: ShownView<'no_more_tries'>) {
  const { t } = words
  const text = t('tries.text')
  const lead = resumable === null ? `${text} ${t('closed.again', { merchant: checkout.shop.name })}` : text
  return (
    <>
      <Head icon="warning" title={t('tries.heading')} lead={lead} live />
      <Note tone="wait" icon="help" strong={t('tries.paid')}>
        {t('tries.safe')}
      </Note>
      {resumable !== null && (
        <FillLink href={getContinuePath(checkout.path, resumable)} icon="arrow">
          {t('pick.keep')}
        </FillLink>
      )}
    </>
  )
}
