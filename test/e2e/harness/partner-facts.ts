import { z } from 'zod'

const refund = z.looseObject({ key: z.string(), minor: z.string(), isDone: z.boolean() })
const orders = z.array(
  z.looseObject({
    returnUrl: z.string(),
    status: z.string(),
    receivedMinor: z.string().nullable(),
    refunds: z.array(refund),
  }),
)
const fills = z.array(z.looseObject({ key: z.string(), minor: z.string() }))

const PARTNERS = ['wallet-app', 'card-partner', 'local-partner']

/** The journals of the partners and the converter. */
export async function partnerFacts(sandboxUrl: string) {
  const read = async (path: string): Promise<unknown> => (await fetch(`${sandboxUrl}/${path}`)).json()
  const [conversions, ...books] = await Promise.all([
    read('converter/sandbox/conversions'),
    ...PARTNERS.map((partner) => read(`${partner}/sandbox/orders`)),
  ])
  return { orders: books.flatMap((book) => orders.parse(book)), fills: fills.parse(conversions) }
}
