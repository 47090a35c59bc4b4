/** OpenAI's Responses API, and whoever else serves it: Azure, xAI, vLLM, LM Studio, OpenRouter. */
import { hasEndpoint } from '../endpoints.ts'
import type { Provider } from '../provider.ts'
import { decode, decodeWhole } from './decode.ts'
import { encode } from './encode.ts'
import { bindsReasoning } from './binds-reasoning.ts'
import { failure, refusesReasoning } from './failure.ts'
import { NOTES } from './notes.ts'
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
