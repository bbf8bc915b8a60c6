import { toRlp } from 'viem/utils'
import type { Hex } from '../../domain/hex.ts'
import { keccak256 } from '../../evm/keccak.ts'

/** A value and the path to it, in hexadecimal digits. */
export type Entry = { readonly path: string; readonly value: Hex }

/**
 * A node of Ethereum's Merkle-Patricia trie (yellow paper, appendix D). Its hash identifies every node: values of more
 * than 32 bytes, which receipts are, leave no node small enough to be embedded in its parent.
 */
export type TrieNode = {
  readonly encoded: Hex
  readonly hash: Hex
  /** The digits of the path that the node itself covers. */
  readonly takes: string
  /** Children by the next digit; the child of an extension is under ''. */
  readonly next: ReadonlyMap<string, TrieNode>
}

const EMPTY: Hex = '0x'

/** Builds the trie of the entries: at least one, and no path is the prefix of another. */
export function buildTrie(entries: readonly Entry[]): TrieNode {
  const [first, ...others] = entries
  if (first === undefined) throw new RangeError('a trie has at least one entry')
  if (others.length === 0) return createNode([shortcut(first.path, { isLeaf: true }), first.value], first.path)
  const takes = sharedStart(entries.map(({ path }) => path))
  const branch = createBranch(entries.map(({ path, value }) => ({ path: path.slice(takes.length), value })))
  if (takes === '') return branch
  return createNode([shortcut(takes, { isLeaf: false }), branch.hash], takes, new Map([['', branch]]))
}

export function proveEntry(root: TrieNode, path: string): Hex[] {
  const rest = path.slice(root.takes.length)
  const child = root.next.get('') ?? root.next.get(rest.charAt(0))
  if (child === undefined) return [root.encoded]
  return [root.encoded, ...proveEntry(child, root.next.has('') ? rest : rest.slice(1))]
}

function createBranch(entries: readonly Entry[]): TrieNode {
  const next = new Map<string, TrieNode>()
  const items = Array.from('0123456789abcdef', (digit): Hex => {
    const below = entries.filter(({ path }) => path.startsWith(digit))
    if (below.length === 0) return EMPTY
    const child = buildTrie(below.map(({ path, value }) => ({ path: path.slice(1), value })))
    next.set(digit, child)
    return child.hash
  })
  return createNode([...items, EMPTY], '', next)
}

function createNode(
  items: readonly Hex[],
  takes: string,
  next: ReadonlyMap<string, TrieNode> = new Map<string, TrieNode>(),
): TrieNode {
  const encoded = toRlp([...items])
  return { encoded, hash: keccak256(encoded), takes, next }
}

/** Returns the hex-prefix encoding of a part of a path (yellow paper, appendix C). */
function shortcut(path: string, { isLeaf }: { isLeaf: boolean }): Hex {
  const isOdd = path.length % 2 === 1
  return `0x${(isLeaf ? 2 : 0) + (isOdd ? 1 : 0)}${isOdd ? '' : '0'}${path}`
}

function sharedStart(paths: readonly string[]): string {
  const [first = '', ...others] = paths
  let length = first.length
  for (const path of others) while (!path.startsWith(first.slice(0, length))) length -= 1
  return first.slice(0, length)
}
