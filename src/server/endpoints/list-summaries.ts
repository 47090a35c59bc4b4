/**
 * `GET /v1/conversations/{id}/summaries`: those that stand for a beginning of the conversation as it is
 * now, the longest first. That one is told to models; the others wait for it to be deleted. By page and
 * in either order, as all lists.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { renderList, cutPage, readPaging } from '../stored-object-routes/paging.ts'
import { listConversationSummaries } from '../../gateway/summaries/list-conversation-summaries.ts'
import { areSummariesEnabled } from '../../gateway/summaries/add-summary-to-history.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { planStoredConversation } from './plan-stored-conversation.ts'
import { renderSummary } from './render-summary.ts'

export async function listSummaries(
  id: string,
  query: URLSearchParams,
  caller: Caller,
  world: GatewayDependencies,
): Promise<JsonObject> {
  const paging = readPaging(query, 'desc')
  const plan = await planStoredConversation(id, { model: null, summaries: {} }, caller, world)
  const found = plan === null ? [] : await listConversationSummaries(plan, caller, world)
  const isTold = plan !== null && areSummariesEnabled(plan.policy.summaries)
  const { entries, hasMore } = cutPage(found.toReversed(), paging)
  return renderList(
    entries.map((summary) => renderSummary(summary, isTold && summary === found[0])),
    hasMore,
  )
}
