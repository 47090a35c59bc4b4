/**
 * `GET /v1/conversations/{id}/summaries`: lists the stored summaries of the conversation, first the
 * one that covers the most items. Only the first is active, that is, sent to models in place of the
 * items that it covers. The others are used when it is deleted.
 */
import type { JsonObject } from '../../core/json/json.ts'
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import { renderPage, readPaging } from '../stored-object-routes/paging.ts'
import { listConversationSummaries } from '../../gateway/summaries/load-summary.ts'
import type { ActiveSummary } from '../../gateway/history/loaded-history.ts'
import { areSummariesEnabled } from '../../gateway/summaries/add-summary-to-history.ts'
import { planStoredConversation, type StoredConversationPorts } from './plan-stored-conversation.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

export async function listSummaries(
  { query, caller, getPathParameter }: AuthenticatedRequest,
  ports: StoredConversationPorts & Ports<'summaries'>,
): Promise<JsonObject> {
  const paging = readPaging(query, 'desc')
  const id = getPathParameter('id')
  const plan = await planStoredConversation(id, { model: null, summaries: {} }, caller, ports)
  const summaries = plan === null ? [] : await listConversationSummaries(plan, caller, ports)
  const isEnabled = plan !== null && areSummariesEnabled(plan.policy.summaries)
  return renderPage(summaries.toReversed(), paging, (summary) =>
    renderSummary(summary, isEnabled && summary === summaries[0]),
  )
}

/**
 * Renders a summary. `isActive` is true if models are sent the summary in place of the items that
 * it covers.
 */
export function renderSummary({ stored }: ActiveSummary, isActive: boolean): JsonObject {
  return {
    object: 'context.summary',
    id: stored.id,
    created_at: Math.floor(stored.createdAtMs / 1000),
    active: isActive,
    conversation: stored.conversation,
    model: stored.model,
    text: stored.text,
    facts: stored.facts,
    covered: { turns: stored.roundCount, items: stored.itemCount },
    tokens: { before: stored.tokensBefore, after: stored.tokensAfter },
    made_from: stored.extendedSummaryId,
  }
}
