import { lookup, Resolver } from 'node:dns/promises'

/** Resolves a host name to all its addresses. Throws `ENOTFOUND` if there is none. */
export type Resolve = (hostname: string) => Promise<Address[]>
type Address = { readonly address: string; readonly family: number }

/** Resolves as the machine does, with its own names: only for the exact targets of WEBHOOK_TEST_TARGETS. */
export const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true })

/**
 * Milliseconds for a name server's answer, doubled on the second try: more than one needs, and less than a try may
 * take.
 */
const ANSWER_MS = 2000
const TRIES = 2

type NameServers = { readonly servers?: readonly string[]; readonly answerMs?: number }

/**
 * Asks the name servers by sockets, for names that strangers chose. The system's own resolver occupies a thread as long
 * as a name server is silent, and the process has two of them for all names: nodes and partners would wait too.
 */
export function createNameServers({ servers, answerMs = ANSWER_MS }: NameServers = {}): Resolve {
  const resolver = new Resolver({ timeout: answerMs, tries: TRIES })
  if (servers !== undefined) resolver.setServers(servers)
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const found = answers.flatMap((answer, index) =>
      answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })) : [],
    )
    // Servers report a missing address in many ways; to a merchant they are one.
    if (found.length === 0) throw Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' })
    return found
  }
}
