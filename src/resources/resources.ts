/** Everything that is stored and can be read again, by method and path. */
import { COMPLETIONS } from './completions.ts'
import { CONVERSATION_CONTEXT } from './conversation-context.ts'
import { CONVERSATION_ITEMS } from './conversation-items.ts'
import { CONVERSATIONS } from './conversations.ts'
import { FACTS } from './facts.ts'
import { MEMORY } from './memory.ts'
import type { Resource } from './resource.ts'
import { RESPONSES } from './responses.ts'
import { SUMMARIES } from './summaries.ts'
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
