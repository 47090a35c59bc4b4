/** All stop strings are sent, or none: the API has no such word, but its upstream may have one. */
import type { Prompt } from '../../../core/prompt.ts'
import type { Account } from '../../provider-interface.ts'
import { splitStopSequences, type SplitStopSequences } from '../../request/split-stop-sequences.ts'

export function planStopSequences({ params }: Prompt, account: Account): SplitStopSequences {
  return splitStopSequences(params.stop, acceptsExtraField('stop', account) ? Infinity : 0)
}

/** Whether the upstream knows a field beyond OpenAI's. */
export function acceptsExtraField(field: string, { quirks }: Account): boolean {
  return Array.isArray(quirks['passes']) && quirks['passes'].includes(field)
}
