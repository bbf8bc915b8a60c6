import type { Db } from '../../src/db/db.ts'
import type { Hex } from '../../src/domain/hex.ts'

/** Tables with rows of every payout: those whose growth could slow a statement. */
export const GROWING = [
  'payment',
  'attempt',
  'reading',
  'sale',
  'payout',
  'payout_signature',
  'treasury_log',
  'lane_tx',
  'lane_tx_item',
  'lane_tx_attempt',
  'ledger_transaction',
  'ledger_entry',
  'timeline_entry',
  'event',
  'delivery',
] as const

type Fill = {
  readonly count: number
  readonly chainId: number
  readonly token: Hex
  readonly treasury: Hex
  /** Envelopes that still have their call data and signed bytes: those of the last days. */
  readonly withBytes: boolean
}

/** Payouts in one envelope. */
const FULL = 100

/**
 * Fills the tables with payments of merchant `mer_1` that were paid, converted and settled days ago, as the system leaves
 * them: set by set, and without triggers, because each row was checked when the original was written.
 */
export async function fillSettled(db: Db, fill: Fill): Promise<void> {
  const statements = [...paymentRows(fill), ...payoutRows(fill), ...moneyRows(fill), ...eventRows(fill)]
  await db.transaction(async (tx) => {
    await tx.query(`set local session_replication_role = replica`)
    for (const text of statements) await tx.query(text)
  })
}

/** Hexadecimal text of 32 bytes that differs for each `n` and kind. */
const hash = (kind: string, n = 'n'): string => `'0x' || encode(sha256((${`'${kind}'`} || ${n})::bytea), 'hex')`
const wallet = (kind: string, n: string): string =>
  `'0x' || substr(encode(sha256((${`'${kind}'`} || ${n})::bytea), 'hex'), 1, 40)`
const LANE = `0x${'a1'.repeat(20)}`
const recipient = wallet('to', 'n % 500')
const id = (prefix: string): string => `'${prefix}' || lpad(n::text, 20, '0')`
const pay = id('pay_old')
const SINCE = `now() - interval '30 days' + n * interval '1 millisecond'`

function paymentRows({ count, chainId, token }: Fill): string[] {
  const each = `generate_series(1, ${count}) n`
  return [
    `insert into payment (id, merchant_id, livemode, status, amount_text, amount_minor, currency, fallback, checkout_token,
       tolerance_percent, fill_tolerance_percent, payout, paid_micro, destination, chain_id, token, quote, provider_used, method_used, paid_attempt_id, charge_currency, confirmed_minor,
       rate, rate_source, rate_locked_at, paid_at, taken_sale, gross_micro, fee_micro, net_micro, tx_hash, log_index, block_number,
       finalized_at, created_at, updated_at, expires_at, succeeded_at, closed_at, version)
     select ${pay}, 'mer_1', false, 'succeeded', '1.00', 100, 'USD', 'none', ${pay}, 1, 2, 'paid', 1000000, ${recipient}, ${chainId}, '${token}',
       '{"rate":"1.08","rateSource":"bench","netMicro":"1000000"}', 'wallet_app', 'banking_app', ${id('att_old')}, 'USD', 100,
       '1.08', 'bench', ${SINCE}, ${SINCE}, 1, 1000000, 0, 1000000, ${hash('tx', `(n / ${FULL})`)}, 2 * (n % ${FULL}), n / 1000,
       ${SINCE}, ${SINCE}, ${SINCE}, ${SINCE}, ${SINCE}, ${SINCE}, 6 from ${each}`,
    `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, held, created_at, updated_at)
     select ${id('att_old')}, ${pay}, 'wallet_app', 'banking_app', 'paid', 100, 'USD', 100, ${SINCE}, ${SINCE} from ${each}`,
    `insert into reading (attempt_id, revision, at, status, held)
     select ${id('att_old')}, 2, ${SINCE}, 'paid', 100 from ${each}`,
    `insert into sale (payment_id, number, attempt_id, units, gross_micro, fill_micro, reference, state, asked_at)
     select ${pay}, 1, ${id('att_old')}, 100, 1000000, 1000000, ${pay}, 'filled', ${SINCE} from ${each}`,
    `insert into timeline_entry (payment_id, at, kind, from_status, to_status, actor, message)
     select ${pay}, ${SINCE}, 'payment.status', s.a, s.b, 'system', 'moved on'
     from ${each}, (values (null, 'created'), ('created', 'pending'), ('pending', 'processing'), ('processing', 'settling'),
       ('settling', 'succeeded')) as s(a, b)`,
  ]
}

