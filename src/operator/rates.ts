import { setAcceptedRate } from '../db/settlement/accepted-rates.ts'
import { isCurrency } from '../domain/currencies.ts'
import { Refusal } from './call.ts'
import { type Act, recordAct } from './payouts.ts'

/** Later rates are compared with this one. Payments that wait for a rate continue within a minute. */
export async function acceptRate(
  act: Act,
  { currency, rate }: { readonly currency: string; readonly rate: string },
): Promise<number> {
  if (!isCurrency(currency)) throw new Refusal(`${currency} must be a currency, such as EUR`)
  if (!/^\d{1,9}(?:\.\d{1,18})?$/.test(rate) || !/[1-9]/.test(rate))
    throw new Refusal(`${rate} must be a rate: USDC for one major unit, such as 1.08`)
  await act.db.transaction(async (tx) => {
    await setAcceptedRate(tx, { currency, rate })
    await recordAct(tx, act, { name: 'accept_rate', subject: `${currency} ${rate}` })
  })
  act.say(`rates of ${currency} are compared with ${rate} USDC from now on`)
  return 0
}
