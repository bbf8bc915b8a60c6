import { click, decide, engine, once, partner, simulator, together, wait } from '../story/ideas/idea.ts'
import { cancelRefund, claim, dropClaim, lanes, loseRefund, refund, sendUsdc, sign } from '../story/ideas/refunding.ts'
import type { StoryStep } from '../story/steps.ts'
import type { Found } from './story.ts'

/** Refunds of settled payments: the table of what the merchant, the partner and the processes can do. */

const SETTLED: readonly StoryStep[] = [click('wallet_app'), partner('pay'), engine('settle')]

export const REFUNDED: readonly Found[] = [
  {
    title: 'a payout pays for a refund of another payment, and the refund has what the payout lacks',
    steps: [claim(), click('wallet_app'), partner('pay'), engine('settle'), wait(1)],
    ends: { status: 'succeeded' },
  },
  {
    title: 'a refund that is canceled while the payout that lacks it is on its way',
    steps: [claim(), click('wallet_app'), partner('pay'), together(dropClaim()), engine('settle'), wait(1)],
    ends: { status: 'succeeded' },
  },
  {
    title: 'a payout that is void lacks nothing for a refund',
    steps: [claim(), click('wallet_app'), partner('pay'), refund(100), engine('void'), wait(1)],
    ends: { status: 'refunded' },
  },
  {
    title: 'a refund before the settlement gives the whole payment back once its payout is void',
    steps: [click('wallet_app'), partner('pay'), refund(60), engine('void'), wait(1)],
    ends: { refunds: ['succeeded'], status: 'refunded' },
  },
  {
    title: 'a refund whose payout is paid before it is void fails, and the payment can be refunded for USDC',
    steps: [click('wallet_app'), partner('pay'), engine('send'), refund(100), engine('settle'), wait(1)],
    ends: { refunds: ['failed'], refundable: true },
  },
  {
    title: 'of two refunds before the settlement at the same moment one is created',
    steps: [click('wallet_app'), partner('pay'), together(refund(100)), refund(100), engine('void'), wait(1)],
    ends: { refunds: ['succeeded'], status: 'refunded' },
  },
  {
    title: 'a refund before the settlement that the partner refuses fails, and another one succeeds',
    steps: [
      click('wallet_app'),
      partner('pay', 0, { percent: 60 }),
      simulator('refund_refused'),
      refund(100),
      wait(1),
      refund(100),
      wait(1),
    ],
    ends: { refunds: ['failed', 'succeeded'], status: 'refunded' },
  },
  {
    title: 'a full refund that is paid for by a signature gives the buyer everything back',
    steps: [...SETTLED, refund(100), sign(0), lanes(), wait(1)],
    ends: { refunds: ['succeeded'], refundable: false },
  },
  {
    title: 'a partial refund that is paid for by a transfer leaves the rest refundable',
    steps: [...SETTLED, refund(60), sendUsdc(0), wait(1)],
    ends: { refunds: ['succeeded'], refundable: true },
  },
  {
    title: 'of two refunds of more than half at the same moment one is created',
    steps: [...SETTLED, together(refund(60)), refund(60), sendUsdc(0), wait(1)],
    ends: { refunds: ['succeeded'] },
  },
  {
    title: 'two refunds of half are paid for at the same moment, and both succeed',
    steps: [...SETTLED, refund(50), refund(50), together(sendUsdc(0)), sendUsdc(1), wait(1)],
    ends: { refunds: ['succeeded', 'succeeded'], refundable: false },
  },
  {
    title: 'a refund with too little USDC waits for the rest',
    steps: [...SETTLED, refund(100), sendUsdc(0, 60), wait(30), sendUsdc(0, 40), wait(1)],
    ends: { refunds: ['succeeded'] },
  },
  {
    title: 'a refund with too little USDC expires, and the USDC goes back',
    steps: [...SETTLED, refund(100), sendUsdc(0, 60), wait(70), lanes(), lanes()],
    ends: { refunds: ['expired'], refundable: true },
  },
  {
    title: 'what is too much for a refund goes back',
    steps: [...SETTLED, refund(50), sendUsdc(0, 150), wait(1), lanes(), lanes()],
    ends: { refunds: ['succeeded'] },
  },
  {
    title: 'a refund that is paid for by a signature and by a transfer is made once, and the second USDC goes back',
    steps: [...SETTLED, refund(50), sign(0), lanes('sent'), sendUsdc(0), wait(1), lanes(), lanes()],
    ends: { refunds: ['succeeded'] },
  },
  {
    title: 'USDC that arrives after the expiry of a refund goes back',
    steps: [...SETTLED, refund(100), wait(70), sendUsdc(0), lanes(), lanes()],
    ends: { refunds: ['expired'], refundable: true },
  },
  {
    title: 'USDC that arrives after a cancellation goes back',
    steps: [...SETTLED, refund(100), sign(0), lanes('sent'), cancelRefund(0), lanes(), lanes()],
    ends: { refunds: ['canceled'], refundable: true },
  },
  {
    title: 'a refund whose USDC is there is not canceled',
    steps: [...SETTLED, refund(100), simulator('refund_pending'), sendUsdc(0), cancelRefund(0), wait(1)],
    ends: { refunds: ['pending'] },
  },
  {
    title: 'a refund that the partner refuses fails, and the USDC goes back',
    steps: [...SETTLED, refund(100), simulator('refund_refused'), sendUsdc(0), wait(1), lanes(), lanes()],
    ends: { refunds: ['failed'], refundable: true },
  },
  {
    title: 'a refund that is pending for days succeeds',
    steps: [...SETTLED, refund(100), simulator('refund_pending', 200_000), sendUsdc(0), wait(4500)],
    ends: { refunds: ['succeeded'] },
  },
  {
    title: 'a refund whose answer is lost is asked for again under its key',
    steps: [...SETTLED, refund(100), once('refund', 'answer lost'), sendUsdc(0), wait(2)],
    ends: { refunds: ['succeeded'] },
  },
  {
    title: 'a chargeback before the USDC is there lets the refund fail, and the USDC goes back',
    steps: [...SETTLED, refund(100), partner('take all back', 0, { arrival: 'later' }), sendUsdc(0), wait(1), lanes()],
    ends: { refunds: ['failed'], refundable: false },
  },
  {
    title: 'a chargeback of a part after a refund is a loss of that part',
    steps: [...SETTLED, refund(50), sendUsdc(0), wait(1), partner('take some back', 0, { percent: 20 }), wait(1)],
    ends: { refunds: ['succeeded'], refundable: true },
  },
  {
    title: 'a chargeback while a refund is pending at the partner is a loss',
    steps: [
      ...SETTLED,
      refund(100),
      simulator('refund_pending', 200_000),
      sendUsdc(0),
      wait(1),
      partner('take all back'),
      wait(60),
    ],
  },
  {
    title: 'a second payment goes back during a refund of the first',
    steps: [
      click('wallet_app'),
      partner('pay', 0, { percent: 150 }),
      engine('settle'),
      refund(60),
      sendUsdc(0),
      wait(1),
      decide('give_back'),
    ],
  },
  {
    title:
      'the treasury takes its share of a refund once, also if a backup forgets the transfer before more USDC arrives',
    was: 'was signed again under another nonce, and took the USDC that arrived after it',
    steps: [
      ...SETTLED,
      refund(50),
      sendUsdc(0),
      wait(1),
      lanes('forgotten'),
      sendUsdc(0, 100, false),
      lanes('forgotten'),
      lanes('forgotten'),
      lanes(),
      lanes(),
    ],
    ends: { refunds: ['succeeded'] },
  },
  {
    title: 'a refund that ends what an operator is asked about ends the workflow of its payment',
    was: 'succeeded, closed, and the workflow runs on',
    steps: [
      ...SETTLED,
      together(partner('take all back', 0, { arrival: 'later' })),
      partner('change the amount', 0, { arrival: 'later' }),
      refund(100),
      sendUsdc(0, 100, false),
    ],
  },
  {
    title: 'a refund whose workflow is lost while the partner takes its time is taken over',
    steps: [...SETTLED, refund(100), simulator('refund_pending'), sendUsdc(0), loseRefund(0), wait(500)],
    ends: { refunds: ['succeeded'] },
  },
  ...Array.from(
    { length: 10 },
    (_, at): Found => ({
      title: `a process that dies at point ${at} after the USDC has arrived refunds the buyer once`,
      steps: [
        ...SETTLED,
        refund(100),
        sendUsdc(0, 100, false),
        { do: 'cut the next activity', at },
        lanes(),
        wait(200),
      ],
      ends: { refunds: ['succeeded'] },
    }),
  ),
]
