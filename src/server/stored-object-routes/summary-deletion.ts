/**
 * Routes that delete a summary. Later requests to models then contain the items that the summary
 * had replaced.
 */
import { createNotFoundError } from '../../core/errors/gateway-error.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import { readConversationId, requireConversation } from './conversations.ts'
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import { shortenForError, requireIdPrefix, type StoredObjectRoute } from './route-interface.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

export const SUMMARY_DELETION_ROUTES: readonly StoredObjectRoute[] = [
  {
    method: 'DELETE',
    path: '/conversations/:id/summaries/:summary_id',
    handle: deleteConversationSummary,
  },
  { method: 'DELETE', path: '/context/summaries/:summary_id', handle: deleteSummary },
]

async function deleteConversationSummary(
  request: AuthenticatedRequest,
  ports: Ports<'conversations' | 'summaries'>,
) {
  await requireConversation(readConversationId(request), null, request.caller, ports)
  return deleteSummary(request, ports)
}

async function deleteSummary(
  { caller, getPathParameter }: AuthenticatedRequest,
  { summaries }: Ports<'summaries'>,
) {
  const id = requireIdPrefix(getPathParameter('summary_id'), 'sum', 'summary_id')
  if (await queryStoreOrThrow(() => summaries.deleteSummary(caller, id))) {
    return { id, object: 'context.summary.deleted', deleted: true }
  }
  throw createNotFoundError(`Summary with id '${shortenForError(id)}' not found.`)
}
