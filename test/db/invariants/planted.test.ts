import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { INVARIANTS } from '../../../src/db/invariants/invariants.ts'
import { reconcile } from '../../../src/db/invariants/reconcile.ts'
import { type BooksFixture, createBooksFixture, type Ids, WALLET } from './books-fixture.ts'

let fixture: BooksFixture
beforeAll(async () => {
  fixture = await createBooksFixture()
})
afterAll(() => fixture.close())

type Planted = {
  /** The cause, as the end of the test's title. */
  readonly when: string
  /** Plants the violation in the rows of a sound payment. */
  readonly plant: () => Promise<Ids>
  readonly says: (ids: Ids) => string | RegExp
}

/** A sound payment, and a statement whose `$1` is its id and `$2` its order. */
const spoil = async (made: Promise<Ids>, ...statements: string[]): Promise<Ids> => {
  const ids = await made
  for (const text of statements) {
    const values = [ids.id, ids.attemptId].slice(0, text.includes('$2') ? 2 : text.includes('$1') ? 1 : 0)
    await fixture.plant(text, values)
  }
  return ids
}

const bookBy = (kind: string, lines: string, reference = `'by hand'`): string => `with made as (
  insert into ledger_transaction (kind, reference, payment_id, booked_at) values ('${kind}', ${reference}, $1, now()) returning id)
  insert into ledger_entry (transaction_id, line, account, asset, amount)
  select id, l.line, l.account, l.asset, l.amount from made, (values ${lines}) as l(line, account, asset, amount)`

const long = `now() - interval '2 hours'`

