/**
 * The provider for OpenAI's Responses API, and for other services with this API, e.g. Azure, xAI,
 * vLLM, LM Studio and OpenRouter.
 */
import { hasCompactOrCountEndpoint } from '../has-compact-or-count-endpoint.ts'
import {
  isOpenAiReasoningModel,
  listLowestOpenAiEfforts,
} from '../request/openai-reasoning-models.ts'
import type { Provider } from '../provider-interface.ts'
import { decodeStream, decodeBody } from './response/decode-stream.ts'
import { encodeRequest } from './request/encode-request.ts'
import { parseErrorResponse, isReasoningRejection } from './parse-errors.ts'
import { NOTES } from './encoding-notes.ts'
import { QUIRKS } from './quirks.ts'

export const openaiResponses: Provider = {
  wire: 'responses',
  getPassThroughDialect: (_prompt, { quirks }) => (quirks['retell'] === true ? null : 'responses'),
  encode: encodeRequest,
  createDecoder: decodeStream,
  decodeBody,
  parseErrorResponse,
  isReasoningRejection,
  bindsReasoningToPrefix: bindsReasoning,
  getMinCompactionTokens: (account) =>
    hasCompactOrCountEndpoint(account, 'compact') ? MIN_COMPACTION_THRESHOLD_TOKENS : null,
  listTaskParameters: (_account, model) =>
    listLowestOpenAiEfforts(model).map((value) => ({ field: 'reasoning.effort', value })),
  hasReasoningSummaries: (_account, model) => isOpenAiReasoningModel(model),
  notes: NOTES,
  quirks: QUIRKS,
  createHeaders: ({ apiKey }) => (apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
}

/** The lowest `compact_threshold` that OpenAI accepts. */
const MIN_COMPACTION_THRESHOLD_TOKENS = 1000

/**
 * True for models from gpt-5.6 on. If an item before their reasoning was edited, the API ignores
 * the reasoning without an error, but charges for it. Older models use the reasoning in spite of
 * the edit. (OpenAI's guide names no models, but describes `reasoning.context`, which exists from
 * gpt-5.6 on.)
 *
 * https://developers.openai.com/api/docs/guides/preserved-reasoning
 */
function bindsReasoning(model: string): boolean {
  const [, major, minor] = MODEL_VERSION.exec(model) ?? []
  if (major === undefined || model.includes('-chat')) return false
  return Number(major) * 100 + Number(minor ?? 0) >= 506
}

const MODEL_VERSION = /^(?:.*\/)?(?:ft:)?gpt-(\d{1,2})(?:\.(\d{1,2}))?(?![\d.])/
