/**
 * Defines the values that all functions need that encode a request: the model's traits, and the
 * collector of notes.
 */
import { createNoteCollector, type NoteCollector } from '../../note-collector.ts'
import { NOTES } from '../encoding-notes.ts'
import type { ModelTraits } from '../model-traits.ts'

export type AnthropicNotes = NoteCollector<keyof typeof NOTES>

export interface EncodingContext {
  readonly traits: ModelTraits
  readonly notes: AnthropicNotes
}

export function createNotes(): AnthropicNotes {
  return createNoteCollector('anthropic', NOTES)
}
