import { readShop } from '../../../db/merchants/merchants.ts'
import { PAYMENT_METHOD } from '../../../domain/btcpay/invoice.ts'
import type { FacadeCall, FacadeDeps, Handle } from './serve.ts'

/** Greenfield as of this version. Plugins refuse servers before 1.7.6. */
const VERSION = '2.0.0'

/** Seconds. */
const DAY = 86_400

export const readServer: Handle = async () => ({
  version: VERSION,
  onion: null,
  fullySynched: true,
  supportedPaymentMethods: [PAYMENT_METHOD],
  syncStatus: [],
})

export const listStores: Handle = async (call, deps) => [await renderStore(call, deps)]

export const readStore: Handle = (call, deps) => renderStore(call, deps)

async function renderStore({ caller, storeId }: FacadeCall, { db }: FacadeDeps): Promise<object> {
  const { name, supportEmail } = await readShop(db.as(caller), caller.merchantId)
  return {
    id: storeId,
    name,
    website: null,
    supportUrl: supportEmail === null ? null : `mailto:${supportEmail}`,
    archived: false,
    defaultCurrency: 'USD',
    invoiceExpiration: DAY,
    monitoringExpiration: DAY,
    speedPolicy: 'MediumSpeed',
    paymentTolerance: 0,
    anyoneCanCreateInvoice: false,
    requiresRefundEmail: false,
    redirectAutomatically: false,
    defaultPaymentMethod: PAYMENT_METHOD,
    networkFeeMode: 'Never',
  }
}

/** Without a wallet there is none: plugins then say that the store is not set up. */
export const listStoreMethods: Handle = async ({ caller }, { db, terms }) => {
  const { wallet } = await terms.read(db.as(caller), caller)
  if (wallet === null) return []
  return [{ paymentMethodId: PAYMENT_METHOD, paymentMethod: PAYMENT_METHOD, enabled: true, data: {} }]
}
