/** Everything that is stored and can be read again, by method and path. */
import { COMPLETIONS } from './stored-chat-completions.ts'
import { CONVERSATION_CONTEXT } from './conversation-policy-and-reset.ts'
import { CONVERSATION_ITEMS } from './conversation-items.ts'
import { CONVERSATIONS } from './conversations.ts'
import { FACTS } from './facts.ts'
import { MEMORY } from './delete-thread-or-user.ts'
import type { Resource } from './route-interface.ts'
import { RESPONSES } from './stored-responses.ts'
import { SUMMARIES } from './delete-summary.ts'
import { WORKING_MEMORIES } from './working-memory.ts'

export const RESOURCES: readonly Resource[] = [
  ...RESPONSES,
  ...CONVERSATIONS,
  ...CONVERSATION_ITEMS,
  ...CONVERSATION_CONTEXT,
  ...COMPLETIONS,
  ...MEMORY,
  ...FACTS,
  ...SUMMARIES,
  ...WORKING_MEMORIES,
]
