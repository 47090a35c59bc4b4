/**
 * Renders the response object of a stored turn: the parameters of its request, the output so far, and the
 * status, e.g. `queued`, `in_progress` or `completed`.
 */
import type { Failure } from '../../core/stream-event.ts'
import { removeGatewayToolItems } from '../../core/items/gateway-tool-items.ts'
import type { Json, JsonObject } from '../../core/json/json.ts'
import type { Outcome } from '../../core/collect-answer-outcome.ts'
import type { AnswerContext } from '../../core/ports/dialect-interface.ts'
import { parseRequestAndBackstoryFields } from '../../dialects/context-policy/parse-request-and-backstory-fields.ts'
import {
  convertOutcomeToProgress,
  type ResponseProgress,
} from '../../dialects/responses/render/render-response-fields.ts'
import { removeUnrequestedFields } from '../../dialects/responses/render/remove-unrequested-fields.ts'
import { responsesDialect } from '../../dialects/responses/responses-dialect.ts'
import { renderResponseProgress } from '../../dialects/responses/render/render-response.ts'
import { splitLostFields } from '../record/lost-fields-of-stored-request.ts'
import { createFailure } from '../../core/errors/gateway-error.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'

export function renderStoredResponse(
  turn: StoredTurn,
  include: readonly string[] = [],
): JsonObject {
  const response = renderResponseProgress(
    readProgress(turn),
    removeGatewayToolItems(turn.output),
    createAnswerContext(turn, include),
  )
  const included = new Set(include)
  const output = (response['output'] as readonly JsonObject[]).map((item) =>
    removeUnrequestedFields(item, included),
  )
  return { ...response, output }
}

/**
 * Parses the stored request again, with the `include` parameter of the request that reads the response. If
 * the stored request is unreadable, only its model is known.
 */
function createAnswerContext(turn: StoredTurn, include: readonly string[]): AnswerContext {
  const { model } = turn.origin
  const { request, lostFields } = splitLostFields(turn)
  const body = { model, ...request, input: [] as readonly Json[], include }
  return {
    clientRequest: parseRequestAndBackstoryFields(responsesDialect, body),
    turnId: turn.id,
    createdAtMs: turn.createdAtMs,
    isStored: true,
    lostFields,
  }
}

function readProgress(turn: StoredTurn): ResponseProgress {
  const progress = convertOutcomeToProgress(buildOutcomeFromTurn(turn), turn.endedAtMs)
  const { state } = turn
  if (state === 'queued' || state === 'cancelled') return { ...progress, status: state }
  return progress
}

export function buildOutcomeFromTurn(turn: StoredTurn): Outcome {
  return {
    items: removeGatewayToolItems(turn.output),
    finish: readFinish(turn),
    failure: turn.state === 'failed' ? (turn.failure ?? BROKEN_ANSWER_FAILURE) : null,
    usage: turn.usage,
    upstreamId: null,
    model: turn.servedModel,
  }
}

function readFinish({ state, finish }: StoredTurn): Outcome['finish'] {
  if (state === 'complete') return 'stop'
  return state === 'incomplete' ? (finish ?? 'length') : null
}

const BROKEN_ANSWER_FAILURE: Failure = createFailure(
  'upstream_broken',
  'The answer broke off before it was complete.',
)
