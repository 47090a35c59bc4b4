/**
 * A tree of all request prefixes of one conversation. A node represents everything before it: two
 * requests have the same prefix if they lead to the same node. So texts are compared once, when they
 * are added, and prefixes by identity.
 */
export interface PrefixNode {
  readonly next: Map<string, PrefixNode>
}

export function createPrefixNode(): PrefixNode {
  return { next: new Map() }
}

export function findNextPrefixNode(node: PrefixNode, piece: string): PrefixNode {
  // An empty piece is not sent.
  if (piece === '') return node
  const known = node.next.get(piece)
  if (known !== undefined) return known
  const added = createPrefixNode()
  node.next.set(piece, added)
  return added
}
