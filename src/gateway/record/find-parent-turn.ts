/**
 * Finds the parent of a new turn, so that the turn stores only the input items that its ancestors do not have. If a
 * client sends its complete chat, the chat's content is hashed up to the end of each answer in it. The parent is
 * the stored turn with one of these hashes; if there are several, the turn that covers most of the chat.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import type { Item } from '../../core/item.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import {
  MAX_CONTENT_HASHES,
  type TurnFoundByContent,
} from '../../store/turns/turn-management-store-interface.ts'
import type { NewTurn, StoredTurn, TurnKey } from '../../store/turns/turn-store-interface.ts'
import { isStorageRequested } from '../history/memory-thread-and-storage-permission.ts'
import { extendContentHash, hashHistory, type AnswerEnd } from './hash-conversation-content.ts'
import { omitRepeatedRequestFields } from './omit-repeated-request-fields.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface TurnWithParent {
  readonly turn: NewTurn
  /** The hash of all items before the answer; null if later requests must not find this turn by its content. */
  readonly contentHash: string | null
}

/** A search for the stored turn that a complete chat continues. */
export interface ParentSearch {
  readonly items: readonly Item[]
  readonly contentHash: string
  /** Resolves to the turn and the number of items up to its end; null if there is none. Never rejects. */
  readonly found: Promise<FoundParent | null>
}

interface FoundParent {
  readonly parent: TurnFoundByContent
  readonly itemCount: number
}

/**
 * Starts the search for the parent of a chat completion that the client asks to store. Such a turn stores the items as
 * the client sent them, so the search needs no history and runs in the round trip that loads it. Returns null for
 * other requests.
 */
export function startParentSearch(
  request: ClientRequest,
  caller: Caller,
  turnId: string,
  ports: Ports<'archive' | 'log'>,
): ParentSearch | null {
  const { dialect, items } = request
  return dialect === 'chat' && isStorageRequested(request)
    ? searchParent(items, { ...caller, id: turnId }, ports)
    : null
}

/**
 * Returns the turn with its parent. `parent`: the parent that an id in the request names; null to find it by content.
 * `search`: a search that was started before.
 */
export async function findParentTurn(
  turn: NewTurn,
  parent: StoredTurn | null,
  ports: Ports<'archive' | 'log'>,
  search: ParentSearch | null = null,
): Promise<TurnWithParent> {
  const { input } = turn
  if (parent !== null) {
    const { contentHash, digests } = parent
    return {
      turn: omitRepeatedFields(turn, digests),
      contentHash: contentHash === null ? null : extendContentHash(contentHash, input),
    }
  }
  // A turn in a conversation (Conversations API) gets no content hash, because clients can delete items from it. A
  // complete chat that was placed below it would lose these items.
  if (turn.conversation !== null) return { turn: omitRepeatedFields(turn, {}), contentHash: null }
  const { contentHash, found } = search?.items === input ? search : searchParent(input, turn, ports)
  const foundParent = await found
  if (foundParent === null) return { turn: omitRepeatedFields(turn, {}), contentHash }
  const { id, thread, depth, digests } = foundParent.parent
  const placed = {
    ...turn,
    parent: id,
    thread,
    depth: depth + 1,
    input: input.slice(foundParent.itemCount),
  }
  return { turn: omitRepeatedFields(placed, digests), contentHash }
}

function searchParent(
  items: readonly Item[],
  turn: TurnKey,
  ports: Ports<'archive' | 'log'>,
): ParentSearch {
  const { hash, answerEnds } = hashHistory(items)
  const found = findTurnByContent(turn, answerEnds.slice(0, MAX_CONTENT_HASHES), ports)
  return { items, contentHash: hash, found }
}

function omitRepeatedFields(turn: NewTurn, parentDigests: StoredTurn['digests']): NewTurn {
  return { ...turn, ...omitRepeatedRequestFields(turn.request, parentDigests) }
}

/**
 * Finds a turn by the hashes at the ends of answers, the latest first. Returns it with the number of items up to
 * that end.
 */
async function findTurnByContent(
  { id, tenant, user }: TurnKey,
  answerEnds: readonly AnswerEnd[],
  { archive, log }: Ports<'archive' | 'log'>,
): Promise<FoundParent | null> {
  if (answerEnds.length === 0) return null
  try {
    const hashes = answerEnds.map(({ hash }) => hash)
    const parent = await archive.findTurnByContent({ tenant, user, hashes })
    const answerEnd = answerEnds.find(({ hash }) => hash === parent?.contentHash)
    return parent === null || answerEnd === undefined ? null : { parent, ...answerEnd }
  } catch (error) {
    // Without a parent, the turn is stored with its complete input, which takes more space.
    log('warn', 'turn-not-placed', { turn: id, why: errorMessage(error) })
    return null
  }
}
