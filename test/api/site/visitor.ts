import { z } from 'zod'
import { digestOfToken } from '../../../src/api/accounts/tokens.ts'
import { many, sql } from '../../../src/db/db.ts'
import type { TestApi } from '../support/test-api.ts'

export type PageAnswer = {
  readonly status: number
  readonly headers: Headers
  readonly html: string
  /** The target of a redirect. */
  readonly to: string | null
}

export type Form = Readonly<Record<string, string>>

/**
 * A browser without a script: it stores cookies, sends the origin of its requests, and follows no redirect
 * automatically.
 */
export class Visitor {
  readonly cookies = new Map<string, string>()
  readonly #testApi: Pick<TestApi, 'url'>

  constructor(testApi: Pick<TestApi, 'url'>) {
    this.#testApi = testApi
  }

  get(path: string, headers: Form = {}): Promise<PageAnswer> {
    return this.#send(path, { method: 'GET', headers: { accept: 'text/html', ...headers } })
  }

  /** Posts a form as a browser does from a page of the platform, unless the headers differ. */
  post(path: string, form: Form = {}, headers: Form = { 'sec-fetch-site': 'same-origin' }): Promise<PageAnswer> {
    const type = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }
    const body = new URLSearchParams(form).toString()
    return this.#send(path, { method: 'POST', headers: { ...type, ...headers }, body })
  }

  async formField(path = '/dashboard/account'): Promise<string> {
    return /name="_form" value="([^"]+)"/.exec((await this.get(path)).html)?.[1] ?? ''
  }

  /** Posts a form of an open page, with its hidden field. */
  async submit(path: string, form: Form = {}): Promise<PageAnswer> {
    return this.post(path, { _form: await this.formField(), ...form })
  }

  /** Posts a form with files, as the page would, or with other headers. */
  async upload(
    path: string,
    form: Readonly<Record<string, string | Blob>>,
    headers: Form = { 'sec-fetch-site': 'same-origin' },
  ): Promise<PageAnswer> {
    const body = new FormData()
    const fields = { _form: await this.formField(), ...form }
    for (const [name, value] of Object.entries(fields))
      if (typeof value === 'string') body.set(name, value)
      else body.set(name, value, `${name}.png`)
    return this.#send(path, { method: 'POST', headers: { accept: 'text/html', ...headers }, body })
  }

  async #send(path: string, init: Omit<RequestInit, 'headers'> & { headers: Form }): Promise<PageAnswer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(cookie !== '' && { cookie }), ...init.headers }
    const response = await fetch(`${this.#testApi.url}${path}`, { ...init, headers, redirect: 'manual' })
    for (const set of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (set.split(';')[0] ?? '').split('=')
      if (value === '') this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    const { status } = response
    return { status, headers: response.headers, html: await response.text(), to: response.headers.get('location') }
  }
}

const mailRow = z.object({ id: z.string(), sealed: z.string() })

/** The mails that were queued for the address, oldest first. */
export async function mailsTo(testApi: TestApi, address: string): Promise<{ subject: string; text: string }[]> {
  const rows = await many(
    testApi.db,
    mailRow,
    sql`select id, sealed from mail where sealed is not null order by created_at, id`,
  )
  return rows
    .map(
      ({ id, sealed }) =>
        JSON.parse(testApi.secretBox.open(sealed, id)) as { to: string; subject: string; text: string },
    )
    .filter(({ to }) => to === address)
}

export async function linkIn(testApi: TestApi, address: string): Promise<{ path: string; code: string }> {
  const mail = (await mailsTo(testApi, address)).at(-1)
  const url = /https?:\/\/\S+\/sign-in\/link\/\S+/.exec(mail?.text ?? '')?.[0]
  const code = /\b\d{6}\b/.exec(mail?.text ?? '')?.[0]
  if (url === undefined || code === undefined) throw new Error(`no link was sent to ${address}`)
  return { path: url.replace(/^https?:\/\/[^/]+/, ''), code }
}

/** The id of the request that the response asks to confirm. */
export function askedBy({ to }: PageAnswer): string {
  const id = /^\/dashboard\/confirm\?asked=([\w-]{22})$/.exec(to ?? '')?.[1]
  if (id === undefined) throw new Error(`asks to confirm nothing: ${to}`)
  return id
}

/** Makes the last confirmation old, so that the page asks for another. Returns the id of the request. */
export async function askToConfirm(testApi: TestApi, visitor: Visitor, path = '/dashboard/passkey'): Promise<string> {
  const digest = digestOfToken(visitor.cookies.get('pinrail_session') ?? '')
  await testApi.db.query(`update session set confirmed_at = confirmed_at - interval '1 hour' where digest = $1`, [
    digest,
  ])
  return askedBy(await visitor.get(path))
}

/** Confirms by the link in the mail, and continues as a browser does. */
export async function confirmByMail(
  testApi: TestApi,
  visitor: Visitor,
  email: string,
  asked: string,
): Promise<PageAnswer> {
  await visitor.submit('/dashboard/confirm', { asked })
  const { to, status } = await visitor.post((await linkIn(testApi, email)).path)
  return status === 307 ? visitor.post(to ?? '') : visitor.get(to ?? '')
}

/** Signs up or in by a link, as a person does. */
export async function signIn(testApi: TestApi, address: string): Promise<Visitor> {
  const visitor = new Visitor(testApi)
  await visitor.post('/sign-in', { email: address })
  const { path } = await linkIn(testApi, address)
  await visitor.post(path.split('?')[0] ?? path)
  return visitor
}

export async function signUp(testApi: TestApi, address: string, name = 'Halden Coffee'): Promise<Visitor> {
  const visitor = await signIn(testApi, address)
  await visitor.submit('/dashboard/accounts', { name })
  return visitor
}
