/**
 * What an upstream is asked again in the middle of its answer: the very prompt that it was asked with,
 * and behind it what it has said since then, with what it was answered. Where that does not fit the
 * model's window any more, or the model has to be told that it is nearly full, the whole conversation
 * goes through its plan again (`replan-round.ts`), and the rounds that follow go on from there.
 *
 * The tools stay the same to the last, for there are models that take their own reasoning back only
 * behind the same tools. One that has none but those of the house is then forbidden to call any.
 */
import { escapeNoticesInItems } from '../../../context/cleaning/escape-notices-in-items.ts'
import { continueTransforms } from '../../../context/list-and-run-transforms.ts'
import { isCompaction } from '../../../core/items/compaction-item.ts'
import { resolveMediaSupport } from '../../../media/resolve-upstream-media-support.ts'
import { dropPreviouslyRejectedParameters } from '../../../providers/request/drop-rejected-parameters.ts'
import type { PreparedRequest } from '../../prompt/planned-request.ts'
import { rejectLargeMedia } from '../../prompt/reject-large-media.ts'
import { isBudgetWarningDue } from '../../prompt/size/end-tool-loop-near-limit.ts'
import { fitsWindow } from '../../prompt/size/fit-to-window.ts'
import { translateProviderNotes } from '../../prompt/translate-provider-notes.ts'
import { resolveAnswerOrigin } from '../../record/answer-provenance.ts'
import { replanRound } from './replan-round.ts'
import type { ToolRound, ToolRounds } from './tool-round.ts'
import type { Ports } from '../../dependencies-interface.ts'

/** Throws a GatewayError for more than can be sent. */
export function prepareNextRound(
  rounds: ToolRounds,
  isLast: boolean,
  ports: Ports<'memoryLayers' | 'settings'>,
): PreparedRequest {
  const newest = rounds.at(-1) ?? rounds[0]
  const next = goneOn(newest, isLast)
  const counted = rounds.map(countedIn)
  if (fitsWindow(next) && !isBudgetWarningDue(next, counted))
    return rejectLargeMedia(next, resolveMediaSupport(next.account))
  const anew = replanRound(rounds, ports)
  return isLast ? forbidden(anew) : anew
}

/** What a compaction was made of is counted with its round, and is not there any more. */
function countedIn({ said, usage }: ToolRound): number | null {
  return said.some(isCompaction) ? null : (usage?.totalTokens ?? null)
}

function goneOn({ prepared, said, outputs, media }: ToolRound, isLast: boolean): PreparedRequest {
  const { prompt, provider, account, clientRequest } = prepared
  const origin = resolveAnswerOrigin(prepared)
  const more = [...said, ...outputs].map((item) => ({ ...item, origin }))
  const items = [...prepared.items, ...more]
  const added = more.map((_, at) => prepared.items.length + at)
  const asked = [...prompt.items, ...more]
  const before = { items: asked, notes: [], places: [...prepared.originalPositions, ...added] }
  // As the plan of the next turn will have it.
  const rebuilt = continueTransforms(before, [escapeNoticesInItems(), ...media])
  const params = isLast ? paramsWithout(prepared) : prompt.params
  const next = { ...prompt, items: rebuilt.items, params }
  const encoded = dropPreviouslyRejectedParameters(provider.encode(next, account), prepared.notes)
  const { places } = rebuilt
  // What was noted on the body of the round before does not hold for this one.
  const lasting = prepared.notes.filter(({ by }) => by !== provider.wire)
  const ofBody = translateProviderNotes(encoded.notes, places, clientRequest.body)
  const notes = [...lasting, ...rebuilt.notes, ...ofBody]
  return {
    ...prepared,
    items,
    prompt: next,
    encoded,
    originalPositions: places,
    notes,
    wasReasoningRejected: false,
  }
}

function forbidden(prepared: PreparedRequest): PreparedRequest {
  const { prompt, provider, account } = prepared
  const params = paramsWithout(prepared)
  if (params === prompt.params) return prepared
  const next = { ...prompt, params }
  const encoded = dropPreviouslyRejectedParameters(provider.encode(next, account), prepared.notes)
  return { ...prepared, prompt: next, encoded }
}

/** The very same, if its client has tools as well, or there are none. */
function paramsWithout({
  prompt: { params },
  gatewayTools,
}: PreparedRequest): PreparedRequest['prompt']['params'] {
  const isForbidden = gatewayTools.length > 0 && params.tools.length === gatewayTools.length
  return isForbidden ? { ...params, toolChoice: { type: 'none' } } : params
}
