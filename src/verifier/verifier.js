import {
  asObject,
  decodeRlp,
  fromBase64,
  indexKey,
  keccak256,
  leafBytes,
  parseBytes,
  parseJson,
  parseQuantity,
  readAddress,
  readWhole,
  toHex,
  Wrong,
} from './reading.js'

/**
 * Checks a payment's receipt offline: it sends no request, and needs only this file and reading.js. It runs unchanged
 * in Node, in a browser and in Deno: `const { verdict, checks } = await verifyReceipt(text, { blockHash, keys })`.
 *
 * The result is certain only if the receipt's block is compared with a header hash from a source that you trust: your
 * own node, or a block explorer. Then the block's `receiptsRoot`, the proof (Ethereum's Merkle-Patricia trie) and the
 * two logs show that USDC's contract moved this amount to this wallet, under a nonce that only this payment has
 * (EIP-3009). A receipt of a transaction does not contain the transaction's hash: `tx_hash`, `log_index` and everything
 * else that is not on chain are claims of whoever signed it.
 */

/** @typedef {{ check: string, result: 'holds' | 'fails' | 'open', says: string }} Check */
/** @typedef {{ kid?: string, kty?: string, crv?: string, x?: string }} Key */
/** @typedef {{ blockHash?: string | undefined, keys?: readonly Key[] | undefined }} Trusted */
/** @typedef {import('./reading.js').Item} Item */
/** @typedef {{ address: string, topics: string[], data: string }} Log */
/** @typedef {Readonly<Record<string, unknown>>} Fields */
/** A fact that holds, or one that was not checked. @typedef {string | { open: string }} Said */
/** @typedef {{ claims: Fields, header: Uint8Array, nodes: Uint8Array[], logs: unknown, signature: Fields }} Receipt */

const FORMAT = 'pinrail.receipt.v1'
/** USDC as Circle issues it on Polygon. */
const POLYGON = { chainId: 137, usdc: '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359' }
/** keccak256 of AuthorizationUsed(address,bytes32) and of Transfer(address,address,uint256). */
const AUTHORIZATION_USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/**
 * A receipt with a full batch has 70 kB; a trie of 300 transactions is 4 nodes deep. Whoever carries a payout may add
 * logs that 16.7 million gas pay for (EIP-7825), 8 for a byte: 2.1 MB, which are twice as many digits.
 */
const MOST = { text: 5_000_000, nodes: 16 }

/**
 * Runs every check in its order. `verdict` is `wrong` if one fails, `open` if the block was not compared with one that
 * you trust or the money is not USDC on Polygon, else `proved`. Never throws for a receipt, whatever is in it.
 * @param {string} text
 * @param {Trusted} [trusted]
 * @returns {Promise<{ verdict: 'proved' | 'open' | 'wrong', checks: Check[], claims: Fields }>}
 */
export async function verifyReceipt(text, trusted = {}) {
  /** @type {Check[]} */
  const checks = []
  /** @type {(check: string, work: () => Said | Promise<Said>) => Promise<void>} */
  const run = async (check, work) => {
    try {
      const stated = await work()
      checks.push(
        typeof stated === 'string'
          ? { check, result: 'holds', says: stated }
          : { check, result: 'open', says: stated.open },
      )
    } catch (error) {
      // Data that cannot be read proves nothing.
      checks.push({
        check,
        result: 'fails',
        says: error instanceof Wrong ? error.message : `it cannot be read: ${String(error)}`,
      })
    }
  }
  /** @type {Receipt | undefined} */
  let receipt
  await run('form', () => {
    receipt = readReceipt(text)
    return `a receipt of the format ${FORMAT}`
  })
  if (receipt === undefined) return { verdict: 'wrong', checks, claims: {} }
  const { claims, header, nodes, logs, signature } = receipt
  await run('nonce', () => checkNonce(claims))
  await run('header', () => checkHeader(claims, header))
  await run('proof', () => checkTransfer(claims, { leaf: checkProof(claims, { header, nodes }), logs }))
  await run('network', () => checkNetwork(claims))
  await run('block', () => checkBlock(claims, trusted.blockHash))
  await run('signature', () => checkSignature(claims, { signature, keys: trusted.keys }))
  const failed = checks.some(({ result }) => result === 'fails')
  const open = checks.some(({ check, result }) => result === 'open' && check !== 'signature')
  return { verdict: failed ? 'wrong' : open ? 'open' : 'proved', checks, claims }
}

