import type { ProviderName } from '../domain/methods.ts'
import type { ReadCallback } from '../domain/payment/partner.ts'
import { createCardPartner } from './card-partner.ts'
import { createLocalPartner } from './local-partner.ts'
import type { PartnerSettings, PaymentPartner } from './provider.ts'
import { createWalletApp } from './wallet-app.ts'

/** The drivers of all providers. A new partner needs a file and a line here. */
const DRIVERS: Record<ProviderName, (settings: PartnerSettings) => PaymentPartner> = {
  wallet_app: createWalletApp,
  card_partner: createCardPartner,
  local_partner: createLocalPartner,
}

export function createPartners(settings: Record<ProviderName, PartnerSettings>): Record<ProviderName, PaymentPartner> {
  return {
    wallet_app: DRIVERS.wallet_app(settings.wallet_app),
    card_partner: DRIVERS.card_partner(settings.card_partner),
    local_partner: DRIVERS.local_partner(settings.local_partner),
  }
}

export function createReadCallback(partners: Record<ProviderName, PaymentPartner>): ReadCallback {
  return (provider, callback) => partners[provider].readCallback(callback)
}
