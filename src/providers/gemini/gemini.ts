/**
 * Google Gemini by its own API: https://ai.google.dev/api/generate-content. The base address of an
 * account ends in the version, as in `https://generativelanguage.googleapis.com/v1beta`; what else
 * can be set about it is in `quirks.ts`.
 */
import type { Part } from '../../core/item.ts'
import type { Provider } from '../provider-interface.ts'
import { decode, decodeWhole } from './response/decode-stream.ts'
import { encode } from './request/encode-request.ts'
import { failure, refusesReasoning } from './parse-errors.ts'
import { mediaOf } from './request/media/classify-media.ts'
import { NOTES } from './encoding-notes.ts'
import { QUIRKS, readQuirks } from './quirks.ts'

export const gemini: Provider = {
  wire: 'gemini',
  speaks: () => null,
  encode,
  decode,
  decodeWhole,
  failure,
  refusesReasoning,
  media({ quirks }) {
    const { remoteUrls, inlineLimitBytes: requestChars } = readQuirks(quirks)
    const loads = (part: Part): boolean => mediaOf(part, remoteUrls)?.kind === 'remote'
    // Of Google's own storage.
    return { loads, schemes: ['gs://'], requestChars }
  },
  headers: ({ apiKey }): Readonly<Record<string, string>> =>
    apiKey === null ? {} : { 'x-goog-api-key': apiKey },
  notes: NOTES,
  quirks: QUIRKS,
}