/** @param {string} text @returns {Receipt} */
function readReceipt(text) {
  if (text.length > MOST.text) throw new Wrong(`the receipt must have at most ${MOST.text} characters`)
  const { format, claims, proof, signature } = asObject(parseJson(text), 'the receipt')
  if (format !== FORMAT) throw new Wrong(`format must be ${FORMAT}`)
  const { header, nodes, logs } = asObject(proof, 'proof')
  if (!Array.isArray(nodes) || nodes.length === 0 || nodes.length > MOST.nodes)
    throw new Wrong(`proof.nodes must be a list of 1 to ${MOST.nodes} nodes`)
  return {
    claims: asObject(claims, 'claims'),
    header: parseBytes(header, 'proof.header'),
    nodes: nodes.map((node, index) => parseBytes(node, `proof.nodes[${index}]`)),
    logs,
    signature: asObject(signature, 'signature'),
  }
}

/** @param {Fields} claims */
function checkNonce(claims) {
  const { payment, nonce } = claims
  if (typeof payment !== 'string' || !/^[\w-]{1,100}$/.test(payment)) throw new Wrong('claims.payment must be an id')
  const head = [
    160n,
    BigInt(readWhole(claims, 'chain_id')),
    readAddress(claims, 'token'),
    readAddress(claims, 'treasury'),
  ]
  const domain = textWords('pinrail.payout.v1')
  const words = [...head, 160n + BigInt(domain.length * 32), ...domain, ...textWords(payment)]
  const derived = keccak256(
    parseBytes(`0x${words.map((word) => BigInt(word).toString(16).padStart(64, '0')).join('')}`, 'the nonce'),
  )
  if (derived !== nonce) throw new Wrong(`claims.nonce must be that of ${payment}, ${derived}`)
  return `the nonce belongs to ${payment}`
}

/** Encodes a text as the ABI does: its length, and its bytes in words of 32. @param {string} text */
function textWords(text) {
  const hex = toHex(new TextEncoder().encode(text)).slice(2)
  const words = Array.from({ length: Math.ceil(hex.length / 64) }, (_, at) => hex.slice(64 * at, 64 * (at + 1)))
  return [BigInt(hex.length / 2), ...words.map((word) => BigInt(`0x${word.padEnd(64, '0')}`))]
}

/** @param {Fields} claims @param {Uint8Array} encoded */
function checkHeader(claims, encoded) {
  const { number, time } = readHeader(encoded)
  const hash = keccak256(encoded)
  if (hash !== claims['block_hash'])
    throw new Wrong(`claims.block_hash must be the hash of the header, ${String(hash)}`)
  if (number !== BigInt(readWhole(claims, 'block_number')))
    throw new Wrong(`claims.block_number must be ${String(number)}`)
  if (`${String(claims['block_time'])}` !== new Date(Number(time) * 1000).toISOString())
    throw new Wrong('claims.block_time must be the time of the header')
  return `the header has the hash ${String(hash)} and the number ${String(number)}`
}

/** @param {Uint8Array} encoded */
function readHeader(encoded) {
  const fields = decodeRlp(encoded)
  if (!Array.isArray(fields) || fields.length < 15 || fields.length > 32)
    throw new Wrong('the header must have its fields')
  const root = leafBytes(fields[5])
  if (root.length !== 32) throw new Wrong('the header must have a receiptsRoot of 32 bytes')
  return { receiptsRoot: toHex(root), number: parseQuantity(fields[8]), time: parseQuantity(fields[11]) }
}

