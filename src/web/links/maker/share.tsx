import type { PaymentLink } from '../../../domain/link/link.ts'
import { fiatText } from '../../dashboard/payment-words.tsx'
import { CopyButton } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { QrImage } from '../../kit/qr.tsx'

export function mailTo(subject: string, body: string): string {
  return `mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(body)}`
}

export function Share({ link, url }: { link: PaymentLink; url: string }) {
  const { pathname } = new URL(url)
  const { amount, currency } = link.price
  const text = `${link.title}${amount === null ? '' : `, ${fiatText(amount)} ${currency}`}. Pay here: ${url}`
  return (
    <section class="card" aria-label="Share">
      <div class="stack code-left">
        <div class="stack tight">
          <LinkQr link={link} url={url} />
          <p class="actions">
            <QrFiles url={url} />
          </p>
        </div>
        <div class="stack">
          <AddressField url={url} look="button fill" />
          <div class="field">
            <label for="text">Text to send</label>
            <textarea id="text" rows={3} readOnly value={text} />
          </div>
          <p class="actions">
            <CopyButton value={text}>Copy text</CopyButton>
            <a class="button" href={mailTo(link.title, text)}>
              <Icon name="mail" />
              E-mail
            </a>
            <a class="button" href={pathname} rel="noreferrer">
              <Icon name="out" />
              Open
            </a>
          </p>
        </div>
      </div>
    </section>
  )
}

export function LinkQr({ link, url }: { link: PaymentLink; url: string }) {
  return <QrImage src={`${new URL(url).pathname}/qr.svg`} name={`QR code of the link: ${link.title}`} />
}

export function QrFiles({ url }: { url: string }) {
  return (
    <>
      {(['svg', 'png'] as const).map((form) => (
        <a key={form} class="button text" href={`${new URL(url).pathname}/qr.${form}`} rel="noreferrer">
          <Icon name="save" />
          <span>
            <span class="unseen">QR code as </span>
            {form.toUpperCase()}
          </span>
        </a>
      ))}
    </>
  )
}

export function AddressField({ url, look }: { url: string; look: string }) {
  return (
    <div class="field">
      <label for="url">Payment link</label>
      <div class="inline">
        <input id="url" readOnly value={url} />
        <CopyButton value={url} look={look}>
          Copy<span class="unseen"> the payment link</span>
        </CopyButton>
      </div>
    </div>
  )
}
