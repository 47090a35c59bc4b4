/** OpenAI's Responses API as clients speak it. */
import type { Dialect } from '../../core/ports/dialect-interface.ts'
import { parse } from './parse/parse-responses-request.ts'
import { retouch } from './render/patch-responses-pass-through.ts'
import { stream } from './render/render-responses-stream.ts'
import { whole } from './render/render-response.ts'

export const responses: Dialect = { name: 'responses', parse, stream, whole, retouch }
