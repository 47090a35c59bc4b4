/**
 * The provider for the Anthropic Messages API, and for other services that implement this API, e.g.
 * MiniMax.
 */
import type { Account, Provider, WireMediaSupport, TaskParameter } from '../provider-interface.ts'
import { NOTES } from './encoding-notes.ts'
import { getModelTraits } from './model-traits.ts'
import { parseErrorResponse, isReasoningRejection } from './parse-errors.ts'
import { QUIRKS } from './quirks.ts'
import { encodeRequest } from './request/encode-request.ts'
import { decodeStream, decodeBody } from './response/decode-stream.ts'

export const anthropic: Provider = {
  wire: 'anthropic',
  getPassThroughDialect: () => null,
  encode: encodeRequest,
  createDecoder: decodeStream,
  decodeBody,
  parseErrorResponse,
  isReasoningRejection,
  bindsReasoningToPrefix: (model) => getModelTraits(model, {}).bindsThinkingToPrefix,
  getMinCompactionTokens,
  listTaskParameters,
  ignoresItemsBeforeCompaction: true,
  getMediaSupport: () => MEDIA_SUPPORT,
  notes: NOTES,
  quirks: QUIRKS,
  createHeaders: ({ apiKey }: Account) => ({
    ...(apiKey === null ? {} : { 'x-api-key': apiKey }),
    'anthropic-version': '2023-06-01',
  }),
}

/** Of the models that think by default, those that cannot stop get the lowest effort instead. */
function listTaskParameters({ quirks }: Account, model: string): readonly TaskParameter[] {
  const { thinkingMode, thinksByDefault, thinkingOffType } = getModelTraits(model, quirks)
  if (thinkingMode === 'none' || !thinksByDefault) return []
  const efforts = thinkingOffType === null ? ['low'] : ['none', 'low']
  return efforts.map((value) => ({ field: 'reasoning.effort', value }))
}

export function getMinCompactionTokens({ baseUrl, quirks }: Account, model: string): number | null {
  const { compact } = quirks
  const canCompact = typeof compact === 'boolean' ? compact : baseUrl.startsWith(ANTHROPIC_HOST)
  return canCompact && getModelTraits(model, quirks).supportsCompaction
    ? MIN_COMPACTION_TOKENS
    : null
}

const ANTHROPIC_HOST = 'https://api.anthropic.com/'

/** The smallest threshold that Anthropic accepts. */
const MIN_COMPACTION_TOKENS = 50_000

export const MEDIA_SUPPORT: WireMediaSupport = {
  loadsUrl: (_, url) => url.startsWith('https:'),
  // An image may have at most 5 MB of base64:
  // https://platform.claude.com/docs/en/build-with-claude/vision
  maxImageChars: 5 * 1024 * 1024,
  // The API accepts requests of at most 32 MB. Media may take 30 MB of them, so 2 MB remain for
  // text.
  maxRequestChars: 30_000_000,
}
