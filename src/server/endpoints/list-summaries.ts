/**
 * `GET /v1/conversations/{id}/summaries`: those that stand for a beginning of the conversation as it is
 * now, the longest first. That one is told to models; the others wait for it to be deleted. By page and
 * in either order, as all lists.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { listOf, pageOf, pagingIn } from '../stored-object-routes/paging.ts'
import { summariesOf } from '../../gateway/summaries/list-conversation-summaries.ts'
import { wantsSummaries } from '../../gateway/summaries/add-summary-to-history.ts'
import type { World } from '../../gateway/dependencies-interface.ts'
import { ofConversation } from './plan-stored-conversation.ts'
import { shownSummary } from './render-summary.ts'

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