function payoutRows({ count, chainId, token, treasury, withBytes }: Fill): string[] {
  const each = `generate_series(1, ${count}) n`
  const envelopes = `generate_series(0, ${Math.floor(count / FULL)}) n`
  // As long as the bytes of a full batch, and not compressible.
  const bytes = withBytes
    ? `(select string_agg(sha256((n || ':' || k)::bytea), '') from generate_series(1, 1500) k)`
    : `''::bytea`
  const dropped = withBytes ? 'null' : 'now()'
  return [
    `insert into payout (payment_id, livemode, chain_id, token, treasury, recipient, micro_usdc, auth_nonce, state,
       mined_number, created_at, updated_at)
     select ${pay}, false, ${chainId}, '${token}', '${treasury}', ${recipient}, 1000000, ${hash('nonce')}, 'settled',
       n / 1000, ${SINCE}, ${SINCE} from ${each}`,
    `insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, counterparty, micro_usdc, auth_nonce,
       block_number, block_hash, gas_share, finalized_at, owner_id, known_as, receipt_due_at)
     select ${chainId}, ${hash('tx', `(n / ${FULL})`)}, 2 * (n % ${FULL}), '${token}', '${treasury}', 'out', ${recipient},
       1000000, ${hash('nonce')}, n / 1000, ${hash('block', '(n / 1000)')}, 1000000000, ${SINCE}, ${pay}, 'payout', null
     from ${each}`,
    `insert into lane (chain_id, wallet, next_nonce, status) values (${chainId}, '${LANE}', ${count}, 'open')`,
    `insert into lane_tx (chain_id, wallet, nonce, kind, target, calldata, gas_limit, state, block_number, gas_used, gas_price,
       created_at, ended_at, dropped_at)
     select ${chainId}, '${LANE}', n, 'batch', '${token}', ${bytes}, 7280000, 'finalized', n / 10, 4821300,
       30000000000, ${SINCE}, ${SINCE}, ${dropped} from ${envelopes}`,
    `insert into lane_tx_attempt (chain_id, wallet, nonce, attempt, tx_hash, raw, max_fee, tip, signed_block, signed_at)
     select ${chainId}, '${LANE}', n, 1, ${hash('tx')}, ${bytes}, 60000000000, 30000000000, n / 10, ${SINCE} from ${envelopes}`,
    ...(withBytes
      ? [
          `insert into lane_tx_item (chain_id, wallet, nonce, idx, owner_id, kind)
           select ${chainId}, '${LANE}', n / ${FULL}, n % ${FULL}, ${pay}, 'transfer' from ${each}`,
          `insert into payout_signature (owner_id, seq, kind, valid_before, signature, signed_at)
           select ${pay}, 1, 'transfer', 1800000000, sha256(n::text::bytea) || sha256(n::text::bytea) || '\\x1b', ${SINCE}
           from ${each}`,
        ]
      : []),
  ]
}

function moneyRows({ count }: Fill): string[] {
  const each = `generate_series(1, ${count}) n`
  return [
    `insert into ledger_transaction (kind, reference, payment_id, booked_at)
     select k, ${pay}, ${pay}, ${SINCE} from ${each}, unnest(array['collected', 'converted', 'settled', 'gas']) k`,
    `insert into ledger_entry (transaction_id, line, account, asset, amount)
     select id, l.line, l.account, 'USDC', l.amount from ledger_transaction,
       (values (0, 'merchant_payable', 1000000), (1, 'treasury', -1000000)) as l(line, account, amount)
     where reference like 'pay_old%'`,
  ]
}

function eventRows({ count }: Fill): string[] {
  const each = `generate_series(1, ${count}) n`
  return [
    `insert into webhook_endpoint (id, merchant_id, livemode, url, secrets)
     values ('we_old', 'mer_1', false, 'https://shop.example/hook', '[]')`,
    // As long as the object of a payment.
    `insert into event (id, merchant_id, livemode, sequence, type, payment_id, body, created_at)
     select ${id('evt_old')}, 'mer_1', false, n, 'payment.succeeded', ${pay}, repeat(md5(n::text), 45)::bytea, ${SINCE}
     from ${each}`,
    `insert into event_sequence (merchant_id, livemode, last) values ('mer_1', false, ${count})
     on conflict (merchant_id, livemode) do update set last = excluded.last`,
    `insert into delivery (event_id, endpoint_id, merchant_id, livemode, status, attempts, created_at, delivered_at)
     select ${id('evt_old')}, 'we_old', 'mer_1', false, 'delivered', 1, ${SINCE}, ${SINCE} from ${each}`,
  ]
}
