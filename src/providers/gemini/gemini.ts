/**
 * The provider for Google Gemini with its own API: https://ai.google.dev/api/generate-content. An
 * account's base URL ends with the API version, e.g.
 * `https://generativelanguage.googleapis.com/v1beta`. `quirks.ts` lists further settings.
 */
import type { Part } from '../../core/item.ts'
import type { Provider } from '../provider-interface.ts'
import { decodeStream, decodeBody } from './response/decode-stream.ts'
import { encodeRequest } from './request/encode-request.ts'
import { parseErrorResponse, refusesReasoning } from './parse-errors.ts'
import { classifyMedia } from './request/media/classify-media.ts'
import { NOTES } from './encoding-notes.ts'
import { QUIRKS, readGeminiQuirks } from './quirks.ts'

export const gemini: Provider = {
  wire: 'gemini',
  getPassThroughDialect: () => null,
  encode: encodeRequest,
  createDecoder: decodeStream,
  decodeBody,
  parseErrorResponse,
  isReasoningRejection: refusesReasoning,
  getMediaSupport({ quirks }) {
    const { remoteUrls, inlineLimitBytes: requestChars } = readGeminiQuirks(quirks)
    const loads = (part: Part): boolean => classifyMedia(part, remoteUrls)?.kind === 'remote'
    // `gs://` is the URL scheme of Google Cloud Storage.
    return { loadsUrl: loads, schemes: ['gs://'], maxRequestChars: requestChars }
  },
  createHeaders: ({ apiKey }): Readonly<Record<string, string>> =>
    apiKey === null ? {} : { 'x-goog-api-key': apiKey },
  notes: NOTES,
  quirks: QUIRKS,
}