/** Each invariant is broken once, and reported by its own name. */
const PLANTED: Readonly<Record<string, Planted>> = {
  bookings_balance: {
    when: 'a line was booked alone',
    plant: () => spoil(fixture.succeeded(), bookBy('by hand', `(0, 'exchange', 'EUR', 700)`)),
    says: () => /^booking \d+ \(by hand by hand\) is off by 7\.00 EUR$/,
  },
  books_are_the_positions: {
    when: 'money was booked from one account to another by hand',
    plant: () =>
      spoil(fixture.succeeded(), bookBy('moved', `(0, 'exchange', 'EUR', 700), (1, 'suspense', 'EUR', -700)`)),
    says: () => 'the ledger lacks -700 of exchange EUR, 700 of suspense EUR',
  },
  closed_payment_has_its_event: {
    when: 'the event of its end is gone',
    plant: () => spoil(fixture.expired(), `delete from event where payment_id = $1 and type = 'payment.expired'`),
    says: () => 'no event payment.expired',
  },
  closed_payment_waits_for_nothing: {
    when: 'a payment was closed while its payout is on its way',
    plant: () => spoil(fixture.settling(), 'update payment set closed_at = now() where id = $1'),
    says: () => 'closed, settling, and it waits for its payout',
  },
  conversion_is_what_was_sold: {
    when: 'a filled sale is gone',
    plant: () => spoil(fixture.succeeded(), `update sale set state = 'ended', fill_micro = null where payment_id = $1`),
    says: () =>
      'the sales give 0.00 EUR, and the ledger has -100.00 EUR; the sales give 0.000000 USDC, and the ledger has 107.900000 USDC',
  },
  deposits_are_held: {
    when: 'a transfer to the address is not counted',
    plant: () => spoil(fixture.paidInUsdc(), `update attempt set held = 8000000 where id = $2 and payment_id = $1`),
    says: ({ attemptId }) => new RegExp(`^${attemptId} holds 8\\.000000 USDC, and 108\\.000000 USDC arrived at 0x`),
  },
  deposits_are_unswept: {
    when: 'money at the address is in no ledger',
    plant: () => spoil(fixture.paidInUsdc(), 'update deposit set unswept_micro = 118000000 where payment_id = $1'),
    says: () => /^118\.000000 USDC is to be at 0x\w+, and the ledger has 108\.000000 USDC$/,
  },
  dispute_is_booked: {
    when: 'a dispute has taken money that its payment has not lost',
    plant: () =>
      spoil(
        fixture.succeeded(),
        `insert into dispute (id, payment_id, attempt_id, merchant_id, livemode, provider, partner_dispute, kind, status, reason,
           amount_minor, currency, taken_minor, from_platform_micro, answered_at, asked_at, created_at, updated_at, closed_at)
         select 'dp_by_hand', id, paid_attempt_id, merchant_id, livemode, 'wallet_app', 'du_1', 'chargeback', 'lost', 'other',
           100, 'EUR', 100, 1080000, 'api', now(), now(), now(), now() from payment where id = $1`,
      ),
    says: () =>
      'disputes took 0.000000 USDC of a reserve of 0.000000 USDC, and 1.080000 USDC in all while 0.00 EUR is lost',
  },
  each_version_books_once: {
    when: 'a version has booked twice, under another kind',
    plant: () =>
      spoil(
        fixture.succeeded(),
        bookBy(
          'again',
          `(0, 'exchange', 'EUR', 1), (1, 'exchange', 'EUR', -1)`,
          '(select min(reference) from ledger_transaction where payment_id = $1)',
        ),
      ),
    says: () => /^version \d+ has booked 2 times, and the payment has version \d+$/,
  },
  events_are_contiguous: {
    when: 'an event of the merchant is gone',
    plant: async () => {
      const ids = await fixture.expired()
      await fixture.plant(
        `delete from event where sequence = (select max(sequence) - 1 from event where payment_id = $1)`,
        [ids.id],
      )
      return ids
    },
    says: () => /^event evt_\w+ of mer_1 has number \d+, the counter is at \d+, and number \d+ is missing/,
  },
  fee_is_of_the_gross: {
    when: 'the fee is another one',
    plant: () =>
      spoil(
        fixture.settling(),
        'update payment set fee_micro = fee_micro + 1, net_micro = net_micro - 1 where id = $1',
      ),
    says: () => 'gross 108000000, fee 4860001 (4.5 %), net 103139999 of a sale of 108000000',
  },
  held_is_the_newest_reading: {
    when: 'an order has more than its partner reported',
    plant: () => spoil(fixture.opened(), `update attempt set held = 500 where id = $2 and payment_id = $1`),
    says: ({ attemptId }) => `${attemptId} is open with 500, and reading 2 says open with 0`,
  },
  no_payout_before_the_hand_over: {
    when: 'a payment that was handed over forgets it',
    plant: () => spoil(fixture.settling(), `update payment set payout = 'none' where id = $1`),
    says: () => 'the payment is settling, and a payout of 103.140000 USDC is queued',
  },
  nothing_returned_beyond_what_came: {
    when: 'more was returned from elsewhere than ever came',
    plant: () => spoil(fixture.paid(), 'update attempt set outside = 10001, returned = true where payment_id = $1'),
    says: ({ attemptId }) => `of ${attemptId} 100.01 EUR were returned from elsewhere, and 100.00 EUR came at most`,
  },
  one_sale_is_open: {
    when: 'the same money is on sale twice',
    plant: async () => {
      const ids = await fixture.paid()
      await fixture.db.query('drop index sale_open')
      await fixture.plant(
        `insert into sale select payment_id, 2, attempt_id, units, gross_micro, null, null, 'asked', now() from sale
         where payment_id = $1`,
        [ids.id],
      )
      return ids
    },
    says: () => 'sales 1, 2 are open',
  },
  open_payment_has_a_waker: {
    when: 'an expired payment is open, and its orders are over',
    plant: () =>
      spoil(
        fixture.expired(),
        `update payment set closed_at = null, updated_at = ${long}, expires_at = ${long} where id = $1`,
      ),
    says: () => /^expired since .+, and nothing wakes it$/,
  },
  partner_receivable_is_held: {
    when: 'an order and its reading have less than was booked',
    plant: () =>
      spoil(
        fixture.paid(),
        'update attempt set held = 9000 where payment_id = $1',
        'update reading set held = 9000 where attempt_id in (select id from attempt where payment_id = $1)',
      ),
    says: () => 'the partners hold 90.00 EUR, and the ledger has 100.00 EUR',
  },
  payment_is_as_computed: {
    when: 'its status was written by hand',
    plant: () => spoil(fixture.paid(), `update payment set status = 'settling' where id = $1`),
    says: () => 'status is settling, and the facts give processing',
  },
  payout_is_what_was_taken: {
    when: 'the payout is of the gross amount',
    plant: () => spoil(fixture.settling(), 'update payout set micro_usdc = 108000000 where payment_id = $1'),
    says: () => `the payout is 108.000000 USDC to ${WALLET}, and 103.140000 USDC to ${WALLET} is due`,
  },
  payout_state_agrees: {
    when: 'a payout was voided, and its payment does not know it',
    plant: () => spoil(fixture.settling(), `update payout set state = 'voided' where payment_id = $1`),
    says: () => 'the payment has its payout as handed, and the payout is voided',
  },
  proof_is_of_one_give_back: {
    when: 'the same bank reference proves two give-backs, written otherwise',
    plant: async () => {
      await fixture.db.query('drop index decision_proof')
      const [one, other] = [await fixture.paid('5000'), await fixture.paid('5000')]
      await fixture.decide(one.id, { say: 'give_back', outside: true, accountId: one.attemptId }, 'RF18 5390 0754')
      await fixture.decide(other.id, { say: 'give_back', outside: true, accountId: other.attemptId }, 'rf18-53900754')
      return other
    },
    says: () => /^rf18-53900754 proves version 5, and version 5 of pay_\w+$/,
  },
  refund_end_decides_its_usdc: {
    when: 'the treasury takes USDC of a refund that is not over',
    plant: () => spoil(fixture.refunding(), 'update deposit set treasury_micro = 5 where payment_id = $1'),
    says: () =>
      /^re_\w+ is awaiting_funds, and of 0x\w+ the treasury takes 0\.000005 USDC, has taken 0\.000000 USDC, and the rest goes to 0x7+$/,
  },
  deductions_are_what_refunds_need: {
    when: 'a payout lacks USDC for a refund that is paid for by a wallet',
    plant: () =>
      spoil(
        fixture.refunding(),
        'update payment set deducted_micro = 5, deducted_for = (select id from refund where payment_id = $1) where id = $1',
      ),
    says: () =>
      /^re_\w+ is awaiting_funds and requires \d+\.\d+ USDC; payouts lack 0\.000005 USDC for it, 0\.000005 USDC of them final and 0(\.0+)? USDC released$/,
  },
  refunded_is_what_succeeded: {
    when: 'an order was refunded by hand',
    plant: () => spoil(fixture.refunding(), 'update attempt set refunded = 500 where id = $2 and payment_id = $1'),
    says: ({ attemptId }) =>
      `${attemptId} has refunded 5.00 EUR and requested 0.00 EUR; its refunds have 0.00 EUR and 0.00 EUR`,
  },
  refunds_are_within_what_was_paid: {
    when: 'a payment has set more aside than its refunds are of',
    plant: () => spoil(fixture.refunding(), 'update payment set refunds_minor = refunds_minor + 100 where id = $1'),
    says: () => '1 refunds of 20.00 EUR, and the payment has 1 refunds of 21.00 EUR, of 100.00 EUR paid',
  },
  refunds_owe_what_is_there: {
    when: 'USDC of a refund is in no ledger',
    plant: () => spoil(fixture.refunding(), 'update refund set received_micro = 5000000 where payment_id = $1'),
    says: () => '5.000000 USDC of refunds is there, and the ledger owes 0.000000 USDC',
  },
  released_reserve_has_its_parts: {
    when: 'a payment has released a reserve that no release pays',
    plant: () =>
      spoil(
        fixture.succeeded(),
        'update payment set reserve_percent = 10, reserve_days = 90, reserve_released_micro = 5 where id = $1',
      ),
    says: () => /^0\.000005 USDC were released, and releases pay 0(\.0+)? USDC$/,
  },
  reserve_is_released_on_its_day: {
    when: 'a reserve was released before its day',
    plant: () =>
      spoil(
        fixture.succeeded(),
        `with made as (insert into reserve_release (id, merchant_id, livemode, due_on, recipient, micro_usdc, created_at)
           select 'rel_early', merchant_id, livemode, '2099-11-28', lower(destination), 5, now() from payment where id = $1 returning id),
         changed as (update payment set reserve_percent = 10, reserve_days = 90, reserve_released_micro = 5, reserve_release_id = made.id
           from made where payment.id = $1)
         insert into reserve_release_part (release_id, payment_id, micro_usdc) select id, $1, 5 from made`,
      ),
    says: () => /^due on \S+ for mer_\w+, released on \S+ by rel_early for mer_\w+$/,
  },
  sale_is_at_the_locked_rate: {
    when: 'a sale has another gross amount than its rate gives',
    plant: () => spoil(fixture.paid(), 'update sale set gross_micro = 108000001 where payment_id = $1'),
    says: ({ attemptId }) => `sale 1 of ${attemptId} has 108.000001 USDC, and the rate 1.08 gives 108.000000 USDC`,
  },
  sale_is_of_money_that_came: {
    when: 'more was sold than ever came',
    plant: () => spoil(fixture.paid(), 'update sale set units = 20000, gross_micro = 216000000 where payment_id = $1'),
    says: ({ attemptId }) => `sale 1 is of 200.00 EUR, and ${attemptId} held 100.00 EUR at most`,
  },
  settled_payout_has_its_log: {
    when: 'the log of a settled payout is of another amount',
    plant: () => spoil(fixture.succeeded(), 'update treasury_log set micro_usdc = 1 where owner_id = $1'),
    says: () => /^the payout is settled: 103140000 to 0x7+; the log has 1 to 0x7+ in 0x\w+:3$/,
  },
  sold_money_is_not_given_back: {
    when: 'the partner is asked to give back what the payout pays',
    plant: () => spoil(fixture.settling(), `update attempt set back = 'asked' where payment_id = $1`),
    says: ({ attemptId }) =>
      `the partner is asked to give back ${attemptId}, which sale 1 has sold; the payout is handed`,
  },
  succeeded_has_its_transfer: {
    when: 'no transfer is stored of a payment that succeeded',
    plant: () => spoil(fixture.succeeded(), 'delete from treasury_log where owner_id = $1'),
    says: () => /^succeeded, payout paid, paid 103140000 in 0x\w+:3; the log has {2}to {2}in :$/,
  },
  succeeded_is_paid_its_net: {
    when: 'the chain paid less than the net amount',
    plant: () =>
      spoil(
        fixture.succeeded(),
        'update payment set paid_micro = 103000000 where id = $1',
        'update payout set micro_usdc = 103000000 where payment_id = $1',
        'update treasury_log set micro_usdc = 103000000 where owner_id = $1',
      ),
    says: () => '103140000 due, 103000000 paid; the payout is settled, of 103000000',
  },
  taken_sale_is_filled: {
    when: 'the sale that is paid out is of another order',
    plant: async () => {
      const ids = await fixture.settling()
      const other = await fixture.open(ids.id, 'card_partner')
      await fixture.plant('update sale set attempt_id = $2 where payment_id = $1', [ids.id, other])
      return ids
    },
    says: ({ attemptId }) => new RegExp(`^sale 1 is filled, of att_\\w+; the money is of ${attemptId}$`),
  },
}

