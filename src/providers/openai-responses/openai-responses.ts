/**
 * The provider for OpenAI's Responses API. Other services have this API too, e.g. Azure, xAI, vLLM,
 * LM Studio and OpenRouter.
 */
import { hasResponsesEndpoint } from '../has-responses-endpoint.ts'
import type { Provider } from '../provider-interface.ts'
import { decodeStream, decodeBody } from './response/decode-stream.ts'
import { encodeRequest } from './request/encode-request.ts'
import { parseErrorResponse, refusesReasoning } from './parse-errors.ts'
import { NOTES } from './encoding-notes.ts'
import { QUIRKS } from './quirks.ts'

export const openaiResponses: Provider = {
  wire: 'responses',
  getPassThroughDialect: (_prompt, { quirks }) => (quirks['retell'] === true ? null : 'responses'),
  encode: encodeRequest,
  createDecoder: decodeStream,
  decodeBody,
  parseErrorResponse,
  isReasoningRejection: refusesReasoning,
  bindsReasoningToPrefix: bindsReasoning,
  getCompactionThreshold: (account) =>
    hasResponsesEndpoint(account, 'compact') ? MIN_COMPACTION_THRESHOLD_TOKENS : null,
  notes: NOTES,
  quirks: QUIRKS,
  createHeaders: ({ apiKey }) => (apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
}

/** The lowest `compact_threshold` that OpenAI accepts. */
const MIN_COMPACTION_THRESHOLD_TOKENS = 1000

/**
 * True for models from gpt-5.6 on. If an item before the reasoning of such a model was edited, the
 * API silently drops the reasoning, but charges for it. Older models can still use it. (OpenAI's
 * guide names no models, but describes `reasoning.context`, which exists from gpt-5.6 on.)
 * https://developers.openai.com/api/docs/guides/preserved-reasoning
 */
function bindsReasoning(model: string): boolean {
  const [, major, minor] = MODEL_VERSION.exec(model) ?? []
  if (major === undefined || model.includes('-chat')) return false
  return Number(major) * 100 + Number(minor ?? 0) >= 506
}

const MODEL_VERSION = /^(?:.*\/)?(?:ft:)?gpt-(\d{1,2})(?:\.(\d{1,2}))?(?![\d.])/
