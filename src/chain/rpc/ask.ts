import type { Hex } from '../../domain/hex.ts'
import { isNoAnswer, isTooLarge, NodeFailure } from './failure.ts'
import { type Asked, gather, type Standing } from './gather.ts'
import type { RpcNode, Sent } from './node.ts'
import type { SendOutcome } from './send-outcome.ts'

type Electorate = Asked & { readonly quorum: number }

export async function askAny<T>(asked: Asked, read: (node: RpcNode) => Promise<T>): Promise<T> {
  const { value } = await gather<T, { value: T }>({
    ...asked,
    first: 1,
    read,
    judge({ answers: [first], failures, open }) {
      if (first !== undefined) return { value: first.value }
      if (open === 0) throw chooseFailure(failures)
      return undefined
    },
  })
  return value
}

const chooseFailure = (failures: readonly unknown[]): unknown =>
  failures.find(isNoAnswer) ?? failures.find(isTooLarge) ?? failures.at(-1) ?? noNode()

const noNode = (): NodeFailure => new NodeFailure('rpc', { kind: 'silent', answer: 'no node can be asked' })

type Vote<T> = { readonly value: T; readonly nodes: RpcNode[] }

export const askQuorum = <T>(
  { quorum, ...asked }: Electorate,
  read: (node: RpcNode) => Promise<T>,
): Promise<{ value: T } | null> => gather({ ...asked, first: quorum, ...createVote(quorum, read) })

function createVote<T>(quorum: number, read: (node: RpcNode) => Promise<T>) {
  const votes = new Map<string, Vote<T>>()
  let winner: string | null = null
  const vote = (node: RpcNode, value: T): void => {
    const key = serializeAnswer(value)
    // An answer after the vote still shows which node to trust.
    if (winner !== null && key !== winner) node.health.outvoted()
    const same = votes.get(key) ?? { value, nodes: [] }
    same.nodes.push(node)
    votes.set(key, same)
  }
  return {
    async read(node: RpcNode): Promise<T> {
      const value = await read(node)
      vote(node, value)
      return value
    },
    judge({ open }: Pick<Standing<T>, 'open'>): { value: T } | null | undefined {
      const [first, ...others] = [...votes].toSorted(([, a], [, b]) => b.nodes.length - a.nodes.length)
      const count = first?.[1].nodes.length ?? 0
      if (first === undefined || count < quorum) return count + open < quorum ? null : undefined
      winner = first[0]
      for (const [, { nodes: outvoted }] of others) for (const { health } of outvoted) health.outvoted()
      return { value: first[1].value }
    },
  }
}

const serializeAnswer = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) => (typeof part === 'bigint' ? part.toString() : part)) ?? 'undefined'

/** Outcomes in the order in which they inform if no quorum agrees, the most useful first. */
const OUTCOMES: readonly SendOutcome[] = [
  'delegated',
  'nonce_used',
  'underpriced_replacement',
  'underpriced',
  'no_gas_money',
  'too_expensive',
  'unknown',
]

/**
 * Sends to every node. Returns when one has accepted, or a quorum agrees on a refusal. A refusal by fewer is `unknown`,
 * because a refusal can raise the price, and one node may lie while the answers of the others are lost. `delegated` is
 * returned even then: the sender asks a quorum for the wallet's code.
 */
export function sendToAll({ nodes, quorum }: Electorate, raw: Hex): Promise<Sent> {
  return gather<Sent, Sent>({
    nodes,
    first: nodes.length,
    read: (node) => node.send(raw),
    judge({ answers, open }) {
      const sent = answers.map(({ value }) => value)
      const accepted = sent.find(({ outcome }) => outcome === 'accepted')
      if (accepted !== undefined) return accepted
      const agreed = sent.find((one) => sent.filter(({ outcome }) => outcome === one.outcome).length >= quorum)
      if (agreed !== undefined && agreed.outcome !== 'unknown') return agreed
      if (open > 0) return undefined
      const [most] = sent.toSorted((a, b) => OUTCOMES.indexOf(a.outcome) - OUTCOMES.indexOf(b.outcome))
      if (most === undefined) return { outcome: 'unknown', answer: 'no node can be asked' }
      return most.outcome === 'delegated' ? most : { outcome: 'unknown', answer: most.answer }
    },
  })
}
