import type { Client } from 'pg'

export type RefundRow = {
  readonly id: string
  readonly fundFrom: string
  readonly status: string
  readonly minor: string
  readonly requiredMicro: bigint
  readonly address: string | null
  readonly key: string | null
}

type PaymentRow = {
  status: string
  destination: string
  txHash: string | null
  confirmedMinor: string | null
  gross: bigint | null
  fee: bigint | null
  net: bigint | null
  refunds: readonly RefundRow[]
  /** The transitions from `created`, one after the other; null if they are not connected. */
  way: string | null
}

/** The rows of Postgres, and their contradictions. */
export async function rowFacts(client: Client) {
  const rows = async (text: string): Promise<Record<string, string | null>[]> => (await client.query(text)).rows
  const [payments, refunds, moves, events, entries, topUps, balance] = [
    await rows(`select id, status, lower(destination) as destination, tx_hash, confirmed_minor::text,
      gross_micro::text, fee_micro::text, net_micro::text from payment`),
    await rows(`select id, payment_id, fund_from, status, amount_minor::text, required_micro::text, lower(address) as address,
      partner_key from refund order by number`),
    await rows(`select payment_id, from_status, to_status from timeline_entry where to_status is not null order by id`),
    await rows(`select id, payment_id, type, sequence::text, merchant_id || livemode::text as stream from event
      order by merchant_id, livemode, event.sequence`),
    await rows(
      `select transaction_id::text, asset, sum(amount)::text as sum, count(*)::text from ledger_entry group by 1, 2`,
    ),
    await rows(`select reference from ledger_transaction where kind = 'topped_up'`),
    await rows(
      `select coalesce(sum(amount), 0)::text as sum from ledger_entry where account = 'treasury' and asset = 'USDC'`,
    ),
  ]
  const [payout] = await rows('select distinct treasury from payout limit 1')
  return {
    treasury: payout?.['treasury'] ?? '0x0000000000000000000000000000000000000000',
    payments: new Map(payments.map((row) => [row['id'] ?? '', paymentRow(row, { refunds, moves })])),
    events: events.map((row) => ({ id: row['id'] ?? '', paymentId: row['payment_id'], type: row['type'] ?? '' })),
    topUps: new Set(topUps.map((row) => row['reference'] ?? '')),
    treasuryBalance: BigInt(balance[0]?.['sum'] ?? 0),
    ledgerEntries: entries.reduce((sum, row) => sum + Number(row['count']), 0),
    problems: [
      ...entries
        .filter((row) => row['sum'] !== '0')
        .map((row) => `ledger transaction ${row['transaction_id']} is off by ${row['sum']} ${row['asset']}`),
      ...gaps(events),
    ],
  }
}

type Row = Record<string, string | null>

function paymentRow(row: Row, { refunds, moves }: { readonly refunds: Row[]; readonly moves: Row[] }): PaymentRow {
  const units = (name: string): bigint | null => (row[name] == null ? null : BigInt(row[name]))
  const own = moves.filter((move) => move['payment_id'] === row['id'])
  const isWay = own.every((move, index) => move['from_status'] === (own[index - 1]?.['to_status'] ?? null))
  const succeeded = own.filter((move) => move['to_status'] === 'succeeded').length
  const isOnce = succeeded === (row['status'] === 'succeeded' ? 1 : 0)
  return {
    status: row['status'] ?? '',
    destination: row['destination'] ?? '',
    txHash: row['tx_hash'] ?? null,
    confirmedMinor: row['confirmed_minor'] ?? null,
    gross: units('gross_micro'),
    fee: units('fee_micro'),
    net: units('net_micro'),
    refunds: refunds.filter((refund) => refund['payment_id'] === row['id']).map(refundRow),
    way: isWay && isOnce ? null : own.map((move) => `${move['from_status']}>${move['to_status']}`).join(' '),
  }
}

function gaps(events: Record<string, string | null>[]): string[] {
  const next = new Map<string, number>()
  return events.flatMap((event) => {
    const stream = event['stream'] ?? ''
    const expected = next.get(stream) ?? 1
    next.set(stream, Number(event['sequence']) + 1)
    return Number(event['sequence']) === expected
      ? []
      : [`event ${event['id']} has ${event['sequence']}, not ${expected}`]
  })
}

const refundRow = (row: Row): RefundRow => ({
  id: row['id'] ?? '',
  fundFrom: row['fund_from'] ?? '',
  status: row['status'] ?? '',
  minor: row['amount_minor'] ?? '',
  requiredMicro: BigInt(row['required_micro'] ?? '0'),
  address: row['address'] ?? null,
  key: row['partner_key'] ?? null,
})