/**
 * Follows the proof from the header's `receiptsRoot` along the transaction's place in the block; returns the receipt.
 * @param {Fields} claims @param {{ header: Uint8Array, nodes: Uint8Array[] }} proof
 */
function checkProof(claims, { header, nodes }) {
  let path = indexKey(readWhole(claims, 'tx_index'))
  let wanted = readHeader(header).receiptsRoot
  for (const [at, encoded] of nodes.entries()) {
    if (keccak256(encoded) !== wanted) throw new Wrong(`proof.nodes[${at}] must have the hash ${wanted}`)
    const node = decodeRlp(encoded)
    if (!Array.isArray(node) || (node.length !== 17 && node.length !== 2)) throw new Wrong('a node has 2 or 17 items')
    const isLast = at === nodes.length - 1
    const { rest, next, ends } = node.length === 17 ? branch(node, path) : shortcut(node, path)
    if (ends !== isLast) throw new Wrong('the proof must end at the receipt')
    if (isLast) return next
    if (next.length !== 32) throw new Wrong('a node must name the next by its hash')
    path = rest
    wanted = toHex(next)
  }
  throw new Wrong('the proof must end at the receipt')
}

/** @param {Item[]} node @param {string} path */
function branch(node, path) {
  const ends = path === ''
  return { ends, rest: path.slice(1), next: leafBytes(node[ends ? 16 : Number.parseInt(path.charAt(0), 16)]) }
}

/** An extension or a leaf: its part of the path in the hex-prefix encoding. @param {Item[]} node @param {string} path */
function shortcut(node, path) {
  const prefix = toHex(leafBytes(node[0])).slice(2)
  const kind = Number.parseInt(prefix.charAt(0), 16)
  const part = prefix.slice(kind % 2 === 1 ? 1 : 2)
  if (!(kind <= 3) || (kind % 2 === 0 && prefix.charAt(1) !== '0') || !path.startsWith(part))
    throw new Wrong('the proof must lead to the place of the transaction in the block')
  const ends = kind >= 2
  if (ends && path !== part) throw new Wrong('the proof must lead to the place of the transaction in the block')
  return { ends, rest: path.slice(part.length), next: leafBytes(node[1]) }
}

/**
 * Checks the two logs in the proved receipt: USDC used the payment's authorization, and directly after that moved the
 * money.
 * @param {Fields} claims @param {{ leaf: Uint8Array, logs: unknown }} proved
 */
function checkTransfer(claims, { leaf, logs }) {
  const typed = (leaf[0] ?? 0) < 0x80
  const receipt = decodeRlp(typed ? leaf.subarray(1) : leaf)
  if (!Array.isArray(receipt) || receipt.length !== 4 || !Array.isArray(receipt[3]))
    throw new Wrong('a receipt has status, gas, bloom and logs')
  if (toHex(leafBytes(receipt[0])) !== '0x01') throw new Wrong('the transaction must have succeeded')
  const all = receipt[3].map(readLog)
  const word = (/** @type {string} */ name) => `0x${readAddress(claims, name).slice(2).padStart(64, '0')}`
  const used = [AUTHORIZATION_USED, word('treasury'), String(claims['nonce'])].join()
  const token = readAddress(claims, 'token')
  const at = all.findIndex(({ address, topics }) => address === token && topics.join() === used)
  const [authorization, transfer] = [all[at], all[at + 1]]
  if (authorization === undefined || transfer?.address !== token)
    throw new Wrong('the receipt must have the log of the payment’s authorization, followed by the transfer')
  if (transfer.topics.join() !== [TRANSFER, word('treasury'), word('destination')].join())
    throw new Wrong('the transfer must go from claims.treasury to claims.destination')
  const usdc = formatUsdc(transfer.data)
  if (usdc !== claims['net_usdc']) throw new Wrong(`claims.net_usdc must be what was transferred, ${usdc}`)
  if (!sameLogs(logs, [authorization, transfer])) throw new Wrong('proof.logs must be the two logs of the receipt')
  return `block ${String(claims['block_number'])} has the transfer of ${usdc} USDC to ${String(claims['destination'])}`
}

