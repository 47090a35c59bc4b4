/**
 * All beginnings that the requests of one conversation have had. A place in the tree stands for
 * everything in front of it: two requests begin alike up to a place exactly if both lead to it. So
 * texts are compared once, when they are added, and whole prefixes by identity.
 */
export interface PrefixNode {
  readonly next: Map<string, PrefixNode>
}

export function createPrefixNode(): PrefixNode {
  return { next: new Map() }
}

export function findNextPrefixNode(place: PrefixNode, piece: string): PrefixNode {
  // What is not sent is not there.
  if (piece === '') return place
  const known = place.next.get(piece)
  if (known !== undefined) return known
  const opened = createPrefixNode()
  place.next.set(piece, opened)
  return opened
}
