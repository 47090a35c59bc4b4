/** The Anthropic Messages API, and other services with the same wire. */
import type { Account, Provider, WireMediaSupport } from '../provider-interface.ts'
import { NOTES } from './encoding-notes.ts'
import { describeModel } from './model-traits.ts'
import { parseErrorResponse, refusesReasoning } from './parse-errors.ts'
import { QUIRKS } from './quirks.ts'
import { encodeRequest } from './request/encode-request.ts'
import { decodeStream, decodeBody } from './response/decode-stream.ts'

export const anthropic: Provider = {
  wire: 'anthropic',
  getPassThroughDialect: () => null,
  encode: encodeRequest,
  createDecoder: decodeStream,
  decodeBody: decodeBody,
  parseErrorResponse: parseErrorResponse,
  isReasoningRejection: refusesReasoning,
  bindsReasoningToPrefix: (model) => describeModel(model, {}).bindsThinking,
  getCompactionThreshold: getCompactionThreshold,
  ignoresItemsBeforeCompaction: true,
  getMediaSupport: () => MEDIA_SUPPORT,
  notes: NOTES,
  quirks: QUIRKS,
  createHeaders: ({ apiKey }: Account) => ({
    ...(apiKey === null ? {} : { 'x-api-key': apiKey }),
    'anthropic-version': '2023-06-01',
  }),
}

export function getCompactionThreshold({ baseUrl, quirks }: Account, model: string): number | null {
  const { compact } = quirks
  const isAble = typeof compact === 'boolean' ? compact : baseUrl.startsWith(OWN_HOST)
  return isAble && describeModel(model, quirks).compacts ? LEAST_TRIGGER : null
}

const OWN_HOST = 'https://api.anthropic.com/'

const LEAST_TRIGGER = 50_000

export const MEDIA_SUPPORT: WireMediaSupport = {
  loadsUrl: (_, url) => url.startsWith('https:'),
  // Counted as base64: https://platform.claude.com/docs/en/build-with-claude/vision
  maxImageChars: 5 * 1024 * 1024,
  // Of 32 MB, with room for what is said.
  maxRequestChars: 30_000_000,
}
