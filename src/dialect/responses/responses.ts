/** OpenAI's Responses API as clients speak it. */
import type { Dialect } from '../dialect-interface.ts'
import { parse } from './parse.ts'
import { retouch } from './retouch.ts'
import { stream } from './stream.ts'
import { whole } from './whole.ts'

export const responses: Dialect = { name: 'responses', parse, stream, whole, retouch }
