/** Everything that is stored and can be read again, by method and path. */
import { COMPLETIONS } from './completions.ts'
import { CONVERSATION_ITEMS } from './conversation-items.ts'
import { CONVERSATIONS } from './conversations.ts'
import { MEMORY } from './memory.ts'
import type { Resource } from './resource.ts'
import { RESPONSES } from './responses.ts'

export const RESOURCES: readonly Resource[] = [
  ...RESPONSES,
  ...CONVERSATIONS,
  ...CONVERSATION_ITEMS,
  ...COMPLETIONS,
  ...MEMORY,
]
