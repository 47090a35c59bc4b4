/**
 * Google Gemini by its own API: https://ai.google.dev/api/generate-content. The base address of an
 * account ends in the version, as in `https://generativelanguage.googleapis.com/v1beta`; what else
 * can be set about it is in `quirks.ts`.
 */
import type { Provider } from '../provider.ts'
import { decode, decodeWhole } from './decode.ts'
import { encode } from './encode.ts'
import { failure, refusesReasoning } from './failure.ts'
import { NOTES } from './notes.ts'
import { QUIRKS } from './quirks.ts'

export const gemini: Provider = {
  wire: 'gemini',
  speaks: () => null,
  encode,
  decode,
  decodeWhole,
  failure,
  refusesReasoning,
  headers: ({ apiKey }): Readonly<Record<string, string>> =>
    apiKey === null ? {} : { 'x-goog-api-key': apiKey },
  notes: NOTES,
  quirks: QUIRKS,
}
