/**
 * What may end the answer to a request before its model does: stop strings that its upstream was not
 * told, and another speaker's line. An account's `speakerGuard` goes before the setting; it is
 * `true`, `false`, or a list of the speaker's own labels.
 *
 * What the gateway lets an answer begin with stands behind them, for no model has said it.
 */
import type { Params } from '../../../core/prompt.ts'
import type { Prepared } from '../../prompt/prepare-request.ts'
import type { Settings } from '../../../settings/read-settings.ts'
import { beginningWith } from './prepend-item.ts'
import type { Guard } from './apply-event-filters.ts'
import { speakerGuard } from './end-before-other-speaker.ts'
import { stopStrings } from './end-at-stop-sequence.ts'

export function guardsFor(
  { encoded, account, prompt, begins }: Prepared,
  settings: Settings,
): readonly Guard[] {
  const { unsentStops = [] } = encoded
  const ownLabels = ownLabelsOf(account.quirks['speakerGuard']) ?? settings.SPEAKER_GUARD
  return [
    ...(unsentStops.length === 0 ? [] : [stopStrings(unsentStops)]),
    ...(ownLabels === 'off' || !isDialogue(prompt.params) ? [] : [speakerGuard(ownLabels)]),
    ...(begins === undefined ? [] : [beginningWith(begins)]),
  ]
}

function ownLabelsOf(quirk: unknown): readonly string[] | 'off' | null {
  if (quirk === true) return []
  if (quirk === false) return 'off'
  const isList = Array.isArray(quirk) && quirk.every((label) => typeof label === 'string')
  return isList ? quirk : null
}

/** JSON is full of labels, and of several answers only one could be told anew. */
function isDialogue({ format, extra }: Params): boolean {
  const isText = format === null || format.type === 'text'
  return isText && (extra['n'] ?? 1) === 1
}
