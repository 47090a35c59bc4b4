/**
 * OpenAI's Responses API, and whoever else serves it: Azure, xAI, vLLM, LM Studio, OpenRouter.
 *
 * Quirks of an account:
 *
 * | quirk             | what it says of the upstream                                              |
 * |-------------------|---------------------------------------------------------------------------|
 * | `passes`          | names of fields beyond OpenAI's that it understands, such as `seed`       |
 * | `sealedReasoning` | `true`, `false`: whether to ask it for `reasoning.encrypted_content`      |
 * | `rawReasoning`    | `true`: takes reasoning back as plain text, whoever made it               |
 * | `minOutputTokens` | the smallest `max_output_tokens` that it accepts; 16 if not said          |
 * | `retell`          | `true`: its streams break the rules; tell its answers anew, in our words  |
 */
import type { Provider } from '../provider.ts'
import { decode, decodeWhole } from './decode.ts'
import { encode } from './encode.ts'
import { failure } from './failure.ts'
import { NOTES } from './notes.ts'

export const openaiResponses: Provider = {
  wire: 'responses',
  speaks: (_prompt, { quirks }) => (quirks['retell'] === true ? null : 'responses'),
  encode,
  decode,
  decodeWhole,
  failure,
  notes: NOTES,
  headers: ({ apiKey }) => (apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
}
