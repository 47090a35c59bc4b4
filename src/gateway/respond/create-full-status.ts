/**
 * Creates the status line that Open WebUI shows above every answer if the client sends `X-Backstory-Status: full`: how
 * many of the model's earlier thoughts and tool results the gateway has put back into the request, and how much of the
 * request the provider has read from its cache. E.g. `12 thoughts and 4 tool results restored · 84 % from cache`.
 */
import { isToolOutput, type Item } from '../../core/item.ts'
import type { TokenUsage } from '../../core/stream-event.ts'
import {
  createOpenWebUiStatusMessage,
  type OpenWebUiStatusMessage,
} from '../../core/stream/open-webui-status-message.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'

/**
 * `status`: the line that stands above the answer already; it is repeated at the end of this one, because Open WebUI
 * shows only the latest line.
 */
export function createFullStatus(
  prepared: RestoredRequest,
  usage: TokenUsage | null,
  status: OpenWebUiStatusMessage | null,
): OpenWebUiStatusMessage {
  const cached = formatCachedShare(usage)
  const parts = [
    `${formatRestoredItems(prepared)} restored`,
    ...(cached === null ? [] : [`${cached} from cache`]),
    ...(status === null ? [] : [status.text]),
  ]
  return createOpenWebUiStatusMessage(parts.join(' · '), true)
}

type RestoredRequest = Pick<PreparedRequest, 'items' | 'history' | 'notes' | 'originalPositions'>

/** Returns e.g. `1 thought and 2 tool results`. */
function formatRestoredItems(prepared: RestoredRequest): string {
  const restored = listRestoredItems(prepared)
  const thoughts = restored.filter(({ type }) => type === 'reasoning').length
  const outputs = restored.filter(isToolOutput).length
  const counts = [
    ...(thoughts === 0 ? [] : [`${thoughts} ${thoughts === 1 ? 'thought' : 'thoughts'}`]),
    ...(outputs === 0 ? [] : [`${outputs} tool ${outputs === 1 ? 'result' : 'results'}`]),
  ]
  return counts.length === 0 ? 'Nothing' : counts.join(' and ')
}

/** Lists the sent items that the client did not send: those of the history, and those that recall has added. */
function listRestoredItems({
  items,
  history,
  notes,
  originalPositions,
}: RestoredRequest): readonly Item[] {
  const recalled = new Set(
    notes.flatMap(({ did, why, at = -1 }) => (did === 'added' && why === 'recalled' ? [at] : [])),
  )
  // The encoder of a wire drops items after the prompt is planned.
  const dropped = new Set(notes.flatMap(({ did, at = -1 }) => (did === 'dropped' ? [at] : [])))
  return originalPositions.flatMap((position) => {
    if (position === null || dropped.has(position)) return []
    const item = items[position]
    const isRestored = position < history.items.length || recalled.has(position)
    return item !== undefined && isRestored ? [item] : []
  })
}

/** Returns e.g. `84 %`; null if the provider has not reported how much it has read from its cache. */
function formatCachedShare(usage: TokenUsage | null): string | null {
  if (usage === null || usage.cachedTokens === null || usage.inputTokens === 0) return null
  return `${Math.floor((100 * usage.cachedTokens) / usage.inputTokens)} %`
}
