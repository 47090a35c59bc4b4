/**
 * `GET /v1/conversations/{id}/summaries`: those that stand for a beginning of the conversation as it is
 * now, the longest first. That one is told to models; the others wait for it to be deleted.
 */
import type { JsonObject } from '../conversation/json.ts'
import type { Caller } from '../keys.ts'
import { summariesOf } from '../upstream/summaries-of.ts'
import { wantsSummaries } from '../upstream/with-summary.ts'
import type { World } from '../world.ts'
import { ofConversation } from './of-conversation.ts'
import { shownSummary } from './shown-summary.ts'

export async function listSummaries(id: string, caller: Caller, world: World): Promise<JsonObject> {
  const prepared = await ofConversation(id, { model: null, summaries: {} }, caller, world)
  const found = prepared === null ? [] : await summariesOf(prepared, caller, world)
  const isTold = prepared !== null && wantsSummaries(prepared.policy.summaries)
  return {
    object: 'list',
    data: found.map((summary, at) => shownSummary(summary, isTold && at === 0)),
    first_id: found[0]?.id ?? null,
    last_id: found.at(-1)?.id ?? null,
    has_more: false,
  }
}
