import { MockActivityEnvironment } from '@temporalio/testing'
import { createPaymentActivities, type PaymentActivities } from '../../../src/activities/payment/payment.ts'
import type { PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import { createCheckoutFixture } from '../../api/checkout/checkout-fixture.ts'
import { ACCOUNT, startSandboxServer } from '../../partners/sandbox-server.ts'
import { RATES } from '../../web/fixtures.ts'

export type ActivityFixture = Awaited<ReturnType<typeof createActivityFixture>>

/** The activities of a payment on a real database, with the simulators of partners and converter. */
export async function createActivityFixture() {
  const [checkout, sandbox] = await Promise.all([createCheckoutFixture(), startSandboxServer()])
  const absent = (): never => {
    throw new Error('there is no payout desk in this test')
  }
  const deps: PaymentDeps = {
    db: checkout.db,
    partners: { ...sandbox.partners(), crypto: { ...sandbox.partners().wallet_app, name: 'crypto' } },
    accounts: { wallet_app: ACCOUNT, card_partner: ACCOUNT, local_partner: ACCOUNT, crypto: ACCOUNT },
    converter: sandbox.converter(),
    float: null,
    rates: {
      current: async (currency) => ({
        currency,
        rate: RATES[currency] ?? '1',
        source: 'test',
        asOf: new Date().toISOString(),
      }),
    },
    context: { publicUrl: 'http://127.0.0.1:9', now: Date.now },
    payouts: {
      getTreasury: () => '0x',
      queue: absent,
      stop: absent,
      void: absent,
      open: absent,
    },
  }
  return {
    checkout,
    sandbox,
    deps,
    activities: (changes: Partial<PaymentDeps> = {}): PaymentActivities =>
      createPaymentActivities({ ...deps, ...changes }),
    close: () => Promise.all([checkout.close(), sandbox.close()]),
  }
}

/** Runs one activity as Temporal would; `info`: for example the number of the attempt. */
export function perform<Argument, Result>(
  activity: (argument: Argument) => Promise<Result>,
  argument: Argument,
  info: { readonly attempt?: number } = {},
): Promise<Result> {
  return new MockActivityEnvironment(info).run<[Argument], Result, typeof activity>(activity, argument)
}
