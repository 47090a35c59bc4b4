/**
 * Restores stored items, such as reasoning and tool outputs, that a client leaves out when it sends its
 * complete chat. One query finds the stored turns by the markers, call ids and fingerprints in the chat, and by
 * the ids of its messages if the client sends them (a query before it lists the answers of the chat);
 * `recall/restore-forgotten-items.ts` then inserts the turns' items.
 *
 * If the database fails or times out, the model is sent the chat as the client sent it.
 */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { readReasoningReferences } from '../../core/markers/reasoning-reference.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import type { Note } from '../../core/note.ts'
import { addSilentSegments } from '../../recall/matching/add-silent-segments.ts'
import { locateMessages } from '../../recall/matching/locate-messages.ts'
import { NO_DELETIONS, type DeletionRule } from '../../recall/merging/find-deleted-items.ts'
import { restoreForgottenItems } from '../../recall/restore-forgotten-items.ts'
import {
  splitIntoSegments,
  type SegmentedHistory,
} from '../../recall/split-and-fingerprint-segments.ts'
import { NO_TURNS_FOUND, type FoundTurns } from '../../store/recall/recall-store-interface.ts'
import type { StoredAnswerMessage } from '../../store/recall/answer-message-store-interface.ts'
import { listReasoningRejections } from './load-history-by-id.ts'
import { type RequestHistory, NO_HISTORY, type LoadedHistory } from './loaded-history.ts'
import { locateNewAnswer } from './locate-new-answer.ts'
import { queryStoreOrNull } from './query-store-or-null.ts'
import { replaceRequestItems } from './replace-request-items.ts'
import type { Ports } from '../dependencies-interface.ts'

export async function loadHistoryByRecall(
  originalRequest: ClientRequest,
  caller: Caller,
  ports: Ports<'answerMessages' | 'log' | 'recall' | 'settings'>,
): Promise<RequestHistory> {
  const { settings } = ports
  if (settings.REMEMBER !== 'on' || originalRequest.client.isTask)
    return { originalRequest, clientRequest: originalRequest, history: NO_HISTORY }
  const { items } = originalRequest
  const split = splitIntoSegments(items)
  const answers = await listAnswers(originalRequest, caller, ports)
  const segmented = addMessages(originalRequest, split, answers)
  const found = await findTurns(segmented, caller, ports)
  const { turns, excludedTurnIds } = found ?? NO_TURNS_FOUND
  const complete = addSilentMessages(originalRequest, segmented, turns, answers)
  const policy = {
    replaysTools: settings.PERSIST_TOOL_RESULTS === 'on',
    deletionRule: createDeletionRule(originalRequest, settings),
  }
  const restored = restoreForgottenItems(items, complete, turns, policy, excludedTurnIds)
  const { notes, parent, firstTurnOfAnswer, newItemsStart, usedTurns } = restored
  const itemsAfterLastAnswer = items.slice(newItemsStart)
  const latestStoredTurn = parent ?? findLatestTurn(usedTurns)
  const parentOfNewTurn = itemsAfterLastAnswer.length > 0 ? latestStoredTurn : parent
  const recallResult = { latestStoredTurn, parentOfNewTurn, itemsAfterLastAnswer }
  const history: LoadedHistory = {
    ...NO_HISTORY,
    notes: [
      ...notes,
      ...(found === null ? [NOT_RECALLED] : listImportNotes(originalRequest, complete, found)),
    ],
    usedTurns,
    usedAnswers: answers,
    answerMessage: locateNewAnswer(originalRequest, items, complete.segments),
    // Retains only one field of `segmented`: the others would keep the text of the complete chat in memory.
    fingerprintInput: { nextFingerprintInput: segmented.nextFingerprintInput },
    recallResult,
    reasoningRejections: usedTurns.flatMap(listReasoningRejections),
    firstAnswerOfRoundAtMs: firstTurnOfAnswer?.createdAtMs ?? null,
  }
  const clientRequest = replaceRequestItems(originalRequest, restored.items)
  return { originalRequest, clientRequest, history }
}

/**
 * Only Open WebUI sends back all calls that it ran. It has sent references back since 0.10: an older one sends no id of
 * the message before, and none of the references that it was sent.
 */
