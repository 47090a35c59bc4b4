/** The dialect of clients that use the Chat Completions API. */
import type { Dialect } from '../../core/ports/dialect-interface.ts'
import { parseChatRequest } from './parse/parse-chat-request.ts'
import { createChatPassThroughPatcher } from './render/patch-chat-pass-through.ts'
import { createChatStreamRenderer } from './render/render-chat-stream.ts'
import { renderChatCompletion } from './render/render-chat-completion.ts'

export const chatDialect: Dialect = {
  name: 'chat',
  parse: parseChatRequest,
  createRenderer: createChatStreamRenderer,
  renderBody: renderChatCompletion,
  createPassThroughPatcher: createChatPassThroughPatcher,
}
