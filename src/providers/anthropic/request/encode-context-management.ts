/**
 * Asks the API to compact a conversation that has grown too long. It is a word of a beta, and has to be
 * said as well where a block that it made before is in the conversation: else that would be refused.
 *
 * https://platform.claude.com/docs/en/build-with-claude/compaction-threshold
 */
import type { JsonObject } from '../../../core/json/json.ts'
import type { Account } from '../../provider-interface.ts'
import type { NoteCollector } from '../encoding-notes.ts'
import type { BlockEntry } from '../api-types.ts'

export interface ContextManagement {
  readonly fields: JsonObject
  readonly headers: Readonly<Record<string, string>> | null
}

export function encodeContextManagement(
  entries: readonly BlockEntry[],
  compactAbove: number | undefined,
  account: Account,
  notebook: NoteCollector,
): ContextManagement {
  const holdsOne = entries.some(({ block }) => block['type'] === 'compaction')
  if (compactAbove === undefined && !holdsOne) return { fields: {}, headers: null }
  const code = compactAbove === undefined ? 'compaction-named' : 'compaction-asked'
  notebook.write(code, { field: 'context_management' })
  const trigger = { type: 'input_tokens', value: compactAbove ?? NEVER }
  const edits = [{ type: 'compact_20260112', trigger }]
  return { fields: { context_management: { edits } }, headers: betaHeader(account) }
}

/** More than any model can take. */
const NEVER = 100_000_000

const BETA = 'compact-2026-01-12'
const HEADER = 'anthropic-beta'

/** Beside the betas that the account has in every request. */
function betaHeader({ headers }: Account): Readonly<Record<string, string>> {
  const own = Object.keys(headers).find((name) => name.toLowerCase() === HEADER)
  const said = own === undefined ? '' : (headers[own] ?? '')
  if (said.split(',').some((beta) => beta.trim() === BETA)) return {}
  return { [own ?? HEADER]: said === '' ? BETA : `${said},${BETA}` }
}
