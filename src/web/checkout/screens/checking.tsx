import { isZero, subtract } from '../../../domain/money.ts'
import type { Attempt } from '../../../domain/payment/payment-object.ts'
import { readTransferLink, type TransferRequest } from '../../../domain/settlement/deposit.ts'
import { CopyButton, OutlineLink } from '../../kit/button.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { Head } from '../../kit/head.tsx'
import { Rail, type Stop } from '../../kit/rail.tsx'
import type { Words } from '../../messages/words.ts'
import { getAmounts } from '../amounts.ts'
import type { Checkout } from '../checkout.ts'
import { backStop, ShopLink, type Shown, shortUsdc } from '../shown.tsx'
import { isLateMoneyCounted } from '../view.ts'
import { ShortFacts } from './finish.tsx'
import { payingPartner } from './progress.tsx'
import { Transfer } from './usdc.tsx'

export function Checking({ checkout, words }: Shown) {
  const { t } = words
  const { payment, shop, url } = checkout
  const { short } = getAmounts(checkout)
  const rest = short === null ? null : findRestOfUsdc(checkout, short.attempt)
  return (
    <>
      {rest === null ? (
        <Head icon="search" title={t('checking.heading')} lead={t('checking.lead')} live />
      ) : (
        <Head icon="usdc" title={t('usdc.heading', { amount: shortUsdc(rest.micro) })} lead={t('usdc.lead')} live />
      )}
      <Rail label={t('rail.where')} stops={listStops(checkout, words)} words={words} />
      {short !== null && <ShortFacts short={short} words={words} />}
      {rest !== null && <Transfer checkout={checkout} words={words} transfer={rest} />}
      <Facts>
        <Fact name={t('done.payment')}>
          <span class="id">{payment.id}</span>
        </Fact>
      </Facts>
      {shop.supportEmail !== null && (
        <OutlineLink href={`mailto:${shop.supportEmail}?subject=${encodeURIComponent(payment.id)}`} icon="help">
          {t('checking.help')}
        </OutlineLink>
      )}
      <CopyButton value={url} done={words.t('copy.done')} icon="link">
        {t('checking.copy')}
      </CopyButton>
      <ShopLink href={payment.successUrl} checkout={checkout} words={words} />
    </>
  )
}

/**
 * USDC that arrives late at the address of the order still completes it. Null for any other order, and if the platform
 * asks for no more: all of it is at the address, or late money no longer counts.
 */
function findRestOfUsdc(checkout: Checkout, { provider, intentUri, held }: Attempt): TransferRequest | null {
  const asked = provider === 'crypto' ? readTransferLink(intentUri ?? '') : null
  if (asked === null || !isLateMoneyCounted(checkout)) return null
  const micro = subtract(asked.micro, checkout.received ?? held)
  return isZero(micro) || micro.startsWith('-') ? null : { ...asked, micro }
}

function listStops(checkout: Checkout, words: Words): Stop[] {
  const { t } = words
  const { payment, shop } = checkout
  const { paid, counted } = getAmounts(checkout)
  const isBack = payment.payout === 'void' || payment.statusReason === 'giving_back'
  const looking: Stop = {
    state: 'now',
    name: t(isBack ? 'done.twice.person' : 'checking.person'),
    time: { at: payment.updatedAt, said: 'since' },
    why: isBack ? t('done.twice.nothing') : reviewText(checkout, words),
  }
  const sent: Stop = { state: 'todo', name: t('progress.sent', { merchant: shop.name }) }
  const back = backStop(counted === null ? checkout.attempts : [counted], words)
  // While the payout is being voided, it is not known if the money is sent or goes back.
  const rest = payment.payout === 'voiding' ? [looking] : [looking, isBack ? back : sent]
  if (payment.paidAt === null || paid === null) return rest
  const why = t('progress.paid.why', { amount: words.money(paid), partner: payingPartner(checkout) })
  return [{ state: 'past', name: t('progress.paid'), time: { at: payment.paidAt, said: 'at' }, why }, ...rest]
}

function reviewText(checkout: Checkout, { t }: Words): string {
  const { statusReason } = checkout.payment
  if (statusReason === 'withheld') return t('checking.partner_hold', { partner: payingPartner(checkout) })
  if (statusReason === 'too_little') return t('checking.underpaid')
  if (statusReason === 'other_token') return t('checking.wrong_asset')
  return t('checking.other')
}
