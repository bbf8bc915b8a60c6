import { PROVIDER_NAMES, type ProviderName } from '../domain/methods.ts'
import type { CallbackAccount, DRIVERS, PartnerSettings } from '../domain/partner/drivers.ts'
import type { ReadCallback } from '../domain/payment/partner.ts'
import { cashfree } from './cashfree/cashfree.ts'
import type { Driver, PaymentPartner } from './provider.ts'
import { razorpay } from './razorpay/razorpay.ts'
import { revolut } from './revolut/revolut.ts'
import { cardPartner } from './simulator/card-partner.ts'
import { localPartner } from './simulator/local-partner.ts'
import { walletApp } from './simulator/wallet-app.ts'
import { stripe } from './stripe/stripe.ts'

type Drivers = { readonly [Name in ProviderName]: Readonly<Record<(typeof DRIVERS)[Name][number], Driver>> }

/** A new driver needs a folder, its name in `domain/partner/drivers.ts`, and a line here. */
const CODE: Drivers = {
  wallet_app: { simulator: walletApp, revolut, stripe },
  card_partner: { simulator: cardPartner, stripe },
  local_partner: { simulator: localPartner, razorpay, cashfree },
}

function findDriver(provider: ProviderName, { driver }: Pick<PartnerSettings, 'driver'>): Driver {
  const drivers: Readonly<Partial<Record<PartnerSettings['driver'], Driver>>> = CODE[provider]
  const found = drivers[driver]
  if (found === undefined) throw new Error(`${provider} has no driver ${driver}`)
  return found
}

export function createPartners(
  settings: Record<ProviderName, PartnerSettings>,
  clock: () => number = Date.now,
): Record<ProviderName, PaymentPartner> {
  const connect = (name: ProviderName) => findDriver(name, settings[name]).connect(name, settings[name], clock)
  const entries = PROVIDER_NAMES.map((name) => [name, connect(name)])
  return Object.fromEntries(entries) as Record<ProviderName, PaymentPartner>
}

export function createReadCallback(settings: Record<ProviderName, CallbackAccount>): ReadCallback {
  return (provider, callback) => findDriver(provider, settings[provider]).readCallback(settings[provider], callback)
}
