/** A dry run told in words: what would be sent for this request, what would not, and why. */
import type { Caller } from '../../core/client/caller.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Note } from '../../core/note.ts'
import type { Dialect } from '../../core/ports/dialect-interface.ts'
import { asOneOf, readOptional } from '../../dialects/checks/check-json-types.ts'
import { DIALECTS } from '../../dialects/dialect-registry.ts'
import { explainPreparedRequest } from '../../explain/build-explanation.ts'
import { loadPreviousRequest } from '../../explain/load-previous-request.ts'
import { renderExplanation } from '../../explain/render-explanation-json.ts'
import { requestBodyText } from '../../explain/store-sent-requests.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { prepareDryRun } from '../../gateway/prompt/dry-run.ts'
import type { PreparedRequest } from '../../gateway/prompt/planned-request.ts'
import { fitToWindow } from '../../gateway/prompt/size/fit-to-window.ts'
import { buildHttpRequest } from '../../gateway/send/build-http-request.ts'
import { isCompactionDue } from '../../gateway/summaries/compact-conversation.ts'
import { findSummaryBeforeSending } from '../../gateway/summaries/summarize-before-sending.ts'
import { readRequest } from '../read-request.ts'
import { formatExplanation } from './format-explanation.ts'

export async function explainRequest(
  request: Pick<Request, 'url' | 'headers'>,
  asked: JsonObject,
  caller: Caller,
  world: GatewayDependencies,
): Promise<Response> {
  const { api, ...body } = asked
  const dialect = detectDialect(readOptional(asOneOf(['chat', 'responses']), api, 'api'), body)
  const clientRequest = readRequest(dialect, { json: body }, request.headers, world.settings)
  const prepared = readiedDry(await prepareDryRun(clientRequest, caller, world), world)
  const sent = buildHttpRequest(prepared)
  const explanation = {
    ...explainPreparedRequest(prepared, sent, world.settings),
    body: requestBodyText(sent),
  }
  const told = renderExplanation(explanation, {
    previous: await loadPreviousRequest(prepared, caller, world),
    notes: prepared.notes,
  })
  return formatExplanation(request, told, explanation.body)
}

/** By shape: `input` is a word of Responses, `messages` one of Chat Completions. */
export function detectDialect(api: 'chat' | 'responses' | null, body: JsonObject): Dialect {
  return DIALECTS[api ?? ('messages' in body ? 'chat' : 'responses')]
}

/** To be summed up takes a model, which a dry run does not ask: it is told as it is, and nothing is cut. */
function readiedDry(prepared: PreparedRequest, world: GatewayDependencies): PreparedRequest {
  const due = dueFirst(prepared)
  return due === null
    ? fitToWindow(prepared, world)
    : { ...prepared, notes: [...prepared.notes, due] }
}

function dueFirst(prepared: PreparedRequest): Note | null {
  const summary = findSummaryBeforeSending(prepared)
  if (summary !== null) {
    const { turns } = summary.cut
    const what = turns === 1 ? 'first turn' : `first ${turns} turns`
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
