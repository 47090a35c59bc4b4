/** Routes that delete a summary. Models are then sent the original items that it had replaced. */
import { createNotFoundError } from '../../core/errors/gateway-error.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { readConversationId, requireConversation } from './conversations.ts'
import type { AuthenticatedRequest } from '../authenticated-request.ts'
import { shortenForError, requireIdPrefix, type StoredObjectRoute } from './route-interface.ts'

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
  world: GatewayDependencies,
) {
  await requireConversation(readConversationId(request), null, request.caller, world)
  return deleteSummary(request, world)
}

async function deleteSummary(
  { caller, getPathParameter }: AuthenticatedRequest,
  { summaries }: GatewayDependencies,
) {
  const id = requireIdPrefix(getPathParameter('summary_id'), 'sum', 'summary_id')
  if (await queryStoreOrThrow(() => summaries.deleteSummary(caller, id))) {
    return { id, object: 'context.summary.deleted', deleted: true }
  }
  throw createNotFoundError(`Summary with id '${shortenForError(id)}' not found.`)
}
