/** The client side of Chat Completions. */
import type { Dialect } from '../../core/ports/dialect-interface.ts'
import { parseChat } from './parse/parse-chat-request.ts'
import { retouch } from './render/patch-chat-pass-through.ts'
import { stream } from './render/render-chat-stream.ts'
import { whole } from './render/render-chat-completion.ts'

export const chat: Dialect = { name: 'chat', parse: parseChat, stream, whole, retouch }
