/**
 * `GET /v1/conversations/{id}/summaries`: those that stand for a beginning of the conversation as it is
 * now, the longest first. That one is told to models; the others wait for it to be deleted. By page and
 * in either order, as all lists.
 */
import type { Caller } from '../conversation/caller.ts'
import type { JsonObject } from '../conversation/json.ts'
import { listOf, pageOf, pagingIn } from '../resources/paging.ts'
import { summariesOf } from '../upstream/summaries-of.ts'
import { wantsSummaries } from '../upstream/with-summary.ts'
import type { World } from '../world.ts'
import { ofConversation } from './of-conversation.ts'
import { shownSummary } from './shown-summary.ts'

export async function listSummaries(
  id: string,
  query: URLSearchParams,
  caller: Caller,
  world: World,
): Promise<JsonObject> {
  const paging = pagingIn(query, 'desc')
  const plan = await ofConversation(id, { model: null, summaries: {} }, caller, world)
  const found = plan === null ? [] : await summariesOf(plan, caller, world)
  const isTold = plan !== null && wantsSummaries(plan.policy.summaries)
  const { entries, hasMore } = pageOf(found.toReversed(), paging)
  return listOf(
    entries.map((summary) => shownSummary(summary, isTold && summary === found[0])),
    hasMore,
  )
}
