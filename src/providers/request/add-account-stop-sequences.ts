/**
 * An account's own stop strings (`quirks.stop`, such as control tokens that its models let slip) go
 * behind those that the client asked for. The very same settings, if there is nothing to add.
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
