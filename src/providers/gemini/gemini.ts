/**
 * The provider for Google's Gemini API: https://ai.google.dev/api/generate-content. The base URL of
 * an account ends with the API version, e.g. `https://generativelanguage.googleapis.com/v1beta`.
 */
import type { Part } from '../../core/item.ts'
import type { Provider } from '../provider-interface.ts'
import { decodeStream, decodeBody } from './response/decode-stream.ts'
import { encodeRequest } from './request/encode-request.ts'
import { parseErrorResponse, isReasoningRejection } from './parse-errors.ts'
import { classifyMedia } from './request/media/classify-media.ts'
import { NOTES } from './encoding-notes.ts'
import { getModelTraits } from './model-traits.ts'
import { QUIRKS, readGeminiQuirks } from './quirks.ts'

export const gemini: Provider = {
  wire: 'gemini',
  getPassThroughDialect: () => null,
  encode: encodeRequest,
  createDecoder: decodeStream,
  decodeBody,
  parseErrorResponse,
  isReasoningRejection,
  // The encoder replaces an effort that the model does not support by the next one.
  listTaskParameters(_account, model) {
    const { thinkingMode } = getModelTraits(model)
    if (thinkingMode === 'none' || thinkingMode === 'shown') return []
    return [
      { field: 'reasoning.effort', value: 'none' },
      { field: 'reasoning.effort', value: 'low' },
    ]
  },
  getMediaSupport({ quirks }) {
    const { remoteUrls, inlineLimitBytes: maxRequestChars } = readGeminiQuirks(quirks)
    const loadsUrl = (part: Part): boolean => classifyMedia(part, remoteUrls)?.kind === 'remote'
    // URLs with `gs://` refer to Google's Cloud Storage.
    return { loadsUrl, schemes: ['gs://'], maxRequestChars }
  },
  createHeaders: ({ apiKey }): Readonly<Record<string, string>> =>
    apiKey === null ? {} : { 'x-goog-api-key': apiKey },
  notes: NOTES,
  quirks: QUIRKS,
}
