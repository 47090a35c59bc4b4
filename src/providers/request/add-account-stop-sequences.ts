/**
 * Appends the account's stop sequences (`quirks.stop`) to those of the client, e.g. control tokens
 * such as `<|im_end|>` that its models write by mistake. Returns the same object if there is
 * nothing to add.
 */
import type { PromptParameters } from '../../core/prompt.ts'
import type { Account } from '../provider-interface.ts'

export function addAccountStopSequences(
  params: PromptParameters,
  { quirks }: Account,
): PromptParameters {
  const listed: readonly unknown[] = Array.isArray(quirks['stop']) ? quirks['stop'] : []
  const isNew = (stop: unknown): stop is string =>
    typeof stop === 'string' && stop !== '' && !params.stop.includes(stop)
  const added = listed.filter(isNew)
  return added.length === 0 ? params : { ...params, stop: [...params.stop, ...added] }
}
