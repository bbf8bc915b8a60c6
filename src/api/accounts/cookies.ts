import type { Request } from 'express'

/**
 * `session`: the signed-in person. `browser`: requested a link. `known`: somebody signed in here before. `sent`: the
 * e-mail address of the link, in base64url. Over https the names begin with `__Host-`, so that no other host of the
 * domain can set them.
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
  /** Null if there is none, or more than one: only a third party can have set the second. */
  read(request: Request, name: CookieName): string | null
  /** The value of `set-cookie`. Without `seconds` the cookie ends with the browser's session. */
  set(name: CookieName, value: string, seconds?: number): string
  clear(name: CookieName): string
}

export function createCookies(publicUrl: string): Cookies {
  const secure = publicUrl.startsWith('https:')
  const cookieName = (name: CookieName): string => `${secure ? '__Host-' : ''}pinrail_${name}`
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  return {
    read: (request, name) => {
      const values = (request.get('cookie') ?? '').split(';').flatMap((pair) => {
        const [key, value] = pair.trim().split('=')
        return key === cookieName(name) && value !== undefined && VALUES[name].test(value) ? [value] : []
      })
      return values.length === 1 ? (values[0] ?? null) : null
    },
    set: (name, value, seconds) =>
      `${cookieName(name)}=${value}; ${attributes}${seconds === undefined ? '' : `; Max-Age=${seconds}`}`,
    clear: (name) => `${cookieName(name)}=; ${attributes}; Max-Age=0`,
  }
}
