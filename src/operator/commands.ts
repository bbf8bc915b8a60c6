import {
  approveMerchant,
  changeFee,
  changeLimits,
  changeReserve,
  inviteMerchant,
  rejectMerchant,
  resumeMerchant,
  suspendMerchant,
} from './accounts/agreement.ts'
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
import { type Command, type CommandContext, withContext } from './call.ts'
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
import { retryStopped } from './payments/retry-stopped.ts'
import { preflight } from './preflight.ts'
import { reconcileBooks } from './reconcile.ts'
import { endRefund } from './refunds/end.ts'
import { listRefunds, showRefund } from './refunds/refunds.ts'
import { SETTLEMENT } from './settlement.ts'

const context =
  (work: (context: CommandContext) => Promise<number>): Command['run'] =>
  (call) =>
    withContext(call, work)

const SIGNED = ['operator!', 'reason!'] as const

const ACCOUNTS: readonly Command[] = [
  {
    words: 'merchants list',
    options: ['name', 'status', 'limit'],
    does: 'list merchants, newest first; with --status pending those that wait for approval',
    run: context(listAccounts),
  },
  {
    words: 'merchants create',
    subjects: ['name'],
    options: SIGNED,
    does: 'create a merchant',
    run: context(createAccount),
  },
  {
    words: 'merchants show',
    subjects: ['merchant'],
    does: 'show its status, application, fee, wallet, keys, endpoints and operator actions',
    run: context(showAccount),
  },
  {
    words: 'merchants invite',
    subjects: ['email'],
    options: SIGNED,
    does: 'invite an address to create one account, where SIGN_UP is `invited`',
    run: context(inviteMerchant),
  },
  {
    words: 'merchants approve',
    subjects: ['merchant'],
    options: ['message', ...SIGNED],
    does: 'let it take payments; it receives an e-mail, with the message',
    run: context(approveMerchant),
  },
  {
    words: 'merchants reject',
    subjects: ['merchant'],
    options: ['message!', ...SIGNED],
    does: 'refuse its application; it reads the message and can apply again',
    run: context(rejectMerchant),
  },
  {
    words: 'merchants suspend',
    subjects: ['merchant'],
    options: ['message!', 'hold-payouts', 'release-payouts', ...SIGNED],
    does: 'stop it: no new payments, links closed, open payments canceled; payouts continue unless they are held',
    run: context(suspendMerchant),
  },
  {
    words: 'merchants resume',
    subjects: ['merchant'],
    options: ['message', ...SIGNED],
    does: 'end its suspension; payouts that were held continue',
    run: context(resumeMerchant),
  },
  {
    words: 'merchants fee',
    subjects: ['merchant', 'percent'],
    options: SIGNED,
    does: 'change the fee of later payments: a percentage such as 3.9, or `standard`',
    run: context(changeFee),
  },
  {
    words: 'merchants reserve',
    subjects: ['merchant'],
    options: ['percent', 'days', ...SIGNED],
    does: 'change what is held back of later payments for chargebacks: a percentage such as 10, days, or `standard`',
    run: context(changeReserve),
  },
  {
    words: 'merchants limits',
    subjects: ['merchant'],
    options: ['payment', 'day', 'open', ...SIGNED],
    does: 'change its limits for later payments: whole USDC for a payment and a day, a number for those open at once, or `standard`',
    run: context(changeLimits),
  },
  {
    words: 'keys list',
    subjects: ['merchant'],
    does: 'list its API keys, including ended ones',
    run: context(listKeys),
  },
  {
    words: 'keys create',
    subjects: ['merchant'],
    options: ['name', 'scopes', 'allowed-ips', 'days', ...SIGNED],
    does: 'create an API key and show it once',
    run: context(createKey),
  },
  {
    words: 'keys revoke',
    subjects: ['key'],
    options: SIGNED,
    does: 'revoke an API key within a second',
    run: context(revokeKey),
  },
  {
    words: 'wallets show',
    subjects: ['merchant'],
    does: 'show where its USDC goes, and a planned change',
    run: context(showWallet),
  },
  {
    words: 'wallets set',
    subjects: ['merchant', 'address'],
    options: SIGNED,
    does: 'change the wallet of later payments; in live mode after 24 hours',
    run: context(changeWallet),
  },
  {
    words: 'wallets keep',
    subjects: ['merchant'],
    options: SIGNED,
    does: 'cancel a planned change',
    run: context(keepWallet),
  },
]

