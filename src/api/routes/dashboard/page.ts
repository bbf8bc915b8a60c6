import type { Request } from 'express'
import type { z } from 'zod'
import type { Session as DbSession, Tenant } from '../../../db/db.ts'
import type { Ability, Role } from '../../../domain/account/roles.ts'
import type { Done } from '../../../web/dashboard/done.ts'
import type { Frame } from '../../../web/dashboard/frame.tsx'
import type { SignedIn } from '../../accounts/sessions.ts'
import type { ExportFile } from '../../exports/file.ts'
import type { Made } from '../../limits/request-limits.ts'
import type { Operation } from '../../operation.ts'

/** The router and the tests read the same list of pages. */
export type Page = {
  readonly method: 'get' | 'post'
  readonly path: string
  /** `person`: only a sign-in is needed, without an account. */
  readonly needs: Ability | 'person'
  /**
   * It reads only lists and sums, which have a time limit: at one moment on one connection, or piece by piece for a
   * file. The handler uses no other connection.
   */
  readonly lists?: 'at once' | 'in pieces'
  /** Each person has a limit for these in all accounts together. */
  readonly makes?: Made
  /** The request is stored, and carried out after a confirmation by passkey or link. */
  readonly fresh?: Fresh
  /** Form fields are text, and an unchecked checkbox is absent. */
  readonly form?: z.ZodType
  /** The form has files, as bytes. */
  readonly upload?: Upload
  handle(call: PageCall<never>): Promise<PageAnswer>
}

export type Upload = {
  /** A request that is too large is redirected to this path. */
  readonly tooLarge: (params: Readonly<Record<string, string>>) => string
  /** Bytes of the whole request, such as `64kb`. */
  readonly limit: string
}

export type Fresh = {
  /** The change in words, as it follows "Confirm" in the subject of a mail. */
  readonly what: string | ((fields: Readonly<Record<string, string>>) => string)
  readonly back: string | ((params: Readonly<Record<string, string>>) => string)
}

/** The person may have no account yet. */
export type PersonCall<F = unknown> = {
  readonly request: Request
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly form: F
  readonly signedIn: SignedIn
  readonly person: { readonly id: string; readonly email: string }
  readonly csrf: string
  readonly ip: string
  readonly frame: Frame
}

export type PageCall<F = unknown> = PersonCall<F> & {
  readonly tenant: Tenant
  readonly role: Role
  readonly db: DbSession
  /** One connection with the time limit of a list, in a turn of the person and the account. */
  readonly inTurn: <T>(work: (db: DbSession) => Promise<T>) => Promise<T>
}

export type Exported = { readonly operation: Operation; readonly data: object }

export type PageAnswer =
  /** `holds`: the page embeds another of the platform's pages in a frame. `held`: it is shown in a frame. */
  | { readonly html: string; readonly status?: number; readonly frame?: 'holds' | 'held' }
  /**
   * `status` is 303, or 307 if the browser must post again. `done`: what the next page confirms, null if it is obvious.
   */
  | { readonly to: string; readonly done: Done | null; readonly cookies?: readonly string[]; readonly status?: number }
  /** `exported`: the entry for the account's log, as for an export by key. Null if nothing belongs to an account. */
  | { readonly file: ExportFile; readonly exported: Exported | null }

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
