import { z } from 'zod'
import { execute, maybeOne, one, type Queryable, sql, type Tx } from '../db.ts'

export type Shop = {
  readonly name: string
  /** `#` and six hexadecimal digits; null: Pinrail's own color. */
  readonly brand: `#${string}` | null
  /** The e-mail address for buyers' questions; null: none is given. */
  readonly supportEmail: string | null
  /** The name under which its logo is served; null: it has none. */
  readonly logo: string | null
}

/** The fields that can be changed. The logo is a picture that the platform has encoded again. */
export type ShopChanges = Partial<Omit<Shop, 'logo'>> & {
  readonly logo?: { readonly name: string; readonly bytes: Buffer } | null
}

export const shopRow = z
  .object({
    name: z.string(),
    brand_color: z.custom<NonNullable<Shop['brand']>>().nullable(),
    support_email: z.string().nullable(),
    logo_name: z.string().nullable(),
  })
  .transform(
    ({ name, brand_color: brand, support_email: supportEmail, logo_name: logo }): Shop => ({
      name,
      brand,
      supportEmail,
      logo,
    }),
  )
export const SHOP = sql`name, brand_color, support_email, logo_name`

export function readShop(db: Queryable, merchantId: string): Promise<Shop> {
  return one(db, shopRow, sql`select ${SHOP} from merchant where id = ${merchantId}`)
}

export function setShop(
  db: Queryable,
  merchantId: string,
  { name, brand, supportEmail, logo }: ShopChanges,
): Promise<Shop> {
  const set = [
    name === undefined ? sql`name = name` : sql`name = ${name}`,
    ...(brand === undefined ? [] : [sql`, brand_color = ${brand}`]),
    ...(supportEmail === undefined ? [] : [sql`, support_email = ${supportEmail}`]),
    ...(logo === undefined ? [] : [sql`, logo = ${logo?.bytes ?? null}, logo_name = ${logo?.name ?? null}`]),
  ].reduce((left, right) => sql`${left}${right}`)
  return one(db, shopRow, sql`update merchant set ${set} where id = ${merchantId} returning ${SHOP}`)
}

const logoRow = z.object({ logo: z.instanceof(Buffer) })

export async function findLogo(db: Queryable, name: string): Promise<Buffer | null> {
  return (await maybeOne(db, logoRow, sql`select logo from merchant where logo_name = ${name} limit 1`))?.logo ?? null
}

/** An existing merchant keeps its name. */
export async function insertMerchant(db: Queryable, merchant: { id: string; name: string }): Promise<void> {
  await execute(
    db,
    sql`insert into merchant (id, name) values (${merchant.id}, ${merchant.name}) on conflict (id) do nothing`,
  )
}

/** Call it before you count the merchant's rows to add one. */
export async function lockMerchant(tx: Tx, merchantId: string): Promise<void> {
  await execute(tx, sql`select 1 from merchant where id = ${merchantId} for no key update`)
}