function createDeletionRule(
  { client, items, params }: ClientRequest,
  { DELETIONS: deletions }: Ports<'settings'>['settings'],
): DeletionRule {
  if (deletions === 'undone' || !client.isOpenWebUi) return NO_DELETIONS
  const returnsThoughts =
    client.returnsReasoningReferences &&
    (typeof client.answerMessage?.parent === 'string' ||
      items.some((item) => readReasoningReferences(item).length > 0))
  return {
    returnsCalls: true,
    returnsThoughtsOf: returnsThoughts ? params.model : null,
  }
}

/** Returns the stored answers of the client's chat; none if the client sends no ids, or after a failure or timeout. */
async function listAnswers(
  { client: { answerMessage } }: ClientRequest,
  caller: Caller,
  { answerMessages, log }: Ports<'answerMessages' | 'log'>,
): Promise<readonly StoredAnswerMessage[]> {
  if (answerMessage === null) return []
  const query = () => answerMessages.listAnswers(caller, answerMessage.chat)
  return (await queryStoreOrNull(query, 'answers-not-listed', log)) ?? []
}

/** Adds the messages that the client's ids name, and the ids of their turns, to the keys of the search. */
function addMessages(
  { items, client: { answerMessage } }: ClientRequest,
  split: SegmentedHistory,
  answers: readonly StoredAnswerMessage[],
): SegmentedHistory {
  if (answerMessage === null) return split
  const messages = locateMessages(items, split.segments, answers, answerMessage)
  const turnIds = messages.flatMap((message) =>
    message.answers.flatMap(({ id, hasTurn }) => (hasTurn ? [id] : [])),
  )
  const lookupKeys = {
    ...split.lookupKeys,
    turnIds: [...new Set([...split.lookupKeys.turnIds, ...turnIds])],
  }
  return { ...split, messages, lookupKeys }
}

/** Adds segments for messages of the client without text and calls, whose turns have none either. */
function addSilentMessages(
  { items, client: { answerMessage } }: ClientRequest,
  segmented: SegmentedHistory,
  turns: readonly RecordedTurn[],
  answers: readonly StoredAnswerMessage[],
): SegmentedHistory {
  const { messages, segments: shown } = segmented
  if (answerMessage === null || messages === undefined) return segmented
  const segments = addSilentSegments(items, shown, messages, turns)
  return segments === shown
    ? segmented
    : { ...segmented, segments, messages: locateMessages(items, segments, answers, answerMessage) }
}

/** Returns the stored turns that the chat's markers, call ids and fingerprints find; null after a failure or timeout. */
async function findTurns(
  { lookupKeys }: SegmentedHistory,
  { tenant, user }: Caller,
  { recall, log }: Ports<'log' | 'recall'>,
): Promise<FoundTurns | null> {
  const { turnIds, callIds, fingerprints } = lookupKeys
  if (turnIds.length + callIds.length + fingerprints.length === 0) return NO_TURNS_FOUND
  const query = () => recall.findTurns({ tenant, user, ...lookupKeys })
  return queryStoreOrNull(query, 'not-recalled', log)
}

const NOT_RECALLED: Note = {
  did: 'dropped',
  why: 'memory-not-reached',
  by: 'recall',
  detail: 'The database did not answer in time, so the chat was sent without its backstory.',
}

/**
 * Returns a note if the latest answer before the question names a turn that is not stored, as in a chat that was
 * imported from another Open WebUI. The next answer is one of this gateway, so the user is told once.
 */
function listImportNotes(
  { items, client }: ClientRequest,
  { segments }: SegmentedHistory,
  { turns, excludedTurnIds }: FoundTurns,
): readonly Note[] {
  const question = items.findLastIndex(isUserMessage)
  const latest = segments.findLast(({ start }) => start < question)
  if (!client.isOpenWebUi || latest === undefined || segments.at(-1) !== latest) return []
  const knownIds = new Set([...turns.map(({ id }) => id), ...excludedTurnIds])
  return latest.markerTurnIds.some((id) => !knownIds.has(id)) ? [IMPORTED] : []
}

const IMPORTED: Note = { did: 'dropped', why: 'chat-imported', by: 'recall' }

/** Returns the latest turn: the one with the greatest id, because an id begins with the turn's time. */
function findLatestTurn(turns: readonly RecordedTurn[]): RecordedTurn | null {
  return turns.reduce<RecordedTurn | null>(
    (latest, turn) => (latest === null || turn.id > latest.id ? turn : latest),
    null,
  )
}
