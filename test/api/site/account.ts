import { z } from 'zod'
import { execute, one, sql, type Tenant } from '../../../src/db/db.ts'
import { setWallet } from '../../../src/db/merchants/wallets.ts'
import { type TestApi, WALLET } from '../support/test-api.ts'
import { signUp, type Visitor } from './visitor.ts'

export type Account = {
  readonly owner: Visitor
  readonly tenant: Tenant
  readonly key: string
  readonly keyId: string
  /** Makes a payment; returns its id. */
  readonly pay: (body: object) => Promise<string>
}

/** The owner of a new account that the operator has approved, with a wallet and a key. */
export async function openAccount(testApi: TestApi, email: string): Promise<Account> {
  const owner = await signUp(testApi, email)
  const { merchant_id } = await one(
    testApi.db,
    z.object({ merchant_id: z.string() }),
    sql`select merchant_id from membership join person on person.id = person_id where email = ${email}`,
  )
  const tenant = { merchantId: merchant_id, livemode: testApi.tenant.livemode }
  await execute(testApi.db, sql`update agreement set status = 'approved' where merchant_id = ${merchant_id}`)
  const { key, keyId } = await testApi.addKey(tenant)
  await setWallet(testApi.db, tenant, WALLET)
  const pay = async (body: object): Promise<string> => {
    const answer = await testApi.ask('POST', '/v1/payments', { key, body })
    if (answer.status !== 201) throw new Error(answer.text)
    return String(answer.body['id'])
  }
  return { owner, tenant, key, keyId, pay }
}

/** The hidden field of the page's forms that makes each count once. */
export async function onceIn(owner: Visitor, path: string): Promise<string> {
  return /name="once" value="([^"]+)"/.exec((await owner.get(path)).html)?.[1] ?? ''
}
