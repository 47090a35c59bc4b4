/** Lists the dialects, the APIs that clients speak, by name. */
import type { DialectName } from '../core/prompt.ts'
import { chatDialect } from './chat/chat-dialect.ts'
import type { Dialect } from '../core/ports/dialect-interface.ts'
import { responsesDialect } from './responses/responses-dialect.ts'

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  chat: chatDialect,
  responses: responsesDialect,
}
