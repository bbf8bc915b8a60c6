import type { ComponentChildren } from 'preact'
import { CUSTOMER_DAYS } from '../../../domain/payment/buyer.ts'
import { Aside } from '../../kit/aside.tsx'
import { Field } from '../../kit/field.tsx'
import { Fold } from '../../kit/fold.tsx'
import { PostForm } from '../../kit/form.tsx'
import type { Shown } from '../shown.tsx'

/** Asks for an address for the receipt. Its fields belong to the form of that id, which is elsewhere on the page. */
export function ReceiptMail({ checkout, words, form }: Shown & { form: string }) {
  return (
    <Ask checkout={checkout} words={words}>
      <Fields checkout={checkout} words={words} form={form} />
    </Ask>
  )
}

/** Asks for an address for the receipt of a payment that is paid. */
export function ReceiptMailForm({ checkout, words }: Shown) {
  return (
    <Ask checkout={checkout} words={words}>
      <PostForm action={`${checkout.path}/receipt-mail`} look="form">
        <Fields checkout={checkout} words={words} />
        <button type="submit" class="button">
          {words.t('mail.send')}
        </button>
      </PostForm>
    </Ask>
  )
}

function Ask({ checkout, words, children }: Shown & { children: ComponentChildren }) {
  const { t } = words
  const { to, isFixed, wrong } = checkout.receiptMail
  const goes = to === null ? null : words.rich('mail.goes', { address: <bdi>{to}</bdi> })
  if (isFixed) return goes === null ? null : <Aside icon="mail">{goes}</Aside>
  return (
    <Fold icon="mail" title={goes ?? t('mail.title')} open={wrong !== null}>
      {children}
    </Fold>
  )
}

function Fields({ checkout, words, form }: Shown & { form?: string }) {
  const { t } = words
  const { wrong } = checkout.receiptMail
  return (
    <>
      <Field
        name="email"
        label={t('mail.label')}
        hint={t('mail.use', { days: String(CUSTOMER_DAYS) })}
        errors={wrong === null ? {} : { email: t('mail.wrong') }}
        errorRole="alert"
      >
        {(attributes) => (
          <input {...attributes} type="email" autoComplete="email" maxLength={254} form={form} value={wrong ?? ''} />
        )}
      </Field>
      <label class="choice">
        <input type="checkbox" name="share" value="yes" form={form} />
        <span>{t('mail.share', { merchant: checkout.shop.name })}</span>
      </label>
    </>
  )
}
