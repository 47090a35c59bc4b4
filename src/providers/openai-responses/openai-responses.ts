/** OpenAI's Responses API, and whoever else serves it: Azure, xAI, vLLM, LM Studio, OpenRouter. */
import { hasEndpoint } from '../has-responses-endpoint.ts'
import type { Provider } from '../provider-interface.ts'
import { decode, decodeWhole } from './response/decode-stream.ts'
import { encode } from './request/encode-request.ts'
import { bindsReasoning } from './model-traits.ts'
import { failure, refusesReasoning } from './parse-errors.ts'
import { NOTES } from './encoding-notes.ts'
import { QUIRKS } from './quirks.ts'

export const openaiResponses: Provider = {
  wire: 'responses',
  speaks: (_prompt, { quirks }) => (quirks['retell'] === true ? null : 'responses'),
  encode,
  decode,
  decodeWhole,
  failure,
  refusesReasoning,
  bindsReasoning,
  compactsFrom: (account) => (hasEndpoint(account, 'compact') ? LEAST_THRESHOLD : null),
  notes: NOTES,
  quirks: QUIRKS,
  headers: ({ apiKey }) => (apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
}

/** A lower one is refused. */
const LEAST_THRESHOLD = 1000
