/** Deleting a summary: what it stood for is told to models again, word for word. */
import type { JsonObject } from '../../core/json/json.ts'
import { notFound } from '../../core/errors/gateway-error.ts'
import { askMemory } from '../../store/query-store-or-throw.ts'
import { unknownConversation } from '../../gateway/history/lock-conversation.ts'
import type { World } from '../../gateway/dependencies-interface.ts'
import { conversationIn } from './conversations.ts'
import { shortened, withPrefix, type Resource, type ResourceRequest } from './route-interface.ts'

export const SUMMARIES: readonly Resource[] = [
  {
    method: 'DELETE',
    path: '/conversations/:id/summaries/:summary_id',
    async answer(asked, world) {
      const id = conversationIn(asked)
      const found = await askMemory(() => world.conversations.findConversation(asked.caller, id))
      if (found === null) throw unknownConversation(id, null)
      return deleted(asked, world)
    },
  },
  { method: 'DELETE', path: '/context/summaries/:summary_id', answer: deleted },
]

async function deleted(asked: ResourceRequest, { summaries }: World): Promise<JsonObject> {
  const { tenant, user } = asked.caller
  const id = withPrefix(asked.named('summary_id'), 'sum', 'summary_id')
  if (await askMemory(() => summaries.deleteSummary({ tenant, user }, id))) {
    return { id, object: 'context.summary.deleted', deleted: true }
  }
  throw notFound(`Summary with id '${shortened(id)}' not found.`)
}
