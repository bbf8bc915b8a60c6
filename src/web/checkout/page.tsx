import type { VNode } from 'preact'
import { renderBuyerPage, Sheet } from '../kit/buyer-page.tsx'
import type { LanguageChange } from '../kit/languages.tsx'
import type { Tone } from '../kit/tone.ts'
import type { Words } from '../messages/words.ts'
import { type Checkout, getPagePath, recordsOpening } from './checkout.ts'
import { getPageKey, getPageUrl, getStamp, isWaiting, pollSeconds } from './live.ts'
import { CheckoutPanel } from './panel.tsx'
import { SandboxBar } from './sandbox-bar.tsx'
import { BackToShop } from './screens/back-to-shop.tsx'
import { Checking } from './screens/checking.tsx'
import { Closed, getClosedTone, NoMoreTries } from './screens/closed.tsx'
import { ClosingNote } from './screens/closing.tsx'
import { Confirm } from './screens/confirm.tsx'
import { Country } from './screens/country.tsx'
import { Declined } from './screens/declined.tsx'
import { Done } from './screens/done.tsx'
import { Down } from './screens/down.tsx'
import { Finish, type HandedOver, Handoff } from './screens/finish.tsx'
import { NotOffered } from './screens/not-offered.tsx'
import { OfflineLine } from './screens/offline.tsx'
import { OpenElsewhere } from './screens/open-elsewhere.tsx'
import { Pick } from './screens/pick.tsx'
import { Progress } from './screens/progress.tsx'
import { Receipt } from './screens/receipt.tsx'
import { Returning } from './screens/returning.tsx'
import { Upi } from './screens/upi.tsx'
import { Usdc } from './screens/usdc.tsx'
import { Verification } from './screens/verification.tsx'
import { getPageTitle } from './title.ts'
import { getView, type View } from './view.ts'

/** Seconds after which a waiting page loads again without JavaScript. */
const REFRESH_SECONDS = 3

export function renderCheckout(checkout: Checkout, words: Words): string {
  const view = getView(checkout)
  const here = checkout.isAddressOld ? getPageUrl(checkout, view) : undefined
  return renderBuyerPage({
    platform: checkout.platform,
    words,
    title: getPageTitle(checkout, words, view),
    testMode: !checkout.payment.livemode,
    ...(checkout.sandbox !== null && { tools: <SandboxBar checkout={checkout} words={words} /> }),
    brand: checkout.shop.brand,
    languages: languageChange(checkout, getPageUrl(checkout, view)),
    ...(isWaiting(view) && { refresh: { seconds: REFRESH_SECONDS, url: here } }),
    ...(checkout.frame !== null && { wholePage: checkout.path }),
    children: (
      <Sheet
        tone={pageTone(view)}
        panel={<CheckoutPanel checkout={checkout} words={words} view={view} />}
        data={{
          'data-page': view.page,
          'data-key': getPageKey(checkout, view),
          'data-status': `${getPagePath(checkout)}/status`,
          'data-poll': pollSeconds(checkout, view),
          'data-live': `${checkout.path}/live?knows=${getStamp(checkout)}`,
          'data-here': here,
          'data-opened': recordsOpening(checkout) ? `${checkout.path}/opened` : undefined,
          ...frameData(checkout),
        }}
      >
        <OfflineLine words={words} view={view} />
        {view.page !== 'confirm' && isPaidHere(view) && <ClosingNote checkout={checkout} words={words} />}
        {renderView(checkout, words, view)}
        <BackToShop checkout={checkout} words={words} view={view} />
      </Sheet>
    ),
  })
}

export function renderHandoff(checkout: Checkout, words: Words, order: HandedOver): string {
  return renderBuyerPage({
    platform: checkout.platform,
    words,
    title: getPageTitle(checkout, words, { page: 'handoff', order }),
    testMode: !checkout.payment.livemode,
    brand: checkout.shop.brand,
    goTo: order.redirectUrl,
    children: (
      <Sheet tone="brand" panel={<CheckoutPanel checkout={checkout} words={words} view={null} />}>
        <Handoff checkout={checkout} words={words} order={order} />
      </Sheet>
    ),
  })
}

/** Renders the receipt of a payment. The caller has checked that the payment succeeded. */
export function renderReceipt(checkout: Checkout, words: Words): string {
  const { t } = words
  return renderBuyerPage({
    platform: checkout.platform,
    words,
    title: t(checkout.payment.livemode ? 'title.receipt' : 'title.receipt_test', { merchant: checkout.shop.name }),
    testMode: false,
    brand: checkout.shop.brand,
    languages: languageChange(checkout, `${checkout.path}/receipt`),
    children: <Receipt checkout={checkout} words={words} />,
  })
}

function languageChange({ path }: Checkout, at: string): LanguageChange {
  return { action: `${path}/language`, at }
}

/** All that the merchant's page receives, and the origins that can receive it. It gets no amounts and no names. */
function frameData({ frame, payment }: Checkout) {
  return frame && { 'data-payment': payment.id, 'data-state': payment.status, 'data-origins': frame.origins.join(' ') }
}

/** True for pages on which the buyer must still pay, at the partner or here. */
function isPaidHere({ page }: View): boolean {
  return page === 'pick' || page === 'finish' || page === 'upi' || page === 'usdc'
}

function pageTone(view: View): Tone {
  if (view.page === 'closed') return getClosedTone(view.as)
  if (view.page === 'done') return 'success'
  if (view.page === 'declined') return 'problem'
  const waits = ['checking', 'down', 'verification', 'open_elsewhere', 'no_more_tries']
  return waits.includes(view.page) ? 'wait' : 'brand'
}

function renderView(checkout: Checkout, words: Words, view: View): VNode {
  const shown = { checkout, words }
  switch (view.page) {
    case 'country':
      return <Country {...shown} />
    case 'pick':
      return <Pick {...shown} view={view} />
    case 'confirm':
      return <Confirm {...shown} view={view} />
    case 'declined':
      return <Declined {...shown} view={view} />
    case 'not_offered':
      return <NotOffered {...shown} view={view} />
    case 'down':
      return <Down {...shown} view={view} />
    case 'no_more_tries':
      return <NoMoreTries {...shown} view={view} />
    case 'open_elsewhere':
      return <OpenElsewhere {...shown} view={view} />
    case 'upi':
      return <Upi {...shown} view={view} />
    case 'usdc':
      return <Usdc {...shown} view={view} />
    case 'finish':
      return <Finish {...shown} view={view} />
    case 'returning':
      return <Returning {...shown} view={view} />
    case 'verification':
      return <Verification {...shown} view={view} />
    case 'progress':
      return <Progress {...shown} view={view} />
    case 'checking':
      return <Checking {...shown} />
    case 'done':
      return <Done {...shown} />
    case 'closed':
      return <Closed {...shown} view={view} />
  }
}
