import type { Request } from 'express'

/**
 * `session`: who is signed in. `browser`: that this browser asked for a link. `known`: that somebody signed in here before.
 * `sent`: the address that the link went to, in base64url. Over https their names begin with `__Host-`, so that no other
 * host of the domain can set them; a browser takes such cookies only from https.
 */
export type CookieName = 'session' | 'browser' | 'known' | 'sent'

const TOKEN = /^[\w-]{43}$/
const VALUES: Readonly<Record<CookieName, RegExp>> = {
  session: TOKEN,
  browser: TOKEN,
  known: TOKEN,
  sent: /^[\w-]{1,400}$/,
}

export type Cookies = {
  /** Null: there is none, or more than one, which only somebody else can have set. */
  read(request: Request, name: CookieName): string | null
  /** The value of `set-cookie`. It ends with the browser's session, or after so many seconds. */
  set(name: CookieName, value: string, seconds?: number): string
  clear(name: CookieName): string
}

export function createCookies(publicUrl: string): Cookies {
  const secure = publicUrl.startsWith('https:')
  const nameOf = (name: CookieName): string => `${secure ? '__Host-' : ''}pinrail_${name}`
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  return {
    read: (request, name) => {
      const values = (request.get('cookie') ?? '').split(';').flatMap((pair) => {
        const [key, value] = pair.trim().split('=')
        return key === nameOf(name) && value !== undefined && VALUES[name].test(value) ? [value] : []
      })
      return values.length === 1 ? (values[0] ?? null) : null
    },
    set: (name, value, seconds) =>
      `${nameOf(name)}=${value}; ${attributes}${seconds === undefined ? '' : `; Max-Age=${seconds}`}`,
    clear: (name) => `${nameOf(name)}=; ${attributes}; Max-Age=0`,
  }
}
