import type { Hex } from '../../domain/hex.ts'
import type { Refund, RefundPlace } from '../../domain/refund/refund.ts'
import { type RefundAnswer, toRefundSnapshot } from '../../domain/refund/refund-step.ts'
import type { ChangedRefund } from '../../payments/change-refund.ts'
import type { PaymentDeps } from '../payment/payment-deps.ts'

export type RefundDeps = Pick<PaymentDeps, 'db' | 'partners' | 'accounts' | 'rates' | 'context' | 'payouts'> & {
  /** Null: the deployment makes no addresses. */
  readonly addresses: RefundAddresses | null
}

export type RefundAddresses = {
  readonly place: (refund: Pick<Refund, 'id' | 'chainId' | 'token'>) => RefundPlace
  /** For how long after the expiry an address is watched at each block. */
  readonly watchSeconds: number
  /** True for an address of the platform. */
  readonly isOwn: (address: Hex) => Promise<boolean>
}

export const createRefundAnswer = ({ refund, events }: ChangedRefund): RefundAnswer => ({
  refund: toRefundSnapshot(refund),
  events,
})
