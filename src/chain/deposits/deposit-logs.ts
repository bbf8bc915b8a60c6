import type { Hex } from '../../domain/hex.ts'
import type { DepositLog, ReturnLog } from '../../domain/settlement/deposit.ts'
import type { RpcNode } from '../rpc/node.ts'
import { TOPICS } from '../token/contracts.ts'

/** Maximum number of addresses in one `eth_getLogs`: every node takes that many alternatives of a topic. */
const ADDRESSES_PER_QUERY = 500

const toTopic = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`

/**
 * Returns the transfers of the known tokens to the addresses, in the order of the chain. Other tokens are ignored:
 * anybody can create one, and it must not delay a payment. POL is ignored too, because its transfers leave no logs.
 */
export async function depositLogs(
  node: RpcNode,
  watched: { readonly tokens: readonly Hex[]; readonly addresses: readonly Hex[] },
  range: { readonly fromBlock: number; readonly toBlock: number },
): Promise<DepositLog[]> {
  const found: DepositLog[] = []
  for (let start = 0; start < watched.addresses.length; start += ADDRESSES_PER_QUERY) {
    const part = watched.addresses.slice(start, start + ADDRESSES_PER_QUERY)
    const recipients = part.map(toTopic)
    const logs = await node.logs({ address: watched.tokens, ...range, topics: [TOPICS.transfer, null, recipients] })
    for (const { topics, data, address: token, txHash, logIndex, blockNumber, blockHash } of logs) {
      // A transfer of an ERC-721 token has the same topic, but no amount in its data.
      if (!/^0x[0-9a-f]{64}$/.test(data)) continue
      const [sender, address] = [topics[1], topics[2]].map((topic): Hex => `0x${(topic ?? '').slice(-40)}`)
      if (sender === undefined || address === undefined) continue
      // Anybody can send zero units of any token in the name of anybody.
      if (BigInt(data) === 0n) continue
      found.push({ address, token, sender, units: BigInt(data).toString(), txHash, logIndex, blockNumber, blockHash })
    }
  }
  return found.toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
}

/**
 * Returns the transfers of the token that left the addresses for other ones than a treasury, in the order of the chain.
 * Only the platform signs these; anybody can transfer zero units in the name of anybody.
 */
export async function returnLogs(
  node: RpcNode,
  watched: { readonly token: Hex; readonly addresses: readonly Hex[]; readonly treasuries: readonly Hex[] },
  range: { readonly fromBlock: number; readonly toBlock: number },
): Promise<ReturnLog[]> {
  const { token, addresses, treasuries } = watched
  const found: ReturnLog[] = []
  for (let start = 0; start < addresses.length; start += ADDRESSES_PER_QUERY) {
    const senders = addresses.slice(start, start + ADDRESSES_PER_QUERY).map(toTopic)
    const logs = await node.logs({ address: [token], ...range, topics: [TOPICS.transfer, senders] })
    for (const { topics, data, txHash, blockNumber, blockHash } of logs) {
      const [sender, recipient] = [topics[1], topics[2]].map((topic): Hex => `0x${(topic ?? '').slice(-40)}`)
      if (sender === undefined || recipient === undefined || treasuries.includes(recipient)) continue
      const micro = BigInt(data).toString()
      if (micro !== '0') found.push({ sender, recipient, micro, txHash, blockNumber, blockHash })
    }
  }
  return found.toSorted((a, b) => a.blockNumber - b.blockNumber)
}
