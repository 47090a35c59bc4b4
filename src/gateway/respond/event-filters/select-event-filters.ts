/**
 * What may end the answer to a request before its model does: stop strings that its upstream was not
 * told, and another speaker's line. An account's `createOtherSpeakerFilter` goes before the setting; it is
 * `true`, `false`, or a list of the speaker's own labels.
 *
 * What the gateway lets an answer begin with stands behind them, for no model has said it.
 */
import type { PromptParameters } from '../../../core/prompt.ts'
import type { Settings } from '../../../settings/read-settings.ts'
import type { PreparedRequest } from '../../prompt/planned-request.ts'
import type { EventFilter } from './apply-event-filters.ts'
import { createStopSequenceFilter } from './end-at-stop-sequence.ts'
import { createOtherSpeakerFilter } from './end-before-other-speaker.ts'
import { createPrependItemFilter } from './prepend-item.ts'

export function selectEventFilters(
  { encoded, account, prompt, answerPrefix }: PreparedRequest,
  settings: Settings,
): readonly EventFilter[] {
  const { unsentStopSequences = [] } = encoded
  const ownLabels = ownLabelsOf(account.quirks['speakerGuard']) ?? settings.SPEAKER_GUARD
  return [
    ...(unsentStopSequences.length === 0 ? [] : [createStopSequenceFilter(unsentStopSequences)]),
    ...(ownLabels === 'off' || !isDialogue(prompt.params)
      ? []
      : [createOtherSpeakerFilter(ownLabels)]),
    ...(answerPrefix === undefined ? [] : [createPrependItemFilter(answerPrefix)]),
  ]
}

function ownLabelsOf(quirk: unknown): readonly string[] | 'off' | null {
  if (quirk === true) return []
  if (quirk === false) return 'off'
  const isList = Array.isArray(quirk) && quirk.every((label) => typeof label === 'string')
  return isList ? quirk : null
}

/** JSON is full of labels, and of several answers only one could be told anew. */
function isDialogue({ format, extra }: PromptParameters): boolean {
  const isText = format === null || format.type === 'text'
  return isText && (extra['n'] ?? 1) === 1
}
