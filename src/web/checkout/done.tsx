import type { ComponentChildren } from 'preact'
import { explorerUrl } from '../../domain/payment/payment-object.ts'
import { Notice, ShopLink, type Shown } from './parts.tsx'
import { Steps } from './progress.tsx'

export function Done({ checkout, words }: Shown) {
  const { t } = words
  const { payment, attempts, merchantName: merchant } = checkout
  return (
    <>
      <h1>{t('done.heading')}</h1>
      <p role="status" class="lead">
        {t('done.text', { merchant })}
      </p>
      <Steps states={['done', 'done', 'done']} words={words} />
      {payment.exception === 'paid_late' && <Notice kind="info">{t('done.late')}</Notice>}
      {attempts.some((attempt) => attempt.status === 'surplus') && <Notice kind="info">{t('done.surplus')}</Notice>}
      <ShopLink href={payment.successUrl} checkout={checkout} words={words} primary />
      <Receipt checkout={checkout} words={words} />
    </>
  )
}

function Receipt({ checkout, words }: Shown) {
  const { t } = words
  const { payment } = checkout
  const paidAt = payment.paidAt ?? payment.succeededAt ?? payment.updatedAt
  const explorer = explorerUrl(payment)
  return (
    <section class="receipt" aria-labelledby="receipt">
      <h2 id="receipt">{t('done.receipt')}</h2>
      <dl>
        <Row name={t('done.amount')}>{words.money(payment.amount)}</Row>
        {payment.confirmed !== null && payment.confirmed.currency !== payment.amount.currency && (
          <Row name={t('done.charged')}>{words.money(payment.confirmed)}</Row>
        )}
        <Row name={t('summary.to')}>{checkout.merchantName}</Row>
        {payment.reference !== null && <Row name={t('summary.reference')}>{payment.reference}</Row>}
        {payment.methodUsed !== null && <Row name={t('done.method')}>{t(`method.${payment.methodUsed}`)}</Row>}
        <Row name={t('done.date')}>{words.dateTime(paidAt)}</Row>
        <Row name={t('done.payment')}>{payment.id}</Row>
        {payment.transfer !== null && (
          <Row name={t('done.transaction')}>
            {explorer === null ? <code>{payment.transfer.txHash}</code> : <a href={explorer}>{t('done.explorer')}</a>}
          </Row>
        )}
      </dl>
    </section>
  )
}

function Row({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd dir="auto">{children}</dd>
    </div>
  )
}
