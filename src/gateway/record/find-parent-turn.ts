/**
 * Finds a new turn its place: behind which turn it stands, and what of it is new. A request that
 * brings its whole history with it stands behind the turn at whose end exactly that had been said, and
 * only what was said since then is stored again.
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
  /** The hash of everything said before the answer; `null` where nobody will look for it. */
  readonly contentHash: string | null
}

/** `parent` is the turn that the request itself names. */
export async function findParentTurn(
  turn: NewTurn,
  parent: StoredTurn | null,
  ports: Ports<'archive' | 'log'>,
): Promise<TurnWithParent> {
  const { input } = turn
  if (parent !== null) {
    const { contentHash: before } = parent
    const hash = before === null ? null : extendContentHash(before, input)
    return { turn: withRequest(turn, parent.digests), contentHash: hash }
  }
  // A conversation can lose items, and is then not what was said any more.
  if (turn.conversation !== null) return { turn: withRequest(turn, {}), contentHash: null }
  const { hash, borders } = hashHistory(input)
  const found = await standsBehind(turn, borders.slice(0, MAX_CONTENT_HASHES), ports)
  if (found === null) return { turn: withRequest(turn, {}), contentHash: hash }
  const { before, at } = found
  const placed = {
    ...turn,
    parent: before.id,
    thread: before.thread,
    depth: before.depth + 1,
    input: input.slice(at),
  }
  return { turn: withRequest(placed, before.digests), contentHash: hash }
}

function withRequest(turn: NewTurn, before: StoredTurn['digests']): NewTurn {
  return { ...turn, ...omitRepeatedRequestFields(turn.request, before) }
}

async function standsBehind(
  { id, tenant, user }: NewTurn,
  borders: readonly AnswerBoundary[],
  { archive, log }: Ports<'archive' | 'log'>,
): Promise<{ readonly before: ContentTurn; readonly at: number } | null> {
  if (borders.length === 0) return null
  try {
    const hashes = borders.map(({ hash }) => hash)
    const before = await archive.findContent({ tenant, user, hashes })
    const border = borders.find(({ hash }) => hash === before?.contentHash)
    return before === null || border === undefined ? null : { before, at: border.at }
  } catch (error) {
    // It costs room and nothing else.
    log('warn', 'turn-not-placed', { turn: id, why: errorMessage(error) })
    return null
  }
}