/** @param {unknown} shown @param {Log[]} proved */
function sameLogs(shown, proved) {
  if (!Array.isArray(shown) || shown.length !== proved.length) return false
  return proved.every(({ address, topics, data }, index) => {
    const log = asObject(shown[index], 'a log')
    const named = Array.isArray(log['topics']) && log['topics'].every((topic) => typeof topic === 'string')
    return named && log['address'] === address && log['data'] === data && String(log['topics']) === topics.join()
  })
}

/** @param {Item} item @returns {Log} */
function readLog(item) {
  if (!Array.isArray(item) || item.length !== 3 || !Array.isArray(item[1])) throw new Wrong('a log has 3 parts')
  const [address, topics, data] = item
  return {
    address: toHex(leafBytes(address)),
    topics: topics.map((topic) => toHex(leafBytes(topic))),
    data: toHex(leafBytes(data)),
  }
}

/** Formats micro-USDC in a word as USDC with six decimals. @param {string} word */
function formatUsdc(word) {
  if (word.length !== 66) throw new Wrong('the amount of a transfer is one word')
  const digits = BigInt(word).toString().padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
}

/** @param {Fields} claims */
function checkNetwork({ chain_id: chainId, token, livemode }) {
  if (chainId === POLYGON.chainId && token === POLYGON.usdc && livemode === true) return 'the money is USDC on Polygon'
  return { open: `not USDC on Polygon: this is a test receipt of chain ${String(chainId)} and token ${String(token)}` }
}

/** @param {Fields} claims @param {string | undefined} trusted */
function checkBlock({ block_hash: hash, block_number: number }, trusted) {
  if (trusted === undefined)
    return {
      open: `not compared yet: look up block ${String(number)} in a source that you trust; its hash must be ${String(hash)}`,
    }
  if (trusted.trim().toLowerCase() !== hash)
    throw new Wrong(`the hash of block ${String(number)} that you trust differs from ${String(hash)}`)
  return `block ${String(number)} is the one that you trust`
}

/**
 * RFC 7515 with Ed25519 (RFC 8037): the signature is over the exact bytes of the payload, which must equal `claims`.
 * @param {Fields} claims @param {{ signature: Fields, keys: readonly Key[] | undefined }} given
 */
async function checkSignature(claims, { signature, keys }) {
  const { protected: head, payload, signature: value } = signature
  const stated = asObject(parseJson(new TextDecoder().decode(fromBase64(payload, 'payload'))), 'the signed payload')
  const names = new Set([...Object.keys(stated), ...Object.keys(claims)])
  for (const name of names) if (stated[name] !== claims[name]) throw new Wrong(`claims.${name} must be what was signed`)
  const { alg, kid, crit } = asObject(
    parseJson(new TextDecoder().decode(fromBase64(head, 'protected'))),
    'the signature’s header',
  )
  if (alg !== 'EdDSA' || crit !== undefined) throw new Wrong('the signature must use EdDSA')
  if (keys === undefined) return { open: `not checked: the keys of ${String(claims['issuer'])} were not given` }
  const key = keys.find(
    (each) => each.kid === kid && each.kty === 'OKP' && each.crv === 'Ed25519' && typeof each.x === 'string',
  )
  if (key === undefined) throw new Wrong(`the key ${String(kid)} is not among those given`)
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: String(key.x) }
  const signed = new TextEncoder().encode(`${String(head)}.${String(payload)}`)
  const imported = await crypto.subtle.importKey('jwk', jwk, 'Ed25519', false, ['verify']).catch(() => null)
  if (imported === null) return { open: 'not checked: Ed25519 is not supported here, or the key is invalid' }
  if (!(await crypto.subtle.verify('Ed25519', imported, fromBase64(value, 'signature'), signed)))
    throw new Wrong('the signature must be that of the key')
  return `signed with the key ${String(kid)}`
}
