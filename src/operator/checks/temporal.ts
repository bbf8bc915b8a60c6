import { createTemporalClient } from '../../temporal/connect.ts'
import { isFair } from '../../temporal/fairness.ts'
import { missingSearchAttributes, registerSearchAttributes } from '../../temporal/namespace.ts'
import type { CommandContext } from '../call.ts'

const QUERIES: Readonly<Record<string, string>> = {
  'waits for an operator': 'NeedsOperator = true',
  'on the way to the merchant': `ExecutionStatus = 'Running' AND PaymentStatus = 'settling'`,
  'being confirmed': `ExecutionStatus = 'Running' AND PaymentStatus = 'processing'`,
  'large in euro': `Currency = 'EUR' AND AmountMinor >= 500000`,
  'late money': `ExecutionStatus = 'Running' AND PaymentStatus = 'late_money'`,
  'webhooks in trouble': `ExecutionStatus = 'Running' AND WorkflowType = 'webhookDelivery'`,
}

const UNFAIR = `merchants do not take turns where tasks wait. Set \`matching.enableFairness\` to true in the server's dynamic configuration, as ops/temporal-dynamic-config.yaml does; in Temporal Cloud, turn Fairness on for the namespace`

/** Repeating it is safe. */
export async function prepareTemporal({ settings, say, give }: CommandContext): Promise<number> {
  const { namespace } = settings.temporal
  const temporal = createTemporalClient(settings)
  try {
    const { connection } = temporal.client
    const missing = await missingSearchAttributes(connection, namespace)
    await registerSearchAttributes(connection, namespace)
    give('registered', missing)
    give('queries', QUERIES)
    say(missing.length === 0 ? `the namespace ${namespace} has all of them` : `registered ${missing.join(', ')}`)
    const fair = await isFair(temporal.client, namespace)
    give('fair', fair)
    say(fair ? 'merchants take turns where tasks wait' : UNFAIR)
    for (const [name, query] of Object.entries(QUERIES)) say(`${name}: temporal workflow list --query "${query}"`)
    return 0
  } finally {
    await temporal.close()
  }
}
