import { privateKeyToAccount } from 'viem/accounts'
import type { Setup } from '../../settlement/setup.ts'
import { readDeposits, readNonce, readSent, readTokenBalance } from './chain-facts.ts'
import { DATABASE } from './payers/payer-group.ts'
import { type Side, withDb } from './sides.ts'

/** Reads what the funding wallet has sent: it pays relayers, and nobody else. */
export async function readGasMoney(setup: Setup): Promise<{ transfers: number; problems: string[] }> {
  const [funding = '', ...relayers] = [setup.fundingKey, ...setup.relayerKeys].map((key) =>
    privateKeyToAccount(key).address.toLowerCase(),
  )
  const sent = await readSent(setup.rpcUrl, funding)
  const strange = sent.filter(
    ({ to, value }) => !(relayers.includes(to) && value > 0n) && !(to === funding && value === 0n),
  )
  const problems = strange.map(({ to, value }) => `gas money: ${value} wei went to ${to}`)
  return { transfers: sent.length, problems }
}

/**
 * Checks the service's own record at the end: each settlement announced once, no nonce without its row, each deposit
 * that is final.
 */
export async function checkRecord(setup: Setup, side: Side, payouts: number): Promise<string[]> {
  return withDb(setup.databaseUrl(DATABASE), async (db) => {
    const rows = async (text: string): Promise<Record<string, string>[]> =>
      (await db.query(text)).rows as Record<string, string>[]
    const [ended] = await rows(`select count(*) as settled from payout where state = 'settled'`)
    const problems: string[] = []
    const settled = Number(ended?.['settled'])
    if (settled !== payouts) problems.push(`${settled} settled of ${payouts}`)
    const [announced] = await rows(
      `select count(*) as all, count(distinct payment_id) as payments from announced where what not like 'stopped:%'`,
    )
    if (Number(announced?.['all']) !== settled || Number(announced?.['payments']) !== settled)
      problems.push(`announced ${announced?.['all']} times for ${announced?.['payments']} of ${settled} payments`)
    for (const { reason } of await rows('select pause as reason from chain_cursor where pause is not null'))
      problems.push(`paused: ${reason}`)
    for (const { wallet, reason } of await rows(
      `select wallet, status_reason as reason from lane where status = 'quarantined'`,
    ))
      problems.push(`lane ${wallet} is stopped: ${reason}`)
    problems.push(
      ...(await nonceProblems(setup, side, rows)),
      ...(await depositProblems(setup, side, rows)),
      ...(await bookProblems(setup, side, rows)),
    )
    return problems
  })
}

type Rows = (text: string) => Promise<Record<string, string>[]>

/** Compares the nonces of lanes. A lane whose key was removed is left as it was. */
async function nonceProblems(setup: Setup, { operator }: Side, rows: Rows): Promise<string[]> {
  const problems: string[] = []
  const wallets = [...setup.relayerKeys, setup.fundingKey].map((key) => privateKeyToAccount(key).address.toLowerCase())
  const removed: readonly string[] = operator?.removed() ?? []
  for (const wallet of wallets.filter((one) => !removed.includes(one))) {
    const [lane] = await rows(`select next_nonce from lane where wallet = '${wallet}'`)
    const nonce = await readNonce(setup.rpcUrl, wallet)
    if (lane !== undefined && lane['next_nonce'] !== String(nonce))
      problems.push(`lane ${wallet} is at nonce ${lane['next_nonce']}, the chain at ${nonce}`)
  }
  return problems
}

/**
 * The ledger's `treasury`, with what is read and not booked yet, must be the treasuries' balance at the last block that
 * was read.
 */
async function bookProblems(setup: Setup, { operator }: Side, rows: Rows): Promise<string[]> {
  if (operator === null) return []
  const [books] = await rows(
    `select c.scanned_number as number, (select coalesce(sum(amount), 0) from ledger_entry where account = 'treasury')
       + (select coalesce(sum(case kind when 'in' then micro_usdc else -micro_usdc end), 0) from treasury_log
         where kind <> 'cancel' and (applied_at is null or known_as = 'payout' and owner_id is null)) as micro
     from chain_cursor c`,
  )
  const block = Number(books?.['number'])
  const held = await Promise.all(
    operator.treasuries.map((wallet) => readTokenBalance(setup.rpcUrl, { token: setup.token, wallet, block })),
  )
  const sum = held.reduce((total, micro) => total + micro, 0n)
  return String(sum) === books?.['micro'] ? [] : [`the books say ${books?.['micro']}, and the treasuries have ${sum}`]
}

/**
 * Compares the stored deposits with the transfers of more than zero to deposit addresses, as far as the chain was read.
 */
async function depositProblems(setup: Setup, side: Side, rows: Rows): Promise<string[]> {
  const [cursor] = await rows('select scanned_number as number from chain_cursor')
  const onChain = await readDeposits(setup.rpcUrl, {
    token: setup.token,
    to: side.deposits,
    until: Number(cursor?.['number']),
  })
  const [stored] = await rows('select count(*) as count, coalesce(sum(units), 0)::text as units from deposit_log')
  const units = onChain.reduce((sum, { micro }) => sum + micro, 0n)
  if (stored?.['count'] === String(onChain.length) && stored['units'] === String(units)) return []
  return [`${stored?.['count']} deposits of ${stored?.['units']} recorded, ${onChain.length} of ${units} on chain`]
}
