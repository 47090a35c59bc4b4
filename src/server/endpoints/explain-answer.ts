/**
 * `GET /v1/context/explain/{id}`: explains the request that was sent for a stored answer: its exact
 * body, the changes to each item, and the provider's token count beside the estimate.
 *
 * An answer with gateway tools took several tool rounds, each with a request of its own. The first is
 * explained unless `?round=` names another, for example `?round=2` or `?round=last`. With `?chat=`, `{id}` may be the id
 * of a message in Open WebUI.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { TokenUsage } from '../../core/stream-event.ts'
import { turnIdOfAnswer } from '../../core/turn-derived-ids.ts'
import type { JsonObject } from '../../core/json/json.ts'
import {
  asString,
  createInvalidValueError,
  readOptional,
} from '../../dialects/checks/check-json-types.ts'
import { createNotFoundError } from '../../core/errors/gateway-error.ts'
import { loadSentRequest } from '../../explain/load-previous-request.ts'
import { renderExplanation } from '../../explain/render-explanation-json.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'
import { findTurnOfMessage } from '../stored-object-routes/find-answers-of-chat.ts'
import { shortenForError } from '../stored-object-routes/route-interface.ts'
import { formatExplanation } from './format-explanation.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

interface ExplainRequest extends Pick<Request, 'url' | 'headers'> {
  /** Undefined on the command line. */
  readonly isAdministrator?: boolean
}

export async function explainAnswer(
  request: ExplainRequest,
  id: string,
  caller: Caller,
  ports: Ports<'answerMessages' | 'archive' | 'requests'>,
): Promise<Response> {
  const query = new URL(request.url).searchParams
  const chat = query.get('chat')
  const turnId =
    turnIdOfAnswer(id) ??
    (chat === null ? null : await findTurnOfMessage({ chat, message: id }, caller, ports))
  if (turnId === null) throw chat === null ? createInvalidIdError(id) : createNoAnswerError(id)
  const parameter = query.get('round')
  const requested = readOptional(asRound, parameter, 'round') ?? 0
  // Loads the sent request first: this waits for pending writes, so that the turn is complete when
  // it is loaded after it.
  const last = await queryStoreOrThrow(() =>
    loadSentRequest(turnId, caller, ports, undefined, 'fail'),
  )
  const turn = await queryStoreOrThrow(() => ports.archive.loadTurn(caller, turnId))
  if (turn === null || turn.deletedAtMs !== null || last === undefined)
    throw createNotStoredError(id, request)
  const { parent, usage } = turn
  const round = requested === 'last' ? last.round : requested
  if (round >= last.roundCount) throw createUnknownRoundError(last.roundCount)
  const loadRound = (index: number) =>
    queryStoreOrThrow(() => loadSentRequest(turnId, caller, ports, index, 'fail'))
  const sent = round === last.round ? last : await loadRound(round)
  if (sent === undefined) throw createNotStoredError(id, request)
  const loadParentRequest = () =>
    parent === null ? null : queryStoreOrThrow(() => loadSentRequest(parent, caller, ports))
  const previous = await (round === 0 ? loadParentRequest() : loadRound(round - 1))
  const rendered = renderExplanation(sent, { previous })
  const explanation = {
    id,
    round,
    rounds: last.roundCount,
    ...rendered,
    answer: renderAnswer(turn),
    usage: renderUsage(usage, sent.summary.sent.estimated_tokens),
    cache: {
      ...(rendered['cache'] as JsonObject),
      reported_cached_tokens: usage?.cachedTokens ?? null,
    },
  }
  return formatExplanation(request, explanation, sent.body)
}

function asRound(value: unknown, path: string): number | 'last' {
  const text = asString(value, path)
  if (text === 'last') return text
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw createInvalidValueError(path, "it must be a number from 0, or 'last'.")
}

function createUnknownRoundError(rounds: number) {
  const available = rounds === 1 ? 'one round, 0' : `${rounds} rounds, 0 to ${rounds - 1}`
  return createNotFoundError(`The answer was asked for in ${available}.`, 'round')
}

function renderAnswer(turn: StoredTurn): JsonObject {
  const { state, createdAtMs, endedAtMs, origin, servedModel } = turn
  return {
    state,
    created_at: Math.floor(createdAtMs / 1000),
    ended_at: endedAtMs === null ? null : Math.floor(endedAtMs / 1000),
    model: servedModel ?? origin.model,
  }
}

/** Renders the token usage. A count that the provider did not report is null. */
function renderUsage(usage: TokenUsage | null, estimated: number): JsonObject {
  return {
    estimated_input_tokens: estimated,
    input_tokens: usage?.inputTokens ?? null,
    cached_tokens: usage?.cachedTokens ?? null,
    output_tokens: usage?.outputTokens ?? null,
    reasoning_tokens: usage?.reasoningTokens ?? null,
  }
}

function createInvalidIdError(id: string) {
  return createNotFoundError(
    `'${shortenForError(id)}' is not the id of an answer. Send an id such as resp_…, the req_… of the answer's headers, its marker, or with ?chat= the id of a message in Open WebUI.`,
  )
}

function createNoAnswerError(message: string) {
  return createNotFoundError(
    `No request is kept for the message '${shortenForError(message)}' of this chat. The requests of answers that are only text are not kept.`,
  )
}

function createNotStoredError(id: string, { isAdministrator = false }: ExplainRequest) {
  const advice = isAdministrator ? ' If another user got the answer, add ?user=THEIR_ID.' : ''
  return createNotFoundError(
    `No request is kept for an answer with id '${shortenForError(id)}'.${advice}`,
  )
}
