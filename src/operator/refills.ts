import { endRefill, openRefill } from '../db/settlement/float.ts'
import { isCurrency } from '../domain/currencies.ts'
import { parseAmount } from '../domain/money.ts'
import { newId } from '../ids.ts'
import { Refusal } from './call.ts'
import { type Act, recordAct } from './payouts.ts'

type Exchanged = { readonly amount: string; readonly currency: string; readonly txHash: string }

/** A worker claims what the transaction brings. */
export async function refill(act: Act, { amount, currency, txHash }: Exchanged): Promise<number> {
  const { db, settings, say } = act
  if (settings.CONVERTER !== 'float') throw new Refusal('CONVERTER must be float: without a float there are no refills')
  if (!isCurrency(currency)) throw new Refusal(`${currency} must be a currency, such as INR`)
  const parsed = parseAmount(amount, currency)
  if (!parsed.ok) throw new Refusal(`${amount} must be an amount in ${currency}, such as 1200.00`)
  if (!/^0x[0-9a-f]{64}$/.test(txHash)) throw new Refusal('the transaction must be 0x and 64 hexadecimal digits')
  const at = new Date().toISOString()
  const id = newId('refill')
  const { minor } = parsed.money
  const settledDay = at.slice(0, 10)
  await db.transaction(async (tx) => {
    const order = { id, partner: 'operator' as const, currency, settledDay, minor, leastMicro: '0', txHash, at }
    if (!(await openRefill(tx, order)))
      throw new Refusal(
        `the exposure in ${currency} is less than ${amount}, a refill of it is open, or another refill claims ${txHash}`,
      )
    await recordAct(tx, act, { name: 'refill', subject: id })
  })
  say(`${id} claims what ${txHash} brings to the treasury, once a worker has read it in a final block`)
  return 0
}

export async function endOpenRefill(act: Act, id: string): Promise<number> {
  const { db, say } = act
  await db.transaction(async (tx) => {
    if (!(await endRefill(tx, { id, word: 'ended by an operator', at: new Date().toISOString() })))
      throw new Refusal(`${id} must be an open refill: see \`pinrail settlement status\``)
    await recordAct(tx, act, { name: 'end_refill', subject: id })
  })
  say(`${id} has ended: its money is exposed as before`)
  return 0
}
