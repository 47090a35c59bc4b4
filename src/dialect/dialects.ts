/** Every dialect, by its name. */
import type { DialectName } from '../conversation/prompt.ts'
import { chat } from './chat/chat.ts'
import type { Dialect } from './dialect-interface.ts'
import { responses } from './responses/responses.ts'

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = { chat, responses }
