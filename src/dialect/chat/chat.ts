/** The client side of Chat Completions. */
import type { Dialect } from '../dialect-interface.ts'
import { parseChat } from './parse.ts'
import { retouch } from './retouch.ts'
import { stream } from './stream.ts'
import { whole } from './whole.ts'

export const chat: Dialect = { name: 'chat', parse: parseChat, stream, whole, retouch }
