/**
 * What was sent for an answer that is kept: the very bytes, what became of everything that was said,
 * and what the provider counted beside what was estimated.
 *
 * An answer in which the gateway answers tools of its own is asked for in several rounds, each with a
 * request of its own. Told is the first, unless another one is named by `?round=`.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { TokenUsage } from '../../core/stream-event.ts'
import { turnIdOfCompletion, turnIdOfResponse } from '../../core/turn-derived-ids.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { asString, readOptional } from '../../dialects/checks/check-json-types.ts'
import { GatewayError, createNotFoundError } from '../../core/errors/gateway-error.ts'
import { loadSentRequest } from '../../explain/load-previous-request.ts'
import { renderExplanation } from '../../explain/render-explanation-json.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { formatExplanation } from './format-explanation.ts'

export async function explainAnswer(
  request: Pick<Request, 'url' | 'headers'>,
  id: string,
  caller: Caller,
  world: GatewayDependencies,
): Promise<Response> {
  const turnId = turnIdOfResponse(id) ?? turnIdOfCompletion(id)
  if (turnId === null) throw notKept(id)
  const wanted = readOptional(asRound, new URL(request.url).searchParams.get('round'), 'round') ?? 0
  // The first waits for what is about to be written.
  const last = await queryStoreOrThrow(() => loadSentRequest(turnId, caller, world))
  const turn = await queryStoreOrThrow(() => world.archive.loadTurn(caller, turnId))
  if (turn === null || turn.deletedAtMs !== null || last === undefined) throw notKept(id)
  const { parent, usage } = turn
  const round = wanted === 'last' ? last.round : wanted
  if (round >= last.rounds) throw noSuchRound(last.rounds)
  const ofRound = (at: number) =>
    queryStoreOrThrow(() => loadSentRequest(turnId, caller, world, at))
  const sent = round === last.round ? last : await ofRound(round)
  if (sent === undefined) throw notKept(id)
  const ofParent = () =>
    parent === null ? null : queryStoreOrThrow(() => loadSentRequest(parent, caller, world))
  const previous = await (round === 0 ? ofParent() : ofRound(round - 1))
  const { about } = sent
  const told = renderExplanation(sent, { previous })
  const answered = {
    id,
    round,
    rounds: last.rounds,
    ...told,
    answer: answerOf(turn),
    usage: usageTold(usage, about.sent.estimated_tokens),
    cache: {
      ...(told['cache'] as JsonObject),
      reported_cached_tokens: usage?.cachedTokens ?? null,
    },
  }
  return formatExplanation(request, answered, sent.body)
}

function asRound(value: unknown, path: string): number | 'last' {
  const text = asString(value, path)
  if (text === 'last') return text
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new GatewayError(
    'invalid_value',
    `Invalid value for \`${path}\`: it must be a number from 0, or 'last'.`,
    { param: path },
  )
}

function noSuchRound(rounds: number) {
  const there = rounds === 1 ? 'one round, 0' : `${rounds} rounds, 0 to ${rounds - 1}`
  return createNotFoundError(`The answer was asked for in ${there}.`, 'round')
}

function answerOf({ state, createdAtMs, endedAtMs, origin, servedModel }: StoredTurn): JsonObject {
  return {
    state,
    created_at: Math.floor(createdAtMs / 1000),
    ended_at: endedAtMs === null ? null : Math.floor(endedAtMs / 1000),
    model: servedModel ?? origin.model,
  }
}

/** `null` where the provider has not counted. */
function usageTold(usage: TokenUsage | null, estimated: number): JsonObject {
  return {
    estimated_input_tokens: estimated,
    input_tokens: usage?.inputTokens ?? null,
    cached_tokens: usage?.cachedTokens ?? null,
    output_tokens: usage?.outputTokens ?? null,
    reasoning_tokens: usage?.reasoningTokens ?? null,
  }
}

function notKept(id: string) {
  const short = id.length > 80 ? `${id.slice(0, 80)}…` : id
  return createNotFoundError(`No request is kept for an answer with id '${short}'.`)
}
