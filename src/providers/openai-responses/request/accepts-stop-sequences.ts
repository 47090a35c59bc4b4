/**
 * Plans which stop sequences are sent: all if the account's quirk `passes` lists `stop`, otherwise
 * none, because the Responses API itself has no such field.
 */
import type { Prompt } from '../../../core/prompt.ts'
import type { Account } from '../../provider-interface.ts'
import { splitStopSequences, type SplitStopSequences } from '../../request/split-stop-sequences.ts'

export function planStopSequences({ params }: Prompt, account: Account): SplitStopSequences {
  return splitStopSequences(params.stop, acceptsExtraField('stop', account) ? Infinity : 0)
}

/** True if the account's quirk `passes` lists a field that OpenAI does not have. */
export function acceptsExtraField(field: string, { quirks }: Account): boolean {
  return Array.isArray(quirks['passes']) && quirks['passes'].includes(field)
}
