/** The personal data of a buyer that a merchant has. It is in the API's responses, and in no event. */
export type Customer = { readonly email: string | null; readonly taxId: string | null }

/** How many days after it was given it is deleted: refunds and chargebacks of cards are over by then. */
export const CUSTOMER_DAYS = 180

/** The source of an address. `shared`: the buyer, who lets the merchant have it. `private`: the buyer, for mails only. */
export type AddressSource = 'merchant' | 'shared' | 'private'

export type CustomerFields = { customer_email: string | null; customer_tax_id: string | null }

export function renderCustomer(customer: Customer | undefined): CustomerFields {
  return { customer_email: customer?.email ?? null, customer_tax_id: customer?.taxId ?? null }
}

/** Mails to one address within a day, about any payments: money that arrives must not flood a mailbox of a stranger. */
export const MOST_BUYER_MAILS_A_DAY = 10
/** Milliseconds for which a mail is worth reading. */
export const BUYER_MAIL_MS = 3 * 86_400_000

type OwedMail = {
  readonly livemode: boolean
  /** True if a person of the merchant's account has the address. */
  readonly isMember: boolean
  readonly sentToday: number
  /** Milliseconds since the fact. */
  readonly age: number
}

/** In test mode nobody pays, so mails go only to the people of the account. */
export function isMailedToBuyer({ livemode, isMember, sentToday, age }: OwedMail): boolean {
  return (livemode || isMember) && sentToday < MOST_BUYER_MAILS_A_DAY && age < BUYER_MAIL_MS
}
