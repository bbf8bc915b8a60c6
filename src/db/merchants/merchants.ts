import { z } from 'zod'
import { execute, one, type Queryable, sql, type Tx } from '../db.ts'

/** As buyers see it. */
export type Shop = {
  readonly name: string
  /** `#` and six hexadecimal digits; null: Pinrail's own colour. */
  readonly brand: `#${string}` | null
  /** Where buyers ask; null when the shop does not say. */
  readonly supportEmail: string | null
}

const shopRow = z
  .object({
    name: z.string(),
    brand_color: z.custom<NonNullable<Shop['brand']>>().nullable(),
    support_email: z.string().nullable(),
  })
  .transform(({ name, brand_color: brand, support_email: supportEmail }): Shop => ({ name, brand, supportEmail }))

export function readShop(db: Queryable, merchantId: string): Promise<Shop> {
  return one(db, shopRow, sql`select name, brand_color, support_email from merchant where id = ${merchantId}`)
}

/** Changes what is named. */
export function setShop(
  db: Queryable,
  merchantId: string,
  { name, brand, supportEmail }: Partial<Shop>,
): Promise<Shop> {
  const set = [
    name === undefined ? sql`name = name` : sql`name = ${name}`,
    ...(brand === undefined ? [] : [sql`, brand_color = ${brand}`]),
    ...(supportEmail === undefined ? [] : [sql`, support_email = ${supportEmail}`]),
  ].reduce((left, right) => sql`${left}${right}`)
  return one(
    db,
    shopRow,
    sql`update merchant set ${set} where id = ${merchantId} returning name, brand_color, support_email`,
  )
}

/** Stores a merchant. One that is there already keeps its name. */
export async function insertMerchant(db: Queryable, merchant: { id: string; name: string }): Promise<void> {
  await execute(
    db,
    sql`insert into merchant (id, name) values (${merchant.id}, ${merchant.name}) on conflict (id) do nothing`,
  )
}

/** Locks the merchant until the transaction ends: whoever counts its things before adding one begins with this. */
export async function lockMerchant(tx: Tx, merchantId: string): Promise<void> {
  await execute(tx, sql`select 1 from merchant where id = ${merchantId} for no key update`)
}
