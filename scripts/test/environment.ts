/** The minimum variables of api and worker; each test sets its own. Nothing listens on port 9. */
const NOWHERE = 'http://127.0.0.1:9'

export const PARTNER_SECRET = 'partner secret of the tests'
export const CONVERTER_SECRET = 'converter secret of the tests'
export const PEPPER = 'pepper of the tests'
/** 32 bytes in base64. */
export const BOX_KEY = Buffer.alloc(32, 7).toString('base64')

/** 32 bytes in base64. */
export const RECEIPT_KEY = Buffer.alloc(32, 9).toString('base64')

export const TEST_ENVIRONMENT = {
  LOG_LEVEL: 'silent',
  CHAIN_ID: '31337',
  API_KEY_PEPPER: PEPPER,
  WEBHOOK_ENCRYPTION_KEY: BOX_KEY,
  API_REQUESTS_PER_SECOND: '100000',
  API_REFUSALS_PER_MINUTE: '100000',
  SIGN_INS_PER_HOUR: '100000',
  LINK_PRESSES_PER_MINUTE: '100000',
  LINK_PAYMENTS_PER_MINUTE: '100000',
  LINK_FORMS_PER_HOUR: '100000',
  WEBHOOK_SENDS_PER_HOUR: '100000',
  OPEN_PAYMENTS: '100000',
  LOOKS_PER_MINUTE: '100000',
  ACTS_PER_MINUTE: '100000',
  WALLET_APP_URL: NOWHERE,
  CARD_PARTNER_URL: NOWHERE,
  LOCAL_PARTNER_URL: NOWHERE,
  CONVERTER_URL: NOWHERE,
  WALLET_APP_SECRET: PARTNER_SECRET,
  CARD_PARTNER_SECRET: PARTNER_SECRET,
  LOCAL_PARTNER_SECRET: PARTNER_SECRET,
  WALLET_APP_WEBHOOK_SECRETS: PARTNER_SECRET,
  CARD_PARTNER_WEBHOOK_SECRETS: PARTNER_SECRET,
  LOCAL_PARTNER_WEBHOOK_SECRETS: PARTNER_SECRET,
  CONVERTER_SECRET,
  POLYGON_RPC_URLS: NOWHERE,
  RECEIPT_KEY,
  PARTNER_NAMES: 'wallet_app:Velanto,card_partner:Cardora,local_partner:Indora',
} as const satisfies Record<string, string>
