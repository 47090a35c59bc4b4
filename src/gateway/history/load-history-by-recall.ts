/**
 * Gives a client that sends its whole chat what it has forgotten of it. What to look for is told from
 * the chat alone, it is looked up at once, and put in its place (`recall/restore-forgotten-items.ts`).
 *
 * A memory that does not answer, or not in time, costs nothing but itself: the chat is sent as it is.
 */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Caller } from '../../core/client/caller.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import type { Note } from '../../core/note.ts'
import { waitWithTimeout, TIMED_OUT } from '../../core/wait-with-timeout.ts'
import { restoreForgottenItems } from '../../recall/restore-forgotten-items.ts'
import {
  splitIntoSegments,
  type SegmentedHistory,
} from '../../recall/split-and-fingerprint-segments.ts'
import { NO_TURNS_FOUND, type FoundTurns } from '../../store/recall/recall-store-interface.ts'
import { listReasoningRejections } from './load-history-by-id.ts'
import { type RequestHistory, NO_HISTORY } from './loaded-history.ts'
import type { Ports } from '../dependencies-interface.ts'

export async function loadHistoryByRecall(
  asked: ClientRequest,
  caller: Caller,
  ports: Ports<'log' | 'recall' | 'settings'>,
): Promise<RequestHistory> {
  const { settings } = ports
  const isRemembered = settings.REMEMBER === 'on' && !asked.client.isTask
  if (!isRemembered) return { originalRequest: asked, clientRequest: asked, history: NO_HISTORY }
  const plan = splitIntoSegments(asked.items)
  const found = await findTurns(plan, caller, ports)
  const { turns, beyond } = found ?? NO_TURNS_FOUND
  const policy = { replaysTools: settings.PERSIST_TOOL_RESULTS === 'on' }
  const recalled = restoreForgottenItems(asked.items, plan, turns, policy, beyond)
  const { items, notes, parent, firstTurnOfAnswer, newItemsStart, usedTurns } = recalled
  const clientRequest =
    items === asked.items
      ? asked
      : { ...asked, items, originalItems: asked.originalItems ?? asked.items }
  const newItems = asked.items.slice(newItemsStart)
  const latestTurn = parent ?? newestOf(usedTurns)
  const recallResult = { latestTurn, parent: newItems.length > 0 ? latestTurn : parent, newItems }
  const history = {
    ...NO_HISTORY,
    notes: found === null ? [...notes, NOT_REACHED] : notes,
    usedTurns,
    // All words of the chat stand in its runs, and nobody asks for those any more.
    segments: { next: plan.next },
    recallResult,
    reasoningRejections: usedTurns.flatMap(listReasoningRejections),
    answerStartedAtMs: firstTurnOfAnswer?.createdAtMs ?? null,
  }
  return { originalRequest: asked, clientRequest, history }
}

/** `null` if nobody knows. */
async function findTurns(
  { keys }: SegmentedHistory,
  { tenant, user }: Caller,
  { recall, log }: Ports<'log' | 'recall'>,
): Promise<FoundTurns | null> {
  const { turnIds, callIds, fingerprints } = keys
  if (turnIds.length + callIds.length + fingerprints.length === 0) return NO_TURNS_FOUND
  try {
    const found = await waitWithTimeout(recall.findTurns({ tenant, user, ...keys }), PATIENCE_MS)
    if (found !== TIMED_OUT) return found
    log('warn', 'not-recalled', { why: 'It took too long.' })
  } catch (error) {
    log('warn', 'not-recalled', { why: errorMessage(error) })
  }
  return null
}

/** A user waits for the first word that long at most on account of a database. */
const PATIENCE_MS = 1500

const NOT_REACHED: Note = {
  did: 'dropped',
  why: 'memory-not-reached',
  by: 'recall',
  detail: 'The database did not answer in time, so the chat was sent without its backstory.',
}

/** Ids begin with the time. */
function newestOf(turns: readonly RecordedTurn[]): RecordedTurn | null {
  return turns.reduce<RecordedTurn | null>(
    (newest, turn) => (newest === null || turn.id > newest.id ? turn : newest),
    null,
  )
}
