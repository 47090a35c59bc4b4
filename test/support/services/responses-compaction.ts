/** Compaction by the Responses service, for requests above their threshold. */
import { estimateTokens } from '../../../src/core/text/estimate-tokens.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { objects, type AnswerContext } from './service.ts'

export function compactionFor(
  body: JsonObject,
  { number, issued }: AnswerContext,
): readonly JsonObject[] {
  const [asked] = objects(body['context_management'])
  const items = objects(body['input'])
  const tokens = estimateTokens(items.slice(newestCompaction(items)))
  if (asked === undefined || tokens < Number(asked['compact_threshold'])) return []
  const id = `cmp_${number}`
  return [{ id, type: 'compaction', encrypted_content: issued.seal('gAAAA', id) }]
}

/** Returns the index of the latest compaction, from which on the service reads; 0 without one. */
export function newestCompaction(items: readonly JsonObject[]): number {
  return Math.max(
    0,
    items.findLastIndex(({ type }) => type === 'compaction'),
  )
}
