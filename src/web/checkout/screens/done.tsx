import type { Attempt } from '../../../domain/payment/payment-object.ts'
import { CopyButton, OutlineLink } from '../../kit/button.tsx'
import { Fold } from '../../kit/fold.tsx'
import { Head } from '../../kit/head.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Note } from '../../kit/note.tsx'
import { ShopMail } from '../../kit/panel.tsx'
import { Rail } from '../../kit/rail.tsx'
import { Time } from '../../kit/time.tsx'
import { type Amounts, getAmounts } from '../amounts.ts'
import type { BuyerRefund } from '../checkout.ts'
import { getRefundedPart } from '../refunds.ts'
import { backStop, bankTime, formatOtherMoney, getPartner, methodName, ShopLink, type Shown } from '../shown.tsx'
import { moneyStops, payingPartner } from './progress.tsx'
import { Lines, paidWith, ReceiptFacts } from './receipt-lines.tsx'
import { ReceiptMailForm } from './receipt-mail.tsx'

export function Done({ checkout, words }: Shown) {
  const { t } = words
  const amounts = getAmounts(checkout)
  const { payment } = checkout
  const isTest = !payment.livemode
  return (
    <>
      <Head icon="check" {...toHead({ checkout, words }, amounts)} live final />
      <DoneNote checkout={checkout} words={words} amounts={amounts} />
      {amounts.surplus.length > 0 ? (
        <Both checkout={checkout} words={words} amounts={amounts} />
      ) : (
        <section class={isTest ? 'slip void' : 'slip'} aria-labelledby="receipt">
          <h2 class="unseen" id="receipt">
            {t(isTest ? 'receipt.test' : 'receipt.heading')}
          </h2>
          <Lines checkout={checkout} words={words} />
          <ReceiptFacts checkout={checkout} words={words} />
        </section>
      )}
      <ShopLink href={payment.successUrl} checkout={checkout} words={words} weight="filled" />
      <div class="tools">
        <OutlineLink href={`${checkout.path}/receipt`} icon="print">
          {t('done.print')}
        </OutlineLink>
        <OutlineLink href={`${checkout.path}/receipt.pdf`} icon="save">
          {t('done.pdf')}
        </OutlineLink>
        <CopyButton value={checkout.url} done={words.t('copy.done')} icon="link">
          {t('done.copy')}
        </CopyButton>
      </div>
      <ReceiptMailForm checkout={checkout} words={words} />
      <Fold icon="clock" title={t('done.steps')}>
        <Rail label={t('done.happened')} stops={moneyStops(checkout, words, 3)} words={words} />
        {payment.transfer !== null && <p class="id">{payment.transfer.txHash}</p>}
      </Fold>
    </>
  )
}

function toHead({ checkout, words }: Shown, { price, paid, extra, surplus }: Amounts): { title: string; lead: string } {
  const { t } = words
  const merchant = checkout.shop.name
  const [second] = surplus
  if (second !== undefined)
    return {
      title: t('done.twice.heading'),
      lead: t('done.twice.lead', {
        merchant,
        amount: words.money(paid ?? price),
        other: formatOtherMoney(second, words),
      }),
    }
  if (extra !== null && paid !== null)
    return {
      title: t('done.over.heading', { extra: words.money(extra) }),
      lead: t('done.over.lead', {
        partner: payingPartner(checkout),
        amount: words.money(paid),
        price: words.money(getAmounts(checkout).counted?.asked ?? price),
      }),
    }
  if (getRefundedPart(checkout) === 'all') return { title: t('refunded.heading'), lead: t('refunded.text') }
  return { title: t('done.heading'), lead: t('done.lead', { merchant }) }
}

/** Shows one note at most. The newest refund matters most, then extra money, returned money, and a late payment. */
function DoneNote({ checkout, words, amounts }: Shown & { amounts: Amounts }) {
  const { t } = words
  const { extra } = amounts
  const refund = checkout.refunds.findLast(({ state }) => state !== 'done' || getRefundedPart(checkout) === 'part')
  if (refund !== undefined && amounts.surplus.length === 0)
    return <RefundNote checkout={checkout} words={words} refund={refund} />
  const merchant = checkout.shop.name
  if (extra !== null && amounts.surplus.length === 0)
    return (
      <Note tone="wait" icon="help" strong={t('done.over.note', { extra: words.money(extra) })}>
        {t('done.over.ask', { merchant })} <ShopMail shop={checkout.shop} />
      </Note>
    )
  const [back] = amounts.returned
  if (back !== undefined && amounts.surplus.length === 0)
    return (
      <Note tone="quiet" icon="back" strong={`${t('receipt.returned')}: ${formatOtherMoney(back, words)}`}>
        {bankTime([back.attempt], t('refunded.text'))}
      </Note>
    )
  if (checkout.payment.exception !== 'paid_late') return null
  return (
    <Note tone="quiet" icon="clock" strong={t('done.late')}>
      {t('done.late.counts', { merchant })}
    </Note>
  )
}

function RefundNote({ checkout, words, refund: { state, amount } }: Shown & { refund: BuyerRefund }) {
  const { t } = words
  const strong = t(`refund.${state}`, { amount: words.money(amount) })
  if (state === 'failed')
    return (
      <Note tone="wait" icon="help" strong={strong}>
        {t('refund.failed.ask', { merchant: checkout.shop.name })} <ShopMail shop={checkout.shop} />
      </Note>
    )
  return (
    <Note tone="quiet" icon="back" strong={strong}>
      {state === 'coming' && `${t('refund.coming.way', { way: paidWith(checkout, words) })} `}
      {t('refunded.text')}
    </Note>
  )
}

function Both({ checkout, words, amounts: { counted, paid, price, surplus } }: Shown & { amounts: Amounts }) {
  const { t } = words
  const [second] = surplus
  if (second === undefined) return null
  return (
    <>
      <section class="slip" aria-labelledby="both">
        <h2 class="unseen" id="both">
          {t('done.twice.both')}
        </h2>
        <ul class="both">
          {counted !== null && (
            <Part checkout={checkout} words={words} attempt={counted} amount={words.money(paid ?? price)} counts />
          )}
          {surplus.map((held) => (
            <Part
              key={held.attempt.id}
              checkout={checkout}
              words={words}
              attempt={held.attempt}
              amount={formatOtherMoney(held, words)}
            />
          ))}
        </ul>
      </section>
      <div class="wait">
        <Rail
          label={t('done.twice.second')}
          words={words}
          stops={[
            { state: 'past', name: t('done.twice.held'), time: { at: second.attempt.updatedAt, said: 'at' } },
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

type PartProps = Shown & { readonly attempt: Attempt; readonly amount: string; readonly counts?: boolean }

function Part({ checkout, words, attempt, amount, counts = false }: PartProps) {
  const { t } = words
  const tone = counts ? 'success' : 'wait'
  return (
    <li class={tone}>
      <span class="pin">
        <Icon name={attempt.method} />
      </span>
      <span class="pair">
        <span class="name">
          {methodName(attempt, words)} <b class="tag">{t(counts ? 'done.twice.counted' : 'done.twice.returning')}</b>
        </span>{' '}
        <span class="cost">{amount}</span>
      </span>
      <span class="hint">
        {getPartner(checkout, attempt).name}, <Time at={attempt.updatedAt} style="time" words={words} />
      </span>
    </li>
  )
}
