import {
  click,
  decide,
  deposit,
  engine,
  once,
  outside,
  partner,
  simulator,
  together,
  wait,
} from '../story/ideas/idea.ts'
import type { Found } from './story.ts'

/** Stories that the model has found, each at its shortest, with what went wrong. */
export const FIRST: readonly Found[] = [
  {
    title: 'a timer that fires for a state that the payment has left does not stop the workflow',
    was: 'the workflow turned without end',
    steps: [click('local_partner'), decide('hold'), partner('pay slowly')],
  },
  {
    title: 'a part of the price in USDC is surplus when another order is paid',
    was: 'suspense had USDC without an owner, and no operator saw it',
    steps: [click('crypto'), click('wallet_app'), partner('pay', 1, { arrival: 'stored' }), deposit(40)],
  },
  {
    title: 'a part in USDC after the expiry waits for an operator, together with another token',
    was: 'expired, with money that was counted',
    steps: [click('crypto'), wait(1440), deposit(60), { do: 'deposit', percent: 100, token: 'other' }],
  },
  {
    title: 'surplus USDC that an operator gave back after the payout leaves the books',
    was: 'suspense kept what had been given back',
    steps: [click('crypto'), deposit(120), click('wallet_app'), deposit(40)],
  },
  {
    title: 'a confirmation that is withdrawn after the expiry lets the payment expire',
    was: 'pending forever, and payable',
    steps: [click('wallet_app'), wait(1439), partner('pay slowly'), wait(1), partner('decline')],
  },
  {
    title: 'a refused order of which the partner says that it has money waits for an operator',
    was: 'the partner had the money, and nobody knew of it',
    steps: [click('local_partner'), partner('cancel with money')],
  },
  {
    title: 'a refused order that has money waits for an operator also in a run that has taken over',
    steps: [click('wallet_app'), partner('pay slowly'), { do: 'lose the run' }, partner('decline')],
  },
  {
    title: 'a part of the money that is reversed after the payout was voided leaves the rest to an operator',
    was: 'refunded, with money that was counted',
    steps: [
      click('wallet_app'),
      partner('pay'),
      engine('ask void'),
      engine('void'),
      partner('take some back', 0, { percent: 60 }),
    ],
  },
  {
    title: 'a reading of a misfit that waits for an operator is applied',
    was: 'the order was read again forever',
    steps: [click('wallet_app'), partner('change the amount'), { do: 'callback', of: 0 }],
  },
  {
    title: 'the misfit of a payment that is over can be closed',
    was: 'no decision ended it: approving asked the partner for money that could not go anywhere',
    steps: [
      click('wallet_app'),
      partner('pay'),
      partner('take all back', 0, { arrival: 'twice' }),
      partner('change the amount', 0, { percent: 50 }),
    ],
  },
  {
    title: 'a confirmation that the expiry finds, and that is withdrawn, lets the payment expire',
    was: 'pending forever',
    steps: [
      click('wallet_app'),
      wait(1439),
      partner('pay slowly', 0, { arrival: 'later' }),
      wait(1),
      partner('take all back'),
    ],
  },
  {
    title: 'a payout that was voided and is settled after all waits for an operator',
    pinned: true,
    steps: [
      click('wallet_app'),
      partner('pay'),
      partner('take all back', 0, { percent: 60 }),
      engine('void'),
      engine('settle after all'),
    ],
  },
  {
    title: 'a conversion that is filled after the refund is in the books',
    was: 'the converter had sold the money of a refunded payment, and the books did not know',
    steps: [click('wallet_app'), simulator('delay', 60), partner('pay'), decide('hold'), decide('give_back')],
  },
  {
    title: 'a conversion that is filled after the refund is in the books also when its answer was lost',
    steps: [click('wallet_app'), once('convert', 'answer lost'), partner('pay'), decide('hold'), wait(1), outside()],
  },
  {
    title: 'a rejection that was carried out, and whose answer was lost, is answered when it is tried again',
    was: 'the decision was tried forever: there is no way from failed to failed',
    steps: [
      click('wallet_app'),
      partner('hold'),
      together(decide('write_off')),
      { do: 'cut the next activity', at: 1 },
    ],
  },
  {
    title: 'money of a changed order after a chargeback is in the books once it is acknowledged',
    was: 'after a chargeback the same money came again, of another amount',
    minor: '4999',
    pinned: true,
    steps: [
      click('local_partner'),
      partner('pay'),
      partner('take all back', 0, { arrival: 'stored' }),
      engine('settle'),
      wait(4500),
      partner('change the amount'),
    ],
  },
  {
    title: 'money that does not fit goes back, and other money of the payment is settled',
    was: 'refunded with the misfit, while the USDC was counted',
    steps: [click('local_partner'), click('crypto'), partner('cancel with money'), deposit(100)],
  },
  {
    title: 'an order that was changed and holds nothing any more is read once',
    was: 'its callback was repeated forever',
    steps: [
      click('card_partner'),
      click('wallet_app'),
      partner('pay', 1),
      partner('change the amount'),
      partner('take all back'),
    ],
  },
  {
    title: 'the conversion of reversed money is ended before USDC that came in its place is settled',
    was: 'what the converter bought was in no account',
    steps: [
      click('local_partner'),
      click('crypto'),
      simulator('delay', 600),
      partner('pay'),
      partner('take all back'),
      deposit(100),
    ],
  },
  {
    title: 'money that came on top of the whole price, and was taken back with a part of it, leaves too little',
    was: 'the check, and not the payment, was wrong: it took what had gone again for the rest of the price',
    minor: '4999',
    steps: [
      click('wallet_app'),
      simulator('conversion_refused'),
      partner('pay'),
      partner('top up', 0, { percent: 40 }),
      partner('take some back', 0, { percent: 50 }),
    ],
  },
  {
    title: 'USDC that was bought for reversed money is not used for other money of another currency',
    was: 'the rupees were never sold, and the euros that were had gone',
    steps: [
      click('wallet_app'),
      simulator('delay', 600),
      partner('pay'),
      partner('take all back'),
      click('local_partner'),
      partner('pay', 1),
    ],
  },
]
