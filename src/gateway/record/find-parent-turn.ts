/**
 * Finds the parent of a new turn, and leaves out the input items that its ancestors hold already. If the
 * client sends its complete history, the parent is found by a hash of the conversation's content up to
 * the end of an answer.
 */
import { errorMessage } from '../../core/errors/gateway-error.ts'
import {
  MAX_CONTENT_HASHES,
  type ContentTurn,
} from '../../store/turns/turn-management-store-interface.ts'
import type { NewTurn, StoredTurn } from '../../store/turns/turn-store-interface.ts'
import { extendContentHash, hashHistory, type AnswerBoundary } from './hash-conversation-content.ts'
import { omitRepeatedRequestFields } from './omit-repeated-request-fields.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface TurnWithParent {
  readonly turn: NewTurn
  /** The hash of all items before the answer; null if no later turn looks for this one by content. */
  readonly contentHash: string | null
}

/** `parent`: the turn that the request names by its id. */
export async function findParentTurn(
  turn: NewTurn,
  parent: StoredTurn | null,
  ports: Ports<'archive' | 'log'>,
): Promise<TurnWithParent> {
  const { input } = turn
  if (parent !== null) {
    const { contentHash, digests } = parent
    return {
      turn: omitRepeatedFields(turn, digests),
      contentHash: contentHash === null ? null : extendContentHash(contentHash, input),
    }
  }
  // Items can be deleted from a conversation; its content is then not the hashed content any more.
  if (turn.conversation !== null) return { turn: omitRepeatedFields(turn, {}), contentHash: null }
  const { hash, boundaries } = hashHistory(input)
  const found = await findTurnByContent(turn, boundaries.slice(0, MAX_CONTENT_HASHES), ports)
  if (found === null) return { turn: omitRepeatedFields(turn, {}), contentHash: hash }
  const { id, thread, depth, digests } = found.parent
  const placed = { ...turn, parent: id, thread, depth: depth + 1, input: input.slice(found.at) }
  return { turn: omitRepeatedFields(placed, digests), contentHash: hash }
}

function omitRepeatedFields(turn: NewTurn, parentDigests: StoredTurn['digests']): NewTurn {
  return { ...turn, ...omitRepeatedRequestFields(turn.request, parentDigests) }
}

/** Returns the latest turn at whose end the content was the same, and the number of items before it. */
async function findTurnByContent(
  { id, tenant, user }: NewTurn,
  boundaries: readonly AnswerBoundary[],
  { archive, log }: Ports<'archive' | 'log'>,
): Promise<{ readonly parent: ContentTurn; readonly at: number } | null> {
  if (boundaries.length === 0) return null
  try {
    const hashes = boundaries.map(({ hash }) => hash)
    const parent = await archive.findContent({ tenant, user, hashes })
    const boundary = boundaries.find(({ hash }) => hash === parent?.contentHash)
    return parent === null || boundary === undefined ? null : { parent, at: boundary.at }
  } catch (error) {
    // The turn is stored without a parent, with its complete input, which only takes more space.
    log('warn', 'turn-not-placed', { turn: id, why: errorMessage(error) })
    return null
  }
}
