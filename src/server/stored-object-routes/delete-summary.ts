/** Deleting a summary: what it stood for is told to models again, word for word. */
import type { JsonObject } from '../../core/json/json.ts'
import { createNotFoundError } from '../../core/errors/gateway-error.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import { createConversationNotFoundError } from '../../gateway/history/lock-conversation.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { readConversationId } from './conversations.ts'
import {
  shortenForError,
  requireIdPrefix,
  type StoredObjectRoute,
  type StoredObjectRequest,
} from './route-interface.ts'

export const SUMMARY_DELETION_ROUTES: readonly StoredObjectRoute[] = [
  {
    method: 'DELETE',
    path: '/conversations/:id/summaries/:summary_id',
    async answer(asked, world) {
      const id = readConversationId(asked)
      const found = await queryStoreOrThrow(() =>
        world.conversations.findConversation(asked.caller, id),
      )
      if (found === null) throw createConversationNotFoundError(id, null)
      return deleted(asked, world)
    },
  },
  { method: 'DELETE', path: '/context/summaries/:summary_id', answer: deleted },
]

async function deleted(
  asked: StoredObjectRequest,
  { summaries }: GatewayDependencies,
): Promise<JsonObject> {
  const { tenant, user } = asked.caller
  const id = requireIdPrefix(asked.named('summary_id'), 'sum', 'summary_id')
  if (await queryStoreOrThrow(() => summaries.deleteSummary({ tenant, user }, id))) {
    return { id, object: 'context.summary.deleted', deleted: true }
  }
  throw createNotFoundError(`Summary with id '${shortenForError(id)}' not found.`)
}
