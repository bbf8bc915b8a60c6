import type { PaymentLink } from '../../../domain/link/link.ts'
import { fiatText } from '../../dashboard/payment-words.tsx'
import { SiteIcon } from '../../site/icons.tsx'

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
          <QrImage link={link} url={url} />
          <p class="actions">
            <QrFiles url={url} />
          </p>
        </div>
        <div class="stack">
          <AddressField url={url} look="btn fill" />
          <div class="field">
            <label for="text">Text to send</label>
            <textarea id="text" rows={3} readOnly value={text} />
          </div>
          <p class="actions">
            <CopyButton value={text} look="btn" name="Copy text" />
            <a class="btn" href={mailTo(link.title, text)}>
              <SiteIcon name="mail" />
              E-mail
            </a>
            <a class="btn" href={pathname} rel="noreferrer">
              <SiteIcon name="out" />
              Open
            </a>
          </p>
        </div>
      </div>
    </section>
  )
}

export function QrImage({ link, url }: { link: PaymentLink; url: string }) {
  const alt = `QR code of the link: ${link.title}`
  return <img class="qr" src={`${new URL(url).pathname}/qr.svg`} alt={alt} width="208" height="208" />
}

export function QrFiles({ url }: { url: string }) {
  return (
    <>
      {(['svg', 'png'] as const).map((form) => (
        <a key={form} class="btn text" href={`${new URL(url).pathname}/qr.${form}`} rel="noreferrer">
          <SiteIcon name="download" />
          <span>
            <span class="hidden">QR code as </span>
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
        <CopyButton value={url} look={look} name="Copy" of="the payment link" />
      </div>
    </div>
  )
}

export function CopyButton({ value, look, name, of }: { value: string; look: string; name: string; of?: string }) {
  return (
    <button
      class={look}
      type="button"
      hidden
      data-copy={value}
      aria-label={of === undefined ? undefined : `${name} ${of}`}
    >
      <SiteIcon name="copy" />
      <span>{name}</span>
    </button>
  )
}