/** The invariants without a payment, and how the rows are repaired for the other tests. */
const OF_THE_WHOLE: Readonly<
  Record<string, { readonly when: string; readonly plant: string; readonly mend: string; readonly says: RegExp }>
> = {
  open_payments_are_counted: {
    when: 'an agreement counts one too many',
    plant: 'update agreement set open_payments = open_payments + 1',
    mend: 'update agreement set open_payments = open_payments - 1',
    says: /^\d+ open payments are counted, and there are \d+$/,
  },
  treasury_changes_are_booked: {
    when: 'a change of the treasury is in no ledger',
    plant: 'insert into treasury_change (micro, owed_micro) values (5000000, 0)',
    mend: 'delete from treasury_change where micro = 5000000',
    says: /^the ledger has (\S+) USDC, and the changes sum to \S+ USDC$/,
  },
  exposure_is_booked: {
    when: 'money at partners is in no ledger',
    plant: `insert into exposure_change (currency, day, units, cost_micro) values ('CHF', '2026-11-28', 700, 0)`,
    mend: `delete from exposure_change where currency = 'CHF'`,
    says: /^the ledger has \S+ CHF, and the changes sum to 7\.00 CHF$/,
  },
  refill_is_booked: {
    when: 'a refill was opened without its booking',
    plant: `insert into refill (id, partner, currency, units, cost_micro, state, due_at, created_at)
      values ('rfl_by_hand', 'operator', 'CHF', 700, 0, 'open', now(), now())`,
    mend: `delete from refill where id = 'rfl_by_hand'`,
    says: /^partner_receivable has 0\.00 CHF, and -7\.00 CHF is due; refill has 0\.00 CHF, and 7\.00 CHF is due$/,
  },
  release_is_what_was_held_back: {
    when: 'reserves are released that no payment had',
    plant: `insert into reserve_release (id, merchant_id, livemode, due_on, recipient, micro_usdc, created_at)
      select 'rel_by_hand', id, false, '2026-11-28', '${WALLET.toLowerCase()}', 7, now() from merchant limit 1`,
    mend: `delete from reserve_release where id = 'rel_by_hand'`,
    says: /^0\.000007 USDC to 0x\S+; its payments released 0(\.0+)? USDC, and the payout is /,
  },
  treasury_is_there: {
    when: 'the treasuries have less than the books',
    plant: 'update chain_cursor set missing_micro = 2500000',
    mend: 'update chain_cursor set missing_micro = null',
    says: /^at block 0 the treasuries have 2\.500000 USDC less than the books$/,
  },
}

