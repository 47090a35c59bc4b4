/** Lists all routes for stored data. */
import { CHAT_COMPLETION_ROUTES } from './stored-chat-completions.ts'
import { CONVERSATION_POLICY_ROUTES } from './conversation-policy-and-reset.ts'
import { CONVERSATION_ITEM_ROUTES } from './conversation-items.ts'
import { CONVERSATION_ROUTES } from './conversations.ts'
import { FACT_ROUTES } from './facts.ts'
import { THREAD_AND_USER_DELETION_ROUTES } from './thread-and-user-deletion.ts'
import type { StoredObjectRoute } from './route-interface.ts'
import { RESPONSE_ROUTES } from './stored-responses.ts'
import { SUMMARY_DELETION_ROUTES } from './summary-deletion.ts'
import { WORKING_MEMORY_ROUTES } from './working-memory.ts'

export const STORED_OBJECT_ROUTES: readonly StoredObjectRoute[] = [
  ...RESPONSE_ROUTES,
  ...CONVERSATION_ROUTES,
  ...CONVERSATION_ITEM_ROUTES,
  ...CONVERSATION_POLICY_ROUTES,
  ...CHAT_COMPLETION_ROUTES,
  ...THREAD_AND_USER_DELETION_ROUTES,
  ...FACT_ROUTES,
  ...SUMMARY_DELETION_ROUTES,
  ...WORKING_MEMORY_ROUTES,
]
