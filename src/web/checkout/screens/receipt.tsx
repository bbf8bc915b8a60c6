import { OutlineLink } from '../../kit/button.tsx'
import { Fact } from '../../kit/facts.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Payee, ShopMail } from '../../kit/panel.tsx'
import { PlatformAddresses } from '../../kit/platform-links.tsx'
import { Qr } from '../../kit/qr.tsx'
import { Mark } from '../../kit/wordmark.tsx'
import { getProofPage } from '../../proof-page.ts'
import { type Shown } from '../shown.tsx'
import { Lines, ReceiptFacts, receiptStatus } from './receipt-lines.tsx'

/** The printable receipt: black on white, one page, with TEST across it if no money moved. */
export function Receipt({ checkout, words }: Shown) {
  const { t } = words
  const { platform, payment, shop } = checkout
  const isTest = !payment.livemode
  return (
    <>
      <nav class="tools screen" aria-label={t('receipt.tools')}>
        <OutlineLink href={checkout.path} icon="back">
          {t('receipt.back')}
        </OutlineLink>
        <button type="button" class="button" hidden data-print>
          <Icon name="print" />
          <span>{t('done.print')}</span>
        </button>
        <OutlineLink href={`${checkout.path}/receipt.pdf`} icon="save">
          {t('done.pdf')}
        </OutlineLink>
      </nav>
      <main id="main" class={isTest ? 'paper void' : 'paper'} tabIndex={-1}>
        <div class="letterhead">
          <Payee shop={shop} />
          <p class="ask">
            <ShopMail shop={checkout.shop} />
          </p>
        </div>
        <h1>{t(isTest ? 'receipt.test' : 'receipt.heading')}</h1>
        <Lines checkout={checkout} words={words} />
        <ReceiptFacts checkout={checkout} words={words}>
          <Fact name={t('receipt.status')}>{receiptStatus(checkout, words)}</Fact>
          {payment.transfer !== null && (
            <Fact name={t('receipt.transfer')}>
              <span class="id">{payment.transfer.txHash}</span>
            </Fact>
          )}
        </ReceiptFacts>
        <div class="verify">
          <Qr text={`${checkout.url}/receipt`} name={t('receipt.code', { merchant: shop.name })} size="small" />
          <p>
            <b>{t('receipt.check')}</b>
            <br />
            {t('receipt.check.text')}
            <br />
            <span class="id">{`${checkout.url}/receipt`}</span>
            {payment.transfer !== null && (
              <>
                <br />
                <a class="screen" href={getProofPage(checkout.path)}>
                  {t('receipt.prove')}
                </a>
              </>
            )}
          </p>
        </div>
        <p class="ask by">
          <Mark platform={platform} />
          <span>{t('receipt.by', { platform: platform.name })}</span>
          <PlatformAddresses platform={platform} />
        </p>
      </main>
    </>
  )
}
