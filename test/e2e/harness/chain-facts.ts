import { createPublicClient, encodeAbiParameters, type Hex, http, keccak256, parseAbi, parseAbiParameters } from 'viem'
import type { SystemInfo } from '../../../scripts/system.ts'

const ABI = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'function balanceOf(address) view returns (uint256)',
])
const NONCE_PARAMETERS = parseAbiParameters('string, uint256, address, address, string')

/** The chain's facts about the treasury, from its first block. */
export async function chainFacts(info: SystemInfo, treasury: string) {
  const client = createPublicClient({ transport: http(info.rpc_url) })
  const address = info.usdc_address as Hex
  const wallet = treasury as Hex
  const logs = { address, abi: ABI, fromBlock: 0n, toBlock: 'latest' } as const
  const [used, out, into, treasuryBalance] = await Promise.all([
    client.getContractEvents({ ...logs, eventName: 'AuthorizationUsed', args: { authorizer: wallet } }),
    client.getContractEvents({ ...logs, eventName: 'Transfer', args: { from: wallet } }),
    client.getContractEvents({ ...logs, eventName: 'Transfer', args: { to: wallet } }),
    client.readContract({ address, abi: ABI, functionName: 'balanceOf', args: [wallet] }),
  ])
  return {
    treasuryBalance,
    paidOut: out.reduce((sum, { args }) => sum + (args.value ?? 0n), 0n),
    /** The token emits the transfer right behind the authorization that it uses. */
    settlements: used.map((log) => {
      const transfer = out.find(
        (one) => one.transactionHash === log.transactionHash && one.logIndex === log.logIndex + 1,
      )
      return {
        nonce: log.args.nonce ?? '0x',
        txHash: log.transactionHash as string,
        to: transfer?.args.to?.toLowerCase(),
        micro: transfer?.args.value ?? 0n,
      }
    }),
    received: into.map((log) => ({
      from: log.args.from?.toLowerCase(),
      reference: `${log.transactionHash}:${log.logIndex}`,
      micro: log.args.value ?? 0n,
    })),
    deriveNonce: (paymentId: string): Hex =>
      keccak256(
        encodeAbiParameters(NONCE_PARAMETERS, ['pinrail.payout.v1', BigInt(info.chain_id), address, wallet, paymentId]),
      ),
  }
}
