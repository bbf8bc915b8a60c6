import type { CallDurations } from '../../runtime/metrics.ts'
import type { Tracing } from '../../runtime/traces.ts'
import type { Converter } from '../converter/converter.ts'
import { PartnerError, type PaymentPartner } from '../provider.ts'
import { aroundCalls } from './calls.ts'

export type Watching = { readonly durations: CallDurations; readonly tracing: Tracing }

export function watchPartners<Name extends string>(
  partners: Record<Name, PaymentPartner>,
  watching: Watching,
): Record<Name, PaymentPartner> {
  return aroundCalls(partners, (name) => {
    const watch = watcher(name, watching)
    return (call, ask) => watch(call.name, ask)
  })
}

export function watchConverter(converter: Converter, watching: Watching): Converter {
  const watch = watcher('converter', watching)
  return {
    rates: (signal) => watch('rates', () => converter.rates(signal)),
    convert: (order, signal) => watch('convert', () => converter.convert(order, signal)),
    cancel: (key, signal) => watch('cancel', () => converter.cancel(key, signal)),
  }
}

function watcher(partner: string, { durations, tracing }: Watching) {
  return <T>(call: string, ask: () => Promise<T>): Promise<T> => {
    const about = { name: `${partner} ${call}`, kind: 'client', payment: null } as const
    return tracing.span(about, async () => {
      const end = durations()
      try {
        const answer = await ask()
        end({ partner, call, outcome: 'answered' })
        return answer
      } catch (error) {
        end({ partner, call, outcome: error instanceof PartnerError ? error.kind : 'failed' })
        throw error
      }
    })
  }
}
