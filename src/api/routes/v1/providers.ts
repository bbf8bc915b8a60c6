import { z } from 'zod'
import { getDecimals } from '../../../domain/currencies.ts'
import { type Provider, USED_PROVIDER_NAMES } from '../../../domain/methods.ts'
import { formatAmount, type Money } from '../../../domain/money.ts'
import { listOffered, type Offering } from '../../../domain/partner/offering.ts'
import { PROVIDER } from '../../document/examples.ts'
import { defineOperation } from '../../operation.ts'
import { listAnswer, listSchema } from './lists.ts'

const limit = z.strictObject({ amount: z.string(), currency: z.string() })

const providerObject = z
  .strictObject({
    object: z.literal('provider'),
    name: z.enum(USED_PROVIDER_NAMES),
    label: z.string(),
    methods: z.array(z.string()),
    countries: z.array(z.string()).nullable(),
    currencies: z.array(z.strictObject({ code: z.string(), decimals: z.int() })),
    charge_currency: z.string().nullable(),
    minimum: limit,
    maximum: limit,
    estimated_seconds: z.strictObject({ p50: z.int(), p95: z.int() }),
    measured_seconds: z.strictObject({ p50: z.int(), p95: z.int() }).nullable(),
    identity_check: z.boolean(),
  })
  .meta({ id: 'Provider', examples: [PROVIDER] })

export const listProviders = defineOperation({
  name: 'listProviders',
  method: 'get',
  path: '/v1/providers',
  tag: 'Methods',
  summary: 'List the providers with their limits, currencies and regions',
  scope: 'payments:read',
  answers: { 200: listSchema(providerObject) },
  handle: async (_call, { offering }: { readonly offering: Offering }) =>
    listAnswer(listOffered(offering).map(render), false),
})

function render(provider: Provider): z.input<typeof providerObject> {
  return {
    object: 'provider',
    name: provider.name,
    label: provider.label,
    methods: [...provider.methods],
    countries: provider.countries === null ? null : [...provider.countries],
    currencies: provider.currencies.map((code) => ({ code, decimals: getDecimals(code) })),
    charge_currency: provider.chargeCurrency,
    minimum: money(provider.minimum),
    maximum: money(provider.maximum),
    estimated_seconds: { ...provider.estimatedSeconds },
    measured_seconds: provider.measuredSeconds,
    identity_check: provider.identityCheck,
  }
}

function money(limitMoney: Money): { amount: string; currency: string } {
  return { amount: formatAmount(limitMoney), currency: limitMoney.currency }
}
