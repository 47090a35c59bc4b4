/** OpenAI's Responses API, and whoever else serves it: Azure, xAI, vLLM, LM Studio, OpenRouter. */
import { hasResponsesEndpoint } from '../has-responses-endpoint.ts'
import type { Provider } from '../provider-interface.ts'
import { decodeStream, decodeBody } from './response/decode-stream.ts'
import { encodeRequest } from './request/encode-request.ts'
import { bindsReasoning } from './model-traits.ts'
import { parseErrorResponse, refusesReasoning } from './parse-errors.ts'
import { NOTES } from './encoding-notes.ts'
import { QUIRKS } from './quirks.ts'

export const openaiResponses: Provider = {
  wire: 'responses',
  getPassThroughDialect: (_prompt, { quirks }) => (quirks['retell'] === true ? null : 'responses'),
  encode: encodeRequest,
  createDecoder: decodeStream,
  decodeBody: decodeBody,
  parseErrorResponse: parseErrorResponse,
  isReasoningRejection: refusesReasoning,
  bindsReasoningToPrefix: bindsReasoning,
  getCompactionThreshold: (account) =>
    hasResponsesEndpoint(account, 'compact') ? MIN_COMPACTION_THRESHOLD_TOKENS : null,
  notes: NOTES,
  quirks: QUIRKS,
  createHeaders: ({ apiKey }) => (apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
}

/** A lower one is refused. */
const MIN_COMPACTION_THRESHOLD_TOKENS = 1000
