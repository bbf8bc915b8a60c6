import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '../../src/domain/hex.ts'
import { scryptKeystore } from './keystore.ts'

const random = (): string => randomBytes(32).toString('base64')
const randomText = (): string => randomBytes(24).toString('hex')
const randomKey = (): Hex => `0x${randomBytes(32).toString('hex')}`

/** The private key in the keystore of `LIVE_ENVIRONMENT`. */
export const LIVE_TREASURY_KEY = randomKey()

const folder = mkdtempSync(join(tmpdir(), 'pinrail-live-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const keystore = join(folder, 'treasury.json')
const password = random()
writeFileSync(keystore, JSON.stringify(scryptKeystore(LIVE_TREASURY_KEY, password)))

/** The variables of a live system that live mode accepts. No server has these names. */
export const LIVE_ENVIRONMENT = {
  LOG_LEVEL: 'silent',
  PINRAIL_MODE: 'live',
  PUBLIC_URL: 'https://pay.pinrail.example',
  DATABASE_URL: `postgres://pinrail:${randomBytes(16).toString('hex')}@db.pinrail.example/pinrail?sslmode=verify-full`,
  TEMPORAL_CODEC_KEYS: `2026-11:${random()}`,
  API_KEY_PEPPER: random(),
  WEBHOOK_ENCRYPTION_KEY: random(),
  API_REQUESTS_PER_SECOND: '100000',
  API_REFUSALS_PER_MINUTE: '100000',
  PROVIDER_WALLET_APP: 'revolut',
  WALLET_APP_URL: 'https://merchant.revolut.example',
  WALLET_APP_SECRET: `sk_${randomText()}`,
  WALLET_APP_WEBHOOK_SECRETS: `wsk_${randomText()}`,
  PROVIDER_CARD_PARTNER: 'stripe',
  CARD_PARTNER_URL: 'https://api.stripe.example',
  CARD_PARTNER_ACCOUNT: 'acct_1Pinrail',
  CARD_PARTNER_SECRET: `sk_live_${randomText()}`,
  CARD_PARTNER_WEBHOOK_SECRETS: `whsec_${randomText()}`,
  PROVIDER_LOCAL_PARTNER: 'razorpay',
  LOCAL_PARTNER_URL: 'https://api.razorpay.example',
  LOCAL_PARTNER_ACCOUNT: 'rzp_live_1Pinrail',
  LOCAL_PARTNER_SECRET: random(),
  LOCAL_PARTNER_WEBHOOK_SECRETS: random(),
  CONVERTER: 'float',
  CONVERTER_URL: 'https://api.converter.example',
  CONVERTER_SECRET: random(),
  POLYGON_RPC_URLS: 'https://polygon.one.example,https://polygon.two.example',
  FINALITY_QUORUM: '2',
  SMTP_URL: `smtps://pinrail:${randomBytes(16).toString('hex')}@mail.pinrail.example`,
  MAIL_FROM: 'Pinrail <pay@pinrail.example>',
  TREASURY_KEY: `keystore:${keystore}`,
  KEYSTORE_PASSWORD: password,
  RELAYER_KEYS: randomKey(),
  RECEIPT_KEY: random(),
  PLATFORM_NAME: 'Quayline Payments',
  IMPRINT_URL: 'https://pinrail.example/imprint',
  STATUS_PAGE_URL: 'https://status.pinrail.example',
  PRIVACY_URL: 'https://pinrail.example/privacy',
  TERMS_URL: 'https://pinrail.example/terms',
  SUPPORT_EMAIL: 'help@pinrail.example',
  PARTNER_NAMES: 'wallet_app:Velanto,card_partner:Cardora,local_partner:Indora',
} as const satisfies Record<string, string>
