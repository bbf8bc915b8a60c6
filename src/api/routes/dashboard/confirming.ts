import { DONE, type Done } from '../../../web/dashboard/done.ts'
import type { Page } from './page.ts'

const NAME = 'pinrail_done'
const SECONDS = 60

/**
 * The response to a form names the confirmation in a cookie, and the next page shows it once. In a URL, a bookmark or a
 * stranger's link could repeat it.
 */
export function confirming(publicUrl: string): (page: Page) => Page {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : ''
  const cookie = (value: string, seconds: number): string =>
    `${NAME}=${value}; Path=/dashboard; HttpOnly; SameSite=Lax; Max-Age=${seconds}${secure}`
  return (page) => ({
    ...page,
    handle: async (call) => {
      const done = page.method === 'get' ? readDone(call.request.get('cookie')) : null
      if (done !== null) call.request.res?.append('set-cookie', cookie('', 0))
      const answer = await page.handle({ ...call, frame: { ...call.frame, done } } as never)
      if (!('to' in answer) || answer.done === null) return answer
      return { ...answer, cookies: [...(answer.cookies ?? []), cookie(answer.done, SECONDS)] }
    },
  })
}

function readDone(cookies = ''): Done | null {
  const value = /(?:^|;\s*)pinrail_done=(\w+)/.exec(cookies)?.[1] ?? ''
  return Object.hasOwn(DONE, value) ? (value as Done) : null
}