describe('a broken invariant', () => {
  test('each invariant has a test that breaks it', () => {
    const broken = [...Object.keys(PLANTED), ...Object.keys(OF_THE_WHOLE)].toSorted()
    expect(broken).toEqual(INVARIANTS.map(({ name }) => name))
  })

  const planted = Object.entries(PLANTED).map(([name, one]) => [name, one.when, one] as const)
  test.each(planted)('%s is reported when %s', async (name, _when, { plant, says }) => {
    const ids = await plant()
    const differences = await fixture.differences(ids.id)
    const said = says(ids)
    if (typeof said === 'string') expect(differences[name]).toBe(said)
    else expect(differences[name]).toMatch(said)
  })

  const whole = Object.entries(OF_THE_WHOLE).map(([name, one]) => [name, one.when, one] as const)
  test.each(whole)('%s is reported when %s', async (name, _when, { plant, mend, says }) => {
    await fixture.plant(plant, [])
    const { differences } = await reconcile(fixture.db, 'all')
    await fixture.plant(mend, [])
    const found = differences.filter(({ invariant }) => invariant === name)
    // Other tests have written to the ledger by hand, and are reported as well.
    expect(found).toContainEqual({
      invariant: name,
      subject: expect.any(String),
      difference: expect.stringMatching(says),
    })
  })
})
