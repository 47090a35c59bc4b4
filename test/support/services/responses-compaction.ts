/** Compaction by the service itself, where a request is over the threshold that it names. */
import { estimateTokens } from '../../../src/core/text/estimate-tokens.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { objects, type Place } from './service.ts'

export function compactionFor(body: JsonObject, { number, issued }: Place): readonly JsonObject[] {
  const [asked] = objects(body['context_management'])
  const items = objects(body['input'])
  const tokens = estimateTokens(items.slice(newestCompaction(items)))
  if (asked === undefined || tokens < Number(asked['compact_threshold'])) return []
  const id = `cmp_${number}`
  return [{ id, type: 'compaction', encrypted_content: issued.seal('gAAAA', id) }]
}

/** The place of the newest, from where on a conversation is read; 0 without one. */
export function newestCompaction(items: readonly JsonObject[]): number {
  return Math.max(
    0,
    items.findLastIndex(({ type }) => type === 'compaction'),
  )
}
