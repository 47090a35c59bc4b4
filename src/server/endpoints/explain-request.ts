/** `POST /v1/context/explain`: explains the upstream request for a body, and each change and omission. */
import type { Caller } from '../../core/client/caller.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Note } from '../../core/note.ts'
import { asOneOf, readOptional } from '../../dialects/checks/check-json-types.ts'
import { DIALECTS } from '../../dialects/dialect-registry.ts'
import { explainPreparedRequest } from '../../explain/build-explanation.ts'
import { decodeBodyText } from '../../upstream/transport/decode-body-text.ts'
import { loadPreviousRequest } from '../../explain/load-previous-request.ts'
import { renderExplanation } from '../../explain/render-explanation-json.ts'
import { parseClientRequest } from '../parse-client-request.ts'
import { isCompactionDue } from '../../gateway/summaries/compact-conversation-if-due.ts'
import { prepareDryRun } from '../../gateway/prompt/prepare-dry-run.ts'
import { fitToWindow } from '../../gateway/prompt/size/fit-to-window.ts'
import type { PreparedRequest } from '../../gateway/prompt/planned-request.ts'
import { findSummaryBeforeSending } from '../../gateway/summaries/summarize-before-sending.ts'
import { buildHttpRequest } from '../../gateway/send/build-http-request.ts'
import type { GatewayDependencies, Ports } from '../../gateway/dependencies-interface.ts'
import { formatExplanation } from './format-explanation.ts'

export async function explainRequest(
  request: Pick<Request, 'url' | 'headers'>,
  requestBody: JsonObject,
  caller: Caller,
  ports: GatewayDependencies,
): Promise<Response> {
  const { dialect, body } = selectDialectAndBody(requestBody)
  const clientRequest = parseClientRequest(dialect, { json: body }, request.headers, ports.settings)
  const prepared = fitWithoutSummarizing(await prepareDryRun(clientRequest, caller, ports), ports)
  const sent = buildHttpRequest(prepared)
  const explanation = {
    ...explainPreparedRequest(prepared, sent, ports.settings),
    body: decodeBodyText(sent),
  }
  const rendered = renderExplanation(explanation, {
    previous: await loadPreviousRequest(prepared, caller, ports),
    notes: prepared.notes,
  })
  return formatExplanation(request, rendered, explanation.body)
}

/**
 * Returns the dialect that the field `api` names, and the body without `api`. Without this field, a
 * body with `messages` is a Chat Completions request, and any other a Responses request.
 */
export function selectDialectAndBody(requestBody: JsonObject) {
  const { api, ...body } = requestBody
  const name = readOptional(asOneOf(['chat', 'responses'] as const), api, 'api')
  return { dialect: DIALECTS[name ?? ('messages' in body ? 'chat' : 'responses')], body }
}

/**
 * Fits the prompt to the model's context window without calling a model. If the prompt would need a
 * new summary or a compaction, returns it complete, with a note that the gateway will make one
 * before sending.
 */
function fitWithoutSummarizing(
  prepared: PreparedRequest,
  ports: Ports<'memoryLayers' | 'settings'>,
): PreparedRequest {
  const note = describePendingSummary(prepared)
  return note === null
    ? fitToWindow(prepared, ports)
    : { ...prepared, notes: [...prepared.notes, note] }
}

function describePendingSummary(prepared: PreparedRequest): Note | null {
  const summary = findSummaryBeforeSending(prepared)
  if (summary !== null) {
    const { rounds } = summary.cut
    const what = rounds === 1 ? 'first turn' : `first ${rounds} turns`
    return {
      did: 'changed',
      why: 'summary-due',
      detail: `The conversation would not fit its model: a summary of its ${what} will be made first and sent instead of them.`,
    }
  }
  if (!isCompactionDue(prepared)) return null
  return {
    did: 'changed',
    why: 'compaction-due',
    detail:
      'The conversation is over its threshold: a summary will be made first and sent instead.',
  }
}