const PAYMENTS: readonly Command[] = [
  {
    words: 'payments find',
    subjects: ['text?'],
    options: ['merchant', 'status', 'limit'],
    does: 'find payments by id, attempt, event, reference, transaction or address',
    run: context(findPayments),
  },
  {
    words: 'payments explain',
    subjects: ['payment'],
    does: 'explain its state, where the money is, what can be decided, and what happened',
    run: context(explainPayment),
  },
  {
    words: 'payments decide',
    subjects: ['payment', 'decision'],
    options: [...SIGNED, 'attempt', 'outside', 'proof', 'version'],
    does: 'decide: settle, give_back, write_off, hold or release; give an attempt to name whose money goes back',
    run: context(decidePayment),
  },
  {
    words: 'refunds list',
    subjects: ['payment?'],
    options: ['status', 'limit'],
    does: 'list refunds of a payment, or the newest; with --status open those that are not over',
    run: context(listRefunds),
  },
  {
    words: 'refunds show',
    subjects: ['refund'],
    does: 'show its state, its USDC and its request to the partner',
    run: context(showRefund),
  },
  {
    words: 'refunds end',
    subjects: ['refund', 'outcome'],
    options: [...SIGNED, 'proof!'],
    does: 'record how a refund has ended whose partner does not answer: succeeded, or failed; the USDC goes where that says',
    run: context(endRefund),
  },
  {
    words: 'payments retry-stopped',
    subjects: ['reason'],
    options: [...SIGNED, 'dry-run'],
    does: 'settle every payment whose payout is stopped for the reason: blacklisted, policy, refused or operator',
    run: context(retryStopped),
  },
]

const WEBHOOKS: readonly Command[] = [
  {
    words: 'webhooks list',
    subjects: ['merchant'],
    does: 'list its endpoints and their health',
    run: context(listWebhooks),
  },
  {
    words: 'webhooks failing',
    does: 'list the endpoints of all merchants that currently fail',
    run: context(listFailing),
  },
  {
    words: 'webhooks deliveries',
    subjects: ['endpoint'],
    options: ['status', 'limit'],
    does: 'list its deliveries and the latest answers',
    run: context(showDeliveries),
  },
  {
    words: 'webhooks redeliver',
    subjects: ['endpoint', 'event?'],
    options: ['since', ...SIGNED],
    does: 'resend an event, or all that failed since a time',
    run: context(redeliver),
  },
  {
    words: 'webhooks enable',
    subjects: ['endpoint'],
    options: SIGNED,
    does: 'enable an endpoint',
    run: context(enableWebhook),
  },
  {
    words: 'webhooks disable',
    subjects: ['endpoint'],
    options: SIGNED,
    does: 'disable an endpoint',
    run: context(disableWebhook),
  },
]

const LINKS: readonly Command[] = [
  {
    words: 'links reports',
    options: ['limit'],
    does: 'list reported payment links, with the latest report',
    run: context(listReports),
  },
  {
    words: 'links stop',
    subjects: ['link'],
    options: SIGNED,
    does: 'stop a payment link by its address, code or id; its owner cannot resume it',
    run: context(stopOneLink),
  },
  {
    words: 'links resume',
    subjects: ['link'],
    options: SIGNED,
    does: 'resume a stopped payment link',
    run: context(resumeOneLink),
  },
]

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [
  {
    words: 'migrate',
    does: 'migrate the database to the newest schema; safe to run several times at once',
    run: migrateDatabase,
  },
  {
    words: 'preflight',
    does: 'list what prevents a start in live mode with the current environment variables',
    run: preflight,
  },
  {
    words: 'verify',
    subjects: ['file'],
    options: ['block-hash', 'keys'],
    does: 'check a receipt offline, against the hash of its block and a file of keys that you trust',
    run: verifyFile,
  },
  { words: 'doctor', does: 'check database, Temporal, workers, nodes and ledger', run: context(doctor) },
  {
    words: 'reconcile',
    subjects: ['payment?'],
    options: ['since'],
    does: 'compare payments, ledger, payouts and the chain’s logs: what changed in a week, or one payment',
    run: context(reconcileBooks),
  },
  { words: 'attention', does: 'list what needs an operator, oldest first', run: context(showAttention) },
  {
    words: 'backup check',
    does: 'check that a restored database is complete, and up to which time',
    run: context(checkBackup),
  },
  { words: 'secrets status', does: 'list what still depends on retired secrets', run: context(showSecrets) },
  {
    words: 'secrets reseal',
    does: 'encrypt the secrets of all webhook endpoints and notification channels with the current key',
    run: context(resealSecrets),
  },
  {
    words: 'temporal prepare',
    does: 'register the search attributes, and print the saved queries',
    run: context(prepareTemporal),
  },
  ...ACCOUNTS,
  ...PAYMENTS,
  ...LINKS,
  ...WEBHOOKS,
  ...SETTLEMENT,
]
