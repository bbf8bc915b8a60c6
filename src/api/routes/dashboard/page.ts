import type { Request } from 'express'
import type { z } from 'zod'
import type { Session as DbSession, Tenant } from '../../../db/db.ts'
import type { Ability, Role } from '../../../domain/account/roles.ts'
import type { Done } from '../../../web/dashboard/done.ts'
import type { Frame } from '../../../web/dashboard/frame.tsx'
import type { SignedIn } from '../../accounts/sessions.ts'
import type { ExportFile } from '../../exports/file.ts'
import type { Made } from '../../limits/request-limits.ts'

/** A page of the dashboard or an action of it, as a value: the router and the tests read the same list. */
export type Page = {
  readonly method: 'get' | 'post'
  /** As Express writes it, with `:name` for parameters. */
  readonly path: string
  /** What the role must be able to do. `person`: be signed in; an account is not needed. */
  readonly needs: Ability | 'person'
  /**
   * It reads lists and sums alone, which are bounded in time: of one moment and on one connection, or piece by piece for a
   * file. The handler uses no other connection.
   */
  readonly lists?: 'at once' | 'in pieces'
  /** It makes what each person has a budget for, whichever account it is for. */
  readonly makes?: Made
  /** A fresh passkey or link is asked for first. The request is kept, and carried out after that. */
  readonly fresh?: Fresh
  /** Of the body. Fields of a form are text, and absent when nothing was checked. */
  readonly form?: z.ZodType
  /** The form has a file, which comes as bytes. Whose file is too large is led to this path. */
  readonly upload?: string
  handle(call: PageCall<never>): Promise<PageAnswer>
}

export type Fresh = {
  /** The change in words, from the fields of the form and the address. It follows "Confirm" in the subject of a mail. */
  readonly what: string | ((fields: Readonly<Record<string, string>>) => string)
  /** The path for a person who does not confirm. */
  readonly back: string | ((params: Readonly<Record<string, string>>) => string)
}

/** A person who is signed in, without an account as yet. */
export type PersonCall<F = unknown> = {
  readonly request: Request
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly form: F
  readonly signedIn: SignedIn
  readonly person: { readonly id: string; readonly email: string }
  /** The hidden field that every form must carry. */
  readonly csrf: string
  readonly ip: string
  /** What every page shows around its own content. */
  readonly frame: Frame
}

export type PageCall<F = unknown> = PersonCall<F> & {
  readonly tenant: Tenant
  readonly role: Role
  /** Sees only the rows of the account. */
  readonly db: DbSession
  /** Reads lists and sums on one connection, with the time of a list, in a turn of the person and the account. */
  readonly inTurn: <T>(work: (db: DbSession) => Promise<T>) => Promise<T>
}

type Export = 'exportPayments' | 'exportStatement'

export type PageAnswer =
  /** `holds`: a frame with a page of ours is in it; `held`: it stands in one. */
  | { readonly html: string; readonly status?: number; readonly frame?: 'holds' | 'held' }
  /** To a path of ours: with 303, or with 307 where the browser posts again. `done`: what the page there confirms; null if it is plain to see. */
  | { readonly to: string; readonly done: Done | null; readonly cookies?: readonly string[]; readonly status?: number }
  /** `exported`: what the account's log keeps of it, as for the same export by a key; null: it has nothing of an account. */
  | { readonly file: ExportFile; readonly exported: { readonly action: Export; readonly data: object } | null }

/** Gives the handler's `form` the type of its schema. */
export function definePage<F extends z.ZodType | undefined>(
  page: Omit<Page, 'handle' | 'form' | 'needs'> & {
    needs: Ability
    form?: F
    handle(call: PageCall<F extends z.ZodType ? z.output<F> : undefined>): Promise<PageAnswer>
  },
): Page {
  return page as unknown as Page
}

export function definePersonPage<F extends z.ZodType | undefined>(
  page: Omit<Page, 'handle' | 'form' | 'needs'> & {
    form?: F
    handle(call: PersonCall<F extends z.ZodType ? z.output<F> : undefined>): Promise<PageAnswer>
  },
): Page {
  return { ...page, needs: 'person' } as unknown as Page
}
