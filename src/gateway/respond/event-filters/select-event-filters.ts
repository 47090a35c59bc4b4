/**
 * Selects the event filters of an answer. The first ends the answer at stop sequences that the upstream was
 * not sent. The second ends it before a line of another speaker: the account's quirk `speakerGuard`
 * (`true`, `false`, or the model's labels, e.g. `["Ada"]`) overrides the setting `SPEAKER_GUARD`. The third
 * inserts an item of the gateway, e.g. a compaction.
 */
import type { PromptParameters } from '../../../core/prompt.ts'
import type { Settings } from '../../../settings/read-settings.ts'
import type { PreparedRequest } from '../../prompt/planned-request.ts'
import type { EventFilter } from './apply-event-filters.ts'
import { createStopSequenceFilter } from './end-at-stop-sequence.ts'
import { createOtherSpeakerFilter } from './end-before-other-speaker.ts'
import { createPrependItemFilter } from './prepend-item.ts'

export function selectEventFilters(
  { encoded, account, prompt, firstAnswerItem }: PreparedRequest,
  settings: Settings,
): readonly EventFilter[] {
  const { unsentStopSequences = [] } = encoded
  const ownLabels = readSpeakerGuardQuirk(account.quirks['speakerGuard']) ?? settings.SPEAKER_GUARD
  return [
    ...(unsentStopSequences.length === 0 ? [] : [createStopSequenceFilter(unsentStopSequences)]),
    ...(ownLabels === 'off' || !isDialogue(prompt.params)
      ? []
      : [createOtherSpeakerFilter(ownLabels)]),
    ...(firstAnswerItem === undefined ? [] : [createPrependItemFilter(firstAnswerItem)]),
  ]
}

function readSpeakerGuardQuirk(quirk: unknown): readonly string[] | 'off' | null {
  if (quirk === true) return []
  if (quirk === false) return 'off'
  const isList = Array.isArray(quirk) && quirk.every((label) => typeof label === 'string')
  return isList ? quirk : null
}

/**
 * False for JSON, because each key would look like the label of a speaker, and for several answers (`n:
 * 2`), because they pass through.
 */
function isDialogue({ format, extra }: PromptParameters): boolean {
  const isText = format === null || format.type === 'text'
  return isText && (extra['n'] ?? 1) === 1
}
