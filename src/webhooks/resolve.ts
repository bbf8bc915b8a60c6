import { lookup, Resolver } from 'node:dns/promises'

/** Resolves a host name to all its addresses. Throws `ENOTFOUND` where there is none. */
export type Resolve = (hostname: string) => Promise<Address[]>
type Address = { readonly address: string; readonly family: number }

/** As the machine does it, with its own names: only for the exact targets of WEBHOOK_TEST_TARGETS. */
export const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true })

/** Milliseconds that a name server has, doubled at the second try: longer than it takes, shorter than a try may. */
const ANSWER_MS = 2000
const TRIES = 2

type NameServers = { readonly servers?: readonly string[]; readonly answerMs?: number }

/**
 * Asks the name servers by sockets, for names that strangers chose. The system's own resolver holds a thread for as long
 * as a name server is silent, and the process has two of them for the names of all: nodes and partners would be waited for too.
 */
export function createNameServers({ servers, answerMs = ANSWER_MS }: NameServers = {}): Resolve {
  const resolver = new Resolver({ timeout: answerMs, tries: TRIES })
  if (servers !== undefined) resolver.setServers(servers)
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const found = answers.flatMap((answer, index) =>
      answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })) : [],
    )
    // Servers say in many ways that there is no address; to a merchant it is one.
    if (found.length === 0) throw Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' })
    return found
  }
}
