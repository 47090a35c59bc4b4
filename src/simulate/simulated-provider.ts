/**
 * Simulates a provider's cache and its check of reasoning. A request reads from the cache the text
 * that it has in common with the start of the previous request. Reasoning is valid only if the text
 * before it is the same as when it was generated. Cache and check compare texts, not the gateway's
 * hashes.
 */
import type { Item } from '../core/item.ts'
import type { PolicyCostMetrics } from './policy-cost-metrics.ts'
import { createItemEncoder, encodeLeadingFields } from './encode-request-text.ts'

export interface SimulatedProvider {
  readonly receiveRequest: (items: readonly Item[]) => RequestMeasurement
  /**
   * Records the model's answer to the latest request, so that a later request can be checked for
   * valid reasoning.
   */
  readonly addAnswer: (items: readonly Item[]) => void
}

/**
 * Measurements of one request. `prefixBreaks` is 1 if the request does not begin with the complete
 * previous one, else 0.
 */
export type RequestMeasurement = Pick<
  PolicyCostMetrics,
  'sentChars' | 'cachedChars' | 'prefixBreaks' | 'sentReasoning' | 'invalidReasoning'
>

/**
 * `bindsReasoning` is true if the provider rejects reasoning when the text before it has changed
 * since it was generated.
 */
export function createSimulatedProvider(bindsReasoning: boolean): SimulatedProvider {
  const encodeItem = createItemEncoder()
  const leading = { piece: encodeLeadingFields(), node: createPrefixNode() }
  const prefixNodes = new Map<Item, PrefixNode>()
  let previous: readonly RequestPiece[] = []
  return {
    receiveRequest(items) {
      const pieces: RequestPiece[] = [leading]
      let { node } = leading
      let [sentReasoning, invalidReasoning] = [0, 0]
      for (const item of items) {
        if (item.type === 'reasoning') {
          sentReasoning += 1
          if (bindsReasoning && prefixNodes.get(item) !== node) invalidReasoning += 1
        }
        const piece = encodeItem(item)
        if (piece === '') continue
        node = getOrAddNextNode(node, piece)
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
      const cachedChars = countChars(pieces.slice(0, shared)) + sharedChars
      const prefixBreaks = Number(shared < previous.length)
      previous = pieces
      const sentChars = countChars(pieces)
      return { sentChars, cachedChars, prefixBreaks, sentReasoning, invalidReasoning }
    },
    addAnswer(items) {
      let node = previous.at(-1)?.node ?? leading.node
      for (const item of items) {
        prefixNodes.set(item, node)
        node = getOrAddNextNode(node, encodeItem(item))
      }
    },
  }
}

/**
 * A piece of a request's text, and the node of the prefix tree to which the text up to and
 * including this piece leads.
 */
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

/**
 * Node of a tree of all requests of one conversation. A node stands for a prefix, i.e. all text
 * from the start of a request up to this node. If two requests lead to the same node, they have the
 * same text up to there.
 */
interface PrefixNode {
  readonly next: Map<string, PrefixNode>
}

function createPrefixNode(): PrefixNode {
  return { next: new Map() }
}

/**
 * Returns the node to which a piece of text leads from `node`. If no request had this text there
 * before, the node is added.
 */
function getOrAddNextNode(node: PrefixNode, piece: string): PrefixNode {
  // An item that is not sent has an empty text, so it does not change the prefix.
  if (piece === '') return node
  const known = node.next.get(piece)
  if (known !== undefined) return known
  const added = createPrefixNode()
  node.next.set(piece, added)
  return added
}
