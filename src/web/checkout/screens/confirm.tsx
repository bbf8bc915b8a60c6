import type { MethodName } from '../../../domain/methods.ts'
import type { Offer } from '../../../domain/offers.ts'
import { Aside } from '../../kit/aside.tsx'
import { QuietLink } from '../../kit/button.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { PostButton } from '../../kit/form.tsx'
import { Head } from '../../kit/head.tsx'
import type { IconName } from '../../kit/icon.tsx'
import { Rail, type Stop } from '../../kit/rail.tsx'
import { pickLink } from '../checkout.ts'
import { ContinueOnPhone } from '../phone.tsx'
import { getPartner, type Shown, type ShownView } from '../shown.tsx'
import { ClosingNote, isClosing } from './closing.tsx'
import { ReceiptMail } from './receipt-mail.tsx'
import { UnpaidNote } from './unpaid.tsx'

export function Confirm({ checkout, words, view }: ShownView<'confirm'>) {
  const { t } = words
  const { offer, unpaid } = view
  const partner = getPartner(checkout, offer)
  const amount = words.money(offer.charge ?? checkout.payment.amount)
  return (
    <>
      {isClosing(checkout) ? (
        <ClosingNote checkout={checkout} words={words} />
      ) : (
        unpaid !== null && <UnpaidNote checkout={checkout} words={words} attempt={unpaid} />
      )}
      <Head
        icon={offer.method}
        title={t(`confirm.heading.${offer.method}`)}
        lead={t(`confirm.lead.${offer.method}`, { partner: partner.name, amount })}
      />
      <Rail label={t('confirm.next')} stops={listPlan(checkout, words, offer)} words={words} plan />
      <Facts>
        {offer.chargeCurrency !== checkout.payment.amount.currency && (
          <Fact name={t('confirm.charged_in', { currency: words.currency(offer.chargeCurrency) })}>
            <b>{offer.charge === null ? t('confirm.fixed_next') : t('confirm.about', { amount })}</b>
          </Fact>
        )}
        {offer.provider !== 'crypto' && (
          <Fact name={t('confirm.statement')}>
            <b>
              <bdi>{partner.statement}</bdi>
            </b>
          </Fact>
        )}
      </Facts>
      <ReceiptMail checkout={checkout} words={words} form="continue" />
      <PostButton
        id="continue"
        action={`${checkout.path}/continue`}
        fields={{ provider: offer.provider, method: offer.method }}
        icon={BUTTON_ICONS[offer.method] ?? 'arrow'}
        look="button fill"
        busy={t('confirm.opening')}
      >
        {buttonText(checkout, words, offer)}
      </PostButton>
      <Aside icon="shield">{t(`confirm.private.${offer.method}`)}</Aside>
      {checkout.offered.offers.length > 1 && <QuietLink {...pickLink(checkout)}>{t('confirm.other')}</QuietLink>}
      <ContinueOnPhone checkout={checkout} words={words} />
    </>
  )
}

const BUTTON_ICONS: Readonly<Partial<Record<MethodName, IconName>>> = { upi: 'upi', usdc: 'usdc' }

function buttonText(
  { payment, partners, device }: Shown['checkout'],
  { t, money }: Shown['words'],
  offer: Offer,
): string {
  const { charge, provider, method, chargeCurrency } = offer
  const isFixed = charge !== null && chargeCurrency === payment.amount.currency
  const partner = partners[provider].name
  if (method === 'usdc') return t('confirm.continue.usdc')
  if (method === 'upi') return t(device === 'desktop' ? 'confirm.continue.upi_code' : 'confirm.continue.upi_app')
  if (charge === null) return t('confirm.continue', { partner })
  return isFixed
    ? t('confirm.continue_amount', { partner, amount: money(charge) })
    : t('confirm.continue_about', { partner, amount: money(charge) })
}

function listPlan(checkout: Shown['checkout'], words: Shown['words'], { method, ...offer }: Offer): Stop[] {
  const { t } = words
  const partner = getPartner(checkout, offer).name
  const about = words.about(offer.estimatedSeconds.p50)
  const stops: Stop[] = [
    { state: 'now', name: t(`plan.${method}`, { partner }), why: t(`plan.${method}.why`, { about, partner }) },
  ]
  if (method === 'card') stops.push({ state: 'maybe', name: t('plan.bank_asks'), why: t('plan.bank_asks.why') })
  if (offer.identityCheck && method !== 'upi')
    stops.push({ state: 'maybe', name: t('plan.identity'), why: t('plan.identity.why', { partner }) })
  const measured = offer.measuredSeconds
  const time = measured === null ? '' : ` ${t('plan.receipt.measured', { about: words.about(measured.p50) })}`
  stops.push({ state: 'todo', name: t('plan.receipt'), why: `${t('plan.receipt.why')}${time}` })
  return stops
}
