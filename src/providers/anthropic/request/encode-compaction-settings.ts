/**
 * Requests compaction of a conversation of more than `compactAbove` tokens: the API then replaces
 * the beginning of the conversation by a summary. The setting and its beta header are also sent if
 * the conversation contains an earlier compaction block, because the API rejects the block
 * otherwise.
 *
 * https://platform.claude.com/docs/en/build-with-claude/compaction-threshold
 */
import type { JsonObject } from '../../../core/json/json.ts'
import type { Account } from '../../provider-interface.ts'
import type { AnthropicNotes } from '../encoding-notes.ts'
import type { BlockEntry } from '../api-types.ts'

export interface ContextManagement {
  readonly fields: JsonObject
  readonly headers: Readonly<Record<string, string>> | null
}

export function encodeCompactionSettings(
  entries: readonly BlockEntry[],
  compactAbove: number | undefined,
  account: Account,
  notes: AnthropicNotes,
): ContextManagement {
  const hasCompaction = entries.some(({ block }) => block['type'] === 'compaction')
  if (compactAbove === undefined && !hasCompaction) return { fields: {}, headers: null }
  const code = compactAbove === undefined ? 'compaction-named' : 'compaction-asked'
  notes.write(code, { field: 'context_management' })
  const trigger = { type: 'input_tokens', value: compactAbove ?? UNREACHABLE_THRESHOLD }
  const edits = [{ type: 'compact_20260112', trigger }]
  return { fields: { context_management: { edits } }, headers: addBetaHeader(account) }
}

/** A threshold that no context window reaches, so that the API does not compact. */
const UNREACHABLE_THRESHOLD = 100_000_000

const COMPACTION_BETA = 'compact-2026-01-12'
const BETA_HEADER = 'anthropic-beta'

/**
 * Returns the beta header with the compaction beta added to the account's own betas, e.g.
 * `mcp-client` → `mcp-client,compact-2026-01-12`. Returns no header if the account already has the
 * compaction beta.
 */
function addBetaHeader({ headers }: Account): Readonly<Record<string, string>> {
  const headerName = Object.keys(headers).find((name) => name.toLowerCase() === BETA_HEADER)
  const value = headerName === undefined ? '' : (headers[headerName] ?? '')
  if (value.split(',').some((beta) => beta.trim() === COMPACTION_BETA)) return {}
  return {
    [headerName ?? BETA_HEADER]: value === '' ? COMPACTION_BETA : `${value},${COMPACTION_BETA}`,
  }
}
