import type { Words } from '../messages/words.ts'
import { getAmounts } from './amounts.ts'
import type { Checkout } from './checkout.ts'
import type { HandedOver } from './screens/finish.tsx'
import { payingPartner } from './screens/progress.tsx'
import { getPartner } from './shown.tsx'
import type { View } from './view.ts'

type Titled = View | { readonly page: 'handoff'; readonly order: HandedOver }

/** Returns the title of the tab. It begins with the state, because a tab shows little more. */
export function getPageTitle(checkout: Checkout, words: Words, view: Titled): string {
  const { t } = words
  const { price, paid } = getAmounts(checkout)
  const names = { amount: words.money(paid ?? price), merchant: checkout.shop.name }
  const state = stateText(checkout, words, view)
  return state === null ? t('title.pay', names) : t('title.state', { ...names, state })
}

/** Null for pages whose title asks the buyer to pay. */
function stateText(checkout: Checkout, { t }: Words, view: Titled): string | null {
  switch (view.page) {
    case 'country':
    case 'pick':
    case 'upi':
    case 'usdc':
      return null
    case 'confirm':
      return view.unpaid === null ? null : t('title.unpaid')
    case 'not_offered':
      return t('title.not_offered')
    case 'down':
      return t('down.heading', { partner: getPartner(checkout, view.refusal).name })
    case 'no_more_tries':
      return t('title.tries')
    case 'declined':
      return t('title.declined')
    case 'open_elsewhere':
      return t('elsewhere.heading', { partner: getPartner(checkout, view.attempt).name })
    case 'handoff':
      return t('finish.heading', { partner: getPartner(checkout, view.order).name })
    case 'finish':
      return t('finish.heading', { partner: getPartner(checkout, view.attempt).name })
    case 'returning':
      return t('title.checking_with', { partner: getPartner(checkout, view.attempt).name })
    case 'verification':
      return t('title.verification')
    case 'progress':
      return view.now === 'confirming'
        ? t('title.checking_with', { partner: payingPartner(checkout) })
        : t('title.progress')
    case 'checking':
      return t('title.checking')
    case 'done':
      return getAmounts(checkout).surplus.length > 0 ? t('title.twice') : t('title.done')
    case 'closed':
      return t(`title.${view.as}`)
  }
}
