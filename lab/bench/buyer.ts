import type { Merchant, PaymentAnswer } from '../../scripts/demo/merchant.ts'
import { until } from '../../scripts/test/until.ts'
import { payAtCheckout } from '../../src/sandbox/buyer.ts'

const PATIENCE_MS = 180_000

export type TestMerchant = { readonly merchant: Merchant; readonly sandboxUrl: string }

/** Buys as people do, who try again if a page does not load. */
export async function buyPatiently({ merchant, sandboxUrl }: TestMerchant, payment: PaymentAnswer): Promise<void> {
  const isPaid = async (): Promise<boolean> => {
    const { status } = await merchant.read(payment.id)
    return status !== 'created' && status !== 'pending'
  }
  const buy = () =>
    payAtCheckout(payment.checkout_url, { sandboxUrl }).then(
      () => true,
      () => isPaid().catch(() => false),
    )
  await until(buy, Boolean, PATIENCE_MS)
}
