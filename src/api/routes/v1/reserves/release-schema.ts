import { z } from 'zod'
import { RESERVE_RELEASE } from '../../../document/release-example.ts'
import { moment, usdcAmount } from '../fields.ts'

export const releaseObject = z
  .strictObject({
    id: z.string().meta({ description: 'The payments that it releases have it as `settlement.reserve.release`.' }),
    object: z.literal('reserve_release'),
    livemode: z.boolean(),
    due_on: z.iso.date().meta({ description: 'Its reserves were due on this day (UTC) or before it.' }),
    payments: z.int().meta({ description: 'The number of payments whose reserves it releases.' }),
    amount_usdc: usdcAmount.meta({ description: 'USDC that your wallet received.' }),
    wallet: z.string().meta({ description: 'Your wallet when it was released.' }),
    chain_id: z.int(),
    token: z.string(),
    tx_hash: z.string().meta({ description: 'The final transfer.' }),
    finalized_at: moment.meta({ description: 'The time of its block.' }),
    created_at: moment,
  })
  .meta({ id: 'ReserveRelease', examples: [RESERVE_RELEASE] })
