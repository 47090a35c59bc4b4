/**
 * Simulates a provider's cache and its check of reasoning. The cache has the common prefix with the
 * previous request; reasoning is valid only after the prefix it was generated with. Compares text, not
 * the gateway's hashes.
 */
import type { Item } from '../core/item.ts'
import { createPrefixNode, findNextPrefixNode, type PrefixNode } from './request-prefix-tree.ts'
import { createItemEncoder, encodeLeadingFields } from './encode-request-text.ts'

export interface SimulatedProvider {
  readonly read: (items: readonly Item[]) => RequestReading
  /** Adds the items of an answer to the latest request. */
  readonly make: (items: readonly Item[]) => void
}

export interface RequestReading {
  readonly chars: number
  /** Characters in common with the beginning of the previous request. */
  readonly cached: number
  /** True if the previous request is not a prefix of this one. */
  readonly breaks: boolean
  readonly reasoning: number
  /** Number of reasoning items whose prefix differs from the original one. */
  readonly invalid: number
}

/** `binds`: the provider accepts reasoning only after its original prefix. */
export function createSimulatedProvider(binds: boolean): SimulatedProvider {
  const encodeItem = createItemEncoder()
  const leading = { piece: encodeLeadingFields(), node: createPrefixNode() }
  const prefixNodes = new Map<Item, PrefixNode>()
  let previous: readonly RequestPiece[] = []
  return {
    read(items) {
      const pieces: RequestPiece[] = [leading]
      let { node } = leading
      let [reasoning, invalid] = [0, 0]
      for (const item of items) {
        if (item.type === 'reasoning') {
          reasoning += 1
          if (binds && prefixNodes.get(item) !== node) invalid += 1
        }
        const piece = encodeItem(item)
        if (piece === '') continue
        node = findNextPrefixNode(node, piece)
        pieces.push({ piece, node })
      }
      const shared = countShared(
        Math.min(previous.length, pieces.length),
        (index) => previous[index]?.node === pieces[index]?.node,
      )
      const [old = '', current = ''] = [previous[shared]?.piece, pieces[shared]?.piece]
      const sharedChars = countShared(
        Math.min(old.length, current.length),
        (index) => old.charCodeAt(index) === current.charCodeAt(index),
      )
      const cached = countChars(pieces.slice(0, shared)) + sharedChars
      const breaks = shared < previous.length
      previous = pieces
      return { chars: countChars(pieces), cached, breaks, reasoning, invalid }
    },
    make(items) {
      let node = previous.at(-1)?.node ?? leading.node
      for (const item of items) {
        prefixNodes.set(item, node)
        node = findNextPrefixNode(node, encodeItem(item))
      }
    },
  }
}

/** A piece of a request and the tree node after it. */
interface RequestPiece {
  readonly piece: string
  readonly node: PrefixNode
}

function countShared(maxCount: number, isEqual: (index: number) => boolean): number {
  for (let index = 0; index < maxCount; index += 1) if (!isEqual(index)) return index
  return maxCount
}

function countChars(pieces: readonly RequestPiece[]): number {
  return pieces.reduce((sum, { piece }) => sum + piece.length, 0)
}
