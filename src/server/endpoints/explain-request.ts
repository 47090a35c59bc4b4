/** A dry run told in words: what would be sent for this request, what would not, and why. */
import type { Caller } from '../../core/client/caller.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Note } from '../../core/note.ts'
import { asOneOf, maybe } from '../../dialects/checks/check-json-types.ts'
import type { Dialect } from '../../core/ports/dialect-interface.ts'
import { DIALECTS } from '../../dialects/dialect-registry.ts'
import { explanationOf } from '../../explain/build-explanation.ts'
import { textOf } from '../../explain/store-sent-requests.ts'
import { previousSent } from '../../explain/load-previous-request.ts'
import { tellExplanation } from '../../explain/render-explanation-json.ts'
import { understand } from '../read-request.ts'
import { isCompactionDue } from '../../gateway/summaries/compact-conversation.ts'
import { dryRun } from '../../gateway/prompt/dry-run.ts'
import { fit } from '../../gateway/prompt/size/fit-to-window.ts'
import type { Prepared } from '../../gateway/prompt/prepare-request.ts'
import { summaryFirst } from '../../gateway/summaries/summarize-before-sending.ts'
import { upstreamRequest } from '../../gateway/send/build-http-request.ts'
import type { World } from '../../gateway/dependencies-interface.ts'
import { explainedAs } from './format-explanation.ts'

export async function explain(
  request: Pick<Request, 'url' | 'headers'>,
  asked: JsonObject,
  caller: Caller,
  world: World,
): Promise<Response> {
  const { api, ...body } = asked
  const dialect = dialectOf(maybe(asOneOf(['chat', 'responses']), api, 'api'), body)
  const inbound = understand(dialect, { json: body }, request.headers, world.settings)
  const prepared = readiedDry(await dryRun(inbound, caller, world), world)
  const sent = upstreamRequest(prepared)
  const explanation = { ...explanationOf(prepared, sent, world.settings), body: textOf(sent) }
  const told = tellExplanation(explanation, {
    previous: await previousSent(prepared, caller, world),
    notes: prepared.notes,
  })
  return explainedAs(request, told, explanation.body)
}

/** By shape: `input` is a word of Responses, `messages` one of Chat Completions. */
export function dialectOf(api: 'chat' | 'responses' | null, body: JsonObject): Dialect {
  return DIALECTS[api ?? ('messages' in body ? 'chat' : 'responses')]
}

/** To be summed up takes a model, which a dry run does not ask: it is told as it is, and nothing is cut. */
function readiedDry(prepared: Prepared, world: World): Prepared {
  const due = dueFirst(prepared)
  return due === null ? fit(prepared, world) : { ...prepared, notes: [...prepared.notes, due] }
}

function dueFirst(prepared: Prepared): Note | null {
  const summary = summaryFirst(prepared)
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
