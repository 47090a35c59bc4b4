/** Describes notes in sentences, e.g. for the API field `sentence`. */
import { describeNote } from '../gateway/prompt/filter-capable-targets.ts'
import type { WireName } from '../providers/provider-interface.ts'
import { PROVIDERS } from '../providers/provider-registry.ts'
import type { ExplanationSummary } from './build-explanation.ts'
import type { DispositionNote } from './item-dispositions.ts'

/**
 * Returns the sentence that describes a note. Without such a sentence, returns the code `why` of the note.
 */
export type DescribeNote = (note: DispositionNote) => string

export function createNoteDescriber({ upstream: { wire } }: ExplanationSummary): DescribeNote {
  const provider = PROVIDERS[wire as WireName]
  return (note) => describeNote(note, { provider }) ?? note.why
}
