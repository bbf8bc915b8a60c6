import type { MomentName } from './moments.ts'

/**
 * The actions of buyers, partners and merchants as data: each step, and the moment that the page must then show. If the
 * steps depend on the provider, `partner` and `usdc` name them separately.
 */
export type Step =
  | 'open'
  | 'go on'
  | 'go on again'
  | 'go on in another way'
  | 'look at another way'
  | 'come back'
  | 'wait'
  | 'leave'
  | 'decline'
  | 'check'
  | 'hold'
  | 'let go'
  | 'confirm slowly'
  | 'confirm'
  | 'pass the check'
  | 'pay'
  | 'pay a part'
  | 'pay the rest'
  | 'pay too much'
  | 'pay the order that was left'
  | 'let it expire'
  | 'let days pass'
  | 'pay late'
  | 'pay when nobody listens'
  | 'give it back'
  | 'cancel'
  | 'settle'
  | 'be elsewhere'
  | 'be at home'
  | 'lose the network'
  | 'find the network'
  | 'break the partner'
  | 'mend the partner'

export type Scene = readonly [Step, MomentName]
type Scenes = readonly Scene[]

export type Story = {
  readonly name: string
  readonly partner: Scenes
  /** For ways without a partner between the buyer and the platform. A text: why the story has no meaning there. */
  readonly usdc: Scenes | string
  /** Why the story has no meaning for a way that is offered everywhere. */
  readonly everywhere?: string
  /** Why it has none if the partner cancels an order that is not needed any more. */
  readonly canceling?: string
}

const ORDER: Scenes = [
  ['open', 'ready'],
  ['go on', 'an order is open'],
]
const PAID: Scenes = [
  ['pay', 'on its way'],
  ['settle', 'paid'],
]
const PAYING: Scenes = [...ORDER, ...PAID]
const TO_TWICE: Scenes = [
  ...ORDER,
  ['look at another way', 'open at another'],
  ['go on in another way', 'an order is open'],
  ['pay', 'on its way'],
  ['pay the order that was left', 'on its way'],
  ['settle', 'paid twice'],
]

export const STORIES: readonly Story[] = [
  {
    name: 'pays',
    partner: [...ORDER, ['confirm slowly', 'confirming'], ['confirm', 'on its way'], ['settle', 'paid']],
    usdc: PAYING,
  },
  {
    name: 'is declined, and pays',
    partner: [...ORDER, ['decline', 'declined'], ['go on again', 'an order is open'], ...PAID],
    usdc: 'nobody can decline a transfer',
  },
  {
    name: 'is checked',
    partner: [...ORDER, ['check', 'identity check'], ['pass the check', 'on its way'], ['settle', 'paid']],
    usdc: 'nobody asks who sends a transfer',
  },
  {
    name: 'is held',
    partner: [...ORDER, ['hold', 'being checked'], ['let go', 'on its way'], ['settle', 'paid']],
    usdc: [...ORDER, ['hold', 'being checked'], ['let go', 'on its way'], ['settle', 'paid']],
  },
  {
    name: 'leaves and returns',
    partner: [
      ...ORDER,
      ['come back', 'just back'],
      ['wait', 'back for a while'],
      ['leave', 'left without paying'],
      ['go on again', 'an order is open'],
      ...PAID,
    ],
    usdc: [...ORDER, ['open', 'an order is open'], ...PAID],
  },
  {
    name: 'returns after the expiry',
    partner: [...ORDER, ['let it expire', 'expired'], ['go on again', 'expired'], ['open', 'expired']],
    usdc: [...ORDER, ['let it expire', 'expired'], ['go on again', 'expired'], ['open', 'expired']],
  },
  {
    name: 'pays late',
    partner: [...ORDER, ['let it expire', 'expired'], ['pay late', 'on its way'], ['settle', 'paid late']],
    usdc: [...ORDER, ['let it expire', 'expired'], ['pay late', 'on its way'], ['settle', 'paid late']],
  },
  {
    name: 'pays when nobody listens any more',
    partner: [
      ...ORDER,
      ['let it expire', 'expired'],
      ['let days pass', 'expired'],
      ['pay when nobody listens', 'expired, and the money is held'],
      ['give it back', 'expired, and the money went back'],
    ],
    usdc: [
      ...ORDER,
      ['let it expire', 'expired'],
      ['let days pass', 'expired'],
      ['pay when nobody listens', 'expired, and the money is held'],
      ['give it back', 'expired, and the money went back'],
    ],
    canceling: 'its order is proved dead at the expiry, and money that comes all the same counts whenever it comes',
  },
  {
    name: 'pays in one of two tabs, and continues in the other',
    partner: [
      ...ORDER,
      ['open', 'an order is open'],
      ['pay', 'on its way'],
      ['go on again', 'on its way'],
      ['settle', 'paid'],
    ],
    usdc: [
      ...ORDER,
      ['open', 'an order is open'],
      ['pay', 'on its way'],
      ['go on again', 'on its way'],
      ['pay the order that was left', 'on its way'],
      ['settle', 'paid twice'],
    ],
  },
  { name: 'pays in two ways', partner: TO_TWICE, usdc: TO_TWICE },
  {
    name: 'pays a part, and the rest',
    partner: [...ORDER, ['pay a part', 'a part has come'], ['pay the rest', 'on its way'], ['settle', 'paid']],
    usdc: [...ORDER, ['pay a part', 'a part has come'], ['pay the rest', 'on its way'], ['settle', 'paid']],
  },
  {
    name: 'pays too much',
    partner: [...ORDER, ['pay too much', 'on its way'], ['settle', 'paid with more']],
    usdc: [...ORDER, ['pay too much', 'on its way'], ['settle', 'paid with more']],
  },
  {
    name: 'changes the country',
    partner: [
      ['open', 'ready'],
      ['be elsewhere', 'not offered here'],
      ['be at home', 'ready'],
      ['go on', 'an order is open'],
      ...PAID,
    ],
    usdc: [
      ['open', 'ready'],
      ['be elsewhere', 'ready'],
      ['be at home', 'ready'],
      ['go on', 'an order is open'],
      ...PAID,
    ],
    everywhere: 'it is offered in every country where the way of this name through another partner is not',
  },
  {
    name: 'loses the network while it is paid',
    partner: [
      ...ORDER,
      ['lose the network', 'an order is open'],
      ['pay', 'on its way'],
      ['find the network', 'on its way'],
      ['settle', 'paid'],
    ],
    usdc: [
      ...ORDER,
      ['lose the network', 'an order is open'],
      ['pay', 'on its way'],
      ['find the network', 'on its way'],
      ['settle', 'paid'],
    ],
  },
  {
    name: 'finds the partner down, and pays when it is back',
    partner: [
      ['open', 'ready'],
      ['break the partner', 'does not answer'],
      ['mend the partner', 'ready'],
      ['go on', 'an order is open'],
      ...PAID,
    ],
    usdc: 'no partner stands between',
  },
  {
    name: 'pays although the merchant has canceled',
    partner: [
      ...ORDER,
      ['cancel', 'canceled'],
      ['go on again', 'canceled'],
      ['pay late', 'on its way'],
      ['settle', 'paid late'],
    ],
    usdc: [
      ...ORDER,
      ['cancel', 'canceled'],
      ['go on again', 'canceled'],
      ['pay late', 'on its way'],
      ['settle', 'paid late'],
    ],
  },
]
