import { createKey, listKeys, revokeKey } from './accounts/keys.ts'
import { listReports, resumeOneLink, stopOneLink } from './accounts/links.ts'
import { createAccount, listAccounts, showAccount } from './accounts/merchants.ts'
import { changeWallet, keepWallet, showWallet } from './accounts/wallets.ts'
import {
  disableWebhook,
  enableWebhook,
  listFailing,
  listWebhooks,
  redeliver,
  showDeliveries,
} from './accounts/webhooks.ts'
import { type Command, inOffice, type Office } from './call.ts'
import { showAttention } from './checks/attention.ts'
import { checkBackup } from './checks/backup.ts'
import { doctor } from './checks/doctor.ts'
import { migrateDatabase } from './checks/migrate.ts'
import { resealSecrets, showSecrets } from './checks/secrets.ts'
import { prepareTemporal } from './checks/temporal.ts'
import { verifyFile } from './checks/verify.ts'
import { decidePayment } from './payments/decide.ts'
import { explainPayment } from './payments/explain.ts'
import { findPayments } from './payments/find.ts'
import { preflight } from './preflight.ts'
import { SETTLEMENT } from './settlement.ts'

const office =
  (work: (office: Office) => Promise<number>): Command['run'] =>
  (call) =>
    inOffice(call, work)

const SIGNED = ['operator!', 'reason!'] as const

const ACCOUNTS: readonly Command[] = [
  {
    words: 'merchants list',
    options: ['name', 'limit'],
    does: 'merchants, the newest first',
    run: office(listAccounts),
  },
  {
    words: 'merchants create',
    subjects: ['name'],
    options: SIGNED,
    does: 'makes a merchant',
    run: office(createAccount),
  },
  {
    words: 'merchants show',
    subjects: ['merchant'],
    does: 'wallet, keys, endpoints, and what operators did to the account',
    run: office(showAccount),
  },
  { words: 'keys list', subjects: ['merchant'], does: 'its API keys, ended ones too', run: office(listKeys) },
  {
    words: 'keys create',
    subjects: ['merchant'],
    options: ['name', 'scopes', 'allowed-ips', 'days', ...SIGNED],
    does: 'makes an API key and shows it once',
    run: office(createKey),
  },
  {
    words: 'keys revoke',
    subjects: ['key'],
    options: SIGNED,
    does: 'ends an API key within a second',
    run: office(revokeKey),
  },
  {
    words: 'wallets show',
    subjects: ['merchant'],
    does: 'where its USDC goes, and a change that waits',
    run: office(showWallet),
  },
  {
    words: 'wallets set',
    subjects: ['merchant', 'address'],
    options: SIGNED,
    does: 'changes the wallet of later payments; in live mode 24 hours later',
    run: office(changeWallet),
  },
  {
    words: 'wallets keep',
    subjects: ['merchant'],
    options: SIGNED,
    does: 'takes a change that waits back',
    run: office(keepWallet),
  },
]

const PAYMENTS: readonly Command[] = [
  {
    words: 'payments find',
    subjects: ['text?'],
    options: ['merchant', 'status', 'limit'],
    does: 'by id, attempt, event, reference, transaction or address',
    run: office(findPayments),
  },
  {
    words: 'payments explain',
    subjects: ['payment'],
    does: 'where it stands, whose money is where, what may be decided, what happened',
    run: office(explainPayment),
  },
  {
    words: 'payments decide',
    subjects: ['payment', 'decision'],
    options: [...SIGNED, 'attempt', 'version'],
    does: 'approve, reject, refund, recordExternalRefund, hold, release, retry or acknowledge; an attempt names its late money',
    run: office(decidePayment),
  },
]

const WEBHOOKS: readonly Command[] = [
  { words: 'webhooks list', subjects: ['merchant'], does: 'its endpoints and their health', run: office(listWebhooks) },
  { words: 'webhooks failing', does: 'endpoints of all merchants that take nothing now', run: office(listFailing) },
  {
    words: 'webhooks deliveries',
    subjects: ['endpoint'],
    options: ['status', 'limit'],
    does: 'its deliveries and the last answers',
    run: office(showDeliveries),
  },
  {
    words: 'webhooks redeliver',
    subjects: ['endpoint', 'event?'],
    options: ['since', ...SIGNED],
    does: 'delivers an event again, or all that were given up since a time',
    run: office(redeliver),
  },
  {
    words: 'webhooks enable',
    subjects: ['endpoint'],
    options: SIGNED,
    does: 'enables an endpoint',
    run: office(enableWebhook),
  },
  {
    words: 'webhooks disable',
    subjects: ['endpoint'],
    options: SIGNED,
    does: 'disables an endpoint',
    run: office(disableWebhook),
  },
]

const LINKS: readonly Command[] = [
  {
    words: 'links reports',
    options: ['limit'],
    does: 'payment links that somebody has reported, and what was said last',
    run: office(listReports),
  },
  {
    words: 'links stop',
    subjects: ['link'],
    options: SIGNED,
    does: 'stops a payment link, by its address, code or id; its owner cannot set it active',
    run: office(stopOneLink),
  },
  { words: 'links resume', subjects: ['link'], options: SIGNED, does: 'takes that back', run: office(resumeOneLink) },
]

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [
  {
    words: 'migrate',
    does: 'brings the database to the newest schema; safe from several places at once',
    run: migrateDatabase,
  },
  { words: 'preflight', does: 'lists what keeps live mode from starting with these variables', run: preflight },
  {
    words: 'verify',
    subjects: ['file'],
    options: ['block-hash', 'keys'],
    does: 'checks a receipt offline, against the hash of its block and a file of keys that you trust',
    run: verifyFile,
  },
  { words: 'doctor', does: 'looks at database, Temporal, workers, nodes and books', run: office(doctor) },
  { words: 'attention', does: 'money and time that wait for a person, the oldest first', run: office(showAttention) },
  {
    words: 'backup check',
    does: 'whether a restored database is whole, and up to when it knows what happened',
    run: office(checkBackup),
  },
  { words: 'secrets status', does: 'what still rests on retired secrets', run: office(showSecrets) },
  {
    words: 'secrets reseal',
    does: 'seals the secrets of all webhook endpoints with the current key',
    run: office(resealSecrets),
  },
  {
    words: 'temporal prepare',
    does: 'registers what the lists of Temporal show, and prints the saved queries',
    run: office(prepareTemporal),
  },
  ...ACCOUNTS,
  ...PAYMENTS,
  ...LINKS,
  ...WEBHOOKS,
  ...SETTLEMENT,
]
